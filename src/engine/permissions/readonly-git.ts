import { type FlagSpec, type ReadFlags, readFlags } from './command-flags.js';

interface GitSpec extends FlagSpec {
  /** What the first argument must be: the only further subcommand that is harmless. */
  first?: string;
  accept?(read: ReadFlags): boolean;
}

const COMMITS =
  'oneline graph all branches[=] tags[=] remotes[=] decorate[=] no-decorate decorate-refs= max-count= skip= since= ' +
  'after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case extended-regexp ' +
  'fixed-strings perl-regexp merges no-merges first-parent reverse date= relative-date date-order topo-order ' +
  'author-date-order abbrev-commit no-abbrev-commit abbrev[=] no-abbrev format= pretty[=] follow full-history ' +
  'simplify-merges ancestry-path left-right cherry-pick cherry-mark cherry left-only right-only boundary parents ' +
  'children walk-reflogs no-notes no-walk[=] full-diff source';

// Not `--ext-diff` and `--textconv` (run programs of the config), `--output` (writes), `--no-index` (any file), `-O`.
const DIFFS =
  'patch no-patch stat[=] numstat shortstat dirstat[=] summary name-only name-status raw patch-with-stat ' +
  'compact-summary unified[=] color[=] no-color color-words[=] word-diff[=] word-diff-regex= color-moved[=] minimal ' +
  'patience histogram diff-algorithm= find-renames[=] find-copies[=] no-renames diff-filter= pickaxe-all ' +
  'pickaxe-regex ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-cr-at-eol ' +
  'inter-hunk-context= function-context no-ext-diff no-textconv ignore-submodules[=] submodule[=] src-prefix= ' +
  'dst-prefix= no-prefix full-index binary text check relative[=] no-relative exit-code quiet cc combined-all-paths';

const DIFF_SHORT = { short: 'abcmpRstuwWz', shortValue: 'SG', shortOptional: 'BCMU' };
const HISTORY: GitSpec = {
  ...DIFF_SHORT,
  short: `${DIFF_SHORT.short}EFgiPq`,
  shortValue: `${DIFF_SHORT.shortValue}Ln`,
  number: true,
  long: `${COMMITS} ${DIFFS}`,
};
const hasNoOperand = ({ operands }: ReadFlags): boolean => operands.length === 0;

const SUBCOMMANDS: Readonly<Record<string, GitSpec>> = {
  status: {
    short: 'bsz',
    shortOptional: 'u',
    long:
      'short branch show-stash porcelain[=] long untracked-files[=] ignored[=] ignore-submodules[=] ahead-behind ' +
      'no-ahead-behind renames no-renames find-renames[=] column[=] no-column',
  },
  log: HISTORY,
  show: HISTORY,
  'rev-list': { ...HISTORY, long: `${COMMITS} count objects quiet` },
  diff: { ...DIFF_SHORT, long: `${DIFFS} cached staged merge-base` },
  branch: {
    short: 'ariqv',
    long:
      'all remotes list show-current verbose contains= no-contains= merged= no-merged= points-at= sort= format= ' +
      'ignore-case column[=] no-column color[=] no-color abbrev[=] no-abbrev',
    // Without `--list` an operand is a branch to make.
    accept: (read) => hasNoOperand(read) || read.flags.has('list'),
  },
  tag: {
    short: 'il',
    shortOptional: 'n',
    long: 'list contains= no-contains= merged= no-merged= points-at= sort= format= ignore-case column[=] color[=]',
    accept: (read) => hasNoOperand(read) || read.flags.has('list') || read.flags.has('l'),
  },
  remote: {
    short: 'v',
    long: 'verbose all push',
    // `show` asks the server; everything else but `get-url` changes the config.
    accept: ({ operands }) => operands.length === 0 || operands[0] === 'get-url',
  },
  'rev-parse': {
    short: 'q',
    long:
      'abbrev-ref[=] absolute-git-dir all branches[=] git-common-dir git-dir is-bare-repository ' +
      'is-inside-git-dir is-inside-work-tree quiet remotes[=] short[=] show-cdup show-prefix show-toplevel symbolic ' +
      'symbolic-full-name tags[=] verify',
  },
  'ls-files': {
    short: 'cdfikmostuvz',
    shortValue: 'x',
    long:
      'cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol deduplicate ' +
      'exclude= exclude-standard error-unmatch full-name abbrev[=] recurse-submodules format=',
  },
  'ls-tree': {
    short: 'dlrtz',
    long: 'long name-only name-status full-name full-tree abbrev[=] format= object-only',
  },
  blame: {
    short: 'beflnpstw',
    shortValue: 'L',
    shortOptional: 'CM',
    long:
      'root show-stats porcelain line-porcelain incremental show-name show-number show-email date= since= ' +
      'abbrev[=] color-lines color-by-age first-parent',
  },
  'cat-file': { short: 'epst' },
  describe: {
    long: 'all tags contains abbrev[=] candidates= exact-match long match= exclude= always first-parent dirty[=] broken[=]',
  },
  'merge-base': { short: 'a', long: 'all octopus independent is-ancestor fork-point' },
  shortlog: { short: 'cens', long: 'numbered summary email committer group= all since= until= no-merges' },
  grep: {
    number: true,
    short: 'aEFGHhIilLnoPpqvwWzc',
    shortValue: 'ABCem',
    long:
      'cached untracked no-exclude-standard exclude-standard text ignore-case word-regexp invert-match full-name ' +
      'extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only ' +
      'files-without-match null only-matching count color[=] no-color break heading show-function context= ' +
      'after-context= before-context= function-context max-count= max-depth= and or not all-match quiet recursive',
  },
  stash: { ...HISTORY, first: 'list' },
  worktree: { short: 'vz', long: 'porcelain verbose', first: 'list', accept: ({ operands }) => operands.length === 1 },
  reflog: { ...HISTORY, accept: ({ operands }) => operands.length === 0 || operands[0] === 'show' },
};

/** The paths a git command may read when it is known to change nothing. */
export function judgeGit(args: readonly string[]): readonly string[] | undefined {
  // Flags before the subcommand set config, directory or pager; only these two take something away.
  const at = args.findIndex((arg) => arg !== '--no-pager' && arg !== '--no-optional-locks');
  const name = args[at];
  if (at === -1 || name === undefined || !Object.hasOwn(SUBCOMMANDS, name)) return undefined;
  const rest = args.slice(at + 1);
  const spec = SUBCOMMANDS[name];
  const read = spec && readFlags(rest, spec);
  if (spec === undefined || read === undefined || spec.accept?.(read) === false) return undefined;
  if (spec.first !== undefined && rest[0] !== spec.first) return undefined;
  const formats = [...(read.flags.get('format') ?? []), ...(read.flags.get('pretty') ?? [])];
  if (formats.some(asksForSignature)) return undefined;
  // Any word may be a path, and a path outside the repository is read as a plain file.
  return ['.', ...rest.filter((arg) => arg !== '' && !arg.startsWith('-')), ...read.operands];
}

/** These placeholders run the configured signature program. */
const asksForSignature = (format: string): boolean => /%[-+ ]?G|signature/i.test(format);
