/** Reading for a host or a mention: the hooks are asked and told as for a call of the model, which there is not. */
import { isDeepStrictEqual } from 'node:util';
import { HeddleError } from '../../protocol/plain.js';
import { afterCall, beforeCall } from './around-call.js';
import type { SessionScope } from '../scope.js';

export interface HookedReading<T> {
  /** What the model would call. */
  tool: 'Read' | 'ReadMcpResourceTool';
  input: Record<string, unknown>;
  /** As it stands in errors. */
  shown: string;
  read(): Promise<T>;
  /** What the tool would give, for PostToolUse hooks. */
  toResponse(found: T): unknown;
}

/** Throws where a hook keeps it from being read, or wants it read or shown otherwise: that only a tool can do. */
export async function readUnderHooks<T>(
  scope: SessionScope,
  { tool, input, shown, read, toResponse }: HookedReading<T>,
  signal: AbortSignal,
): Promise<T> {
  const refuse = (why: string): HeddleError => new HeddleError('request_failed', `${shown} was not read: ${why}`);
  const { clock, guard, hooks } = scope;
  const call = { block: { id: clock.uuid() }, tool: { name: tool }, input };
  await guard.refresh();
  const { decision, updatedInput } = await beforeCall(scope, call, signal);
  signal.throwIfAborted();
  if (decision && decision.verdict !== 'allow') throw refuse(decision.reason);
  if (updatedInput && !isDeepStrictEqual(updatedInput, input)) throw refuse('a hook wants something else to be read.');
  const startedAt = clock.monotonic();
  const found = await read();
  if (!hooks.has('PostToolUse')) return found;
  const output = { content: '', structured: toResponse(found) };
  const durationMs = clock.monotonic() - startedAt;
  const after = await afterCall(scope, { ...call, output, durationMs, abortedAt: undefined }, signal);
  if (after.output !== output) throw refuse('a hook wants something else to be shown.');
  return found;
}
