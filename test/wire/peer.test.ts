import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Channel, HeddleError, Message } from '../../src/protocol/index.js';
import { AbortError, HeddleError as HeddleErrorClass } from '../../src/protocol/plain.js';
import { createMemoryPair, Peer } from '../../src/wire/index.js';
import {
  assistantMessage,
  createManualClock,
  createSink,
  createStreamPair,
  rejectionOf,
  textDelta,
  userMessage,
} from './doubles.js';

function createPeers(pair: [Channel, Channel]) {
  const clock = createManualClock();
  const host = new Peer(pair[0], { side: 'host', clock });
  const engine = new Peer(pair[1], { side: 'engine', clock });
  return { host, engine, clock };
}

const question = { tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 't' };

async function collect(messages: AsyncIterable<Message>): Promise<Message[]> {
  const all: Message[] = [];
  for await (const message of messages) all.push(message);
  return all;
}

const CARRIERS: [string, () => [Channel, Channel]][] = [
  ['memory', createMemoryPair],
  ['streams', createStreamPair],
];

describe.each(CARRIERS)('peer over %s', (_name, createPair) => {
  it('asks and answers in both directions, at the same time', async () => {
    const { host, engine } = createPeers(createPair());
    engine.handle('set_model', ({ model }) => ({ model: `resolved-${model}` }));
    host.handle('can_use_tool', async ({ tool_name, input }) => {
      const { model } = (await host.request('set_model', { model: tool_name })) ?? {};
      return { behavior: 'allow', updatedInput: { ...input, model } };
    });
    const answer = await engine.request('can_use_tool', question);
    expect(answer).toEqual({ behavior: 'allow', updatedInput: { command: 'ls', model: 'resolved-Bash' } });
  });

  it('matches answers to requests that come back in another order (C5)', async () => {
    const { host, engine } = createPeers(createPair());
    const waiting = new Map<string, (model: string) => void>();
    const allHere = Promise.withResolvers<void>();
    engine.handle('set_model', async ({ model }) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.set(String(model), resolve);
      if (waiting.size === 50) allHere.resolve();
      return { model: await promise };
    });
    const requests = Array.from({ length: 50 }, (_, n) => host.request('set_model', { model: String(n) }));
    await allHere.promise;
    for (const [model, resolve] of [...waiting].toReversed()) resolve(`answer ${model}`);
    const answers = await Promise.all(requests);
    expect(answers).toEqual(Array.from({ length: 50 }, (_, n) => ({ model: `answer ${n}` })));
  });

  it('answers without a body when the handler returns nothing', async () => {
    const { host, engine } = createPeers(createPair());
    engine.handle('stop_task', () => undefined);
    expect(await host.request('stop_task', { task_id: 't' })).toBeUndefined();
  });

  it('sends back what a handler throws: its words and its code', async () => {
    const { host, engine } = createPeers(createPair());
    const thrown: Record<string, unknown> = {
      plain: new Error('boom'),
      ours: new HeddleErrorClass('session_locked', 'Someone else writes.'),
      foreign: new HeddleErrorClass('not_supported', 'Bad mode.', { data: { error_code: 'invalid_mode' } }),
      text: 'just text',
    };
    engine.handle('set_model', ({ model }) => {
      throw thrown[String(model)];
    });
    engine.handle('rename_session', async ({ title }) => {
      throw thrown[title];
    });
    const failures: Record<string, unknown> = {};
    for (const name of Object.keys(thrown)) {
      const sync = (await rejectionOf(host.request('set_model', { model: name }))) as HeddleError;
      const later = (await rejectionOf(host.request('rename_session', { title: name }))) as HeddleError;
      expect([later.code, later.message]).toEqual([sync.code, sync.message]);
      failures[name] = [sync.name, sync.code, sync.message, sync.data];
    }
    expect(failures).toEqual({
      plain: ['HeddleError', 'request_failed', 'boom', {}],
      ours: ['HeddleError', 'session_locked', 'Someone else writes.', {}],
      foreign: ['HeddleError', 'request_failed', 'Bad mode.', { error_code: 'invalid_mode' }],
      text: ['HeddleError', 'request_failed', 'just text', {}],
    });
  });

  it('refuses a subtype that nobody handles', async () => {
    const { host } = createPeers(createPair());
    const error = (await rejectionOf(host.request('interrupt', {}))) as HeddleError;
    expect([error.code, error.message]).toEqual([
      'unsupported_request',
      'Unsupported control request subtype: interrupt',
    ]);
  });

  it('tells the other side when the caller aborts, whose answer then changes nothing', async () => {
    const { host, engine } = createPeers(createPair());
    const controller = new AbortController();
    const aborted = Promise.withResolvers<unknown>();
    host.handle('can_use_tool', async (_params, { signal }) => {
      controller.abort('no longer needed');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.resolve(signal.reason);
      return { behavior: 'allow' };
    });
    host.handle('hook_callback', () => ({ continue: true }));
    const error = await rejectionOf(engine.request('can_use_tool', question, { signal: controller.signal }));
    expect(error).toBeInstanceOf(AbortError);
    expect([error.message, error.cause]).toEqual([
      'can_use_tool was aborted before it was answered.',
      'no longer needed',
    ]);
    expect(await aborted.promise).toBeInstanceOf(AbortError);
    const input = { hook_event_name: 'Stop', session_id: 's', transcript_path: '', cwd: '/', stop_hook_active: false };
    expect(await engine.request('hook_callback', { callback_id: 'c', input } as never)).toEqual({ continue: true });
  });

  it('sends nothing when the signal is aborted already', async () => {
    const { host, engine } = createPeers(createPair());
    let calls = 0;
    engine.handle('interrupt', () => {
      calls += 1;
      return {};
    });
    const error = await rejectionOf(host.request('interrupt', {}, { signal: AbortSignal.abort() }));
    expect(error).toBeInstanceOf(AbortError);
    await host.request('interrupt', {});
    expect(calls).toBe(1);
  });

  it('misses no request and no message that came before its handlers', async () => {
    const pair = createPair();
    const clock = createManualClock();
    const host = new Peer(pair[0], { side: 'host', clock });
    const answer = host.request('set_model', { model: 'm' });
    host.send(userMessage('early'));
    await Promise.resolve();
    const engine = new Peer(pair[1], { side: 'engine', clock });
    engine.handle('set_model', ({ model }) => ({ model: String(model) }));
    expect(await answer).toEqual({ model: 'm' });
    expect((await engine.messages.next()).value).toEqual(userMessage('early'));
  });

  it('keeps requests and messages in the order in which they were sent', async () => {
    const pair = createPair();
    const clock = createManualClock();
    const order: string[] = [];
    const host = new Peer(pair[0], { side: 'host', clock });
    const engine = new Peer(pair[1], {
      side: 'engine',
      clock,
      onMessage: (message) => order.push(message.type),
    });
    engine.handle('set_model', () => {
      order.push('set_model');
      return {};
    });
    engine.handle('interrupt', () => {
      order.push('interrupt');
      return {};
    });
    const answers = [host.request('set_model', {})];
    host.send(textDelta('a'));
    host.send(userMessage('b'));
    answers.push(host.request('set_model', {}));
    host.send(textDelta('c'));
    const last = host.request('interrupt', {});
    await Promise.all([...answers, last]);
    expect(order).toEqual(['set_model', 'stream_event', 'user', 'set_model', 'stream_event', 'interrupt']);
  });

  it('ends the messages with the input, and stays open for answers: half-close is not close', async () => {
    const { host, engine } = createPeers(createPair());
    const answerNow = Promise.withResolvers<void>();
    engine.handle('get_session_cost', async () => {
      await answerNow.promise;
      return { text: '$0' };
    });
    const cost = host.request('get_session_cost', {});
    host.send(userMessage('only'));
    host.end();
    expect(await collect(engine.messages)).toEqual([userMessage('only')]);
    await engine.inputEnded;
    expect((await rejectionOf(engine.request('can_use_tool', question))) as HeddleError).toMatchObject({
      code: 'channel_closed',
    });
    answerNow.resolve();
    expect(await cost).toEqual({ text: '$0' });
    engine.send(assistantMessage('still here'));
    engine.end();
    expect(await collect(host.messages)).toEqual([assistantMessage('still here')]);
    expect(await Promise.all([host.closed, engine.closed])).toEqual([undefined, undefined]);
  });

  it('rejects questions that are open when the other side ends its input', async () => {
    const { host, engine } = createPeers(createPair());
    const asked = Promise.withResolvers<void>();
    host.handle('can_use_tool', () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const rejection = rejectionOf(engine.request('can_use_tool', question));
    await asked.promise;
    host.end();
    expect(await rejection).toMatchObject({
      code: 'channel_closed',
      message: 'The channel was closed before can_use_tool was answered.',
    });
    engine.send(userMessage('x'));
    expect((await host.messages.next()).value).toEqual(userMessage('x'));
  });

  it('at close rejects open requests with the reason, aborts handlers and wakes everyone (B1)', async () => {
    const { host, engine } = createPeers(createPair());
    const running = Promise.withResolvers<AbortSignal>();
    engine.handle('get_usage', (_params, { signal }) => {
      running.resolve(signal);
      return new Promise(() => {});
    });
    const rejections = [
      rejectionOf(host.request('get_usage', {})),
      rejectionOf(host.request('get_usage', {})),
      rejectionOf(host.messages.next()),
    ];
    const signal = await running.promise;
    const reason = new HeddleErrorClass('process_failed', 'The engine died.');
    host.close(reason);
    expect(await Promise.all(rejections)).toEqual([reason, reason, reason]);
    expect(await rejectionOf(host.request('interrupt', {}))).toBe(reason);
    expect(await host.closed).toBe(reason);
    const engineReason = await engine.closed;
    expect(signal.aborted).toBe(true);
    await engine.inputEnded;
    expect(engineReason).toBeInstanceOf(HeddleErrorClass);
    host.send(userMessage('into the void'));
    host.end();
    host.close();
  });

  it('knows when every request is answered: none is, all are, time is up, the channel is closed', async () => {
    const { host, engine, clock } = createPeers(createPair());
    await engine.answered(1_000);
    const answers: ((model: string) => void)[] = [];
    const both = Promise.withResolvers<void>();
    engine.handle('set_model', () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      answers.push(resolve);
      if (answers.length === 2) both.resolve();
      return promise.then((model) => ({ model }));
    });
    const requests = ['a', 'b'].map((model) => host.request('set_model', { model }));
    await both.promise;
    const told: string[] = [];
    const late = engine.answered(1_000).then(() => told.push('late'));
    clock.advance(1_000);
    await late;
    const whole = engine.answered(60_000).then(() => told.push('all'));
    answers[0]?.('one');
    await requests[0];
    expect(told).toEqual(['late']);
    answers[1]?.('two');
    await Promise.all([requests[1], whole]);
    const open = rejectionOf(host.request('set_model', { model: 'c' }));
    await expect.poll(() => answers.length).toBe(3);
    const closed = engine.answered(60_000);
    engine.close();
    await Promise.all([closed, open]);
  });

  it('gives a clean close no reason, and pending requests channel_closed', async () => {
    const { host } = createPeers(createPair());
    const rejection = rejectionOf(host.request('get_usage', {}));
    host.close();
    expect(await rejection).toMatchObject({ code: 'channel_closed', data: { subtype: 'get_usage' } });
    expect(await host.closed).toBeUndefined();
    expect(await host.messages.next()).toEqual({ value: undefined, done: true });
  });

  it('swallows keep_alive, and sends it at an interval while open', async () => {
    const pair = createPair();
    const clock = createManualClock();
    const sink = createSink();
    pair[1].receive(sink);
    const host = new Peer(pair[0], { side: 'host', clock });
    host.keepAlive(1000);
    clock.advance(3500);
    host.send(userMessage('x'));
    host.end();
    expect(clock.timers).toBe(0);
    await sink.until('end');
    const types = sink.calls.filter(([kind]) => kind === 'frame').map(([, frame]) => (frame as { type: string }).type);
    expect(types).toEqual(['keep_alive', 'keep_alive', 'keep_alive', 'user']);

    const { host: sender, engine } = createPeers(createPair());
    sender.channel.send({ type: 'keep_alive' });
    sender.send(userMessage('y'));
    expect((await engine.messages.next()).value).toEqual(userMessage('y'));
  });

  it('lists open questions in the answer to a repeated initialize, and a host that does not know them answers', async () => {
    const { host, engine } = createPeers(createPair());
    const asked: string[] = [];
    const answers: ((value: { behavior: 'allow' }) => void)[] = [];
    host.handle('can_use_tool', ({ tool_use_id }) => {
      asked.push(tool_use_id);
      return new Promise((resolve) => answers.push(resolve));
    });
    engine.handle('initialize', () => ({ pid: 1 }));
    const verdict = engine.request('can_use_tool', question);
    expect(await host.request('initialize', {})).toEqual({ pid: 1 });
    expect(await host.request('initialize', {})).toEqual({ pid: 1 });
    expect(asked).toEqual(['t']);
    for (const answer of answers) answer({ behavior: 'allow' });
    expect(await verdict).toEqual({ behavior: 'allow' });
  });

  it('takes back open questions that only an answer mentions', async () => {
    const pair = createPair();
    const clock = createManualClock();
    const sink = createSink((frame) => {
      const { type, request_id: id } = frame as { type: string; request_id: string };
      if (type !== 'control_request') return;
      pair[1].send({
        type: 'control_response',
        response: {
          subtype: 'success',
          request_id: id,
          response: {},
          pending_permission_requests: [
            { type: 'control_request', request_id: 'old', request: { subtype: 'can_use_tool', ...question } },
          ],
        },
      });
    });
    pair[1].receive(sink);
    const host = new Peer(pair[0], { side: 'host', clock });
    const answered = Promise.withResolvers<void>();
    host.handle('can_use_tool', (_params, { requestId }) => {
      answered.resolve();
      return { behavior: 'deny', message: requestId };
    });
    await host.request('initialize', {});
    await answered.promise;
    host.end();
    await sink.until('end');
    expect(sink.calls.filter(([kind]) => kind === 'frame').at(-1)?.[1]).toEqual({
      type: 'control_response',
      response: { subtype: 'success', request_id: 'old', response: { behavior: 'deny', message: 'old' } },
    });
  });
});

describe('peer', () => {
  it('gives way to a slow consumer by what the channel reports', async () => {
    const { host, engine } = createPeers(createMemoryPair());
    await Promise.resolve();
    for (let n = 0; n < 100; n += 1) engine.send(textDelta('x'.repeat(1000)));
    engine.end();
    expect(engine.channel.buffered).toBeGreaterThan(0);
    const drained = engine.channel.drained(0);
    expect(await collect(host.messages)).toHaveLength(100);
    await drained;
    expect(engine.channel.buffered).toBe(0);
  });

  it('has one handler per subtype', () => {
    const { host } = createPeers(createMemoryPair());
    host.handle('can_use_tool', () => ({ behavior: 'allow' }));
    expect(() => host.handle('can_use_tool', () => ({ behavior: 'allow' }))).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
  });

  it('rejects a request whose params cannot cross, and answers an error for a result that cannot', async () => {
    const { host, engine } = createPeers(createMemoryPair());
    engine.handle('get_settings', () => ({ effective: { callback: () => {} } }));
    const params = { settings: { callback: () => {} } };
    expect(await rejectionOf(host.request('apply_flag_settings', params))).toMatchObject({ code: 'invalid_frame' });
    expect(await rejectionOf(host.request('get_settings', {}))).toMatchObject({ code: 'invalid_answer' });
  });

  it('waits for promises of another realm that a handler returns', async () => {
    const { host, engine } = createPeers(createMemoryPair());
    const foreign = runInNewContext('Promise.resolve({ model: "later" })') as Promise<{ model: string }>;
    expect(foreign instanceof Promise).toBe(false);
    engine.handle('set_model', () => foreign);
    expect(await host.request('set_model', {})).toEqual({ model: 'later' });
  });

  it('stops listening to the signal once answered', async () => {
    const { host, engine } = createPeers(createMemoryPair());
    engine.handle('interrupt', () => ({}));
    const controller = new AbortController();
    const sent: unknown[] = [];
    const send = host.channel.send.bind(host.channel);
    host.channel.send = (frame) => {
      sent.push(frame.type);
      send(frame);
    };
    await host.request('interrupt', {}, { signal: controller.signal });
    controller.abort();
    expect(sent).toEqual(['control_request']);
  });

  it('closes with the error when onMessage throws', async () => {
    const clock = createManualClock();
    const [left, right] = createMemoryPair();
    const host = new Peer(left, { side: 'host', clock });
    const engine = new Peer(right, {
      side: 'engine',
      clock,
      onMessage: () => {
        throw new Error('bug');
      },
    });
    host.send(userMessage('x'));
    expect([(await engine.closed)?.message, (await host.closed)?.message]).toEqual(['bug', 'bug']);
  });
});
