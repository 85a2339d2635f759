import { type FlagSpec, type ReadFlags, readFlags } from './command-flags.js';
import { judgeGit } from './readonly-git.js';

/** A program that changes nothing, with the flags of which that is known. */
interface ReadOnlySpec extends FlagSpec {
  /**
   * `paths`: every operand is a file. `pattern`: the first one is not, unless a flag gave the pattern. `text`: no
   * operand is opened.
   */
  operands: 'paths' | 'pattern' | 'text';
  /** Reads the working directory when no path is named. */
  readsCwd?: boolean;
  accept?(read: ReadFlags): boolean;
}

// Left out on purpose: what follows links (`ls -L`, `grep -R`, `rg -L`, `diff` of folders), names further files to read
// (`-f`, `--files0-from`), runs programs (`rg -z`, `rg --pre`, `sort --compress-program`) or never ends.
const PROGRAMS: Readonly<Record<string, ReadOnlySpec>> = {
  ls: {
    operands: 'paths',
    readsCwd: true,
    short: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
    long:
      'all almost-all author escape ignore-backups color[=] directory classify[=] file-type format= full-time ' +
      'group-directories-first no-group human-readable si inode kibibytes ignore= hide= indicator-style= literal ' +
      'numeric-uid-gid quote-name reverse recursive size sort= time= time-style= width= zero',
  },
  cat: {
    operands: 'paths',
    short: 'AbeEnstTuv',
    long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
  },
  head: { operands: 'paths', number: true, short: 'qvz', shortValue: 'nc', long: 'lines= bytes= quiet silent verbose' },
  tail: { operands: 'paths', number: true, short: 'qvz', shortValue: 'nc', long: 'lines= bytes= quiet silent verbose' },
  wc: { operands: 'paths', short: 'cmlwL', long: 'bytes chars lines words max-line-length total=' },
  nl: {
    operands: 'paths',
    short: 'p',
    shortValue: 'bdfhilnsvw',
    long: 'body-numbering= number-format= number-separator= number-width= starting-line-number=',
  },
  file: {
    operands: 'paths',
    short: 'bhiLN0',
    long: 'brief mime mime-type mime-encoding dereference no-dereference no-pad print0',
  },
  stat: {
    operands: 'paths',
    short: 'fLtx',
    shortValue: 'c',
    long: 'dereference file-system terse format= printf=',
  },
  du: {
    operands: 'paths',
    readsCwd: true,
    short: 'abchkmsSx0',
    shortValue: 'dt',
    long:
      'all apparent-size bytes total human-readable si summarize separate-dirs one-file-system null max-depth= ' +
      'threshold= block-size= exclude= time[=] time-style= inodes',
  },
  df: {
    operands: 'paths',
    short: 'aHhiklmPT',
    shortValue: 't',
    long: 'all human-readable si inodes local portability print-type total type= block-size= output[=]',
  },
  realpath: {
    operands: 'paths',
    short: 'eLmPqsz',
    long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero',
  },
  readlink: {
    operands: 'paths',
    short: 'efmnqsvz',
    long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
  },
  basename: { operands: 'text', short: 'az', shortValue: 's', long: 'multiple suffix= zero' },
  dirname: { operands: 'text', short: 'z', long: 'zero' },
  sort: {
    operands: 'paths',
    short: 'bcCdfghiMmnRrsuVz',
    shortValue: 'kt',
    long:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort ' +
      'ignore-nonprinting month-sort numeric-sort random-sort reverse sort= version-sort check[=] merge key= ' +
      'stable field-separator= unique zero-terminated',
  },
  uniq: {
    operands: 'paths',
    short: 'cdDiuz',
    shortValue: 'fsw',
    long:
      'count repeated all-repeated[=] skip-fields= group[=] ignore-case skip-chars= unique zero-terminated ' +
      'check-chars=',
    // A second operand is the file it writes.
    accept: ({ operands }) => operands.length <= 1,
  },
  cut: {
    operands: 'paths',
    short: 'nsz',
    shortValue: 'bcdf',
    long: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
  },
  tr: { operands: 'text', short: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1' },
  comm: {
    operands: 'paths',
    short: 'z123',
    long: 'check-order nocheck-order output-delimiter= total zero-terminated',
  },
  cmp: { operands: 'paths', short: 'bls', shortValue: 'in', long: 'print-bytes verbose quiet silent bytes=' },
  grep: {
    operands: 'pattern',
    readsCwd: true,
    number: true,
    short: 'EFGPivwxyclLoqsbHhnTUZzrIa',
    shortValue: 'emABC',
    long:
      'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp ' +
      'line-regexp count color[=] colour[=] files-without-match files-with-matches max-count= only-matching quiet ' +
      'silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null null-data ' +
      'after-context= before-context= context= text binary-files= include= exclude= exclude-dir= recursive regexp= ' +
      'line-buffered',
  },
  rg: {
    operands: 'pattern',
    readsCwd: true,
    short: 'abcFHiIlnNopPqsSuUvwx0.',
    shortValue: 'ABCdEegjMmrtT',
    long:
      'regexp= files files-with-matches files-without-match count count-matches line-number no-line-number ' +
      'ignore-case smart-case case-sensitive fixed-strings word-regexp line-regexp invert-match only-matching glob= ' +
      'iglob= type= type-not= type-list hidden no-ignore no-ignore-vcs no-heading heading no-filename with-filename ' +
      'context= after-context= before-context= max-count= max-depth= max-columns= max-filesize= color= colors= ' +
      'column no-column json stats sort= sortr= multiline multiline-dotall pcre2 text trim passthru vimgrep null ' +
      'quiet replace= encoding= threads= no-messages one-file-system no-config unrestricted no-follow pretty',
  },
  pwd: { operands: 'text', short: 'LP' },
  whoami: { operands: 'text' },
  id: { operands: 'text', short: 'gGnruz', long: 'group groups name real user zero' },
  uname: {
    operands: 'text',
    short: 'aimnoprsv',
    long: 'all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system',
    accept: ({ operands }) => operands.length === 0,
  },
  date: {
    operands: 'text',
    short: 'Ru',
    shortValue: 'd',
    shortOptional: 'I',
    long: 'date= iso-8601[=] rfc-3339= rfc-email utc universal',
    // Any other operand is a time to set.
    accept: ({ operands }) => operands.every((operand) => operand.startsWith('+')),
  },
  which: { operands: 'text', short: 'a' },
  type: { operands: 'text', short: 'afptP' },
  seq: { operands: 'text', number: true, short: 'w', shortValue: 'fs', long: 'equal-width format= separator=' },
};

type Judge = (args: readonly string[]) => readonly string[] | undefined;

const JUDGES: Readonly<Record<string, Judge>> = {
  git: judgeGit,
  find: judgeFind,
  test: judgeTest,
  '[': (args) => (args.at(-1) === ']' ? judgeTest(args.slice(0, -1)) : undefined),
  printf: (args) => (isHarmlessFormat(args) ? [] : undefined),
  echo: () => [],
  true: () => [],
  false: () => [],
  egrep: (args) => judgeReadOnly(['grep', ...args]),
  fgrep: (args) => judgeReadOnly(['grep', ...args]),
};

/** The paths that a command reads when it is known to change nothing; undefined when that is not known. */
export function judgeReadOnly(words: readonly string[]): readonly string[] | undefined {
  const [name, ...args] = words;
  if (name === undefined) return undefined;
  if (Object.hasOwn(JUDGES, name)) return JUDGES[name]?.(args);
  const spec = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
  const read = spec && readFlags(args, spec);
  if (spec === undefined || read === undefined || spec.accept?.(read) === false) return undefined;
  const paths = pathsOf(read, spec).filter((path) => path !== '-');
  return paths.length === 0 && spec.readsCwd === true ? ['.'] : paths;
}

/** The paths that `mkdir [-p]` or a plain `touch` creates; undefined for any other command. */
export function judgeFileChange(words: readonly string[]): readonly string[] | undefined {
  const [name, ...args] = words;
  if (name !== 'mkdir' && name !== 'touch') return undefined;
  const read = readFlags(args, name === 'mkdir' ? { short: 'p', long: 'parents' } : {});
  if (read === undefined || read.operands.length === 0 || read.operands.includes('')) return undefined;
  return read.operands;
}

function pathsOf({ flags, operands }: ReadFlags, spec: ReadOnlySpec): readonly string[] {
  if (spec.operands === 'text') return [];
  const isPatternGiven = ['e', 'regexp', 'files', 'type-list'].some((flag) => flags.has(flag));
  return spec.operands === 'paths' || isPatternGiven ? operands : operands.slice(1);
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

function judgeFind(args: readonly string[]): readonly string[] | undefined {
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
  return paths;
}

// Not `-v` and `-R`: they evaluate the subscript of an array name, and with it any command inside.
const TEST_OPERATORS = listed(
  '-a -b -c -d -e -f -g -h -k -L -n -o -p -r -s -S -t -u -w -x -z -G -N -O -eq -ne -lt -le -gt -ge -nt -ot -ef',
);

function judgeTest(args: readonly string[]): readonly string[] | undefined {
  const isKnown = args.every((arg) => !arg.startsWith('-') || TEST_OPERATORS.has(arg) || /^-\d*$/.test(arg));
  return isKnown ? args.filter((arg) => arg.includes('/') || arg === '..') : undefined;
}

/** `-v` assigns to a variable, and so does `%n`: `printf abc%n PATH` makes the next `ls` another program. */
function isHarmlessFormat(args: readonly string[]): boolean {
  const hasMark = args[0] === '--';
  const format = args[hasMark ? 1 : 0];
  if (format === undefined || (!hasMark && format.startsWith('-'))) return false;
  const conversions = /%(?:%|[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[sbqdiouxXfFeEgGc])/g;
  return !format.replace(conversions, '').includes('%');
}

function listed(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}
