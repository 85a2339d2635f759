/** What hooks make the model and the person read. */
import type { HookEvent } from '../../protocol/plain.js';
import { cutText as headOf } from '../tools/bound.js';

/** Longer texts of a hook do not go into the conversation or into a message whole. */
export const MAX_TEXT = 10_000;

export function cutText(text: string, max = MAX_TEXT): string {
  if (text.length <= max) return text;
  const head = headOf(text, max);
  const left = (text.length - head.length).toLocaleString('en-US');
  return `${head}\n[${left} more characters of the hook were cut]`;
}

/** `hookName` is `PreToolUse:Bash`, or the event alone where there is no tool. */
export const contextText = (hookName: string, context: string): string =>
  `${hookName} hook additional context: ${context}`;

/** Beside a result that a PostToolUse hook objects to. `source` is "callback" or the command. */
export const blockingText = (hookName: string, block: { source: string; reason: string }): string =>
  `${hookName} hook blocking error from command: "${block.source}": ${block.reason}`;

/** The message with which a turn goes on that a Stop hook does not let end. */
export const stopFeedback = (event: HookEvent, reason: string): string => `${event} hook feedback:\n${reason}`;

/** The result of a turn whose prompt was not let through. */
export const promptBlocked = (event: HookEvent, block: { reason: string; prompt: string }): string =>
  `${event} operation blocked by hook:\n${block.reason}\n\nOriginal prompt: ${block.prompt}`;

/** The result of a call that a hook denied: the reason as it stands, with the command where an exit code said no. */
export const denialText = (hookName: string, denial: { reason: string; command?: string }): string =>
  denial.command === undefined ? denial.reason : `${hookName} hook error: [${denial.command}]: ${denial.reason}`;

export const saysText = (hookName: string, message: string): string => `${hookName} says: ${message}`;

/** For the person, when a hook has answered `continue: false`. */
export const stopText = (hookName: string, reason: string | undefined): string =>
  reason === undefined ? `${hookName} hook ended the turn.` : `${hookName} hook ended the turn: ${reason}`;

/** What a hook that nobody waited for has to add. */
export const lateContextText = (hookName: string, context: string): string =>
  `${hookName} hook, running in the background, has finished: ${context}`;

/** What such a hook objects to, so that the model hears of it at once. */
export const rewakeText = (hookName: string, { message, reason }: { message?: string; reason: string }): string =>
  `${message ?? `${hookName} hook, running in the background, objects:`}\n${reason}`;

/** A field of `hookSpecificOutput` that stands beside it. */
export const misplaced = (field: string): string =>
  `its answer has ${field} at the top, where it means nothing: it belongs into hookSpecificOutput`;

export const NO_REASON = 'The hook gave no reason.';

/** `message` is a clause about the hook: "it did not answer within 60 s". */
export const failureText = (failure: { hookName: string; source: string; message: string }): string =>
  `The ${failure.hookName} hook (${showSource(failure.source)}) failed: ${failure.message}.`;

/** A command in one line. */
export const showSource = (source: string): string => {
  const line = source.trim().split('\n', 1)[0] ?? '';
  return line.length < source.trim().length || line.length > 200 ? `${line.slice(0, 200)} ...` : line;
};
