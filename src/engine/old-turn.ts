/** A turn that a dead process left open. */
import { currentTurn, type OpenCall, openCalls } from './next-action.js';
import type { SessionScope, TurnTally } from './scope.js';
import { runBatch, settleCalls } from './tools/batch.js';

/**
 * It ends here, because the user says something new. Calls that someone was asked about are not lost with it: what was
 * answered holds, and what was not is asked again.
 */
export async function settleOldTurn(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<void> {
  const { recorder } = scope;
  recorder.begin();
  const isOpen = currentTurn(recorder.log.entries) !== undefined;
  const asked = isOpen ? openCalls(recorder.log.entries).filter(wasAsked) : [];
  if (asked.length > 0) await runBatch(scope, asked, { tally, signal });
  settleCalls(scope, openCalls(recorder.log.entries));
  if (isOpen) void recorder.life({ kind: 'turn', state: 'ended', subtype: 'interrupted' });
}

const wasAsked = ({ life }: OpenCall): boolean => life === 'requested' || life === 'answered';
