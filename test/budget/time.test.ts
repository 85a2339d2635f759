import { describe, expect, it } from 'vitest';
import { withinTime } from '../../src/engine/budget/time.js';
import { createFakeClock } from '../../src/testing/index.js';
import { create, estimate, refused } from './kit.js';

const never = new AbortController().signal;

describe('G7: seconds', () => {
  it('count while somebody works, once for all who work side by side', () => {
    const clock = createFakeClock();
    const tree = create({ seconds: 10 }, clock);
    const [one, two] = [tree.child({}), tree.child({})];
    clock.advance(60_000);
    const [leaveOne, leaveTwo] = [one.enter(), two.enter()];
    clock.advance(3_000);
    leaveOne();
    leaveOne();
    clock.advance(2_000);
    leaveTwo();
    clock.advance(60_000);
    expect([tree, one, two].map(({ spent }) => spent.seconds)).toEqual([5, 3, 5]);
    expect(tree.reached()).toBeUndefined();
    one.enter();
    clock.advance(5_000);
    expect(one.reached()?.text).toBe('Reached maximum time (10 s)');
    expect(refused(two.reserve(estimate()))?.text).toBe('Reached maximum time (10 s)');
  });

  it('that are over stop what runs', async () => {
    const clock = createFakeClock();
    const turn = create({ seconds: 60 }, clock).child({ seconds: 5 }, { owner: 'the agent Explore' });
    const running = withinTime(turn, { clock, signal: never }, async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return 'stopped';
    });
    expect(clock.pending).toEqual([5_000]);
    clock.advance(5_000);
    const { value, over } = await running;
    expect(value).toBe('stopped');
    expect(over?.text).toBe('Reached maximum time (5 s) of the agent Explore');
    expect(turn.spent.seconds).toBe(5);
  });

  it('leave no timer behind, whether the work ends or throws', async () => {
    const clock = createFakeClock();
    const budget = create({ seconds: 5 }, clock);
    expect(await withinTime(budget, { clock, signal: never }, async () => 'done')).toEqual({ value: 'done' });
    const failing = withinTime(budget, { clock, signal: never }, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(clock.pending).toEqual([]);
    clock.advance(10_000);
    expect(budget.spent.seconds).toBe(0);
  });

  it('that are over after somebody has interrupted are not the reason', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const over = Promise.withResolvers<void>();
    const running = withinTime(create({ seconds: 5 }, clock), { clock, signal: stop.signal }, () => over.promise);
    stop.abort();
    clock.advance(6_000);
    over.resolve();
    expect(await running).toEqual({ value: undefined });
  });

  it('without a limit set no timer', async () => {
    const clock = createFakeClock();
    await withinTime(create({}, clock), { clock, signal: never }, async (signal) => {
      expect(signal).toBe(never);
      expect(clock.pending).toEqual([]);
    });
  });
});
