import { describe, expect, it } from 'vitest';
import type { Spending } from '../../src/engine/spending.js';
import type { Run } from '../engine/kit.js';
import { open, routed, task } from './kit.js';

const CHECKED = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const;

function expectEqualSums(spending: Spending, requests: number): void {
  const models = Object.values(spending.byModel);
  const agents = Object.values(spending.byAgent);
  for (const key of CHECKED) {
    expect(agents.reduce((sum, each) => sum + each[key], 0)).toBe(models.reduce((sum, each) => sum + each[key], 0));
  }
  const usd = (sums: { costUSD: number }[]) => sums.reduce((sum, { costUSD }) => sum + costUSD, 0);
  expect(usd(agents)).toBeCloseTo(spending.totalUsd, 10);
  expect(usd(models)).toBeCloseTo(spending.totalUsd, 10);
  expect(spending.totalTokens).toBe(requests * 120);
}

async function expectCostByAgent({ session, ask, messages }: Run): Promise<void> {
  await ask('/cost');
  const text = JSON.stringify(messages.slice(-3));
  for (const [id, { agentType }] of Object.entries(session.scope.spending.byAgent)) {
    expect(text).toContain(agentType === undefined ? '| Main thread |' : `| ${agentType} (${id}) |`);
  }
}

describe('G6: what agents cost', () => {
  it('sums per request, per model and per agent are the total, nested agents too, also after a resume', async () => {
    const script = () => [
      { toolUse: [task('t1', { model: 'haiku' }), task('t2', { model: 'sonnet' })] },
      ...routed(5, (_, said) => {
        if (said.includes('Do n1.')) return 'deep';
        if (said.includes('Do t1.') && !said.includes('tool_result'))
          return { toolUse: task('n1', { model: 'haiku' }) };
        return 'ok';
      }),
    ];
    const first = await open(script(), { config: { model: 'opus' } });
    const result = await first.ask('go');
    const { spending } = first.session.scope;
    expect(first.model.requests).toHaveLength(6);
    expectEqualSums(spending, 6);
    expect(Object.keys(spending.byAgent)).toHaveLength(4);
    expect(spending.byAgent.main).toMatchObject({ inputTokens: 200, outputTokens: 40 });
    expect(Object.keys(spending.byModel)).toHaveLength(3);
    expect(result.total_cost_usd).toBe(spending.totalUsd);

    await expectCostByAgent(first);
    const second = await open([], { store: first.store, cwd: first.cwd, config: { resume: first.session.id } });
    const { spending: known } = second.session.scope;
    expect(known.byAgent).toEqual(spending.byAgent);
    expect(known.totalUsd).toBe(spending.totalUsd);
    expect(known.sinceOpenUsd).toBe(0);
    expectEqualSums(known, 6);
    await expectCostByAgent(second);
  });
});
