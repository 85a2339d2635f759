import fs, { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore, projectSlug } from '../../src/engine/stores/file-store.js';
import { createFakeClock } from '../../src/testing/index.js';
import { scratch } from '../engine/kit.js';
import { withFullDisk } from './full-disk.js';

const sessionId = '11111111-2222-4333-8444-555555555555';
const key = { sessionId, cwd: '/ws' };

function open() {
  const configDir = scratch();
  const clock = createFakeClock();
  const store = createFileStore({ configDir, clock });
  const path = store.pathOf?.(key) ?? '';
  const leasePath = join(configDir, 'leases', `${sessionId}.json`);
  /** What is in the place of the log. */
  const put = (data: string | Uint8Array) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, data);
  };
  const putLease = (holder: object | string, secondsAgo = 0) => {
    mkdirSync(dirname(leasePath), { recursive: true });
    writeFileSync(leasePath, typeof holder === 'string' ? holder : JSON.stringify(holder));
    const time = Date.now() / 1000 - secondsAgo;
    utimesSync(leasePath, time, time);
  };
  return { configDir, clock, store, path, leasePath, put, putLease };
}

/** Whoever waits for a lease waits by this clock. */
async function refused(parts: ReturnType<typeof open>): Promise<unknown> {
  let outcome: unknown;
  const settle = (value: unknown) => {
    outcome = value;
  };
  void Promise.resolve(parts.store.lease(key)).then(settle, settle);
  while (outcome === undefined) {
    parts.clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return outcome;
}

const readHolder = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

describe('the lease file', () => {
  it('is there at once, names its holder, and is gone with the lease', () => {
    const { store, leasePath, configDir } = open();
    const lease = store.lease(key);
    expect(lease).not.toBeInstanceOf(Promise);
    expect(readHolder(leasePath)).toMatchObject({
      pid: process.pid,
      host: expect.any(String),
      token: expect.any(String),
    });
    expect(fs.statSync(leasePath).mode & 0o077).toBe(0);
    if (!(lease instanceof Promise)) void lease.release();
    expect(readdirSync(join(configDir, 'leases'))).toEqual([]);
  });

  it('F6: counts for two stores of one process', async () => {
    const parts = open();
    const other = createFileStore({ configDir: parts.configDir });
    const lease = await other.lease(key);
    expect(await refused(parts)).toMatchObject({
      code: 'session_locked',
      message: expect.stringContaining(`this very process ${process.pid}`),
    });
    await lease.release();
    await (await parts.store.lease(key)).release();
  });

  it.each([
    ['a process that is gone', (own: object) => ({ ...own, pid: 2 ** 22 + 1 })],
    ['a process that began at another time', (own: object) => ({ ...own, pid: 1, start: '0' })],
    ['another world of process ids, silent for long', (own: object) => ({ ...own, place: 'else' }), 31],
    ['another host, silent for long', (own: object) => ({ ...own, host: 'elsewhere' }), 31],
    ['nobody that can be read, silent for long', () => '{"pid":', 31],
    ['nobody at all, silent for long', () => '', 31],
  ])('is free when it is of %s', async (_, change, secondsAgo = 0) => {
    const { store, leasePath, configDir, putLease } = open();
    await (async () => (await store.lease(key)).release())();
    const first = await store.lease(key);
    const own = readHolder(leasePath);
    await first.release();
    putLease(change({ ...own, token: 'of-the-dead' }), secondsAgo);
    // What others left who died while they took it.
    writeFileSync(`${leasePath}.draft-of-the-dead`, '');
    const lease = await store.lease(key);
    expect(readHolder(leasePath)).toMatchObject({ pid: process.pid });
    expect(readdirSync(join(configDir, 'leases'))).toEqual([`${sessionId}.json`]);
    await lease.release();
    expect(existsSync(leasePath)).toBe(false);
  });

  it.each([
    [
      'another host',
      { pid: 7, host: 'elsewhere', token: 't', time: Date.UTC(2025, 0, 1) },
      /process 7 on elsewhere since 2025/,
    ],
    ['nobody that can be read', '{"pid":', /has a lease that nobody can read/],
    ['an empty file', '', /has a lease that nobody can read/],
    ['a long text', 'x'.repeat(10_000), /has a lease that nobody can read/],
  ])('is not free while %s gives signs of life', async (_, holder, text) => {
    const parts = open();
    parts.putLease(holder, 5);
    expect(await refused(parts)).toMatchObject({ code: 'session_locked', message: expect.stringMatching(text) });
    expect(existsSync(parts.leasePath)).toBe(true);
  });

  it('that nobody can read says when it is free', async () => {
    const parts = open();
    parts.putLease('{"pid":', 5);
    expect(await refused(parts)).toMatchObject({ hint: expect.stringMatching(/counts for 2\d s more/) });
    parts.putLease('{"pid":', 31);
    await (await parts.store.lease(key)).release();
  });

  it('is free when those who were about to follow a dead holder died too', async () => {
    const { store, leasePath, configDir, putLease } = open();
    const first = await store.lease(key);
    const dead = { ...readHolder(leasePath), pid: 2 ** 22 + 1 };
    await first.release();
    putLease({ ...dead, token: 'one' });
    writeFileSync(`${leasePath}.one.next`, JSON.stringify({ ...dead, token: 'two' }));
    writeFileSync(`${leasePath}.two.next`, JSON.stringify({ ...dead, token: 'three' }));
    const lease = await store.lease(key);
    expect(readdirSync(join(configDir, 'leases'))).toEqual([`${sessionId}.json`]);
    await lease.release();
  });

  it('is not free when one of those who were about to follow lives', async () => {
    const parts = open();
    const first = await parts.store.lease(key);
    const own = readHolder(parts.leasePath);
    await first.release();
    parts.putLease({ ...own, pid: 2 ** 22 + 1, token: 'one' });
    writeFileSync(`${parts.leasePath}.one.next`, JSON.stringify({ ...own, token: 'two' }));
    expect(await refused(parts)).toMatchObject({ code: 'session_locked' });
  });

  it('gives a sign of life every 10 s', async () => {
    const { store, clock, leasePath } = open();
    const lease = await store.lease(key);
    utimesSync(leasePath, 1000, 1000);
    clock.advance(10_000);
    expect(fs.statSync(leasePath).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    await lease.release();
    expect(clock.pending).toEqual([]);
  });

  it('when it was taken away, nothing more is written, and the new one stays', async () => {
    const { store, clock, leasePath, path, putLease } = open();
    const lease = await store.lease(key);
    await store.append(key, ['{"n":1}']);
    putLease({ pid: 7, host: 'elsewhere', token: 't', time: 0 });
    clock.advance(10_000);
    expect(() => store.append(key, ['{"n":2}'])).toThrow(expect.objectContaining({ code: 'session_locked' }));
    await lease.release();
    expect(readHolder(leasePath)).toMatchObject({ host: 'elsewhere' });
    expect(readFileSync(path, 'utf8')).toBe('{"n":1}\n');
  });

  it('when someone cleans it away, it comes back', async () => {
    const { store, clock, leasePath, configDir } = open();
    const lease = await store.lease(key);
    fs.rmSync(join(configDir, 'leases'), { recursive: true });
    clock.advance(10_000);
    expect(readHolder(leasePath)).toMatchObject({ pid: process.pid });
    await lease.release();
    expect(existsSync(leasePath)).toBe(false);
  });

  it('cannot be written: the session goes on without it, and the second in this store is still locked out', async () => {
    const parts = open();
    writeFileSync(join(parts.configDir, 'leases'), 'in the way');
    const lease = await parts.store.lease(key);
    expect(await refused(parts)).toMatchObject({ code: 'session_locked' });
    fs.rmSync(join(parts.configDir, 'leases'));
    parts.clock.advance(10_000);
    expect(readHolder(parts.leasePath)).toMatchObject({ pid: process.pid });
    await lease.release();
  });

  it('something else in its place is an error that says so', () => {
    const { store, leasePath } = open();
    mkdirSync(leasePath, { recursive: true });
    expect(() => store.lease(key)).toThrow(
      expect.objectContaining({ code: 'store_failed', message: expect.stringContaining('EISDIR') }),
    );
  });
});

describe('a log that is none', () => {
  it.each([
    ['binary', Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7) % 256))],
    ['a text', 'Dear diary,\ntoday nothing happened.\n'],
    ['one array', '[1,2,3]\n'],
  ])('%s: session_unreadable, and it is left as it is', async (_, data) => {
    const { store, path, put } = open();
    put(data);
    await expect(store.load(sessionId)).rejects.toMatchObject({
      code: 'session_unreadable',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('left as it is'),
    });
    expect(readFileSync(path).equals(Buffer.from(data))).toBe(true);
  });

  it('a log with binary in its midst gives the lines that can be used', async () => {
    const { store, put } = open();
    put(Buffer.concat([Buffer.from('{"n":1}\n'), Buffer.from([0, 255, 10, 254]), Buffer.from('\n{"n":2}\n')]));
    const lines = (await store.load(sessionId))?.lines ?? [];
    expect(lines.filter((line) => line.startsWith('{'))).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('an empty one has no lines', async () => {
    const { store, put } = open();
    put('');
    expect((await store.load(sessionId))?.lines).toEqual([]);
    expect(await store.glance?.(sessionId)).toMatchObject({ head: [], tail: [] });
  });

  it('a folder in its place: reading and writing say so, a glance too', async () => {
    const { store, path } = open();
    mkdirSync(path, { recursive: true });
    const unreadable = { code: 'session_unreadable', message: expect.stringContaining(path) };
    await expect(store.load(sessionId)).rejects.toMatchObject(unreadable);
    await expect(store.glance?.(sessionId)).rejects.toMatchObject(unreadable);
    expect(() => store.append(key, ['{}'])).toThrow(
      expect.objectContaining({ code: 'store_failed', message: expect.stringContaining(path) }),
    );
  });

  it('a file in place of the folder of all projects', async () => {
    const { store, configDir } = open();
    writeFileSync(join(configDir, 'projects'), 'x');
    for (const act of [() => store.load(sessionId), () => store.list(), () => store.delete(sessionId)]) {
      await expect(act()).rejects.toMatchObject({ code: 'session_unreadable' });
    }
    expect(() => store.append(key, ['{}'])).toThrow(expect.objectContaining({ code: 'store_failed' }));
  });

  it.each([
    ['an id', { sessionId: '../../x', cwd: '/ws' }],
    ['an agent', { ...key, agentId: '../x' }],
    ['no agent', { ...key, agentId: '' }],
  ])('nothing is kept under %s that leads elsewhere', (_, bad) => {
    const { store, configDir } = open();
    expect(() => store.append(bad, ['{}'])).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(readdirSync(configDir)).toEqual([]);
  });
});

describe('a disk that takes no more', () => {
  it('is an error with what is safe; what comes when there is room again is written', async () => {
    const { store, path } = open();
    const lease = await store.lease(key);
    await withFullDisk(path, () => {
      expect(() => store.append(key, ['{"n":1}'])).toThrow(
        expect.objectContaining({
          code: 'store_failed',
          message: expect.stringContaining('ENOSPC'),
          hint: expect.stringContaining('safe'),
        }),
      );
    });
    await lease.release();
    await store.append(key, ['{"n":2}']);
    expect((await store.load(sessionId))?.lines).toEqual(['{"n":2}']);
  });
});

describe('a write that breaks off', () => {
  it.each(['with the lease', 'without'])('harms no later one, %s', async (way) => {
    const { store } = open();
    const lease = way === 'without' ? undefined : await store.lease(key);
    await store.append(key, ['{"n":1}']);
    const real = fs.writeSync;
    let isFull = false;
    fs.writeSync = ((file: number, bytes: Buffer, from = 0) => {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      isFull = true;
      return real(file, bytes, from, 5);
    }) as typeof real;
    syncBuiltinESMExports();
    try {
      expect(() => store.append(key, ['{"n":2}'])).toThrow(expect.objectContaining({ code: 'store_failed' }));
    } finally {
      fs.writeSync = real;
      syncBuiltinESMExports();
    }
    await store.append(key, ['{"n":3}']);
    await store.append(key, ['{"n":4}']);
    await lease?.release();
    expect((await store.load(sessionId))?.lines).toEqual(['{"n":1}', '{"n":', '{"n":3}', '{"n":4}']);
  });
});

describe('a large log', () => {
  const line = (n: number) => JSON.stringify({ n, cwd: '/ws', text: 'é'.repeat(n % 3000) });

  it('is read in pieces: others get the event loop many times', async () => {
    const { store } = open();
    const lines = Array.from({ length: 6000 }, (_, n) => line(n));
    await store.append(key, lines);
    let turns = 0;
    let isReading = true;
    const count = () => {
      turns += 1;
      if (isReading) setImmediate(count);
    };
    setImmediate(count);
    const loaded = await store.load(sessionId);
    isReading = false;
    expect(loaded?.lines).toEqual(lines);
    // 18 MB in pieces of at most 1 MB.
    expect(turns).toBeGreaterThan(15);
  });

  it('lines that cross the pieces are whole, whatever their length', async () => {
    const { store } = open();
    const sizes = [1024 * 1024 - 20, 3_000_000, 1, 1024 * 1024, 5, 2_500_000, 0];
    const lines = sizes.map((size, n) => JSON.stringify({ n, text: '日'.repeat(size / 3) }));
    await store.append(key, lines);
    const loaded = (await store.load(sessionId))?.lines ?? [];
    expect(loaded.map((one, n) => one === lines[n])).toEqual(lines.map(() => true));
  });

  it('A6: a glance reads its ends only', async () => {
    const { store, path } = open();
    const lines = Array.from({ length: 3000 }, (_, n) => line(n));
    await store.append(key, lines);
    const real = fs.readSync;
    let read = 0;
    fs.readSync = ((...given: Parameters<typeof real>) => {
      const count = real(...given);
      read += count;
      return count;
    }) as typeof real;
    syncBuiltinESMExports();
    try {
      const glance = await store.glance?.(sessionId);
      expect(lines.slice(0, 5)).toEqual(glance?.head.slice(0, 5));
      expect(glance?.tail.at(-1)).toBe(lines.at(-1));
    } finally {
      fs.readSync = real;
      syncBuiltinESMExports();
    }
    expect(fs.statSync(path).size).toBeGreaterThan(4_000_000);
    expect(read).toBeLessThanOrEqual(128 * 1024);
  });

  it.each([0, 1, 40, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 128 * 1024, 200_000, 700_000])(
    'a glance at a log with a line of %d characters shows whole lines, each once',
    async (size) => {
      const { store, path } = open();
      const lines = [line(1), JSON.stringify({ text: 'x'.repeat(size) }), line(2), line(3)];
      for (const order of [lines, lines.toReversed()]) {
        fs.rmSync(path, { force: true });
        await store.append(key, order);
        fs.appendFileSync(path, '{"torn":"');
        const { head = [], tail = [] } = (await store.glance?.(sessionId)) ?? {};
        expect(head).toEqual(order.slice(0, head.length));
        expect(tail).toEqual(tail.length === 0 ? [] : order.slice(-tail.length));
        expect(head.length + tail.length).toBeLessThanOrEqual(order.length);
        expect(head.length).toBeGreaterThan(0);
        expect([...head, ...tail].at(-1)).toBe(order.at(-1));
      }
    },
  );

  it('beyond all bounds, a glance shows what it can', async () => {
    const { store } = open();
    const huge = JSON.stringify({ text: 'x'.repeat(5_000_000) });
    await store.append(key, [huge, line(1), huge]);
    const { head = [], tail = [] } = (await store.glance?.(sessionId)) ?? {};
    expect([...head, ...tail].every((one) => one === line(1) || one === huge)).toBe(true);
  });
});

describe('the folder of a project', () => {
  it('has a name that a disk takes, and that other programs find', () => {
    const long = `/home/user/shop/${'d.'.repeat(400)}`;
    const cut = `-home-user-shop-${'d-'.repeat(92)}`;
    expect(projectSlug('/my project')).toBe('-my-project');
    expect(projectSlug(long.slice(0, 200))).toBe(cut);
    expect(projectSlug(long.slice(0, 201))).toBe(`${cut}-1zl9ai`);
    expect(projectSlug(long.slice(0, 300))).toBe(`${cut}-iy4f4u`);
  });

  it('of a path beyond every bound keeps sessions that are found again', async () => {
    const configDir = scratch();
    const deep = `/${'folder/'.repeat(100)}`;
    const lines = [JSON.stringify({ type: 'user', cwd: deep })];
    await createFileStore({ configDir }).append({ sessionId, cwd: deep }, lines);
    const store = createFileStore({ configDir });
    expect(await store.list({ cwd: deep })).toMatchObject([{ sessionId }]);
    expect(await store.list({ cwd: `${deep}x` })).toEqual([]);
    expect(await store.load(sessionId)).toEqual({ key: { sessionId, cwd: deep }, lines });
  });
});
