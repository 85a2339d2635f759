import { describe, expect, it } from 'vitest';
import type { Budget, Reservation } from '../../src/engine/budget/budget.js';
import type { CallEnd } from '../../src/engine/budget/call.js';
import type { BudgetLimits } from '../../src/engine/budget/limit.js';
import { create, price, seededRandom } from './kit.js';

interface Agent {
  budget: Budget;
  call?: { reservation: Reservation; inputTokens: number };
  leave: () => void;
}

const ROUNDS = 40;
const AGENTS = 20;

/** Agents that call, answer, fail and are cut off in any order; a few of them start others. */
function play(seed: number): { tree: Budget; agents: Agent[]; refusals: number; calls: number } {
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(value: T): T | undefined => (random() < 0.7 ? value : undefined);
  const limits: BudgetLimits = {
    usd: pick(0.01 + random() * 2),
    tokens: 30_000 + upTo(300_000),
    turns: pick(1 + upTo(200)),
  };
  const tree = create(limits);
  const agents: Agent[] = [];
  for (let index = 0; index < AGENTS; index += 1) {
    const parent = index > 3 && random() < 0.3 ? (agents[upTo(index - 1)]?.budget ?? tree) : tree;
    const own = random() < 0.5 ? {} : { tokens: 500 + upTo(50_000), usd: 0.001 + random() / 2 };
    const budget = parent.child(own);
    agents.push({ budget, leave: budget.enter() });
  }
  let [refusals, calls] = [0, 0];
  for (let round = 0; round < ROUNDS * AGENTS; round += 1) {
    const agent = agents[upTo(AGENTS - 1)] as Agent;
    if (agent.call === undefined) {
      const inputTokens = upTo(20_000);
      const outcome = agent.budget.reserve({ inputTokens, maxOutputTokens: 32_000, price, isTurn: random() < 0.8 });
      if ('subtype' in outcome) refusals += 1;
      else {
        calls += 1;
        agent.call = { reservation: outcome, inputTokens };
      }
    } else {
      agent.call.reservation.settle(toEnd(agent.call, random));
      delete agent.call;
    }
    expectWithin(tree, limits);
    for (const { budget } of agents) expectWithin(budget, budget.limits);
  }
  for (const { call, leave } of agents) {
    call?.reservation.settle({ isCut: true });
    leave();
  }
  return { tree, agents, refusals, calls };
}

/** Any usage that is possible for the call. */
function toEnd(call: NonNullable<Agent['call']>, random: () => number): CallEnd {
  const kind = random();
  if (kind < 0.1) return {};
  const input_tokens = Math.floor(random() * call.inputTokens);
  const cached = Math.floor(random() * (call.inputTokens - input_tokens));
  const output_tokens = Math.floor(random() * (call.reservation.maxOutputTokens + 1));
  const usage = { input_tokens, cache_creation_input_tokens: cached, output_tokens };
  if (kind < 0.2) return { usage: { ...usage, output_tokens: 1 }, isCut: true, seenTokens: output_tokens };
  if (kind < 0.25) return { usage: { ...usage, output_tokens: 1 }, isCut: true };
  return kind < 0.3 ? { isCut: true } : { usage };
}

function expectWithin({ spent, held }: Budget, limits: BudgetLimits): void {
  const wrong =
    spent.usd + held.usd > (limits.usd ?? Infinity) + 1e-8 ||
    spent.tokens + held.tokens > (limits.tokens ?? Infinity) ||
    spent.turns + held.turns > (limits.turns ?? Infinity);
  if (wrong) expect({ spent, held }).toEqual(limits);
}

describe('G7: 20 agents under one budget', () => {
  const seeds = Array.from({ length: 16 }, (_, index) => index + 1);

  it.each(seeds)('never spend more than it, nor more than their own, and never wait (seed %i)', (seed) => {
    const { tree, agents, calls, refusals } = play(seed);
    expect(calls).toBeGreaterThan(0);
    expect(refusals).toBeGreaterThan(0);
    for (const { held } of [tree, ...agents.map(({ budget }) => budget)]) {
      expect(held).toEqual({ usd: 0, tokens: 0, turns: 0 });
    }
  });

  it('go on until next to nothing is left', () => {
    const tree = create({ tokens: 200_000 });
    const agents = Array.from({ length: AGENTS }, () => tree.child({}));
    for (const agent of agents) agent.enter();
    const usage = { input_tokens: 900, output_tokens: 100 };
    let isOver = false;
    for (let round = 0; round < 100 && !isOver; round += 1) {
      const calls = agents.map((agent) => agent.reserve({ inputTokens: 1_000, maxOutputTokens: 32_000, price }));
      isOver = calls.every((call) => 'subtype' in call);
      for (const call of calls) if (!('subtype' in call)) call.settle({ usage });
    }
    expect(isOver).toBe(true);
    expect(tree.spent.tokens).toBeGreaterThan(198_000);
    expect(tree.spent.tokens).toBeLessThanOrEqual(200_000);
  });

  it('leave sums that agree to the token and the millionth of a cent', () => {
    const tree = create({});
    const random = seededRandom(7);
    const agents = Array.from({ length: AGENTS }, () => tree.child({}));
    let microCents = 0;
    for (let index = 0; index < 2_000; index += 1) {
      const usage = { input_tokens: Math.floor(random() * 9_999), output_tokens: Math.floor(random() * 999) };
      const agent = agents[index % AGENTS] as Budget;
      const outcome = agent.reserve({ inputTokens: 0, maxOutputTokens: 1_000, price });
      if (!('subtype' in outcome)) outcome.settle({ usage });
      microCents += price(usage) ?? 0;
    }
    const sum = agents.reduce((total, { spent }) => total + Math.round(spent.usd * 1e8), 0);
    expect(sum).toBe(microCents);
    expect(Math.round(tree.spent.usd * 1e8)).toBe(microCents);
    expect(agents.reduce((total, { spent }) => total + spent.tokens, 0)).toBe(tree.spent.tokens);
  });
});
