import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import * as sdk from '../../src/sdk/index.js';
import { createPlace, LogMaker } from './functions-kit.js';

describe('the functions of the package', () => {
  it('do what the engine does, in the configuration folder that is named', async () => {
    const place = createPlace();
    const { configDir } = place;
    const maker = new LogMaker().turn('one', 'first');
    const sessionId = place.write(maker);
    const options = { configDir };
    await sdk.renameSession(sessionId, 'Title', options);
    await sdk.tagSession(sessionId, 'work', options);
    await sdk.archiveSession(sessionId, { ...options, dir: maker.cwd });
    expect(await sdk.listSessions(options)).toMatchObject([
      { sessionId, summary: 'Title', tag: 'work', archived: true },
    ]);
    await sdk.unarchiveSession(sessionId, options);
    expect(await sdk.getSessionInfo(sessionId, options)).toMatchObject({ archived: false });
    expect(await sdk.getSessionMessages(sessionId, options)).toHaveLength(2);
    expect(await sdk.listSubagents(sessionId, options)).toEqual([]);
    expect(await sdk.getSubagentMessages(sessionId, 'a', options)).toEqual([]);
    const fork = await sdk.forkSession(sessionId, options);
    expect((await sdk.searchSessions('first', options)).map((found) => found.sessionId).toSorted()).toEqual(
      [sessionId, fork.sessionId].toSorted(),
    );
    expect(await sdk.exportSession(sessionId, { ...options, format: 'markdown' })).toMatch(/^# Title/);
    expect(await sdk.pendingApprovals(sessionId, options)).toEqual([]);
    await expect(sdk.answerApproval(sessionId, { behavior: 'allow' }, options)).rejects.toThrow(/Nothing waits/);
    await sdk.deleteSession(sessionId, options);
    await expect(sdk.deleteSession(sessionId, options)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('take a store instead', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    const sessionId = place.write(maker);
    const entries = new Map<string, object[]>();
    const store = {
      append: async (key: object, some: object[]) => {
        const name = JSON.stringify(key);
        entries.set(name, [...(entries.get(name) ?? []), ...some]);
      },
      load: async (key: object) => (entries.get(JSON.stringify(key)) ?? null) as { type: string }[] | null,
    };
    await sdk.importSessionToStore(sessionId, store, { configDir: place.configDir });
    const options = { sessionStore: store, dir: maker.cwd };
    expect(await sdk.getSessionMessages(sessionId, options)).toHaveLength(2);
    expect(await sdk.getSessionMessages(randomUUID(), options)).toEqual([]);
    await expect(sdk.listSessions(options)).rejects.toMatchObject({ code: 'not_supported', message: /listSessions/ });
  });
});
