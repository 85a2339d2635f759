import { basename } from 'node:path/posix';
import { type ReadFlags, readFlags } from '../command-flags.js';
import { looksLikeFile } from '../rules/file-name.js';
import { isOpen, isPattern, mayBeParent } from '../shell/hole.js';
import { effectOfAwk } from './awk.js';
import { judgeGit } from './git.js';
import { GIT_READ_ONLY, type GitSpec } from './git-table.js';
import { READ_ONLY, type ReadOnlySpec } from './readonly-table.js';
import { isPrintingSed } from './sed.js';

/** What a command that changes nothing looks at. */
export interface ReadOnlyUse {
  /** The paths it opens or tells about, as written. */
  paths: readonly string[];
  /** It opens what lies below its folders. */
  recurses: boolean;
  /** It opens what links below its folders lead to. */
  follows?: boolean;
  /** It would look into its folders, and its paths are called as files are. */
  isCalledFile?: boolean;
  /** It opens none of its paths. */
  onlyNames: boolean;
  /** It runs unasked only where the folder is trusted. */
  needsTrust: boolean;
  /** It does so for the links below folders alone, which it opens. */
  isForLinks?: boolean;
  /** A word that turns into a flag could do harm. */
  hasBadFlags: boolean;
  /** Of the files below its folders it opens those that fit one of these. */
  includes?: readonly string[];
  /** It does not open hidden files by itself. */
  skipsHidden?: boolean;
}

export interface ReadOnlyTables {
  programs: Readonly<Record<string, ReadOnlySpec>>;
  git: Readonly<Record<string, GitSpec>>;
}

const TABLES: ReadOnlyTables = { programs: READ_ONLY, git: GIT_READ_ONLY };

const TEXT: ReadOnlyUse = { paths: [], recurses: false, onlyNames: true, needsTrust: false, hasBadFlags: false };
const opening = (paths: readonly string[]): ReadOnlyUse => ({ ...TEXT, paths, onlyNames: false });

type Judge = (args: readonly string[], tables: ReadOnlyTables) => ReadOnlyUse | undefined;

const JUDGES: Readonly<Record<string, Judge>> = {
  git: (args, { git }) => {
    const use = judgeGit(args, git);
    return use && { ...TEXT, ...use, hasBadFlags: true };
  },
  find: judgeFind,
  test: judgeTest,
  '[': (args) => (args.at(-1) === ']' ? judgeTest(args.slice(0, -1)) : undefined),
  // Behind its format nothing is a flag.
  printf: (args) => (isHarmlessFormat(args) ? TEXT : undefined),
  echo: () => TEXT,
  true: () => TEXT,
  expr: () => TEXT,
  false: () => TEXT,
  ':': () => TEXT,
  egrep: (args, tables) => judgeReadOnly(['grep', ...args], tables),
  fgrep: (args, tables) => judgeReadOnly(['grep', ...args], tables),
  sed: judgeSed,
  awk: judgeAwk,
  gawk: judgeAwk,
  mawk: judgeAwk,
  jq: judgeJq,
  ps: (args) => (args.every((arg) => PS_WORD.test(arg)) ? TEXT : undefined),
  command: (args) => (/^-[vV]$/.test(args[0] ?? '') ? TEXT : undefined),
};

// Not the forms that show the environment of processes.
const PS_COLUMN = '(?:pid|ppid|pgid|comm|cmd|args|user|stat|rss|vsz|pcpu|pmem|time|etime|tty|lstart)';
const PS_WORD = new RegExp(`^(?:aux|-ef|-[efAp]|-[ou]|\\d+|${PS_COLUMN}(?:,${PS_COLUMN})*)$`);

/** What a command looks at when it is known to change nothing; undefined when that is not known. */
export function judgeReadOnly(words: readonly string[], tables: ReadOnlyTables = TABLES): ReadOnlyUse | undefined {
  const [name, ...args] = words;
  if (name === undefined) return undefined;
  if (args.length === 1 && isVersionWord(name, args[0] ?? '')) return { ...TEXT, needsTrust: true };
  const isAsking = args.length === 1 && /^--(?:help|version)$/.test(args[0] ?? '');
  if (isAsking && (Object.hasOwn(tables.programs, name) || name === 'find' || name === 'sed')) return TEXT;
  if (Object.hasOwn(JUDGES, name)) return JUDGES[name]?.(args, tables);
  const spec = Object.hasOwn(tables.programs, name) ? tables.programs[name] : undefined;
  const read = spec && readFlags(args, spec);
  if (spec === undefined || read === undefined || spec.accept?.(read) === false) return undefined;
  if (spec.operands === 'none' && read.operands.length > 0) return undefined;
  return toUse(spec, read);
}

/**
 * Programs of which a lone flag asks for the version, and which. A project may say which version of them runs. Not those
 * that manage packages: a project may say by a file which program runs in their place. Nor those that read files of the
 * project even then, and run what is in them: `.mvn/jvm.config`, `conftest.py`, the project's own jest.
 */
const VERSION_WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    node: '-v --version',
    deno: '-V --version',
    bun: '-v --version',
    tsc: '-v --version',
    eslint: '-v --version',
    prettier: '--version',
    vitest: '-v --version',
    python: '-V --version',
    python3: '-V --version',
    pip: '-V --version',
    pip3: '-V --version',
    uv: '-V --version',
    ruff: '-V --version',
    mypy: '-V --version',
    ruby: '-v --version',
    gem: '-v --version',
    bundle: '--version',
    perl: '-v --version',
    php: '-v --version',
    java: '-version --version',
    javac: '-version --version',
    gradle: '-v --version',
    go: 'version',
    rustc: '-V --version',
    cargo: '-V --version',
    rustup: '-V --version',
    gcc: '--version',
    'g++': '--version',
    cc: '--version',
    clang: '--version',
    make: '-v --version',
    cmake: '--version',
    docker: '-v --version',
    bash: '--version',
    gh: '--version',
    curl: '-V --version',
    jq: '-V --version',
    rg: '-V --version',
  }).map(([name, words]) => [name, listed(words)]),
);

const isVersionWord = (name: string, word: string): boolean => VERSION_WORDS.get(name)?.has(word) === true;

function toUse(spec: ReadOnlySpec, read: ReadFlags): ReadOnlyUse {
  const { flags } = read;
  const late = spec.operands === 'paths' ? read.late.filter((value) => value.includes('/')) : [];
  const isBare = spec.namesItself?.split(' ').some((flag) => flags.has(flag)) === true;
  const paths = [...pathsOf(read, spec), ...late].filter((path) => path !== '-' && !(isBare && isOwnOrAbove(path)));
  const recurses =
    spec.recurses === 'always' ||
    (spec.recurses === 'folder' && read.operands.some((path) => !looksLikeFile(basename(path)))) ||
    (spec.recurses !== undefined && spec.recurses.split(' ').some((flag) => flags.has(flag)));
  const isRipgrep = spec.recurses === 'always';
  // Where the first of the two leaves something out, what fits neither is searched.
  const includes = isRipgrep ? includedByRipgrep(flags) : flags.has('exclude') ? undefined : flags.get('include');
  const showsHidden =
    globsOf(flags).some((glob) => !isNegated(glob)) ||
    ['hidden', '.', 'u', 'unrestricted', 'iglob', 't', 'type'].some((flag) => flags.has(flag));
  return {
    paths: paths.length === 0 && spec.readsCwd === true ? ['.'] : paths,
    recurses,
    onlyNames: spec.onlyNames === true || spec.operands === 'text' || (isRipgrep && flags.has('files')),
    ...(spec.followsLinks === true && recurses && { follows: true }),
    ...(spec.recurses === 'folder' && !recurses && { isCalledFile: true }),
    needsTrust: spec.followsLinks === true,
    ...(spec.followsLinks === true && { isForLinks: true }),
    hasBadFlags: spec.hasBadFlags === true,
    ...(includes !== undefined && { includes }),
    ...(isRipgrep && !showsHidden && { skipsHidden: true }),
  };
}

/** Types of files that ripgrep knows, as far as names of that kind are all that it takes for them. */
const RIPGREP_TYPES: Readonly<Record<string, string>> = {
  ts: '*.{ts,tsx,cts,mts}',
  js: '*.{js,jsx,cjs,mjs,vue}',
  py: '*.{py,pyi}',
  go: '*.go',
  rust: '*.rs',
  css: '*.{css,scss}',
  html: '*.{htm,html,ejs}',
  md: '*.{markdown,md,mdown,mdwn,mdx,mkd,mkdn}',
};

type Flags = ReadFlags['flags'];

const globsOf = (flags: Flags): readonly string[] => [...(flags.get('g') ?? []), ...(flags.get('glob') ?? [])];

const isNegated = (glob: string): boolean => glob.startsWith('!');

/** What it is told to search; files that fit neither a pattern nor a type are left out. */
function includedByRipgrep(flags: Flags): readonly string[] | undefined {
  if (flags.has('iglob')) return undefined;
  const globs = globsOf(flags).filter((glob) => !isNegated(glob));
  if (globs.length > 0) return globs;
  const types = [...(flags.get('t') ?? []), ...(flags.get('type') ?? [])];
  const known = types.map((type) => (Object.hasOwn(RIPGREP_TYPES, type) ? RIPGREP_TYPES[type] : undefined));
  return known.length > 0 && known.every((each) => each !== undefined) ? known : undefined;
}

/** A folder itself says nothing of what is in it: neither this one nor that above. */
const isOwnOrAbove = (path: string): boolean => /^\.{1,2}$/.test(path) || mayBeParent(path);

function pathsOf({ flags, operands }: ReadFlags, spec: ReadOnlySpec): readonly string[] {
  if (spec.operands === 'text') return [];
  const isPatternGiven = ['e', 'regexp', 'files', 'type-list'].some((flag) => flags.has(flag));
  const isAll = spec.operands !== 'pattern' || isPatternGiven || isPattern(operands[0] ?? '');
  return isAll ? operands : operands.slice(1);
}

// Predicates of find by the number of words they take. `path` ones name a file that is looked at.
const FIND_ALONE = listed(
  '! ( ) , -a -and -o -or -not -depth -daystart -empty -executable -false -ls -mount -nogroup -nouser -print -print0 ' +
    '-prune -quit -readable -true -writable -xdev',
);
const FIND_VALUE = listed(
  '-amin -atime -cmin -ctime -fstype -gid -group -iname -inum -ipath -iregex -iwholename -links -maxdepth -mindepth ' +
    '-mmin -mtime -name -path -perm -printf -regex -regextype -size -type -uid -user -wholename',
);
const FIND_PATH = listed('-anewer -cnewer -newer -samefile');

function judgeFind(args: readonly string[]): ReadOnlyUse | undefined {
  const start = args.findIndex((arg) => arg.startsWith('-') || ['!', '(', ')', ','].includes(arg));
  const roots = start === -1 ? args : args.slice(0, start);
  const expression = start === -1 ? [] : args.slice(start);
  const paths = roots.length === 0 ? ['.'] : [...roots];
  for (let at = 0; at < expression.length; at += 1) {
    const word = expression[at] ?? '';
    if (FIND_ALONE.has(word)) continue;
    at += 1;
    const value = expression[at];
    if (value === undefined) return undefined;
    if (FIND_PATH.has(word)) paths.push(value);
    else if (!FIND_VALUE.has(word)) return undefined;
  }
  return { ...TEXT, paths, hasBadFlags: true };
}

// Not `-v` and `-R`: they evaluate the subscript of an array name, and with it any command inside.
const TEST_OPERATORS = listed(
  '-a -b -c -d -e -f -g -h -k -L -n -o -p -r -s -S -t -u -w -x -z -G -N -O -eq -ne -lt -le -gt -ge -nt -ot -ef',
);

function judgeTest(args: readonly string[]): ReadOnlyUse | undefined {
  const isKnown = args.every((arg) => !arg.startsWith('-') || TEST_OPERATORS.has(arg) || /^-\d*$/.test(arg));
  return isKnown ? { ...TEXT, paths: args.filter((arg) => arg.includes('/') || arg === '..') } : undefined;
}

/** `-v` assigns to a variable, and so does `%n`: `printf abc%n PATH` makes the next `ls` another program. */
function isHarmlessFormat(args: readonly string[]): boolean {
  const hasMark = args[0] === '--';
  const format = args[hasMark ? 1 : 0];
  if (format === undefined || (!hasMark && format.startsWith('-')) || /[\uE000-\uE005]/.test(format)) return false;
  const conversions = /%(?:%|[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[sbqdiouxXfFeEgGc])/g;
  return !format.replace(conversions, '').includes('%');
}

function judgeSed(args: readonly string[]): ReadOnlyUse | undefined {
  const read = readFlags(args, {
    short: 'nErsuz',
    shortValue: 'e',
    endsFlags: true,
    long: 'quiet silent expression= regexp-extended separate unbuffered null-data posix debug',
  });
  if (read === undefined) return undefined;
  const given = [...(read.flags.get('e') ?? []), ...(read.flags.get('expression') ?? [])];
  const scripts = given.length > 0 ? given : read.operands.slice(0, 1);
  if (scripts.length === 0 || !scripts.every(isPrintingSed)) return undefined;
  return { ...opening(given.length > 0 ? read.operands : read.operands.slice(1)), hasBadFlags: true };
}

function judgeAwk(args: readonly string[]): ReadOnlyUse | undefined {
  const read = readFlags(args, { shortValue: 'Fv', long: 'field-separator= assign=' }, { stopsAtOperand: true });
  const [program, ...files] = read?.operands ?? [];
  if (program === undefined || effectOfAwk(program) !== 'prints') return undefined;
  return { ...opening(files.filter((file) => file !== '-' && !/^[A-Za-z_]\w*=/.test(file))), hasBadFlags: true };
}

const JQ_FLAGS = {
  short: 'rcnseSajMC',
  long: 'raw-output compact-output null-input slurp exit-status sort-keys ascii-output join-output monochrome-output color-output raw-input tab stream seq',
};

/** Flags with values, and how many of them. */
const JQ_VALUES: ReadonlyMap<string, number> = new Map([
  ['--arg', 2],
  ['--argjson', 2],
  ['--indent', 1],
]);

function judgeJq(args: readonly string[]): ReadOnlyUse | undefined {
  const rest: string[] = [];
  const end = args.indexOf('--');
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    const values = end === -1 || at < end ? (JQ_VALUES.get(arg) ?? 0) : 0;
    if (values === 0) rest.push(arg);
    // One that becomes several words would make names of files out of what follows.
    else if (args.slice(at + 1, at + 1 + values).some((value) => isPattern(value) || value === '--')) return undefined;
    at += values;
  }
  const read = readFlags(rest, { ...JQ_FLAGS, short: `${JQ_FLAGS.short}R` });
  const [filter = '.', ...files] = read?.operands ?? [];
  const looksOutside = /\b(?:env|ENV|import|include|modulemeta|input_filename|get_search_list|halt_error)\b/.test(
    filter,
  );
  if (read === undefined || looksOutside || isOpen(filter)) return undefined;
  return { ...opening(files), hasBadFlags: true };
}

/** The paths that `mkdir [-p]` or a plain `touch` creates; undefined for any other command. */
export function judgeFileChange(words: readonly string[]): readonly string[] | undefined {
  const [name, ...args] = words;
  if (name !== 'mkdir' && name !== 'touch') return undefined;
  const read = readFlags(args, name === 'mkdir' ? { short: 'pv', long: 'parents verbose' } : {});
  if (read === undefined || read.operands.length === 0 || read.operands.includes('')) return undefined;
  return read.operands;
}

function listed(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
