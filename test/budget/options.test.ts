import { describe, expect, it } from 'vitest';
import { agentLimits, queryLimits, turnLimits } from '../../src/engine/budget/options.js';

describe('the limits that options ask for', () => {
  it('are those of the query, of a turn and of an agent', () => {
    expect(queryLimits({ maxBudgetUsd: 0.5, taskBudget: 1_000, maxSeconds: 1.5 })).toEqual({
      usd: 0.5,
      tokens: 1_000,
      seconds: 1.5,
    });
    expect(queryLimits({})).toEqual({});
    expect(turnLimits({ maxTurns: 3 })).toEqual({ turns: 3 });
    expect(agentLimits({ maxTurns: 2, maxTokens: 9, maxSeconds: 1, maxBudgetUsd: 1 }, 'a')).toEqual({
      turns: 2,
      tokens: 9,
      seconds: 1,
      usd: 1,
    });
  });

  it('zero turns mean no limit', () => {
    expect(turnLimits({ maxTurns: 0 })).toEqual({});
    expect(agentLimits({ maxTurns: 0 }, 'a')).toEqual({});
  });

  it.each([
    [() => queryLimits({ maxBudgetUsd: 0 }), 'maxBudgetUsd must be a number above 0, not 0.'],
    [() => queryLimits({ taskBudget: 0 }), 'taskBudget must be a whole number above 0, not 0.'],
    [() => queryLimits({ taskBudget: 1.5 }), 'taskBudget must be a whole number above 0, not 1.5.'],
    [() => queryLimits({ maxSeconds: Number.NaN }), 'maxSeconds must be a number above 0, not NaN.'],
    [() => queryLimits({ maxSeconds: '5' as never }), 'maxSeconds must be a number above 0, not "5".'],
    [() => agentLimits({ maxTokens: -1 }, 'Explore'), 'maxTokens of the agent Explore must be a whole number'],
  ])('a budget of nothing, or nonsense, is refused: %#', (make, text) => {
    expect(make).toThrow(expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining(text) }));
  });
});
