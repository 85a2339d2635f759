/** When a turn makes its context smaller, and how often it tries. */
import { compactAt } from '../limits.js';
import type { Ending } from '../outcome.js';
import type { SessionScope, TurnTally } from '../scope.js';

/** A summary that fails again and again costs more than it is worth. */
const MAX_FAILURES = 3;

export interface Relief {
  /** The size from which there is something to do now. */
  readonly compactAt: number | undefined;
  /** Before a model call. True when the context is smaller, false when it stays as it is; else how the turn ends. */
  compact(): Promise<boolean | Ending>;
  /** After a model call for which the context was too large. False, too, when this is switched off. */
  makeRoom(): Promise<boolean | Ending>;
  /** The model has answered: what did not work before may be tried again. */
  noteAnswer(): void;
}

export function createRelief(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Relief {
  let failures = 0;
  let isTired = false;
  const run = async ({ overflowed }: { overflowed: boolean }): Promise<boolean | Ending> => {
    const { compact } = await import('./compact.js');
    const outcome = await compact(scope, { trigger: 'auto', overflowed, signal, tally });
    switch (outcome.kind) {
      case 'compacted':
      case 'trimmed':
        return true;
      case 'interrupted':
        return { kind: 'interrupted', during: 'streaming' };
      case 'limit':
        return { kind: 'limit', limit: outcome.limit };
      default:
        isTired = true;
        failures += 1;
        return false;
    }
  };
  return {
    get compactAt() {
      return isTired || failures >= MAX_FAILURES ? undefined : compactAt(scope, tally);
    },
    compact: () => run({ overflowed: false }),
    makeRoom: async () => compactAt(scope, tally) !== undefined && run({ overflowed: true }),
    noteAnswer() {
      isTired = false;
    },
  };
}
