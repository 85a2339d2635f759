/** Which words of a git command name files that it opens, and which are names of its own: of commits, and of what it tracks. */
import { basename } from 'node:path/posix';
import { looksLikeFile } from '../rules/file-name.js';
import { readGit } from './git.js';
import { GIT_READ_ONLY } from './git-table.js';
import { listed } from './listed.js';

/** Words behind which git goes through no link that is not its own. */
export interface KeptWords {
  words: ReadonlySet<string>;
  /** It opens what it tracks without a look at the folders on the way: of links that git itself has put there, none is on it. */
  opens: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** They take names of commits, of remotes, and of files that they do not look for behind links. */
const KEEPS = words(
  'add branch checkout cherry-pick clean diff fetch log ls-files merge pull push rebase remote reset restore revert ' +
    'rev-parse rm shortlog show stage stash status switch tag update-index',
);
const OPENS = words('annotate blame commit grep');
/** The first operand may be a folder, unless it is the name that git itself gives to where it was cloned from. */
const CONNECTS = /^(?:fetch|pull|push)$/;

/** Beside these and what only reads, nobody knows what becomes of the files that git is told. */
const TAKES_UP = words(
  'bisect check-attr check-ref-format cherry config count-objects describe for-each-ref fsck gc hash-object help ls-remote ' +
    'ls-tree maintenance merge-base merge-tree mktree name-rev notes pack-refs prune send-email show-branch show-ref ' +
    'stripspace symbolic-ref update-ref var verify-commit verify-tag version write-tree lfs',
);

/** The subcommand may write the files that its words name. */
export const mayWriteWords = (subcommand: string): boolean =>
  !(
    KEEPS.has(subcommand) ||
    OPENS.has(subcommand) ||
    TAKES_UP.has(subcommand) ||
    Object.hasOwn(GIT_READ_ONLY, subcommand)
  );

/** Long flags that take no file, beside those of the commands that only read. */
const HARMLESS =
  'abort all allow-empty allow-unrelated-histories amend apply atomic author= autosquash autostash branch= cached continue ' +
  'create= date= deepen= delete depth= detach dry-run edit fast-forward ff ff-only force force-create= force-with-lease[=] ' +
  'guess hard ignore-removal include-untracked index intent-to-add interactive jobs= keep keep-index list mainline= merge ' +
  'message= mixed mirror move no-all no-autostash no-commit no-edit no-ff no-gpg-sign no-guess no-rebase no-stat no-tags ' +
  'no-track no-verify onto= orphan= ours overlay patch progress prune quiet quit rebase rebase-merges[=] recursive ' +
  'refresh renormalize reset-author root set-upstream signoff skip soft source= squash stable staged strategy= ' +
  'strategy-option= tags theirs track[=] update update-refs verbose worktree';
/** Short ones whose value is a file: of some commands, and of those that open files also others. */
const FILE_LETTERS = /[FtOSX]/;
const MORE_LETTERS = /[FtOSXfo]/;
const TAKES_MESSAGE = /^(?:commit|merge|notes|stash|tag)$/;

const KNOWN = new Map<string, ReadonlySet<string>>();

function harmlessOf(subcommand: string): ReadonlySet<string> {
  let found = KNOWN.get(subcommand);
  if (found === undefined) {
    const own = Object.hasOwn(GIT_READ_ONLY, subcommand) ? GIT_READ_ONLY[subcommand]?.long : undefined;
    found = new Set([...listed(HARMLESS), ...listed(own)].map((flag) => flag.replace(/\[?=\]?$/, '')));
    if (KEEPS.has(subcommand) || OPENS.has(subcommand)) KNOWN.set(subcommand, found);
  }
  return found;
}

/** The flag may take a file: any long one that is not known in full, for git knows it by each beginning of its name. */
function mayTakeFile(flag: string, subcommand: string): boolean {
  const [, long] = /^--([^=]*)/.exec(flag) ?? [];
  if (long !== undefined) return !harmlessOf(subcommand).has(long);
  const [, letters = ''] = /^-([A-Za-z]*)/.exec(flag) ?? [];
  const before = TAKES_MESSAGE.test(subcommand) ? letters.replace(/m.*$/, '') : letters;
  return (OPENS.has(subcommand) ? MORE_LETTERS : FILE_LETTERS).test(before);
}

/** The words of a git command behind which it opens nothing through links; undefined when it may do so behind all of them. */
export function keptByGit(values: readonly string[]): KeptWords | undefined {
  if (basename(values[0] ?? '') !== 'git') return undefined;
  const { subcommand = '', args, folders, options } = readGit(values.slice(1));
  const opens = OPENS.has(subcommand);
  const isOther = folders.length > 0 || options.some((option) => /^--(?:git-dir|work-tree)/.test(option));
  if (isOther || !(opens || KEEPS.has(subcommand)) || args.some((arg) => arg.startsWith('--no-i'))) return undefined;
  const end = args.indexOf('--');
  const kept = new Set([subcommand]);
  const opened = new Set<string>();
  const operands: string[] = [];
  for (const [at, arg] of args.entries()) {
    const isBehind = end !== -1 && at > end;
    const before = args[at - 1] ?? '';
    if (!isBehind && arg.startsWith('-') && arg !== '-') {
      kept.add(arg);
      for (const part of partsOf(arg)) (mayTakeFile(arg, subcommand) ? opened : kept).add(part);
    } else if (!isBehind && /^-./.test(before) && !before.includes('=') && mayTakeFile(before, subcommand)) {
      for (const part of [arg, ...partsOf(arg)]) opened.add(part);
    } else operands.push(arg);
  }
  for (const [at, operand] of operands.entries()) {
    const isPlace = isRepository(operand, at, subcommand);
    for (const part of [operand, ...partsOf(operand)]) (isPlace ? opened : kept).add(part);
  }
  // Two files, of which it may track none, are just compared.
  const paths = subcommand === 'diff' ? operands.filter((operand) => looksLikeFile(basename(operand))) : [];
  const isCompared = paths.length === 2 || operands.some((operand) => /^(?:[/~]|\.\.(?:\/|$))/.test(operand));
  if (subcommand === 'diff' && operands.length === 2 && isCompared) return undefined;
  for (const part of opened) if (!part.startsWith('-')) kept.delete(part);
  return { words: kept, opens };
}

/** It is, or may be, a folder that git reads or writes as another repository. */
function isRepository(operand: string, at: number, subcommand: string): boolean {
  if (subcommand === 'remote') return operand.includes('/');
  return CONNECTS.test(subcommand) && at === 0 && operand !== 'origin';
}

const partsOf = (word: string): string[] => [
  ...(/^-[A-Za-z]./.test(word) ? [word.slice(2)] : []),
  ...word.split(/[=:,@]/).filter((part) => part !== ''),
];

/** Files that stand right behind a letter of several: `-qF../a`. */
export function gluedFiles(word: string, subcommand: string): string[] {
  const [, letters = ''] = /^-([A-Za-z]{2,})/.exec(word) ?? [];
  const found: string[] = [];
  for (const [at, letter] of letters.split('').entries()) {
    if (letter === 'm' && TAKES_MESSAGE.test(subcommand)) break;
    const rest = word.slice(at + 2);
    if (at > 0 && rest !== '' && MORE_LETTERS.test(letter)) found.push(rest);
  }
  return found;
}
