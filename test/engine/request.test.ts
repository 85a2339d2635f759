import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/engine/child-env.js';
import { exitCodeOf, mannersFor } from '../../src/engine/manners.js';
import { systemPrompt } from '../../src/engine/prompt.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { start } from './kit.js';

const bodyFor = async (config: Partial<SessionConfig>) => {
  const run = await start(['ok'], { config });
  await run.ask('go');
  return run.model.requests[0] ?? { body: undefined, betas: [] };
};

describe('the request', () => {
  it.each([
    ['nothing', {}, undefined],
    ['maxThinkingTokens', { maxThinkingTokens: 5_000 }, { type: 'enabled', budget_tokens: 5_000 }],
    ['capped at 31,999', { maxThinkingTokens: 60_000 }, { type: 'enabled', budget_tokens: 31_999 }],
    ['below max_tokens', { model: 'embedded', maxThinkingTokens: 9_000 }, { type: 'enabled', budget_tokens: 7_999 }],
    ['zero', { maxThinkingTokens: 0 }, undefined],
    ['enabled', { thinking: { type: 'enabled', budgetTokens: 2_000 } }, { type: 'enabled', budget_tokens: 2_000 }],
    ['adaptive', { thinking: { type: 'adaptive' } }, { type: 'adaptive' }],
    ['disabled', { thinking: { type: 'disabled' } }, undefined],
  ] as const)('thinking: %s', async (_, config, thinking) => {
    const { body } = await bodyFor(config);
    expect(body?.thinking).toEqual(thinking);
    if (body?.thinking?.type === 'enabled') expect(body.thinking.budget_tokens).toBeLessThan(body.max_tokens);
  });

  it('marks for the cache the end of the system prompt and the last two user messages, and nothing else', async () => {
    const run = await start(['one', 'two', 'three']);
    for (const prompt of ['1', '2', '3']) await run.ask(prompt);
    const { body } = run.model.requests[2] ?? {};
    expect(body?.system?.map((block) => block.cache_control !== undefined)).toEqual([true]);
    const marked = body?.messages.map((message) => JSON.stringify(message).includes('cache_control'));
    expect(marked).toEqual([false, false, true, false, true]);
    expect(body?.tools?.map((tool) => tool.name)).toEqual([
      'Bash',
      'Edit',
      'Glob',
      'Grep',
      'NotebookEdit',
      'Read',
      'Task',
      'TaskOutput',
      'TaskStop',
      'TodoWrite',
      'WebFetch',
      'Write',
    ]);
  });

  it('the long-context beta raises the window; [1m] asks for it', async () => {
    const run = await start(['ok'], { config: { model: 'sonnet[1m]' } });
    const result = await run.ask('go');
    expect(run.model.requests[0]?.betas).toEqual(['context-1m-2025-08-07']);
    expect(Object.values(result.modelUsage)[0]?.contextWindow).toBe(1_000_000);
    expect((await bodyFor({ betas: ['context-1m-2025-08-07'] })).betas).toEqual(['context-1m-2025-08-07']);
  });

  it('date and folder stand in the first user message, so that the system prompt stays the same', async () => {
    const { body } = await bodyFor({});
    expect(JSON.stringify(body?.messages[0])).toMatch(/Working directory: .*Date: 2025-01-01/);
    expect(JSON.stringify(body?.system)).not.toMatch(/2025/);
  });

  it('tools limits what exists', async () => {
    expect((await bodyFor({ tools: ['Read', 'FileEdit'] })).body?.tools?.map((tool) => tool.name)).toEqual([
      'Edit',
      'Read',
    ]);
    expect((await bodyFor({ tools: [] })).body?.tools).toBeUndefined();
  });
});

describe('G6: cost', () => {
  it('sums over requests = per model = total, to the token, and goes on after a resume', async () => {
    const usage = {
      input_tokens: 1_003,
      output_tokens: 17,
      cache_read_input_tokens: 333,
      cache_creation_input_tokens: 77,
    };
    const call = { toolUse: { name: 'Bash', input: { command: 'ls' } }, usage };
    const sessionId = '99999999-2222-4333-8444-555555555556';
    const run = await start([call, { text: 'ok', usage }], { config: { sessionId } });
    const result = await run.ask('go');
    const one = (1_003 * 3 + 17 * 15 + 333 * 0.3 + 77 * 3.75) / 1e6;
    expect(result.total_cost_usd).toBeCloseTo(2 * one, 12);
    expect(result.usage).toMatchObject({ input_tokens: 2_006, output_tokens: 34, cache_read_input_tokens: 666 });
    const models = Object.values(result.modelUsage);
    expect(models.reduce((sum, model) => sum + model.costUSD, 0)).toBe(result.total_cost_usd);
    expect(models[0]).toMatchObject({ inputTokens: 2_006, cacheCreationInputTokens: 154, costBasis: 'list' });
    const again = await start([{ id: 'later', text: 'ok', usage }], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: sessionId },
    });
    const resumed = await again.ask('more');
    expect(resumed.total_cost_usd).toBeCloseTo(3 * one, 12);
    expect(resumed.usage.input_tokens).toBe(1_003);
  });
});

describe('small tables', () => {
  it.each([
    [undefined, /^You are an agent .*How to work/s],
    ['', /^You are an agent that works through tools, run by Heddle\.$/],
    [[''], /^You are an agent that works through tools, run by Heddle\.$/],
    ['Speak like a pirate.', /^Speak like a pirate\.$/],
    [{ type: 'preset', preset: 'claude_code', append: 'Mine.' }, /How to work.*Mine\.$/s],
  ] as const)('system prompt %j', (prompt, expected) => {
    const config = { systemPrompt: prompt } as unknown as SessionConfig;
    expect(systemPrompt(config).join('\n')).toMatch(expected);
  });

  it('E4: children never see the credentials of the engine, nor keys of providers unless the caller gave them', () => {
    const env = { PATH: '/bin', ANTHROPIC_API_KEY: 'a', ANTHROPIC_AUTH_TOKEN: 'b', OPENAI_API_KEY: 'c', SECRET_X: 'd' };
    expect(childEnvironment({ env })).toEqual({ PATH: '/bin', SECRET_X: 'd' });
    expect(childEnvironment({ env, envIsExact: true })).toEqual({ PATH: '/bin', OPENAI_API_KEY: 'c', SECRET_X: 'd' });
  });

  it.each([
    ['0.1.22', 'error_max_turns', false, 0],
    ['0.2.50', 'error_max_turns', false, 0],
    ['0.2.50', 'success', true, 1],
    ['0.3.325', 'error_max_turns', true, 1],
    [undefined, 'error_max_budget_usd', true, 1],
    ['0.3.325', 'error_during_execution', false, 0],
  ] as const)('SDK %s, %s, is_error %s: exit code %i', (version, subtype, is_error, code) => {
    const manners = mannersFor({ entrypoint: 'sdk-ts', ...(version && { version }) });
    expect(exitCodeOf({ subtype, is_error }, manners)).toBe(code);
  });
});
