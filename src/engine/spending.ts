import type { ModelUsage, Usage } from '../protocol/index.js';
import { type Catalog, toUsd } from './model/catalog.js';
import { type Entry, isLifeEntry } from './sessions/entry.js';

/** One model call that was paid for. */
export interface Charge {
  messageId: string;
  model: string;
  usage: Usage;
  /** Whole millionths of a cent, so that sums agree in any order; undefined where the model has no price. */
  microCents: number | undefined;
  /** What the call was made with; the long-context one raises the window. */
  betas?: readonly string[];
}

/** What a session has used since it began, counted once per answer (G6). */
export class Spending {
  readonly #catalog: Catalog;
  readonly #counted = new Set<string>();
  readonly #models = new Map<string, ModelUsage>();
  readonly #microCents = new Map<string, number>();
  #restored = 0;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  get totalUsd(): number {
    return toUsd(this.#total());
  }

  /** What a budget is held against: a resumed session does not start with the costs of its past. */
  get sinceOpenUsd(): number {
    return toUsd(this.#total() - this.#restored);
  }

  get byModel(): Record<string, ModelUsage> {
    return Object.fromEntries([...this.#models].map(([model, usage]) => [model, { ...usage }]));
  }

  add(charge: Charge): void {
    if (this.#counted.has(charge.messageId)) return;
    this.#counted.add(charge.messageId);
    const { usage } = charge;
    const sum = this.#models.get(charge.model) ?? this.#fresh(charge.model);
    sum.inputTokens += usage.input_tokens;
    sum.outputTokens += usage.output_tokens;
    sum.cacheReadInputTokens += usage.cache_read_input_tokens ?? 0;
    sum.cacheCreationInputTokens += usage.cache_creation_input_tokens ?? 0;
    sum.webSearchRequests += usage.server_tool_use?.web_search_requests ?? 0;
    const microCents = (this.#microCents.get(charge.model) ?? 0) + (charge.microCents ?? 0);
    sum.costUSD = toUsd(microCents);
    if (charge.microCents === undefined) sum.costBasis = 'unknown';
    sum.contextWindow = this.#catalog.contextWindow(charge.model, charge.betas);
    this.#microCents.set(charge.model, microCents);
    this.#models.set(charge.model, sum);
  }

  /** Counts what the log says was spent before this process. */
  restore(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!isLifeEntry(entry) || entry.forked) continue;
      if (entry.kind !== 'step' && entry.kind !== 'aborted' && entry.kind !== 'aside') continue;
      const { messageId, model, usage, microCents } = entry;
      this.add({ messageId, model, usage, microCents: microCents ?? undefined });
    }
    this.#restored = this.#total();
  }

  #total(): number {
    let total = 0;
    for (const microCents of this.#microCents.values()) total += microCents;
    return total;
  }

  #fresh(model: string): ModelUsage {
    return {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      webSearchRequests: 0,
      costUSD: 0,
      contextWindow: this.#catalog.contextWindow(model),
      maxOutputTokens: this.#catalog.maxOutputTokens(model),
      costBasis: 'list',
    };
  }
}
