/** Git outside of the sandbox: whether it works only with repositories that commands inside cannot have made or changed. */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type FlagSpec, readFlags } from '../permissions/command-flags.js';
import { isInside } from '../permissions/path.js';
import { type GitCall, readGit } from '../permissions/programs/git.js';
import { resolveReal } from '../workspace/files.js';

/** Where a command is to run. */
export interface Place {
  cwd: string;
  /** The working directories: in each of them the name of a repository is protected. */
  roots: readonly string[];
  /** Other folders that commands may write. */
  allowed: readonly string[];
}

/** It runs another git in the same folder. */
const RUNS_GIT = /^(?:git-.+|gh|glab|hub)$/;

/** True for programs that have nothing to do with git; false for what cannot be told. */
export function staysWithOwnRepository(name: string, args: readonly string[], given: Place): boolean {
  if (name !== 'git' && !RUNS_GIT.test(name)) return true;
  try {
    if (!isOwnPlace(given)) return false;
    if (name !== 'git') return true;
    const call = readGit(args);
    return call.folders.length === 0 && talksToOwn(call, given);
  } catch {
    return false;
  }
}

/** In none of the folders in which git looks for a repository could a command have made one. */
export const isOwnPlace = ({ cwd, ...folders }: Place): boolean => {
  const roots = folders.roots.map((root) => resolveReal(root));
  return foldersUp(resolveReal(cwd)).every((folder) => roots.includes(folder) || !isWritable(folder, folders));
};

const isWritable = (path: string, { roots, allowed }: Omit<Place, 'cwd'>): boolean =>
  [...roots, ...allowed].some((each) => isInside(resolveReal(each), path));

const foldersUp = (folder: string): string[] =>
  dirname(folder) === folder ? [folder] : [folder, ...foldersUp(dirname(folder))];

/** Flags of all that talk to another repository, where they mean the same to each; others are not told apart from its name. */
const FLAGS: FlagSpec = {
  short: 'adefhknpqrtuvP46',
  shortValue: 'bjoX',
  long:
    'all append atomic autostash bare branch= branches commit deepen= delete depth= dry-run edit exit-code ff ff-only ' +
    'filter= follow-tags force force-if-includes force-with-lease[=] get-url heads ipv4 ipv6 jobs= keep mirror ' +
    'no-autostash no-checkout no-commit no-edit no-ff no-rebase no-recurse-submodules no-single-branch no-stat no-tags ' +
    'no-thin no-verify origin= porcelain progress prune prune-tags push-option= quiet rebase[=] refetch refs ' +
    'set-upstream shallow-since= signed[=] single-branch squash stat strategy-option= symref tags thin unshallow verbose',
};

const UNTOLD =
  /^(?:submodule|subtree|request-pull|daemon|shell|remote-.+|http-.+|upload-archive|(?:fetch|send|upload|receive)-pack)$/;

/** The repository at the other end runs hooks of its own, or says what is run. */
function talksToOwn({ subcommand = '', args }: GitCall, place: Place): boolean {
  if (subcommand === 'remote') return !args.some((arg) => /^(?:update|show|prune|set-head|-f|--fe.*)$/.test(arg));
  if (subcommand === 'archive') return !args.some((arg) => arg.startsWith('--rem'));
  if (UNTOLD.test(subcommand)) return false;
  if (!/^(?:push|fetch|pull|ls-remote|clone)$/.test(subcommand)) return true;
  const read = readFlags(args, FLAGS);
  if (read === undefined) return false;
  const [name] = read.operands;
  // It takes what is there for what is meant, before it takes that for an address.
  if (subcommand === 'clone') return name !== undefined && isApart(name, place) && !hasPosers(place.cwd);
  const remotes = readRemotes(place.cwd);
  const isOwn = (urls: readonly string[]): boolean => urls.length > 0 && urls.every((url) => isApart(url, place));
  if (name !== undefined) return isOwn(remotes?.get(name) ?? [name]);
  return remotes !== undefined && remotes.size > 0 && [...remotes.values()].every(isOwn);
}

const ADDRESS = /^(?:(?:https?|ssh|git|git\+ssh|ssh\+git):\/\/|(?:[\w.-]+@)?\w[\w.-]*:(?![:/]))[^\s"'\\#;]+$/i;

/** On another machine, or where commands cannot write. */
function isApart(url: string, place: Place): boolean {
  if (ADDRESS.test(url)) return true;
  const path = url.replace(/^file:\/\/(?=\/)/, '');
  if (!/^\/(?!.*\.\.)[\w./@+-]*$/.test(path)) return false;
  const real = resolveReal(path);
  return (
    !isWritable(real, place) && ![...place.roots, ...place.allowed].some((each) => isInside(real, resolveReal(each)))
  );
}

const hasPosers = (folder: string): boolean => readdirSync(folder).some((name) => name.includes(':'));

/** The addresses that the configuration gives to each name. Undefined when there is no repository that git would take. */
function readRemotes(cwd: string): ReadonlyMap<string, readonly string[]> | undefined {
  const folder = foldersUp(resolveReal(cwd)).find((each) => existsSync(join(each, '.git')));
  const repository = folder === undefined ? undefined : findCommon(join(folder, '.git'));
  if (repository === undefined) return undefined;
  const remotes = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of readFileSync(join(repository, 'config'), 'utf8').split('\n')) {
    const [, section, name, rest = line] = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]([^]*)$/.exec(line) ?? [];
    if (section !== undefined) current = section.toLowerCase() === 'remote' && name !== undefined ? [] : undefined;
    if (section !== undefined && current !== undefined && name !== undefined) {
      current = remotes.get(name) ?? current;
      remotes.set(name, current);
    }
    const [, url] = /^\s*(?:push)?url\s*=\s*([^]*?)\s*$/i.exec(rest) ?? [];
    if (url !== undefined) current?.push(url);
  }
  return remotes;
}

/** Where the configuration is. A file in the place of the repository is that of a work tree. */
function findCommon(path: string): string | undefined {
  const stats = lstatSync(path);
  if (stats.isDirectory()) return isWhole(path) ? path : undefined;
  const [, target] = stats.isFile() ? (/^gitdir: ([^\n]+)\n?$/.exec(readFileSync(path, 'utf8')) ?? []) : [];
  if (target === undefined) return undefined;
  const tree = resolve(dirname(path), target);
  const common = resolve(tree, readFileSync(join(tree, 'commondir'), 'utf8').trim());
  return isWhole(common) ? common : undefined;
}

/** Git passes by what lacks one of these, and looks further up. */
const isWhole = (path: string): boolean =>
  /^(?:ref: *refs\/|[0-9a-f]{40})/.test(readFileSync(join(path, 'HEAD'), 'utf8')) &&
  ['objects', 'refs'].every((name) => lstatSync(join(path, name)).isDirectory());
