import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore, systemClock } from '../../src/engine/index.js';
import { resultText, start } from '../engine/kit.js';
import { functions, hastyClock } from './functions-kit.js';
import { bodiesOf, CALL, diedWhileAsked, linesOf, storeWith } from './kit.js';

describe('functions on sessions that the engine wrote', () => {
  it.each(['allow', 'deny'] as const)('%s while nothing runs, then resume: nobody is asked (C6)', async (behavior) => {
    const { store, key } = await diedWhileAsked();
    const { sessionId, cwd } = key;
    const parts = { store, clock: systemClock };
    expect(await functions.pendingApprovals(parts, sessionId)).toMatchObject([
      { toolUseId: 't1', toolName: 'Bash', input: { command: 'echo x >> made' }, cwd },
    ]);
    await functions.answerApproval(parts, { sessionId, answer: { behavior, message: 'not on a Sunday' } });
    const run = await start(['done'], {
      store,
      cwd,
      config: { resume: sessionId },
      ask: () => Promise.reject(new Error('nobody must be asked')),
    });
    expect(await run.ask('and?')).toMatchObject({ subtype: 'success', result: 'done' });
    expect(existsSync(join(cwd, 'made'))).toBe(behavior === 'allow');
    if (behavior === 'deny') expect(resultText(run.messages, 't1')).toContain('not on a Sunday');
    expect(await functions.pendingApprovals(parts, sessionId)).toEqual([]);
  });

  it('a session that runs is answered there, can be renamed, and cannot be deleted (F6)', async () => {
    const run = await start(['one'], { store: createMemoryStore({ clock: hastyClock }) });
    await run.ask('go');
    const parts = { store: run.store, clock: systemClock };
    const sessionId = run.session.id;
    await functions.renameSession(parts, { sessionId, title: 'Mine' });
    expect(await functions.getSessionInfo(parts, sessionId)).toMatchObject({ summary: 'Mine', firstPrompt: 'go' });
    const answer = { behavior: 'allow' as const };
    await expect(functions.answerApproval(parts, { sessionId, answer })).rejects.toMatchObject({
      code: 'session_locked',
      hint: expect.stringMatching(/answer there/),
    });
    await expect(functions.deleteSession(parts, sessionId)).rejects.toMatchObject({ code: 'session_locked' });
    await run.session.close();
    await functions.deleteSession(parts, sessionId);
    expect(await functions.listSessions(parts)).toEqual([]);
  });

  it('a fork goes on as the other would have (F4)', async () => {
    const run = await start([CALL, 'made it', 'more'], { config: { permissionMode: 'bypassPermissions' } });
    await run.ask('go');
    const key = { sessionId: run.session.id, cwd: run.cwd };
    const store = await storeWith(key, await linesOf(run));
    const before = (await store.load(key.sessionId))?.lines;
    const { sessionId } = await functions.forkSession({ store, clock: systemClock }, key.sessionId);
    expect((await store.load(key.sessionId))?.lines).toEqual(before);
    await run.ask('and now?');
    const config = { resume: sessionId, permissionMode: 'bypassPermissions' as const };
    const fork = await start(['more'], { store, cwd: key.cwd, config });
    await fork.ask('and now?');
    expect(bodiesOf(fork)).toEqual(bodiesOf(run).slice(-1));
    expect(fork.messages.every((message) => !('session_id' in message) || message.session_id === sessionId)).toBe(true);
    await fork.session.close();
    const again = await start(['yes'], { store, cwd: key.cwd, config });
    expect(await again.ask('again')).toMatchObject({ subtype: 'success', result: 'yes' });
  });
});
