import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine, createMemoryStore, systemClock } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Message, SessionStore } from '../../src/protocol/index.js';
import { isRunning, untilGone } from '../workspace/running.js';
import { outline, PATH_ENV, resultText, type RunOptions, scratch, start, user } from './kit.js';
import { createTracedStore } from './traced-store.js';

const SESSION = '99999999-2222-4333-8444-555555555561';
const bypass = { permissionMode: 'bypassPermissions' as const, allowDangerouslySkipPermissions: true };
const never = new Promise<never>(() => {});
const uuidOf = (digit: number) => `${String(digit).repeat(8)}-2222-4333-8444-555555555555`;

describe('B1: closing a session', () => {
  it('ends what its calls left running', async () => {
    const cwd = scratch();
    const provider = createScriptedModel([
      { toolUse: { name: 'Bash', input: { command: 'sleep 600 & echo $!' }, id: 't1' } },
      'ok',
    ]);
    const engine = createEngine({ clock: systemClock, store: createMemoryStore(), provider });
    const session = await engine.open({ cwd, env: PATH_ENV, configDir: cwd, ...bypass });
    const messages: Message[] = [];
    session.attach({ deliver: (message) => messages.push(message) });
    session.submit(user('go'));
    session.endInput();
    await session.finished;
    const pid = Number(resultText(messages, 't1'));
    expect(isRunning(pid)).toBe(true);
    await session.close();
    await untilGone(pid);
  });

  it('lets the store go once, after the last entry', async () => {
    const events: string[] = [];
    const store: SessionStore = {
      ...createTracedStore(events),
      lease: ({ sessionId }) => ({ release: () => void events.push(`release ${sessionId}`) }),
    };
    const run = await start([{ text: 'x', waitFor: never }], { store, config: { sessionId: SESSION } });
    run.session.submit(user('go'));
    await run.seen((message) => message.type === 'system');
    await Promise.all([run.session.close(), run.session.close()]);
    await run.session.close();
    expect(events.slice(-2)).toEqual(['turn ended', `release ${SESSION}`]);
    expect(events.filter((event) => event.startsWith('release'))).toHaveLength(1);
  });

  it('says of what was queued that it was dropped (G2)', async () => {
    const run = await start([{ text: 'x', waitFor: never }]);
    for (const digit of [1, 2, 3]) run.session.submit(user(String(digit), { uuid: uuidOf(digit) }));
    await run.seen((message) => message.type === 'system');
    await run.session.close();
    const told = (digit: number) =>
      run.messages.flatMap((one) =>
        one.type === 'command_lifecycle' && one.command_uuid === uuidOf(digit) ? [one.state] : [],
      );
    expect(told(2)).toEqual(['queued', 'dropped']);
    expect(told(3)).toEqual(['queued', 'dropped']);
    expect(told(1)).not.toContain('dropped');
    expect(run.model.requests.length).toBeLessThanOrEqual(1);
  });

  it('G2: an interrupt that cancels the queue drops it too, and the session goes on', async () => {
    const called = Promise.withResolvers<void>();
    const hanging = () => {
      called.resolve();
      return { text: 'x', waitFor: never };
    };
    const run = await start([hanging, 'later']);
    for (const digit of [1, 2]) run.session.submit(user(String(digit), { uuid: uuidOf(digit) }));
    await called.promise;
    const over = run.nextResult();
    expect(run.session.interrupt({ cancelQueued: true })).toEqual({ stillQueued: [] });
    await over;
    expect(run.messages).toContainEqual(expect.objectContaining({ command_uuid: uuidOf(2), state: 'dropped' }));
    expect(await run.ask('3')).toMatchObject({ result: 'later' });
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).not.toContain('"2"');
  });

  it('a client of SDK 0.2 is told nothing of it', async () => {
    const client = { entrypoint: 'sdk-ts', version: '0.2.50' };
    const run = await start(['ok'], { config: { client } });
    await run.ask('1', { uuid: uuidOf(1) });
    expect(outline(run.messages)).toEqual(['system/init', 'assistant "ok"', 'result success turns=1']);
  });
});

describe('F1: what was chosen is logged, and holds after a resume', () => {
  async function afterResume(
    choose: (run: Awaited<ReturnType<typeof start>>) => unknown,
    config: RunOptions['config'] = {},
  ) {
    const first = await start(['one'], { config: { sessionId: SESSION } });
    await first.ask('1');
    await choose(first);
    await first.session.close();
    const again = await start([{ id: 'again', text: 'two' }], {
      store: first.store,
      cwd: first.cwd,
      config: { resume: SESSION, ...config },
    });
    await again.ask('2');
    return { first, again, body: again.model.requests[0]?.body, state: again.session.scope.state };
  }

  it('the permission mode', async () => {
    const choose = (run: Awaited<ReturnType<typeof start>>) => run.session.setPermissionMode('acceptEdits');
    const { again, state } = await afterResume(choose);
    expect(state.mode).toBe('acceptEdits');
    expect(again.messages[0]).toMatchObject({ subtype: 'init', permissionMode: 'acceptEdits' });
    expect((await afterResume(choose, { permissionMode: 'plan' })).state.mode).toBe('plan');
  });

  it('the thinking: a number, none, and back to what is configured', async () => {
    const thinking = { type: 'enabled' as const, budgetTokens: 2_000 };
    const set = (...values: (number | null)[]) =>
      afterResume(
        ({ session }) => {
          for (const value of values) session.setMaxThinkingTokens(value);
        },
        { thinking },
      );
    expect((await set(4_000)).body?.thinking).toEqual({ type: 'enabled', budget_tokens: 4_000 });
    expect((await set(0)).body?.thinking).toBeUndefined();
    expect((await set(4_000, null)).body?.thinking).toEqual({ type: 'enabled', budget_tokens: 2_000 });
    expect((await set()).body?.thinking).toEqual({ type: 'enabled', budget_tokens: 2_000 });
  });

  it('the model', async () => {
    const { body } = await afterResume((run) => run.session.setModel('haiku'));
    expect(body?.model).toMatch(/haiku/);
  });

  it('the folder of the shell, once for each time it moves', async () => {
    const calls = ['cd sub', 'pwd', 'cd .'].map((command, index) => ({
      toolUse: { name: 'Bash', input: { command }, id: `t${index}` },
    }));
    const first = await start([...calls, 'ok'], { config: { ...bypass, sessionId: SESSION } });
    mkdirSync(join(first.cwd, 'sub'));
    await first.ask('go');
    const sets = first.session.scope.recorder.log.entries.filter((entry) => 'kind' in entry && entry.kind === 'set');
    expect(sets).toMatchObject([{ cwd: join(first.cwd, 'sub') }]);
    const again = await start([{ id: 'again', text: 'ok' }], {
      store: first.store,
      cwd: first.cwd,
      config: { resume: SESSION },
    });
    expect(again.session.scope.state.cwd).toBe(join(first.cwd, 'sub'));
  });
});

describe('what the model is told of its surroundings', () => {
  const count = (body: unknown) => JSON.stringify(body).split('Working directory: ').length - 1;

  it('stands in the log once, before the first prompt', async () => {
    const run = await start(['one', 'two'], { config: { sessionId: SESSION } });
    await run.ask('1');
    await run.ask('2');
    expect(run.model.requests.map(({ body }) => count(body.messages))).toEqual([1, 1]);
    const users = run.session.scope.recorder.log.entries.filter((entry) => entry.type === 'user');
    expect(users).toMatchObject([{ isMeta: true }, { message: { content: '1' } }, { message: { content: '2' } }]);
    const again = await start([{ id: 'again', text: 'three' }], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: SESSION },
    });
    await again.ask('3');
    expect(count(again.model.requests[0]?.body.messages)).toBe(1);
  });

  it('is shown to nobody', async () => {
    const run = await start(['one'], { config: { replayUserMessages: true } });
    await run.ask('1');
    expect(outline(run.messages)).toEqual(['system/init', 'user "1"', 'assistant "one"', 'result success turns=1']);
    expect(run.messages[1]).toMatchObject({ isReplay: true });
  });
});

describe('what a session says of itself', () => {
  it('running and idle, to a host that reads it', async () => {
    const env = { ...PATH_ENV, CLAUDE_CODE_SDK_READS_SESSION_STATE: '1' };
    const run = await start(['one'], { config: { env } });
    await run.ask('1');
    await run.seen((one) => one.type === 'system' && one.subtype === 'session_state_changed' && one.state === 'idle');
    expect(outline(run.messages)).toEqual([
      'system/session_state_changed',
      'system/init',
      'assistant "one"',
      'result success turns=1',
      'system/session_state_changed',
    ]);
  });

  it('nothing is written for a session in which nothing happens', async () => {
    const events: string[] = [];
    const run = await start([], { store: createTracedStore(events) });
    run.session.resumeTurn();
    await run.session.close();
    expect(events).toEqual([]);
  });

  it('resumeTurn() with nothing to resume does nothing', async () => {
    const run = await start(['one'], { config: { sessionId: SESSION } });
    await run.ask('1');
    const again = await start([], { store: run.store, cwd: run.cwd, config: { resume: SESSION } });
    again.session.resumeTurn();
    expect(again.session.busy).toBe(false);
    expect(again.messages).toEqual([]);
  });
});
