import { createAccount } from './budget/account.js';
import { turnLimits } from './budget/options.js';
import { emptyUsage } from './model/usage-sum.js';
import { lastFallback } from './next-action.js';
import type { SessionScope, TurnTally } from './scope.js';

/** Nothing has been added up yet. A turn that is gone on with keeps the model it had fallen back to. */
export function startTally(scope: SessionScope): TurnTally {
  const { catalog, recorder, budget, config, turnsTaken = 0 } = scope;
  const fallback = lastFallback(recorder.log.entries);
  return {
    ...emptyTally(scope),
    ...(fallback !== undefined && { model: catalog.resolveModel(fallback) }),
    budget: budget.child(turnLimits(config), { account: createAccount({ turns: turnsTaken }) }),
  };
}

/** For what has failed before it had limits of its own. Never throws. */
export function emptyTally({ clock, state, budget }: SessionScope): TurnTally {
  return {
    startedAt: clock.monotonic(),
    model: state.model,
    failed: new Set(),
    maxThinkingTokens: state.maxThinkingTokens,
    budget: budget.child({}),
    usage: emptyUsage(),
    apiMs: 0,
    rounds: 0,
    ttftMs: undefined,
    stopReason: null,
    text: { joined: '', last: '' },
    stopsBlocked: 0,
  };
}

/** A model call of the turn is over. Gives how long it took. */
export function countTime({ clock, spending }: SessionScope, tally: TurnTally, startedAt: number): number {
  const tookMs = clock.monotonic() - startedAt;
  tally.apiMs += tookMs;
  spending.addTime(tookMs);
  return tookMs;
}
