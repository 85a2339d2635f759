import { describe, expect, it } from 'vitest';
import { createPatch } from '../../src/engine/tools/patch.js';
import { applyPatch, createRandom } from './apply-patch.js';

const numbered = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `l${from + i}`);

describe('createPatch', () => {
  it('is empty for equal texts', () => {
    expect(createPatch('a\n', 'a\n')).toEqual([]);
  });

  it('shows three lines around a change, and distant changes apart', () => {
    const before = `${numbered(1, 30).join('\n')}\n`;
    const after = before.replace('l5\n', 'five\n').replace('l25\n', '');
    expect(createPatch(before, after)).toEqual([
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
    expect(createPatch(before, before.replace('l5\n', 'x\n').replace('l11\n', 'y\n'))).toHaveLength(1);
    expect(createPatch(before, before.replace('l5\n', 'x\n').replace('l13\n', 'y\n'))).toHaveLength(2);
  });

  it('marks a missing newline at the end', () => {
    expect(createPatch('a', 'a\n')[0]?.lines).toEqual(['-a', '\\ No newline at end of file', '+a']);
  });

  it('turns any text into any other', () => {
    const random = createRandom(42);
    const text = (lines: number) => {
      const body = Array.from({ length: random(lines) }, () => 'abcde'[random(5)]).join('\n');
      return random(2) === 0 ? body : `${body}\n`;
    };
    for (let round = 0; round < 500; round += 1) {
      const [before, after] = [text(40), text(40)];
      expect(applyPatch(before, createPatch(before, after))).toBe(after);
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
      const hunks = createPatch(before, after);
      expect(applyPatch(before, hunks)).toBe(after);
      expect(hunks.length).toBeLessThanOrEqual(2);
      const [first] = hunks;
      if (first !== undefined && at > 3)
        expect(first.lines.slice(0, 3).every((line) => line.startsWith(' '))).toBe(true);
    }
  });

  it('stays quick and right for texts that have little in common', () => {
    const before = Array.from({ length: 20_000 }, (_, i) => `old ${i}`).join('\n');
    const after = Array.from({ length: 20_000 }, (_, i) => (i % 3 === 0 ? `old ${i}` : `new ${i}`)).join('\n');
    expect(applyPatch(before, createPatch(before, after))).toBe(after);
  });
});
