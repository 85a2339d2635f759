import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createMemoryStore } from '../../src/engine/stores/memory-store.js';
import { createMirrorStore, type MirrorOptions } from '../../src/engine/stores/mirror-store.js';
import { toSessionStore } from '../../src/engine/stores/remote-store.js';
import type { PublicSessionKey, PublicSessionStore, SessionStoreEntry } from '../../src/protocol/index.js';
import { InMemorySessionStore } from '../../src/sdk/memory-session-store.js';
import { createFakeClock } from '../../src/testing/index.js';
import { scratch } from '../engine/kit.js';

const sessionId = '11111111-2222-4333-8444-555555555555';
const cwd = '/my project';
const key = { sessionId, cwd };
const remoteKey = { projectKey: '-my-project', sessionId };
const entry = (n: number): SessionStoreEntry => ({ type: 'user', uuid: `u${n}`, cwd, n });
const line = (n: number) => JSON.stringify(entry(n));
const lines = (...numbers: number[]) => numbers.map(line);

/** A remote store that says what it was asked. */
class Traced extends InMemorySessionStore {
  readonly batches: number[][] = [];
  fail: () => Promise<void> = async () => {};

  override async append(to: PublicSessionKey, entries: SessionStoreEntry[]): Promise<void> {
    this.batches.push(entries.map(({ n }) => Number(n)));
    await this.fail();
    await super.append(to, entries);
  }
}

function open(options: Partial<MirrorOptions> = {}) {
  const clock = createFakeClock();
  const remote = new Traced();
  const local = createMemoryStore();
  const errors: { error: unknown; key: PublicSessionKey }[] = [];
  const onError: MirrorOptions['onError'] = (error, of) => void errors.push({ error, key: of });
  const store = createMirrorStore({ local, remote, cwd, clock, onError, ...options });
  return { clock, remote, local, store, errors };
}

/** Lets promises have their turn until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

describe('what is written', () => {
  it('is local at once, and remote after 100 ms of silence, in one batch', async () => {
    const { store, clock, remote, local } = open();
    for (const n of [1, 2]) expect(store.append(key, lines(n))).toBeUndefined();
    clock.advance(99);
    void store.append(key, lines(3));
    clock.advance(99);
    expect((await local.load(sessionId))?.lines).toEqual(lines(1, 2, 3));
    expect(remote.batches).toEqual([]);
    clock.advance(1);
    await until(() => remote.getEntries(remoteKey).length > 0);
    expect(remote.batches).toEqual([[1, 2, 3]]);
    expect(remote.getEntries(remoteKey)).toEqual([entry(1), entry(2), entry(3)]);
  });

  it('goes at once, each by itself, when that was asked for', async () => {
    const { store, remote } = open({ flush: 'eager' });
    for (const n of [1, 2]) void store.append(key, lines(n));
    await store.flush();
    expect(remote.batches).toEqual([[1], [2]]);
  });

  it('does not wait for silence when it is much', async () => {
    const { store, remote } = open();
    for (let n = 0; n < 501; n += 1) void store.append(key, lines(n));
    await until(() => remote.batches.length > 0);
    expect(remote.batches[0]).toHaveLength(501);
  });

  it('is passed on before the lease ends', async () => {
    const { store, remote } = open();
    const lease = await store.lease(key);
    await store.append(key, lines(1));
    await store.append({ ...key, agentId: 'a1' }, lines(2));
    await lease.release();
    expect(remote.getEntries(remoteKey)).toEqual([entry(1)]);
    expect(remote.getEntries({ ...remoteKey, subpath: 'subagents/agent-a1' })).toEqual([entry(2)]);
  });

  it('goes without what is no entry', async () => {
    const { store, remote, local } = open();
    await store.append(key, ['{"type":"tor', line(1), 'null', '{"a":1}']);
    await store.flush();
    expect(remote.getEntries(remoteKey)).toEqual([entry(1)]);
    expect((await local.load(sessionId))?.lines).toHaveLength(4);
  });
});

describe('a remote store that is none', () => {
  it.each([[{}], [null], [5], [{ append() {} }]])('%j: invalid_config', (given) => {
    const remote = given as unknown as PublicSessionStore;
    const refused = expect.objectContaining({ code: 'invalid_config', hint: expect.stringContaining('append') });
    expect(() => open({ remote })).toThrow(refused);
    expect(() => toSessionStore(remote, { cwd })).toThrow(refused);
  });
});

describe('a remote store that fails', () => {
  it('is tried three times in all; what comes meanwhile keeps its place', async () => {
    const { store, clock, remote, errors } = open({ flush: 'eager' });
    let failures = 2;
    remote.fail = async () => {
      if (failures-- > 0) throw new Error('busy');
    };
    void store.append(key, lines(1));
    void store.append(key, lines(2));
    const done = store.flush();
    for (const wait of [200, 800]) {
      await until(() => clock.pending.includes(wait));
      clock.advance(wait);
    }
    await done;
    expect(remote.batches).toEqual([[1], [1], [1], [2]]);
    expect(remote.getEntries(remoteKey)).toEqual([entry(1), entry(2)]);
    expect(errors).toEqual([]);
  });

  it('is reported when it fails for good, and the session goes on', async () => {
    const { store, clock, remote, local, errors } = open();
    remote.fail = async () => {
      throw new Error('no such bucket');
    };
    void store.append(key, lines(1));
    const done = store.flush();
    for (const wait of [200, 800]) {
      await until(() => clock.pending.includes(wait));
      clock.advance(wait);
    }
    await done;
    expect(errors).toMatchObject([
      {
        error: { code: 'store_failed', message: 'The sessionStore failed at "append": no such bucket' },
        key: remoteKey,
      },
    ]);
    remote.fail = async () => {};
    void store.append(key, lines(2));
    await store.flush();
    expect(remote.getEntries(remoteKey)).toEqual([entry(2)]);
    expect((await local.load(sessionId))?.lines).toEqual(lines(1, 2));
    // The local one has all of it, so it is what is resumed.
    expect((await store.load(sessionId))?.lines).toEqual(lines(1, 2));
  });

  it('is not asked again when it does not answer: that may still arrive', async () => {
    const { store, clock, remote, errors } = open({ timeoutMs: 1_000 });
    remote.fail = () => new Promise(() => {});
    void store.append(key, lines(1));
    const done = store.flush();
    await until(() => clock.pending.length > 0);
    clock.advance(1_000);
    await done;
    expect(remote.batches).toEqual([[1]]);
    expect(errors).toMatchObject([{ error: { code: 'store_failed', retryable: true } }]);
    expect(clock.pending).toEqual([]);
  });

  it('that is silent gets nothing of what waited behind that, and says so once', async () => {
    const { store, clock, remote, errors } = open({ timeoutMs: 1_000, flush: 'eager' });
    remote.fail = () => new Promise(() => {});
    for (const n of [1, 2, 3, 4]) void store.append(key, lines(n));
    await until(() => remote.batches.length > 0);
    clock.advance(1_000);
    await until(() => errors.length > 0);
    expect([errors.length, remote.batches]).toEqual([1, [[1]]]);
    remote.fail = async () => {};
    void store.append(key, lines(5));
    await store.flush();
    expect(remote.batches).toEqual([[1], [5]]);
    expect(errors).toHaveLength(1);
  });

  it('the end of a session waits once, however much is on its way', async () => {
    const { store, clock, remote, errors, local } = open({ timeoutMs: 1_000 });
    remote.fail = () => new Promise(() => {});
    const lease = await store.lease(key);
    void store.append(key, lines(1));
    clock.advance(100);
    await until(() => remote.batches.length > 0);
    clock.advance(900);
    void store.append(key, lines(2));
    const done = lease.release();
    await until(() => clock.pending.length > 1);
    clock.advance(100);
    await until(() => errors.length > 0);
    clock.advance(900);
    await done;
    expect(errors).toMatchObject([{ error: { code: 'store_failed' } }]);
    expect(local.lease(key)).toHaveProperty('release');
  });

  it('a reporter that throws stops nothing', async () => {
    const { store, remote, clock } = open({
      timeoutMs: 10,
      onError() {
        throw new Error('reporter');
      },
    });
    remote.fail = () => new Promise(() => {});
    void store.append(key, lines(1));
    const done = store.flush();
    await until(() => clock.pending.length > 0);
    clock.advance(10);
    await done;
    remote.fail = async () => {};
    void store.append(key, lines(2));
    await store.flush();
    expect(remote.getEntries(remoteKey)).toEqual([entry(2)]);
  });

  it.each(['rejects', 'hangs'])('a resume from one that %s is an error, never a new conversation', async (way) => {
    const load = () => (way === 'rejects' ? Promise.reject(new Error('down')) : new Promise<never>(() => {}));
    const remote: PublicSessionStore = { append: async () => {}, load };
    const { store, clock } = open({ remote, timeoutMs: 1_000 });
    const outcome = store.load(sessionId).catch((error: unknown) => error);
    if (way === 'hangs') {
      await until(() => clock.pending.length > 0);
      clock.advance(1_000);
    }
    expect(await outcome).toMatchObject({ code: 'store_failed', message: expect.stringContaining('"load"') });
  });

  it('what cannot be written locally is not passed on', async () => {
    const local = {
      ...createMemoryStore(),
      append() {
        throw new Error('disk full');
      },
    };
    const { store, remote } = open({ local });
    expect(() => store.append(key, lines(1))).toThrow('disk full');
    await store.flush();
    expect(remote.batches).toEqual([]);
  });
});

describe('a resume', () => {
  it('comes from the remote store, and what is written next makes the local log whole', async () => {
    const local = createFileStore({ configDir: scratch() });
    const { store, remote } = open({ local });
    await remote.append(remoteKey, [entry(1), entry(2)]);
    expect(await store.load(sessionId)).toEqual({ key, lines: lines(1, 2) });
    const lease = await store.lease(key);
    await store.append(key, lines(3));
    await lease.release();
    expect(await local.load(sessionId)).toEqual({ key, lines: lines(1, 2, 3) });
    expect(remote.getEntries(remoteKey)).toEqual([entry(1), entry(2), entry(3)]);
  });

  it('fills a local log that lags behind with what it lacks, entries without an id too', async () => {
    const { store, remote, local } = open();
    const life = { type: 'heddle', kind: 'turn', state: 'ended' };
    await local.append(key, lines(1));
    await remote.append(remoteKey, [entry(1), { ...life, type: 'heddle' }, entry(2)]);
    expect((await store.load(sessionId))?.lines).toHaveLength(3);
    await store.append(key, lines(3));
    expect((await local.load(sessionId))?.lines).toEqual([line(1), JSON.stringify(life), line(2), line(3)]);
  });

  it('a store that changes the order of keys makes no difference', async () => {
    const { store, remote, local } = open();
    await local.append(key, ['{"type":"heddle","b":{"x":1,"y":[2]},"a":1}']);
    await remote.append(remoteKey, [{ a: 1, b: { y: [2], x: 1 }, type: 'heddle' }]);
    await store.load(sessionId);
    await store.append(key, lines(3));
    expect((await local.load(sessionId))?.lines).toHaveLength(2);
  });

  it('falls back to the local log when the remote store knows nothing', async () => {
    const { store, local } = open();
    await local.append(key, lines(1));
    expect(await store.load(sessionId)).toEqual({ key, lines: lines(1) });
    expect(await store.load('22222222-2222-4333-8444-555555555555')).toBeUndefined();
  });

  it('finds subagents and sessions on both sides', async () => {
    const { store, remote, local } = open();
    const other = '22222222-2222-4333-8444-555555555555';
    await local.append(key, lines(1));
    await local.append({ ...key, agentId: 'a1' }, lines(1));
    await remote.append({ ...remoteKey, subpath: 'subagents/agent-a2' }, [entry(7)]);
    await remote.append({ ...remoteKey, sessionId: other }, [entry(8)]);
    expect(await store.agents?.(sessionId)).toEqual(['a1', 'a2']);
    expect((await store.load(sessionId, { agentId: 'a2' }))?.lines).toEqual(lines(7));
    expect((await store.list({ cwd })).map((one) => one.sessionId).toSorted()).toEqual([sessionId, other]);
  });

  it('keeps the archive where everything is written first', async () => {
    const local = createFileStore({ configDir: scratch() });
    const { store } = open({ local });
    const archive = { archived: true, at: new Date(0).toISOString() };
    await store.append(key, lines(1));
    await store.archive?.(key, archive);
    for (const one of [store, local]) {
      expect(await one.summary?.(sessionId)).toMatchObject({ sessionId, archive });
      expect(await one.list({ cwd })).toMatchObject([{ sessionId, archive }]);
    }
    expect(open().store.archive).toBeUndefined();
  });

  it('what is deleted is gone on both sides', async () => {
    const { store, remote, local } = open();
    await store.append(key, lines(1));
    await store.delete(sessionId);
    expect(await local.load(sessionId)).toBeUndefined();
    expect(await remote.load(remoteKey)).toBeNull();
    expect(remote.size).toBe(0);
  });

  it('a store with nothing but append and load is enough', async () => {
    const { store } = open({ remote: { append: async () => {}, load: async () => null } });
    await store.append(key, lines(1));
    expect(await store.list()).toHaveLength(1);
    expect(await store.agents?.(sessionId)).toEqual([]);
    await store.delete(sessionId);
    expect(await store.list()).toEqual([]);
  });
});

describe('InMemorySessionStore', () => {
  it('keeps entries in order, each id once, and gives copies', async () => {
    const store = new InMemorySessionStore();
    await store.append(remoteKey, [entry(1), entry(2)]);
    await store.append(remoteKey, [entry(2), entry(3), { type: 'tag' }, { type: 'tag' }]);
    const loaded = await store.load(remoteKey);
    expect(loaded).toEqual([entry(1), entry(2), entry(3), { type: 'tag' }, { type: 'tag' }]);
    loaded?.splice(0);
    expect(store.getEntries(remoteKey)).toHaveLength(5);
    expect(await store.load({ ...remoteKey, projectKey: 'else' })).toBeNull();
  });

  it('lists sessions with times that tell them apart, and forgets', async () => {
    const store = new InMemorySessionStore();
    await store.append(remoteKey, [entry(1)]);
    await store.append({ ...remoteKey, sessionId: 'b' }, [entry(1)]);
    await store.append({ ...remoteKey, subpath: 'subagents/agent-a' }, [entry(1)]);
    const [first, second] = await store.listSessions('-my-project');
    expect(second?.mtime).toBeGreaterThan(first?.mtime ?? Infinity);
    expect(await store.listSubkeys(remoteKey)).toEqual(['subagents/agent-a']);
    expect(store.size).toBe(2);
    await store.delete(remoteKey);
    expect(await store.listSubkeys(remoteKey)).toEqual([]);
    expect(store.size).toBe(1);
    store.clear();
    expect(store.size).toBe(0);
  });
});
