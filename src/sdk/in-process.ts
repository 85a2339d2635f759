import { join } from 'node:path';
import {
  createEngine,
  createFileStore,
  loadMirrorStore,
  loadSessionFunctions,
  openSettings,
  type ResolvedSetting,
  resolveSettings,
  serveHost,
  type SessionFunctions,
  systemClock,
  toToolOutput,
} from '../engine/core.js';
import type { InertKey, SessionParts, SettingsProblem } from '../engine/index.js';
import type {
  Channel,
  Clock,
  Frame,
  Logger,
  PublicSessionStore,
  SessionConfig,
  SessionStore,
  SessionStoreFlush,
  Settings,
} from '../protocol/index.js';
import { createMemoryPair } from '../wire/index.js';
import type { HeddleOptions } from './options.js';
import { toOwnTools } from './own-tool.js';

export type {
  AnsweredApproval,
  ApprovalAnswer,
  ExportedSession,
  ExportFormat,
  PendingApproval,
  SearchResult,
  SessionInfo,
  SessionMessage,
} from '../engine/index.js';

/** Starts an engine in this process. Gives the caller's end of a Channel to it. */
export async function openInProcess(
  config: SessionConfig,
  parts: HeddleOptions & { logger: Logger; copies?: StoreOptions },
): Promise<{ channel: Channel; clock: Clock }> {
  const { carrier: _, trusted: _trusted, setup: _setup, tools: given, copies = {}, ...rest } = parts;
  const { clock = systemClock } = parts;
  const tools = given && (await toOwnTools(given, toToolOutput));
  const [near, far] = createMemoryPair();
  const store = parts.store ?? (await openStore(config, copies, (frame) => far.send(frame)));
  const engine = createEngine({ ...rest, clock, store, ...(tools && { tools }) });
  serveHost({ engine, channel: far, config, logger: parts.logger }).then(
    () => near.close(),
    (error: unknown) => near.close(error instanceof Error ? error : new Error(String(error))),
  );
  return { channel: near, clock };
}

export interface StoreOptions {
  sessionStore?: SessionStore | PublicSessionStore | undefined;
  flush?: SessionStoreFlush | undefined;
  timeoutMs?: number | undefined;
}

/** The caller's store. One of the public shape gets a copy of what is kept here, and is resumed from. */
async function openStore(
  { configDir, cwd }: SessionConfig,
  { sessionStore, flush, timeoutMs }: StoreOptions,
  tell: (frame: Frame) => void,
): Promise<SessionStore> {
  if (typeof sessionStore === 'object' && sessionStore !== null && 'lease' in sessionStore) return sessionStore;
  const local = createFileStore({ configDir });
  if (sessionStore === undefined) return local;
  const { createMirrorStore } = await loadMirrorStore();
  return createMirrorStore({
    local,
    remote: sessionStore,
    cwd,
    onError: ({ message }, key) =>
      tell({
        type: 'system',
        subtype: 'mirror_error',
        error: message,
        key,
        uuid: systemClock.uuid(),
        session_id: key.sessionId,
      }),
    ...(flush && { flush }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
}

/** The functions of sessions, and what they work on: the caller's store, or the configuration folder. */
export async function openSessions({ cwd, configDir, sessionStore }: SessionPlace): Promise<OpenedSessions> {
  const functions = await loadSessionFunctions();
  if (sessionStore) {
    return { functions, parts: { store: functions.toSessionStore(sessionStore, { cwd }), clock: systemClock } };
  }
  const store = createFileStore({ configDir });
  return { functions, parts: { store, clock: systemClock, indexFile: join(configDir, 'search.db') } };
}

export interface SessionPlace {
  cwd: string;
  configDir: string;
  sessionStore?: SessionStore | PublicSessionStore | undefined;
}

export interface OpenedSessions {
  functions: SessionFunctions;
  parts: SessionParts;
}

/** Every setting that a session of these options would have, and the file that it comes from. */
export async function resolveInProcess(config: SessionConfig): Promise<ResolvedSettings> {
  const { loaded } = await openSettings(config, { clock: systemClock, home: config.env.HOME || '/' });
  const { value, problems, inert, trusted } = loaded;
  return { effective: value, sources: resolveSettings(loaded), problems, inert, trusted };
}

export interface ResolvedSettings {
  effective: Settings;
  sources: ResolvedSetting[];
  /** What is wrong in files, and does not count. */
  problems: SettingsProblem[];
  /** What waits for trust. */
  inert: InertKey[];
  trusted: boolean;
}
