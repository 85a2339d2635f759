/** What servers give back that no model could take. */
import { describe, expect, it } from 'vitest';
import { toBlocks } from '../../../src/engine/mcp/content.js';
import { connected, named, statusOf, toCall, tool } from './kit.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64');
const JPEG = Buffer.from('\xff\xd8\xff\xe0rest', 'latin1').toString('base64');

const run = async (content: unknown) => {
  const bench = await connected({ s: { call: async () => ({ content }) as never } });
  const { context, kept } = toCall();
  const output = await named(bench.servers.tools, 'mcp__s__look').run({}, context);
  return { content: output.content, kept: [...kept.keys()] };
};

const image = (data: string, mimeType = 'image/png') => ({ type: 'image', mimeType, data });
const shown = (media_type: string, data: string) => ({ type: 'image', source: { type: 'base64', media_type, data } });

describe('an image of a server', () => {
  it.each([
    ['no base64', image('this is not base64!!')],
    ['a text', image(Buffer.from('hello').toString('base64'))],
    ['nothing', image('')],
    ['a page that calls itself one', image(Buffer.from('<svg/>').toString('base64'), 'image/gif')],
    [
      'a resource that calls itself one',
      { type: 'resource', resource: { uri: 'x', mimeType: 'image/png', blob: 'aGk=' } },
    ],
  ])('that is %s goes into a file and not to the model', async (_, block) => {
    const { content, kept } = await run([block]);
    expect(kept).toHaveLength(1);
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/saved to/) }]);
    expect(toBlocks([block])).toEqual([{ type: 'text', text: expect.stringMatching(/^\[(?:An image|The resource)/) }]);
  });

  it('is what its bytes say, whatever its server calls it, in base64 that everybody reads', async () => {
    expect((await run([image(PNG)])).content).toEqual([shown('image/png', PNG)]);
    expect((await run([image(JPEG)])).content).toEqual([shown('image/jpeg', JPEG)]);
    const broken = `${PNG.slice(0, 8)}\n ${PNG.slice(8)}`;
    expect((await run([image(broken)])).content).toEqual([shown('image/png', PNG)]);
    expect(toBlocks([image(JPEG)])).toEqual([shown('image/jpeg', JPEG)]);
  });
});

describe('texts', () => {
  it('that are empty are left out, and very many are one', () => {
    const text = (of: string) => ({ type: 'text', text: of });
    expect(toBlocks([text(''), text('a'), text('b')])).toEqual([text('a'), text('b')]);
    const letters = Array.from({ length: 1_000 }, () => text('x'));
    expect(toBlocks([...letters, image(JPEG), ...letters])).toEqual([
      text(letters.map(() => 'x').join('\n')),
      shown('image/jpeg', JPEG),
      text(letters.map(() => 'x').join('\n')),
    ]);
  });
});

describe('an answer that is nested without end', () => {
  const deep = () => {
    let value: unknown = 1;
    for (let at = 0; at < 200_000; at += 1) value = [value];
    return value;
  };

  it.each([
    ['structured content', () => ({ structuredContent: { deep: deep() } })],
    ['a block that nobody knows', () => ({ content: [{ type: 'odd', deep: deep() }] })],
  ])('G8: as %s is an error that names server and phase', async (_, answer) => {
    const bench = await connected({ s: { call: async () => answer() as never } });
    await expect(named(bench.servers.tools, 'mcp__s__look').run({}, toCall().context)).rejects.toThrow(
      'MCP server s failed in call of look: its answer is nested too deep.',
    );
  });
});

describe('tools that were left out while the list was read', () => {
  it('are named in the status', async () => {
    const bench = await connected({ s: { tools: [tool('a')] } });
    Object.assign(bench.links[0] ?? {}, { leftOut: ['huge: its schema is longer than 200 KB'] });
    bench.links[0]?.change('tools', {});
    expect(statusOf(bench)?.error).toContain('huge: its schema is longer than 200 KB');
  });
});
