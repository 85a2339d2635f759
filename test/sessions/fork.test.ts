import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { start } from '../engine/kit.js';
import { bodiesOf, linesOf } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };

async function parent() {
  const run = await start([{ id: 'm1', toolUse: { id: 't1', name: 'Bash', input: { command: 'echo one' } } }, 'done'], {
    config: bypass,
  });
  await run.ask('first');
  return run;
}

describe('F4: a fork', () => {
  it('has a new id in every message and line, and leaves its parent as it is', async () => {
    const first = await parent();
    const before = await linesOf(first);
    const fork = await start(['second'], {
      store: first.store,
      cwd: first.cwd,
      config: { ...bypass, resume: first.session.id, forkSession: true },
    });
    await fork.ask('go on');
    expect(fork.session.id).not.toBe(first.session.id);
    expect(await linesOf(first)).toEqual(before);
    for (const message of fork.messages) expect(message).toMatchObject({ session_id: fork.session.id });
    const lines = await linesOf(fork);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ sessionId: fork.session.id });
    expect(lines.map((line) => JSON.parse(line)).filter(({ forkedFrom }) => forkedFrom)).not.toHaveLength(0);
  });

  it('can be resumed, and asks what the uninterrupted one would', async () => {
    const first = await parent();
    const config = { ...bypass, resume: first.session.id, forkSession: true };
    const fork = await start(['second', 'third'], { store: first.store, cwd: first.cwd, config });
    await fork.ask('go on');
    await fork.ask('and on');
    const copy = createMemoryStore();
    const lines = await linesOf(fork);
    const end = lines.findIndex((line) => line.includes('"and on"'));
    const turn = lines.slice(0, end).findLastIndex((line) => line.includes('"state":"started"'));
    await copy.append({ sessionId: fork.session.id, cwd: first.cwd }, lines.slice(0, turn));
    const again = await start(['third'], {
      store: copy,
      cwd: first.cwd,
      config: { ...bypass, resume: fork.session.id },
    });
    await again.ask('and on');
    expect(bodiesOf(again)).toEqual(bodiesOf(fork).slice(1));
  });

  it('never takes the id of a session that is there', async () => {
    const first = await parent();
    const before = await linesOf(first);
    const forked = start([], {
      store: first.store,
      cwd: first.cwd,
      config: { ...bypass, resume: first.session.id, forkSession: true, sessionId: first.session.id },
    });
    await expect(forked).rejects.toMatchObject({ code: expect.stringMatching(/session_(exists|locked)/) });
    await first.session.close();
    const again = start([], {
      store: first.store,
      cwd: first.cwd,
      config: { ...bypass, resume: first.session.id, forkSession: true, sessionId: first.session.id },
    });
    await expect(again).rejects.toMatchObject({ code: 'session_exists' });
    expect(await linesOf(first)).toEqual(before);
  });

  it('starts with no costs of its own', async () => {
    const first = await parent();
    const config = { ...bypass, resume: first.session.id, forkSession: true };
    const fork = await start(['second'], { store: first.store, cwd: first.cwd, config });
    const result = await fork.ask('go on');
    const alone = await (await start(['x'], { config: bypass })).ask('y');
    const tokens = ({ modelUsage }: typeof result) =>
      Object.values(modelUsage).reduce((sum, { outputTokens }) => sum + outputTokens, 0);
    expect(tokens(result)).toBe(tokens(alone));
  });

  it('does not run what waits for an answer in its parent', async () => {
    const asked = Promise.withResolvers<void>();
    const waiting = await start([{ toolUse: { id: 't1', name: 'Bash', input: { command: 'touch made' } } }], {
      ask: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    void waiting.ask('go');
    await asked.promise;
    const config = { ...bypass, resume: waiting.session.id, forkSession: true };
    const fork = await start(['ok'], { store: waiting.store, cwd: waiting.cwd, config });
    expect(fork.session.resumeTurn()).toBe(false);
    await fork.ask('what now');
    expect(JSON.stringify(fork.model.requests[0]?.body.messages)).toContain('was not run');
    await waiting.session.close();
  });
});
