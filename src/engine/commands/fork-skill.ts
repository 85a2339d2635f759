/** A skill that runs in an agent of its own. */
import type { TaskInput, UserContentBlock } from '../../protocol/index.js';
import { DEFAULT_TYPE } from '../agents/find-agent.js';
import type { AgentOutcome } from '../agents/session-agents.js';
import type { CommandFile, SkillFile } from '../definitions/definition.js';
import { withNamespace } from '../definitions/source.js';
import { resolvePermission } from '../permissions/resolver.js';
import type { SessionScope } from '../scope.js';

export type ForkedSkill = SkillFile & Required<Pick<SkillFile, 'fork'>>;

export const isForked = (file: CommandFile | SkillFile): file is ForkedSkill =>
  'fork' in file && file.fork !== undefined;

export interface ForkedCall {
  file: ForkedSkill;
  /** Its text, expanded. */
  prompt: string;
  before?: readonly UserContentBlock[];
  /** The call that messages of the agent are stamped with. */
  toolUseId: string;
}

/** `denied`: somebody, or a rule, does not want the agent to be started. */
export type ForkEnd =
  | { kind: 'over'; agentId: string; outcome: AgentOutcome }
  | { kind: 'denied'; message: string; interrupt: boolean };

/** Waits for the agent. Throws an Error that says why it cannot be started. */
export async function forkSkill(scope: SessionScope, call: ForkedCall, signal: AbortSignal): Promise<ForkEnd> {
  const { agents } = scope;
  const { file, prompt, before = [], toolUseId } = call;
  const wanted: TaskInput = {
    description: `Skill ${file.name}`,
    prompt,
    subagent_type: await agentOf(scope, file),
    run_in_background: false,
  };
  const permission = agents.mayStart ? await judge(scope, { file, input: wanted }, signal) : undefined;
  if (permission?.kind === 'deny') {
    const { message, interrupt } = permission;
    return { kind: 'denied', message, interrupt };
  }
  // Whoever was asked may have changed the task.
  const input = (permission?.input ?? wanted) as TaskInput;
  const { allowedTools: allows, model } = file;
  const agent = await agents.open(input, { toolUseId, signal, allows, model, before });
  return { kind: 'over', agentId: agent.identity.id, outcome: await agent.run(signal) };
}

export const newCallId = ({ clock }: SessionScope): string => `toolu_${clock.uuid().replaceAll('-', '')}`;

/** Of two with one name that of its own plugin is meant. */
async function agentOf({ agents }: SessionScope, { name, fork, origin }: ForkedSkill): Promise<string> {
  const known = agents.tree.known();
  const written = fork.agent ?? DEFAULT_TYPE;
  for (const wanted of [withNamespace(origin, written), written]) {
    const type = await agents.typeOf({ subagent_type: wanted });
    if (type !== undefined && known.has(type)) return type;
  }
  const names = [...known.keys()].join(', ');
  throw new Error(`The skill "${name}" wants the agent "${written}", which is not there. Available: ${names}.`);
}

/** Rules about agents count, whoever starts them. The question has an id of its own: that of the call is taken. */
async function judge(
  scope: SessionScope,
  { file, input }: { file: ForkedSkill; input: TaskInput },
  signal: AbortSignal,
) {
  const tool = scope.state.tools.get('Task');
  if (tool === undefined) {
    throw new Error(`The skill "${file.name}" runs in an agent, and no agent can be started without the tool Task.`);
  }
  const block = { type: 'tool_use' as const, id: newCallId(scope), name: 'Task', input };
  return resolvePermission(scope, { call: { block, life: 'new' }, tool, input }, signal);
}
