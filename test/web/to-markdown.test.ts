import { describe, expect, it } from 'vitest';
import { toMarkdown } from '../../src/engine/web/to-markdown.js';
import type { Clock } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';

const never = new AbortController().signal;

const convert = (html: string, options: { url?: string; clock?: Clock; signal?: AbortSignal } = {}) =>
  toMarkdown(html, {
    url: new URL(options.url ?? 'https://example.org/docs/page.html'),
    clock: options.clock ?? systemClock,
    signal: options.signal ?? never,
  });

/** The converter needs seconds for it. */
const HOSTILE = '<i>'.repeat(500) + 'x<br>'.repeat(400_000);

describe('HTML as Markdown', () => {
  it('keeps text, tables, code and links, and drops what is not shown', async () => {
    const { text, gap } = await convert(
      [
        '<!doctype html><html><head><title>Title</title><style>p{color:red}</style><script>alert(1)</script></head>',
        '<body><h1>Head &amp; tail</h1><!-- hidden --><p>See <a href="other.html">this</a>, <a href="/root">that</a>',
        ' and <a href="//cdn.example.org/x">there</a>.</p>',
        '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>',
        '<pre><code class="language-js">if (a &lt; b) {}</code></pre><noscript>no script</noscript></body></html>',
      ].join(''),
    );
    expect(gap).toBeUndefined();
    expect(text).toContain('# Head & tail');
    expect(text).toContain('[this](https://example.org/docs/other.html)');
    expect(text).toContain('[that](https://example.org/root)');
    expect(text).toContain('[there](https://cdn.example.org/x)');
    expect(text).toContain('| a | b |\n| --- | --- |\n| 1 | 2 |');
    expect(text).toContain('```js\nif (a < b) {}\n```');
    expect(text).not.toMatch(/alert|color|hidden/);
  });

  it('starts relative links where the page says', async () => {
    const { text } = await convert('<head><base target=_top href="/v2/"></head><a href="x.html">x</a>');
    expect(text).toContain('(https://example.org/v2/x.html)');
  });

  it('reads 2,000,000 characters, and says what it left out', async () => {
    const { text, gap } = await convert(`<p>first</p>${'<p>word</p>'.repeat(200_000)}<p>last</p>`);
    expect(text).toMatch(/^first\n/);
    expect(text).not.toContain('last');
    expect(gap).toBe('The HTML was cut: only the first 2,000,000 of 2,200,023 characters were read.');
  });

  it('leaves out images that are written into the page', async () => {
    const { text } = await convert('<p>a <img alt="b" src="data:image/png;base64,AAAA"> <img alt="c" src="c.png"></p>');
    expect(text).toBe('a ![c](https://example.org/docs/c.png)');
  });

  it.each([
    ['rows before the first table', '<div><tr><th>a</th></tr><tr><td>b</td></tr></div>'],
    ['rows without a table', '<tr><td>a</td><td>b</td></tr>'],
  ])('reads %s', async (_, html) => {
    expect((await convert(html)).text).toMatch(/a[^]*b/);
  });

  it.each([
    ['quotes in quotes', '<blockquote>', 'x\n'],
    ['lists in lists', '<ul><li>', 'x<br>'],
    ['code in code', '<code>', '`'],
  ])('takes %s as plain text rather than repeat them on every line', async (_, open, fill) => {
    const { text } = await convert(`<h1>head</h1>${open.repeat(400)}${fill.repeat(100_000)}`);
    expect(text).toMatch(/^head\s/);
    expect(text.length).toBeLessThan(250_000);
  });

  it.each([
    ['nothing', ''],
    ['text', 'just words'],
    ['open tags', '<div><p><a href="'],
    ['deep nesting', '<div>'.repeat(100_000)],
    ['angle brackets', '<'.repeat(100_000)],
    ['zero bytes', '<p>\0</p>'],
    ['half a pair', '<p>\ud83d</p>'],
  ])('survives %s', async (_, html) => {
    expect(typeof (await convert(html)).text).toBe('string');
  });
});

describe('pages made to keep the converter busy', () => {
  it('are given up after 10 s', async () => {
    const clock = createFakeClock();
    const converting = convert(HOSTILE, { clock });
    await clock.armed();
    clock.advance(10_000);
    await expect(converting).rejects.toThrow('The page of example.org could not be read as Markdown within 10 s.');
  });

  it('are given up with the signal, and leave the process free meanwhile', async () => {
    const controller = new AbortController();
    const clock = createFakeClock();
    const converting = convert(HOSTILE, { clock, signal: controller.signal });
    await clock.armed();
    controller.abort();
    await expect(converting).rejects.toThrow('was interrupted');
    await expect(convert('<p>x', { signal: AbortSignal.abort() })).rejects.toThrow('was interrupted');
    expect(clock.pending).toEqual([]);
  });
});
