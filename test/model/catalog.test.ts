import { describe, expect, it } from 'vitest';
import { createCatalog, LONG_CONTEXT_BETA, toUsd } from '../../src/engine/model/catalog.js';
import { addUsage, emptyUsage, mergeMessageDelta } from '../../src/engine/model/usage-sum.js';
import type { Usage } from '../../src/protocol/index.js';

const catalog = createCatalog();
const usage = (counts: Partial<Usage>): Usage => ({ ...emptyUsage(), ...counts });

describe('names and windows', () => {
  it('resolves aliases and the long-context suffix', () => {
    expect(catalog.resolveModel('opus')).toEqual({ model: 'claude-opus-4-5-20251101', betas: [] });
    expect(catalog.resolveModel('sonnet').model).toBe('claude-sonnet-4-5-20250929');
    expect(catalog.resolveModel('Haiku').model).toBe('claude-haiku-4-5-20251001');
    expect(catalog.resolveModel('default').model).toBe(catalog.resolveModel('sonnet').model);
    expect(catalog.resolveModel('sonnet[1m]')).toEqual({
      model: 'claude-sonnet-4-5-20250929',
      betas: [LONG_CONTEXT_BETA],
    });
    expect(catalog.resolveModel('claude-sonnet-4-6[1m]')).toEqual({
      model: 'claude-sonnet-4-6',
      betas: [LONG_CONTEXT_BETA],
    });
    expect(catalog.resolveModel('some-gateway/model')).toEqual({ model: 'some-gateway/model', betas: [] });
    expect(catalog.resolveModel('constructor').model).toBe('constructor');
  });

  it('knows dated names, and does not guess at versions it has never heard of', () => {
    expect(catalog.canonicalName('claude-sonnet-4-5-20250929')).toBe('claude-sonnet-4-5');
    expect(catalog.canonicalName('claude-sonnet-4-20250514')).toBe('claude-sonnet-4');
    expect(catalog.canonicalName('claude-opus-4-1@20250805')).toBe('claude-opus-4-1');
    expect(catalog.canonicalName('claude-opus-4-0')).toBe('claude-opus-4');
    expect(catalog.canonicalName('us.anthropic.claude-haiku-4-5-20251001-v1:0')).toBe('claude-haiku-4-5');
    expect(catalog.canonicalName('claude-3-5-haiku-latest')).toBe('claude-3-5-haiku');
    expect(catalog.canonicalName('claude-sonnet-4-9')).toBeUndefined();
  });

  it('knows windows and output limits', () => {
    const long = [LONG_CONTEXT_BETA];
    expect(catalog.contextWindow('claude-sonnet-4-5-20250929')).toBe(200_000);
    expect(catalog.contextWindow('claude-sonnet-4-5-20250929', long)).toBe(1_000_000);
    expect(catalog.contextWindow('claude-opus-4-5', long)).toBe(200_000);
    expect(catalog.contextWindow('unheard-of', long)).toBe(200_000);
    expect(catalog.contextWindow('embedded')).toBe(100_000);
    expect(catalog.maxOutputTokens('claude-haiku-4-5')).toBe(64_000);
    expect(catalog.maxOutputTokens('claude-opus-4-1')).toBe(32_000);
    expect(catalog.maxOutputTokens('unheard-of')).toBe(32_000);
  });
});

describe('cost (G6)', () => {
  const MILLION = 1_000_000;
  it('is the list price of every kind of token', () => {
    expect(catalog.costOf('claude-opus-4-5', usage({ input_tokens: 1000, output_tokens: 1000 }))).toBe(0.03);
    expect(catalog.costOf('claude-opus-4-1', usage({ input_tokens: 1000, output_tokens: 1000 }))).toBe(0.09);
    expect(catalog.costOf('claude-haiku-4-5', usage({ output_tokens: MILLION }))).toBe(5);
    expect(catalog.costOf('claude-3-5-haiku-20241022', usage({ output_tokens: 1, input_tokens: 1 }))).toBe(0.0000048);
    const cached = usage({ cache_read_input_tokens: 1000, cache_creation_input_tokens: 3000 });
    expect(catalog.costOf('sonnet-unknown', cached)).toBeUndefined();
    expect(catalog.costOf('claude-sonnet-4-5', cached)).toBe(0.0003 + 0.01125);
    const parts = { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 };
    expect(catalog.costOf('claude-sonnet-4-5', { ...cached, cache_creation: parts })).toBe(0.01605);
    const searched = usage({ server_tool_use: { web_search_requests: 3 } });
    expect(catalog.costOf('claude-sonnet-4-5', searched)).toBe(0.03);
    expect(catalog.costOf('embedded', usage({ input_tokens: MILLION }))).toBe(0);
    expect(catalog.hasPrice('claude-opus-4-6')).toBe(true);
    expect(catalog.hasPrice('unheard-of')).toBe(false);
  });

  it('is higher for a sonnet request of more than 200,000 tokens of input, cached ones counted', () => {
    const at = usage({ input_tokens: 100_000, cache_read_input_tokens: 100_000, output_tokens: 1000 });
    expect(catalog.costOf('claude-sonnet-4-5', at)).toBe(0.345);
    const above = { ...at, input_tokens: 100_001 };
    expect(catalog.microCentsOf('claude-sonnet-4-5', above)).toBe(100_001 * 600 + 100_000 * 60 + 1000 * 2250);
  });

  it('adds up to the token, in any order', () => {
    const requests = Array.from({ length: 500 }, (_, index) =>
      usage({
        input_tokens: (index * 7919) % 5000,
        output_tokens: (index * 104_729) % 900,
        cache_read_input_tokens: (index * 31) % 70_000,
      }),
    );
    const costs = requests.map((request) => catalog.microCentsOf('claude-3-5-haiku', request) ?? Number.NaN);
    const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0);
    expect(costs.every(Number.isInteger)).toBe(true);
    expect(sum(costs.toReversed())).toBe(sum(costs));
    const together = requests.reduce(addUsage, emptyUsage());
    expect(toUsd(sum(costs))).toBe(catalog.costOf('claude-3-5-haiku', together));
  });

  it('uses a table of the caller, by date where it has dates', () => {
    const price = { input: 2, output: 4, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, webSearch: 0 };
    const own = createCatalog({
      priceDate: '2030-01-01',
      aliases: { house: 'house-model' },
      models: {
        'house-model': {
          contextWindow: 8000,
          maxOutputTokens: 1000,
          prices: [price, { ...price, input: 1, since: '2029-06-01' }],
        },
      },
    });
    const million = usage({ input_tokens: MILLION });
    expect(own.priceDate).toBe('2030-01-01');
    expect(own.contextWindow(own.resolveModel('house').model)).toBe(8000);
    expect(own.costOf('house-model', million)).toBe(1);
    expect(own.costOf('house-model', million, { date: '2029-05-31' })).toBe(2);
    expect(own.costOf('house-model', million, { date: '2029-06-01' })).toBe(1);
    expect(own.costOf('claude-haiku-4-5', million)).toBe(1);
  });
});

describe('sums of usage', () => {
  it('add counts, nested ones too, and keep the later facts', () => {
    const first = usage({
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 3,
      cache_read_input_tokens: null,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 2 },
      service_tier: 'standard',
    });
    const second = usage({
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 40,
      server_tool_use: { web_search_requests: 1 },
      output_tokens_details: { thinking_tokens: 7 },
      service_tier: null,
    });
    expect(addUsage(first, second)).toEqual({
      input_tokens: 11,
      output_tokens: 22,
      cache_creation_input_tokens: 33,
      cache_read_input_tokens: 40,
      cache_creation: { ephemeral_5m_input_tokens: 31, ephemeral_1h_input_tokens: 2 },
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
      output_tokens_details: { thinking_tokens: 7 },
      service_tier: 'standard',
    });
  });

  it('message_delta holds totals: they replace those of message_start, nothing is counted twice', () => {
    const start = usage({ input_tokens: 50, output_tokens: 1, cache_read_input_tokens: 9, service_tier: 'standard' });
    expect(mergeMessageDelta(start, { output_tokens: 30 })).toEqual({ ...start, output_tokens: 30 });
    const delta = {
      input_tokens: 60,
      output_tokens: 30,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: null,
    };
    expect(mergeMessageDelta(start, delta)).toEqual({
      ...start,
      input_tokens: 60,
      output_tokens: 30,
      cache_read_input_tokens: 10,
    });
  });
});
