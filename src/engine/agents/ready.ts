/** Makes an agent ready: its definition, its log, where it works, and its session. */
import type { PermissionMode, TaskInput } from '../../protocol/index.js';
import { PERMISSION_MODES, toHeddleError } from '../../protocol/plain.js';
import type { Account } from '../budget/account.js';
import type { Agent } from '../definitions/definition.js';
import type { ServerBounds } from '../mcp/bounds.js';
import type { SessionScope } from '../scope.js';
import type { KeptWorktree } from '../sessions/entry.js';
import { Log } from '../sessions/log.js';
import { type ChildSpec, type OpenedChild, openChild } from './child.js';
import { DEFAULT_TYPE, reopen } from './find-agent.js';
import type { AgentIdentity } from './identity.js';
import { runAgent } from './run.js';
import type { AgentErrand, AgentOutcome, AgentTree, ReadyAgent } from './session-agents.js';
import { describeSoFar } from './so-far.js';
import { createTaskVoice, type TaskVoice } from './task-voice.js';
import type { ReopenedWorktree } from './worktree.js';

export interface Order {
  tree: AgentTree;
  /** The session or agent that starts it. */
  parent: SessionScope;
  input: TaskInput;
  id: string;
  toolUseId: string;
  depth: number;
  /** What whoever starts it may use. */
  bounds: ServerBounds;
  errand: AgentErrand;
  /** The agents that it may start itself. */
  below: ChildSpec['agents'];
  /** Called when it is over. */
  leave(): void;
}

/** Throws an error for the model when it cannot be done; nothing is left behind then. */
export async function makeReady(order: Order, signal: AbortSignal): Promise<ReadyAgent> {
  const { tree, parent, input, id, toolUseId, depth, leave } = order;
  const asked = modeOf(input.mode);
  const old = input.resume === undefined ? undefined : await reopen(tree, parent, id);
  // What was judged is what runs: the name was found out before.
  const type = input.subagent_type ?? DEFAULT_TYPE;
  const defined = tree.known().get(type);
  if (defined === undefined) {
    throw new Error(`There is no agent "${type}". Available: ${[...tree.known().keys()].join(', ')}.`);
  }
  const { allows = [], before = [], model } = order.errand;
  const agent: Agent = model === undefined ? defined : { ...defined, model };
  const { description, prompt } = input;
  const { name, color } = agent;
  const identity: AgentIdentity = { id, type: name, toolUseId, description, depth, ...(color && { color }) };
  const isBackground = input.run_in_background ?? agent.background ?? false;
  const { tree: worktree, note } = await worktreeFor(order, { agent, old: old?.worktree }, signal);
  const opened = await open(order, { agent, identity, log: old?.log, asked, isBackground, worktree, signal }).catch(
    async (thrown: unknown) => {
      await putAway(order, worktree);
      throw thrown;
    },
  );
  const { child, voice, leftOut } = opened;
  tree.roots.set(id, () => child.state.roots);
  if (allows.length > 0) child.state.turnRules = allows;
  // Whatever happens the place is left: a session that ends waits for those who hold one.
  const end = async (): Promise<string | undefined> => {
    try {
      await opened.close();
      return await putAway(order, worktree);
    } catch (thrown) {
      return `The agent could not be put away: ${toHeddleError(thrown).message}`;
    } finally {
      leave();
    }
  };
  return {
    identity,
    isBackground,
    async run(runSignal) {
      let outcome: AgentOutcome;
      let kept: string | undefined;
      try {
        const begun = { kind: 'agent', agentId: id, agentType: agent.name, description } as const;
        void parent.recorder.life({ ...begun, toolUseId });
        if (old === undefined) void child.recorder.life({ ...begun, ...(worktree && { worktree }) });
        voice.tellStart();
        outcome = await runAgent(child, { agent, prompt, before, voice }, runSignal);
      } catch (thrown) {
        const text = toHeddleError(thrown).message;
        outcome = { status: 'failed', text, toolUses: voice.toolUses, durationMs: 0, totalTokens: 0 };
      } finally {
        kept = await end();
      }
      const notes = [...leftOut, note, kept].filter((text) => text !== undefined);
      if (notes.length > 0) outcome.note = notes.join('\n');
      voice.tellEnd(outcome);
      return outcome;
    },
    soFar: () => describeSoFar(child.recorder.log.entries),
    drop: async () => void (await end()),
  };
}

interface Opening extends Pick<ChildSpec, 'agent' | 'identity' | 'asked'> {
  log: Log | undefined;
  isBackground: boolean;
  worktree: KeptWorktree | undefined;
  signal: AbortSignal;
}

/** Its session, and what tells of it. */
async function open(order: Order, opening: Opening): Promise<OpenedChild & { voice: TaskVoice }> {
  const { tree, parent, input, bounds, below } = order;
  const { agent, identity, asked, isBackground, worktree, signal } = opening;
  const log = opening.log ?? (await newLog(tree, parent, { agent, id: identity.id }));
  const { prompt } = input;
  const voice = createTaskVoice(parent, {
    identity,
    prompt,
    isBackground,
    tokens: () => opened.child.spending.totalTokens,
  });
  const spec: ChildSpec = {
    agent,
    identity,
    log,
    account: await accountOf(tree, parent, { id: identity.id, log }),
    input,
    asked,
    bounds,
    ...(worktree && { cwd: worktree.cwd, root: worktree.path }),
    agents: below,
    onCall: (toolName) => voice.tellCall(toolName),
  };
  const opened = await openChild(parent, spec, signal);
  return { ...opened, voice };
}

/** A budget that is spent stays spent, in this process and the next. */
async function accountOf(tree: AgentTree, parent: SessionScope, of: { id: string; log: Log }): Promise<Account> {
  const account = tree.accounts.get(of.id) ?? (await (await import('./spent.js')).restoreAccount(tree, parent, of));
  tree.accounts.set(of.id, account);
  return account;
}

async function newLog(
  { store }: AgentTree,
  { recorder, clock }: SessionScope,
  { agent, id }: { agent: Agent; id: string },
): Promise<Log> {
  const key = { ...recorder.log.key, agentId: id };
  if (agent.context !== 'forked') return new Log({ key, store });
  const { forkContext } = await import('./forked-context.js');
  const entries = forkContext(recorder.log.entries, { agentId: id, uuid: () => clock.uuid() });
  return new Log({ key, store, entries, unwritten: entries });
}

async function worktreeFor(
  { parent, input, id }: Order,
  { agent, old }: { agent: Agent; old: KeptWorktree | undefined },
  signal: AbortSignal,
): Promise<Partial<ReopenedWorktree>> {
  // One that goes on works where it worked before.
  const isWanted = input.resume === undefined ? (input.isolation ?? agent.isolation) === 'worktree' : old !== undefined;
  if (!isWanted) return {};
  const { openWorktree, reopenWorktree } = await import('./worktree.js');
  return old === undefined
    ? { tree: await openWorktree(parent, id, signal) }
    : await reopenWorktree(parent, old, signal);
}

/** Says where it is, when it is kept. */
async function putAway(
  { parent, tree: agents, id }: Order,
  worktree: KeptWorktree | undefined,
): Promise<string | undefined> {
  return worktree && (await import('./worktree.js')).closeWorktree(parent, worktree, { agents, id });
}

function modeOf(mode: string | undefined): PermissionMode | undefined {
  if (mode === undefined) return undefined;
  if ((PERMISSION_MODES as readonly string[]).includes(mode)) return mode as PermissionMode;
  throw new Error(`There is no permission mode "${mode}". Use one of ${PERMISSION_MODES.join(', ')}.`);
}
