import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Post } from '../../src/engine/hooks/run.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { until } from '../workspace/running.js';
import {
  bashCall,
  callbacksOf,
  command,
  createDoor,
  createHookBench,
  type HookBench,
  quiet,
  settingsOf,
} from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

describe('callbacks', () => {
  it('get the input and the id of the call, and answer', async () => {
    const asked: unknown[] = [];
    const hooks = bench.create({
      callbacks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['hook_7'], timeout: 10 }] },
      askCallback: async (...given) => {
        asked.push(given.slice(0, 3));
        return {
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            permissionDecision: 'allow',
            updatedInput: { command: 'echo HOOKED' },
          },
        };
      },
    });
    const verdict = await hooks.fire('PreToolUse', bashCall('echo orig'), { signal: quiet, toolUseId: 'toolu_1' });
    expect(verdict).toMatchObject({ decision: 'allow', updatedInput: { command: 'echo HOOKED' } });
    expect(asked).toEqual([
      [
        'hook_7',
        expect.objectContaining({ hook_event_name: 'PreToolUse', tool_input: { command: 'echo orig' } }),
        'toolu_1',
      ],
    ]);
    expect(await hooks.fire('PreToolUse', { ...bashCall(''), tool_name: 'Read' }, { signal: quiet })).toMatchObject({
      ran: 0,
    });
  });

  it('get a fresh id where there is no call', async () => {
    const ids: string[] = [];
    const hooks = bench.create({
      callbacks: { Stop: [{ hookCallbackIds: ['a'] }] },
      askCallback: async (_id, _input, toolUseId) => void ids.push(toolUseId),
    });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    await hooks.fire('Stop', { stop_hook_active: true }, { signal: quiet });
    expect(new Set(ids).size).toBe(2);
  });

  it('each have their own copy of the input, and cannot change what was given', async () => {
    const seen: unknown[] = [];
    const change = (input: Record<string, unknown>) => {
      seen.push(structuredClone(input.tool_input));
      (input.tool_input as Record<string, unknown>).command = 'rm -r .';
    };
    const fields = bashCall('ls');
    await bench.create(callbacksOf('PreToolUse', [change, change])).fire('PreToolUse', fields, { signal: quiet });
    expect(seen).toEqual([{ command: 'ls' }, { command: 'ls' }]);
    expect(fields).toEqual(bashCall('ls'));
  });

  it('cannot change their answer once it is given', async () => {
    const updatedInput = { command: 'ls' };
    const hooks = bench.create(
      callbacksOf('PreToolUse', [
        () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput, permissionDecision: 'allow' } }),
      ]),
    );
    const verdict = await hooks.fire('PreToolUse', bashCall('x'), { signal: quiet });
    updatedInput.command = 'rm -r .';
    expect(verdict.updatedInput).toEqual({ command: 'ls' });
  });

  it('run at once, and one that never answers is told to stop at its time', async () => {
    const clock = createFakeClock();
    const aborted = createDoor();
    const deaf = (_: unknown, signal: AbortSignal) => {
      signal.addEventListener('abort', aborted.open);
      return new Promise(() => {});
    };
    const hooks = bench.create({
      ...callbacksOf('PreToolUse', [deaf, () => ({ decision: 'approve' })], { timeout: 1 }),
      clock,
    });
    const firing = hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
    await clock.armed(2);
    await until(() => clock.pending.length === 1);
    clock.advance(1_000);
    expect(await firing).toMatchObject({ decision: 'ask', ran: 2, failures: [{ kind: 'timeout' }] });
    await aborted.opened;
  });

  it('of several hosts are asked through their own host, until it is detached', async () => {
    const answers: string[] = [];
    const hooks = bench.create();
    const host = (name: string) =>
      hooks.attach({
        callbacks: { Stop: [{ hookCallbackIds: ['hook_0'] }] },
        askCallback: async () => void answers.push(name),
      });
    const detach = host('one');
    host('two');
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    detach();
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(answers).toEqual(['one', 'two', 'two']);
  });

  it('that go on by themselves say nothing', async () => {
    const hooks = bench.create(callbacksOf('PreToolUse', [() => ({ async: true, asyncTimeout: 5 })]));
    expect(await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).toMatchObject({
      ran: 1,
      failures: [],
    });
  });

  it('show their messages to the person', async () => {
    const hooks = bench.create(callbacksOf('PreToolUse', [() => ({ systemMessage: 'careful' })]));
    await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
    expect(bench.messages).toEqual([
      {
        type: 'system',
        subtype: 'informational',
        level: 'notice',
        content: 'PreToolUse:Bash says: careful',
        uuid: expect.any(String) as string,
        session_id: 's1',
      },
    ]);
  });
});

describe('prompts', () => {
  const fire = (answer: string | Error, prompt = 'Is this safe? $ARGUMENTS', rest: Record<string, unknown> = {}) => {
    const asked: { prompt: string; model?: string }[] = [];
    const hooks = bench.create({
      settings: settingsOf('PreToolUse', [{ type: 'prompt', prompt, ...rest }]),
      callModel: async (text, { model }) => {
        asked.push({ prompt: text, ...(model !== undefined && { model }) });
        if (answer instanceof Error) throw answer;
        return answer;
      },
    });
    return { asked, verdict: hooks.fire('PreToolUse', bashCall("echo '$&'"), { signal: quiet }) };
  };

  it('an ok leaves the call to the rules', async () => {
    expect((await fire('{"ok": true}').verdict).decision).toBeUndefined();
  });

  it('no ok denies with the reason', async () => {
    const verdict = await fire('```json\n{"ok": false, "reason": "deletes things"}\n```').verdict;
    expect(verdict).toMatchObject({ decision: 'deny', by: { reason: 'deletes things', byExit: false } });
  });

  it('the input stands for $ARGUMENTS, as it is', async () => {
    const { asked, verdict } = fire('{"ok": true}', 'Judge $ARGUMENTS now', { model: 'small' });
    await verdict;
    expect(asked[0]?.model).toBe('small');
    expect(asked[0]?.prompt).toMatch(/^Judge \{"session_id".*"command":"echo '\$&'".* now\n\nAnswer with JSON/s);
  });

  it('the input follows a prompt that does not name it', async () => {
    const { asked, verdict } = fire('{"ok": true}', 'Judge');
    await verdict;
    expect(asked[0]?.prompt).toMatch(/^Judge\n\n\{"session_id"/);
  });

  it.each(['I think so', '{"ok": "yes"}', '[]', new Error('no key')])('%s is no answer', async (answer) => {
    expect(await fire(answer).verdict).toMatchObject({ decision: 'ask', failures: [{ kind: 'model' }] });
  });
});

describe('addresses', () => {
  let server: Server;
  let url: string;
  let respond: (request: IncomingMessage, response: ServerResponse, body: string) => void;
  beforeEach(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => respond(request, response, body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  });
  afterEach(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const post: Post = async (to, body, headers, { signal }) => {
    const response = await fetch(to, { method: 'POST', body, headers, signal });
    return { status: response.status, body: await response.text() };
  };
  const fire = (rest: Record<string, unknown> = {}, options: { signal?: AbortSignal } = {}) =>
    bench
      .create({
        settings: settingsOf('PreToolUse', [{ type: 'http', url, ...rest }]),
        post,
        env: { TOKEN: 't0', OTHER: 'x' },
      })
      .fire('PreToolUse', bashCall('ls'), { signal: quiet, ...options });

  it('get the input as JSON and answer as callbacks do', async () => {
    let got: unknown;
    respond = (request, response, body) => {
      got = [request.method, request.headers['content-type'], JSON.parse(body)];
      response.end(JSON.stringify({ decision: 'block', reason: 'by the server' }));
    };
    expect(await fire()).toMatchObject({ decision: 'deny', by: { reason: 'by the server', source: url } });
    expect(got).toEqual([
      'POST',
      'application/json',
      expect.objectContaining({ hook_event_name: 'PreToolUse', ...bashCall('ls') }),
    ]);
  });

  it('are named without what may be secret in them', async () => {
    respond = (_request, response) => response.end('{"decision":"block"}');
    const verdict = await fire({ url: `${url}?key=secret` });
    expect(verdict.by?.source).toBe(url);
    expect(JSON.stringify(bench.messages)).not.toContain('secret');
  });

  it('headers know the variables they may, and no others', async () => {
    let headers: IncomingMessage['headers'] = {};
    respond = (request, response) => {
      headers = request.headers;
      response.end();
    };
    const verdict = await fire({
      headers: { Authorization: 'Bearer ${TOKEN}', 'X-Other': '[$OTHER]' },
      allowedEnvVars: ['TOKEN'],
    });
    expect(verdict).toMatchObject({ failures: [], ran: 1 });
    expect(headers).toMatchObject({ authorization: 'Bearer t0', 'x-other': '[]' });
  });

  it.each([
    ['an error status', 500, '{}', 'http'],
    ['a redirect nobody followed', 302, '', 'http'],
    ['a page instead of JSON', 200, '<html>log in</html>', 'http'],
    ['broken JSON', 200, '{"decision":', 'invalid'],
    ['a wrong shape', 200, '{"decision":"maybe"}', 'invalid'],
    ['far too much', 200, `{"x":"${'y'.repeat(1_100_000)}"}`, 'invalid'],
  ])('%s is a failure', async (_, status, body, kind) => {
    respond = (_request, response) => {
      response.statusCode = status;
      response.end(body);
    };
    expect(await fire()).toMatchObject({ decision: 'ask', failures: [{ kind }] });
  });

  it('a header that cannot be sent is a failure that keeps its secret', async () => {
    const verdict = await fire({ headers: { Authorization: 'Bearer s3cr3t\nvalue' } });
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ kind: 'http' }] });
    expect(JSON.stringify([verdict, bench.messages])).not.toContain('s3cr3t');
  });

  it('one that is not there is a failure', async () => {
    await new Promise((resolve) => server.close(resolve));
    expect(await fire()).toMatchObject({ decision: 'ask', failures: [{ kind: 'http' }] });
  });

  it('one that never answers is given up by the signal', async () => {
    const abort = new AbortController();
    respond = () => abort.abort();
    expect(await fire({}, { signal: abort.signal })).toMatchObject({ cancelled: true, failures: [] });
  });
});

describe('hooks that cannot be used', () => {
  it.each([
    { type: 'agent', prompt: 'look' },
    { type: 'mcp_tool' },
    { type: 'telepathy' },
    { type: 'command' },
    { type: 'prompt', prompt: ' ' },
    { type: 'http', url: 'nowhere' },
    { type: 'http', url: 'http://user:password@127.0.0.1/' },
  ])('%j keeps a gate shut, and does nothing elsewhere', async (hook) => {
    const hooks = bench.create({
      settings: [...settingsOf('PreToolUse', [hook]), ...settingsOf('PostToolUse', [hook])],
      includeHookEvents: true,
    });
    expect(await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).toMatchObject({
      decision: 'ask',
      failures: [{ kind: 'unsupported' }],
    });
    const after = await hooks.fire('PostToolUse', { ...bashCall('ls'), tool_response: '' }, { signal: quiet });
    expect(after.block).toBeUndefined();
    expect(bench.messages).toEqual([]);
  });
});

describe('what is declared', () => {
  it('by callbacks that cannot be meant is told, each thing once (D3)', () => {
    const hooks = bench.create({
      callbacks: {
        Sometimes: [{ hookCallbackIds: ['a'] }],
        PreToolUse: [{ hookCallbackIds: ['b'], matcher: '(a', timeout: -1, onFailure: 'maybe' }],
      },
      askCallback: async () => ({}),
    });
    hooks.tellProblems();
    hooks.tellProblems();
    expect(bench.said()).toEqual([
      'error: Hooks of Sometimes: There is no hook event Sometimes.',
      expect.stringContaining('error: Hooks of PreToolUse: The matcher "(a" cannot be used'),
      'error: Hooks of PreToolUse: A timeout of -1 s cannot be kept; 60 s are used.',
      'error: Hooks of PreToolUse: `onFailure` must be allow, ask or deny, not "maybe"; ask is used.',
    ]);
    expect([hooks.has('PreToolUse'), hooks.has('SessionEnd')]).toEqual([true, false]);
  });

  it('can be replaced while the session runs', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('exit 2')]) });
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBe('deny');
    hooks.replaceSettings([]);
    expect(hooks.has('PreToolUse')).toBe(false);
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).ran).toBe(0);
  });
});
