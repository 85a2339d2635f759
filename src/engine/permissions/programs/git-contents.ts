import { basename, join } from 'node:path/posix';
import { looksLikeFile } from '../rules/file-name.js';
import { type GitCall, readGit } from './git.js';

/** When a command shows the contents of files that it does not name. */
interface Shows {
  /** Only with such an argument. */
  with?: RegExp;
  /** Not with such an argument, unless there is one of the others. */
  without?: RegExp;
}

const PATCH =
  /^-[a-zA-Z]*[puUcWL]|^--(?:patch|unified|cc$|word-diff|color-words|function-context|binary|diff-merges|remerge-diff|textconv|ext-diff)/;
const NAMES =
  /^(?:-s|--(?:no-patch|name-only|name-status|stat|numstat|shortstat|dirstat|cumulative|summary|compact-summary|raw|quiet)(?:=.*)?)$/;

const ALWAYS: Shows = {};
const PATCHES: Shows = { with: PATCH };
const UNLESS_NAMES: Shows = { with: PATCH, without: NAMES };

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
  'stash show': PATCHES,
  status: { with: /^-[a-tw-zA-Z]*v|^--verb/ },
};

/** A folder below which git opens files whose names are not written. */
interface Opened {
  path: string;
  /** All of the repository that the folder is in. */
  ofRepository: boolean;
}

export function openedByGit(values: readonly string[]): Opened[] {
  if (basename(values[0] ?? '') !== 'git') return [];
  const call = readGit(values.slice(1));
  const { subcommand = '', args, folders } = call;
  const words = args.filter((arg) => !arg.startsWith('-'));
  const key = subcommand === 'stash' ? `stash ${words[0] ?? ''}` : subcommand;
  const shows = Object.hasOwn(SHOWS, key) ? (SHOWS[key] as Shows) : undefined;
  if (shows === undefined || !showsContents(args, shows)) return [];
  // `show HEAD:a` shows this file alone, and that is among the paths of its words.
  if (subcommand !== 'grep' && words.length > 0 && words.every((word) => /^[^:]+:[^:]/.test(word))) return [];
  const limits = limitsOf(call);
  if (limits === undefined) return [{ path: join('.', ...folders), ofRepository: subcommand !== 'grep' }];
  return limits
    .filter((limit) => !looksLikeFile(basename(limit)))
    .map((limit) => ({ path: join('.', ...folders, limit), ofRepository: false }));
}

function showsContents(args: readonly string[], { with: patch, without: names }: Shows): boolean {
  if (patch !== undefined && args.some((arg) => patch.test(arg))) return true;
  return names === undefined ? patch === undefined : !args.some((arg) => names.test(arg));
}

/** What it is limited to; undefined when that is not clear, for a word may be a branch. */
function limitsOf({ args, subcommand }: GitCall): string[] | undefined {
  const end = args.indexOf('--');
  const isPath = (word: string): boolean =>
    !word.startsWith('-') && !/[:^~@]|\.\./.test(word) && looksLikeFile(basename(word));
  const given = end !== -1 ? args.slice(end + 1) : subcommand === 'grep' ? [] : args.filter(isPath);
  return given.length > 0 && given.every((path) => !path.startsWith(':')) ? given : undefined;
}
