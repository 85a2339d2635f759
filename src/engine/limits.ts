import { compactThreshold } from './compaction/size.js';
import type { SessionScope, TurnTally } from './scope.js';

export type { Limit } from './budget/limit.js';

/** The size from which the context is made smaller by itself; undefined when that is switched off. */
export function compactAt({ config, catalog, guard }: SessionScope, { model }: TurnTally): number | undefined {
  return compactThreshold({
    window: catalog.contextWindow(model.model, [...(config.betas ?? []), ...model.betas]),
    maxOutput: catalog.maxOutputTokens(model.model),
    env: config.env,
    enabled: guard.settings.value.autoCompactEnabled,
  });
}
