/** Holds what bash really ran against what was seen in the line before. */
import { basename } from 'node:path';
import { judgeCase } from '../../src/engine/permissions/check.js';
import { INTERPRETERS } from '../../src/engine/permissions/programs/effects.js';
import { mayMatchGlob, parseGlob } from '../../src/engine/permissions/rules/glob.js';
import { hasHole } from '../../src/engine/permissions/shell/hole.js';
import { readCommand } from '../../src/engine/permissions/shell/reader.js';
import { nameOf } from '../../src/engine/permissions/shell/reading.js';
import type { ShellWord } from '../../src/engine/permissions/shell/word.js';
import { createRandom } from '../soak/random.js';
import { createProgram, NAMES, type Program, smaller, toText } from './shell-programs.js';
import { createShims, type Ran, type Shims } from './shell-shims.js';

export interface FuzzReport {
  /** Programs of which bash ran some command. */
  ran: number;
  /** Of these, the ones without any doubt. */
  certain: number;
  misses: string[];
}

const BATCH = 25;
const ATONCE = 4;
const MAX_SMALLER = 150;

/** Makes programs from the seed until bash has really run so many, and looks at every one. */
export async function fuzzPrograms({ count, seed }: { count: number; seed: number }): Promise<FuzzReport> {
  const random = createRandom(seed);
  const report: FuzzReport = { ran: 0, certain: 0, misses: [] };
  const shims = createShims();
  try {
    while (report.ran < count && report.misses.length < 3) {
      const batches = Array.from({ length: ATONCE }, () =>
        Array.from({ length: BATCH }, () => createProgram(random, 1 + random.below(3))),
      );
      const results = await Promise.all(
        batches.map(async (programs) => ({ programs, ran: await shims.run(programs.map(toText)) })),
      );
      for (const { programs, ran } of results) {
        for (const [index, each] of ran.entries()) {
          if (each.commands.length > 0) report.ran += 1;
          if (each.commands.length > 0 && readCommand(each.line).doubts.length === 0) report.certain += 1;
          if (findMiss(each) !== undefined) report.misses.push(await shrink(programs[index] as Program, shims));
        }
      }
    }
    return report;
  } finally {
    shims.close();
  }
}

/** What ran and was not seen, or was allowed though no rule covers it; undefined when all is well. */
export function findMiss({ line, commands }: Ran): string | undefined {
  const judge = (allow: string[], deny: string[]) =>
    judgeCase({
      setup: { mode: 'acceptEdits', cwd: '/repo', trusted: true, allow, deny },
      input: { tool: 'Bash', command: line },
    });
  if (judge(['Bash(*)'], ['Bash(nothing:*)']).verdict === 'allow') {
    const { segments } = readCommand(line, { cwd: '/repo', home: '/home/user' });
    const seen = segments.filter(({ role }) => role === 'run').map(({ words }) => words);
    // What a program in another language runs is not seen; that a denied name in it is asked about is checked below.
    if (segments.some((segment) => INTERPRETERS.test(nameOf(segment)))) return findLoose(commands, judge);
    const unseen = commands.find((argv) => !seen.some((words) => couldBe(byName(words), argv)));
    if (unseen !== undefined) return `not seen: ${unseen.join(' ')}`;
  }
  return findLoose(commands, judge);
}

/** A command that ran though it was allowed by no rule, or was denied. */
function findLoose(
  commands: readonly string[][],
  judge: (allow: string[], deny: string[]) => { verdict: string },
): string | undefined {
  const names = new Set(commands.map(([name = '']) => name));
  for (const name of names) {
    const others = NAMES.filter((each) => each !== name).map((each) => `Bash(${each}:*)`);
    if (judge(others, []).verdict === 'allow') return `allowed without a rule: ${name}`;
    if (judge(['Bash(*)'], [`Bash(${name}:*)`]).verdict === 'allow') return `allowed though denied: ${name}`;
  }
  return undefined;
}

/** Commands note themselves without their folder. */
const byName = ([first, ...rest]: readonly ShellWord[]): ShellWord[] =>
  first === undefined ? [] : [{ ...first, value: basename(first.value) }, ...rest];

/** True when the words, with their holes, may have become these arguments. */
function couldBe(words: readonly ShellWord[], argv: readonly string[]): boolean {
  const [first, ...rest] = words;
  if (first === undefined) return argv.length === 0;
  if (first.splits)
    return (
      argv.some((_, at) => couldBe(rest, argv.slice(at))) || couldBe(rest, []) || couldBe(rest, argv.slice(argv.length))
    );
  const [value, ...others] = argv;
  return value !== undefined && fits(first.value, value) && couldBe(rest, others);
}

const fits = (template: string, value: string): boolean =>
  hasHole(template) ? mayMatchGlob(parseGlob(value.replace(/[\\*?[]/g, '\\$&')), template) : template === value;

/** The smallest program that still goes wrong, with what goes wrong. */
async function shrink(program: Program, shims: Shims): Promise<string> {
  let best = program;
  let tries = 0;
  for (let found = true; found && tries < MAX_SMALLER; ) {
    found = false;
    for (const candidate of smaller(best)) {
      tries += 1;
      const [ran] = await shims.run([toText(candidate)]);
      if (ran !== undefined && findMiss(ran) !== undefined) {
        best = candidate;
        found = true;
        break;
      }
      if (tries >= MAX_SMALLER) break;
    }
  }
  const [ran] = await shims.run([toText(best)]);
  return `${JSON.stringify(toText(best))}: ${(ran && findMiss(ran)) ?? 'gone'}`;
}
