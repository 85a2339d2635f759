/** From what a call says about a session to its log, open for writing. */
import type { Clock, Lease, SessionConfig, SessionKey, SessionStore } from '../../protocol/index.js';
import { HeddleError, isSessionId } from '../../protocol/plain.js';
import type { Catalog } from '../model/catalog.js';
import type { LifeFields } from '../recorder.js';
import { realPathOf } from '../settings/files.js';
import { HEDDLE_VERSION } from '../version.js';
import { type Entry, type LifeEntry, LOG_FORMAT } from './entry.js';
import { forkEntries, staysBehind } from './fork.js';
import { Log } from './log.js';
import { cutAnswers, loadSession } from './resume.js';

export interface OpenedLog {
  log: Log;
  /** What is written before the first entry of this run. */
  preface: LifeFields<LifeEntry>[];
}

/** Opens the log that the configuration names: a new one, one to go on with, or a copy of one. */
export async function openLog(
  called: SessionConfig,
  options: { store: SessionStore | undefined; clock: Clock; catalog: Catalog },
): Promise<OpenedLog> {
  const { store } = options;
  refuseContradictions(called);
  // However a folder is spelled, its sessions are the same.
  const config = { ...called, cwd: realPathOf(called.cwd) };
  const named = store && (await namedSession(config, store));
  if (named === undefined && config.resume) throw notFound(config.resume);
  if (store === undefined || named === undefined) return openNew(config, options);
  return config.forkSession
    ? openFork(config, { ...options, store, named })
    : openOld(config, { ...options, store, named });
}

/** What names no session, or two, must not begin a conversation that nobody meant. */
function refuseContradictions({
  resume,
  continue: goesOn,
  sessionId,
  forkSession,
  resumeSessionAt,
}: SessionConfig): void {
  const refuse = (text: string, hint: string): never => {
    throw new HeddleError('invalid_config', text, { hint });
  };
  if (resume !== undefined && resume.trim() === '') refuse('resume names no session.', 'Give an id or a title.');
  const isOld = resume !== undefined || goesOn === true;
  if (!isOld && forkSession) refuse('forkSession needs a session to fork.', 'Give resume or continue.');
  if (!isOld && resumeSessionAt !== undefined) refuse('resumeSessionAt needs a session.', 'Give resume or continue.');
  if (isOld && sessionId !== undefined && !forkSession) {
    refuse('sessionId is for a new session, or for a fork.', 'Leave it out, or set forkSession.');
  }
}

const notFound = (name: string): HeddleError =>
  new HeddleError('session_not_found', `No conversation found with session ID: ${name}`);

/** The id of the session that is to be gone on with. */
async function namedSession(config: SessionConfig, store: SessionStore): Promise<string | undefined> {
  if (config.resume === undefined && config.continue !== true) return undefined;
  const { resume, cwd } = config;
  if (resume === undefined) return (await import('./find.js')).findNewest(store, cwd);
  // As every session is kept: there is nothing to look for.
  if (isSessionId(resume) && resume === resume.toLowerCase()) return resume;
  const { findNamed } = await import('../session-functions/named.js');
  return findNamed({ store }, resume, { cwd });
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
  return { log: new Log({ store, ...(await reserve(config, { store, clock })) }), preface: [begun()] };
}

/** The id of a new session, and the right to write it. An id that is taken is refused. */
async function reserve(
  { sessionId: given, cwd }: SessionConfig,
  { store, clock }: { store: SessionStore | undefined; clock: Clock },
): Promise<{ key: SessionKey; lease: Lease | undefined }> {
  // In whatever case it is given, it names the same session.
  const sessionId = given?.toLowerCase();
  const key = { sessionId: sessionId ?? clock.uuid(), cwd };
  const lease = await store?.lease(key);
  try {
    if (sessionId && (await store?.load(sessionId))) {
      throw new HeddleError('session_exists', `Session ID ${sessionId} is already in use.`, {
        hint: 'Resume it, or choose another id.',
      });
    }
    return { key, lease };
  } catch (thrown) {
    await lease?.release();
    throw thrown;
  }
}

async function openOld(config: SessionConfig, { store, named, catalog }: Opening): Promise<OpenedLog> {
  if (config.persistSession === false) return openUnkept(config, { store, named, catalog });
  // Nobody else may write between the reading and the first line of ours.
  const lease = await store.lease({ sessionId: named, cwd: config.cwd });
  try {
    const { key, entries, marks } = await loadSession(store, named, { at: config.resumeSessionAt });
    const at = config.resumeSessionAt;
    const branch: LifeFields<LifeEntry>[] = at === undefined ? [] : [{ kind: 'branch', at }];
    const preface = [begun({ resumed: true }), ...branch, ...abortedOf(entries, catalog)];
    return { log: new Log({ key, store, entries, lease, marks }), preface };
  } catch (thrown) {
    await lease.release();
    throw thrown;
  }
}

/** What waits for an answer stays in the log: a call that leaves no trace there would run again. */
async function openUnkept(
  config: SessionConfig,
  { store, named, catalog }: Omit<Opening, 'clock'>,
): Promise<OpenedLog> {
  const { key, entries: source } = await loadSession(store, named, { at: config.resumeSessionAt });
  const entries = source.filter((entry) => !staysBehind(entry));
  return {
    log: new Log({ key, entries }),
    preface: [begun({ resumed: true }), ...abortedOf(entries, catalog), CLOSED],
  };
}

async function openFork(config: SessionConfig, { store, named, clock, catalog }: Opening): Promise<OpenedLog> {
  const { entries: source } = await loadSession(store, named, { at: config.resumeSessionAt });
  const written = config.persistSession === false ? undefined : store;
  const { key, lease } = await reserve(config, { store: written, clock });
  const entries = forkEntries(source, key.sessionId);
  return {
    log: new Log({ key, store: written, entries, unwritten: entries, lease }),
    preface: [begun({ resumed: true }), ...abortedOf(entries, catalog), CLOSED],
  };
}

/** The turn that may be open is another's. */
const CLOSED: LifeFields<LifeEntry> = { kind: 'turn', state: 'ended', subtype: 'interrupted' };

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
