import { describe, expect, it } from 'vitest';
import { LEAST_ANSWER_TOKENS } from '../../src/engine/budget/budget.js';
import { createCatalog } from '../../src/engine/model/catalog.js';
import { createAccount } from '../../src/engine/budget/account.js';
import { create, estimate, granted, price, refused } from './kit.js';

const used = (input_tokens: number, output_tokens: number) => ({ usage: { input_tokens, output_tokens } });

describe('G7: a reservation', () => {
  it('takes the worst case, and gives back what was not used', () => {
    const budget = create({ usd: 1 });
    const reservation = granted(budget.reserve(estimate()));
    // 1,000 tokens into the cache and 1,000 out.
    expect(budget.held).toEqual({ usd: 0.01875, tokens: 2_000, turns: 0 });
    expect(budget.spent.usd).toBe(0);
    reservation.settle(used(100, 10));
    expect(budget.held).toEqual({ usd: 0, tokens: 0, turns: 0 });
    expect(budget.spent).toMatchObject({ usd: 0.00045, tokens: 110 });
  });

  it('is settled once', () => {
    const budget = create({ tokens: 10_000 });
    const reservation = granted(budget.reserve(estimate()));
    reservation.settle(used(100, 10));
    reservation.settle(used(100, 10));
    expect(budget.spent.tokens).toBe(110);
    expect(budget.held.tokens).toBe(0);
  });

  it('is for a shorter answer where less is left', () => {
    // 0.00375 for the question, and 500 tokens at 15 USD per million.
    expect(granted(create({ usd: 0.01125 }).reserve(estimate())).maxOutputTokens).toBe(500);
    expect(granted(create({ tokens: 1_600 }).reserve(estimate())).maxOutputTokens).toBe(600);
    expect(granted(create({ usd: 0.01125, tokens: 1_200 }).reserve(estimate())).maxOutputTokens).toBe(200);
  });

  it.each([
    [LEAST_ANSWER_TOKENS, true],
    [LEAST_ANSWER_TOKENS - 1, false],
    [0, false],
    [-500, false],
  ])('for an answer of %i tokens: %s', (left, isGranted) => {
    const outcome = create({ tokens: 1_000 + left }).reserve(estimate());
    expect(refused(outcome) === undefined).toBe(isGranted);
    const usd = create({ usd: 0.00375 + left * 0.000015 }).reserve(estimate());
    expect(refused(usd) === undefined).toBe(isGranted);
  });

  it('of a call that asks for less than that is granted whole', () => {
    expect(granted(create({ tokens: 1_004 }).reserve(estimate({ maxOutputTokens: 4 }))).maxOutputTokens).toBe(4);
    expect(refused(create({ tokens: 1_003 }).reserve(estimate({ maxOutputTokens: 4 })))).toBeDefined();
  });

  it('pays for web searches', () => {
    // A cent each.
    expect(refused(create({ usd: 0.05 }).reserve(estimate({ searches: 5 })))).toBeDefined();
    const budget = create({ usd: 0.1 });
    granted(budget.reserve(estimate({ searches: 5 })));
    expect(budget.held.usd).toBe(0.06875);
  });

  it('counts the price that long requests have', () => {
    const dear = { input: 6, output: 30, cacheRead: 1, cacheWrite5m: 8, cacheWrite1h: 12, webSearch: 10 };
    const prices = [{ ...dear, input: 3, output: 15, cacheWrite5m: 4, long: { above: 200_000, price: dear } }];
    const { microCentsOf } = createCatalog({ models: { m: { contextWindow: 1e6, maxOutputTokens: 1e5, prices } } });
    const held = (inputTokens: number): number => {
      const budget = create({ usd: 100 });
      granted(budget.reserve(estimate({ inputTokens, price: (usage) => microCentsOf('m', usage) })));
      return budget.held.usd;
    };
    expect(held(200_000)).toBe(0.815);
    expect(held(300_000)).toBe(2.43);
  });

  it('without limits leaves the call as it is', () => {
    const budget = create({});
    expect(budget.weighs).toBe(false);
    expect(granted(budget.reserve(estimate({ maxOutputTokens: 32_000 }))).maxOutputTokens).toBe(32_000);
    expect(create({ usd: 1 }).child({}).weighs).toBe(true);
    expect(create({ turns: 1, seconds: 1 }).weighs).toBe(false);
  });

  it('of a model without a price is refused under a USD budget only', () => {
    const unpriced = estimate({ price: () => undefined });
    expect(refused(create({ usd: 100 }).reserve(unpriced))?.text).toMatch(/price of the model is not known/);
    const budget = create({ tokens: 5_000 });
    granted(budget.reserve(unpriced)).settle(used(10, 10));
    expect(budget.spent).toMatchObject({ usd: 0, tokens: 20 });
  });
});

describe('G7: how a call ended', () => {
  const settled = (end: Parameters<ReturnType<typeof granted>['settle']>[0]) => {
    const budget = create({ usd: 1, tokens: 100_000, turns: 5 });
    granted(budget.reserve(estimate({ isTurn: true }))).settle(end);
    expect(budget.held).toEqual({ usd: 0, tokens: 0, turns: 0 });
    return budget.spent;
  };

  it('whole: what the API counted, and a turn', () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 20, cache_creation_input_tokens: 10, output_tokens: 7 };
    expect(settled({ usage })).toMatchObject({ tokens: 42, turns: 1, usd: (price(usage) ?? 0) / 1e8 });
  });

  it('before it began: nothing', () => {
    expect(settled({})).toMatchObject({ usd: 0, tokens: 0, turns: 0 });
  });

  it('cut off: what was counted, with what was seen of the answer', () => {
    const usage = { input_tokens: 500, output_tokens: 1 };
    expect(settled({ usage, isCut: true, seenTokens: 40 })).toMatchObject({ tokens: 540, turns: 0 });
    expect(settled({ usage: { ...usage, output_tokens: 60 }, isCut: true, seenTokens: 40 }).tokens).toBe(560);
  });

  it('cut off, and nobody knows how far it was: all that was asked for', () => {
    expect(settled({ usage: { input_tokens: 500, output_tokens: 1 }, isCut: true }).tokens).toBe(1_500);
    expect(settled({ usage: { input_tokens: 500, output_tokens: 1 }, isCut: true, seenTokens: 1e9 }).tokens).toBe(
      1_500,
    );
    expect(settled({ isCut: true })).toMatchObject({ usd: 0.01875, tokens: 2_000, turns: 0 });
  });

  it('with more than was reserved: it is counted all the same, and nothing more is sent', () => {
    const budget = create({ tokens: 3_000 });
    granted(budget.reserve(estimate())).settle(used(9_000, 1_000));
    expect(budget.spent.tokens).toBe(10_000);
    expect(budget.reached()).toMatchObject({ text: 'Reached maximum number of tokens (3000)' });
  });
});

describe('G7: a limit', () => {
  it('that is reached says which', () => {
    const usd = create({ usd: 0.3 });
    granted(usd.reserve(estimate({ inputTokens: 0, maxOutputTokens: 20_000 }))).settle(used(0, 20_000));
    expect(usd.reached()).toEqual({
      subtype: 'error_max_budget_usd',
      text: 'Reached maximum budget ($0.3)',
      terminalReason: 'budget_exhausted',
    });
    const turns = create({ turns: 1 });
    granted(turns.reserve(estimate({ isTurn: true }))).settle(used(1, 1));
    expect(turns.reached()).toEqual({
      subtype: 'error_max_turns',
      text: 'Reached maximum number of turns (1) of the query and its agents',
      terminalReason: 'max_turns',
    });
    expect(turns.reached({ countTurns: false })).toBeUndefined();
    expect(refused(turns.reserve(estimate()))).toBeUndefined();
  });

  it.each([
    [{ usd: 0 }, 'Reached maximum budget ($0)'],
    [{ tokens: 0 }, 'Reached maximum number of tokens (0)'],
    [{ turns: 0 }, 'Reached maximum number of turns (0) of the query and its agents'],
    [{ seconds: 0 }, 'Reached maximum time (0 s)'],
  ])('of zero refuses at once: %j', (limits, text) => {
    expect(refused(create(limits).reserve(estimate({ isTurn: true })))?.text).toBe(text);
    expect(create(limits).reached()?.text).toBe(text);
  });

  it('for which the protocol has no name is an error for every client', () => {
    expect(create({ tokens: 0 }).reached()).toMatchObject({
      subtype: 'error_during_execution',
      alwaysError: true,
      code: 'budget_exceeded',
    });
  });

  it('is held against what was meant, not against its binary form', () => {
    // 0.29 * 1e8 is a little less than 29 million.
    const budget = create({ usd: 0.29 });
    const outcome = budget.reserve(
      estimate({ inputTokens: 0, maxOutputTokens: 29, price: (u) => u.output_tokens * 1e6 }),
    );
    expect(granted(outcome).maxOutputTokens).toBe(29);
  });
});

describe('G7: a tree', () => {
  it('spends in every node above, and each limit holds', () => {
    const tree = create({ tokens: 10_000 });
    const [one, two] = [tree.child({ tokens: 3_000 }, { owner: 'agent one' }), tree.child({})];
    granted(one.reserve(estimate())).settle(used(900, 900));
    granted(two.reserve(estimate())).settle(used(500, 500));
    expect([tree, one, two].map(({ spent }) => spent.tokens)).toEqual([2_800, 1_800, 1_000]);
    expect(granted(one.reserve(estimate())).maxOutputTokens).toBe(200);
    expect(refused(one.reserve(estimate()))?.text).toBe(
      'Reached maximum number of tokens (3000) of agent one: calls that are running hold the rest of it',
    );
    expect(granted(two.reserve(estimate())).maxOutputTokens).toBe(1_000);
  });

  it('is not passed by calls side by side: turns, too, are reserved', () => {
    const tree = create({ turns: 2 });
    const agents = [1, 2, 3].map(() => tree.child({}));
    const outcomes = agents.map((agent) => agent.reserve(estimate({ isTurn: true })));
    expect(outcomes.map((outcome) => refused(outcome)?.subtype)).toEqual([undefined, undefined, 'error_max_turns']);
    // One failed and is tried again: it was no turn.
    for (const outcome of outcomes.slice(0, 1)) granted(outcome).settle({});
    expect(refused(tree.child({}).reserve(estimate({ isTurn: true })))).toBeUndefined();
  });

  it('is shared by those who work at the same time: the first does not take it all', () => {
    const tree = create({ tokens: 100_000 });
    const agents = Array.from({ length: 20 }, () => tree.child({}));
    const leave = agents.map((agent) => agent.enter());
    const calls = agents.map((agent) => granted(agent.reserve(estimate({ maxOutputTokens: 32_000 }))));
    const lengths = calls.map(({ maxOutputTokens }) => maxOutputTokens);
    expect(Math.min(...lengths)).toBeGreaterThan(3_000);
    expect(lengths.reduce((sum, length) => sum + length + 1_000, 0)).toBeLessThanOrEqual(100_000);
    for (const call of calls) call.settle(used(10, 10));
    for (const end of leave) end();
    // Alone again: the whole rest.
    expect(granted(tree.child({}).reserve(estimate({ maxOutputTokens: 32_000 }))).maxOutputTokens).toBe(32_000);
  });

  it('gives more than a share where a share is next to nothing', () => {
    const tree = create({ tokens: 5_000 });
    const agents = Array.from({ length: 20 }, () => tree.child({}));
    for (const agent of agents) agent.enter();
    const outcomes = agents.map((agent) => agent.reserve(estimate()));
    expect(outcomes.filter((outcome) => refused(outcome) === undefined)).toHaveLength(2);
    const last = outcomes.flatMap((outcome) => refused(outcome) ?? []).at(-1);
    expect(last?.text).toMatch(/^Reached maximum number of tokens \(5000\): calls that are running/);
  });
});

describe('G7: an account that several budgets share', () => {
  it('counts each call once, in whatever place of the tree, and in all above it', () => {
    const query = create({ tokens: 100_000 });
    const account = createAccount({ tokens: 500 });
    const agent = query.child({ tokens: 10_000 }, { account });
    const below = agent.child({});
    const again = below.child({ tokens: 10_000 }, { account });
    const leave = again.enter();
    const reservation = granted(again.reserve(estimate()));
    expect(account).toMatchObject({ calls: 1, workers: 1, held: { tokens: 2_000 } });
    reservation.settle({ usage: { input_tokens: 900, output_tokens: 100 } });
    leave();
    expect(agent.spent.tokens).toBe(1_500);
    expect(again.spent.tokens).toBe(1_500);
    expect(below.spent.tokens).toBe(1_000);
    expect(query.spent.tokens).toBe(1_000);
    expect(account).toMatchObject({ calls: 0, workers: 0, held: { tokens: 0 } });
  });
});
