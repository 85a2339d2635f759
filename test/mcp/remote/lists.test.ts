import { describe, expect, it } from 'vitest';
import { readList, type ReadPage } from '../../../src/engine/mcp/remote/lists.js';

const LISTS = ['tools', 'prompts', 'resources'] as const;

/** Pages without end, each with entries of this many characters. */
function flood(entry: (at: number) => object) {
  let pages = 0;
  const read: ReadPage = async (method) => {
    const list = method.split('/')[0] ?? '';
    pages += 1;
    const entries = Array.from({ length: 10 }, (_, at) => entry(pages * 10 + at));
    return { [list]: entries, nextCursor: String(pages) };
  };
  return { read, pages: () => pages };
}

describe('a list without end', () => {
  it.each(LISTS)('of %s ends after 32 MB, whether it can be used or not', async (list) => {
    for (const long of [30_000, 260_000]) {
      const text = 'x'.repeat(long);
      const { read, pages } = flood((at) => ({
        name: `n${at}`,
        uri: `u${at}`,
        description: text,
        inputSchema: { text },
      }));
      const notes: string[] = [];
      const { entries, leftOut } = await readList(list, read, (note) => void notes.push(note));
      expect(pages() * 10 * long).toBeLessThan(40 * 1024 * 1024);
      expect(JSON.stringify(entries).length).toBeLessThan(33 * 1024 * 1024);
      expect(leftOut.at(-1)).toBe(`its ${list} are more than 32 MB: the others are left out`);
      expect(notes.at(-1)).toContain('more than 32 MB');
    }
  });

  it('one tool that is too large, or too deep, costs the others nothing', async () => {
    let deep: unknown = {};
    for (let at = 0; at < 200_000; at += 1) deep = { a: deep };
    const entries = [
      { name: 'large', inputSchema: { text: 'x'.repeat(210_000) } },
      { name: 'deep', inputSchema: deep },
      { name: 'fine' },
    ];
    const read: ReadPage = async () => ({ tools: entries });
    const list = await readList('tools', read, () => {});
    expect(list.entries.map(({ name }) => name)).toEqual(['fine']);
    expect(list.leftOut).toEqual(['large: its schema is longer than 200 KB', 'deep: its schema is longer than 200 KB']);
  });
});
