import { describe, expect, it } from 'vitest';
import { HeddleError } from '../../src/protocol/plain.js';
import { start, stillClock } from '../engine/kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const call = (id: string) => ({ toolUse: { name: 'Bash', input: { command: 'true' }, id } });

describe('G7: the budgets of a session', () => {
  it('tokens: the call that would pass the limit is not sent', async () => {
    const usage = { input_tokens: 30_000, output_tokens: 10_000 };
    const run = await start([{ ...call('a'), usage }, 'never'], { config: { ...bypass, taskBudget: 40_000 } });
    expect(await run.ask('go')).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      errors: ['Reached maximum number of tokens (40000)'],
      terminal_reason: 'budget_exhausted',
      error_code: 'budget_exceeded',
    });
    expect(run.model.requests).toHaveLength(1);
  });

  it('tokens: an answer is asked for that still fits', async () => {
    const run = await start(['ok'], { config: { taskBudget: 20_000 } });
    await run.ask('go');
    const { max_tokens = 0 } = run.model.requests[0]?.body ?? {};
    expect(max_tokens).toBeGreaterThan(16);
    expect(max_tokens).toBeLessThan(20_000);
  });

  it('tokens: what failed before it began costs nothing', async () => {
    const clock = stillClock();
    const error = new HeddleError('model_overloaded', 'busy', { retryable: true });
    const run = await start([{ error }, 'ok'], { clock, config: { taskBudget: 20_000 } });
    const result = run.ask('go');
    await clock.armed();
    clock.advance(60_000);
    expect(await result).toMatchObject({ subtype: 'success' });
    expect(run.model.requests[1]?.body.max_tokens).toBe(run.model.requests[0]?.body.max_tokens);
    expect(run.session.scope.budget.held).toEqual({ usd: 0, tokens: 0, turns: 0 });
  });

  it('money: what was held for a call is free when it is over', async () => {
    const run = await start(['one', 'two'], { config: { maxBudgetUsd: 0.6 } });
    await run.ask('1');
    expect(run.session.scope.budget.held.usd).toBe(0);
    expect(run.session.scope.budget.spent.usd).toBe(run.session.scope.spending.sinceOpenUsd);
    expect(await run.ask('2')).toMatchObject({ result: 'two' });
  });

  it.each([0, 1.5, -1])('a task budget of %d is refused at once', async (taskBudget) => {
    await expect(start([], { config: { taskBudget } })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('seconds: what runs when they are over is stopped', async () => {
    const clock = stillClock();
    const waiting = Promise.withResolvers<void>();
    const run = await start([{ text: 'late', waitFor: waiting.promise }], {
      clock,
      config: { maxSeconds: 5 },
    });
    const result = run.ask('go');
    await run.seen(({ type }) => type === 'system');
    await clock.armed();
    clock.advance(5_000);
    expect(await result).toMatchObject({ is_error: true, errors: ['Reached maximum time (5 s)'] });
  });
});
