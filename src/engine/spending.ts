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
  /** The agent that made it; absent: the main thread. */
  agent?: SpendingAgent | undefined;
}

export interface SpendingAgent {
  id: string;
  /** The name of its definition. */
  type: string;
}

export interface AgentCharge extends Charge {
  agent: SpendingAgent;
}

/** What one agent has used itself, without the agents that it started. */
export interface AgentSpending {
  /** Of each model. */
  models: Record<string, ModelUsage>;
  /** The name of its definition; absent for the main thread. */
  agentType?: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  costUSD: number;
  costBasis?: ModelUsage['costBasis'];
}

/** The main thread, among agents. */
export const MAIN_THREAD = 'main';

export interface SpendingParts {
  /** What an agent uses, its parent uses too. */
  parent?: Spending;
  /** Whose this is; absent: that of the main thread. */
  agent?: SpendingAgent;
  /** Called once for each call that this agent makes itself. */
  onCharge?(charge: AgentCharge): void;
}

/** What a session has used since it began, counted once per answer (G6). */
export class Spending {
  readonly #catalog: Catalog;
  readonly #counted = new Set<string>();
  readonly #models = new Map<string, ModelSum>();
  readonly #agents = new Map<string, AgentSum>();
  #restored = 0;
  #apiMs = 0;
  readonly #parts: SpendingParts;

  constructor(catalog: Catalog, parts: SpendingParts = {}) {
    this.#catalog = catalog;
    this.#parts = parts;
  }

  get totalUsd(): number {
    return toUsd(this.#total());
  }

  /** What a budget is held against: a resumed session does not start with the costs of its past. */
  get sinceOpenUsd(): number {
    return toUsd(this.#total() - this.#restored);
  }

  get byModel(): Record<string, ModelUsage> {
    return toUsages(this.#models);
  }

  /** By the id of the agent, or `main`. The sum is the total. */
  get byAgent(): Record<string, AgentSpending> {
    return Object.fromEntries(
      [...this.#agents].map(([id, { microCents, models, ...sum }]) => [
        id,
        { ...sum, models: toUsages(models), costUSD: toUsd(microCents) },
      ]),
    );
  }

  /** Of every kind. */
  get totalTokens(): number {
    let total = 0;
    for (const sum of this.#agents.values()) {
      total += sum.inputTokens + sum.outputTokens + sum.cacheReadInputTokens + sum.cacheCreationInputTokens;
    }
    return total;
  }

  /** Time in model calls since the session was opened, of agents too: the log does not keep it. */
  get apiMs(): number {
    return this.#apiMs;
  }

  addTime(ms: number): void {
    this.#apiMs += ms;
    this.#parts.parent?.addTime(ms);
  }

  add(given: Charge): void {
    if (this.#counted.has(given.messageId)) return;
    this.#counted.add(given.messageId);
    const { parent, agent, onCharge } = this.#parts;
    const charge = given.agent === undefined ? { ...given, agent } : given;
    if (given.agent === undefined && agent !== undefined) onCharge?.({ ...given, agent });
    parent?.add(charge);
    this.#addToAgent(charge);
    this.#addToModel(this.#models, charge);
  }

  /** Counts what the log says was spent before this process. */
  restore(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!isLifeEntry(entry) || entry.forked) continue;
      if (entry.kind !== 'step' && entry.kind !== 'aborted' && entry.kind !== 'aside') continue;
      const { messageId, model, usage, microCents } = entry;
      const agent =
        entry.kind === 'aside' && entry.agentId !== undefined
          ? { id: entry.agentId, type: entry.agentType ?? 'general-purpose' }
          : undefined;
      this.add({ messageId, model, usage, microCents: microCents ?? undefined, agent });
    }
    this.#restored = this.#total();
  }

  #addToAgent(charge: Charge): void {
    const { agent } = charge;
    const id = agent?.id ?? MAIN_THREAD;
    const sum = this.#agents.get(id) ?? { ...(agent && { agentType: agent.type }), ...NOTHING, models: new Map() };
    addTokens(sum, charge);
    this.#addToModel(sum.models, charge);
    this.#agents.set(id, sum);
  }

  #addToModel(models: Map<string, ModelSum>, charge: Charge): void {
    const { model, usage, betas } = charge;
    const sum = models.get(model) ?? this.#fresh(model);
    addTokens(sum, charge);
    sum.webSearchRequests += usage.server_tool_use?.web_search_requests ?? 0;
    sum.contextWindow = this.#catalog.contextWindow(model, betas);
    models.set(model, sum);
  }

  #total(): number {
    let total = 0;
    for (const { microCents } of this.#models.values()) total += microCents;
    return total;
  }

  #fresh(model: string): ModelSum {
    return {
      ...NOTHING,
      webSearchRequests: 0,
      contextWindow: this.#catalog.contextWindow(model),
      maxOutputTokens: this.#catalog.maxOutputTokens(model),
    };
  }
}

/** Sums in whole millionths of a cent; dollars are made of them when somebody asks. */
type ModelSum = ModelUsage & { microCents: number };
type TokenSum = Omit<AgentSpending, 'models'> & { microCents: number };
type AgentSum = TokenSum & { models: Map<string, ModelSum> };

function addTokens(sum: TokenSum, { usage, microCents }: Charge): void {
  sum.inputTokens += usage.input_tokens;
  sum.outputTokens += usage.output_tokens;
  sum.cacheReadInputTokens += usage.cache_read_input_tokens ?? 0;
  sum.cacheCreationInputTokens += usage.cache_creation_input_tokens ?? 0;
  sum.microCents += microCents ?? 0;
  if (microCents === undefined) sum.costBasis = 'unknown';
}

const toUsages = (models: ReadonlyMap<string, ModelSum>): Record<string, ModelUsage> =>
  Object.fromEntries(
    [...models].map(([model, { microCents, ...usage }]) => [model, { ...usage, costUSD: toUsd(microCents) }]),
  );

const NOTHING = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  costUSD: 0,
  microCents: 0,
  costBasis: 'list' as ModelUsage['costBasis'],
};
