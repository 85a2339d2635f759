import { describe, expect, it } from 'vitest';
import { fuzzPrograms, findMiss } from './shell-fuzz.js';
import { createRandom } from '../soak/random.js';
import { createRepeating, everyForm, toText } from './shell-programs.js';
import { createShims } from './shell-shims.js';

const SEED = 20_260_101;

describe('programs that a real bash runs', () => {
  it('D1 every form alone runs nothing that was not seen', async () => {
    const shims = createShims();
    try {
      const ran = await shims.run(everyForm().map(toText));
      expect(ran.flatMap((each) => (findMiss(each) === undefined ? [] : [`${each.line}: ${findMiss(each)}`]))).toEqual(
        [],
      );
      expect(ran.filter(({ commands }) => commands.length > 0).length).toBeGreaterThan(100);
    } finally {
      shims.close();
    }
  });

  it('D1 flags that are given again hide nothing', async () => {
    const shims = createShims();
    const random = createRandom(SEED);
    try {
      const ran = await shims.run(Array.from({ length: 200 }, () => toText(createRepeating(random))));
      expect(ran.flatMap((each) => (findMiss(each) === undefined ? [] : [`${each.line}: ${findMiss(each)}`]))).toEqual(
        [],
      );
      expect(ran.filter(({ commands }) => commands.length > 0).length).toBeGreaterThan(60);
    } finally {
      shims.close();
    }
  }, 180_000);

  it('D1 500 random programs run nothing that was not seen, or allowed without a rule', async () => {
    const report = await fuzzPrograms({ count: 500, seed: SEED });
    expect(report.misses).toEqual([]);
    expect(report.ran).toBeGreaterThanOrEqual(500);
    // Were everything in doubt, nothing would be shown.
    expect(report.certain).toBeGreaterThan(100);
  }, 180_000);
});
