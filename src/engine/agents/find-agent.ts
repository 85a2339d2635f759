/** Which agent a call means: one by name, or one that has worked before. */
import type { TaskInput } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import type { KeptWorktree } from '../sessions/entry.js';
import { Log } from '../sessions/log.js';
import { isAgentId } from './identity.js';
import type { AgentTree } from './session-agents.js';

export const DEFAULT_TYPE = 'general-purpose';

/** Models do not always keep to the letters of a name. Undefined: the default one, or the given name where nobody has it. */
export async function typeOf(
  tree: AgentTree,
  scope: SessionScope,
  { resume, subagent_type: named }: Pick<TaskInput, 'resume' | 'subagent_type'>,
): Promise<string | undefined> {
  const old = resume === undefined ? undefined : await reopen(tree, scope, resume);
  const type = old?.type ?? named;
  const all = tree.known();
  if (type === undefined || all.has(type)) return type;
  return [...all.keys()].find((name) => name.toLowerCase() === type.toLowerCase()) ?? type;
}

export interface OldAgent {
  log: Log;
  type: string | undefined;
  worktree: KeptWorktree | undefined;
}

/** The log of an agent that has worked before. Throws an error for the model when there is none. */
export async function reopen({ store }: AgentTree, { recorder }: SessionScope, id: string): Promise<OldAgent> {
  const { sessionId } = recorder.log.key;
  const { loadAgent } = await import('./load-agent.js');
  const loaded = isAgentId(id) && store ? await loadAgent(store, { sessionId, agentId: id }) : undefined;
  if (loaded === undefined) {
    const why =
      store === undefined ? ': what agents say is not kept here' : '. Those of a session it was forked from stay there';
    throw new Error(`There is no agent ${id} in this session to go on with${why}. Start another one.`);
  }
  const { key, entries, begun } = loaded;
  return { type: begun?.agentType, worktree: begun?.worktree, log: new Log({ key, store, entries }) };
}
