import { turnLimits } from './budget/options.js';
import { emptyUsage } from './model/usage-sum.js';
import { lastFallback } from './next-action.js';
import type { SessionScope, TurnTally } from './scope.js';

/** Nothing has been added up yet. A turn that is gone on with keeps the model it had fallen back to. */
export function startTally({ clock, state, catalog, recorder, budget, config }: SessionScope): TurnTally {
  const fallback = lastFallback(recorder.log.entries);
  return {
    startedAt: clock.monotonic(),
    model: fallback === undefined ? state.model : catalog.resolveModel(fallback),
    failed: new Set(),
    maxThinkingTokens: state.maxThinkingTokens,
    budget: budget.child(turnLimits(config)),
    usage: emptyUsage(),
    apiMs: 0,
    rounds: 0,
    ttftMs: undefined,
    stopReason: null,
    text: { joined: '', last: '' },
    denials: [],
    stopsBlocked: 0,
  };
}
