import { describe, expect, it } from 'vitest';
import { HeddleError } from '../../../src/protocol/plain.js';
import { start } from '../../engine/kit.js';
import { type Bench, connected, createBench, fakeLink, hangs, named, remote, statusOf, toCall } from './kit.js';

describe('connecting', () => {
  it('A3: 13 servers that hang are pending, and the first model call is made without them', async () => {
    const run = await start(['hello', 'again']);
    const exchange = () => new Promise<never>(() => {});
    const hanging = new Map(Array.from({ length: 13 }, (_, at) => [`slow${at}`, { exchange }]));
    void run.session.scope.mcp.set(hanging);
    const result = await run.ask('hi');
    expect(result).toMatchObject({ subtype: 'success', result: 'hello' });
    const init = run.messages.find((message) => message.type === 'system' && message.subtype === 'init');
    expect(init).toMatchObject({ mcp_servers: Array.from({ length: 13 }, () => ({ status: 'pending' })) });
    expect(run.clock.monotonic()).toBe(0);
    await run.session.scope.mcp.close();
  });

  it('one whose link keeps no time has failed after 32 s, its attempt is aborted, and a late link is closed', async () => {
    const late = Promise.withResolvers<ReturnType<typeof fakeLink>>();
    const bench = createBench({ s: () => late.promise, ok: {} });
    const outcome = bench.servers.set(
      new Map([
        ['s', remote()],
        ['ok', remote()],
      ]),
    );
    await bench.until(() => statusOf(bench, 'ok')?.status === 'connected');
    expect(statusOf(bench)).toMatchObject({ status: 'pending' });
    bench.clock.advance(31_999);
    expect(statusOf(bench)).toMatchObject({ status: 'pending' });
    bench.clock.advance(1);
    expect(await outcome).toMatchObject({ added: ['s', 'ok'], errors: { s: expect.stringContaining('within 32 s') } });
    expect(statusOf(bench)).toMatchObject({ status: 'failed', error: expect.stringContaining('MCP server s') });
    expect(bench.signals[0]?.aborted).toBe(true);
    const closed = Promise.withResolvers<void>();
    late.resolve(fakeLink({ close: async () => closed.resolve() }));
    await closed.promise;
    expect(statusOf(bench)?.status).toBe('failed');
  });

  it('a server of the host that does not answer in 30 s has failed', async () => {
    const bench = createBench({});
    const outcome = bench.servers.set(new Map([['app', { exchange: () => new Promise<never>(() => {}) }]]));
    await bench.clock.armed();
    bench.clock.advance(30_000);
    expect(await outcome).toMatchObject({ errors: { app: expect.stringContaining('within 30 s') } });
  });

  it('G8: the status says why, with phase and stderr as the link tells them; one that never was there is not retried', async () => {
    const error = new HeddleError(
      'process_failed',
      'MCP server s failed in start: no such file.\nThe end of its stderr:\nbang',
      {
        data: { server: 's', phase: 'start' },
      },
    );
    const bench = await connected({ s: () => Promise.reject(error) });
    expect(statusOf(bench)).toMatchObject({
      status: 'failed',
      error: error.message,
      scope: 'dynamic',
      transport: 'stdio',
    });
    expect(bench.clock.pending).toEqual([]);
  });

  it('one that wants a sign-in needs auth', async () => {
    const error = new HeddleError('request_failed', 'MCP server s failed in initialize: 401', {
      data: { needsAuth: true },
    });
    const bench = await connected({ s: () => Promise.reject(error) });
    expect(statusOf(bench)).toMatchObject({ status: 'needs-auth', error: error.message });
    const later = await connected({ s: {} });
    later.links[0]?.lose('the token is over', { needsAuth: true });
    expect(statusOf(later)).toMatchObject({ status: 'needs-auth', error: 'the token is over' });
    expect(later.clock.pending).toEqual([]);
  });

  it('20 servers connect side by side', async () => {
    const gate = Promise.withResolvers<void>();
    const names = Array.from({ length: 20 }, (_, at) => `s${at}`);
    const behaviours = Object.fromEntries(names.map((name) => [name, () => gate.promise.then(() => fakeLink())]));
    const bench = createBench(behaviours);
    const outcome = bench.servers.set(new Map(names.map((name) => [name, remote()])));
    await bench.clock.armed(20);
    await Promise.resolve();
    gate.resolve();
    expect(await outcome).toMatchObject({ added: names, errors: {} });
    expect(bench.servers.tools).toHaveLength(20);
  });

  it('secrets of its config are not shown', async () => {
    const bench = createBench({});
    await bench.servers.set(
      new Map([
        [
          'h',
          remote({
            config: { type: 'http', url: 'https://u:pw@x.org/?key=abc', headers: { Authorization: 'Bearer z' } },
          }),
        ],
        [
          'p',
          remote({
            config: { command: 'x', args: ['-y'], env: { API_KEY: 'zzz' } },
            scope: 'user',
            source: 'settings.json',
          }),
        ],
      ]),
    );
    const shown = JSON.stringify(bench.servers.status);
    expect(shown).not.toMatch(/pw|abc|Bearer|zzz/);
    expect(statusOf(bench, 'p')).toMatchObject({
      config: { env: { API_KEY: '***' } },
      scope: 'user',
      source: 'settings.json',
    });
  });
});

describe('a lost connection', () => {
  const lastLink = (bench: Bench) => bench.links.at(-1) ?? fakeLink();

  it('is made again after 1, 2, 4, 8 and 16 s, then given up', async () => {
    const bench = await connected({ s: {} });
    for (const pause of [1, 2, 4, 8, 16]) {
      lastLink(bench).lose('MCP server s failed in call: it went away.');
      expect(statusOf(bench)).toMatchObject({ status: 'pending', error: expect.stringContaining(`${pause} s later`) });
      expect(bench.clock.pending).toEqual([pause * 1000]);
      bench.clock.advance(pause * 1000);
      await bench.until(() => statusOf(bench)?.status === 'connected');
      expect(statusOf(bench)).not.toHaveProperty('error');
    }
    lastLink(bench).lose('gone.');
    expect(statusOf(bench)).toMatchObject({ status: 'failed', error: 'gone. It was tried again 5 times.' });
    expect(bench.clock.pending).toEqual([]);
    expect(bench.attempts).toHaveLength(6);
  });

  it('attempts that fail count, too', async () => {
    const link = fakeLink();
    const bench = await connected({
      s: (_, attempt) => (attempt === 1 ? Promise.resolve(link) : Promise.reject(new Error('refused.'))),
    });
    link.lose('gone.');
    for (let retry = 1; retry <= 5; retry += 1) {
      bench.clock.advance(1_000 * 2 ** (retry - 1));
      const next = retry === 5 ? '5 times' : `(${retry + 1} of 5)`;
      await bench.until(() => statusOf(bench)?.error?.includes(next) === true);
    }
    expect(statusOf(bench)?.status).toBe('failed');
    expect(statusOf(bench)?.error).toBe('refused. It was tried again 5 times.');
  });

  it.each([
    [
      'has answered a call',
      async (bench: Bench) => named(bench.servers.tools, 'mcp__s__look').run({}, toCall().context),
    ],
    ['has stood for a minute', async (bench: Bench) => bench.clock.advance(60_000)],
  ])('counts anew when it %s', async (_, succeed) => {
    const bench = await connected({ s: {} });
    for (let loss = 0; loss < 8; loss += 1) {
      await succeed(bench);
      lastLink(bench).lose('gone.');
      expect(bench.clock.pending).toEqual([1000]);
      bench.clock.advance(1000);
      await bench.until(() => statusOf(bench)?.status === 'connected');
    }
  });

  it('tools of a server that is away say so, before anybody is asked about them', async () => {
    const bench = await connected({ s: {} });
    const before = named(bench.servers.tools, 'mcp__s__look');
    lastLink(bench).lose('MCP server s failed in call: it went away.');
    expect(bench.servers.tools).toEqual([]);
    expect(() => bench.servers.find('mcp__s__look')?.parse?.({})).toThrow(
      /^MCP server s is connecting again\. .*it went away/,
    );
    await expect(before.run({}, toCall().context)).rejects.toThrow('MCP server s is connecting again.');
    bench.clock.advance(1000);
    await bench.until(() => statusOf(bench)?.status === 'connected');
    expect(await before.run({}, toCall().context)).toMatchObject({ structured: [{ text: 'did look' }] });
  });
});

describe('what is asked of the servers', () => {
  it('those that are not named any more are closed, changed ones are connected anew, others stay', async () => {
    const bench = await connected({ stays: {}, goes: {}, changes: {} });
    const [stays, goes, changes] = bench.links;
    const outcome = await bench.servers.set(
      new Map([
        ['stays', remote()],
        ['changes', remote({ config: { command: 'y' } })],
        ['new', remote()],
      ]),
    );
    expect(outcome).toEqual({ added: ['changes', 'new'], removed: ['goes', 'changes'], errors: {} });
    expect([stays?.closed, goes?.closed, changes?.closed]).toEqual([false, true, true]);
    expect(bench.attempts).toEqual(['stays', 'goes', 'changes', 'changes', 'new']);
  });

  it('off ends the process, on starts it; reconnect does both', async () => {
    const bench = await connected({ s: {} });
    await bench.servers.toggle('s', false);
    expect(bench.links[0]?.closed).toBe(true);
    expect(statusOf(bench)).toMatchObject({ status: 'disabled' });
    expect(() => bench.servers.find('mcp__s__look')?.parse?.({})).toThrow('MCP server s is switched off.');
    await bench.servers.toggle('s', true);
    await bench.servers.toggle('s', true);
    expect(bench.attempts).toHaveLength(2);
    await bench.servers.reconnect('s');
    expect(bench.links.map(({ closed }) => closed)).toEqual([true, true, false]);
    await expect(bench.servers.reconnect('none')).rejects.toThrow('Server not found: none');
    await expect(createBench({}).servers.toggle('none', true)).rejects.toThrow('Server not found: none');
  });

  it('closing ends everything that is there, on its way or waiting to be tried again, and nothing starts after it', async () => {
    const bench = createBench({ there: {}, hangs, lost: {} });
    const definitions = new Map(['there', 'hangs', 'lost'].map((name) => [name, remote()]));
    const outcome = bench.servers.set(definitions);
    await bench.until(() => statusOf(bench, 'lost')?.status === 'connected');
    bench.links[1]?.lose('gone.');
    await bench.servers.close();
    await outcome;
    expect(bench.links[0]?.closed).toBe(true);
    expect(bench.signals[1]?.aborted).toBe(true);
    expect(bench.clock.pending).toEqual([]);
    await bench.servers.set(new Map([['more', remote()]]));
    expect(bench.attempts).toHaveLength(3);
  });

  it('one that does not close is left behind after 5 s', async () => {
    const bench = await connected({ s: { close: () => new Promise(() => {}) } });
    const closing = bench.servers.close();
    await bench.clock.armed();
    bench.clock.advance(5_000);
    await closing;
  });

  it('a session without servers loads nothing and waits for nothing', async () => {
    const bench = createBench({});
    expect(await bench.servers.set(new Map())).toEqual({ added: [], removed: [], errors: {} });
    await bench.servers.hostSettled(1_000);
    await bench.servers.close();
    expect(bench.clock.pending).toEqual([]);
    expect(bench.servers.declare({ windowTokens: 200_000 })).toEqual([]);
  });
});

describe('names of servers', () => {
  it.each([
    ['', 'it has no name'],
    ['  ', 'it has no name'],
    ['ide', 'its name is reserved'],
    ['__proto__', 'its name is reserved'],
    ['constructor', 'its name is reserved'],
    ['a\u0007b', 'characters that cannot be seen'],
    ['a\u202eb', 'characters that cannot be seen'],
    ['\u65e5\u672c', 'no letter and no digit'],
    ['x'.repeat(65), 'longer than 64 characters'],
  ])('%j is refused with a reason, and nothing is started', async (name, reason) => {
    const bench = createBench({});
    const outcome = await bench.servers.set(
      new Map([
        [name, remote()],
        ['fine', remote()],
      ]),
    );
    expect(Object.keys(outcome.errors)).toEqual([name]);
    expect(outcome.errors[name]).toContain(reason);
    expect(statusOf(bench, name)).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) });
    expect(bench.attempts).toEqual(['fine']);
  });

  it.each([
    [['a b', 'a_b'], 'a b', 'a_b'],
    [['a.b', 'a b'], 'a b', 'a.b'],
    [['a__b', 'a'], 'a__b', 'a'],
    [['a', 'a_'], 'a_', 'a'],
  ])('of %j, %s could be taken for another', async (names, refused, other) => {
    const bench = createBench({});
    await bench.servers.set(new Map(names.map((name) => [name, remote()])));
    expect(statusOf(bench, refused)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(`those of ${other};`),
    });
    expect(bench.attempts).toEqual([other]);
  });

  it('what is blocked is not started: off when it waits for approval, failed otherwise', async () => {
    const bench = createBench({});
    await bench.servers.set(
      new Map([
        ['a', remote({ blocked: 'it waits for your approval. To approve it: heddle mcp approve a', isOff: true })],
        ['b', remote({ blocked: 'policy denies it' })],
      ]),
    );
    await bench.servers.toggle('a', true);
    await bench.servers.toggle('b', false);
    expect(bench.servers.status).toMatchObject([
      { status: 'disabled', error: expect.stringContaining('waits for your approval') },
      { status: 'failed', error: 'MCP server b is not connected: policy denies it.' },
    ]);
    expect(bench.attempts).toEqual([]);
  });

  it('a session has 100 servers at most', async () => {
    const bench = createBench({});
    await bench.servers.set(new Map(Array.from({ length: 101 }, (_, at) => [`s${at}`, remote()])));
    expect(bench.attempts).toHaveLength(100);
    expect(statusOf(bench, 's100')).toMatchObject({ status: 'failed', error: expect.stringContaining('100 servers') });
  });
});
