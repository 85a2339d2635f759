/** From what a call says about a session to its log, open for writing. */
import type { Clock, SessionConfig, SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import type { Catalog } from '../model/catalog.js';
import type { LifeFields } from '../recorder.js';
import { HEDDLE_VERSION } from '../version.js';
import { cutAfter } from './chain.js';
import { type Entry, isChainEntry, type LifeEntry, LOG_FORMAT } from './entry.js';
import { forkEntries } from './fork.js';
import { Log } from './log.js';
import { cutAnswers, loadSession, type ResumedSession } from './resume.js';

export interface OpenedLog {
  log: Log;
  /** What is written before the first entry of this run. */
  preface: LifeFields<LifeEntry>[];
}

/** Opens the log that the configuration names: a new one, one to go on with, or a copy of one. */
export async function openLog(
  config: SessionConfig,
  options: { store: SessionStore | undefined; clock: Clock; catalog: Catalog },
): Promise<OpenedLog> {
  const { store } = options;
  const named = store && (await namedSession(config, store));
  if (named === undefined && config.resume) throw notFound(config.resume);
  if (store === undefined || named === undefined) return openNew(config, options);
  return config.forkSession
    ? openFork(config, { ...options, store, named })
    : openOld(config, { ...options, store, named });
}

const notFound = (name: string): HeddleError =>
  new HeddleError('session_not_found', `No conversation found with session ID: ${name}`);

/** The id of the session that is to be gone on with. */
async function namedSession(config: SessionConfig, store: SessionStore): Promise<string | undefined> {
  if (config.resume === undefined && config.continue !== true) return undefined;
  if (config.resume !== undefined && isSessionId(config.resume)) return config.resume;
  const { findNewest, findTitled } = await import('./find.js');
  return config.resume === undefined ? findNewest(store, config.cwd) : findTitled(store, config.resume, config.cwd);
}

interface Opening {
  store: SessionStore;
  clock: Clock;
  catalog: Catalog;
  /** The session that is named. */
  named: string;
}

async function openNew(
  config: SessionConfig,
  { store: given, clock }: { store: SessionStore | undefined; clock: Clock },
): Promise<OpenedLog> {
  const store = config.persistSession === false ? undefined : given;
  const key = { sessionId: config.sessionId ?? clock.uuid(), cwd: config.cwd };
  const lease = await store?.lease(key);
  try {
    if (config.sessionId && (await store?.load(config.sessionId))) {
      throw new HeddleError('session_exists', `Session ID ${config.sessionId} is already in use.`, {
        hint: 'Resume it, or choose another id.',
      });
    }
    return { log: new Log({ key, store, lease }), preface: [begun()] };
  } catch (thrown) {
    await lease?.release();
    throw thrown;
  }
}

async function openOld(config: SessionConfig, { store, named, catalog }: Opening): Promise<OpenedLog> {
  const written = config.persistSession === false ? undefined : store;
  // Nobody else may write between the reading and the first line of ours.
  const lease = await written?.lease({ sessionId: named, cwd: config.cwd });
  try {
    const { key, entries, marks } = await loadAt(config, { store, named });
    const preface: LifeFields<LifeEntry>[] = [begun({ resumed: true })];
    if (config.resumeSessionAt !== undefined) preface.push({ kind: 'branch', at: config.resumeSessionAt });
    preface.push(...abortedOf(entries, catalog));
    return { log: new Log({ key, store: written, entries, lease, marks }), preface };
  } catch (thrown) {
    await lease?.release();
    throw thrown;
  }
}

async function openFork(config: SessionConfig, { store, named, clock, catalog }: Opening): Promise<OpenedLog> {
  const { entries: source } = await loadAt(config, { store, named });
  const written = config.persistSession === false ? undefined : store;
  const key: SessionKey = { sessionId: config.sessionId ?? clock.uuid(), cwd: config.cwd };
  const entries = forkEntries(source, key.sessionId);
  const lease = await written?.lease(key);
  // The turn that may be open is the other session's.
  const closed: LifeFields<LifeEntry> = { kind: 'turn', state: 'ended', subtype: 'interrupted' };
  return {
    log: new Log({ key, store: written, entries, unwritten: entries, lease }),
    preface: [begun({ resumed: true }), ...abortedOf(entries, catalog), closed],
  };
}

/** The session, as far as the message that it is to be gone on from. */
async function loadAt(
  { resumeSessionAt: at }: SessionConfig,
  { store, named }: { store: SessionStore; named: string },
): Promise<ResumedSession> {
  const session = await loadSession(store, named);
  if (at === undefined) return session;
  const { entries } = session;
  if (!entries.some((entry) => isChainEntry(entry) && entry.uuid === at)) {
    throw new HeddleError('invalid_config', `No message found with message.uuid of: ${at}`, {
      hint: 'resumeSessionAt takes the uuid of a message of this session.',
    });
  }
  return { ...session, entries: cutAfter(entries, at) };
}

/** Says who writes from here on. */
const begun = (fields: { resumed?: true } = {}): LifeFields<LifeEntry> => ({
  kind: 'session',
  format: LOG_FORMAT,
  heddleVersion: HEDDLE_VERSION,
  ...fields,
});

/** Closes the answers that a dead process left in the middle. */
const abortedOf = (entries: readonly Entry[], catalog: Catalog): LifeFields<LifeEntry>[] =>
  cutAnswers(entries).map(({ messageId, model, usage }) => ({
    kind: 'aborted',
    messageId,
    model,
    usage,
    microCents: catalog.microCentsOf(model, usage) ?? null,
    reason: 'cut_off',
  }));
