import { describe, expect, it } from 'vitest';
import { type Bench, createBench } from './kit.js';

/** The same numbers for the same seed. */
function createDice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const NAMES = ['a', 'b', 'dir/c', 'dir/sub/d', 'other/e', 'f.ignored'];

/** Commands that may fail where there is nothing to do. */
function pickLine(dice: (sides: number) => number): string {
  const [one, two] = [NAMES[dice(NAMES.length)] ?? '', NAMES[dice(NAMES.length)] ?? ''];
  const lines = [
    `sed -i s/1/2/ ${one}`,
    `rm -f ${one}`,
    `mkdir -p $(dirname ${one}) && echo ${dice(100)} >> ${one}`,
    `mv ${one} ${two}`,
    `rm -rf dir`,
    `mkdir -p empty/x${dice(3)}`,
    `chmod ${dice(2) ? 755 : 644} ${one}`,
    `git add -A && git commit -qm x`,
    `git checkout -q -- .`,
    `git stash -q -u`,
    `printf '\\000${dice(10)}' > ${one}`,
  ];
  return `(${lines[dice(lines.length)]}) 2> /dev/null || true`;
}

async function play(bench: Bench, dice: (sides: number) => number): Promise<void> {
  const states = new Map<string, Record<string, string>>();
  for (let turn = 0; turn < 6; turn += 1) {
    states.set(`p${turn}`, bench.tree());
    await bench.turn(`p${turn}`, async () => {
      for (let call = dice(4); call > 0; call -= 1) {
        if (dice(3) > 0) await bench.shell(pickLine(dice));
        else await bench.write(NAMES[dice(2)] ?? '', `${dice(100)}\n`);
      }
    });
    if (dice(3) === 0) bench.resume();
  }
  for (let rewind = 0; rewind < 4; rewind += 1) {
    const uuid = `p${dice(6)}`;
    const preview = await bench.checkpoints.rewind(uuid, { dryRun: true });
    const result = await bench.checkpoints.rewind(uuid);
    expect(result).toEqual(preview);
    const left = result.notRestored?.filter(({ path }) => !path.endsWith('.git')) ?? [];
    expect(left).toEqual([]);
    expect(bench.tree()).toEqual(states.get(uuid));
    if (dice(2) === 0) bench.resume();
  }
}

describe('random turns, rewound in random order (F8)', () => {
  it.each([1, 5, 12, 43, 57])('seed %i', async (seed) => {
    const dice = createDice(seed);
    const bench = createBench();
    try {
      bench.git('init', '-q');
      bench.put('.gitignore', '*.ignored\n');
      for (const name of NAMES.slice(0, 4)) bench.put(name, '1\n');
      if (seed % 2) bench.git('add', '-A');
      if (seed % 4 === 1) bench.git('commit', '-qm', 'x');
      await play(bench, dice);
      expect(bench.warnings).toEqual([]);
    } finally {
      await bench.close();
    }
  });
});
