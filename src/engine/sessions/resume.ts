import type { LoadedSession, SessionStore } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { type AbortedEntry, type AssistantEntry, type Entry, isLifeEntry, type SetEntry } from './entry.js';
import { readChain } from './log.js';

export interface ResumedSession {
  key: LoadedSession['key'];
  entries: Entry[];
}

/** Loads a session by id. An unknown one is an error, never a silent new conversation (F3). */
export async function loadSession(store: SessionStore, sessionId: string): Promise<ResumedSession> {
  const loaded = await store.load(sessionId);
  if (loaded === undefined) {
    throw new HeddleError('session_not_found', `No conversation found with session ID: ${sessionId}`);
  }
  return { key: loaded.key, entries: readChain(loaded.lines) };
}

/** The newest session of a folder, for `continue`. Undefined when it has none. */
export async function loadNewest(store: SessionStore, cwd: string): Promise<ResumedSession | undefined> {
  const [newest] = await store.list({ cwd });
  return newest === undefined ? undefined : loadSession(store, newest.sessionId);
}

/** The answers that were cut off: blocks of ours that no `step` or `aborted` entry closes. */
export function cutAnswers(entries: readonly Entry[]): Pick<AbortedEntry, 'messageId' | 'model' | 'usage'>[] {
  const ours = entries.findIndex((entry) => isLifeEntry(entry) && entry.kind === 'session');
  if (ours === -1) return [];
  const closed = new Set<string>();
  for (const entry of entries) {
    if (isLifeEntry(entry) && (entry.kind === 'step' || entry.kind === 'aborted')) closed.add(entry.messageId);
  }
  const cut = new Map<string, AssistantEntry['message']>();
  for (const entry of entries.slice(ours)) {
    if (entry.type !== 'assistant' || entry.isApiErrorMessage || closed.has(entry.message.id)) continue;
    cut.set(entry.message.id, entry.message);
  }
  return [...cut.values()].map(({ id, model, usage }) => ({ messageId: id, model, usage }));
}

/** The choices that were in force when the log ended. */
export function lastChoices(entries: readonly Entry[]): Pick<SetEntry, 'model' | 'mode' | 'maxThinkingTokens'> {
  const choices: Pick<SetEntry, 'model' | 'mode' | 'maxThinkingTokens'> = {};
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.kind !== 'set') continue;
    if (entry.model !== undefined) choices.model = entry.model;
    if (entry.mode !== undefined) choices.mode = entry.mode;
    if (entry.maxThinkingTokens !== undefined) choices.maxThinkingTokens = entry.maxThinkingTokens;
  }
  return choices;
}
