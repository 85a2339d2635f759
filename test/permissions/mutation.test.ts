/** Every entry of the tables counts: with any one taken away, some call is judged otherwise. */
import { describe, expect, it } from 'vitest';
import type { FlagSpec } from '../../src/engine/permissions/command-flags.js';
import { commandAccesses, throughLinks } from '../../src/engine/permissions/command.js';
import { decidePermission, type JudgedAccess } from '../../src/engine/permissions/decide.js';
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
  /** Where a link below `src` leads. */
  linked?: string;
}

function judge(
  command: string,
  { allow = [], deny = [], trusted = true, cwd = '/repo', linked }: Setup,
  tables: CommandTables,
): string {
  const home = '/home/user';
  const book = compileRules([{ name: 'user', base: '/repo', allow, deny }], { home });
  const accesses: JudgedAccess[] = commandAccesses(command, cwd, home);
  if (linked !== undefined) accesses.push({ path: linked, access: 'read', matches: throughLinks('/repo/src') });
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
      return `${before} 'rm x'`;
    case 'login':
      return words(spec.commands).some((each) => flag.includes(`${each}=`) || flag.startsWith(`-${each} `))
        ? `${before} rm x`
        : `${before} name -c 'rm x'`;
    case 'parallel':
      return `${before} rm ::: x`;
    default:
      return spec.program === undefined ? `${before} rm x` : `${before} -- -c 'rm x'`;
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
    const withFlags = entries.filter(([, { shape }]) => shape !== 'find');
    const mutants = withFlags.flatMap(([key, spec]) =>
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
      const isSure = spec.shape !== 'find' && spec.shape !== 'anywhere' && spec.foreign !== true;
      if (spec.trust === 'guarded' && isSure) {
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
      const deny = { setup: DENY_RM, expected: 'deny' } as const;
      if (spec.dash === true) found.push(change('dash', { command: `${key} - rm x`, ...deny }, { dash: false }));
      if (spec.program !== undefined)
        found.push(change('program', { command: running(key, spec), ...deny }, { program: undefined }));
      for (const flag of words(spec.commands)) {
        const command = `${key} ${flag.length === 1 ? `-${flag} me` : `--${flag}=me`} rm x`;
        const setup = { allow: ['Bash(rm:*)', `Bash(${key}:*)`] };
        found.push(
          change(
            `commands ${flag}`,
            { command, setup, expected: 'allow' },
            { commands: dropWord(spec.commands, flag) },
          ),
        );
      }
      if (spec.abbreviates === true) {
        const short = key.split(' ').map((part, at) => (at === 0 ? part : part.slice(0, 3)));
        found.push(change('abbreviates', { command: `${short.join(' ')} n rm x`, ...deny }, { abbreviates: false }));
      }
      if (spec.appends === true) {
        const setup = { allow: ['Bash(*)'], deny: ['Read(./k)'] };
        found.push(change('appends', { command: `${key} . -x cat`, setup, expected: 'ask' }, { appends: false }));
        for (const letter of spec.shortValue ?? '') {
          const shortValue = (spec.shortValue ?? '').replace(letter, '');
          const command = `${key} . -${letter}xrm`;
          found.push(change(`value ${letter}`, { command, setup: DENY_RM, expected: 'allow' }, { shortValue }));
        }
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
          command: spec.harmless === undefined ? `${key} -${letter}${danger}x --odd` : `${key} -${letter} x ls`,
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
      for (const word of words(spec.harmless)) {
        const harmless = dropWord(spec.harmless, word);
        const command = `${key} ${word}`;
        found.push({
          what: `${key} harmless ${word}`,
          command,
          setup,
          expected: 'allow',
          tables: without({ harmless }),
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
const SPECIAL: Readonly<Record<string, string>> = { date: '', sleep: '1', printenv: 'HOME' };

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
      if (spec.namesItself !== undefined) {
        const make = (flag: string) =>
          change(
            `namesItself ${flag}`,
            { command: `${key} ${flag.length === 1 ? '-' : '--'}${flag} .*`, setup: {}, expected: 'allow' },
            { namesItself: dropWord(spec.namesItself, flag) },
          );
        found.push(...words(spec.namesItself).map(make));
      }
      const flags = spec.recurses === 'always' || spec.recurses === 'folder' ? [''] : words(spec.recurses);
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
    ['uniq', 'uniq a*'],
    ['xxd', 'xxd a b'],
    ['xxd', 'xxd a?'],
    ['sleep', 'sleep 99999'],
    ['grep', 'grep "$(cat p)" a'],
  ])('D1 %s looks at its operands', (key, command) => {
    const tables = withEntry('programs', key, { ...COMMAND_TABLES.programs[key], accept: undefined });
    expect(unnoticed([{ what: key, command, setup: {}, expected: 'ask', tables }])).toEqual([]);
  });

  it.each([
    ['xxd', 'xxd -ac 1 a'],
    ['tree', 'tree -Pox a b'],
  ])('D1 %s has flags that share a word as no other does', (key, command) => {
    const tables = withEntry('programs', key, { ...COMMAND_TABLES.programs[key], words: undefined });
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
          const isGet = key === 'config' && /^(?:get|get-all|list|l)$/.test(flag);
          const name = flag.startsWith('l') ? '' : 'a.b';
          return {
            what: `${key} ${text}`,
            command: isGet && flag !== 'local' ? `git config ${text} ${name}` : `${command} ${text}`,
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
  const DENY_K: Setup = { allow: ['Bash(*)'], deny: ['Edit(./k)'] };
  const DENY_READ: Setup = { allow: ['Bash(*)'], deny: ['Read(./src/k)'] };
  const DENY_LINKED: Setup = { allow: ['Bash(*)'], deny: ['Read(//outside/**)'], linked: '/outside/x' };
  const DENY_BELOW: Setup = { allow: ['Bash(*)'], deny: ['Edit(./src/k)'] };
  const SHAPES = { all: 'k', last: 'a k', rest: 'a k', first: 'k', none: '' };
  const flagOf = (flag: string): string => (flag.length === 1 ? `-${flag}` : `--${flag}`);
  /** How each changes what it does not name. */
  const CHANGES: Readonly<Record<string, string>> = {
    'git config': 'core.fsmonitor x',
    'git clone': '--template=x u',
    'git init': '--template=x',
    'git stash': 'push .mcp.json',
    'npm config': 'set a b',
    'npm set': 'a b',
    mktemp: '.mcp.json',
    sed: "'s/a/b/w.mcp.json' a",
    ex: "'+w .mcp.json'",
    vi: "'+w .mcp.json'",
    vim: "'+w .mcp.json'",
    nvim: "'+w .mcp.json'",
    'git maintenance': 'start',
    'git lfs': 'install',
  };
  /** Of what they change a rule is certain. */
  const COMPILERS = 'gcc g++ cc c++ cpp clang clang++ gfortran gdc ld gold lld ld.lld ld.gold ld.bfd mold as';
  const CHANGES_K: Readonly<Record<string, string>> = {
    awk: `'{ print > "k" }' a`,
    gawk: `'{ print > "k" }' a`,
    curl: "-w '%output{k}x' u",
    ...Object.fromEntries(words(COMPILERS).map((key) => [key, '-Wp,-MD,k a'])),
  };
  /** With its value attached; of these two a long name has one dash. */
  const valueOf = (key: string, flag: string): string =>
    flag.length === 1 ? `-${flag}k` : key === 'openssl' || key === 'find' ? `-${flag} k` : `--${flag}=k`;
  const entries = Object.entries(COMMAND_TABLES.writers);

  /** Builds the mutants of one program. */
  function of(key: string, spec: WriterSpec) {
    const only = spec.only === undefined ? '' : `${flagOf(words(spec.only)[0] ?? '')} `;
    const make = (what: string, more: Omit<Mutant, 'what' | 'tables'>, entry?: Partial<WriterSpec>): Mutant => ({
      what: `${key} ${what}`,
      ...more,
      tables: withEntry('writers', key, entry && { ...spec, ...entry }),
    });
    const each = (field: keyof WriterSpec, build: (flag: string) => Omit<Mutant, 'what' | 'tables'>): Mutant[] => {
      const flags = spec[field] as string | undefined;
      if (flags === undefined) return [];
      return words(flags).map((flag) =>
        make(`${field} ${flag}`, build(flag), { [field]: dropWord(flags, flag) || undefined }),
      );
    };
    return { only, make, each };
  }

  it('E2 each is needed to know what it writes', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const { only, make, each } = of(key, spec);
      const denied = (command: string) => ({ command: `${key} ${command}`, setup: DENY_K, expected: 'deny' as const });
      return [
        ...(spec.writes === 'none' ? [] : [make('', denied(`${only}${SHAPES[spec.writes]}`))]),
        ...each('only', (flag) => denied(`${flagOf(flag)} ${SHAPES[spec.writes]}`)).map((mutant) =>
          words(spec.only).length > 1 ? mutant : { ...mutant, tables: withEntry('writers', key, undefined) },
        ),
        ...each('outputs', (flag) => denied(`${valueOf(key, flag)} a`)),
        ...each('targets', (flag) => denied(`${valueOf(key, flag)} a`)),
        ...each('all', (flag) => denied(`${flagOf(flag)} b.txt k b.txt`)),
        ...(spec.named === undefined ? [] : [make(spec.named, denied(`${spec.named}=k`), { named: undefined })]),
        ...(spec.unpacks === undefined
          ? []
          : spec.unpacks === 'always'
            ? [make('unpacks', denied('a.zip k'), { unpacks: undefined })]
            : each('unpacks', (flag) => denied(`${flagOf(flag)} k b.txt`))),
        ...(spec.joins === 'last' ? [make('joins', denied('b/k .'), { joins: undefined })] : []),
        ...(spec.joins === 'here' && spec.joinsWith === undefined
          ? [make('joins', denied('https://x.example/k'), { joins: undefined })]
          : []),
        ...(spec.joinsWith === undefined
          ? []
          : words(spec.joinsWith).map((flag) =>
              make(`joins ${flag}`, denied(`${flagOf(flag)} https://x.example/k`), {
                joinsWith: dropWord(spec.joinsWith, flag),
              }),
            )),
      ];
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(160);
  });

  it('E2 scripts are told from files', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const { only, make, each } = of(key, spec);
      const script = words(spec.scripts)[0] ?? '';
      const isFile = spec.writes === 'rest';
      // What they are told to do may be anything.
      const isEditor = /^(?:ex|n?vim?)$/.test(key);
      const expected = isEditor ? 'ask' : 'allow';
      return [
        ...each('scripts', (flag) =>
          isFile
            ? { command: `${key} ${only}${valueOf(key, flag)}x k`, setup: DENY_K, expected: 'deny' }
            : { command: `${key} ${only}${flagOf(flag)} k f`, setup: DENY_K, expected },
        ),
        ...(spec.plain ?? '')
          .split('')
          .map((letter) =>
            make(
              `plain ${letter}`,
              { command: `${key} ${only}-${letter}${script} k f`, setup: DENY_K, expected: isFile ? 'ask' : expected },
              { plain: (spec.plain ?? '').replaceAll(letter, '') },
            ),
          ),
      ];
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(30);
  });

  const withoutFlag = (brings: WriterSpec['brings'], flag: string): WriterSpec['brings'] =>
    brings === undefined || brings.with === flag ? undefined : { ...brings, with: dropWord(brings.with, flag) };

  it('E2 what lies below, what is listed, and what is not named counts', () => {
    const mutants = entries.flatMap(([key, spec]): Mutant[] => {
      const { only, make, each } = of(key, spec);
      const asked = (command: string, setup: Setup) => ({ command, setup, expected: 'ask' as const });
      const spread = `${key} ${only}${spec.spreads === 'folder' ? 'src/' : spec.spreads === 'sources' ? 'src x' : 'src'}`;
      const isFlag = !['always', 'folder', 'sources'].includes(spec.spreads ?? 'always');
      const reading = (flag: string): string => `${key} ${flag} --odd ${key === 'zip' ? 'b src' : 'src b'}`;
      return [
        ...(isFlag
          ? each('spreads', (flag) => asked(`${key} ${flagOf(flag)} src`, DENY_BELOW))
          : spec.spreads === undefined
            ? []
            : [make('spreads', asked(spread, DENY_BELOW), { spreads: undefined })]),
        ...(spec.recurses === 'always' || spec.recurses === 'folder'
          ? [make('recurses', asked(reading(''), DENY_READ), { recurses: undefined })]
          : each('recurses', (flag) => asked(reading(flagOf(flag)), DENY_READ))),
        ...(spec.readsHere === true
          ? [
              make('readsHere', asked(`${key} ${spec.recurses === 'always' ? '' : '-R'} --odd x`, DENY_READ), {
                readsHere: false,
              }),
            ]
          : []),
        ...each('lists', (flag) => asked(`${key} ${flagOf(flag)} l`, DENY_READ)),
        ...(spec.follows === 'always'
          ? [make('follows', asked(reading('-r'), DENY_LINKED), { follows: undefined })]
          : each('follows', (flag) => asked(reading(flagOf(flag)), DENY_LINKED))),
        ...each('keepsLinks', (flag) => ({
          command: reading(flagOf(flag)),
          setup: DENY_LINKED,
          expected: 'allow' as const,
        })),
        ...each('links', (flag) => ({
          command: `${key} ${flagOf(flag)} ../k b/l`,
          setup: { allow: ['Bash(*)'], deny: ['Read(./k)'] },
          expected: 'deny' as const,
        })),
        ...each('keeps', (flag) => ({
          command: `${key} ${flagOf(flag)} x/k .`,
          setup: { allow: ['Bash(*)'], deny: ['Edit(./x/k)'] },
          expected: 'deny' as const,
        })),
        ...each('merges', (flag) => asked(`${key} -r ${flagOf(flag)} x .`, DENY_K)),
        ...(spec.takesNames === true
          ? [make('takesNames', asked(`${key} <<E\n+++ b/.mcp.json\nE`, { allow: ['Bash(*)'] }), { takesNames: false })]
          : []),
        ...(spec.brings === undefined
          ? []
          : words(spec.brings.with).map((flag) =>
              make(
                `brings ${flag}`,
                asked(`${key} ${flag === 'always' ? '' : flagOf(flag)} -- src m; cat m/a.txt`, DENY_LINKED),
                { brings: withoutFlag(spec.brings, flag) },
              ),
            )),
        ...(spec.here === undefined ? [] : [make('here', asked(key, DENY_BELOW), { here: undefined })]),
        ...each('starts', (flag) => ({
          command: `${key} ${valueOf(key, flag).replace(/k$/, 'src')} -cf - k`,
          setup: DENY_READ,
          expected: 'deny' as const,
        })),
        ...(CHANGES_K[key] === undefined
          ? []
          : [
              make(
                'changes',
                { command: `${key} ${CHANGES_K[key]}`, setup: DENY_K, expected: 'deny' },
                { changes: undefined },
              ),
            ]),
        ...(spec.changes === undefined || CHANGES_K[key] !== undefined
          ? []
          : [make('changes', asked(`${key} ${CHANGES[key] ?? ''}`, { allow: ['Bash(*)'] }), { changes: undefined })]),
      ];
    });
    expect(unnoticed(mutants)).toEqual([]);
    expect(mutants.length).toBeGreaterThan(60);
  });
});
