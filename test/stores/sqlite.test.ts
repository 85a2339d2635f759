import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqliteStore } from '../../src/engine/stores/sqlite-store.js';
import { createFakeClock } from '../../src/testing/index.js';
import { scratch } from '../engine/kit.js';

const key = { sessionId: '11111111-2222-4333-8444-555555555555', cwd: '/ws' };

function open(path = join(scratch(), 'sessions.db')) {
  const clock = createFakeClock();
  const store = createSqliteStore({ path, clock });
  onTestFinished(() => store.close());
  const look = () => {
    const db = new DatabaseSync(path);
    onTestFinished(() => db.close());
    return db;
  };
  return { path, clock, store, look };
}

describe('the file', () => {
  it('is made when it is first used, for the owner alone', () => {
    const { path, store } = open();
    expect(existsSync(path)).toBe(false);
    expect(store.append(key, ['{}'])).toBeUndefined();
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0);
  });

  it('has what was written when it is opened again', async () => {
    const { path, store } = open();
    void store.append(key, ['{"n":1}'], { sync: true });
    store.close();
    expect((await open(path).store.load(key.sessionId))?.lines).toEqual(['{"n":1}']);
    void store.append(key, ['{"n":2}']);
    expect((await store.load(key.sessionId))?.lines).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('a sync write is committed under FULL, which waits for the disk; the others are not', () => {
    const { store, look } = open();
    void store.append(key, ['{}']);
    const real = DatabaseSync.prototype.exec;
    const said: string[] = [];
    DatabaseSync.prototype.exec = function exec(sql) {
      said.push(sql);
      real.call(this, sql);
    };
    onTestFinished(() => {
      DatabaseSync.prototype.exec = real;
    });
    void store.append(key, ['{}'], { sync: true });
    void store.append(key, ['{}']);
    const write = ['BEGIN IMMEDIATE', 'COMMIT'];
    expect(said).toEqual(['PRAGMA synchronous = FULL', ...write, 'PRAGMA synchronous = NORMAL', ...write]);
    expect(look().prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  });

  it.each([
    ['no database', 'This is a text of some length, and surely no database of any kind. '.repeat(20)],
    ['binary', Buffer.alloc(5000, 7)],
  ])('%s in its place is an error that names it, and is left as it is', (_, data) => {
    const { path, store } = open();
    writeFileSync(path, data);
    expect(() => store.append(key, ['{}'])).toThrow(
      expect.objectContaining({
        code: 'store_failed',
        message: expect.stringMatching(/sessions\.db.+not a database/),
        data: { operation: 'append', path },
      }),
    );
    expect(statSync(path).size).toBe(data.length);
  });

  it('a folder in its place is an error that names it', async () => {
    const { path, store } = open();
    mkdirSync(path);
    await expect(store.load(key.sessionId)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(path),
    });
  });

  it('of a newer version is refused, and left as it is', async () => {
    const { path, store } = open();
    const db = new DatabaseSync(path);
    db.exec('PRAGMA user_version = 99');
    db.close();
    await expect(store.list()).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('newer version'),
    });
  });
});

describe('a write', () => {
  it('that fails leaves nothing behind, and the next one works', async () => {
    const { store, look } = open();
    void store.append(key, ['{"n":1}']);
    look().exec(
      `CREATE TRIGGER full BEFORE INSERT ON lines WHEN NEW.line LIKE '%bad%' BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
    expect(() => store.append(key, ['{"n":2}', '{"bad":1}'])).toThrow(
      expect.objectContaining({ code: 'store_failed', message: expect.stringContaining('no room') }),
    );
    void store.append(key, ['{"n":3}'], { sync: true });
    expect((await store.load(key.sessionId))?.lines).toEqual(['{"n":1}', '{"n":3}']);
  });

  it('under a lease that another took is refused', async () => {
    const { store, look } = open();
    const lease = await store.lease(key);
    void store.append(key, ['{"n":1}']);
    look().exec(`UPDATE leases SET token = 'else', host = 'elsewhere', pid = 7`);
    expect(() => store.append(key, ['{"n":2}'])).toThrow(
      expect.objectContaining({ code: 'session_locked', message: expect.stringContaining('process 7 on elsewhere') }),
    );
    await lease.release();
    const { count } = look().prepare('SELECT count(*) AS count FROM leases').get() as { count: number };
    expect(count).toBe(1);
  });
});

describe('a lease of another machine', () => {
  it('is free when its holder is silent for 30 s; a living one gives a sign every 10 s', async () => {
    const { store, clock, look } = open();
    const lease = await store.lease(key);
    const seen = () => (look().prepare('SELECT seen FROM leases').get() as { seen: number }).seen;
    const before = seen();
    clock.advance(10_000);
    expect(seen()).toBe(before + 10_000);
    look().exec(`UPDATE leases SET token = 'else', host = 'not-${hostname()}', pid = 7`);
    await lease.release();
    clock.advance(29_999 - 10_000);
    const waiting = Promise.resolve(store.lease(key));
    await clock.armed();
    clock.advance(10_005);
    await (await waiting).release();
    expect(clock.pending).toEqual([]);
  });
});
