import type { FlagSpec, ReadFlags } from '../command-flags.js';
import { hasHole } from '../shell/hole.js';

export interface GitSpec extends FlagSpec {
  /**
   * It looks at the working tree or at contents, and so may run what the config of the repository names: fsmonitor,
   * filters, textconv, external diffs. Unasked only where the folder is trusted.
   */
  needsTrust?: boolean;
  /** It tells of files without opening them. */
  onlyNames?: boolean;
  accept?(read: ReadFlags): boolean;
}

const hasNoOperand = ({ operands }: ReadFlags): boolean => operands.length === 0;

const LISTING = ['list', 'contains', 'no-contains', 'merged', 'no-merged', 'points-at'];

// Not `--ext-diff`, `--textconv`, `--output`, `-O`: they run programs that a file names, or write.
const DIFF_LONG =
  'patch no-patch raw patch-with-raw patch-with-stat minimal patience histogram anchored= diff-algorithm= stat[=] ' +
  'stat-width= stat-name-width= stat-count= compact-summary numstat shortstat dirstat[=] cumulative summary name-only ' +
  'name-status submodule[=] color[=] no-color color-moved[=] color-words[=] word-diff[=] word-diff-regex= no-renames ' +
  'find-renames[=] find-copies[=] find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex ' +
  'relative[=] no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ' +
  'ignore-blank-lines inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv ' +
  'ignore-submodules[=] src-prefix= dst-prefix= no-prefix line-prefix= unified= full-index binary abbrev[=] no-abbrev ' +
  'indent-heuristic no-indent-heuristic ws-error-highlight= default-prefix';
const DIFF_SHORT = 'pusabwRzWqt';
const DIFF_OPTIONAL = 'UMCBDlX';

// Not `--show-signature`: it runs the configured signature program.
const LOG_LONG =
  `${DIFF_LONG} oneline graph all branches[=] tags[=] remotes[=] decorate[=] no-decorate decorate-refs= follow ` +
  'max-count= skip= since= after= until= before= since-as-filter= author= committer= grep= all-match invert-grep ' +
  'regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges min-parents= max-parents= ' +
  'first-parent not reverse walk-reflogs pretty[=] format= abbrev-commit no-abbrev-commit date= relative-date parents ' +
  'children left-right left-only right-only cherry-pick cherry-mark cherry simplify-by-decoration topo-order date-order ' +
  'author-date-order no-walk[=] source use-mailmap full-history ancestry-path[=] boundary notes[=] no-notes cc ' +
  'diff-merges= no-diff-merges clear-decorations count no-patch exclude= glob= encoding= log-size show-pulls merge';
const LOG: GitSpec = {
  needsTrust: true,
  number: true,
  short: `${DIFF_SHORT}giEFPcm`,
  shortValue: 'nSGL',
  shortOptional: DIFF_OPTIONAL,
  long: LOG_LONG,
};

export const GIT_READ_ONLY: Readonly<Record<string, GitSpec>> = {
  // Only what tells about names runs anywhere.
  branch: {
    short: 'ariqv',
    long:
      'all remotes list show-current verbose contains[=] no-contains[=] merged[=] no-merged[=] points-at= sort= format= ' +
      'ignore-case column[=] no-column color[=] no-color abbrev[=] no-abbrev',
    // Without `--list`, or what stands for it, an operand is a branch to make.
    accept: (read) => hasNoOperand(read) || LISTING.some((flag) => read.flags.has(flag)),
  },
  tag: {
    short: 'il',
    shortOptional: 'n',
    long: 'list contains[=] no-contains[=] merged[=] no-merged[=] points-at= sort= format= ignore-case column[=] color[=]',
    accept: (read) => hasNoOperand(read) || read.flags.has('l') || LISTING.some((flag) => read.flags.has(flag)),
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

  status: {
    needsTrust: true,
    short: 'sbvz',
    shortOptional: 'uM',
    long:
      'short branch show-stash porcelain[=] long verbose untracked-files[=] ignore-submodules[=] ignored[=] ' +
      'column[=] no-column ahead-behind no-ahead-behind renames no-renames find-renames[=] null',
  },
  diff: {
    needsTrust: true,
    number: true,
    short: DIFF_SHORT,
    shortValue: 'SG',
    shortOptional: DIFF_OPTIONAL,
    long: `${DIFF_LONG} cached staged merge-base check ita-invisible-in-index base ours theirs`,
  },
  log: LOG,
  show: LOG,
  reflog: {
    ...LOG,
    accept: ({ operands: [first = ''] }) => !hasHole(first) && !['expire', 'delete', 'drop', 'write'].includes(first),
  },
  shortlog: {
    needsTrust: true,
    short: 'nsec',
    shortOptional: 'w',
    long: 'numbered summary email committer group= format= all since= until= no-merges max-count=',
  },
  'rev-list': { ...LOG, long: `${LOG_LONG} objects objects-edge disk-usage[=] header timestamp` },
  'ls-files': {
    needsTrust: true,
    onlyNames: true,
    short: 'cdmosuktvfz',
    shortValue: 'x',
    long:
      'cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude= ' +
      'exclude-standard error-unmatch full-name recurse-submodules abbrev[=] debug deduplicate eol sparse format=',
  },
  'ls-tree': {
    needsTrust: true,
    short: 'drtlz',
    long: 'long name-only name-status object-only full-name full-tree abbrev[=] format=',
  },
  blame: {
    needsTrust: true,
    short: 'bcefklnpstwW',
    shortValue: 'LS',
    shortOptional: 'MC',
    long: 'root show-stats porcelain line-porcelain incremental date= reverse first-parent score-debug show-name show-number show-email ignore-rev= abbrev= color-lines color-by-age',
  },
  describe: {
    needsTrust: true,
    long: 'all tags contains abbrev= candidates= exact-match long match= exclude= always first-parent dirty[=] broken[=]',
  },
  'merge-base': { needsTrust: true, short: 'a', long: 'all octopus independent is-ancestor fork-point' },
  'name-rev': { needsTrust: true, long: 'tags refs= all name-only no-undefined always' },
  'for-each-ref': {
    needsTrust: true,
    long: 'count= sort= format= points-at= merged[=] no-merged[=] contains[=] no-contains[=] ignore-case color[=]',
  },
  'show-ref': {
    needsTrust: true,
    short: 'dhq',
    shortOptional: 's',
    long: 'head heads branches tags dereference hash[=] verify quiet abbrev[=] exists',
  },
  'cat-file': { needsTrust: true, short: 'tspe' },
  'count-objects': { needsTrust: true, short: 'vH', long: 'verbose human-readable' },
  'check-ignore': { needsTrust: true, onlyNames: true, short: 'qvzn', long: 'quiet verbose non-matching no-index' },
  'diff-tree': {
    needsTrust: true,
    short: `${DIFF_SHORT}rcm`,
    shortOptional: DIFF_OPTIONAL,
    long: `${DIFF_LONG} root no-commit-id cc merge-base pretty[=] format=`,
  },
  grep: {
    needsTrust: true,
    number: true,
    short: 'acEFGhHiIlLnopPqvwWz',
    shortValue: 'ABCem',
    long:
      'text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings ' +
      'line-number column files-with-matches name-only files-without-match count color[=] no-color break heading ' +
      'show-function after-context= before-context= context= function-context max-depth= recursive no-recursive cached ' +
      'untracked and or not all-match quiet max-count= threads=',
  },
  stash: {
    needsTrust: true,
    short: 'pu',
    long: `${DIFF_LONG} oneline include-untracked only-untracked format= date=`,
    accept: ({ operands }) => operands[0] === 'list' || operands[0] === 'show',
  },
  worktree: {
    needsTrust: true,
    short: 'vz',
    long: 'porcelain verbose',
    accept: ({ operands }) => operands.length === 1 && operands[0] === 'list',
  },
  config: {
    needsTrust: true,
    short: 'zl',
    long: 'get get-all list local global system type= bool int path show-origin show-scope name-only default=',
    // A key alone is read; with a value behind it, it is set.
    accept: ({ flags, operands: [key = '', ...more] }) =>
      more.length === 0 &&
      (flags.has('l') || flags.has('list') ? key === '' : /^[^.\uE000-\uE005]+\.[^\uE000-\uE005]+$/.test(key)),
  },
  version: { short: '', long: 'build-options' },
};
