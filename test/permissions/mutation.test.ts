/** Every entry of the tables counts: with any one taken away, some call is judged otherwise. */
import { describe, expect, it } from 'vitest';
import type { FlagSpec } from '../../src/engine/permissions/command-flags.js';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import { decidePermission } from '../../src/engine/permissions/decide.js';
import type { DangerSpec } from '../../src/engine/permissions/programs/danger-table.js';
import type { GitSpec } from '../../src/engine/permissions/programs/git-table.js';
import type { ReadOnlySpec } from '../../src/engine/permissions/programs/readonly-table.js';
import type { WriterSpec } from '../../src/engine/permissions/programs/writer-table.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import type { WrapperSpec } from '../../src/engine/permissions/shell/wrapper-table.js';
import { COMMAND_TABLES, type CommandTables } from '../../src/engine/permissions/tables.js';

interface Setup {
  allow?: string[];
  deny?: string[];
  trusted?: boolean;
  cwd?: string;
}

function judge(
  command: string,
  { allow = [], deny = [], trusted = true, cwd = '/repo' }: Setup,
  tables: CommandTables,
): string {
  const home = '/home/user';
  const book = compileRules([{ name: 'user', base: '/repo', allow, deny }], { home });
  const accesses = commandAccesses(command, cwd, home);
  return decidePermission(
    { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
    { mode: 'default', book, roots: ['/repo'], home, cwd, trusted, tables },
  ).verdict;
}

/** One thing that a table says, a call that shows it, and the table without it. */
interface Mutant {
  what: string;
  command: string;
  setup: Setup;
  expected: 'allow' | 'ask' | 'deny';
  tables: CommandTables;
}

/** What is not judged as it should be, or would be just so without the entry. */
const unnoticed = (mutants: readonly Mutant[]): string[] =>
  mutants.flatMap(({ what, command, setup, expected, tables }) => {
    const before = judge(command, setup, COMMAND_TABLES);
    const after = judge(command, setup, tables);
    return before === expected && after !== expected ? [] : [`${what}: ${command}: ${before}, and without it ${after}`];
  });

type TableName = 'wrappers' | 'dangers' | 'programs' | 'git' | 'writers';

function withEntry(table: TableName, key: string, entry: object | undefined): CommandTables {
  const { [key]: _, ...rest } = COMMAND_TABLES[table] as Record<string, object>;
  return { ...COMMAND_TABLES, [table]: entry === undefined ? rest : { ...rest, [key]: entry } };
}

const words = (text = ''): string[] => text.split(' ').filter((word) => word !== '');
const dropWord = (text: string | undefined, word: string): string =>
  words(text)
    .filter((each) => each !== word)
    .join(' ');

/** Each flag with how it is written, and the spec without it. */
function flagsOf<Spec extends FlagSpec>(spec: Spec, value: string): { flag: string; text: string; without: Spec }[] {
  const letters = (field: 'short' | 'shortValue' | 'shortOptional') =>
    (spec[field] ?? '').split('').map((letter) => ({
      flag: letter,
      text: field === 'shortValue' ? `-${letter} ${value}` : `-${letter}`,
      without: { ...spec, [field]: (spec[field] ?? '').replaceAll(letter, '') },
    }));
  const long = words(spec.long).map((word) => {
    const name = word.replace(/\[?=\]?$/, '');
    return {
      flag: name,
      text: word.endsWith('=') ? `--${name}=${value}` : `--${name}`,
      without: { ...spec, long: dropWord(spec.long, word) },
    };
  });
  const number = spec.number === true ? [{ flag: 'number', text: '-5', without: { ...spec, number: false } }] : [];
  return [...letters('short'), ...letters('shortValue'), ...letters('shortOptional'), ...long, ...number];
}

const DENY_RM: Setup = { allow: ['Bash(*)'], deny: ['Bash(rm:*)'] };
const quote = (text: string): string => `'${text}'`;

/** How a wrapper runs `rm x`. */
function running(name: string, spec: WrapperSpec, flag = ''): string {
  // Bare, it is a keyword of the shell.
  const key = name === 'time' ? "'time'" : name;
  const fill = Array.from({ length: spec.operands ?? 0 }, () => '5').join(' ');
  const before = `${key} ${flag} ${fill}`;
  switch (spec.shape) {
    case 'shell':
      return `${key} ${flag} -c 'rm x'`;
    case 'find':
      return `${key} . ${words(spec.clauses)[0]} rm x ';'`;
    case 'lines':
      return words(spec.scripts).length > 0 && spec.lines === 0 ? `${before} -c 'rm x'` : `${before} 'rm x'`;
    case 'parallel':
      return `${before} rm ::: x`;
    default:
      return `${before} rm x`;
  }
}

describe('wrappers', () => {
  const entries = Object.entries(COMMAND_TABLES.wrappers);

  it('D1 each is needed to see what it runs', () => {
    const mutants = entries.map(
      ([key, spec]): Mutant => ({
        what: key,
        command: running(key, spec),
        setup: DENY_RM,
        expected: 'deny',
        tables: withEntry('wrappers', key, undefined),
      }),
    );
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(90);
  });

  it('D2 each flag is needed to be sure of what it runs', () => {
    const mutants = entries.flatMap(([key, spec]) =>
      flagsOf(spec, '5').map(({ flag, text, without }): Mutant => {
        const runsValue = [...words(spec.scripts), ...words(spec.splits)].includes(flag);
        const isExec = spec.shape === 'line' && (flag === 'x' || flag === 'exec');
        const script = text.replace(/([ =])5$/, "$1'rm x'");
        const command = runsValue
          ? `${key} ${script}`
          : flag === 'c' && spec.shape === 'shell'
            ? running(key, spec)
            : running(key, spec, text);
        const name = key.split(' ')[0] ?? '';
        return {
          what: `${key} ${text}${isExec ? ' (words)' : ''}`,
          command,
          setup: { allow: ['Bash(rm:*)', `Bash(${name}:*)`] },
          expected: spec.foreign === true ? 'ask' : 'allow',
          tables: withEntry('wrappers', key, without),
        };
      }),
    );
    expect(unnoticed(mutants.filter(({ expected }) => expected === 'allow'))).toEqual([]);
    expect(mutants.length).toBeGreaterThan(500);
  });

  it('D1 what else is said of them counts', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const change = (what: string, more: Omit<Mutant, 'what' | 'tables'>, entry: Partial<WrapperSpec>): Mutant => ({
        what: `${key} ${what}`,
        ...more,
        tables: withEntry('wrappers', key, { ...spec, ...entry }),
      });
      const found: Mutant[] = [];
      if ((spec.operands ?? 0) > 0)
        found.push(
          change('operands', { command: running(key, spec), setup: DENY_RM, expected: 'deny' }, { operands: 0 }),
        );
      if (spec.assigns === true)
        found.push(
          change('assigns', { command: `${key} A=1 rm x`, setup: DENY_RM, expected: 'deny' }, { assigns: false }),
        );
      if (spec.trust === 'guarded' && spec.foreign !== true && spec.shape !== 'find') {
        found.push(
          change(
            'trust',
            { command: running(key, spec), setup: { allow: ['Bash(rm:*)'] }, expected: 'ask' },
            { trust: 'clear' },
          ),
        );
      }
      if (spec.foreign === true) {
        found.push(change('foreign', { command: `${key} -c ls`, setup: DENY_RM, expected: 'ask' }, { foreign: false }));
      }
      for (const flag of words(spec.asks)) {
        const command = `${key} -${flag} rm`;
        found.push(
          change(`asks ${flag}`, { command, setup: DENY_RM, expected: 'allow' }, { asks: dropWord(spec.asks, flag) }),
        );
      }
      for (const flag of words(spec.joined)) {
        const command = `${key} ${flag.length === 1 ? `-${flag}` : `--${flag}`} 'rm x'`;
        found.push(
          change(
            `joined ${flag}`,
            { command, setup: DENY_RM, expected: 'deny' },
            { joined: dropWord(spec.joined, flag) },
          ),
        );
      }
      for (const flag of words(spec.folders)) {
        const command = `${key} ${flag.length === 1 ? `-${flag} sub` : `--${flag}=sub`} touch k`;
        const setup = { allow: ['Bash(*)'], deny: ['Edit(./sub/k)'] };
        found.push(
          change(`folders ${flag}`, { command, setup, expected: 'deny' }, { folders: dropWord(spec.folders, flag) }),
        );
      }
      for (const clause of words(spec.clauses)) {
        const command = `${key} . ${clause} rm x ';'`;
        found.push(
          change(
            `clause ${clause}`,
            { command, setup: DENY_RM, expected: 'deny' },
            { clauses: dropWord(spec.clauses, clause) },
          ),
        );
      }
      return found;
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(80);
  });
});

describe('flags that run programs', () => {
  const entries = Object.entries(COMMAND_TABLES.dangers);

  it('D1 each is asked about under a rule for its program', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const name = key.split(' ')[0] ?? '';
      const make = (what: string, argument: string, without: DangerSpec): Mutant => ({
        what: `${key} ${what}`,
        command: `${key} ${argument}`,
        setup: { allow: [`Bash(${name}:*)`] },
        expected: 'ask',
        tables: withEntry('dangers', key, without),
      });
      return [
        ...(spec.short ?? '')
          .split('')
          .map((letter) => make(letter, `-${letter} v`, { ...spec, short: (spec.short ?? '').replaceAll(letter, '') })),
        ...words(spec.long).map((long) => make(long, `--${long}=v`, { ...spec, long: dropWord(spec.long, long) })),
        ...words(spec.words).map((word) => make(word, quote(word), { ...spec, words: dropWord(spec.words, word) })),
        ...words(spec.starts).map((start) =>
          make(start, quote(`${start}v`), { ...spec, starts: dropWord(spec.starts, start) }),
        ),
        ...words(spec.holds).map((part) =>
          make(part, quote(`v${part}v`), { ...spec, holds: dropWord(spec.holds, part) }),
        ),
      ];
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(150);
  });

  it('D2 letters with values, bundles and command lines count', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const name = key.split(' ')[0] ?? '';
      const [danger = ''] = spec.short ?? '';
      const setup = { allow: [`Bash(${name}:*)`] };
      const without = (entry: Partial<DangerSpec>): CommandTables => withEntry('dangers', key, { ...spec, ...entry });
      const found = (spec.values ?? '').split('').map(
        (letter): Mutant => ({
          what: `${key} value ${letter}`,
          // With a flag that keeps it from running unasked anyway.
          command: `${key} -${letter}${danger}x --odd`,
          setup,
          expected: 'allow',
          tables: without({ values: (spec.values ?? '').replaceAll(letter, '') }),
        }),
      );
      if (spec.bundles === true) {
        found.push({
          what: `${key} bundles`,
          command: `${key} c${danger}v x`,
          setup,
          expected: 'ask',
          tables: without({ bundles: false }),
        });
      }
      if (spec.runs === true) {
        const flag = spec.long === undefined ? `-${danger} 'rm x'` : `--${words(spec.long)[0]}='rm x'`;
        found.push({
          what: `${key} runs`,
          command: `${key} ${flag}`,
          setup: DENY_RM,
          expected: 'deny',
          tables: without({ runs: false }),
        });
      }
      return found;
    });
    expect(unnoticed(mutants)).toEqual([]);
  });
});

/** What makes a plain call of a program that only reads. */
const OPERANDS: Readonly<Record<ReadOnlySpec['operands'], string>> = {
  paths: 'a',
  pattern: 'x a',
  text: 'a',
  none: '',
};
const SPECIAL: Readonly<Record<string, string>> = { date: '', sleep: '1' };

describe('programs that only read', () => {
  const entries = Object.entries(COMMAND_TABLES.programs);
  const operandsOf = (key: string, spec: ReadOnlySpec): string => SPECIAL[key] ?? OPERANDS[spec.operands];

  it('D2 each program and each flag is needed', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => [
      {
        what: key,
        command: `${key} ${operandsOf(key, spec)}`,
        setup: {},
        expected: 'allow',
        tables: withEntry('programs', key, undefined),
      },
      ...flagsOf(spec, '1').map(
        ({ text, without }): Mutant => ({
          what: `${key} ${text}`,
          command: `${key} ${text} ${operandsOf(key, spec)}`,
          setup: {},
          expected: 'allow',
          tables: withEntry('programs', key, without),
        }),
      ),
    ]);
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(700);
  });

  it('D1 what else is said of them counts', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const change = (what: string, more: Omit<Mutant, 'what' | 'tables'>, entry: Partial<ReadOnlySpec>): Mutant => ({
        what: `${key} ${what}`,
        ...more,
        tables: withEntry('programs', key, { ...spec, ...entry }),
      });
      const found: Mutant[] = [];
      if (spec.hasBadFlags === true && key !== 'date') {
        found.push(change('hasBadFlags', { command: `${key} *`, setup: {}, expected: 'ask' }, { hasBadFlags: false }));
      }
      if (spec.onlyNames === true) {
        found.push(
          change(
            'onlyNames',
            { command: `${key} a`, setup: { deny: ['Read(./a)'] }, expected: 'allow' },
            { onlyNames: false },
          ),
        );
      }
      if (spec.readsCwd === true) {
        const command = `${key} ${spec.operands === 'pattern' ? 'x' : ''}`;
        found.push(change('readsCwd', { command, setup: { cwd: '/other' }, expected: 'ask' }, { readsCwd: false }));
      }
      if (spec.followsLinks === true) {
        found.push(
          change(
            'followsLinks',
            { command: `${key} a b`, setup: { trusted: false }, expected: 'ask' },
            { followsLinks: false },
          ),
        );
      }
      const flags = spec.recurses === 'always' ? [''] : words(spec.recurses);
      for (const flag of flags) {
        const given = flag === '' ? '' : flag.length === 1 ? `-${flag}` : `--${flag}`;
        const rest = dropWord(spec.recurses, flag);
        const recurses = flag === '' || rest === '' ? undefined : rest;
        const command = `${key} ${given} ${spec.operands === 'pattern' ? 'x' : 'b'} src`;
        found.push(
          change(`recurses ${flag}`, { command, setup: { deny: ['Read(./src/k)'] }, expected: 'ask' }, { recurses }),
        );
      }
      return found;
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(20);
  });

  it.each([
    ['uniq', 'uniq a b'],
    ['date', 'date 010100002030'],
    ['xxd', 'xxd a b'],
    ['sleep', 'sleep 99999'],
  ])('D1 %s looks at its operands', (key, command) => {
    const tables = withEntry('programs', key, { ...COMMAND_TABLES.programs[key], accept: undefined });
    expect(unnoticed([{ what: key, command, setup: {}, expected: 'ask', tables }])).toEqual([]);
  });

  const GIT_OPERANDS: Readonly<Record<string, string>> = {
    stash: 'list',
    worktree: 'list',
    config: '--get a.b',
    grep: 'x',
    'cat-file': 'HEAD',
  };

  it('D2 each git command and each of its flags is needed', () => {
    const mutants = Object.entries(COMMAND_TABLES.git).flatMap(([key, spec]): Mutant[] => {
      const command = `git ${key} ${GIT_OPERANDS[key] ?? ''}`;
      const plain = { setup: {}, expected: 'allow' as const };
      return [
        { what: key, command, ...plain, tables: withEntry('git', key, undefined) },
        ...flagsOf(spec, '1').map(({ flag, text, without }): Mutant => {
          const isGet = key === 'config' && (flag === 'get' || flag === 'get-all');
          return {
            what: `${key} ${text}`,
            command: isGet ? `git config ${text} a.b` : `${command} ${text}`,
            ...plain,
            tables: withEntry('git', key, without),
          };
        }),
        ...(spec.needsTrust === true
          ? [
              {
                what: `${key} needsTrust`,
                command,
                setup: { trusted: false },
                expected: 'ask' as const,
                tables: withEntry('git', key, { ...spec, needsTrust: false } satisfies GitSpec),
              },
            ]
          : []),
      ];
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(400);
  });
});

describe('programs that write', () => {
  it('E2 each is needed to know what it writes', () => {
    const mutants = Object.entries(COMMAND_TABLES.writers).flatMap(([key, spec]): Mutant[] => {
      const setup: Setup = { allow: ['Bash(*)'], deny: ['Edit(./k)'] };
      const plain = { setup, expected: 'deny' as const };
      const flag = words(spec.only)[0];
      const only = flag === undefined ? '' : flag.length === 1 ? `-${flag} ` : `--${flag} `;
      const tables = (entry: WriterSpec | undefined): CommandTables => withEntry('writers', key, entry);
      const found: Mutant[] = [];
      const shapes = { all: 'k', last: 'a k', rest: 'a k', first: 'k', none: '' };
      if (spec.writes !== 'none')
        found.push({ what: key, command: `${key} ${only}${shapes[spec.writes]}`, ...plain, tables: tables(undefined) });
      for (const each of words(spec.only)) {
        const given = each.length === 1 ? `-${each}` : `--${each}`;
        found.push({
          what: `${key} ${each}`,
          command: `${key} ${given} ${shapes[spec.writes]}`,
          ...plain,
          tables: tables({ ...spec, only: dropWord(spec.only, each) }),
        });
      }
      for (const field of ['outputs', 'targets'] as const) {
        for (const each of words(spec[field])) {
          const given = each.length === 1 ? `-${each} k` : key === 'openssl' ? `-${each} k` : `--${each}=k`;
          found.push({
            what: `${key} ${each}`,
            command: `${key} ${given} a`,
            ...plain,
            tables: tables({ ...spec, [field]: dropWord(spec[field], each) }),
          });
        }
      }
      if (spec.named !== undefined)
        found.push({
          what: `${key} ${spec.named}`,
          command: `${key} ${spec.named}=k`,
          ...plain,
          tables: tables({ ...spec, named: undefined }),
        });
      for (const each of spec.recurses === 'always' ? [''] : words(spec.recurses)) {
        const given = each === '' ? '' : each.length === 1 ? `-${each}` : `--${each}`;
        const rest = dropWord(spec.recurses, each);
        const command = `${key} ${given} ${key === 'zip' ? 'b src' : 'src b'}`;
        const entry = { ...spec, recurses: each === '' || rest === '' ? undefined : rest };
        found.push({
          what: `${key} recurses ${each}`,
          command,
          setup: { allow: ['Bash(*)'], deny: ['Read(./src/k)'] },
          expected: 'ask',
          tables: tables(entry),
        });
      }
      return found;
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(80);
  });
});
