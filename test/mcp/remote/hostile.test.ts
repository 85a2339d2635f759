import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpProgress } from '../../../src/engine/mcp/link.js';
import type { RemoteServerConfig } from '../../../src/engine/mcp/remote/connect.js';
import { createFakeClock } from '../../../src/testing/fake-clock.js';
import { until } from '../../workspace/running.js';
import { type Bench, calmly, createBench, failureOf, HOSTILE, node, textOf } from './kit.js';

let bench: Bench;

beforeEach(() => {
  bench = createBench();
});

afterEach(() => bench.close());

const hostile = (mode: string, ...details: string[]): RemoteServerConfig => node(HOSTILE, mode, ...details);
const noted = (pattern: RegExp) => bench.notes.filter(({ level, text }) => level === 'warn' && pattern.test(text));

describe('a server that cannot be connected', () => {
  it('G8: is not there', async () => {
    const error = await failureOf(bench.connect({ command: 'no-such-program' }));
    expect(error).toMatchObject({ code: 'process_failed', data: { server: 'box', phase: 'start' } });
    expect(error.message).toBe(
      'MCP server box failed in start: Could not start no-such-program: it was not found on PATH.',
    );
  });

  it('G8: dies before it speaks', async () => {
    const error = await failureOf(bench.connect(hostile('die-start')));
    expect(error).toMatchObject({ code: 'process_failed', data: { phase: 'initialize', exitCode: 9 } });
    expect(error.message).toBe('MCP server box failed in initialize: its process ended with code 9.');
  });

  it('G8: dies in initialize; its stderr is told, the keys it was given are not', async () => {
    const config = { ...hostile('die-initialize'), env: { API_KEY: 'a-secret-of-ours' } } as RemoteServerConfig;
    const error = await failureOf(bench.connect(config));
    expect(error).toMatchObject({ data: { phase: 'initialize', exitCode: 7, stderr: 'key ***\nboom' } });
    expect(error.message).toBe(
      'MCP server box failed in initialize: its process ended with code 7.\nThe end of its stderr:\nkey ***\nboom',
    );
  });

  it('G8: hangs in initialize', async () => {
    const clock = createFakeClock();
    const thinks = Promise.withResolvers<void>();
    const requests = { log: () => thinks.resolve() };
    const connecting = failureOf(bench.connect(hostile('hang-initialize'), { clock, requests }));
    await thinks.promise;
    clock.advance(29_999);
    clock.advance(1);
    expect(await connecting).toMatchObject({
      retryable: true,
      data: { phase: 'initialize', stderr: 'thinking' },
      message: expect.stringContaining('MCP server box failed in initialize: it did not answer within 30 s.'),
    });
  });

  it('refuses', async () => {
    const error = await failureOf(bench.connect(hostile('refuse-initialize')));
    expect(error).toMatchObject({ code: 'request_failed', data: { phase: 'initialize', rpcCode: -32603 } });
    expect(error.message).toBe('MCP server box failed in initialize: it failed inside (-32603): not today.');
  });

  it('hangs in a list', async () => {
    const clock = createFakeClock();
    const connecting = failureOf(bench.connect(hostile('hang-list'), { clock }));
    // The limit of connecting, and the patience of the list.
    await clock.armed(2);
    clock.advance(30_000);
    expect((await connecting).message).toMatch(/^MCP server box failed in list.*(30 s)/);
  });

  it('dies in a list', async () => {
    expect(await failureOf(bench.connect(hostile('die-list')))).toMatchObject({
      data: { phase: 'list', exitCode: 4 },
      message: 'MCP server box failed in list of tools: its process ended with code 4.',
    });
  });

  it('is given up at once when nobody wants it any more', async () => {
    const stop = new AbortController();
    const connecting = failureOf(bench.connect(hostile('hang-initialize'), { signal: stop.signal }));
    stop.abort();
    expect(await connecting).toMatchObject({ code: 'aborted' });
    expect(await failureOf(bench.connect(hostile('x'), { signal: stop.signal }))).toMatchObject({ code: 'aborted' });
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])('speaks %s', async (version) => {
    const link = await bench.connect(hostile('version', version));
    expect(link.protocolVersion).toBe(version);
    expect(textOf(await link.call('echo', {}, calmly))).toContain('echo');
  });

  it('speaks a version that nobody knows', async () => {
    const error = await failureOf(bench.connect(hostile('version', '1999-01-01')));
    expect(error.message).toMatch(/^MCP server box failed in initialize: .*1999-01-01/);
  });

  it('is told who greets it', async () => {
    const link = await bench.connect(hostile('echo'), { requests: { roots: () => [] } });
    expect(JSON.parse(link.instructions ?? '')).toMatchObject({
      protocolVersion: '2025-11-25',
      clientInfo: { name: 'heddle', version: expect.stringMatching(/^\d/) },
      capabilities: { roots: {} },
    });
  });
});

describe('a server that is connected', () => {
  it('G8: dies in the middle of a call', async () => {
    const link = await bench.connect(hostile('die'));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    expect(await failureOf(link.call('echo', {}, calmly))).toMatchObject({
      code: 'process_failed',
      data: { server: 'box', phase: 'call', exitCode: 3, stderr: 'the reason is here' },
      message:
        'MCP server box failed in call of echo: its process ended with code 3.\nThe end of its stderr:\nthe reason is here',
    });
    expect((await lost).message).toContain('its process ended with code 3');
    expect(await failureOf(link.call('echo', {}, calmly))).toMatchObject({ data: { exitCode: 3 } });
    const again: Error[] = [];
    link.onLost((reason) => again.push(reason));
    expect(again).toHaveLength(1);
  });

  it('prints garbage: it is skipped with a note', async () => {
    const link = await bench.connect(hostile('garbage'));
    expect(textOf(await link.call('echo', { a: 1 }, calmly))).toBe('{"name":"echo","arguments":{"a":1}}');
    expect(noted(/no message/).map(({ data }) => data?.line)).toEqual([
      'Welcome!',
      '{"broken',
      '[]',
      '{"jsonrpc":"1.0"}',
    ]);
  });

  it.each(['flood', 'garbage-flood'])('sends 100 MB (%s): the connection ends', async (mode) => {
    const link = await bench.connect(hostile(mode));
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'frame_too_large', data: { phase: 'call' } });
    expect(error.message).toMatch(/more than 16 MB/);
    expect((await lost).message).toMatch(/more than 16 MB/);
  });

  it('answers another id: that is ignored with a note', async () => {
    const link = await bench.connect(hostile('wrong-id'));
    expect(textOf(await link.call('echo', {}, calmly))).toBe('for you');
    expect(noted(/not made/)).toHaveLength(2);
  });

  it('changes its tools while one runs', async () => {
    const link = await bench.connect(hostile('changing'));
    const before = link.tools;
    const changes: string[] = [];
    const changed = new Promise<void>((resolve) => {
      link.onChange((list) => {
        changes.push(list);
        resolve();
      });
    });
    const call = link.call('echo', {}, calmly);
    await changed;
    expect(before.map(({ name }) => name)).toEqual(['echo', 'hang']);
    expect(link.tools.map(({ name }) => name)).toEqual(['echo', 'new']);
    await link.call('finish', {}, calmly);
    expect(textOf(await call)).toBe('at last');
    expect(changes).toEqual(['tools']);
  });

  it('G8: gives no answer: the call ends, the server is told, and lives on', async () => {
    const clock = createFakeClock();
    const config = { ...hostile('echo'), timeout: 5_000 } as RemoteServerConfig;
    const entries: unknown[] = [];
    const link = await bench.connect(config, { clock, requests: { log: ({ data }) => void entries.push(data) } });
    const call = failureOf(link.call('hang', {}, calmly));
    clock.advance(4_999);
    clock.advance(1);
    expect(await call).toMatchObject({
      data: { phase: 'call', timeoutMs: 5_000 },
      message: expect.stringContaining('failed in call of hang: it gave neither an answer nor progress for 5 s.'),
      hint: expect.stringContaining('timeout'),
    });
    await until(() => entries.length > 0);
    expect(entries).toEqual([expect.objectContaining({ requestId: expect.any(Number) })]);
    expect(textOf(await link.call('echo', {}, calmly))).toContain('echo');
  });

  it('G8: waits a minute by default, or as long as the session says', async () => {
    const clock = createFakeClock();
    const link = await bench.connect(hostile('echo'), { clock });
    const call = failureOf(link.call('hang', {}, calmly));
    clock.advance(60_000);
    expect((await call).message).toContain('for 60 s');
    const other = await bench.connect(hostile('echo'), { clock, callMs: 7_000 });
    const second = failureOf(other.call('hang', {}, calmly));
    clock.advance(7_000);
    expect((await second).message).toContain('for 7 s');
  });

  it('G8: slow progress starts the time anew, but not for ever', async () => {
    const clock = createFakeClock();
    const link = await bench.connect(hostile('echo'), { clock });
    const told: McpProgress[] = [];
    const first = Promise.withResolvers<void>();
    const options = {
      ...calmly,
      onProgress: (progress: McpProgress) => {
        told.push(progress);
        first.resolve();
      },
    };
    const call = link.call('progress', {}, options);
    await first.promise;
    for (let minute = 0; minute < 5; minute += 1) {
      clock.advance(59_000);
      await link.call('step', {}, calmly);
    }
    await link.call('finish', {}, calmly);
    expect(textOf(await call)).toBe('at last');
    expect(told).toHaveLength(6);
    expect(told[0]).toEqual({ progress: 1, total: 3, message: 'begun' });

    const endless = failureOf(link.call('progress', {}, calmly));
    await link.call('step', {}, calmly);
    for (let minute = 0; minute < 62; minute += 1) {
      clock.advance(59_000);
      await link.call('step', {}, calmly);
    }
    expect((await endless).message).toContain('no answer within 3600 s');
  });

  it('is told of a cancelled call', async () => {
    const entries: unknown[] = [];
    const link = await bench.connect(hostile('echo'), { requests: { log: ({ data }) => void entries.push(data) } });
    const stop = new AbortController();
    const call = failureOf(link.call('hang', {}, { toolUseId: 'toolu_1', signal: stop.signal }));
    stop.abort();
    expect(await call).toMatchObject({ code: 'aborted' });
    await until(() => entries.length > 0);
    expect(entries).toEqual([{ requestId: expect.any(Number), reason: 'The call was cancelled.' }]);
    expect(await failureOf(link.call('hang', {}, { toolUseId: 'toolu_2', signal: stop.signal }))).toMatchObject({
      code: 'aborted',
    });
  });

  it.each([
    ['no-content', /it has no content/],
    ['bad-content', /a block of type text has no text/],
    ['no-object', /neither a result nor an error/],
  ])('gives a result that is none (%s)', async (mode, words) => {
    const link = await bench.connect(hostile(mode));
    const error = await failureOf(link.call('echo', {}, calmly));
    expect(error).toMatchObject({ code: 'invalid_answer', data: { server: 'box', phase: 'call' } });
    expect(error.message).toMatch(words);
  });

  it('answers with a JSON-RPC error', async () => {
    const link = await bench.connect(hostile('rpc-error'));
    expect(await failureOf(link.call('echo', {}, calmly))).toMatchObject({
      message: 'MCP server box failed in call of echo: it refused the parameters (-32602): no such thing.',
      data: { rpcCode: -32602 },
    });
  });

  it('wants a page to be visited first', async () => {
    const link = await bench.connect(hostile('visit-first'));
    expect((await failureOf(link.call('echo', {}, calmly))).message).toContain('https://example.com/visit');
  });
});

describe('lists', () => {
  it('has two tools of one name: the first wins', async () => {
    const link = await bench.connect(hostile('duplicates'));
    expect(link.tools.map(({ title }) => title)).toEqual(['first']);
    expect(noted(/have one name/)).toHaveLength(1);
  });

  it('has hostile names, schemas and descriptions', async () => {
    const link = await bench.connect(hostile('names'));
    expect(link.tools.map(({ name }) => name)).toEqual(['a b/c', 'noSchema', 'hidden']);
    expect(link.tools[1]?.inputSchema).toEqual({ type: 'object' });
    const description = link.tools[2]?.description ?? '';
    expect(description.slice(0, 9)).toBe('seen[2Jzz');
    expect(description.length).toBeLessThanOrEqual(32_768);
    expect(noted(/left out/)).toHaveLength(5);
  });

  it('come in pages', async () => {
    const link = await bench.connect(hostile('pages'));
    expect(link.tools.map(({ name }) => name)).toEqual(['t0', 't1', 't2', 't3', 't4']);
  });

  it('without end are cut', async () => {
    const link = await bench.connect(hostile('endless'));
    expect(link.tools).toHaveLength(10_000);
    expect(noted(/more than 10,000 tools/)).toHaveLength(1);
  });

  it('of prompts that never come do not hold the tools up', async () => {
    const clock = createFakeClock();
    const connecting = bench.connect(hostile('late-prompts'), { clock });
    await until(() => clock.pending.includes(5_000));
    clock.advance(5_000);
    const link = await connecting;
    expect(link.tools).toHaveLength(2);
    expect(link.prompts).toEqual([]);
  });
});

describe('what a server asks', () => {
  const ask = (method: string, params: unknown): RemoteServerConfig =>
    ({ ...hostile('ask', method), env: { ASK_PARAMS: JSON.stringify(params) } }) as RemoteServerConfig;
  const answerTo = async (config: RemoteServerConfig, parts: Parameters<Bench['connect']>[1] = {}) => {
    const link = await bench.connect(config, parts);
    return JSON.parse(textOf(await link.call('echo', {}, calmly))) as Record<string, unknown>;
  };
  const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

  it('ping is answered', async () => {
    expect(await answerTo(ask('ping', {}))).toEqual({});
  });

  it.each(['elicitation/create', 'sampling/createMessage', 'roots/list', 'no/such'])(
    '-32601 where nobody can do it: %s',
    async (method) => {
      expect(await answerTo(ask(method, form))).toMatchObject({ code: -32601 });
    },
  );

  it('-32602 for what makes no sense', async () => {
    const requests = {
      elicit: async () => ({ action: 'decline' as const }),
      sample: async () => ({}),
    };
    expect(await answerTo(ask('elicitation/create', { message: 7 }), { requests })).toMatchObject({ code: -32602 });
    expect(await answerTo(ask('sampling/createMessage', {}), { requests })).toMatchObject({ code: -32602 });
    const url = { mode: 'url', message: 'Open', url: 'file:///etc/passwd', elicitationId: 'e1' };
    expect(await answerTo(ask('elicitation/create', url), { requests })).toMatchObject({ code: -32602 });
  });

  it('-32603 where it fails, without what the error knows', async () => {
    const requests = {
      elicit: async () => {
        throw Object.assign(new Error('it broke'), { data: { secret: 1 }, code: 'internal' });
      },
    };
    expect(await answerTo(ask('elicitation/create', form), { requests })).toEqual({
      code: -32603,
      message: 'it broke',
    });
  });

  it('-32603 for too many at once', async () => {
    const open: (() => void)[] = [];
    const elicit = () => new Promise<{ action: 'cancel' }>((resolve) => open.push(() => resolve({ action: 'cancel' })));
    expect(await answerTo(hostile('ask-many'), { requests: { elicit } })).toMatchObject({ code: -32603 });
    expect(open).toHaveLength(16);
    for (const resolve of open) resolve();
  });

  it('forms and pages reach the session', async () => {
    const asked: unknown[] = [];
    const requests = {
      elicit: async (request: unknown) => {
        asked.push(request);
        return { action: 'accept' as const, content: { name: 'Ada' } };
      },
    };
    expect(await answerTo(ask('elicitation/create', form), { requests })).toEqual({
      action: 'accept',
      content: { name: 'Ada' },
    });
    const url = { mode: 'url', message: 'Open', url: 'https://example.com/x', elicitationId: 'e1' };
    await answerTo(ask('elicitation/create', url), { requests });
    expect(asked).toEqual([
      { message: 'Who?', mode: 'form', schema: form.requestedSchema },
      { message: 'Open', mode: 'url', url: 'https://example.com/x', id: 'e1' },
    ]);
  });

  it('G8: a person who thinks does not cost the call its time', async () => {
    const clock = createFakeClock();
    const answer = Promise.withResolvers<{ action: 'decline' }>();
    const wasAsked = Promise.withResolvers<void>();
    const elicit = () => {
      wasAsked.resolve();
      return answer.promise;
    };
    const link = await bench.connect(ask('elicitation/create', form), { clock, requests: { elicit } });
    const call = link.call('echo', {}, calmly);
    await wasAsked.promise;
    for (let minute = 0; minute < 10; minute += 1) clock.advance(60_000);
    answer.resolve({ action: 'decline' });
    expect(textOf(await call)).toBe('{"action":"decline"}');
  });
});
