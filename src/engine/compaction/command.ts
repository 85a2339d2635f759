/** `/compact`: the user wants the conversation summed up. */
import { showLocal } from '../commands/show-local.js';
import { toInit } from '../init.js';
import type { Ending } from '../outcome.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { compact, type CompactOutcome, showCount } from './compact.js';
import { isSet } from './size.js';

export interface CompactCommand {
  instructions: string;
  signal: AbortSignal;
  tally: TurnTally;
}

export interface CompactCommandEnd {
  /** What the user is told. It has been shown. */
  text: string;
  outcome: CompactOutcome;
}

/**
 * Sums up the conversation and shows all that there is to show, `init` too, but the result. Turns of dead processes
 * must be settled before. Never throws.
 */
export async function runCompactCommand(scope: SessionScope, command: CompactCommand): Promise<CompactCommandEnd> {
  const { instructions, signal, tally } = command;
  if (isSet(scope.config.env.DISABLE_COMPACT)) {
    return finish(scope, { kind: 'nothing' }, 'Compaction is switched off by DISABLE_COMPACT.');
  }
  const outcome = await compact(scope, {
    trigger: 'manual',
    ...(instructions !== '' && { instructions }),
    signal,
    tally,
  });
  return finish(scope, outcome, describe(outcome));
}

/** How a turn ends that was nothing else. */
export function toEnding({ outcome, text }: CompactCommandEnd): Ending {
  switch (outcome.kind) {
    case 'interrupted':
      return { kind: 'interrupted', during: 'streaming' };
    case 'limit':
      return { kind: 'limit', limit: outcome.limit };
    case 'failed':
      return { kind: 'failed', errors: [text], code: outcome.error.code };
    default:
      return { kind: 'local', name: 'compact', text };
  }
}

function finish(scope: SessionScope, outcome: CompactOutcome, text: string): CompactCommandEnd {
  const { recorder, manners } = scope;
  if (outcome.kind !== 'compacted') recorder.emit(toInit(scope));
  const end = { text, outcome };
  // What went wrong stands in the result.
  if (toEnding(end).kind === 'local' || !manners.answersCommands) showLocal(scope, { name: 'compact', text });
  return end;
}

function describe(outcome: CompactOutcome): string {
  switch (outcome.kind) {
    case 'compacted':
      return `Compacted from about ${showCount(outcome.preTokens)} to about ${showCount(outcome.postTokens)} tokens`;
    case 'nothing':
    case 'trimmed':
      return 'There is nothing to compact yet.';
    case 'blocked':
      return `Not compacted: a PreCompact hook blocks it. ${outcome.reason}`;
    case 'failed':
      return `Not compacted: ${outcome.error.message}`;
    case 'limit':
      return `Not compacted: ${outcome.limit.text}`;
    case 'interrupted':
      return 'Not compacted: interrupted.';
  }
}
