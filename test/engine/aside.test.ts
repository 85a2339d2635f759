import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callAside } from '../../src/engine/aside.js';
import { createFileStore } from '../../src/engine/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { resultText, scratch, start } from './kit.js';

const SONNET = 'claude-sonnet-4-5-20250929';
const question = (signal = new AbortController().signal) => ({
  purpose: 'test',
  system: 'Answer.',
  prompt: 'What?',
  maxTokens: 100,
  signal,
});

describe('a model call beside the conversation', () => {
  it('G6: asks the small model, and counts in the totals but not in the usage of the turn', async () => {
    const usage = { input_tokens: 7, output_tokens: 3 };
    const run = await start(
      [
        { text: 'aside', usage },
        { text: 'main', usage },
      ],
      { config: { model: SONNET } },
    );
    expect(await callAside(run.session.scope, question())).toMatchObject([{ type: 'text', text: 'aside' }]);
    const [request] = run.model.requests;
    expect(request?.body.model).toContain('haiku');
    expect(request?.body).toMatchObject({ max_tokens: 100, system: [{ text: 'Answer.' }] });
    const result = await run.ask('go');
    expect(result.usage.input_tokens).toBe(7);
    expect(Object.values(result.modelUsage).map((model) => model.inputTokens)).toEqual([7, 7]);
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).not.toContain('What?');
  });

  it('is found again by a resume', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const first = await start(['aside', 'main'], { store, cwd, config: { model: SONNET } });
    await callAside(first.session.scope, question());
    const { total_cost_usd } = await first.ask('go');
    const second = await start([], { store, cwd, config: { model: SONNET, resume: first.session.id } });
    expect(second.session.scope.spending.totalUsd).toBe(total_cost_usd);
  });

  it.each([
    ['the environment names', { ANTHROPIC_SMALL_FAST_MODEL: 'tiny' }, SONNET, 'tiny'],
    ['the session has, where nothing is known about it', {}, 'someone-elses-model', 'someone-elses-model'],
  ])('asks the model that %s', async (_, env, model, expected) => {
    const run = await start(['x'], { config: { model, env: { PATH: '', ...env } } });
    await callAside(run.session.scope, question());
    expect(run.model.requests[0]?.body.model).toBe(expected);
  });

  it('tries once more what may pass, and gives up on what does not', async () => {
    const overloaded = new HeddleError('model_overloaded', 'busy', { retryable: true });
    const run = await start([{ error: overloaded }, 'second', { error: overloaded }, { error: overloaded }]);
    expect(await callAside(run.session.scope, question())).toMatchObject([{ text: 'second' }]);
    await expect(callAside(run.session.scope, question())).rejects.toMatchObject({ code: 'model_overloaded' });
    run.model.assertDone();
  });

  it('G7: is not made when the budget is spent', async () => {
    const config = { model: SONNET, maxBudgetUsd: 0.000001 };
    const run = await start([], { config });
    await expect(callAside(run.session.scope, question())).rejects.toMatchObject({ code: 'budget_exceeded' });
  });
});

describe('WebFetch in a session', () => {
  it('asks about a page of a host that is allowed, and only the answer reaches the conversation', async () => {
    const server = createServer((_, response) =>
      response.setHeader('content-type', 'text/html').end('<h1>Secret heading</h1><p>42</p>'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = { PATH: process.env.PATH ?? '', HEDDLE_WEB_PRIVATE_HOSTS: host };
    const run = await start(
      [
        { toolUse: { name: 'WebFetch', id: 't1', input: { url: `http://${host}/`, prompt: 'Which number?' } } },
        (request) => (JSON.stringify(request.body.messages).includes('# Secret heading') ? 'It is 42.' : 'no page'),
        'done',
      ],
      { config: { env, allowedTools: ['WebFetch(domain:127.0.0.1)'] } },
    );
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('It is 42.');
    expect(JSON.stringify(run.model.requests[2]?.body.messages)).not.toContain('Secret heading');
  });
});
