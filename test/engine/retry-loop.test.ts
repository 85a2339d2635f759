import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { ErrorCode } from '../../src/protocol/plain.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { outline, type Run, type RunOptions, start } from './kit.js';

const never = new Promise<never>(() => {});
const failure = (code: ErrorCode, status: number, data: object = {}): { error: HeddleError } => ({
  error: new HeddleError(code, 'x', { retryable: true, data: { status, ...data } }),
});
const overloaded = () => failure('model_overloaded', 529);
const broken = () => failure('model_server', 500);

/** Asks, and lets time pass whenever a retry waits for it. */
async function askThrough(script: readonly ScriptStep[], config: RunOptions['config'] = {}) {
  const run = await start(script, { config });
  let isOver = false;
  const result = run.ask('go').finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    run.clock.advance(60_000);
  }
  return { run, result: await result };
}

const modelsOf = ({ model }: Run) => model.requests.map(({ body }) => /opus|sonnet|haiku/.exec(body.model)?.[0]);
const retriesOf = ({ messages }: Run) =>
  messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'api_retry' ? [message.attempt] : [],
  );

describe('G4: falling back', () => {
  const config = { model: 'opus', fallbackModel: 'sonnet,haiku' };

  it('counts overloads alone: other failures do not bring the other model', async () => {
    const { run, result } = await askThrough([broken(), broken(), overloaded(), overloaded(), 'ok'], config);
    expect(result).toMatchObject({ result: 'ok' });
    expect(modelsOf(run)).toEqual(['opus', 'opus', 'opus', 'opus', 'opus']);
    expect(retriesOf(run)).toEqual([1, 2, 3, 4]);
  });

  it('starts to count anew with the other model, overloads and attempts', async () => {
    const script = [...Array.from({ length: 5 }, overloaded), 'ok'];
    const { run } = await askThrough(script, config);
    expect(modelsOf(run)).toEqual(['opus', 'opus', 'opus', 'sonnet', 'sonnet', 'sonnet']);
    expect(retriesOf(run)).toEqual([1, 2, 1, 2]);
  });

  it('the other model has all its retries', async () => {
    const script = [overloaded(), overloaded(), broken(), broken(), 'ok'];
    const { run, result } = await askThrough(script, { ...config, fallbackModel: 'haiku', maxRetries: 1 });
    expect(modelsOf(run)).toEqual(['opus', 'opus', 'haiku', 'haiku']);
    expect(result).toMatchObject({ is_error: true, error_code: 'model_server' });
  });

  it('lasts for the turn: the next one starts with the model of the session', async () => {
    const script = [overloaded(), overloaded(), overloaded(), 'from sonnet', 'from opus'];
    const { run } = await askThrough(script, config);
    await run.ask('again');
    expect(modelsOf(run).slice(3)).toEqual(['sonnet', 'opus']);
  });
});

describe('G4: waiting for a retry', () => {
  it('a long wait that the API asked for is said at once and kept', async () => {
    const run = await start([failure('model_rate_limited', 429, { retryAfterMs: 3_600_000 }), 'ok']);
    const result = run.ask('go');
    await run.clock.armed();
    expect(run.clock.pending).toEqual([3_600_000]);
    expect(run.messages).toContainEqual(
      expect.objectContaining({ subtype: 'api_retry', retry_delay_ms: 3_600_000, error_status: 429 }),
    );
    run.clock.advance(3_600_000);
    expect(await result).toMatchObject({ result: 'ok' });
  });

  it('G1: an interrupt ends it: no timer is left, no further call is made', async () => {
    const run = await start([broken(), 'never asked for']);
    const result = run.ask('go');
    await run.clock.armed();
    run.session.interrupt();
    expect(await result).toMatchObject({ is_error: false, terminal_reason: 'aborted_streaming' });
    expect(run.clock.pending).toEqual([]);
    expect(run.model.requests).toHaveLength(1);
  });

  it('close() ends it as well', async () => {
    const run = await start([broken(), 'never asked for']);
    void run.ask('go');
    await run.clock.armed();
    await run.session.close();
    expect(run.clock.pending).toEqual([]);
    expect(run.model.requests).toHaveLength(1);
  });

  it('maxRetries: 0 tries once', async () => {
    const { run, result } = await askThrough([broken()], { maxRetries: 0 });
    expect(result).toMatchObject({ is_error: true, error_code: 'model_server', api_error_status: 500 });
    expect(retriesOf(run)).toEqual([]);
  });
});

describe('what an interrupted answer leaves', () => {
  /** Interrupts the first answer once this many deltas have been seen, then asks again. */
  async function interruptAfter(deltas: number, step: Exclude<ScriptStep, string | ((...args: never) => unknown)>) {
    const run = await start([{ ...step, waitFor: never, pauseAfterDeltas: deltas }, 'next'], {
      config: { includePartialMessages: true },
    });
    const first = run.ask('go');
    let seen = 0;
    await run.seen(
      (message) => message.type === 'stream_event' && message.event.type === 'content_block_delta' && ++seen === deltas,
    );
    run.session.interrupt();
    const result = await first;
    await run.ask('again');
    return { run, result, sent: run.model.requests[1]?.body.messages ?? [] };
  }
  const call = { name: 'Bash', input: { command: 'ls' } };

  it('thinking alone is not kept: the API takes no answer that only thinks', async () => {
    const { run, result, sent } = await interruptAfter(3, { thinking: 'hm', toolUse: call });
    expect(outline(run.messages)).toContain('assistant thinking');
    expect(sent.map((message) => message.role)).toEqual(['user']);
    expect(JSON.stringify(sent)).not.toContain('hm');
    expect(result.usage.input_tokens).toBe(100);
    expect(run.session.scope.recorder.log.entries).toContainEqual(
      expect.objectContaining({ kind: 'aborted', messageId: 'msg_1' }),
    );
  });

  it('thinking with the text that follows it is', async () => {
    const { sent } = await interruptAfter(3, { thinking: 'hm', text: 'one two', deltas: 1 });
    expect(sent.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    expect(sent[1]?.content).toMatchObject([{ type: 'thinking' }, { type: 'text', text: 'one two' }]);
  });

  it('a call whose input had not all arrived is not kept, the text before it is', async () => {
    const { run, sent } = await interruptAfter(2, { text: 'Looking.', toolUse: call });
    expect(sent[1]?.content).toMatchObject([{ type: 'text', text: 'Looking.' }]);
    expect(JSON.stringify(sent)).not.toContain('tool_use');
    expect(outline(run.messages).filter((line) => line.includes('(aborted)'))).toEqual([]);
  });

  it('nothing is kept of an answer of which nothing had arrived', async () => {
    const called = Promise.withResolvers<void>();
    const silent = () => {
      called.resolve();
      return { text: 'x', waitFor: never };
    };
    const run = await start([silent, 'next']);
    const first = run.ask('go');
    await called.promise;
    run.session.interrupt();
    expect((await first).usage.input_tokens).toBe(0);
    await run.ask('again');
    expect(run.model.requests.at(-1)?.body.messages.map((message) => message.role)).toEqual(['user']);
  });
});

describe('events of the stream', () => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: 'msg_ping',
    type: 'message' as const,
    role: 'assistant' as const,
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  };
  const events = [
    { type: 'message_start' as const, message },
    { type: 'ping' as const },
    { type: 'content_block_start' as const, index: 0, content_block: { type: 'text' as const, text: '' } },
    { type: 'ping' as const },
    { type: 'content_block_delta' as const, index: 0, delta: { type: 'text_delta' as const, text: 'hi' } },
    { type: 'content_block_stop' as const, index: 0 },
    { type: 'message_delta' as const, delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  ];

  it('pings are not shown', async () => {
    const run = await start([{ events: [...events, { type: 'message_stop' as const }] }], {
      config: { includePartialMessages: true },
    });
    expect(await run.ask('go')).toMatchObject({ result: 'hi' });
    expect(outline(run.messages).filter((line) => line.startsWith('stream'))).toEqual([
      'stream message_start',
      'stream content_block_start',
      'stream content_block_delta',
      'stream content_block_stop',
      'stream message_delta',
      'stream message_stop',
    ]);
  });

  it('partial messages have uuids of their own', async () => {
    const run = await start([{ text: 'abc', deltas: 3 }], { config: { includePartialMessages: true } });
    await run.ask('go');
    const uuids = run.messages.flatMap((one) => (one.type === 'stream_event' ? [one.uuid] : []));
    expect(uuids.length).toBeGreaterThan(5);
    expect(new Set(uuids).size).toBe(uuids.length);
    for (const uuid of uuids) expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('G10: a stream that ends before its end is tried again', async () => {
    const { run, result } = await askThrough([{ events }, 'whole']);
    expect(result).toMatchObject({ result: 'whole' });
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'api_retry', error_code: 'model_stream' }));
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).not.toContain('"hi"');
  });
});
