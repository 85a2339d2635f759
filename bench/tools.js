// What the built-in tools take, each call through the whole pipeline: parsed, judged, logged, run, bounded.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './child.js';
import { interleave, median, medianOf } from './rounds.js';

const FILES = 100_000;
const FOLDERS = 500;

/** kind -> what it is, and the most milliseconds of one call. */
const LIMITS = {
  pipeline: ['a call that does nothing', 0.2],
  'cached-read': ['Read of 4 KB that was read before', 0.5],
  'first-read': ['first Read of 1 MB, 2,000 lines of it', 10],
  write: ['Write of 4 KB', 2],
  edit: ['Edit of 4 KB', 3],
};
const BASH_RATIO = 1.5;
const SEARCH_RATIO = 1.3;

export async function measureTools({ root, cwd, env }) {
  const run = (kind) => () => runProgram('tool-calls.js', [root, kind], { cwd, env, flags: ['--expose-gc'] });
  const rows = [];
  for (const [kind, [what, limit]] of Object.entries(LIMITS)) {
    const { [kind]: results } = await interleave({ [kind]: run(kind) }, { count: 3 });
    const value = medianOf(results, 'eachMs');
    rows.push({ what, unit: 'ms', value, aim: `<= ${limit} ms`, met: value <= limit });
  }
  rows.push(await measureBash(run('bash')), await measureMemory(run('many-reads')));
  rows.push(...(await measureSearch({ root, cwd, env })));
  return rows;
}

async function measureBash(run) {
  const { bash } = await interleave({ bash: run }, { count: 5 });
  const [value, floor] = [medianOf(bash, 'eachMs'), medianOf(bash, 'floorMs')];
  const met = value <= BASH_RATIO * floor;
  return { what: 'Bash: echo', unit: 'ms', value, floor, aim: `<= ${BASH_RATIO}x of a bare spawn`, met };
}

/** The texts stay in the conversation, numbered and plain: beyond these, a thousand Reads must leave nothing. */
async function measureMemory(run) {
  const { reads } = await interleave({ reads: run }, { count: 3 });
  const value = medianOf(reads, 'grownMb');
  const limit = 4 * medianOf(reads, 'keptMb');
  const what = '1,000 Reads of 32 KB in one message: memory that stays';
  return { what, unit: 'MB', value, aim: `<= ${limit.toFixed(0)} MB`, met: value <= limit };
}

async function measureSearch({ root, cwd, env }) {
  const folder = join(cwd, 'many-files');
  for (let at = 0; at < FOLDERS; at += 1) {
    const inner = join(folder, `f${at}`);
    mkdirSync(inner, { recursive: true });
    for (let n = 0; n < FILES / FOLDERS; n += 1)
      writeFileSync(join(inner, `n${n}.txt`), `line ${n}\nneedle ${at}-${n}\n`);
  }
  const rows = [];
  for (const kind of ['Glob', 'Grep']) {
    const results = [];
    for (let round = 0; round < 4; round += 1) {
      results.push(await runProgram('search.js', [root, kind, folder], { cwd, env }));
    }
    const value = median(results.slice(1).map(({ ownMs }) => ownMs));
    const floor = median(results.slice(1).map(({ bareMs }) => bareMs));
    const met = value <= SEARCH_RATIO * floor;
    const what = `${kind} over ${FILES.toLocaleString('en-US')} files`;
    rows.push({ what, unit: 'ms', value, floor, aim: `<= ${SEARCH_RATIO}x of rg`, met });
  }
  spawnSync('rm', ['-rf', folder]);
  return rows;
}
