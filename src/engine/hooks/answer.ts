/** From what a hook answered to what it means. */
import type { ProcessExit } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { DECIDING_FIELDS, HOOK_TRIGGERS, OWN_FIELDS, TEXT_IS_CONTEXT } from './events.js';
import { failed, type HookOutcome } from './outcome.js';
import { cutText, misplaced, NO_REASON } from './texts.js';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Checks an answer that came as a value. What comes out is a copy, so that nobody can change it any more. */
export async function readAnswer(event: HookEvent, answer: unknown): Promise<HookOutcome> {
  if (answer === undefined || answer === null) return { kind: 'nothing' };
  let copy: unknown;
  try {
    copy = JSON.parse(JSON.stringify(answer) ?? 'null');
  } catch (thrown) {
    return failed('invalid', `its answer is not JSON: ${messageOf(thrown)}`);
  }
  if (!isObject(copy)) return failed('invalid', 'its answer is not an object');
  if (Object.keys(copy).length === 0) return { kind: 'nothing' };
  return checkOutput(event, copy);
}

/** Whoever says that nobody should wait says nothing that counts now. */
export const LOST_WHEN_ASYNC = ['continue', 'decision', 'hookSpecificOutput'] as const;
const lostToAsync = (field: string): string => `its answer has ${field} beside async: true, after which nobody waits`;

async function checkOutput(event: HookEvent, value: Record<string, unknown>): Promise<HookOutcome> {
  const { HookOutput: schema, findMisspelledOutput, firstProblem } = await import('../../protocol/index.js');
  const parsed = schema().safeParse(value);
  const wrong = parsed.success ? findMisspelledOutput(value) : firstProblem(parsed.error.issues);
  if (wrong !== undefined) {
    const { path, problem } = wrong;
    return failed('invalid', `its answer is wrong at ${path}: ${problem}`);
  }
  if (value.async === true) {
    const field = LOST_WHEN_ASYNC.find((name) => name in value);
    return field === undefined ? { kind: 'nothing' } : failed('invalid', lostToAsync(field));
  }
  const { hookEventName: named, ...specific } = (value.hookSpecificOutput ?? {}) as Record<string, unknown>;
  if (named !== undefined && named !== event) {
    const where = 'hookSpecificOutput.hookEventName';
    return failed('invalid', `its answer is wrong at ${where}: expected ${event}, got ${JSON.stringify(named)}`);
  }
  const stray = HOOK_TRIGGERS[event].gate === false ? undefined : findStray(event, value, specific);
  return stray === undefined ? { kind: 'output', output: value } : failed('invalid', stray);
}

/** A decision in the wrong place is none, and must not be lost: what is wrong with where it stands. */
function findStray(
  event: HookEvent,
  value: Record<string, unknown>,
  specific: Record<string, unknown>,
): string | undefined {
  const field = DECIDING_FIELDS.find((name) => name in value && !(name in specific));
  if (field !== undefined) return misplaced(field);
  const { answers } = HOOK_TRIGGERS[event];
  const foreign = DECIDING_FIELDS.find((name) => name in specific && !answers.includes(name));
  if (foreign !== undefined)
    return `its answer has ${foreign} in hookSpecificOutput, where it means nothing to ${event}`;
  const inner = ['decision', 'continue'].find((name) => name in specific && !(name in value));
  if (inner === undefined || (inner === 'decision' && event === 'PermissionRequest')) return undefined;
  return `its answer has ${inner} in hookSpecificOutput, where it means nothing: it belongs to the top`;
}

/** Text that begins like an object is meant to be one. */
export async function readText(event: HookEvent, text: string): Promise<HookOutcome> {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'nothing' };
  if (trimmed.startsWith('{')) {
    let value: unknown;
    try {
      value = JSON.parse(trimmed);
    } catch (thrown) {
      return failed('invalid', `what it printed begins like a JSON object but is none: ${messageOf(thrown)}`);
    }
    return readAnswer(event, value);
  }
  const buried = findBuried(event, trimmed);
  if (buried !== undefined) return failed('invalid', buried);
  return TEXT_IS_CONTEXT.has(event) ? { kind: 'context', text: trimmed } : { kind: 'nothing' };
}

/** What was meant as an answer and would be lost as plain text. */
function findBuried(event: HookEvent, text: string): string | undefined {
  const lines = text.split('\n');
  const isObjectStart = (line: string): boolean => line.trimStart().startsWith('{');
  const list = text.startsWith('[') ? parseOrNothing(text) : undefined;
  if (isDeafToText(event)) {
    if (Array.isArray(list)) return IS_LIST;
    // Bytes that are no text, such as the mark before UTF-16, hide nothing.
    return lines.some((line) => /^[\s\p{Cc}\ufffd]*\{/u.test(line)) ? IS_BURIED : undefined;
  }
  if (Array.isArray(list) && list.some(isAnswer)) return IS_LIST;
  // In one line, or from the last line that begins an object to the end.
  const last = lines.findLastIndex((line) => line.startsWith('{'));
  const candidates = [...lines.filter(isObjectStart), ...(last < 0 ? [] : [lines.slice(last).join('\n')])];
  return candidates.some((candidate) => isAnswer(parseOrNothing(candidate))) ? IS_BURIED : undefined;
}

/** Where text means nothing to a gate, whatever looks like an answer, or may hold one, is one that went wrong. */
const isDeafToText = (event: HookEvent): boolean => HOOK_TRIGGERS[event].gate !== false && !TEXT_IS_CONTEXT.has(event);

const IS_LIST = 'its answer is a list, not an object';
const IS_BURIED = 'it printed other text before its JSON answer, which must stand alone';

const ANSWER_FIELDS: readonly string[] = ['continue', 'decision', 'hookSpecificOutput', 'systemMessage', ...OWN_FIELDS];

const isAnswer = (value: unknown): boolean => isObject(value) && ANSWER_FIELDS.some((field) => field in value);

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface CommandEnd {
  exit: ProcessExit;
  stdout: string;
  /** More was printed than is kept. */
  tooLong: boolean;
  /** The end of what was printed, also when that is longer than what is kept. */
  lastOfStdout: string;
  stderr: string;
}

/** By the convention of shells: found but not to be executed, and not found. */
const NOT_STARTED = new Set([126, 127]);
/** By the same convention 128 and the number of the signal that killed what the shell ran, up to 64. */
const isSignalCode = (code: number): boolean => code > 128 && code <= 192;

/** Exit 0 is an answer, 2 says no, any other number is a warning; what is no exit by itself is a failure. */
export function readExit(event: HookEvent, end: CommandEnd): Promise<HookOutcome> | HookOutcome {
  const { exit, stdout, stderr } = end;
  const { code } = exit;
  const said = stderr.trim() === '' ? '' : `: ${cutText(stderr.trim(), 1_000)}`;
  if (code === null) return failed('signal', `it was killed by ${exit.signal ?? 'a signal'}${said}`);
  if (code === 0) {
    if (end.tooLong) {
      if (stdout.trimStart().startsWith('{') || isDeafToText(event)) {
        return failed('invalid', 'it printed more than 1 MB');
      }
      const buried = findBuried(event, end.lastOfStdout);
      if (buried !== undefined) return failed('invalid', buried);
    }
    return readText(event, stdout);
  }
  if (code === 2) {
    return { kind: 'block', reason: stderr.trim() || stdout.trim() || NO_REASON, byExit: true };
  }
  if (NOT_STARTED.has(code)) return failed('start', `it could not be started (exit code ${code})${said}`);
  if (isSignalCode(code)) return failed('signal', `it was killed by signal ${code - 128} (exit code ${code})${said}`);
  return { kind: 'warning', text: `it exited with code ${code}${said}` };
}

/** The word of a small model: `{"ok": boolean, "reason"?: string}`, with or without a fence around it. */
export function readJudgement(text: string): HookOutcome {
  const inner = withoutFence(text.trim());
  let value: unknown;
  try {
    value = JSON.parse(inner);
  } catch {
    return failed('model', `the model did not answer in JSON: ${JSON.stringify(cutText(inner, 200))}`);
  }
  if (!isObject(value) || typeof value.ok !== 'boolean') return failed('model', 'the model did not answer {"ok": ...}');
  if (value.ok) return { kind: 'nothing' };
  const reason = typeof value.reason === 'string' && value.reason.trim() !== '' ? value.reason : NO_REASON;
  return { kind: 'block', reason, byExit: false };
}

function withoutFence(text: string): string {
  if (!text.startsWith('```') || !text.endsWith('```')) return text;
  return text.slice(text.indexOf('\n') + 1, -3).trim();
}

/** An address answers with 2xx and JSON, or with 2xx and nothing. */
export function readResponse(
  event: HookEvent,
  response: { status: number; body: string },
): Promise<HookOutcome> | HookOutcome {
  const { status, body } = response;
  if (status >= 300 && status < 400)
    return failed('http', `it answered with a redirect (${status}), which is not followed`);
  if (!(status >= 200 && status < 300)) return failed('http', `it answered with status ${status}`);
  if (body.trim() === '') return { kind: 'nothing' };
  if (body.length > MAX_OUTPUT) return failed('invalid', 'it answered with more than 1 MB');
  if (!body.trim().startsWith('{')) return failed('http', 'its answer is not a JSON object');
  return readText(event, body);
}

/** Bytes of standard output, and of each other answer, that are looked at. */
export const MAX_OUTPUT = 1024 * 1024;
