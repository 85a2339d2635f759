import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { startFakeApi } from '../../src/testing/fake-api.js';
import { createAnthropicProvider } from '../../src/engine/model/anthropic.js';
import { collect, makeRequest, textOf } from './provider-kit.js';

describe('the scripted model (H4)', () => {
  it('plays thinking, text and calls with ids that count up', async () => {
    const model = createScriptedModel([
      {
        thinking: 'hm',
        text: 'Hi',
        toolUse: [
          { name: 'Read', input: { file_path: 'a' } },
          { name: 'Glob', input: {}, id: 'mine' },
        ],
        usage: { input_tokens: 7 },
      },
      'Bye',
    ]);
    const first = await collect(model);
    expect(first.requestId).toBe('req_1');
    expect(first.batches).toBe(first.events.length);
    expect(first.events).toMatchObject([
      {
        type: 'message_start',
        message: { id: 'msg_1', model: 'claude-sonnet-4-5-20250929', usage: { input_tokens: 7 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"file_path":"a"}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'mine' } },
      { type: 'content_block_delta', index: 3, delta: { partial_json: '{}' } },
      { type: 'content_block_stop', index: 3 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ]);
    const second = await collect(model);
    expect(second.events[0]).toMatchObject({ message: { id: 'msg_2' } });
    expect(second.events.at(-2)).toMatchObject({ delta: { stop_reason: 'end_turn' } });
    model.assertDone();
  });

  it('cuts deltas and batches as told, never inside a character', async () => {
    const model = createScriptedModel(
      [
        { text: 'ab\u{1F9F5}cd', batches: 2 },
        { text: 'abcdef', deltas: 2 },
      ],
      { deltaSize: 1 },
    );
    const first = await collect(model);
    expect(first.batches).toBe(2);
    expect(textOf(first.events)).toBe('ab\u{1F9F5}cd');
    expect(first.events.filter((event) => event.type === 'content_block_delta')).toHaveLength(5);
    const second = await collect(model);
    expect(second.events.filter((event) => event.type === 'content_block_delta')).toHaveLength(2);
  });

  it('records requests as they were and lets a step see its own', async () => {
    const model = createScriptedModel([async (request, index) => `${index}: ${request.betas.join()}`]);
    const request = makeRequest('first', ['b1']);
    const { events } = await collect(model, { request });
    request.body.messages.push({ role: 'user', content: 'later' });
    expect(textOf(events)).toBe('0: b1');
    expect(model.requests[0]?.body.messages).toEqual([{ role: 'user', content: 'first' }]);
    expect(Object.isFrozen(model.requests[0]?.body.messages[0])).toBe(true);
  });

  it('is loud when asked for more than it has, and when steps are left over', async () => {
    const model = createScriptedModel(['one']);
    expect(() => model.assertDone()).toThrow(expect.objectContaining({ code: 'script_exhausted' }));
    await collect(model);
    model.assertDone();
    const { error } = await collect(model, { request: makeRequest('one too many') });
    expect(error).toMatchObject({ code: 'script_exhausted', retryable: false });
    expect(error?.message).toContain('one too many');
    expect(() => model.assertDone()).toThrow(/2 times/);
  });

  it('fails where the step says so: at once, or in mid-answer', async () => {
    const error = new HeddleError('model_overloaded', 'full', { retryable: true });
    const model = createScriptedModel([{ error }, { text: 'half', error }]);
    expect(await collect(model)).toMatchObject({ events: [], error });
    const broken = await collect(model);
    expect(broken.error).toBe(error);
    expect(broken.events.at(-1)).toMatchObject({ type: 'content_block_delta' });
  });

  it('can be held in the middle of an answer, and let go or aborted there', async () => {
    for (const isAborted of [false, true]) {
      const gate = Promise.withResolvers<void>();
      const controller = new AbortController();
      const reached = Promise.withResolvers<void>();
      const step = { text: 'a b c d', deltas: 4, waitFor: gate.promise, pauseAfterDeltas: 2 };
      let deltas = 0;
      const outcome = collect(createScriptedModel([step]), {
        signal: controller.signal,
        onBatch: ([event]) => {
          if (event?.type === 'content_block_delta' && ++deltas === 2) reached.resolve();
        },
      });
      await reached.promise;
      await new Promise((resolve) => setImmediate(resolve));
      expect(deltas).toBe(2);
      if (isAborted) controller.abort();
      else gate.resolve();
      const { events, error } = await outcome;
      expect(error?.code).toBe(isAborted ? 'aborted' : undefined);
      expect(textOf(events)).toBe(isAborted ? 'a b ' : 'a b c d');
    }
  });
});

describe('the fake API', () => {
  it('streams the same events as the scripted model for the same step', async () => {
    const steps = [{ thinking: 'x', text: 'weave', toolUse: { name: 'Bash', input: { command: 'ls' } }, deltas: 2 }];
    const api = await startFakeApi(steps);
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: api.url };
    const overHttp = await collect(createAnthropicProvider({ env, clock: createFakeClock() }));
    await api.close();
    expect(overHttp.events).toEqual((await collect(createScriptedModel(steps))).events);
  });
});

describe('the fake clock', () => {
  it('moves only when told, calls timers in order, cancels, and counts up its ids', async () => {
    const clock = createFakeClock(1000);
    const called: string[] = [];
    clock.after(20, () => called.push(`late at ${clock.now()}`));
    clock.after(10, () => {
      called.push(`early at ${clock.now()}`);
      clock.after(5, () => called.push(`nested at ${clock.now()}`));
    });
    const cancel = clock.after(1, () => called.push('never'));
    cancel();
    expect(clock.pending).toEqual([10, 20]);
    clock.advance(9);
    expect(called).toEqual([]);
    clock.advance(11);
    expect(called).toEqual(['early at 1010', 'nested at 1015', 'late at 1020']);
    expect([clock.now(), clock.monotonic(), clock.random()]).toEqual([1020, 20, 0.5]);
    expect([clock.uuid(), clock.uuid()]).toEqual([
      '00000000-0000-4000-8000-000000000001',
      '00000000-0000-4000-8000-000000000002',
    ]);
    const armed = clock.armed(2);
    clock.after(1, () => {});
    clock.after(1, () => {});
    await armed;
  });
});
