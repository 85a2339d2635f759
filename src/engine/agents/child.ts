/** The session of a subagent: that of its parent, with what is its own in the place of the parent's. */
import type { PermissionMode, SessionConfig, TaskInput } from '../../protocol/index.js';
import { callAside } from '../aside.js';
import type { Account } from '../budget/account.js';
import { agentLimits } from '../budget/options.js';
import { refuseUnpriced } from '../choices.js';
import { createSkillCalls } from '../commands/skills.js';
import type { Agent } from '../definitions/definition.js';
import { createLists, lastLists } from '../lists.js';
import type { ServerBounds } from '../mcp/bounds.js';
import { openMemory } from '../memory/open.js';
import type { ResolvedModel } from '../model/catalog.js';
import { Outbox } from '../outbox.js';
import { isWithinRoots } from '../permissions/path.js';
import { Recorder } from '../recorder.js';
import type { SessionScope, SessionState } from '../scope.js';
import type { Log } from '../sessions/log.js';
import { lastChoices, lastNotes } from '../sessions/resume.js';
import { type AgentCharge, Spending } from '../spending.js';
import { createReadLedger } from '../tools/ledger.js';
import { hooksInAgent, hooksOf, hooksOfDefinition } from './agent-hooks.js';
import { boundsOf, withinOf } from './agent-tools.js';
import { SUBAGENT_NOTE } from './builtin.js';
import { toolsOfChild } from './child-tools.js';
import { createForwarder } from './forward.js';
import type { AgentIdentity } from './identity.js';
import { asksNobody, chooseMode } from './mode.js';
import { connectServers, openOwnServers } from './own-servers.js';
import type { SessionAgents } from './session-agents.js';
import { turnsIn } from './spent.js';

export interface ChildSpec {
  agent: Agent;
  identity: AgentIdentity;
  log: Log;
  /** What it has used of its budget. */
  account: Account;
  /** What the call says; the definition counts where it is silent, and bounds the turns. */
  input: Pick<TaskInput, 'model' | 'max_turns'>;
  /** The mode that the call asks for. */
  asked: PermissionMode | undefined;
  /** What whoever starts it may use. */
  bounds: ServerBounds;
  /** Where it works, when not where its parent does, and the only folder that is open to it then. */
  cwd?: string;
  root?: string;
  /** The agents that it may start itself. */
  agents(scope: () => SessionScope, bounds: ServerBounds): SessionAgents;
  onCall(toolName: string): void;
}

export interface OpenedChild {
  child: SessionScope;
  /** What it does without, in words. */
  leftOut: readonly string[];
  /** Ends what was there for this agent alone. Never rejects. */
  close(): Promise<void>;
}

export async function openChild(parent: SessionScope, spec: ChildSpec, signal: AbortSignal): Promise<OpenedChild> {
  const { clock, logger, catalog, main = parent } = parent;
  const { agent, identity, log } = spec;
  const outbox = new Outbox();
  const showsText = parent.config.forwardSubagentText ?? false;
  outbox.attach(createForwarder(parent.recorder, { agent: identity, showsText, onCall: spec.onCall }));
  const recorder = new Recorder({ log, outbox, clock, logger, preface: [], agentId: identity.id });
  const turns = turnsOf(spec);
  const config = toConfig(parent.config, spec, turns.most);
  const model = modelOf(parent, spec);
  const provider = await parent.providerFor(model.model);
  const state = await stateOf(parent, { spec, model, keySource: provider.keySource });
  const bounds = boundsOf(agent, spec.bounds);
  const declared = hooksInAgent(parent.hooks, hooksOfDefinition(agent, parent.guard.settings));
  const { mcp, leftOut } = await openOwnServers(agent, parent, { scope: () => child, above: spec.bounds });
  for (const content of leftOut) tellLeftOut(parent, content);
  const child: SessionScope = {
    ...parent,
    agent: identity,
    main,
    config,
    turnsTaken: turns.taken,
    state,
    recorder,
    ...(mcp && { mcp }),
    ...withinOf(agent, parent.within),
    memory: openMemory(config.settingSources ?? [], () => child),
    // Turns are counted by the turn itself.
    budget: parent.budget.child(agentLimits({ ...agent, maxTurns: undefined }, agent.name), {
      owner: `the agent ${agent.name}`,
      account: spec.account,
    }),
    ledger: createReadLedger({
      known: lastNotes(log.entries),
      onNote: (path, hash) => void recorder.life({ kind: 'noted', path, hash }),
    }),
    spending: new Spending(catalog, {
      parent: parent.spending,
      agent: { id: identity.id, type: identity.type },
      onCharge: (charge) => noteCharge(main, charge),
    }),
    hooks: hooksOf(parent, { identity, state, handedDown: declared.handedDown }),
    // What it changes elsewhere is no part of the folder that can be put back.
    checkpoints: spec.root === undefined ? parent.checkpoints : undefined,
    callAside: (call) => callAside(child, call),
    agents: spec.agents(() => child, bounds),
  };
  const lists = createLists({
    known: lastLists(log.entries),
    onChange: (change) => void recorder.life({ kind: 'list', ...change }),
  });
  const own = child.makeTools({
    lists,
    callAside: child.callAside,
    agents: child.agents,
    skills: createSkillCalls(child.commands, () => child),
  });
  let release: () => void = () => {};
  let isOver = false;
  const takeTools = (): void => {
    if (!isOver) state.tools = toolsOfChild(child, { agent, own, bounds });
  };
  const close = async (): Promise<void> => {
    isOver = true;
    release();
    await mcp?.close().catch((error: unknown) => logger('warn', `A server of an agent did not end: ${String(error)}`));
  };
  try {
    // One that cannot be reached does not stop the agent.
    if (mcp !== undefined) await connectServers(mcp, { clock, logger, signal, onLate: takeTools });
    takeTools();
    if (declared.inForce.length > 0) release = await parent.hooks.adopt(identity.id, declared.inForce);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { child, leftOut, close };
}

function tellLeftOut({ recorder, clock }: SessionScope, content: string): void {
  const ids = { uuid: clock.uuid(), session_id: recorder.log.key.sessionId };
  recorder.emit({ type: 'system', subtype: 'informational', level: 'warning', content, ...ids });
}

/** A resumed session knows what its agents have cost: its log says so, too. */
function noteCharge({ recorder }: SessionScope, { messageId, model, usage, microCents, agent }: AgentCharge): void {
  const whose = { agentId: agent.id, agentType: agent.type };
  const cost = { messageId, model, usage, microCents: microCents ?? null };
  void recorder.life({ kind: 'aside', purpose: 'agent', ...whose, ...cost });
}

/** The mode and the open folders are those of now: whoever changes those of the session means its agents, too. */
async function stateOf(
  parent: SessionScope,
  { spec, model, keySource }: { spec: ChildSpec; model: ResolvedModel; keySource: string },
): Promise<SessionState> {
  const { agent, asked, root, log } = spec;
  const rootsNow = (): string[] => (root === undefined ? parent.state.roots : [root]);
  let granted: PermissionMode | undefined;
  return {
    model,
    keySource,
    maxThinkingTokens: parent.state.maxThinkingTokens,
    cwd: await cwdOf(parent, { spec, roots: rootsNow(), last: lastChoices(log.entries).cwd }),
    tools: parent.state.tools,
    get mode() {
      return chooseMode({ mode: parent.state.mode, config: parent.config }, { agent, asked, granted });
    },
    set mode(mode) {
      granted = mode;
    },
    get asksNobody() {
      return asksNobody(parent.state, { agent, asked, granted });
    },
    get roots() {
      return rootsNow();
    },
    // What is opened for the session is open to those who work in its folders; of one of its own nobody gets out.
    set roots(_) {},
  };
}

/** Where it was when it last worked, if that is still a folder that it may use. */
async function cwdOf(
  { workspace, state }: SessionScope,
  { spec, roots, last }: { spec: ChildSpec; roots: readonly string[]; last: string | undefined },
): Promise<string> {
  const start = spec.cwd ?? state.cwd;
  if (last === undefined || (await workspace.stat(last))?.kind !== 'directory') return start;
  return isWithinRoots(await workspace.realPath(last), roots) ? last : start;
}

/** The definition says how many it may take in its life, the call how many for this prompt; the stricter one counts. */
function turnsOf({ agent, input, log }: ChildSpec): { most: number | undefined; taken: number } {
  // Zero means no limit.
  const [ofLife, ofCall] = [agent.maxTurns || undefined, input.max_turns || undefined];
  const taken = turnsIn(log.entries);
  const isCalls = ofCall !== undefined && (ofLife === undefined || ofCall < ofLife - taken);
  return isCalls ? { most: ofCall, taken: 0 } : { most: ofLife, taken };
}

/** What of the parent's choices holds for the agent, and what is its own. */
function toConfig(config: SessionConfig, { agent, cwd }: ChildSpec, turns: number | undefined): SessionConfig {
  const {
    appendSystemPrompt: _append,
    includePartialMessages: _partial,
    jsonSchema: _schema,
    maxTurns: _turns,
    replayUserMessages: _replay,
    ...rest
  } = config;
  const effort = typeof agent.effort === 'string' ? agent.effort : undefined;
  return {
    ...rest,
    systemPrompt: [agent.prompt, SUBAGENT_NOTE],
    disallowedTools: [...(config.disallowedTools ?? []), ...(agent.disallowedTools ?? [])],
    ...(turns !== undefined && { maxTurns: turns }),
    ...(effort !== undefined && { effort }),
    ...(cwd !== undefined && { cwd, additionalDirectories: [] }),
  };
}

function modelOf({ catalog, state, config }: SessionScope, { agent, input }: ChildSpec): ResolvedModel {
  const named = input.model ?? agent.model;
  if (named === undefined || named === 'inherit') return state.model;
  // Who works with another maker's model has no small one of this maker.
  if (input.model === undefined && ALIASES.has(named) && !catalog.hasPrice(state.model.model)) return state.model;
  const model = catalog.resolveModel(named);
  refuseUnpriced(config, [model.model], catalog.hasPrice);
  return model;
}

const ALIASES: ReadonlySet<string> = new Set(['sonnet', 'opus', 'haiku']);
