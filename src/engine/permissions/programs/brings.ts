import { basename, dirname } from 'node:path/posix';
import { HOLE, hasHole, isFree } from '../shell/hole.js';
import { readGit, under as underGit } from './git.js';
import { operandsOf } from './operands.js';
import type { WriterSpec } from './writer-table.js';
import {
  flagged,
  hasClearFlag,
  mayBeAnyFlag,
  nameOfUrl,
  specOf,
  under,
  MAX_PAIRS,
  unpackedWrites,
  valuesOf,
} from './writes.js';

/** A place where a command puts links, or folders that may hold some. Paths are as they are written. */
export interface Bring {
  place: string;
  /** What is put there; undefined when that is only known afterwards. */
  sources?: readonly string[];
  /** Not the place itself, only what lies below it. */
  isBelow?: boolean;
  /** All of the repository that the place is in. */
  isRepository?: boolean;
  /** A link is made: what lies below its source stays where it is. */
  isLink?: boolean;
  /** `copy`: it becomes the place itself unless that is a folder. `contents`: what is in it is put into the place. */
  takes?: 'copy' | 'contents';
}

const NOTHING: readonly Bring[] = [];
const GH_FETCHES = /^(?:checkout|co|clone|fork|sync)$/;

/** What a command brings to which places. */
export function findBrings(
  given: readonly { value: string }[],
  writers: Readonly<Record<string, WriterSpec>>,
): readonly Bring[] {
  const name = basename(given[0]?.value ?? '');
  const isOwn = name === 'git' || name === 'gh' || name.startsWith('7z');
  if (!isOwn && !bringersOf(writers).has(name.replace(/^g(?=[a-z])/, '')) && !bringersOf(writers).has(name))
    return NOTHING;
  const values = given.map(({ value }) => value);
  if (name === 'git') return broughtByGit(values, writers);
  if (name === 'gh') return values.some((value) => GH_FETCHES.test(value)) ? [HERE] : NOTHING;
  if (isOwn) return unpackedBy7z(values.slice(1));
  const found = specOf(values, writers);
  return found === undefined ? NOTHING : broughtBy(found.args, found.spec);
}

const HERE: Bring = { place: '.', isBelow: true, isRepository: true };

const BRINGERS = new WeakMap<object, ReadonlySet<string>>();

/** Programs of the table that bring something. */
function bringersOf(writers: Readonly<Record<string, WriterSpec>>): ReadonlySet<string> {
  let found = BRINGERS.get(writers);
  if (found === undefined) {
    const keys = Object.keys(writers).filter(
      (key) => writers[key]?.brings !== undefined || writers[key]?.unpacks !== undefined,
    );
    found = new Set(keys.map((key) => key.split(' ')[0] as string));
    BRINGERS.set(writers, found);
  }
  return found;
}

function unpackedBy7z(args: readonly string[]): readonly Bring[] {
  if (!args.some((arg) => arg === 'x' || arg === 'e' || isFree(arg))) return NOTHING;
  const folders = valuesOf(args, 'o');
  return (folders.length > 0 ? folders : ['.']).map((place) => ({ place, isBelow: true }));
}

function broughtBy(args: readonly string[], spec: WriterSpec): readonly Bring[] {
  const unpacked = unpackedWrites(args, spec)
    .filter(({ below }) => below === 'unpacked')
    .map(({ path }) => ({ place: path, isBelow: true }));
  const { brings } = spec;
  if (brings === undefined) return unpacked;
  const isUnclear = args.some(mayBeAnyFlag);
  if (brings.with !== 'always' && !isUnclear && !flagged(args, brings.with)) return unpacked;
  if (brings.what === 'unknown') {
    const given = [
      ...valuesOf(args, spec.targets),
      ...(spec.writes === 'last' ? operandsOf(args, spec).slice(-1) : []),
    ];
    return [
      ...unpacked,
      ...(given.length > 0 ? given : ['.']).map((place) => ({ place, isBelow: spec.writes !== 'last' })),
    ];
  }
  const { targets, sources } = partsOf(args, spec);
  if (brings.what === 'renamed') return [{ place: HOLE.any, ...known(operandsOf(args, spec)) }];
  // A word that may be a flag may name another place.
  const elsewhere = isUnclear ? [{ place: HOLE.any, ...known(sources) }] : [];
  if (targets.length * sources.length > MAX_PAIRS) {
    const [target = HOLE.any] = targets;
    return [...elsewhere, targets.length === 1 ? { place: target, ...known(sources) } : { place: HOLE.any }];
  }
  return [
    ...elsewhere,
    ...targets.flatMap((target) => sources.flatMap((source) => put(source, { target, sources, spec, args }))),
  ];
}

/** The places it is told, and what it puts there. */
function partsOf(
  args: readonly string[],
  spec: WriterSpec,
): { targets: readonly string[]; sources: readonly string[] } {
  const operands = operandsOf(args, spec);
  const given = valuesOf(args, spec.targets);
  if (given.length > 0 && hasClearFlag(args, spec.targets)) return { targets: given, sources: operands };
  if (operands.length === 1 && given.length === 0) return { targets: ['.'], sources: operands };
  return { targets: [...given, ...operands.slice(-1)], sources: given.length > 0 ? operands : operands.slice(0, -1) };
}

interface Put {
  target: string;
  sources: readonly string[];
  spec: WriterSpec;
  args: readonly string[];
}

const FOLDER = /(?:^|\/)\.{0,2}$/;

function put(source: string, { target, sources, spec, args }: Put): Bring[] {
  const isFolder = sources.length > 1 || FOLDER.test(target) || valuesOf(args, spec.targets).includes(target);
  const name = basename(source);
  const isWhole = FOLDER.test(source);
  const isNamed = isFolder && !isWhole && !hasHole(name) && !flagged(args, spec.keeps);
  const place = isNamed ? under(target, name) : target;
  if (spec.brings?.what === 'links') {
    // It leads on from the folder that it is put in.
    const isSoft = !source.startsWith('/') && flagged(args, spec.links);
    const from = isSoft ? [dirname(target), target].map((folder) => under(folder, source)) : [];
    return [{ place, isLink: true, ...known([source, ...from]) }];
  }
  const takes = isWhole ? 'contents' : isFolder || spec.brings?.what === 'inside' ? undefined : 'copy';
  return [{ place, ...(takes && { takes }), ...known([source]) }];
}

/** What is on another machine, or only known when it runs, may be anything. */
const known = (sources: readonly string[]): Pick<Bring, 'sources'> =>
  sources.some((source) => isFree(source) || /^[^/]*:/.test(source)) ? {} : { sources };

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Of git, what puts nothing into the folders. An alias may do so. */
const GIT_QUIET = words(
  'add annotate archive blame branch bundle cat-file check-attr check-ignore check-ref-format cherry clean commit config ' +
    'count-objects describe diff diff-files diff-index diff-tree difftool fetch for-each-ref format-patch fsck gc grep ' +
    'hash-object help init log ls-files ls-remote ls-tree maintenance merge-base merge-tree mktree name-rev notes pack-refs ' +
    'prune push range-diff reflog remote rev-list rev-parse rm send-email shortlog show show-branch show-ref stage status ' +
    'stripspace symbolic-ref tag update-index update-ref var verify-commit verify-tag version whatchanged write-tree',
);

/** It may change which names git lists, and not only by taking up or leaving out what is on the disk. */
export function mayChangeIndex(values: readonly string[]): boolean {
  if (basename(values[0] ?? '') !== 'git') return false;
  const { subcommand = '' } = readGit(values.slice(1));
  return subcommand === 'update-index' || !GIT_QUIET.has(subcommand);
}

function broughtByGit(values: readonly string[], writers: Readonly<Record<string, WriterSpec>>): readonly Bring[] {
  const { subcommand, args, folders, options } = readGit(values.slice(1));
  if (subcommand === undefined || GIT_QUIET.has(subcommand)) return NOTHING;
  const isElsewhere = options.some((option) => /^--(?:work-tree|git-dir)/.test(option));
  const all: Bring[] = [
    isElsewhere ? { place: HOLE.any } : { place: underGit(folders, '.'), isBelow: true, isRepository: true },
  ];
  const at = (places: readonly string[]): Bring[] => places.map((place) => ({ place: underGit(folders, place) }));
  // It makes the folder itself.
  const within = (places: readonly string[]): Bring[] => at(places).map((each) => ({ ...each, isBelow: true }));
  const operands = operandsOf(args, {});
  const [first = ''] = operands;
  if (isElsewhere || args.some((arg) => isFree(arg.charAt(0)))) return all;
  switch (subcommand) {
    case 'mv':
      return folders.length > 0 || writers['git mv'] === undefined ? all : broughtBy(args, writers['git mv']);
    case 'checkout':
    case 'switch': {
      const isNew = args.some((arg) => /^-[bBcC]$|^--(?:create|orphan)$/.test(arg));
      const end = args.indexOf('--');
      if (isNew) return operands.length > 1 ? all : NOTHING;
      return end !== -1 && args.slice(end + 1).every(isPlainPath) ? at(args.slice(end + 1)) : all;
    }
    case 'restore':
      if (flagged(args, 'S staged') && !flagged(args, 'W worktree')) return NOTHING;
      return operands.length > 0 && operands.every(isPlainPath) ? at(operands) : all;
    case 'reset':
      return args.some((arg) => /^--[hkm]/.test(arg)) ? all : NOTHING;
    case 'stash':
      return /^(?:list|show|drop|clear|create|store)$/.test(first) ? NOTHING : all;
    case 'submodule':
      return /^(?:|status|summary|foreach|init|deinit|sync|set-url|set-branch)$/.test(first) ? NOTHING : all;
    case 'worktree':
      if (first === 'move') return moved(operands.slice(1), folders);
      return first === 'add' || hasHole(first) ? within(operands.slice(1)) : NOTHING;
    case 'clone':
      return within(operands.flatMap((operand) => [operand, nameOfUrl(operand)]));
    default:
      return all;
  }
}

/** A folder is moved with all that is in it; its links lead on from the new place. */
function moved([source = HOLE.any, ...targets]: readonly string[], folders: readonly string[]): Bring[] {
  return targets.map((target) => ({ place: underGit(folders, target), ...known([underGit(folders, source)]) }));
}

/** No pattern, and nothing that is special to git. */
const isPlainPath = (path: string): boolean => !path.startsWith(':') && !/[*?[\\]/.test(path) && !hasHole(path);
