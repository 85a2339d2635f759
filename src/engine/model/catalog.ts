/** Models: their names, windows and prices. The table is dated and can be replaced. */
import type { Usage } from '../../protocol/index.js';
import { inputOf, searchesOf, writesOf } from './usage-sum.js';

export const LONG_CONTEXT_BETA = 'context-1m-2025-08-07';
export const DEFAULT_MAX_TOKENS = 32_000;

/** USD per million tokens, and per thousand web searches. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  webSearch: number;
  /** What a request costs whose input is larger than `above` tokens. */
  long?: { above: number; price: Price };
  /** The first day (YYYY-MM-DD) this price is valid; always when absent. */
  since?: string;
}

export interface ModelFacts {
  contextWindow: number;
  /** The window with the long-context beta, where the model knows it. */
  longContextWindow?: number;
  maxOutputTokens: number;
  /** Oldest first. Absent when unknown. */
  prices?: readonly Price[];
}

export interface CatalogTable {
  /** The day on which the prices were looked up. */
  priceDate: string;
  aliases: Readonly<Record<string, string>>;
  /** By name without date: `claude-sonnet-4-5` also stands for `claude-sonnet-4-5-20250929`. */
  models: Readonly<Record<string, ModelFacts>>;
}

export interface ResolvedModel {
  /** The name the API knows. */
  model: string;
  /** What must be switched on for it: the suffix `[1m]` asks for the long context. */
  betas: readonly string[];
}

export interface Catalog {
  readonly priceDate: string;
  readonly aliases: Readonly<Record<string, string>>;
  resolveModel(name: string): ResolvedModel;
  /** The name without date, when the table has it. */
  canonicalName(model: string): string | undefined;
  contextWindow(model: string, betas?: readonly string[]): number;
  maxOutputTokens(model: string): number;
  hasPrice(model: string): boolean;
  /**
   * The cost of one request in millionths of a cent: whole numbers at list prices, so that sums agree in any order.
   * Undefined when the price is unknown. Must be asked per request: long requests have a price of their own.
   */
  microCentsOf(model: string, usage: Usage, options?: CostOptions): number | undefined;
  /** The same in USD. */
  costOf(model: string, usage: Usage, options?: CostOptions): number | undefined;
}

export interface CostOptions {
  /** The day of the request (YYYY-MM-DD); the newest price when absent. */
  date?: string;
}

export const toUsd = (microCents: number): number => microCents / 1e8;

const listPrice = (input: number, output: number): Price => ({
  input,
  output,
  cacheRead: scale(input, 0.1),
  cacheWrite5m: scale(input, 1.25),
  cacheWrite1h: scale(input, 2),
  webSearch: 10,
});

/** Keeps 0.1 x 3 from becoming 0.30000000000000004. */
const scale = (price: number, factor: number): number => Math.round(price * factor * 1e6) / 1e6;

const withLong = (price: Price, long: Price): Price => ({ ...price, long: { above: 200_000, price: long } });

const OPUS_FIRST: ModelFacts = { contextWindow: 200_000, maxOutputTokens: 32_000, prices: [listPrice(15, 75)] };
const OPUS: ModelFacts = { contextWindow: 200_000, maxOutputTokens: 64_000, prices: [listPrice(5, 25)] };
const SONNET: ModelFacts = {
  contextWindow: 200_000,
  longContextWindow: 1_000_000,
  maxOutputTokens: 64_000,
  prices: [withLong(listPrice(3, 15), listPrice(6, 22.5))],
};
const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, webSearch: 0 };
const UNKNOWN: ModelFacts = { contextWindow: 200_000, maxOutputTokens: 32_000 };

const DEFAULT_TABLE: CatalogTable = {
  priceDate: '2026-11-15',
  aliases: {
    default: 'claude-sonnet-4-5-20250929',
    opus: 'claude-opus-4-5-20251101',
    sonnet: 'claude-sonnet-4-5-20250929',
    haiku: 'claude-haiku-4-5-20251001',
  },
  models: {
    'claude-opus-4': OPUS_FIRST,
    'claude-opus-4-1': OPUS_FIRST,
    'claude-opus-4-5': OPUS,
    'claude-opus-4-6': OPUS,
    'claude-opus-4-7': OPUS,
    'claude-sonnet-4': SONNET,
    'claude-sonnet-4-5': SONNET,
    'claude-sonnet-4-6': SONNET,
    'claude-haiku-4-5': { contextWindow: 200_000, maxOutputTokens: 64_000, prices: [listPrice(1, 5)] },
    'claude-3-5-haiku': { contextWindow: 200_000, maxOutputTokens: 8_192, prices: [listPrice(0.8, 4)] },
    embedded: { contextWindow: 100_000, maxOutputTokens: 8_000, prices: [FREE] },
  },
};

/** Overrides replace the default table name by name. */
export function createCatalog(overrides: Partial<CatalogTable> = {}): Catalog {
  const priceDate = overrides.priceDate ?? DEFAULT_TABLE.priceDate;
  const aliases = { ...DEFAULT_TABLE.aliases, ...overrides.aliases };
  const models = { ...DEFAULT_TABLE.models, ...overrides.models };

  const canonicalName = (model: string): string | undefined => {
    const { name } = splitSuffix(model);
    const names = [name, undated(name), undated(name.slice(Math.max(name.indexOf('claude-'), 0)))];
    return names.find((candidate) => Object.hasOwn(models, candidate));
  };
  const factsOf = (model: string): ModelFacts => {
    const name = canonicalName(model);
    return (name === undefined ? undefined : models[name]) ?? UNKNOWN;
  };
  const microCentsOf: Catalog['microCentsOf'] = (model, usage, options = {}) => {
    const price = priceOn(factsOf(model).prices, options.date);
    return price === undefined ? undefined : countMicroCents(price, usage);
  };

  return {
    priceDate,
    aliases,
    canonicalName,
    resolveModel(name) {
      const { name: bare, isLong } = splitSuffix(name.trim());
      const alias = bare.toLowerCase();
      const model = (Object.hasOwn(aliases, alias) ? aliases[alias] : undefined) ?? bare;
      return { model, betas: isLong ? [LONG_CONTEXT_BETA] : [] };
    },
    contextWindow(model, betas = []) {
      const { contextWindow, longContextWindow } = factsOf(model);
      const isLong = betas.includes(LONG_CONTEXT_BETA) || splitSuffix(model).isLong;
      return isLong ? (longContextWindow ?? contextWindow) : contextWindow;
    },
    maxOutputTokens: (model) => factsOf(model).maxOutputTokens,
    hasPrice: (model) => factsOf(model).prices !== undefined,
    microCentsOf,
    costOf(model, usage, options) {
      const cost = microCentsOf(model, usage, options);
      return cost === undefined ? undefined : toUsd(cost);
    },
  };
}

/** One USD per million tokens is a hundred millionths of a cent per token. */
function countMicroCents(price: Price, usage: Usage): number {
  const rate = price.long !== undefined && inputOf(usage) > price.long.above ? price.long.price : price;
  const writes = writesOf(usage);
  const parts = [
    usage.input_tokens * rate.input,
    usage.output_tokens * rate.output,
    (usage.cache_read_input_tokens ?? 0) * rate.cacheRead,
    writes.fiveMinutes * rate.cacheWrite5m,
    writes.oneHour * rate.cacheWrite1h,
    searchesOf(usage) * rate.webSearch * 1000,
  ];
  return parts.reduce((sum, part) => sum + Math.round(part * 100), 0);
}

function priceOn(prices: readonly Price[] | undefined, date: string | undefined): Price | undefined {
  if (date === undefined) return prices?.at(-1);
  return prices?.findLast((price) => price.since === undefined || price.since <= date) ?? prices?.[0];
}

const splitSuffix = (name: string): { name: string; isLong: boolean } => {
  const bare = name.replace(/\[1m\]$/i, '');
  return { name: bare, isLong: bare !== name };
};

/** Dates and build numbers as the API and the clouds write them. */
const undated = (name: string): string => name.replace(/[-@]\d{8}(-v\d+(:\d+)?)?$|-latest$/, '').replace(/-0$/, '');
