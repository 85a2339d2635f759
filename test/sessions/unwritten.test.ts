import { describe, expect, it } from 'vitest';
import { readEntries, toChain } from '../../src/engine/sessions/chain.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { Log } from '../../src/engine/sessions/log.js';
import { createMemoryStore } from '../../src/engine/index.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { start } from '../engine/kit.js';
import { bodiesOf, linesOf } from './kit.js';

const key = { sessionId: '99999999-2222-4333-8444-555555555552', cwd: '/' };
const noted = (path: string): Entry => ({
  type: 'heddle',
  kind: 'noted',
  sessionId: 's',
  timestamp: 't',
  path,
  hash: 'h',
});

/** A store that takes its time; `act` says what becomes of each append. */
function slow(act: (count: number, commit: () => void) => Promise<void>) {
  const kept = createMemoryStore();
  let count = 0;
  const calls: { lines: readonly string[]; sync: boolean | undefined }[] = [];
  const store: SessionStore = {
    ...kept,
    append(of, lines, options) {
      count += 1;
      calls.push({ lines, sync: options?.sync });
      return act(count, () => void kept.append(of, lines));
    },
  };
  const paths = async () =>
    (await readEntries((await kept.load(key.sessionId))?.lines ?? [])).map((entry) =>
      'path' in entry ? entry.path : '',
    );
  return { store, calls, paths };
}

const blip = (nth: number) =>
  slow(async (count, commit) => {
    if (count === nth) throw new Error('blip');
    commit();
  });

describe('a store that takes its time', () => {
  it.each([1, 2, 3])('keeps every line, in order, when append %i fails', async (nth) => {
    const { store, paths } = blip(nth);
    const log = new Log({ key, store });
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(async (path) => log.append(noted(path))));
    outcomes.push(...(await Promise.allSettled(['d', 'e'].map(async (path) => log.append(noted(path))))));
    await log.release();
    expect(await paths()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  });

  it('tries the last line once more before it lets go', async () => {
    const { store, paths } = blip(2);
    const log = new Log({ key, store });
    await log.append(noted('a'));
    await expect(log.append(noted('b'))).rejects.toThrow('blip');
    expect(await paths()).toEqual(['a']);
    await log.release();
    expect(await paths()).toEqual(['a', 'b']);
  });

  it('a line that was written although the answer was lost counts once', async () => {
    const { store, paths } = slow(async (count, commit) => {
      commit();
      if (count === 1) throw new Error('the answer was lost');
    });
    const log = new Log({ key, store });
    await expect(log.append(noted('a'))).rejects.toThrow('lost');
    await log.append(noted('b'));
    expect(await paths()).toEqual(['a', 'b']);
  });

  it('one that arrives after it was written again counts where it was first', async () => {
    let late = () => {};
    const { store, paths } = slow(async (count, commit) => {
      if (count > 1) return commit();
      late = commit;
      throw new Error('too late');
    });
    const log = new Log({ key, store });
    await expect(log.append(noted('a'))).rejects.toThrow('too late');
    await log.append(noted('b'));
    late();
    expect(await paths()).toEqual(['a', 'b']);
  });

  it('what must reach the disk is asked to, also when it had to wait', async () => {
    const gate = Promise.withResolvers<void>();
    const { store, calls } = slow(async (_, commit) => {
      await gate.promise;
      commit();
    });
    const log = new Log({ key, store });
    const first = log.append(noted('a'));
    const second = log.append(noted('b'), { sync: true });
    const third = log.append(noted('c'));
    gate.resolve();
    await Promise.all([first, second, third]);
    expect(calls.map(({ lines, sync }) => [lines.length, sync])).toEqual([
      [1, false],
      [2, true],
    ]);
  });

  it('F1: after a blip at any append the next request is that of the uninterrupted run', async () => {
    const script = [
      { id: 'm1', toolUse: { id: 't1', name: 'Bash', input: { command: 'echo hi' } } },
      { id: 'm2', text: 'one' },
    ];
    const config = { permissionMode: 'bypassPermissions' as const };
    const whole = await start([...script, { id: 'm3', text: 'two' }], { config });
    await whole.ask('p1');
    await whole.ask('p2');
    const expected = bodiesOf(whole).at(-1);
    for (let nth = 1; nth < 12; nth += 1) {
      const { store } = blip(nth);
      const first = await start(script, { config, store, cwd: whole.cwd });
      const result = await first.ask('p1');
      await first.session.close();
      const again = await start([{ id: 'm3', text: 'two' }], {
        store,
        cwd: whole.cwd,
        config: { ...config, resume: first.session.id },
      });
      const total = await again.ask('p2');
      expect(bodiesOf(again)).toEqual([expected]);
      expect(total.total_cost_usd).toBeCloseTo(result.total_cost_usd * 1.5, 5);
      const entries = toChain(await readEntries(await linesOf(again)));
      expect(entries.filter((entry) => 'kind' in entry && entry.kind === 'step')).toHaveLength(3);
    }
  });
});
