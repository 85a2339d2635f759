import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveSession, getSessionInfo } from '../../src/engine/session-functions/functions.js';
import { createFileStore, createMemoryStore, systemClock } from '../../src/engine/index.js';
import { scratch, start } from '../engine/kit.js';

const stores = {
  file: () => createFileStore({ configDir: scratch() }),
  memory: () => createMemoryStore(),
};

describe.each(Object.entries(stores))('continue, with the %s store', (_, createStore) => {
  it('finds the session of the folder, however that is spelled, in both directions', async () => {
    const folder = join(scratch(), 'project');
    mkdirSync(folder);
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    const spellings = [folder, `${folder}/`, `${folder}/../project`, link];
    for (const cwd of spellings) {
      const store = createStore();
      const first = await start(['one'], { store, cwd });
      await first.ask('p1');
      await first.session.close();
      for (const other of spellings) {
        const again = await start(['two'], { store, cwd: other, config: { continue: true } });
        expect(again.session.id).toBe(first.session.id);
        await again.session.close();
      }
    }
  });

  it('passes over what is in the archive, until a prompt takes it out', async () => {
    const store = createStore();
    const cwd = scratch();
    const older = await start(['one'], { store, cwd });
    await older.ask('p1');
    await older.session.close();
    const newer = await start(['two'], { store, cwd });
    newer.clock.advance(60_000);
    await newer.ask('p2');
    await newer.session.close();
    const parts = { store, clock: { ...systemClock, now: () => newer.clock.now() + 1_000 } };
    await archiveSession(parts, { sessionId: newer.session.id, archived: true });
    const again = await start(['three'], { store, cwd, config: { continue: true } });
    expect(again.session.id).toBe(older.session.id);
    await again.session.close();
    const resumed = await start(['four'], { store, cwd, config: { resume: newer.session.id } });
    resumed.clock.advance(120_000);
    await resumed.ask('p3');
    await resumed.session.close();
    expect(await getSessionInfo(parts, newer.session.id)).toMatchObject({ archived: false });
    if (store.archive) {
      expect(await store.summary?.(newer.session.id)).toMatchObject({ archive: { archived: false } });
      expect(await store.summary?.(older.session.id)).not.toHaveProperty('archive');
    }
  });
});
