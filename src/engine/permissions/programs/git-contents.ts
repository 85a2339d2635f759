import { basename } from 'node:path/posix';
import { looksLikeFile } from '../rules/file-name.js';
import { HOLE, hasHole, isFree } from '../shell/hole.js';
import { type GitCall, isQuietOption, pathInCommit, readGit, under } from './git.js';

/** When a command shows the contents of files that it does not name. */
interface Shows {
  /** Only with such an argument. */
  with?: RegExp;
  /** Not with such an argument, unless there is one of the others. */
  without?: RegExp;
}

/** Behind -S and -G stands what is searched for. */
const PATCH =
  /^-(?![SG])[a-zA-Z]*[puUcWL]|^--(?:patch|unified|cc$|word-diff|color-words|function-context|binary|diff-merges|remerge-diff|textconv|ext-diff|chec|dd$)/;
const NAMES =
  /^(?:-s|--(?:no-patch|name-only|name-status|stat|numstat|shortstat|dirstat|cumulative|summary|compact-summary|raw|quiet)(?:=.*)?)$/;

/** Takes back what is said before it. */
const TAKES_BACK =
  /^--no-(?!patch|renames|ext-diff|textconv|color|prefix|abbrev|indent|pager|merges|notes|relative|walk)/;

const ALWAYS: Shows = {};
const PATCHES: Shows = { with: PATCH };
const UNLESS_NAMES: Shows = { with: PATCH, without: NAMES };

const PIECES: Shows = { with: /^-[pie]$|^--(?:patc|int|edit)/ };

/** The object itself, as a format has it. */
const RAW: Shows = { with: /%\(\*?raw\)/ };

const SHOWS: Readonly<Record<string, Shows>> = {
  grep: ALWAYS,
  archive: ALWAYS,
  bundle: ALWAYS,
  'fast-export': ALWAYS,
  'format-patch': ALWAYS,
  'checkout-index': ALWAYS,
  difftool: ALWAYS,
  'cat-file': { without: /^-[tse]$/ },
  diff: UNLESS_NAMES,
  show: UNLESS_NAMES,
  log: PATCHES,
  reflog: PATCHES,
  'rev-list': PATCHES,
  whatchanged: PATCHES,
  'diff-tree': PATCHES,
  'diff-index': PATCHES,
  'diff-files': PATCHES,
  // Each piece of a patch is shown before it is asked about.
  add: PIECES,
  checkout: PIECES,
  reset: PIECES,
  restore: PIECES,
  'stash push': PIECES,
  'stash save': PIECES,
  'bisect visualize': PATCHES,
  'bisect view': PATCHES,
  am: { with: /^--sh/ },
  rebase: { with: /^--sh/ },
  // An object that may be the contents of a file is made another one, or shown.
  notes: { with: /^-[a-zA-Z]*[cC]|^--re/ },
  'for-each-ref': RAW,
  branch: RAW,
  tag: RAW,
  'range-diff': ALWAYS,
  'diff-pairs': ALWAYS,
  'merge-tree': ALWAYS,
  'send-email': ALWAYS,
  'imap-send': ALWAYS,
  'request-pull': PATCHES,
  commit: { with: /^-[aenqs]*[vp]|^--(?:verb|patc|int)/ },
  // With any option but these it shows a patch.
  'stash show': UNLESS_NAMES,
  'stash list': PATCHES,
  status: { with: /^-[a-tw-zA-Z]*v|^--verb/ },
};

/** A folder below which git opens files whose names are not written. */
interface Opened {
  path: string;
  /** All of the repository that the folder is in. */
  ofRepository: boolean;
  /** It is called as files are. */
  isCalledFile?: boolean;
  /** Only if nothing is there: the word is the name of a commit then. */
  unlessThere?: string;
  isPossible?: boolean;
  /** Of the files below it, those that fit one of these. */
  includes?: readonly string[];
  /** Places that it leaves out. */
  excludes?: readonly string[];
  /** Only what is in the index, if all of these are paths. */
  inIndex?: readonly string[];
}

export function openedByGit(values: readonly string[]): Opened[] {
  if (basename(values[0] ?? '') !== 'git') return [];
  const call = readGit(values.slice(1));
  const inIndex = wordsOfIndex(call);
  const opened = openedBy(call);
  return inIndex === undefined ? opened : opened.map((each) => ({ ...each, inIndex }));
}

/** With these flags alone nothing is opened but what is in the index. */
const OF_INDEX: Readonly<Record<string, RegExp>> = {
  diff: /^(?:--|-[abpRswWz]+|-[uU]\d*|--(?:patch|stat|numstat|shortstat|summary|no-color|no-ext-diff|no-textconv|no-renames|ignore-all-space|ignore-space-change|ignore-blank-lines|function-context|exit-code|text|minimal|patience|histogram)|--(?:color|word-diff|unified|diff-filter)(?:=\w+)?)$/,
  grep: /^(?:--|-[aEFGhHiIlLnopPqrvwWz]+|-[ABCm]\d+|--(?:cached|line-number|ignore-case|word-regexp|files-with-matches|count|fixed-strings|extended-regexp|perl-regexp|heading|break|no-color|color))$/,
};

/** Words that must be paths so that git opens nothing but what is in the index; undefined when it may open more. */
function wordsOfIndex({ subcommand = '', args, folders, options, configs }: GitCall): string[] | undefined {
  const flags = Object.hasOwn(OF_INDEX, subcommand) ? OF_INDEX[subcommand] : undefined;
  if (flags === undefined || !options.every(isQuietOption) || configs.length > 0) return undefined;
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  if (before.some((arg) => arg.startsWith('-') && !flags.test(arg))) return undefined;
  const words = before.filter((arg) => !arg.startsWith('-'));
  const given = subcommand === 'grep' ? words.slice(1) : words;
  // Other files than those of the repository are just compared.
  const isInside = (word: string): boolean => /^[\w.][\w./-]*$/.test(word) && !word.includes('..');
  const isOther = (word: string): boolean => /^[/~]|\.\./.test(word) || hasHole(word);
  const behind = end === -1 ? [] : args.slice(end + 1);
  if ((subcommand === 'grep' && words.length === 0) || !given.every(isInside) || behind.some(isOther)) return undefined;
  return given.map((word) => under(folders, word));
}

function openedBy(call: GitCall): Opened[] {
  const { subcommand = '', args, folders } = call;
  const words = args.filter((arg) => !arg.startsWith('-'));
  const key = keyOf(subcommand, words[0]);
  const shows = Object.hasOwn(SHOWS, key) ? (SHOWS[key] as Shows) : undefined;
  // The contents of an object are shown whatever else is asked for.
  const isObject = subcommand === 'show' && (args.includes('--stdin') || words.some(mayEndInObject));
  if (shows === undefined || !(isObject || showsContents(args, shows))) return [];
  const here = under(folders, '.');
  const whole = { path: here, ofRepository: subcommand !== 'grep' || words.some((word) => word.includes(':')) };
  const inCommits = words.map((word) => (word.startsWith(':') ? undefined : pathInCommit(word)));
  if (subcommand !== 'grep' && words.length > 0 && inCommits.every((path) => path !== undefined)) {
    // `show HEAD:a` shows this file alone, and that is among the paths of its words; others compare folders.
    if (subcommand === 'show' || subcommand === 'cat-file') return [];
    return inCommits
      .filter((path) => !looksLikeFile(basename(path)))
      .map((path) => ({ path: under([here], path), ofRepository: false }));
  }
  const limits = limitsOf(call);
  if (isObject || limits === undefined) return [whole];
  const excludes = limits.excludes.map((path) => under([here], path));
  const more = excludes.length > 0 ? { excludes } : {};
  if (limits.given.length === 0) return [{ ...whole, ...more }];
  const opened = limits.given.map((limit): Opened => {
    const { folder, include } = readSpec(limit);
    const path = under([here], folder);
    if (include === undefined && looksLikeFile(basename(folder)))
      return { path, ofRepository: false, isCalledFile: true, isPossible: true };
    const includes = include === undefined || include === '' ? {} : { includes: [include] };
    return { path, ofRepository: false, ...includes, ...more };
  });
  // Paths come last: if this word is none, all of them are names of commits.
  const last = args.includes('--') ? undefined : limits.given.at(-1);
  if (last !== undefined && !/[*?[\\\uE002\uE003]/.test(last))
    opened.push({ ...whole, ...more, unlessThere: under([here], last) });
  return opened;
}

const STASHES = /^(?:apply|branch|clear|create|drop|list|pop|push|save|show|store)$/;

/** Some have subcommands of their own; of `stash` there is one that need not be written. */
function keyOf(subcommand: string, word = ''): string {
  if (subcommand === 'stash') return `stash ${STASHES.test(word) ? word : 'push'}`;
  return subcommand === 'bisect' ? `bisect ${word}` : subcommand;
}

/** Paths behind the colon of a commit start at the top of the repository, however deep the folder is. */
export function aboveInCommits(values: readonly string[]): string[] {
  if (basename(values[0] ?? '') !== 'git') return [];
  const { args, folders } = readGit(values.slice(1));
  const paths = args.flatMap((arg) => (arg.startsWith('-') ? [] : (pathInCommit(arg) ?? [])));
  if (paths.length > MAX_PATHS) return [HOLE.any];
  return [...new Set(paths)].flatMap((path) =>
    Array.from({ length: MAX_ABOVE }, (_, up) => under([...folders, '../'.repeat(up) || '.'], path)),
  );
}

const MAX_ABOVE = 6;
const MAX_PATHS = 32;

function showsContents(args: readonly string[], { with: patch, without: names }: Shows): boolean {
  if (patch !== undefined && args.some((arg) => patch.test(arg))) return true;
  if (names !== undefined && args.some((arg) => TAKES_BACK.test(arg))) return true;
  return names === undefined ? patch === undefined : !args.some((arg) => names.test(arg));
}

/** A word that may be the name of any object, also of a file's contents: digits, or what is only known when it runs. */
const mayBeObject = (word: string): boolean =>
  /(?:^|-g)[\da-f]{4,64}(?:\^\{(?:blob|object)?\})?$/i.test(word) ||
  isFree(word) ||
  /\^\{(?:blob|object)?\}$/.test(word);

const mayEndInObject = (word: string): boolean =>
  word
    .replace(/^\^/, '')
    .split(/\.{2,3}/)
    .some(mayBeObject);

interface Limits {
  given: readonly string[];
  excludes: readonly string[];
}

/** Flags that take no value, so that what follows them stands for itself. */
const PLAIN_FLAG =
  /^(?:-[acdEFGhHiIlLnopPqrRstuUvwWz\d]+|--(?:patch|stat|numstat|shortstat|name-only|name-status|summary|cached|staged|oneline|graph|all|follow|color|no-color|no-ext-diff|no-textconv|word-diff|cc|reverse|merges|no-merges|untracked|line-number|ignore-case|word-regexp))$/;

const EXCLUDE = /^:(?:!|\^|\(exclude\))(?![(!^/])([^]+)$/;

/** What it is limited to; undefined when that is not clear, for a word may be a branch. */
function limitsOf({ args, subcommand }: GitCall): Limits | undefined {
  const isGrep = subcommand === 'grep';
  // They take no such words, or show the rest all the same.
  if (
    /^(?:bundle|checkout-index|cat-file|stash|status|am|bisect|branch|for-each-ref|notes|rebase|tag)$/.test(
      subcommand ?? '',
    )
  )
    return undefined;
  // Commits are chosen by their files, and shown whole.
  if (args.some((arg) => arg.startsWith('--full-d'))) return undefined;
  const standsAlone = (at: number): boolean => {
    const before = args[at - 1] ?? '';
    return !before.startsWith('-') || before === '--' || PLAIN_FLAG.test(before);
  };
  const end = args.indexOf('--');
  if (end !== -1 && !standsAlone(end)) return undefined;
  // In front of the pattern the dashes part nothing.
  const isPattern = (arg: string, at: number): boolean =>
    at < end && (/^-[A-Za-z]*e/.test(arg) || (!arg.startsWith('-') && standsAlone(at)));
  if (isGrep && end !== -1 && !args.some(isPattern)) return undefined;
  // Of one object and one file the two are compared.
  const before = end === -1 ? args : args.slice(0, end);
  if (subcommand === 'diff' && before.some((arg) => !arg.startsWith('-') && mayBeObject(arg))) return undefined;
  const isExclude = (word: string, at: number): boolean => EXCLUDE.test(word) && standsAlone(at);
  const behind = end === -1 ? [] : args.slice(end + 1);
  const excluded = end === -1 ? (isGrep ? [] : args.filter(isExclude)) : behind.filter((word) => EXCLUDE.test(word));
  const among = (): readonly string[] => (isGrep ? behindPattern(args, standsAlone) : pathsAmong(args, standsAlone));
  const given = end === -1 ? among() : behind.filter((word) => !EXCLUDE.test(word));
  const isClear = given.every((path) => !path.startsWith(':'));
  const excludes = excluded
    .map((word) => EXCLUDE.exec(word)?.[1] ?? '')
    .filter((path) => !/[*?[\\]/.test(path) && !hasHole(path));
  if (given.length === 0 && excludes.length === 0) return undefined;
  return { given: isClear ? given : [], excludes };
}

const REVISION =
  /^(?:(?:[A-Z]+_)?HEAD|main|master|develop|trunk|(?:origin|upstream|refs|tags|heads|remotes)\/.*|v?\d[\w.-]*|[\da-f]{7,64})$/;

/** Of a search all words behind the pattern, where they may be paths. */
function behindPattern(args: readonly string[], standsAlone: (at: number) => boolean): readonly string[] {
  const at = args.findIndex((arg, index) => !arg.startsWith('-') && standsAlone(index));
  const isClear = at !== -1 && args.slice(0, at).every((arg) => PLAIN_FLAG.test(arg));
  const rest = args.slice(at + 1);
  return isClear && rest.every((word) => /^[\w.][\w./-]*$/.test(word) && !word.includes('..')) ? rest : [];
}

/** Without dashes in between, all words are paths from the first that is none of a commit; it may be a folder before that. */
function pathsAmong(args: readonly string[], standsAlone: (at: number) => boolean): string[] {
  const isPath = (word: string): boolean =>
    !word.startsWith('-') && !/[:^~@]|\.\../.test(word) && looksLikeFile(basename(word));
  const first = args.findIndex(isPath);
  if (first === -1) return [];
  const mayBeFolder = (word: string, at: number): boolean =>
    /(?:^|\/)\.{0,2}$/.test(word) || (standsAlone(at) && !/[:^~@]|\.\./.test(word) && !REVISION.test(word));
  return args.filter(
    (word, at) => !word.startsWith('-') && word !== '' && !EXCLUDE.test(word) && (at >= first || mayBeFolder(word, at)),
  );
}

/** A star of git goes over slashes: of the last name only what follows the first one is certain. */
function readSpec(spec: string): { folder: string; include?: string } {
  const text = spec.replaceAll(HOLE.star, '*').replaceAll(HOLE.one, '?');
  const at = text.search(/[*?[\\\uE000-\uE005]/);
  if (at === -1) return { folder: text };
  const start = text.slice(0, at);
  const folder = start.includes('/') ? start.slice(0, start.lastIndexOf('/')) || '/' : '.';
  const name =
    text
      .slice(at + 1)
      .split('/')
      .at(-1) ?? '';
  const isSimple = /^[*?]$/.test(text.charAt(at)) && !/[[\\\uE000-\uE005]/.test(text.slice(at));
  return { folder, include: isSimple ? `*${name}` : '' };
}
