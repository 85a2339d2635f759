/** What git takes away although it does not track it. */
import { PROTECTED } from '../path.js';
import { hasHole } from '../shell/hole.js';
import { type GitCall, isHere, judgeGit, under } from './git.js';
import { GIT_READ_ONLY } from './git-table.js';
import { operandsOf } from './operands.js';

const STASH = { scripts: 'm message', plain: 'akqSpu' };
const CLEAN = { scripts: 'e exclude', plain: 'dfiqxX' };

/** Without these nothing works, or they are tracked. */
const KEPT = new Set(['.git', '.gitmodules']);
const NAMES = PROTECTED.filter((name) => !KEPT.has(name));

/** A whole folder, or a pattern. */
const isWide = (path: string): boolean => /^(?:\.{0,2}\/?)+$|^:|[*?[\\]/.test(path) || hasHole(path);

/** Folders that it is told to take for its own, and may write anything below. */
export function treesOfGit({ subcommand, args, folders, trees }: GitCall): string[] {
  if (trees.length === 0 || subcommand === undefined) return [];
  if (judgeGit([subcommand, ...args], GIT_READ_ONLY) !== undefined) return [];
  // Told where the repository is, it takes the current folder for what is checked out.
  return [...new Set(['.', ...trees].flatMap((tree) => (isHere(tree) ? [] : [tree]).concat(under(folders, tree))))];
}

/** Protected files below a folder. */
export const guardedBelow = (folder: string): string[] => NAMES.map((name) => under([folder], name));

/** Folders that it takes away from whatever it does not track. */
export function sweptByGit({ subcommand, args, folders }: GitCall): string[] {
  const operands = subcommand === 'clean' ? cleaned(args) : subcommand === 'stash' ? stashed(args) : undefined;
  const wide = operands?.length === 0 ? ['.'] : (operands?.filter(isWide) ?? []);
  const places = wide.map((path) => (/^[./]+$/.test(path) ? path : '.'));
  return [...new Set(places)].map((place) => under([...folders, place], '.'));
}

function cleaned(args: readonly string[]): string[] | undefined {
  return onlyShows(args) ? undefined : operandsOf(args, CLEAN);
}

/** It says what it would remove. Not where that may be a pattern to spare (`-e -n`), or be taken back (`--no-dry-run`). */
function onlyShows(args: readonly string[]): boolean {
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : args.length);
  const isClear = flags.every((arg) => !hasHole(arg) && !/^-[^-]*e|^--(?:e|no-)/.test(arg));
  return isClear && flags.some((arg) => /^-[dfiqxX]*n|^--dr/.test(arg));
}

function stashed(args: readonly string[]): string[] | undefined {
  const [first = ''] = operandsOf(args, STASH);
  const isMade = first === 'push' || first === 'save' || /^(?:-.*)?$/.test(args[0] ?? '');
  if (!isMade || !args.some((arg) => /^-[kqSp]*[au]|^--(?:inc|al)/.test(arg))) return undefined;
  return first === 'save' ? [] : takenByStash(args);
}

/** The paths that a stash is limited to. */
export function takenByStash(args: readonly string[]): string[] {
  const operands = operandsOf(args, STASH);
  if (operands[0] === 'push') return operands.slice(1);
  return (args[0] ?? '').startsWith('-') && args.includes('--') ? args.slice(args.indexOf('--') + 1) : [];
}
