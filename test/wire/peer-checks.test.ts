import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Frame, HeddleError, Message } from '../../src/protocol/index.js';
import { createMemoryPair, createStdioChannel, encodeLine, Peer, type Side } from '../../src/wire/index.js';
import { assistantMessage, createManualClock, createSink, rejectionOf, textDelta, userMessage } from './doubles.js';

/** A Peer on one end, and on the other a hand that writes what it likes. */
function createRawSide<S extends Side>(side: S) {
  const input = new PassThrough();
  const output = new PassThrough();
  const invalid: { frame: unknown; error: HeddleError }[] = [];
  const logged: unknown[][] = [];
  const peer = new Peer(createStdioChannel({ input, output }), {
    side,
    clock: createManualClock(),
    logger: (...line) => logged.push(line),
    onInvalid: (frame, error) => invalid.push({ frame, error }),
  });
  const sink = createSink();
  const raw = createStdioChannel({ input: output, output: new PassThrough() });
  raw.receive(sink);
  const write = (...frames: unknown[]): void => {
    input.write(
      frames.map((frame) => (typeof frame === 'string' ? `${frame}\n` : encodeLine(frame as object))).join(''),
    );
  };
  const answers = (): unknown[] => sink.calls.filter(([kind]) => kind === 'frame').map(([, frame]) => frame);
  return { peer, input, write, invalid, logged, sink, answers };
}

const request = (id: unknown, body: unknown) => ({ type: 'control_request', request_id: id, request: body });

describe('peer on an untrusted channel', () => {
  it('keeps the order of frames across the loading of the schemas', async () => {
    const { peer, input, write } = createRawSide('engine');
    const sent: Frame[] = [];
    write(textDelta('before'), { type: 'keep_alive' });
    for (let n = 0; n < 20; n += 1) sent.push(n % 2 === 0 ? userMessage(String(n)) : textDelta(String(n)));
    write(...sent);
    input.end();
    const seen: Message[] = [];
    for await (const message of peer.messages) seen.push(message);
    expect(seen).toEqual([textDelta('before'), ...sent]);
  });

  it('hands invalid messages to onInvalid with the path of the field, and stays usable (G10)', async () => {
    for (const side of ['host', 'engine'] as const) {
      const { peer, write, invalid, input } = createRawSide(side);
      const bad = { type: 'user', message: { role: 'user', content: 7 }, parent_tool_use_id: null, session_id: 's' };
      write(bad, '42', 'null', '[1]', '{"no":"type"}', '{"type":7}', userMessage('good'));
      input.end();
      const seen: Message[] = [];
      for await (const message of peer.messages) seen.push(message);
      expect(seen).toEqual([userMessage('good')]);
      expect(invalid.map(({ frame }) => frame)).toEqual([bad, 42, null, [1], { no: 'type' }, { type: 7 }]);
      expect(new Set(invalid.map(({ error }) => error.code))).toEqual(new Set(['invalid_frame']));
      expect(invalid[0]?.error.data.path).toContain('message.content');
    }
  });

  it('logs invalid frames when nobody else takes them', async () => {
    const input = new PassThrough();
    const logged: string[] = [];
    const peer = new Peer(createStdioChannel({ input, output: new PassThrough() }), {
      side: 'engine',
      clock: createManualClock(),
      logger: (level, text) => logged.push(`${level}: ${text}`),
    });
    input.end('{"type":"user"}\n');
    expect(await peer.messages.next()).toEqual({ value: undefined, done: true });
    expect(logged).toEqual([expect.stringMatching(/^warn: A frame was dropped\. user: message: /)]);
  });

  it('lets unknown kinds of frames and unknown fields pass', async () => {
    const { peer, write } = createRawSide('host');
    const frames = [
      { type: 'from_the_future', a: 1 },
      { type: 'system', subtype: 'also_new', session_id: 's' },
      { ...assistantMessage('x'), new_field: { deep: true } },
    ];
    write(...frames);
    for (const frame of frames) expect((await peer.messages.next()).value).toEqual(frame);
  });

  it('checks nothing of a stream_event beyond its type', async () => {
    const { peer, write, invalid } = createRawSide('host');
    write(userMessage('schemas are loaded now'), { type: 'stream_event', event: 'odd' });
    await peer.messages.next();
    expect((await peer.messages.next()).value).toEqual({ type: 'stream_event', event: 'odd' });
    expect(invalid).toEqual([]);
  });

  it('answers invalid params with the path, and does not call the handler', async () => {
    const { peer, write, sink, answers, input } = createRawSide('engine');
    let calls = 0;
    peer.handle('set_permission_mode', () => {
      calls += 1;
      return {};
    });
    write(request('a', { subtype: 'set_permission_mode', mode: 5 }));
    write(request('b', { subtype: 'set_permission_mode', mode: 'plan' }));
    write(request('c', { mode: 'plan' }), request('d', 'text'), request('e', { subtype: 'no_such_subtype' }));
    input.end();
    await peer.inputEnded;
    peer.end();
    await sink.until('end');
    expect(calls).toBe(1);
    expect(answers()).toEqual([
      {
        type: 'control_response',
        response: {
          subtype: 'error',
          request_id: 'a',
          error: expect.stringMatching(/^set_permission_mode: mode: /),
          error_code: 'invalid_frame',
        },
      },
      { type: 'control_response', response: { subtype: 'success', request_id: 'b', response: {} } },
      ...['c', 'd'].map((id) => ({
        type: 'control_response',
        response: {
          subtype: 'error',
          request_id: id,
          error: 'control_request: request.subtype: Invalid input: expected string',
          error_code: 'invalid_frame',
        },
      })),
      {
        type: 'control_response',
        response: {
          subtype: 'error',
          request_id: 'e',
          error: 'Unsupported control request subtype: no_such_subtype',
          error_code: 'unsupported_request',
        },
      },
    ]);
  });

  it('reports control frames that cannot be answered, and lives on', async () => {
    const { peer, write, invalid, logged } = createRawSide('engine');
    write(
      request(undefined, { subtype: 'interrupt' }),
      { type: 'control_response' },
      { type: 'control_response', response: { subtype: 'success' } },
      { type: 'control_response', response: { subtype: 'maybe', request_id: 'x' } },
      { type: 'control_response', response: { subtype: 'error', request_id: 'x' } },
      { type: 'control_cancel_request' },
      { type: 'control_cancel_request', request_id: 'nobody' },
      { type: 'control_response', response: { subtype: 'success', request_id: 'nobody' } },
      userMessage('alive'),
    );
    expect((await peer.messages.next()).value).toEqual(userMessage('alive'));
    expect(invalid.map(({ error }) => error.data.path)).toEqual([
      'request_id',
      'response',
      'response.request_id',
      'response.subtype',
      'response.error',
      'request_id',
    ]);
    expect(logged).toEqual([['debug', 'An answer came to a request that is not open.', { request_id: 'nobody' }]]);
  });

  it('rejects an answer of the wrong shape with invalid_answer and the path (C2)', async () => {
    const { peer, write, sink } = createRawSide('engine');
    const params = { tool_name: 'Bash', input: {}, tool_use_id: 't' };
    const rejection = rejectionOf(peer.request('can_use_tool', params));
    const { request_id: id } = (await sink.until('frame')) as { request_id: string };
    write({
      type: 'control_response',
      response: { subtype: 'success', request_id: id, response: { behavior: 'allow', updatedInput: 'text' } },
    });
    expect(await rejection).toMatchObject({ code: 'invalid_answer', data: { path: 'updatedInput' } });
  });

  it('aborts the handler when the other side cancels, and still answers', async () => {
    const { peer, write, sink, answers } = createRawSide('host');
    peer.handle('can_use_tool', async (_params, { signal, requestId }) => {
      write({ type: 'control_cancel_request', request_id: requestId });
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return { behavior: 'deny', message: 'too late' };
    });
    write(request('r', { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, tool_use_id: 't' }));
    await sink.until('frame');
    expect(answers()).toEqual([
      {
        type: 'control_response',
        response: { subtype: 'success', request_id: 'r', response: { behavior: 'deny', message: 'too late' } },
      },
    ]);
  });

  it('runs a request once when its id comes twice', async () => {
    const { peer, write, sink, answers, input } = createRawSide('host');
    const { promise, resolve } = Promise.withResolvers<void>();
    let calls = 0;
    peer.handle('can_use_tool', async () => {
      calls += 1;
      await promise;
      return { behavior: 'allow' };
    });
    const ask = request('r', { subtype: 'can_use_tool', tool_name: 'Bash', input: {}, tool_use_id: 't' });
    write(ask, ask);
    input.end();
    await peer.inputEnded;
    resolve();
    await sink.until('frame');
    expect([calls, answers().length]).toEqual([1, 1]);
  });

  it('closes with the error when the stream can no longer be trusted, after what came before', async () => {
    const { peer, write } = createRawSide('host');
    const pending = rejectionOf(peer.request('interrupt', {}));
    write(userMessage('last'), 'not json');
    expect((await peer.messages.next()).value).toEqual(userMessage('last'));
    const error = await rejectionOf(peer.messages.next());
    expect(error).toMatchObject({ code: 'invalid_frame' });
    expect([await peer.closed, await pending]).toEqual([error, error]);
  });

  it('closes with the error when onInvalid throws', async () => {
    const input = new PassThrough();
    const peer = new Peer(createStdioChannel({ input, output: new PassThrough() }), {
      side: 'host',
      clock: createManualClock(),
      onInvalid: (_frame, error) => {
        throw error;
      },
    });
    input.write('{"type":"user"}\n');
    expect(await peer.closed).toMatchObject({ code: 'invalid_frame' });
  });
});

describe('peer on a trusted channel', () => {
  it('passes messages on unread', async () => {
    const [left, right] = createMemoryPair();
    const host = new Peer(left, { side: 'host', clock: createManualClock() });
    const odd = { type: 'user', message: 7 } as unknown as Message;
    right.send(odd);
    expect((await host.messages.next()).value).toEqual(odd);
  });
});
