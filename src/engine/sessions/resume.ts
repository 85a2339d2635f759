import type { LoadedSession, PermissionUpdate, SessionStore } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isAgentId } from '../agents/identity.js';
import { type AbortedEntry, type AssistantEntry, type Entry, isLifeEntry, LOG_FORMAT, type SetEntry } from './entry.js';
import type { TaskNotice } from '../tasks.js';
import { chainTo, readEntries, toChain } from './chain.js';
import { lastMarks, type Mark } from './mark.js';

export interface ResumedSession {
  key: LoadedSession['key'];
  entries: Entry[];
  marks: Mark[];
}

/** Loads a session by id, as far as the message `at`. An unknown one is an error, never a silent new conversation (F3). */
export async function loadSession(
  store: SessionStore,
  sessionId: string,
  { at }: { at?: string | undefined } = {},
): Promise<ResumedSession> {
  const loaded = await store.load(sessionId);
  if (loaded === undefined) {
    throw new HeddleError('session_not_found', `No conversation found with session ID: ${sessionId}`);
  }
  const all = await readEntries(loaded.lines);
  refuseUnreadable(sessionId, all);
  const entries = at === undefined ? toChain(all) : chainTo(all, at);
  if (entries === undefined) {
    throw new HeddleError('invalid_config', `No message found with message.uuid of: ${at}`, {
      hint: 'resumeSessionAt takes the uuid of a message of this session.',
    });
  }
  return { key: loaded.key, entries, marks: lastMarks(loaded.lines) };
}

function refuseUnreadable(sessionId: string, entries: readonly Entry[]): void {
  let newest = 0;
  for (const entry of entries) {
    if (isLifeEntry(entry) && entry.kind === 'session' && entry.format > newest) newest = entry.format;
  }
  if (newest > LOG_FORMAT) {
    const text = `Session ${sessionId} was written by a newer version of Heddle (log format ${newest}).`;
    throw new HeddleError('session_unreadable', text, { hint: 'Use that version, or start a new session.' });
  }
  if (entries.length === 0) {
    throw new HeddleError('session_unreadable', `The log of session ${sessionId} holds no conversation.`, {
      hint: 'The file is empty or damaged. Start a new session.',
    });
  }
}

/** The answers that were cut off: blocks of ours that no `step` or `aborted` entry closes. */
export function cutAnswers(entries: readonly Entry[]): Pick<AbortedEntry, 'messageId' | 'model' | 'usage'>[] {
  const closed = new Set<string>();
  for (const entry of entries) {
    if (isLifeEntry(entry) && (entry.kind === 'step' || entry.kind === 'aborted')) closed.add(entry.messageId);
  }
  const cut = new Map<string, AssistantEntry['message']>();
  for (const entry of entries) {
    if (entry.type !== 'assistant' || entry.writer !== 'heddle') continue;
    if (entry.isApiErrorMessage || closed.has(entry.message.id)) continue;
    cut.set(entry.message.id, entry.message);
  }
  return [...cut.values()].map(({ id, model, usage }) => ({ messageId: id, model, usage }));
}

const CHOICES = ['model', 'mode', 'modeBefore', 'planTold', 'maxThinkingTokens', 'cwd'] as const;
type Choices = Pick<SetEntry, (typeof CHOICES)[number]>;

/** The choices that were in force when the log ended. */
export function lastChoices(entries: readonly Entry[]): Choices {
  const choices: Choices = {};
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.kind !== 'set') continue;
    for (const key of CHOICES) if (entry[key] !== undefined) Object.assign(choices, { [key]: entry[key] });
  }
  return choices;
}

/** What the model knew of files when the log ended: path to hash. */
export function lastNotes(entries: readonly Entry[]): Record<string, string> {
  const notes: Record<string, string> = {};
  for (const entry of entries) if (isLifeEntry(entry) && entry.kind === 'noted') notes[entry.path] = entry.hash;
  return notes;
}

/** Messages that waited for their turn when the log ended. */
export function lostPrompts(entries: readonly Entry[]): string[] {
  const waiting = new Set<string>();
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.kind !== 'queue') continue;
    if (entry.state === 'queued') waiting.add(entry.promptUuid);
    else waiting.delete(entry.promptUuid);
  }
  return [...waiting];
}

/** Rules and folders that were granted for the session. */
export const grantedUpdates = (entries: readonly Entry[]): PermissionUpdate[] =>
  entries.flatMap((entry) => (isLifeEntry(entry) && entry.kind === 'permissions' ? entry.updates : []));

/** What the model has not been told about tasks in the background, some of which a dead process took with it. */
export function untoldTasks(entries: readonly Entry[]): TaskNotice[] {
  const notices = new Map<string, TaskNotice>();
  for (const entry of entries) {
    if (isLifeEntry(entry) && entry.kind === 'task') {
      const { taskId } = entry;
      if (entry.state === 'started') notices.set(taskId, { taskId, text: describeLost(taskId, entry.description) });
      else if (entry.state === 'told' || entry.told) notices.delete(taskId);
      else notices.set(taskId, { taskId, text: entry.notice });
    }
    if (entry.type === 'user') for (const taskId of entry.toldTasks ?? []) notices.delete(taskId);
  }
  return [...notices.values()];
}

function describeLost(taskId: string, description: string): string {
  const name = `"${description.replaceAll('<', '&lt;')}"`;
  const summary = isAgentId(taskId)
    ? `Agent ${name} was stopped with the process that ran it. What it had done until then stays done; to go on with it, give ${taskId} as resume.`
    : `Background task ${name} ended with the process that ran it; it is not running any more.`;
  return `<task-notification>\n<task-id>${taskId}</task-id>\n<status>stopped</status>\n<summary>${summary}</summary>\n</task-notification>`;
}
