/** A line in !`...` of a command: it runs as a call of Bash would. */
import type { ToolResultContent } from '../../protocol/index.js';
import type { ShellOutcome } from '../definitions/expand.js';
import type { SessionScope } from '../scope.js';
import { runCall } from '../tools/pipeline.js';

export interface ShellLine {
  line: string;
  /** Called when someone who denied it wants the turn to end. */
  onInterrupt?: () => void;
}

/** Judged, asked about, seen by hooks and bounded like any call. Never throws. */
export async function runShellLine(
  scope: SessionScope,
  { line, onInterrupt }: ShellLine,
  signal: AbortSignal,
): Promise<ShellOutcome> {
  const id = `toolu_${scope.clock.uuid().replaceAll('-', '')}`;
  const outcome = await runCall(
    scope,
    { block: { type: 'tool_use', id, name: 'Bash', input: { command: line } }, life: 'new' },
    { signal, mayRun: () => Promise.resolve() },
  );
  if (outcome.interrupt) onInterrupt?.();
  if (outcome.isError) return { ok: false, reason: textOf(outcome.content) };
  const { stdout, stderr } = (outcome.structured ?? {}) as { stdout?: string; stderr?: string };
  const printed = [stdout, stderr].filter((text) => typeof text === 'string' && text !== '');
  return { ok: true, output: printed.join('\n') };
}

export const textOf = (content: ToolResultContent): string =>
  typeof content === 'string'
    ? content.replace(/^<tool_use_error>|<\/tool_use_error>$/g, '')
    : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
