import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/engine/index.js';
import { resultText, start } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const touch = (name: string) => ({ toolUse: { name: 'Bash', input: { command: `touch ${name}` }, id: name } });

describe('maxTurns', () => {
  it.each([
    ['a cut answer', { text: 'half', stopReason: 'max_tokens' }],
    ['an empty answer', {}],
  ])('asking again after %s counts as a round', async (_, step) => {
    const run = await start([step, 'never'], { config: { maxTurns: 1 } });
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_turns', num_turns: 2 });
    expect(run.model.requests).toHaveLength(1);
  });

  it('rounds of tools and of asking again are added up', async () => {
    const cut = { text: 'half', stopReason: 'max_tokens' };
    const run = await start([touch('a'), cut, touch('b'), 'ok'], { config: { ...bypass, maxTurns: 4 } });
    expect(await run.ask('go')).toMatchObject({ subtype: 'success', num_turns: 4 });
    const short = await start([touch('a'), cut, touch('b'), 'never'], { config: { ...bypass, maxTurns: 3 } });
    expect(await short.ask('go')).toMatchObject({ subtype: 'error_max_turns', num_turns: 4 });
    expect(existsSync(join(short.cwd, 'b'))).toBe(true);
  });

  it('each turn has its own count, and zero is no limit', async () => {
    const run = await start([touch('a'), touch('b'), 'one', touch('c'), 'two'], { config: { ...bypass, maxTurns: 3 } });
    expect(await run.ask('1')).toMatchObject({ result: 'one' });
    expect(await run.ask('2')).toMatchObject({ result: 'two' });
    const free = await start([touch('a'), touch('b'), 'ok'], { config: { ...bypass, maxTurns: 0 } });
    expect(await free.ask('go')).toMatchObject({ result: 'ok' });
  });
});

describe('G7: a budget', () => {
  it('is looked at before tools run: nothing is done that was not paid for', async () => {
    const run = await start([{ ...touch('made'), usage: { output_tokens: 1_000_000 } }, 'never'], {
      config: { ...bypass, maxBudgetUsd: 1 },
    });
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_budget_usd' });
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
    expect(resultText(run.messages, 'made')).toMatch(/not run/);
  });

  it('that is spent to the cent is spent', async () => {
    // 20,000 tokens out at 15 USD per million, and nothing goes in.
    const usage = { input_tokens: 0, output_tokens: 20_000 };
    const run = await start([{ ...touch('made'), usage }, 'never'], { config: { ...bypass, maxBudgetUsd: 0.3 } });
    const result = await run.ask('go');
    expect(result.total_cost_usd).toBe(0.3);
    expect(result.subtype).toBe('error_max_budget_usd');
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
  });

  it('pays for the dearest way to send the prompt: written to the cache', async () => {
    const prompt = 'x'.repeat(300_000);
    const catalog = createCatalog();
    const { model } = catalog.resolveModel('sonnet');
    const run = await start(['ok', 'ok'], { config: { maxBudgetUsd: 0.4 } });
    // 100,000 tokens at least: 0.3 USD plain, 0.375 USD with the surcharge, of 0.4.
    await run.ask(prompt);
    const { max_tokens = 0 } = run.model.requests[0]?.body ?? {};
    const left = 0.4 - (catalog.costOf(model, { input_tokens: 0, output_tokens: max_tokens }) ?? 0);
    expect(left).toBeGreaterThan(0.375);
    expect(max_tokens).toBeGreaterThanOrEqual(16);
  });

  it('that pays for less than a word of an answer sends nothing', async () => {
    const run = await start(['never'], { config: { maxBudgetUsd: 0.3751 } });
    expect(await run.ask('x'.repeat(300_000))).toMatchObject({ subtype: 'error_max_budget_usd', total_cost_usd: 0 });
    expect(run.model.requests).toEqual([]);
  });

  it('that is ample leaves the request as it is', async () => {
    const plain = await start(['ok']);
    await plain.ask('go');
    const run = await start(['ok'], { cwd: plain.cwd, config: { maxBudgetUsd: 100 } });
    await run.ask('go');
    expect(run.model.requests).toEqual(plain.model.requests);
  });
});
