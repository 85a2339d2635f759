import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandAccesses, isPlainlyReadOnly } from '../../src/engine/permissions/command.js';
import { judgeReadOnly } from '../../src/engine/permissions/programs/readonly.js';
import { readCommand } from '../../src/engine/permissions/shell/reader.js';
import { isLiteralWord } from '../../src/engine/permissions/shell/word.js';
import { removeFolder } from '../remove-folder.js';

/** A small generator of numbers, so that every run tries the same programs. */
function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  const pick = <T>(list: readonly T[]): T => {
    const item = list[below(list.length)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  };
  return { below, pick };
}

const FRAGMENTS =
  'a|ls|rm|echo|cat|-o|-la| |  |\n|\t|;|&&|\\||&|(|)|{|}|<|>|>>|<<E|\nE\n|<<<|<(|$(|`|$|${|}|$((|))|[[|]]|[|]|\'|"|\\|\\\n|~|*|?|{a,b}|#|!|=|A=|if|then|fi|for|in|do|done|case|esac|function|$\'|$"|é|\u200b|\u00a0|\0|\ud800|2>&1|/dev/null'
    .split(/(?<!\\)\|/)
    .map((fragment) => (fragment === '\\|' ? '|' : fragment));

describe('random lines', () => {
  it('D1 never throw', () => {
    const { below, pick } = createRandom(1);
    for (let count = 0; count < 1_500; count += 1) {
      const line = Array.from({ length: 1 + below(25) }, () => pick(FRAGMENTS)).join('');
      expect(typeof isPlainlyReadOnly(line)).toBe('boolean');
      expect(() => commandAccesses(line, '/repo', '/home/user')).not.toThrow();
    }
  });
});

const HARMLESS = ['ls', 'cat a', 'grep x a', 'git branch', 'echo hi', 'true', 'pwd', '[ -f a ]', 'sort a', 'head -1 a'];
const HARMFUL = [
  'rm x',
  '>f',
  'echo hi >f',
  'echo hi >>f',
  'echo hi 2>f',
  'r\\m x',
  "'rm' x",
  '"r"m x',
  "$'\\x72m' x",
  '$(echo rm) x',
  'V=1 rm x',
  'V=<(rm x) true',
  'V=rm; $V x',
  'sort -o f a',
  'git commit',
  'eval rm x',
];

function writeProgram({ below, pick }: ReturnType<typeof createRandom>, depth: number): string {
  const part = (): string => writeProgram({ below, pick }, depth - 1);
  if (depth === 0) return below(4) === 0 ? pick(HARMFUL) : pick(HARMLESS);
  const forms = [
    () => part(),
    () => `${part()}; ${part()}`,
    () => `${part()}\n${part()}`,
    () => `${part()} && ${part()}`,
    () => `${part()} || ${part()}`,
    () => `${part()} | ${part()}`,
    () => `${part()} & ${part()}`,
    () => `! ${part()}`,
    () => `( ${part()}\n)`,
    () => `{ ${part()}\n}`,
    () => `if ${part()}\nthen ${part()}\nfi`,
    () => `for i in a; do ${part()}\ndone`,
    () => `while ${part()}\ndo ${part()}\nbreak; done`,
    () => `case a in a) ${part()}\n;; esac`,
    () => `f() { ${part()}\n}; f`,
    () => `ls() { ${part()}\n}; ls`,
    () => `echo "$(${part()}\n)"`,
    () => `echo \${x:-$(${part()}\n)}`,
    () => `echo $(( $(${part()}\n) + 1 ))`,
    () => `cat <(${part()}\n)`,
    () => `cat <<E\n$(${part()}\n)\nE`,
    () => `cat <<'E'\n${part()}\nE`,
    () => `cat <<< "$(${part()}\n)"`,
    () => `{ ${part()}\n} > /dev/null 2>&1`,
    () => `echo '${part().replaceAll("'", '"')}'`,
    () => `${part()} # rm x`,
    () => `time ${part()}`,
  ];
  return pick(forms)();
}

// The function stands in for every program: with no PATH, whatever is not built in ends there and is noted.
// One write per note, because the parts of a pipeline run at the same time.
const SHELL = `
command_not_found_handle() { local note; printf -v note '%s\\1' "$@"; printf '%s\\2' "$note" >> "$NOTES"; }
PATH=/nonexistent
FUNCNEST=20
while IFS= read -r -d '' NOTES && IFS= read -r -d '' PLACE && IFS= read -r -d '' LINE; do
  ( cd "$PLACE" && eval "$LINE"; wait ) < /dev/null > /dev/null 2>&1
done`;

const run = (input: string, home: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '-c', SHELL], { env: { HOME: home }, stdio: ['pipe', 'ignore', 'ignore'] });
    child.once('error', reject);
    child.once('close', () => resolve());
    child.stdin.end(input);
  });

describe('programs that a real bash runs', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-permissions-'));
  });
  afterAll(async () => {
    removeFolder(folder);
  });

  it('D1 run nothing but read-only commands when judged read-only', async () => {
    const random = createRandom(7);
    const programs = await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        const place = join(folder, String(index));
        await mkdir(place);
        return { line: writeProgram(random, 1 + random.below(2)), place, notes: `${place}.notes` };
      }),
    );
    await run(programs.map(({ line, place, notes }) => `${notes}\0${place}\0${line}\0`).join(''), folder);

    let judged = 0;
    let harmful = 0;
    for (const { line, place, notes } of programs) {
      const noted = await readFile(notes, 'utf8').catch(() => '');
      const ran = noted
        .split('\x02')
        .slice(0, -1)
        .map((words) => words.split('\x01').slice(0, -1))
        // After a pipe `time` is a program, which runs another.
        .map((words) => (words[0] === 'time' ? words.slice(1) : words));
      const written = await readdir(place);
      const unknown = ran.filter((words) => judgeReadOnly(words)?.needsTrust !== false);
      if (written.length > 0 || unknown.length > 0) harmful += 1;
      if (!isPlainlyReadOnly(line)) continue;
      judged += 1;
      expect({ line, written, unknown }).toEqual({ line, written: [], unknown: [] });
    }
    expect(judged).toBeGreaterThan(20);
    expect(harmful).toBeGreaterThan(20);
  });

  it('D1 get exactly the words that were judged', async () => {
    const atoms =
      "a,b,-o,~,~/,=,a=,:,{,},..,1,*,?,[,],!,@,^,/,.,','x','{',\",\"y\",\"a b\",\\,\\ ,\\n,$,$'a',$'\\n',$'\\x41',#,=~,~+,é,\t, ,\"\\$\",\"\\a\",\"\",'',\\~,\\*,a[1]=~,[a],{1..3},{a,b{c,d}},{01..03},{c..a},{,x},$x".split(
        ',',
      );
    const { below, pick } = createRandom(3);
    const place = join(folder, 'words');
    await mkdir(place);
    const lines = Array.from(
      { length: 1_200 },
      () => `k ${Array.from({ length: 1 + below(7) }, () => pick(atoms)).join('')}`,
    );
    const read = (line: string) => readCommand(line, { home: folder });
    const literal = lines.filter((line) => {
      const { doubts, segments } = read(line);
      return doubts.length === 0 && segments.length === 1 && segments[0]?.words.every(isLiteralWord);
    });
    await run(literal.map((line, index) => `${place}.${index}\0${place}\0${line}\0`).join(''), folder);

    let compared = 0;
    for (const [index, line] of literal.entries()) {
      const noted = await readFile(`${place}.${index}`, 'utf8').catch(() => undefined);
      if (noted === undefined) continue;
      compared += 1;
      const words = read(line).segments[0]?.words.map(({ value }) => value);
      expect({ line, words: noted.split('\x01').slice(0, -1) }).toEqual({ line, words });
    }
    expect(compared).toBeGreaterThan(100);
  });
});
