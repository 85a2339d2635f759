import { describe, expect, it } from 'vitest';
import { describeCost, sumCosts } from '../../src/engine/budget/cost.js';
import { Spending } from '../../src/engine/spending.js';
import { catalog, seededRandom, SONNET } from './kit.js';

const HAIKU = catalog.resolveModel('haiku').model;

function spend(seed: number, models: readonly string[]): Spending {
  const random = seededRandom(seed);
  const spending = new Spending(catalog);
  for (let index = 0; index < 50; index += 1) {
    const model = models[index % models.length] as string;
    const usage = { input_tokens: Math.floor(random() * 5_000), output_tokens: Math.floor(random() * 500) };
    spending.add({ messageId: `${seed}-${index}`, model, usage, microCents: catalog.microCentsOf(model, usage) });
  }
  return spending;
}

describe('G6: the cost', () => {
  it('by model, by agent and in all is the same, to the token', () => {
    const agents = [1, 2, 3].map((seed) => ({ name: `agent ${seed}`, spending: spend(seed, [SONNET, HAIKU]) }));
    const {
      models,
      agents: byAgent,
      total,
    } = sumCosts(agents.map(({ name, spending }) => ({ name, models: spending.byModel })));
    const sum = (lines: typeof models, field: 'costUSD' | 'inputTokens' | 'outputTokens'): number =>
      Math.round(lines.reduce((all, line) => all + line[field] * 1e8, 0));
    for (const field of ['costUSD', 'inputTokens', 'outputTokens'] as const) {
      expect(sum(models, field)).toBe(sum([total], field));
      expect(sum(byAgent, field)).toBe(sum([total], field));
    }
    const spent = agents.reduce((all, { spending }) => all + Math.round(spending.totalUsd * 1e8), 0);
    expect(Math.round(total.costUSD * 1e8)).toBe(spent);
    expect(models.map(({ name }) => name)).toEqual([SONNET, HAIKU]);
  });

  it('is told as a table', () => {
    const spending = new Spending(catalog);
    const usage = { input_tokens: 1_000, output_tokens: 2_000, cache_read_input_tokens: 3_000 };
    spending.add({ messageId: 'a', model: SONNET, usage, microCents: catalog.microCentsOf(SONNET, usage) });
    const { byModel } = spending;
    expect(describeCost([{ name: 'main', models: byModel }], { apiMs: 1_400, wallMs: 3_725_000 })).toBe(
      `Total cost: $0.0339
Time in model calls: 1 s
Time in all: 1 h 2 min

| Model | Input | Output | Cache read | Cache write | Cost |
| --- | ---: | ---: | ---: | ---: | ---: |
| ${SONNET} | 1,000 | 2,000 | 3,000 | 0 | $0.0339 |`,
    );
    const two = describeCost([
      { name: 'main', models: byModel },
      { name: 'Ex|plore\n1', models: byModel },
    ]);
    expect(two).toContain('| Agent | Input');
    expect(two).toContain('| Ex\\|plore 1 | 1,000');
    expect(two).toContain('Total cost: $0.0678');
  });

  it('of a model without a price is said to be unknown', () => {
    const spending = new Spending(catalog);
    const usage = { input_tokens: 10, output_tokens: 10 };
    spending.add({ messageId: 'a', model: 'mystery', usage, microCents: undefined });
    const text = describeCost([{ name: 'main', models: spending.byModel }]);
    expect(text).toContain('Total cost: unknown');
    expect(text).toContain('The price of mystery is not known; it is not in the total.');
  });

  it('of nothing is nothing', () => {
    expect(describeCost([])).toBe('Total cost: $0.00');
  });
});
