import { describe, expect, it } from 'vitest';
import { lastMarks } from '../../src/engine/sessions/mark.js';
import { createFileStore } from '../../src/engine/index.js';
import { toInfo } from '../../src/engine/sessions/info.js';
import { scratch, start } from '../engine/kit.js';

const LONG = 'x'.repeat(40_000);

describe('lastMarks', () => {
  it('gives the last title and the last tag, whoever wrote them', () => {
    const title = (customTitle: string) => ({ type: 'custom-title', customTitle, sessionId: 's' });
    const tag = (text: string) => ({ tag: text, type: 'tag', sessionId: 's' });
    const lines = [title('old'), tag('old'), tag('new'), title('new')].map((line) => JSON.stringify(line));
    const others = [
      JSON.stringify({ uuid: 'u', type: 'user', message: { content: '{"type":"tag","tag":"said"}' } }),
      JSON.stringify({ type: 'heddle', kind: 'mark', archived: true, note: { type: 'tag' } }),
      JSON.stringify({ type: 'summary', summary: 'x', of: { type: 'custom-title' } }),
      '{"type":"custom-title","customTitle":"torn',
      '',
    ];
    const marks = lastMarks([...lines, ...others]).toSorted((a, b) => a.type.localeCompare(b.type));
    expect(marks).toEqual([title('new'), tag('new')]);
    expect(lastMarks(others)).toEqual([]);
  });
});

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
