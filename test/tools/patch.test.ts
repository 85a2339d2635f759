import { describe, expect, it } from 'vitest';
import { createPatch, type PatchHunk } from '../../src/engine/tools/patch.js';
import { applyPatch, createRandom } from './apply-patch.js';

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `l${from + i}`);

describe('createPatch', () => {
  it('is empty for equal texts', () => {
    expect(createPatch('a\n', 'a\n')).toEqual({ hunks: [], cut: false });
  });

  it('shows three lines around a change, and distant changes apart', () => {
    const before = `${numbered(1, 30).join('\n')}\n`;
    const after = before.replace('l5\n', 'five\n').replace('l25\n', '');
    expect(createPatch(before, after).hunks).toEqual([
      {
        oldStart: 2,
        oldLines: 7,
        newStart: 2,
        newLines: 7,
        lines: [' l2', ' l3', ' l4', '-l5', '+five', ' l6', ' l7', ' l8'],
      },
      {
        oldStart: 22,
        oldLines: 7,
        newStart: 22,
        newLines: 6,
        lines: [' l22', ' l23', ' l24', '-l25', ' l26', ' l27', ' l28'],
      },
    ]);
  });

  it('joins changes whose context would touch', () => {
    const before = `${numbered(1, 20).join('\n')}\n`;
    expect(createPatch(before, before.replace('l5\n', 'x\n').replace('l11\n', 'y\n')).hunks).toHaveLength(1);
    expect(createPatch(before, before.replace('l5\n', 'x\n').replace('l13\n', 'y\n')).hunks).toHaveLength(2);
  });

  it('marks a missing newline at the end', () => {
    expect(createPatch('a', 'a\n').hunks[0]?.lines).toEqual(['-a', '\\ No newline at end of file', '+a']);
  });

  it('turns any text into any other', () => {
    const random = createRandom(42);
    const text = (lines: number) => {
      const body = Array.from({ length: random(lines) }, () => 'abcde'[random(5)]).join('\n');
      return random(2) === 0 ? body : `${body}\n`;
    };
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(40), text(40)];
      const { hunks, cut } = createPatch(before, after);
      expect(applyPatch(before, hunks)).toBe(after);
      expect(cut).toBe(false);
    }
  });

  it('finds small changes in long texts, with their lines around them', () => {
    const random = createRandom(5);
    const lines = Array.from({ length: 3_000 }, (_, i) => `line ${i} ${'x'.repeat(random(20))}`);
    for (let round = 0; round < 200; round += 1) {
      const changed = [...lines];
      const at = random(lines.length);
      changed.splice(at, random(4), ...Array.from({ length: random(4) }, () => `new ${random(9)}`));
      const [before, after] = [`${lines.join('\n')}\n`, changed.join('\n') + (random(2) === 0 ? '' : '\n')];
      const { hunks } = createPatch(before, after);
      expect(applyPatch(before, hunks)).toBe(after);
      expect(hunks.length).toBeLessThanOrEqual(2);
      const [first] = hunks;
      if (first !== undefined && at > 3)
        expect(first.lines.slice(0, 3).every((line) => line.startsWith(' '))).toBe(true);
    }
  });

  it('stays right for texts that have little in common', () => {
    const before = Array.from({ length: 900 }, (_, i) => `old ${i}`).join('\n');
    const after = Array.from({ length: 900 }, (_, i) => (i % 3 === 0 ? `old ${i}` : `new ${i}`)).join('\n');
    const { hunks, cut } = createPatch(before, after);
    expect(applyPatch(before, hunks)).toBe(after);
    expect(cut).toBe(false);
  });
});

describe('createPatch of much', () => {
  const sizeOf = (hunks: readonly PatchHunk[]) => ({
    lines: hunks.reduce((sum, { lines }) => sum + lines.length, 0),
    length: JSON.stringify(hunks).length,
  });

  /** The hunks must turn the first lines of the one into the first lines of the other. */
  const expectStart = (before: string, after: string) => {
    const { hunks, cut } = createPatch(before, after);
    expect(cut).toBe(true);
    const last = hunks.at(-1);
    const count = last === undefined ? 0 : last.newStart - 1 + last.newLines;
    const firstLines = (text: string) => text.split('\n').slice(0, count);
    expect(firstLines(applyPatch(before, hunks))).toEqual(firstLines(after));
    expect(sizeOf(hunks).lines).toBeLessThanOrEqual(2_000);
    expect(sizeOf(hunks).length).toBeLessThan(300_000);
    return hunks;
  };

  it('shows the first of many lines', () => {
    const many = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join('');
    const hunks = expectStart(many('old', 20_000), many('new', 20_000));
    expect(sizeOf(hunks).lines).toBe(2_000);
    expect(expectStart(many('old', 3_000), 'hello')).toMatchObject([{ oldStart: 1, oldLines: 2_000, newLines: 0 }]);
    expect(expectStart('', many('new', 3_000))).toMatchObject([{ oldLines: 0, newStart: 1, newLines: 2_000 }]);
  });

  it('shows whole hunks as long as there is room', () => {
    const lines = numbered(1, 30_000);
    const changed = lines.map((line, i) => (i % 100 === 50 ? 'changed' : line));
    const hunks = expectStart(lines.join('\n'), changed.join('\n'));
    expect(hunks.length).toBeGreaterThan(150);
    expect(hunks[0]?.lines).toEqual([' l48', ' l49', ' l50', '-l51', '+changed', ' l52', ' l53', ' l54']);
  });

  it('shows the first change where the last is far away', () => {
    const middle = 'ab\n'.repeat(100_000);
    const [hunk, ...others] = expectStart(`X\n${middle}X\n`, `Y\nY\n${middle}Y\n`);
    expect(others).toEqual([]);
    expect(hunk?.lines).toEqual(['-X', '+Y', '+Y', ' ab', ' ab', ' ab']);
  });

  it('shows no line that is too long, and nothing behind it', () => {
    const long = 'x'.repeat(3_000_000);
    expect(createPatch(`${long}1\na\n`, `${long}2\nb\n`)).toEqual({ hunks: [], cut: true });
    expect(createPatch('a\n', `${'x'.repeat(300_000)}\n`)).toEqual({
      hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 0, lines: ['-a'] }],
      cut: true,
    });
  });

  it('keeps the note on a missing newline with its line', () => {
    const before = 'old\n'.repeat(1_998).concat('last');
    const { hunks } = createPatch(before, 'new\n'.repeat(5));
    expect(hunks[0]?.lines).toHaveLength(2_000);
    expect(hunks[0]?.lines.slice(-2)).toEqual(['-last', '\\ No newline at end of file']);
    expect(createPatch(`old\n${before}`, 'new\n'.repeat(5)).hunks[0]?.lines.at(-1)).toBe('-old');
  });
});
