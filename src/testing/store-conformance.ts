import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { HeddleError } from '../protocol/plain.js';
import type { SessionKey, SessionStore, SessionSummary } from '../protocol/index.js';

/** Gives a store in which nothing is kept yet. It is asked once for each check. */
export type CreateStore = () => SessionStore | Promise<SessionStore>;

/** One thing that every SessionStore must do. */
export interface StoreCheck {
  name: string;
  /** Rejects with what is wrong. */
  run(createStore: CreateStore): Promise<void>;
}

const CWD = '/project/one';
const newKey = (cwd = CWD): SessionKey => ({ sessionId: crypto.randomUUID(), cwd });
const line = (fields: object = {}, cwd = CWD): string => JSON.stringify({ type: 'user', cwd, ...fields });
const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => line({ n: from + n }));

const check = (name: string, run: (store: SessionStore) => Promise<void>): StoreCheck => ({
  name,
  run: async (createStore) => run(await createStore()),
});

async function linesOf(store: SessionStore, sessionId: string, agentId?: string): Promise<string[] | undefined> {
  return (await store.load(sessionId, agentId === undefined ? undefined : { agentId }))?.lines;
}

/** Runs under the lease of a session. */
async function writing(store: SessionStore, key: SessionKey, act: () => Promise<void>): Promise<void> {
  const lease = await store.lease(key);
  try {
    await act();
  } finally {
    await lease.release();
  }
}

async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (error instanceof HeddleError) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}

/** Adds to a log until the store says that it is newer than another: clocks of stores may be coarse. */
async function makeNewer(store: SessionStore, key: SessionKey, than: SessionKey): Promise<void> {
  const timeOf = (list: SessionSummary[], { sessionId }: SessionKey) =>
    list.find((one) => one.sessionId === sessionId)?.lastModified ?? 0;
  for (let tries = 0; tries < 500; tries += 1) {
    await store.append(key, [line({ tries })]);
    const list = await store.list();
    if (timeOf(list, key) > timeOf(list, than)) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.fail('a log that is written later never becomes newer');
}

const reading: StoreCheck[] = [
  check('a session that was never written is not there', async (store) => {
    assert.equal(await store.load(crypto.randomUUID()), undefined);
    assert.deepEqual(await store.list(), []);
    assert.deepEqual(await store.list({ cwd: CWD }), []);
    assert.equal(await store.summary?.(crypto.randomUUID()), undefined);
    assert.equal(await store.glance?.(crypto.randomUUID()), undefined);
    assert.deepEqual((await store.agents?.(crypto.randomUUID())) ?? [], []);
  }),

  check('what was appended is loaded, with the folder of the session', async (store) => {
    const key = newKey();
    await writing(store, key, async () => {
      await store.append(key, numbered(2));
      await store.append(key, [], {});
      await store.append(key, numbered(1, 2), { sync: true });
    });
    assert.deepEqual(await store.load(key.sessionId), { key, lines: numbered(3) });
  }),

  check('lines keep their order, also when nobody waits for an append', async (store) => {
    const key = newKey();
    await writing(store, key, async () => {
      const appends = Array.from({ length: 300 }, async (_, n) =>
        store.append(key, [line({ n })], { sync: n % 50 === 0 }),
      );
      await Promise.all(appends);
    });
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(300));
  }),

  check('what was appended is loaded before the lease ends', async (store) => {
    const key = newKey();
    await writing(store, key, async () => {
      await store.append(key, numbered(1));
      assert.deepEqual(await linesOf(store, key.sessionId), numbered(1));
    });
  }),

  check('a change to what was loaded changes nothing that is kept', async (store) => {
    const key = newKey();
    await store.append(key, numbered(2));
    (await linesOf(store, key.sessionId))?.splice(0);
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(2));
  }),

  check('text comes back as it was: every script, separators, escapes', async (store) => {
    const key = newKey();
    const texts = [
      '\u2028\u2029\u0085',
      '日本語 é 😀',
      '\\ " \\n \\u0000',
      '\u0000\u0007\ud800',
      "'; DROP TABLE x; --",
      '$1 %s ?',
    ];
    const lines = texts.map((text) => line({ text }));
    await writing(store, key, async () => {
      for (const one of lines) await store.append(key, [one]);
      await store.append(key, lines, { sync: true });
    });
    assert.deepEqual(await linesOf(store, key.sessionId), [...lines, ...lines]);
  }),

  check('a line may be large', async (store) => {
    const key = newKey();
    const lines = [
      line(),
      line({ text: 'é'.repeat(3_000_000) }),
      line({ n: 1 }),
      line({ text: 'x'.repeat(5_000_000) }),
    ];
    await writing(store, key, async () => store.append(key, lines));
    const loaded = (await linesOf(store, key.sessionId)) ?? [];
    // Nobody wants to read the difference.
    assert.deepEqual(
      loaded.map((one, place) => one === lines[place] || `line ${place} has ${one.length} characters`),
      lines.map(() => true),
    );
  }),

  check('a log may be long', async (store) => {
    const key = newKey();
    const lines = numbered(6_000);
    await writing(store, key, async () => {
      for (let from = 0; from < lines.length; from += 1_000) await store.append(key, lines.slice(from, from + 1_000));
    });
    assert.deepEqual(await linesOf(store, key.sessionId), lines);
  }),

  check('many sessions at once do not mix', async (store) => {
    const keys = Array.from({ length: 25 }, () => newKey());
    await Promise.all(
      keys.map(async (key) =>
        writing(store, key, async () => {
          for (let n = 0; n < 8; n += 1) await store.append(key, [line({ id: key.sessionId, n })]);
        }),
      ),
    );
    for (const { sessionId } of keys) {
      const expected = Array.from({ length: 8 }, (_, n) => line({ id: sessionId, n }));
      assert.deepEqual(await linesOf(store, sessionId), expected);
    }
    assert.equal((await store.list()).length, keys.length);
  }),
];

const listing: StoreCheck[] = [
  check('the list has the newest session first', async (store) => {
    const [one, two, three] = [newKey(), newKey(), newKey()];
    await store.append(one, [line()]);
    await makeNewer(store, two, one);
    await makeNewer(store, three, two);
    await makeNewer(store, one, three);
    const ids = (await store.list()).map(({ sessionId }) => sessionId);
    assert.deepEqual(ids, [one.sessionId, three.sessionId, two.sessionId]);
  }),

  check('the list of a folder has only its sessions', async (store) => {
    const [here, there] = [newKey(), newKey('/project/two')];
    await store.append(here, [line()]);
    await store.append(there, [line({}, '/project/two')]);
    const [found, ...others] = await store.list({ cwd: '/project/two' });
    assert.deepEqual(others, []);
    assert.equal(found?.sessionId, there.sessionId);
    assert.equal(found.cwd, '/project/two');
    assert.ok(Math.abs(found.lastModified - Date.now()) < 600_000, 'lastModified is in milliseconds since 1970');
    assert.equal((await store.list()).length, 2);
  }),

  check('a session is found by its id alone', async (store) => {
    const key = newKey('/some/where else');
    await store.append(key, [line({}, key.cwd)]);
    assert.deepEqual((await store.load(key.sessionId))?.key, key);
  }),

  check('the summary of a session is what the list says of it', async (store) => {
    if (!store.summary) return;
    const [one, two] = [newKey(), newKey('/project/two')];
    await store.append(one, [line()]);
    await store.append({ ...one, agentId: 'a1' }, [line()]);
    await store.append(two, [line({}, two.cwd)]);
    for (const listed of await store.list()) assert.deepEqual(await store.summary(listed.sessionId), listed);
  }),

  check('a session is in the archive until it is taken out, also while it is being written', async (store) => {
    if (!store.archive) return;
    const { archive } = store;
    const [key, other] = [newKey(), newKey()];
    const listed = async ({ sessionId }: SessionKey) =>
      (await store.list()).find((one) => one.sessionId === sessionId)?.archive;
    await store.append(key, numbered(2));
    await store.append(other, numbered(1));
    assert.equal(await listed(key), undefined);
    await writing(store, key, async () => {
      for (const archived of [true, false, true]) {
        const kept = { archived, at: new Date(archived ? 1_000 : 2_000).toISOString() };
        await archive.call(store, key, kept);
        assert.deepEqual(await listed(key), kept);
        if (store.summary) assert.deepEqual((await store.summary(key.sessionId))?.archive, kept);
      }
    });
    assert.equal(await listed(other), undefined);
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(2));
    await store.delete(key.sessionId);
    await store.append(key, numbered(1));
    assert.equal(await listed(key), undefined);
  }),

  check('a glance shows both ends of a log, each line once and in order', async (store) => {
    if (!store.glance) return;
    const key = newKey();
    const lines = Array.from({ length: 3_000 }, (_, n) => line({ n, text: 'x'.repeat(100) }));
    await store.append(key, lines);
    const glance = await store.glance(key.sessionId);
    assert.ok(glance, 'there is something to show');
    const { head, tail } = glance;
    assert.deepEqual(glance.key, key);
    assert.ok(head.length > 0 && tail.length > 0, 'both ends are shown');
    assert.ok(head.length + tail.length < lines.length, 'only the ends are shown');
    assert.deepEqual(head, lines.slice(0, head.length));
    assert.deepEqual(tail, lines.slice(-tail.length));
  }),

  check('a glance at a short log shows all of it', async (store) => {
    if (!store.glance) return;
    const key = newKey();
    await store.append(key, numbered(3));
    const glance = await store.glance(key.sessionId);
    assert.deepEqual([...(glance?.head ?? []), ...(glance?.tail ?? [])], numbered(3));
  }),

  check('a glance shows the first and the last line also when they are large', async (store) => {
    if (!store.glance) return;
    const key = newKey();
    const lines = [line({ text: 'a'.repeat(200_000) }), ...numbered(2_000), line({ text: 'z'.repeat(200_000) })];
    await store.append(key, lines);
    const glance = await store.glance(key.sessionId);
    const shown = [...(glance?.head ?? []), ...(glance?.tail ?? [])];
    assert.ok(shown[0] === lines[0], 'the first line is shown');
    assert.ok(shown.at(-1) === lines.at(-1), 'the last line is shown');
  }),

  check('subagents have logs of their own, which are not sessions', async (store) => {
    const key = newKey();
    await writing(store, key, async () => {
      await store.append(key, numbered(1));
      await store.append({ ...key, agentId: 'a1' }, numbered(2));
      await store.append({ ...key, agentId: 'a2' }, numbered(3));
      await store.append({ ...key, agentId: 'a1' }, numbered(1, 2));
    });
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(1));
    assert.deepEqual(await store.load(key.sessionId, { agentId: 'a1' }), {
      key: { ...key, agentId: 'a1' },
      lines: numbered(3),
    });
    assert.deepEqual(await linesOf(store, key.sessionId, 'a2'), numbered(3));
    assert.equal(await store.load(key.sessionId, { agentId: 'a3' }), undefined);
    if (store.agents) assert.deepEqual((await store.agents(key.sessionId)).toSorted(), ['a1', 'a2']);
    assert.equal((await store.list()).length, 1);
  }),
];

const leasing: StoreCheck[] = [
  check('one writes a session; a second gets session_locked, and may when the first has let go', async (store) => {
    const key = newKey();
    const lease = await store.lease(key);
    await store.append(key, numbered(1));
    assert.equal(await codeOf(() => store.lease(key)), 'session_locked');
    await lease.release();
    const again = await store.lease(key);
    await store.append(key, numbered(1, 1));
    await again.release();
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(2));
  }),

  check('a lease of one session does not hold up another', async (store) => {
    const [one, two] = [newKey(), newKey()];
    const lease = await store.lease(one);
    const other = await store.lease(two);
    await other.release();
    await lease.release();
  }),

  check('a holder that is just closing is waited for', async (store) => {
    const key = newKey();
    const lease = await store.lease(key);
    const waiting = Promise.resolve(store.lease(key));
    await new Promise((resolve) => setImmediate(resolve));
    await lease.release();
    await (await waiting).release();
  }),

  check('to let go twice does nothing, and takes nothing from the next holder', async (store) => {
    const key = newKey();
    const first = await store.lease(key);
    await first.release();
    const second = await store.lease(key);
    await first.release();
    assert.equal(await codeOf(() => store.lease(key)), 'session_locked');
    await second.release();
  }),

  check('a mark needs no lease, nor does it disturb the one who has it', async (store) => {
    const key = newKey();
    await store.append(key, numbered(1));
    const lease = await store.lease(key);
    await store.append(key, numbered(1, 1));
    await lease.release();
    await store.append(key, numbered(1, 2), { sync: true });
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(3));
  }),

  check('what is deleted is gone, with its subagents; the id can be used again', async (store) => {
    const [key, other] = [newKey(), newKey()];
    await store.append(other, numbered(1));
    await store.append(key, numbered(3));
    await store.append({ ...key, agentId: 'a1' }, numbered(1));
    await store.delete(key.sessionId);
    assert.equal(await store.load(key.sessionId), undefined);
    assert.equal(await store.load(key.sessionId, { agentId: 'a1' }), undefined);
    assert.deepEqual((await store.agents?.(key.sessionId)) ?? [], []);
    assert.deepEqual(
      (await store.list()).map(({ sessionId }) => sessionId),
      [other.sessionId],
    );
    await store.delete(key.sessionId);
    await store.append(key, numbered(1, 7));
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(1, 7));
  }),

  check('a session that is being written cannot be deleted', async (store) => {
    const key = newKey();
    const lease = await store.lease(key);
    await store.append(key, numbered(1));
    assert.equal(await codeOf(() => store.delete(key.sessionId)), 'session_locked');
    await store.append(key, numbered(1, 1));
    await lease.release();
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(2));
    await store.delete(key.sessionId);
    assert.equal(await store.load(key.sessionId), undefined);
  }),

  check('in a store of files, a line that broke off is left out and spoils no other', async (store) => {
    const key = newKey();
    await store.append(key, numbered(2));
    const path = store.pathOf?.(key);
    if (path === undefined || !existsSync(path)) return;
    appendFileSync(path, '{"type":"us');
    assert.deepEqual(await linesOf(store, key.sessionId), numbered(2));
    await writing(store, key, async () => {
      await store.append(key, numbered(1, 2));
      appendFileSync(path, '{"type":"us');
      await store.append(key, numbered(1, 3));
    });
    appendFileSync(path, '{"type":"us');
    await store.append(key, numbered(1, 4));
    const whole = (await linesOf(store, key.sessionId))?.filter((one) => one.endsWith('}'));
    assert.deepEqual(whole, numbered(5));
  }),
];

/**
 * What every SessionStore must do. Made for any test framework:
 * `for (const { name, run } of storeConformance) test(name, () => run(createStore))`.
 */
export const storeConformance: readonly StoreCheck[] = [...reading, ...listing, ...leasing];
