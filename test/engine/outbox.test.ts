import { describe, expect, it } from 'vitest';
import { Outbox } from '../../src/engine/outbox.js';
import type { Message } from '../../src/protocol/index.js';
import { outline, start } from './kit.js';
import { createTracedStore } from './traced-store.js';

const LIMIT = 16 * 1024 * 1024;

const message = (text: string): Message => ({
  type: 'system',
  subtype: 'informational',
  level: 'info',
  content: text,
  uuid: '00000000-0000-4000-8000-000000000000',
  session_id: '',
});
const texts = (messages: readonly Message[]) => messages.map((one) => ('content' in one ? one.content : one.type));

function watched(options: { after?: number } = {}) {
  const outbox = new Outbox();
  const shown: Message[] = [];
  const detach = outbox.attach({ deliver: (one) => shown.push(one) }, options);
  return { outbox, detach, shown: () => texts(shown) };
}

describe('order', () => {
  it('what is not kept waits behind an entry that is still being written', async () => {
    const { outbox, shown } = watched();
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    outbox.emit(message('before'));
    outbox.emitDurable(message('one'), first.promise);
    outbox.emit(message('delta'));
    outbox.emitAll([message('batch a'), message('batch b')]);
    outbox.emitDurable(message('two'), second.promise);
    outbox.emitDurable(message('three'));
    outbox.emit(message('last'));
    expect(shown()).toEqual(['before']);
    second.resolve();
    await second.promise;
    expect(shown()).toEqual(['before']);
    first.resolve();
    await first.promise;
    expect(shown()).toEqual(['before', 'one', 'delta', 'batch a', 'batch b', 'two', 'three', 'last']);
    outbox.emit(message('after'));
    expect(shown().at(-1)).toBe('after');
  });

  it('an entry that could not be written is shown all the same', async () => {
    const { outbox, shown } = watched();
    const failed = Promise.reject(new Error('disk full'));
    outbox.emitDurable(message('one'), failed);
    outbox.emit(message('delta'));
    await failed.catch(() => {});
    expect(shown()).toEqual(['one', 'delta']);
  });

  it('only durable messages are numbered, when they are shown', async () => {
    const { outbox } = watched();
    const written = Promise.withResolvers<void>();
    outbox.emitDurable(message('one'));
    outbox.emit(message('delta'));
    outbox.emitDurable(message('two'), written.promise);
    expect(outbox.seq).toBe(1);
    written.resolve();
    await written.promise;
    expect(outbox.seq).toBe(2);
    const late: Message[] = [];
    outbox.attach({ deliver: (one) => late.push(one) }, { after: 0 });
    expect(texts(late)).toEqual(['one', 'two']);
  });

  it('a batch stays one for who takes batches; who has left gets nothing', () => {
    const { outbox, detach, shown } = watched();
    const batches: string[][] = [];
    outbox.attach({
      deliver: (one) => batches.push(texts([one])),
      deliverAll: (all) => batches.push(texts(all)),
    });
    outbox.emitAll([message('a'), message('b')]);
    detach();
    outbox.emit(message('c'));
    expect(batches).toEqual([['a', 'b'], ['c']]);
    expect(shown()).toEqual(['a', 'b']);
  });

  it('deltas of a turn keep their place between blocks that a slow store still writes', async () => {
    const script = [{ thinking: 'hm', text: 'ab', deltas: 2 }];
    const fast = await start(script, { config: { includePartialMessages: true } });
    await fast.ask('go');
    const slow = await start(script, {
      store: createTracedStore([], { isSlow: true }),
      config: { includePartialMessages: true },
    });
    await slow.ask('go');
    expect(outline(slow.messages)).toEqual(outline(fast.messages));
    expect(outline(slow.messages)).toContain('stream content_block_delta');
  });
});

describe('a watcher that falls behind', () => {
  const behind = (size: number, calls: number[], over: Promise<void>) => ({
    deliver() {},
    backlog: () => ({
      size,
      belowLimit: (limit: number) => {
        calls.push(limit);
        return over;
      },
    }),
  });

  it('past 16 MB the next model call waits for it', async () => {
    const run = await start(['ok']);
    const calls: number[] = [];
    const asked = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    run.session.attach({
      deliver() {},
      backlog: () => ({
        size: LIMIT + 1,
        belowLimit: (limit) => {
          calls.push(limit);
          asked.resolve();
          return over.promise;
        },
      }),
    });
    const result = run.ask('go');
    await Promise.race([asked.promise, result]);
    expect(calls).toEqual([LIMIT]);
    expect(run.model.requests).toEqual([]);
    over.resolve();
    expect(await result).toMatchObject({ result: 'ok' });
  });

  it('each call of a turn waits anew, and each watcher is waited for', async () => {
    const run = await start([{ toolUse: { name: 'Bash', input: { command: 'ls' } } }, 'ok']);
    const [first, second]: number[][] = [[], []];
    run.session.attach(behind(LIMIT + 1, first ?? [], Promise.resolve()));
    run.session.attach(behind(LIMIT * 2, second ?? [], Promise.resolve()));
    await run.ask('go');
    expect([first, second]).toEqual([
      [LIMIT, LIMIT],
      [LIMIT, LIMIT],
    ]);
  });

  it('up to 16 MB nobody waits', async () => {
    const run = await start(['ok']);
    const calls: number[] = [];
    run.session.attach(behind(LIMIT, calls, new Promise(() => {})));
    run.session.attach({ deliver() {}, backlog: () => undefined });
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(calls).toEqual([]);
  });
});
