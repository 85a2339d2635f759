import type {
  Clock,
  Logger,
  ModelProvider,
  PermissionMode,
  SessionConfig,
  SessionStore,
  Tool,
  Workspace,
} from '../protocol/index.js';
import { checkConfig, HeddleError } from '../protocol/plain.js';
import { createAgents } from './agents/agents.js';
import type { CallAside } from './aside-call.js';
import { callAside } from './aside.js';
import { Budget } from './budget/budget.js';
import { queryLimits } from './budget/options.js';
import { openCheckpoints } from './checkpoints/open.js';
import { childEnvironment } from './child-env.js';
import { isSilentPlan, mayBypass, refuseRoot, refuseUnpriced } from './choices.js';
import { noticesOfSkills } from './commands/chosen-skills.js';
import { createCommands } from './commands/open.js';
import { createSkillCalls } from './commands/skills.js';
import type { Agent } from './definitions/definition.js';
import { openDefinitions, type SessionDefinitions, toNotice } from './definitions/open.js';
import { Guard } from './guard.js';
import { openHookSettings } from './hooks/hook-settings.js';
import { createSessionHooks } from './hooks/session-hooks.js';
import { createLists, lastLists } from './lists.js';
import { mannersFor } from './manners.js';
import { type ConfiguredServers, findServers, openMcp } from './mcp/open.js';
import { openMemory } from './memory/open.js';
import type { ToolApprovals } from './mcp/tool-approvals.js';
import { type Catalog, createCatalog, type ResolvedModel } from './model/catalog.js';
import { checkFolders } from './open-folders.js';
import { Outbox } from './outbox.js';
import { findStyle, stylesOf } from './output-style.js';
import { takesStyle } from './prompt.js';
import { isWithinRoots } from './permissions/path.js';
import { toHookSources } from './plugins/hook-sources.js';
import { restorePlan } from './plan/plan-file.js';
import { createPlanMode } from './plan/session-plan.js';
import { createProviders } from './provider.js';
import { type Form, Questions } from './questions.js';
import { Recorder } from './recorder.js';
import type { SessionScope, SessionState } from './scope.js';
import { Session } from './session.js';
import type { Log } from './sessions/log.js';
import { createKeeper } from './sessions/kept-output.js';
import { openLog } from './sessions/open.js';
import { withPatience } from './stores/patience.js';
import { grantedUpdates, lastChoices, lastNotes, untoldTasks } from './sessions/resume.js';
import { environmentLimits, openSettings, withSettings } from './settings/session-settings.js';
import { noticesOf, openSandbox } from './sandbox/open.js';
import type { LoadedSettings } from './settings/load.js';
import { Spending } from './spending.js';
import { Tasks } from './tasks.js';
import { createBuiltinTools } from './tools/builtin.js';
import type { ToolParts } from './tools/parts.js';
import { createReadLedger } from './tools/ledger.js';
import { checkTools, selectTools } from './tools/registry.js';
import { refuseUnsupported } from './unsupported.js';
import { createLocalWorkspace, isLocal } from './workspace/local.js';

/** What an engine may be given; everything but the clock has a default. */
export interface EngineParts {
  clock: Clock;
  /** Where sessions are kept; nowhere when absent. */
  store?: SessionStore;
  workspace?: Workspace;
  /** Answers every session. When absent, each session finds its own by its model and environment. */
  provider?: ModelProvider;
  catalog?: Catalog;
  /** Offered beside the built-in tools. */
  tools?: readonly Tool[];
  logger?: Logger;
}

export interface Engine {
  readonly clock: Clock;
  readonly catalog: Catalog;
  /** Who answers every session, when it was given someone. */
  readonly provider?: ModelProvider;
  /**
   * Opens a session, new or resumed. Throws a HeddleError that says why it cannot. `isHosted`: a host may bring MCP servers
   * later, so that one that is not there yet is no mistake.
   */
  open(config: SessionConfig, options?: { isHosted?: boolean }): Promise<Session>;
}

/** Servers are connected when the first answer begins, so that it waits for none of them, or after this time. */
const CONNECT_AFTER_MS = 500;

/** What runs sessions. It holds nothing of theirs: a thousand of them share one. */
export function createEngine(parts: EngineParts): Engine {
  const { clock } = parts;
  const logger = parts.logger ?? (() => {});
  const catalog = parts.catalog ?? createCatalog();
  const store = parts.store && withPatience(parts.store, { clock });

  /** Nothing is left behind by a session that does not open: what was begun for it is undone, the last first. */
  const open: Engine['open'] = async (called, { isHosted = false } = {}) => {
    const begun: (() => unknown)[] = [];
    try {
      return await openWith(called, { isHosted, onFailure: (undo) => void begun.push(undo) });
    } catch (thrown) {
      const tell = (error: unknown) => logger('warn', `Something was left behind by a failed start: ${String(error)}`);
      for (const undo of begun.toReversed()) await Promise.resolve().then(undo).catch(tell);
      throw thrown;
    }
  };

  const openWith = async (
    called: SessionConfig,
    { isHosted, onFailure }: { isHosted: boolean; onFailure: (undo: () => unknown) => void },
  ): Promise<Session> => {
    const openedAt = clock.monotonic();
    checkConfig(called);
    refuseUnsupported(called);
    // A workspace of one's own is not this machine.
    if (parts.workspace === undefined || isLocal(parts.workspace)) refuseRoot(called);
    const home = called.env.HOME || '/';
    // What is no tool at all is refused below.
    const names = (parts.tools ?? []).map((tool: Tool | undefined) => String(tool?.name));
    const settings = await openSettings(called, { clock, home, tools: names });
    const asked = withSettings(called, settings.loaded);
    const definitions = await openDefinitions(asked, settings.loaded);
    if (asked.agents !== undefined) {
      await (await import('./agents/check-definitions.js')).checkDefinitions(definitions.agents.values(), names);
    }
    const main = await openMainAgent(asked, definitions.agents);
    const config = main?.config ?? asked;
    checkConfig(config);
    const findConfigured = () =>
      findAllServers(config, { settings: settings.loaded, plugins: definitions.plugins, main });
    const servers = await findConfigured();
    const promptTool = await openPromptTool(config, isHosted ? undefined : [...servers.servers.keys()]);
    const { style: chosen, notices: ofStyle } = findStyle(
      settings.loaded.value.outputStyle,
      stylesOf(definitions.styles),
    );
    const style = takesStyle(config) ? chosen : undefined;
    const { log, preface } = await openLog(config, { store, clock, catalog });
    onFailure(() => log.release());
    const { key, entries } = log;
    const machine = createLocalWorkspace({ clock, logger, env: config.env });
    onFailure(() => machine.close());
    const workspace = parts.workspace ?? machine;
    await checkFolders(called, { home, workspace });
    const childEnv = childEnvironment(config, environmentLimits(called, settings.loaded));
    // A helper that counts is the person's own, and may need what a folder must not see.
    const helperEnv = childEnvironment(config);
    const providerFor = createProviders({
      config,
      clock,
      logger,
      workspace,
      childEnv: helperEnv,
      only: parts.provider,
    });
    const recorder = new Recorder({ log, outbox: new Outbox(), clock, logger, preface });
    const spending = new Spending(catalog);
    spending.restore(entries);
    const kept = createKeeper(log.path);
    onFailure(() => kept.release());
    const tasks = new Tasks({ clock, recorder, sessionId: key.sessionId });
    const model = catalog.resolveModel(config.model ?? lastChoices(entries).model ?? main?.model ?? 'default');
    const provider = await providerFor(model.model);
    const hooks = createSessionHooks(async (onLate) => (await import('./hooks/open.js')).openHooks(scope, onLate));
    const aside: CallAside = (call) => callAside(scope, call);
    onFailure(() => hooks.close());
    const sources = () => {
      const { plugins, agents } = definitions;
      return { settings: settings.loaded, plugins, agents, servers: servers.servers };
    };
    const boxed = { workspace, clock, logger, home, childEnv, sources };
    const sandbox = await openSandbox(config, settings.loaded, boxed);
    onFailure(() => sandbox?.close());
    const own = parts.tools ?? [];
    const toolParts: Omit<ToolParts, 'lists' | 'callAside' | 'agents' | 'skills'> = {
      sandbox,
      tasks,
      plan: createPlanMode(() => scope),
      async refuseTask(event, { id, subject, description }, signal) {
        const fields = { task_id: id, task_subject: subject, task_description: description };
        const { block, cancelled } = await hooks.fire(event, fields, { signal });
        return block?.reason ?? (cancelled ? 'the turn was interrupted' : undefined);
      },
      openOutput: (name) => kept.openOutput(name),
      settings: () => settings.loaded,
      env: config.env,
      providerSearches: provider.searchesWeb ?? false,
    };
    const makeTools: SessionScope['makeTools'] = (more) => [...createBuiltinTools({ ...toolParts, ...more }), ...own];
    const agents = createAgents(
      {
        known: () => definitions.agents,
        store: log.isKept ? store : undefined,
        working: new Map(),
        roots: new Map(),
        accounts: new Map(),
      },
      { depth: 1, scope: () => scope, bounds: main?.bounds },
    );
    const lists = createLists({
      known: lastLists(entries),
      onChange: (change) => void recorder.life({ kind: 'list', ...change }),
    });
    const commands = createCommands({
      definitions,
      own: { lists, store: log.isKept ? store : undefined },
      mcp: () => scope.mcp,
      disabled: config.disableSlashCommands ?? false,
      chosen: config.skills,
      clock,
      logger,
      tell(known) {
        const ids = { uuid: clock.uuid(), session_id: key.sessionId };
        recorder.emit({ type: 'system', subtype: 'commands_changed', commands: known, ...ids });
      },
      tellProblem(problem) {
        const ids = { uuid: clock.uuid(), session_id: key.sessionId };
        recorder.emit({ type: 'system', subtype: 'informational', tag: 'settings', ...toNotice(problem), ...ids });
      },
    });
    const skills = createSkillCalls(commands, () => scope);
    const tools = makeTools({ lists, callAside: aside, agents, skills });
    checkTools(tools.slice(0, tools.length - own.length), own);
    if (config.jsonSchema !== undefined) {
      const { openStructuredOutput } = await import('./structured-output/open.js');
      tools.push(await openStructuredOutput(config.jsonSchema));
    }
    const guard = new Guard({
      config: called,
      settings,
      workspace,
      home,
      ownTools: own.map(({ name }) => name),
      onNotice(notice) {
        const ids = { uuid: clock.uuid(), session_id: key.sessionId };
        recorder.emit({ type: 'system', subtype: 'informational', tag: 'settings', ...notice, ...ids });
      },
      notices: [
        ...noticesOf(sandbox),
        ...servers.notices,
        ...ofStyle,
        ...definitions.problems.map(toNotice),
        ...noticesOfSkills(config.skills, definitions),
      ],
    });
    const granted = grantedUpdates(entries);
    if (granted.length > 0) await guard.update(granted);
    const state = await startState(config, {
      catalog,
      workspace,
      log,
      model,
      provider,
      tools,
      guard,
      mode: main?.mode,
    });
    settings.onChange(async () => {
      state.roots = await guard.roots();
    });
    const { sessionId: id } = key;
    const around = { id, config, state, clock, logger, workspace, recorder, childEnv, tasks };
    const checkpoints = await openCheckpoints(config, around);
    let approvals: ToolApprovals | undefined;
    const scope: SessionScope = {
      id,
      checkpoints,
      guard,
      sandbox,
      config,
      state,
      clock,
      openedAt,
      logger,
      catalog,
      workspace,
      recorder,
      questions: new Questions(),
      forms: new Questions<Form>(),
      commands,
      definitions,
      ...(main && { opening: main.opening, mainAgent: main.agent }),
      ...(main?.within && { within: main.within }),
      ...(style && { style }),
      async reloadPlugins() {
        await definitions.reloadPlugins();
        await commands.reload();
        await replaceHooks();
        const found = await findConfigured();
        scope.mcp.begin();
        await scope.mcp.configure(found.servers);
        guard.tell(found.notices);
      },
      memory: openMemory(config.settingSources ?? [], () => scope),
      mcp: openMcp(servers.servers, { clock, logger, config, scope: () => scope, bounds: main?.bounds }),
      toolApprovals: async () =>
        (approvals ??= (await import('./mcp/tool-approvals.js')).createToolApprovals({
          configDir: config.configDir,
          clock,
          logger,
        })),
      ledger: createReadLedger({
        known: lastNotes(entries),
        onNote: (path, hash) => void recorder.life({ kind: 'noted', path, hash }),
      }),
      spending,
      budget: new Budget(queryLimits(config), { clock }),
      manners: mannersFor(config.client),
      childEnv,
      providerFor,
      kept,
      tasks,
      hooks,
      callAside: aside,
      agents,
      denials: [],
      makeTools,
    };
    const release = async (): Promise<void> => {
      commands.close();
      await tasks.stopAll();
      await Promise.all(agents.tree.working.values());
      await scope.mcp.close();
      await checkpoints?.close();
      hooks.close();
      await log.release();
      await machine.close();
      await sandbox?.close();
      await kept.release();
    };
    const ofMain = main ? [main.hooksOf(settings.loaded)].flat() : [];
    const replaceHooks = await openHookSettings(scope, {
      settings,
      plugins: () => [...toHookSources(definitions.plugins), ...ofMain],
    });
    if (servers.servers.size > 0) {
      void scope.mcp.set(new Map());
      clock.after(CONNECT_AFTER_MS, () => scope.mcp.begin(), { background: true });
    }
    if (promptTool) scope.questions.attach(promptTool(scope));
    return new Session(scope, { tools, release, notices: untoldTasks(entries) });
  };

  return { clock, catalog, open, ...(parts.provider && { provider: parts.provider }) };
}

/** A tool of a server may answer in the place of a person. `servers`: those that there are, when no more will come. */
async function openPromptTool({ permissionPromptTool: tool }: SessionConfig, servers: readonly string[] | undefined) {
  if (tool === undefined || tool === 'stdio') return undefined;
  const { askThroughTool, checkPromptTool } = await import('./permissions/prompt-tool.js');
  checkPromptTool(tool, servers);
  return (scope: SessionScope) => askThroughTool(scope, tool);
}

/** The main thread may be an agent, too. */
async function openMainAgent(config: SessionConfig, agents: ReadonlyMap<string, Agent>) {
  if (config.agent === undefined) return undefined;
  const [{ findMainAgent, refuseTaken, toMainAgent }, { hooksOfDefinition }] = await Promise.all([
    import('./agents/main-agent.js'),
    import('./agents/agent-hooks.js'),
  ]);
  const agent = findMainAgent(agents, config.agent);
  const hooksOf = (settings: LoadedSettings) => hooksOfDefinition(agent, settings) ?? [];
  return { ...toMainAgent(config, agent), hooksOf, refuseTaken };
}

async function findAllServers(
  config: SessionConfig,
  parts: Pick<SessionDefinitions, 'plugins'> & {
    settings: LoadedSettings;
    main: Awaited<ReturnType<typeof openMainAgent>>;
  },
): Promise<ConfiguredServers> {
  const { settings, plugins, main } = parts;
  const servers = await findServers(config, settings, plugins);
  if (main === undefined || Object.keys(main.mcpServers).length === 0) return servers;
  if (config.strictMcpConfig !== true) main.refuseTaken(main, servers.servers.keys());
  return findServers(config, settings, [...plugins, main]);
}

/** What the call says counts; where it is silent, what was in force when the log ended. */
async function startState(
  config: SessionConfig,
  options: {
    catalog: Catalog;
    workspace: Workspace;
    log: Log;
    model: ResolvedModel;
    provider: ModelProvider;
    tools: readonly Tool[];
    guard: Guard;
    /** What counts where the log is silent, too. */
    mode: PermissionMode | undefined;
  },
): Promise<SessionState> {
  const { workspace, catalog, model } = options;
  const { entries, isKept } = options.log;
  const last = lastChoices(entries);
  if (!(await isFolder(workspace, config.cwd))) {
    throw new HeddleError('invalid_config', `The working directory ${config.cwd} does not exist.`, {
      hint: 'Set cwd to an existing folder.',
    });
  }
  const fallbacks = (config.fallbackModel?.split(',') ?? []).map((name) => catalog.resolveModel(name).model);
  refuseUnpriced(config, [model.model, ...fallbacks], catalog.hasPrice);
  const roots = await options.guard.roots();
  const usable = (mode = last.mode) => (mode === 'bypassPermissions' && !mayBypass(config) ? undefined : mode);
  const mode = config.permissionMode ?? usable() ?? options.mode ?? 'default';
  const state: SessionState = {
    model,
    keySource: options.provider.keySource,
    mode,
    get asksNobody() {
      return isSilentPlan(state);
    },
    ...(mode === 'plan' && last.mode === 'plan' && { modeBefore: usable(last.modeBefore ?? 'default') }),
    ...(last.planTold !== undefined && { planTold: last.planTold }),
    ...restorePlan(entries, { configDir: config.configDir, settings: options.guard.settings, isKept }),
    maxThinkingTokens: config.maxThinkingTokens ?? last.maxThinkingTokens,
    cwd: await lastCwd(last.cwd, { workspace, roots, start: config.cwd }),
    roots,
    tools: selectTools(options.tools, config, { canAsk: false }),
  };
  return state;
}

const isFolder = async (workspace: Workspace, path: string): Promise<boolean> =>
  (await workspace.stat(path))?.kind === 'directory';

/** Where the shell was when the log ended, if that is still a folder that may be used. */
async function lastCwd(
  cwd: string | undefined,
  { workspace, roots, start }: { workspace: Workspace; roots: readonly string[]; start: string },
): Promise<string> {
  if (cwd === undefined || !(await isFolder(workspace, cwd))) return start;
  return isWithinRoots(await workspace.realPath(cwd), roots) ? cwd : start;
}
