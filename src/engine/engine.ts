import { resolve } from 'node:path';
import type {
  Clock,
  Logger,
  ModelProvider,
  SessionConfig,
  SessionKey,
  SessionStore,
  Tool,
  Workspace,
} from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { childEnvironment } from './child-env.js';
import { mannersFor } from './manners.js';
import { type Catalog, createCatalog } from './model/catalog.js';
import { Outbox } from './outbox.js';
import { chooseProvider } from './provider.js';
import { type LifeFields, Recorder } from './recorder.js';
import type { SessionState } from './scope.js';
import { Session } from './session.js';
import { type Entry, type LifeEntry, LOG_FORMAT } from './sessions/entry.js';
import { createKeeper } from './sessions/kept-output.js';
import { Log } from './sessions/log.js';
import { cutAnswers, lastChoices, loadNewest, loadSession } from './sessions/resume.js';
import { Spending } from './spending.js';
import { createBuiltinTools } from './tools/builtin.js';
import { createReadLedger } from './tools/ledger.js';
import { selectTools } from './tools/registry.js';
import { HEDDLE_VERSION } from './version.js';
import { createLocalWorkspace } from './workspace/local.js';

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
  /** Opens a session, new or resumed. Throws a HeddleError that says why it cannot. */
  open(config: SessionConfig): Promise<Session>;
}

/** What runs sessions. It holds nothing of theirs: a thousand of them share one. */
export function createEngine(parts: EngineParts): Engine {
  const { clock } = parts;
  const logger = parts.logger ?? (() => {});
  const catalog = parts.catalog ?? createCatalog();

  const open = async (config: SessionConfig): Promise<Session> => {
    const own = createLocalWorkspace({ clock, logger, env: config.env });
    const workspace = parts.workspace ?? own;
    const store = config.persistSession === false ? undefined : parts.store;
    const { key, entries } = await findSession(config, { store: parts.store, clock });
    const state = await startState(config, { catalog, workspace, entries });
    refuseUnpricedBudget(config, state, catalog);
    const childEnv = childEnvironment(config);
    const provider =
      parts.provider ?? (await chooseProvider(state.model.model, { config, clock, logger, workspace, childEnv }));
    const log = new Log({ key, store, entries });
    const recorder = new Recorder({ log, outbox: new Outbox(), clock, logger, preface: prefaceOf(entries, catalog) });
    const spending = new Spending(catalog);
    spending.restore(entries);
    return new Session({
      config,
      state,
      clock,
      logger,
      provider,
      catalog,
      workspace,
      tools: selectTools([...createBuiltinTools(), ...(parts.tools ?? [])], config),
      recorder,
      ledger: createReadLedger(),
      spending,
      manners: mannersFor(config.client),
      childEnv,
      keep: createKeeper(log.path),
      release: async () => {
        store?.release(key.sessionId);
        await own.close();
      },
    });
  };

  return { clock, catalog, open };
}

/** The session that the configuration names, with what its log holds. */
async function findSession(
  config: SessionConfig,
  options: { store: SessionStore | undefined; clock: Clock },
): Promise<{ key: SessionKey; entries: Entry[] }> {
  const { store } = options;
  for (const option of ['forkSession', 'resumeSessionAt', 'resumeDropsTurn'] as const) {
    if (config[option]) throw new HeddleError('not_supported', `${option} is not supported in this version.`);
  }
  const fresh = { key: { sessionId: config.sessionId ?? options.clock.uuid(), cwd: config.cwd }, entries: [] };
  if (store === undefined) {
    if (config.resume)
      throw new HeddleError('session_not_found', `No conversation found with session ID: ${config.resume}`);
    return fresh;
  }
  if (config.resume) return loadSession(store, config.resume);
  if (config.continue) return (await loadNewest(store, config.cwd)) ?? fresh;
  if (config.sessionId && (await store.load(config.sessionId))) {
    throw new HeddleError('session_exists', `Session ID ${config.sessionId} is already in use.`, {
      hint: 'Resume it, or choose another id.',
    });
  }
  return fresh;
}

/** What the call says counts; where it is silent, what was in force when the log ended. */
async function startState(
  config: SessionConfig,
  options: { catalog: Catalog; workspace: Workspace; entries: readonly Entry[] },
): Promise<SessionState> {
  const { workspace, catalog } = options;
  const last = lastChoices(options.entries);
  const folders = [config.cwd, ...(config.additionalDirectories ?? []).map((folder) => resolve(config.cwd, folder))];
  const stat = await workspace.stat(config.cwd);
  if (stat?.kind !== 'directory') {
    throw new HeddleError('invalid_config', `The working directory ${config.cwd} does not exist.`, {
      hint: 'Set cwd to an existing folder.',
    });
  }
  return {
    model: catalog.resolveModel(config.model ?? last.model ?? 'default'),
    mode: config.permissionMode ?? last.mode ?? 'default',
    maxThinkingTokens: config.maxThinkingTokens ?? last.maxThinkingTokens,
    cwd: config.cwd,
    roots: await Promise.all(folders.map((folder) => workspace.realPath(folder))),
    allowed: [],
  };
}

/** A budget that cannot be watched would be no budget. */
function refuseUnpricedBudget(config: SessionConfig, { model }: SessionState, catalog: Catalog): void {
  if (config.maxBudgetUsd === undefined || catalog.hasPrice(model.model)) return;
  throw new HeddleError('budget_unpriced', `The price of ${model.model} is not known, so a USD budget cannot be kept.`);
}

/** Says in the log who writes from here on, and closes answers that a dead process left in the middle. */
function prefaceOf(entries: readonly Entry[], catalog: Catalog): LifeFields<LifeEntry>[] {
  const resumed = entries.length > 0 && { resumed: true as const };
  return [
    { kind: 'session', format: LOG_FORMAT, heddleVersion: HEDDLE_VERSION, ...resumed },
    ...cutAnswers(entries).map(({ messageId, model, usage }) => ({
      kind: 'aborted' as const,
      messageId,
      model,
      usage,
      microCents: catalog.microCentsOf(model, usage) ?? null,
      reason: 'cut_off',
    })),
  ];
}
