import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/index.js';
import { toInfo } from '../../src/engine/sessions/info.js';
import { scratch, start } from '../engine/kit.js';

const LONG = 'x'.repeat(40_000);

describe('F7: the title of a session that grows', () => {
  it('stays where whoever lists sessions looks, also when another process has set it', async () => {
    const store = createFileStore({ configDir: scratch() });
    const run = await start([LONG, LONG, LONG, LONG], { store });
    await run.ask('one');
    const key = { sessionId: run.session.id, cwd: run.cwd };
    const title = { type: 'custom-title', customTitle: 'From elsewhere', sessionId: key.sessionId };
    await store.append(key, [JSON.stringify(title)]);
    for (const prompt of ['two', 'three', 'four']) await run.ask(prompt);
    const glance = (await store.glance?.(key.sessionId)) ?? expect.unreachable();
    expect(toInfo(glance, { ...key, lastModified: 0 })?.customTitle).toBe('From elsewhere');
  });
});
