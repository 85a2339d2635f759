import { describe, expect, it } from 'vitest';
import { hideCode } from '../../src/engine/mentions/code.js';
import { looksLikePath, parseMentions, spellingsOf } from '../../src/engine/mentions/parse.js';

const targets = (text: string): string[] => parseMentions(text).map(({ target }) => target);

describe('mentions', () => {
  it.each([
    ['look at @src/a.ts please', ['src/a.ts']],
    ['@a.ts', ['a.ts']],
    ['@a.ts @b/ (@c.md) "@d.md', ['a.ts', 'b/', 'c.md)', 'd.md']],
    ['@"my notes.md" and @my\\ other.md', ['my notes.md', 'my other.md']],
    ['@one.md,@two.md;@three.md', ['one.md', 'two.md', 'three.md']],
    ['@~/notes.md @/etc/hosts @../x @./', ['~/notes.md', '/etc/hosts', '../x', './']],
    ['see @app/(group)/[slug]/page.tsx', ['app/(group)/[slug]/page.tsx']],
    ['请看@src/说明.md，然后', ['src/说明.md']],
    ['@docs:file://guide/start', ['docs:file://guide/start']],
    ['**@bold.md**', ['bold.md**']],
    ['me@example.org git@host.org:a/b.git rené@example.org https://cdn.org/@scope/pkg x=@y', []],
    ['@ alone, @... and @) in @@ -1,2 +1,2 @@', []],
    ['`@code.ts` and ``a ` @b`` but @c.ts', ['c.ts']],
    ['```\n@in/fence.ts\n```\n@after.ts', ['after.ts']],
    ['~~~ts\n@x\n```\n@y\n~~~\n@z.ts', ['z.ts']],
    ['> - ```\n> @quoted.ts\n> ```', []],
    ['an open ` mark\n\n@a.ts ` there', ['a.ts']],
    ['```\nnever closed @a.ts', []],
  ])('in %j', (text, expected) => {
    expect(targets(text)).toEqual(expected);
  });

  it.each([
    ['@a.ts#L10', { from: 10, to: 10 }],
    ['@a.ts#L10-20', { from: 10, to: 20 }],
    ['@a.ts#L20-L10,', { from: 10, to: 20 }],
    ['@"a b.ts"#L3-4.', { from: 3, to: 4 }],
    ['@a.ts#L0', { from: 1, to: 1 }],
    ['@a.ts#heading', undefined],
  ])('may name lines: %s', (text, lines) => {
    expect(parseMentions(text)[0]?.lines).toEqual(lines);
  });

  it('may have the punctuation of a sentence at their end', () => {
    const spell = (target: string) => spellingsOf({ target, quoted: false });
    expect(spell('a.md).')).toEqual(['a.md).', 'a.md)', 'a.md']);
    expect(spell("a.md's")).toEqual(["a.md's", 'a.md']);
    expect(spellingsOf({ target: 'a.md.', quoted: true })).toEqual(['a.md.']);
    expect(spell('!'.repeat(500)).length).toBeLessThan(10);
  });

  it('are missed only where they look like a path', () => {
    const missed = (text: string) => parseMentions(text).filter(looksLikePath).length;
    for (const text of ['@src/a.ts', '@a.ts,', '@"x y"', '@./x', '@dir/', '@x#L3', '@~/x'])
      expect(missed(text)).toBe(1);
    for (const text of [
      '@scope/pkg',
      '@jane',
      '@Component({',
      "'@/ui/button.ts'",
      '@app.route("/x")',
      '@scope/a@1.2.3',
    ]) {
      expect(missed(text)).toBe(0);
    }
  });

  it('are found in a time that grows with the text', () => {
    for (const piece of ['(@', '@"', '`@', '@a ', '``` ', '@\\ ', '``@`']) {
      const text = piece.repeat(100_000);
      expect(parseMentions(text).length).toBeLessThanOrEqual(500);
    }
    expect(parseMentions(`@${'a'.repeat(3_000)} @b.ts`).map(({ target }) => target)).toEqual(['b.ts']);
  });

  it('stay where they are when code is hidden', () => {
    const text = 'a `b` c\n```x\ny\n```\n``d`` @e `open';
    expect(hideCode(text)).toBe('a     c\n    \n \n   \n      @e `open');
  });
});
