import fs, { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/index.js';
import { scratch, start } from './kit.js';

const ids = [1, 2, 3].map((digit) => `${String(digit).repeat(8)}-2222-4333-8444-555555555555`);
const [A = '', B = '', C = ''] = ids;

function open() {
  const configDir = scratch();
  const store = createFileStore({ configDir });
  const pathOf = (sessionId: string, cwd = '/ws') => store.pathOf?.({ sessionId, cwd }) ?? '';
  return { configDir, store, pathOf };
}

/** Lets the real calls through and says which file they were about, and how long it was. */
async function watchSyncs<T>(run: () => Promise<T>): Promise<{ ino: number; size: number }[]> {
  const real = fs.fdatasyncSync;
  const synced: { ino: number; size: number }[] = [];
  fs.fdatasyncSync = (fd) => {
    const { ino, size } = fs.fstatSync(fd);
    synced.push({ ino, size });
    real(fd);
  };
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    fs.fdatasyncSync = real;
    syncBuiltinESMExports();
  }
  return synced;
}

describe('what must survive a power cut', () => {
  it('is written, then flushed; what need not is only written', async () => {
    const { store, pathOf } = open();
    const key = { sessionId: A, cwd: '/ws' };
    const lease = await store.lease(key);
    const synced = await watchSyncs(async () => {
      await store.append(key, ['{"n":1}']);
      await store.append(key, ['{"n":2}', '{"n":3}'], { sync: true });
      await store.append(key, ['{"n":4}'], { sync: false });
    });
    const { ino, size } = statSync(pathOf(A));
    expect(size).toBe(32);
    expect(synced).toEqual([{ ino, size: 24 }]);
    await lease.release();
  });

  it('C6: an answer and the start of a call that changes something; not the start of one that reads', async () => {
    const { store } = open();
    const calls = [
      { name: 'Bash', input: { command: 'touch a' } },
      { name: 'Bash', input: { command: 'ls' } },
    ];
    const run = await start([{ toolUse: calls }, 'ok'], { store, ask: async () => ({ behavior: 'allow' }) });
    const synced = await watchSyncs(async () => {
      await run.ask('go');
    });
    expect(existsSync(join(run.cwd, 'a'))).toBe(true);
    const path = store.pathOf?.({ sessionId: run.session.id, cwd: run.cwd }) ?? '';
    const whole = readFileSync(path, 'utf8');
    const lastLineAt = (size: number) => JSON.parse(whole.slice(0, size).trimEnd().split('\n').at(-1) ?? '') as object;
    expect(synced.map(({ size }) => lastLineAt(size))).toMatchObject([{ state: 'answered' }, { state: 'started' }]);
    await run.session.close();
  });
});

describe('reading back', () => {
  const lines = ['{"type":"a","cwd":"/ws"}', '{"type":"b"}'];
  const write = (text: string) => {
    const { store, pathOf } = open();
    mkdirSync(dirname(pathOf(A)), { recursive: true });
    writeFileSync(pathOf(A), text);
    return { store, path: pathOf(A) };
  };

  it('a last line that only lacks its newline is whole', async () => {
    const { store } = write(lines.join('\n'));
    expect((await store.load(A))?.lines).toEqual(lines);
  });

  it.each(['{"type":"c', '{"type":"c"', '{', ''])('a torn last line is left out: %j', async (torn) => {
    const { store } = write(`${lines.join('\n')}\n${torn}`);
    expect((await store.load(A))?.lines).toEqual(lines);
  });

  it.each([
    ['torn', '{"type":"c'],
    ['whole', '{"type":"c"}'],
  ])('F1: the next line stands alone behind a tail that is %s', async (_, tail) => {
    const { store, path } = write(`${lines.join('\n')}\n${tail}`);
    await store.append({ sessionId: A, cwd: '/ws' }, ['{"type":"d"}']);
    await store.append({ sessionId: A, cwd: '/ws' }, ['{"type":"e"}']);
    expect(readFileSync(path, 'utf8')).toBe(`${lines.join('\n')}\n${tail}\n{"type":"d"}\n{"type":"e"}\n`);
  });

  it('a log that ends as it should gets no empty line', async () => {
    const { store, path } = write(`${lines.join('\n')}\n`);
    await store.append({ sessionId: A, cwd: '/ws' }, ['{"type":"d"}']);
    expect(readFileSync(path, 'utf8')).toBe(`${lines.join('\n')}\n{"type":"d"}\n`);
  });

  it('the folder is the one its entries name, with everything JSON escapes in it', async () => {
    const { store } = open();
    const cwd = '/a "quoted" \\ folder/é';
    await store.append({ sessionId: A, cwd }, [JSON.stringify({ type: 'user', cwd })]);
    expect((await store.load(A))?.key).toEqual({ sessionId: A, cwd });
  });

  it('an id that is none is not looked for', async () => {
    const { store, configDir } = open();
    mkdirSync(join(configDir, 'projects', 'x'), { recursive: true });
    writeFileSync(join(configDir, 'secret.jsonl'), '{"type":"user"}\n');
    expect(await store.load('../../secret')).toBeUndefined();
  });

  it('H1: a log that cannot be read is a typed error that names it', async () => {
    const { store, pathOf } = open();
    mkdirSync(pathOf(A), { recursive: true });
    await expect(store.load(A)).rejects.toMatchObject({
      code: 'session_unreadable',
      message: expect.stringContaining(A),
    });
  });
});

describe('listing', () => {
  it('has the newest first, and only sessions', async () => {
    const { store, pathOf } = open();
    for (const [index, id] of ids.entries()) {
      await store.append({ sessionId: id, cwd: '/ws' }, ['{"type":"user","cwd":"/ws"}']);
      const time = new Date(2025, 0, [2, 3, 1][index]);
      utimesSync(pathOf(id), time, time);
    }
    writeFileSync(join(dirname(pathOf(A)), 'notes.jsonl'), '{}\n');
    writeFileSync(join(dirname(pathOf(A)), `${A}.txt`), 'x');
    await store.append({ sessionId: '44444444-2222-4333-8444-555555555555', cwd: '/other' }, ['{}']);
    const listed = await store.list({ cwd: '/ws' });
    expect(listed.map(({ sessionId }) => sessionId)).toEqual([B, A, C]);
    expect(listed[0]).toEqual({ sessionId: B, cwd: '/ws', lastModified: new Date(2025, 0, 3).getTime(), size: 28 });
    const everywhere = await store.list();
    expect(everywhere.map(({ sessionId }) => sessionId)).toEqual(['44444444-2222-4333-8444-555555555555', B, A, C]);
  });

  it('continue takes up the newest session of the folder', async () => {
    const { store } = open();
    const cwd = scratch();
    for (const [index, sessionId] of [B, A, C].entries()) {
      const run = await start([`answer ${index}`], { store, cwd, config: { sessionId } });
      await run.ask(`prompt ${index}`);
      await run.session.close();
      const time = new Date(2025, 0, [2, 3, 1][index]);
      utimesSync(store.pathOf?.({ sessionId, cwd }) ?? '', time, time);
    }
    const again = await start(['ok'], { store, cwd, config: { continue: true } });
    expect(again.session.id).toBe(A);
  });
});

describe('what the store holds', () => {
  it('is for the owner alone', async () => {
    const { store, pathOf } = open();
    await store.append({ sessionId: A, cwd: '/ws' }, ['{}']);
    expect(statSync(pathOf(A)).mode & 0o077).toBe(0);
    expect(statSync(dirname(pathOf(A))).mode & 0o077).toBe(0);
  });

  it('is mended by whoever writes next, with the lease or without', async () => {
    const { store, pathOf } = open();
    const key = { sessionId: A, cwd: '/ws' };
    await store.append(key, ['{"n":1}']);
    appendFileSync(pathOf(A), '{"torn');
    await store.append(key, ['{"n":2}']);
    const lease = await store.lease(key);
    await store.append(key, ['{"n":3}']);
    // Someone else broke off behind our line, while we hold the file open.
    appendFileSync(pathOf(A), '{"torn');
    await store.append(key, ['{"n":4}']);
    await lease.release();
    expect(readFileSync(pathOf(A), 'utf8')).toBe('{"n":1}\n{"torn\n{"n":2}\n{"n":3}\n{"torn\n{"n":4}\n');
  });

  it('is open while the lease is held, logs of subagents too, and only then', async () => {
    const { store, pathOf } = open();
    const key = { sessionId: A, cwd: '/ws' };
    const agent = { ...key, agentId: 'a1' };
    const fds = () => {
      const inodes = [pathOf(A), store.pathOf?.(agent) ?? ''].map((path) => statSync(path).ino);
      return fs.readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return inodes.includes(fs.fstatSync(Number(fd)).ino);
        } catch {
          return false;
        }
      });
    };
    const lease = await store.lease(key);
    for (const n of [1, 2]) {
      await store.append(key, [`{"n":${n}}`]);
      await store.append(agent, [`{"n":${n}}`]);
    }
    expect(fds()).toHaveLength(2);
    await lease.release();
    expect(fds()).toEqual([]);
    await store.append(key, ['{"n":3}']);
    expect(fds()).toEqual([]);
    await lease.release();
  });

  it('stays within bounds, however many subagents write', async () => {
    const { store } = open();
    const key = { sessionId: A, cwd: '/ws' };
    const lease = await store.lease(key);
    const before = fs.readdirSync('/proc/self/fd').length;
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < 100; n += 1) await store.append({ ...key, agentId: `a${n}` }, [`{"n":${round}}`]);
    }
    expect(fs.readdirSync('/proc/self/fd').length - before).toBeLessThan(50);
    await lease.release();
    expect(await store.agents?.(A)).toHaveLength(100);
    expect((await store.load(A, { agentId: 'a7' }))?.lines).toEqual(['{"n":0}', '{"n":1}']);
  });

  it('is gone after delete', async () => {
    const { store, pathOf, configDir } = open();
    await store.append({ sessionId: A, cwd: '/ws' }, ['{}']);
    await store.append({ sessionId: A, cwd: '/elsewhere' }, ['{}']);
    await store.append({ sessionId: A, cwd: '/ws', agentId: 'a1' }, ['{}']);
    for (const folder of [join(pathOf(A).slice(0, -6), 'tool-results'), join(configDir, 'sessions', A)]) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'kept'), 'x');
    }
    await store.append({ sessionId: B, cwd: '/ws' }, ['{}']);
    await store.delete(A);
    const left = fs.readdirSync(configDir, { recursive: true }).map(String);
    expect(left.filter((name) => name.includes(A))).toEqual([]);
    expect(existsSync(pathOf(B))).toBe(true);
    expect(await store.load(A)).toBeUndefined();
    await store.delete(A);
  });
});
