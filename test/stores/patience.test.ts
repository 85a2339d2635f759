import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/stores/memory-store.js';
import { withPatience } from '../../src/engine/stores/patience.js';
import { HeddleError } from '../../src/protocol/plain.js';
import type { Lease, SessionStore } from '../../src/protocol/index.js';
import { createFakeClock } from '../../src/testing/index.js';

const key = { sessionId: '11111111-2222-4333-8444-555555555555', cwd: '/ws' };

const CALLS: Record<string, (store: SessionStore) => unknown> = {
  append: (store) => store.append(key, ['{}']),
  load: (store) => store.load(key.sessionId),
  list: (store) => store.list(),
  delete: (store) => store.delete(key.sessionId),
  lease: (store) => store.lease(key),
  summary: (store) => store.summary?.(key.sessionId),
  archive: (store) => store.archive?.(key, { archived: true, at: new Date(0).toISOString() }),
  glance: (store) => store.glance?.(key.sessionId),
  agents: (store) => store.agents?.(key.sessionId),
};

/** A store of which one operation does something else. */
const storeWith = (operation: string, act: () => unknown): SessionStore => ({
  ...createMemoryStore(),
  [operation]: act,
});

describe('a store that hangs', () => {
  it.each(Object.entries(CALLS))('%s: store_failed with its name, and what is safe', async (operation, call) => {
    const clock = createFakeClock();
    const store = withPatience(
      storeWith(operation, () => new Promise(() => {})),
      { clock, loadMs: 5_000, appendMs: 7_000 },
    );
    const outcome = Promise.resolve(call(store)).catch((error: unknown) => error);
    await clock.armed();
    clock.advance(7_000);
    const ms = ['append', 'archive', 'lease', 'delete'].includes(operation) ? 7_000 : 5_000;
    expect(await outcome).toMatchObject({
      code: 'store_failed',
      retryable: true,
      message: `The store of sessions did not answer "${operation}" within ${ms / 1000} s.`,
      hint: expect.stringMatching(/safe|Nothing was|Delete it again/),
      data: { operation, ms },
    });
    expect(clock.pending).toEqual([]);
  });

  it('gives a minute when nothing else is said', async () => {
    const clock = createFakeClock();
    const store = withPatience(
      storeWith('load', () => new Promise(() => {})),
      { clock },
    );
    void store.load(key.sessionId).catch(() => {});
    await clock.armed();
    expect(clock.pending).toEqual([60_000]);
  });

  it('a lease that comes too late is let go', async () => {
    const clock = createFakeClock();
    const late = Promise.withResolvers<object>();
    const store = withPatience(
      storeWith('lease', () => late.promise),
      { clock },
    );
    const outcome = Promise.resolve(store.lease(key)).catch((error: unknown) => error);
    clock.advance(60_000);
    expect(await outcome).toMatchObject({ code: 'store_failed' });
    await new Promise<void>((release) => late.resolve({ release }));
  });
});

describe('the end of a lease', () => {
  const holding = (release: () => unknown, clock = createFakeClock()) => {
    const store = withPatience(
      storeWith('lease', () => ({ release })),
      { clock, appendMs: 7_000 },
    );
    return { clock, lease: store.lease(key) as Lease };
  };

  it('that hangs is waited for no longer than an append', async () => {
    const { clock, lease } = holding(() => new Promise(() => {}));
    const outcome = Promise.resolve(lease.release()).catch((error: unknown) => error);
    await clock.armed();
    clock.advance(7_000);
    expect(await outcome).toMatchObject({
      code: 'store_failed',
      message: 'The store of sessions did not answer "release" within 7 s.',
      hint: expect.stringContaining('safe'),
    });
    expect(clock.pending).toEqual([]);
  });

  it('that fails is store_failed, whichever way', async () => {
    const failed = { code: 'store_failed', message: 'The store of sessions failed at "release": out' };
    const { lease } = holding(async () => {
      throw new Error('out');
    });
    await expect(lease.release()).rejects.toMatchObject(failed);
    const thrower = holding(() => {
      throw new Error('out');
    });
    expect(() => thrower.lease.release()).toThrow(expect.objectContaining(failed));
  });

  it('of what is no lease is told when it is taken', async () => {
    for (const given of [undefined, {}, Promise.resolve(undefined)]) {
      const store = withPatience(storeWith('lease', () => given));
      await expect((async () => store.lease(key))()).rejects.toMatchObject({ code: 'store_failed' });
    }
  });
});

describe('a log that is none', () => {
  it('is told when it is loaded', async () => {
    const store = withPatience(storeWith('load', async () => ({ key, lines: 'x' })));
    await expect(store.load(key.sessionId)).rejects.toMatchObject({
      code: 'store_failed',
      hint: /Nothing was changed/,
    });
    expect(await withPatience(createMemoryStore()).load(key.sessionId)).toBeUndefined();
  });
});

describe('what is no store', () => {
  it.each([[{}], [null], [5], [{ append() {}, load() {} }]])('%j: invalid_config', (given) => {
    expect(() => withPatience(given as unknown as SessionStore)).toThrow(
      expect.objectContaining({ code: 'invalid_config', hint: expect.stringContaining('lease') }),
    );
  });
});

describe('a store that fails', () => {
  const failures: Record<string, () => unknown> = {
    throws: () => {
      throw new Error('the cable is out');
    },
    rejects: async () => {
      throw new Error('the cable is out');
    },
  };

  it.each(Object.keys(CALLS).flatMap((operation) => Object.keys(failures).map((way) => [operation, way] as const)))(
    '%s %s: store_failed with its words',
    async (operation, way) => {
      const store = withPatience(storeWith(operation, () => failures[way]?.()));
      await expect((async () => CALLS[operation]?.(store))()).rejects.toMatchObject({
        code: 'store_failed',
        message: `The store of sessions failed at "${operation}": the cable is out`,
        cause: expect.objectContaining({ message: 'the cable is out' }),
      });
    },
  );

  it('keeps errors that say more', async () => {
    const store = withPatience(
      storeWith('lease', () => {
        throw new HeddleError('session_locked', 'locked');
      }),
    );
    expect(() => store.lease(key)).toThrow(expect.objectContaining({ code: 'session_locked' }));
  });
});

describe('a store that works', () => {
  it('is as synchronous as it was, and leaves no timer', async () => {
    const clock = createFakeClock();
    const store = withPatience(createMemoryStore(), { clock });
    expect(store.lease(key)).not.toBeInstanceOf(Promise);
    expect(store.append(key, ['{"n":1}'])).toBeUndefined();
    expect((await store.load(key.sessionId))?.lines).toEqual(['{"n":1}']);
    expect(clock.pending).toEqual([]);
  });

  it('has only what it had', () => {
    const { append, load, list, delete: remove, lease } = createMemoryStore();
    const store = withPatience({ append, load, list, delete: remove, lease });
    expect(Object.keys(store).toSorted()).toEqual(['append', 'delete', 'lease', 'list', 'load']);
  });
});
