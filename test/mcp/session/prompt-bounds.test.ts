import { describe, expect, it } from 'vitest';
import { expandPrompt } from '../../../src/engine/mcp/prompt.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function expand(messages: { role: string; content: unknown }[]) {
  const mcp = { expandPrompt: async () => messages as never };
  const { signal } = new AbortController();
  const [, ...blocks] = await expandPrompt(mcp, { name: 'mcp__s__p', text: '' }, { signal });
  return blocks;
}
const say = (text: string) => ({ role: 'user', content: { type: 'text', text } });

describe('the prompt of a server', () => {
  it('is cut where it is too long, and says so', async () => {
    const [only, ...rest] = await expand([say('B'.repeat(8_000_000))]);
    expect(rest).toEqual([]);
    expect(only).toEqual({ type: 'text', text: `${'B'.repeat(100_000)}\n[Cut: the prompt is longer]` });
  });

  it('is bounded as a whole', async () => {
    const blocks = await expand(Array.from({ length: 300 }, () => say('x'.repeat(1_000))));
    expect(JSON.stringify(blocks).length).toBeLessThan(120_000);
    expect(blocks).toHaveLength(101);
    expect(blocks.at(-1)).toEqual({ type: 'text', text: '[200 more parts are left out]' });
  });

  it('has at most 20 images', async () => {
    const image = { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } };
    const blocks = await expand(Array.from({ length: 30 }, () => image));
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(20);
    expect(blocks.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('left out') });
  });

  it('is as it is where it is short', async () => {
    expect(await expand([say('one'), { role: 'assistant', content: { type: 'text', text: 'two' } }])).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'assistant:' },
      { type: 'text', text: 'two' },
    ]);
  });
});
