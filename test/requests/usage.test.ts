import { describe, expect, it } from 'vitest';
import type { ModelProvider, RateLimitInfo } from '../../src/protocol/index.js';
import type { ScriptAnswer } from '../../src/engine/model/script-step.js';
import { stillClock } from '../engine/kit.js';
import { connect } from './kit.js';

/** Every answer comes with what the API says of the limit. */
const saying =
  (rateLimit: RateLimitInfo) =>
  (model: ModelProvider): ModelProvider => ({
    ...model,
    keySource: model.keySource,
    stream(request, options) {
      options.onResponse?.({ requestId: undefined, rateLimit });
      return model.stream(request, options);
    },
  });

describe('get_usage', () => {
  it('of a session that did nothing yet', async () => {
    const { peer } = connect();
    expect(await peer.request('get_usage', {})).toEqual({
      session: {
        total_cost_usd: 0,
        total_tokens: 0,
        total_duration_ms: expect.any(Number),
        total_api_duration_ms: 0,
        model_usage: {},
        agent_usage: {},
      },
      subscription_type: null,
      rate_limits_available: false,
      rate_limits: null,
      behaviors: null,
    });
  });

  it('sums up by model and by agent, agents included', async () => {
    const task = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose' };
    const { peer, ask } = connect([{ toolUse: { name: 'Task', input: task, id: 't' } }, 'Looked.', 'Done.'], {
      config: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    });
    const result = await ask('go');
    const { session } = await peer.request('get_usage', {});
    const { total_cost_usd, modelUsage } = result as { total_cost_usd: number; modelUsage: object };
    expect(session.total_cost_usd).toBe(total_cost_usd);
    expect(session.total_cost_usd).toBeGreaterThan(0);
    expect(session.model_usage).toEqual(modelUsage);
    const agents = Object.entries(session.agent_usage ?? {});
    expect(agents.map(([id, { agentType }]) => agentType ?? id)).toEqual(['main', 'general-purpose']);
    const tokens = agents.flatMap(([, each]) => [
      each.inputTokens,
      each.outputTokens,
      each.cacheReadInputTokens,
      each.cacheCreationInputTokens,
    ]);
    expect(session.total_tokens).toBe(tokens.reduce((sum, each) => sum + each, 0));
  });

  it('counts the time in model calls, of agents too, and the time since the session was opened', async () => {
    const task = { description: 'look', prompt: 'Look.', subagent_type: 'general-purpose' };
    const clock = stillClock();
    const after = (ms: number, step: string | ScriptAnswer) => () => {
      clock.advance(ms);
      return step;
    };
    const call = { toolUse: { name: 'Task', input: task, id: 't' } };
    const { peer, ask } = connect([after(10, call), after(200, 'Looked.'), after(3_000, 'Done.')], {
      config: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
      clock,
    });
    // The turn of the main thread counts its own calls alone.
    expect(await ask('go')).toMatchObject({ duration_api_ms: 3_010 });
    clock.advance(40_000);
    const { session } = await peer.request('get_usage', {});
    expect(session).toMatchObject({ total_api_duration_ms: 3_210, total_duration_ms: 43_210 });
  });

  it('tells the window that the model API told of last', async () => {
    const limit: RateLimitInfo = {
      status: 'allowed_warning',
      rateLimitType: 'five_hour',
      utilization: 0.9,
      resetsAt: 1_800_000_000,
      overageStatus: 'rejected',
    };
    const { peer, ask } = connect(['ok'], { wrap: saying(limit) });
    await ask('go');
    expect(await peer.request('get_usage', {})).toMatchObject({
      rate_limits_available: true,
      rate_limits: {
        five_hour: { status: 'allowed_warning', utilization: 0.9, resets_at: '2027-01-15T08:00:00.000Z' },
        overage: { status: 'rejected', utilization: null, resets_at: null },
      },
    });
  });
});
