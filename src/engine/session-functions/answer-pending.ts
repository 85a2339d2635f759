/** Questions that outlived the process that asked them: what waits for approval, and an answer that the next run finds. */
import type { Lease, SessionKey } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { currentTurn, type OpenCall, openCalls } from '../next-action.js';
import type { CallEntry, Entry } from '../sessions/entry.js';
import { isLifeEntry } from '../sessions/entry.js';
import { type DirOption, glanceAtNamed, keyOf, type SessionParts } from './named.js';
import { lastChoices, loadSession } from '../sessions/resume.js';

/** A tool call that waits for a person. */
export interface PendingApproval {
  toolUseId: string;
  toolName: string;
  input: Record<string, unknown>;
  /** Where it would run. */
  cwd: string;
  /** Why it was asked about. */
  explanation?: string;
  /** When it was asked about: milliseconds since 1970. */
  requestedAt?: number;
}

export interface ApprovalAnswer {
  /** May be left out where only one call waits. */
  toolUseId?: string | undefined;
  behavior: 'allow' | 'deny';
  /** What the model is told about a denial. */
  message?: string | undefined;
  /** Instead of the input of the model; the answers of AskUserQuestion go here. */
  updatedInput?: Record<string, unknown> | undefined;
}

export interface AnsweredApproval extends PendingApproval {
  behavior: 'allow' | 'deny';
  /** What the next resume will do about the call. */
  next: string;
  /** The calls of the turn that still wait. */
  pending: PendingApproval[];
}

/** The calls of the unfinished turn that nobody has answered. Empty when there is no such session. */
export async function pendingApprovals(
  parts: Pick<SessionParts, 'store'>,
  sessionId: string,
  options: DirOption = {},
): Promise<PendingApproval[]> {
  const glance = await glanceAtNamed(parts, sessionId, options);
  if (glance === undefined) return [];
  const { key, entries } = await loadSession(parts.store, glance.key.sessionId);
  return findPending(entries, key.cwd);
}

/** Writes an answer down, on the disk, for the run that resumes the session. Runs nothing. */
export async function answerApproval(
  parts: SessionParts,
  { sessionId: named, answer }: { sessionId: string; answer: ApprovalAnswer },
  options: DirOption = {},
): Promise<AnsweredApproval> {
  checkAnswer(answer);
  const key = await keyOf(parts, named, options);
  const { sessionId } = key;
  const lease = await leaseOf(parts, key);
  try {
    const { entries, key: loaded } = await loadSession(parts.store, sessionId);
    const pending = findPending(entries, loaded.cwd);
    const call = choose(pending, { sessionId, toolUseId: answer.toolUseId, entries });
    await parts.store.append(key, [JSON.stringify(toEntry(parts, { sessionId, call, answer }))], { sync: true });
    return {
      ...call,
      behavior: answer.behavior,
      next: describeNext(call, answer),
      pending: pending.filter(({ toolUseId }) => toolUseId !== call.toolUseId),
    };
  } finally {
    await lease.release();
  }
}

function checkAnswer(answer: ApprovalAnswer): void {
  const { behavior, message, updatedInput, toolUseId } = isFields(answer) ? answer : {};
  if (behavior !== 'allow' && behavior !== 'deny') {
    throw new HeddleError('invalid_config', `behavior must be "allow" or "deny", not ${JSON.stringify(behavior)}.`);
  }
  for (const [name, text] of Object.entries({ message, toolUseId })) {
    if (text === undefined || typeof text === 'string') continue;
    throw new HeddleError('invalid_config', `${name} must be a text, not ${JSON.stringify(text)}.`);
  }
  if (updatedInput === undefined || isFields(updatedInput)) return;
  throw new HeddleError('invalid_config', 'updatedInput must be an object: the whole input of the call.');
}

const isFields = (value: unknown): value is Partial<ApprovalAnswer> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Who runs the session asks the people there. */
async function leaseOf({ store }: SessionParts, key: SessionKey): Promise<Lease> {
  try {
    return await store.lease(key);
  } catch (thrown) {
    if (!(thrown instanceof HeddleError) || thrown.code !== 'session_locked') throw thrown;
    throw new HeddleError('session_locked', thrown.message, {
      hint: 'The session is running: answer there. Nothing was written here.',
      retryable: true,
      data: thrown.data,
      cause: thrown,
    });
  }
}

function findPending(entries: readonly Entry[], cwd: string): PendingApproval[] {
  const turn = currentTurn(entries) ?? [];
  const here = lastChoices(entries).cwd ?? cwd;
  return openCalls(turn)
    .filter(({ life }) => life === 'requested')
    .map((call) => toPending(call, { turn, cwd: here }));
}

function toPending({ block }: OpenCall, { turn, cwd }: { turn: readonly Entry[]; cwd: string }): PendingApproval {
  const request = turn.findLast((entry) => isRequest(entry) && entry.toolUseId === block.id) as Request | undefined;
  const requestedAt = Date.parse(request?.timestamp ?? '');
  return {
    toolUseId: block.id,
    toolName: block.name,
    input: block.input,
    cwd,
    ...(request?.explanation !== undefined && { explanation: request.explanation }),
    ...(!Number.isNaN(requestedAt) && { requestedAt }),
  };
}

type Request = Extract<CallEntry, { state: 'requested' }>;

const isRequest = (entry: Entry): entry is Request =>
  isLifeEntry(entry) && entry.kind === 'call' && entry.state === 'requested';

interface Choice {
  sessionId: string;
  toolUseId: string | undefined;
  entries: readonly Entry[];
}

function choose(pending: readonly PendingApproval[], { sessionId, toolUseId, entries }: Choice): PendingApproval {
  const [first, second] = pending;
  const list = pending.map((call) => `${call.toolUseId} (${call.toolName})`).join(', ');
  if (first === undefined) {
    const wasAnswered = openCalls(currentTurn(entries) ?? []).some(({ life }) => life === 'answered');
    const hint = wasAnswered
      ? 'What waited has been answered already: resume the session.'
      : 'The session has no unfinished turn with a question.';
    throw new HeddleError('invalid_config', `Nothing waits for an answer in session ${sessionId}.`, { hint });
  }
  if (toolUseId === undefined && second === undefined) return first;
  const found = pending.find((call) => call.toolUseId === toolUseId);
  if (found !== undefined) return found;
  const text =
    toolUseId === undefined
      ? `${pending.length} calls wait for an answer in session ${sessionId}: ${list}.`
      : `No call ${toolUseId} waits for an answer in session ${sessionId}. These do: ${list}.`;
  throw new HeddleError('invalid_config', text, { hint: 'Name one of them as toolUseId.' });
}

function toEntry(
  { clock }: SessionParts,
  { sessionId, call, answer }: { sessionId: string; call: PendingApproval; answer: ApprovalAnswer },
): CallEntry {
  const { behavior, message, updatedInput } = answer;
  return {
    type: 'heddle',
    sessionId,
    timestamp: new Date(clock.now()).toISOString(),
    kind: 'call',
    toolUseId: call.toolUseId,
    state: 'answered',
    behavior,
    ...(behavior === 'deny' && { message: message?.trim() || 'The person refused this call.' }),
    ...(behavior === 'allow' && updatedInput !== undefined && { updatedInput }),
  };
}

const describeNext = ({ toolName }: PendingApproval, { behavior }: ApprovalAnswer): string =>
  behavior === 'allow'
    ? `When the session is resumed, ${toolName} runs once without asking again, unless a rule denies it by then.`
    : `When the session is resumed, ${toolName} does not run, and the model is told why.`;
