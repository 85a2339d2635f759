import { basename, dirname, join } from 'node:path/posix';
import { PROTECTED } from '../path.js';
import { looksLikeFile } from '../rules/file-name.js';
import { HOLE, isFree, literalStart } from '../shell/hole.js';
import { readGit } from './git.js';
import { listed } from './listed.js';
import { operandsOf } from './operands.js';
import type { WriterSpec } from './writer-table.js';

/** A file or folder that a command changes. Of a `patched` folder some files are, and which is not known. */
export interface Write {
  path: string;
  /** Only if the place it would be made in is a folder. */
  isPossible?: boolean;
  /**
   * What lies below it is `changed` too; a folder's contents are `copied` there, those of an archive `unpacked`. It is
   * taken for the `tree` that git writes.
   */
  below?: 'changed' | 'copied' | 'unpacked' | 'patched' | 'tree';
}

export interface Written {
  writes: readonly Write[];
  paths: ReadonlySet<string>;
  /** The program is in the list, so that its other operands are read. */
  isKnown: boolean;
  recurses: boolean;
  /** It goes through the links below its folders. */
  follows: boolean;
  /** It takes the names of what it reads from a list. */
  readsList: boolean;
  /** It opens what lies below the current folder. */
  readsHere: boolean;
  /** Its standard input names files that it writes. */
  takesNames: boolean;
  /** Folders that its operands start from. */
  starts: readonly string[];
  /** Some of its flags take a script, or another text. */
  takesScripts: boolean;
}

type Writers = Readonly<Record<string, WriterSpec>>;

const NOTHING: Written = {
  writes: [],
  paths: new Set(),
  isKnown: false,
  recurses: false,
  follows: false,
  readsList: false,
  readsHere: false,
  takesNames: false,
  starts: [],
  takesScripts: false,
};

/** The files that a command is known to write. */
export function findWrites(values: readonly string[], writers: Writers): Written {
  const found = specOf(values, writers);
  if (found === undefined) return NOTHING;
  const { spec, args } = found;
  if (spec.leaves?.(args) === true) return { ...NOTHING, isKnown: true };
  const writes = [
    ...directWrites(args, spec),
    ...joinedWrites(args, spec),
    ...unpackedWrites(args, spec),
    ...linkedWrites(args, spec),
  ];
  if (spec.here === 'always') writes.push({ path: '.', below: 'patched' });
  const changed = spec.changes?.(args) ?? [];
  writes.push(...(changed.length > MAX_PAIRS ? UNSEEN : changed.map((path) => ({ path }))));
  const hasFlag = (flags: string | undefined): boolean =>
    flags === 'always' || flagged(args, flags) || isInBundle(args[0] ?? '', found.name, flags);
  const recurses =
    spec.recurses === 'folder'
      ? operandsOf(args, spec).some((path) => !looksLikeFile(basename(path)))
      : hasFlag(spec.recurses);
  return {
    writes,
    paths: new Set(writes.map(({ path }) => path)),
    isKnown: true,
    recurses,
    follows: hasFlag(spec.follows) && !keepsLinks(args, spec.keepsLinks),
    readsList: flagged(args, spec.lists),
    readsHere: flagged(args, spec.lists) || (spec.readsHere === true && recurses && operandsOf(args, spec).length < 2),
    takesNames: spec.takesNames === true,
    starts: valuesOf(args, spec.starts),
    takesScripts: spec.scripts !== undefined,
  };
}

const GUEST =
  /^g(?:cp|mv|ln|link|rm|rmdir|mkdir|mkfifo|mknod|unlink|shred|sed|tar|tee|touch|truncate|chmod|chown|chgrp|chcon|dd|install|find|split|csplit|sort|uniq|patch|xargs)$/;

/** By its name, or by that and its subcommand. Where GNU programs are guests their names begin with `g`. */
export function specOf(
  values: readonly string[],
  writers: Writers,
): { spec: WriterSpec; args: readonly string[]; name: string } | undefined {
  const name = basename(values[0] ?? '');
  const args = values.slice(1);
  const find = (key: string): WriterSpec | undefined => (Object.hasOwn(writers, key) ? writers[key] : undefined);
  if (name === 'git') {
    const git = readGit(args);
    const spec = find(`git ${git.subcommand ?? ''}`);
    return spec && { spec, args: git.args, name };
  }
  const at = args.findIndex((arg) => !arg.startsWith('-'));
  const own = find(`${name} ${args[at] ?? ''}`);
  if (own !== undefined) return { spec: own, args: args.toSpliced(at, 1), name };
  const spec = find(GUEST.test(name) ? name.slice(1) : name);
  return spec && { spec, args, name };
}

/** Operands and values of flags, as they are written. */
function directWrites(args: readonly string[], spec: WriterSpec): Write[] {
  const targets = valuesOf(args, spec.targets);
  const paths = [...valuesOf(args, spec.outputs), ...targets];
  const operands = operandsOf(args, spec);
  const isUnclear = args.some(mayBeAnyFlag);
  const isActive = spec.only === undefined || isUnclear || flagged(args, spec.only);
  const isPlaced = targets.length > 0 && spec.writes === 'last' && hasClearFlag(args, spec.targets);
  if (isActive && !isPlaced) paths.push(...(isUnclear ? everyOf(operands, spec) : chosen(operands, args, spec)));
  const isAll = flagged(args, spec.all);
  if (isAll) paths.push(...operands);
  if (spec.named !== undefined) {
    for (const arg of args) if (arg.startsWith(`${spec.named}=`)) paths.push(arg.slice(spec.named.length + 1));
  }
  const spread = isActive
    ? spreadOf(operands, args, isAll ? { ...spec, spreads: 'sources' } : spec)
    : new Set<string>();
  return paths.map((path) => (spread.has(path) ? { path, below: 'changed' } : { path }));
}

/** A word of which nothing is known may be a flag that changes what the others are. */
export const mayBeAnyFlag = (arg: string): boolean => isFree(arg) && literalStart(arg) === '';

const everyOf = (operands: readonly string[], { writes }: WriterSpec): readonly string[] =>
  writes === 'none' ? [] : operands;

function chosen(
  operands: readonly string[],
  args: readonly string[],
  { writes, scripts }: WriterSpec,
): readonly string[] {
  switch (writes) {
    case 'all':
      return operands;
    case 'last':
      return operands.slice(-1);
    case 'first':
      return operands.slice(0, 1);
    case 'rest':
      return flagged(args, scripts) ? operands : operands.slice(1);
    case 'none':
      return [];
  }
}

/** Those of the operands below which everything is changed as well. */
function spreadOf(operands: readonly string[], args: readonly string[], { spreads }: WriterSpec): ReadonlySet<string> {
  if (spreads === undefined) return new Set();
  if (spreads === 'folder') return new Set(operands.filter((path) => /(?:^|\/)\.{0,2}$|^:/.test(path)));
  if (spreads === 'sources') {
    const sources = operands.length > 1 ? operands.slice(0, -1) : operands;
    return new Set(sources.filter((path) => !looksLikeFile(basename(path))));
  }
  return new Set(spreads === 'always' || flagged(args, spreads) ? operands : []);
}

/** `cp a/b c` makes `c/b` if `c` is a folder. */
function joinedWrites(args: readonly string[], spec: WriterSpec): Write[] {
  if (spec.joins === undefined || (spec.joinsWith !== undefined && !flagged(args, spec.joinsWith))) return [];
  const operands = operandsOf(args, spec);
  const given = valuesOf(args, spec.targets);
  if (spec.joins === 'here') {
    const folders = given.length > 0 ? given : ['.'];
    return inEvery(folders, operands, (folder, url) => [{ path: join(folder, nameOfUrl(url)) }]);
  }
  const last = operands.at(-1) ?? '';
  const isAlone = operands.length === 1 && given.length === 0;
  const targets = isAlone ? ['.'] : [...given, ...(given.length > 0 && hasClearFlag(args, spec.targets) ? [] : [last])];
  const isDeep = spec.recurses === 'always' || flagged(args, spec.recurses);
  const merges = flagged(args, spec.merges) || flagged(args, spec.lists);
  const keeps = flagged(args, spec.keeps);
  const folders = new Set(given);
  const put = (target: string, sources: readonly string[]): Write[] => {
    const isFolder = folders.has(target) || sources.length > 1 || isAlone || /(?:^|\/)(?:\.{0,2}|~)$/.test(target);
    const isFile = !isFolder && looksLikeFile(basename(target));
    return inEvery([target], sources, (_, source): Write[] => {
      const local = source.replace(/^[^/]*:/, '');
      // Behind a slash some take what is in the folder, behind a dot all do.
      const isMerged = (isDeep && (merges || /(?:^|\/)\.{0,2}$/.test(local))) || hasUnknownName(local);
      const made: Write[] = isMerged ? [{ path: target, below: 'copied' }] : [];
      if (isFile) return made;
      const names = new Set([basename(local), ...(keeps ? [local, local.replace(/^.*\/\.\//, '')] : [])]);
      const isPossible = !isFolder;
      return [...made, ...[...names].map((name) => ({ path: under(target, name), ...(isPossible && { isPossible }) }))];
    });
  };
  const sourcesOf = (target: string): readonly string[] =>
    target === last && !isAlone && !folders.has(target) ? operands.slice(0, -1) : operands;
  return isTooMuch(targets, operands)
    ? UNSEEN
    : [...new Set(targets)].flatMap((target) => put(target, sourcesOf(target)));
}

/** A link leads on from the folder that it is put in. */
function linkedWrites(args: readonly string[], spec: WriterSpec): Write[] {
  if (spec.links === undefined || !(flagged(args, spec.links) || args.some(mayBeAnyFlag))) return [];
  const operands = operandsOf(args, spec);
  const last = operands.at(-1) ?? '';
  const sources = operands.filter((path) => !path.startsWith('/'));
  const folders = [...valuesOf(args, spec.targets), last, dirname(last)].filter((folder) => folder !== '.');
  return inEvery(folders, sources, (folder, source) => [{ path: under(folder, source), below: 'changed' }]);
}

/** Several folders, each with all of the names, are no more than this many places; of one folder any number is. */
export const MAX_PAIRS = 64;

/** What was not looked at may be anything, even what is protected. */
const UNSEEN: Write[] = [{ path: HOLE.any }, { path: `${HOLE.any}/.claude` }];

function isTooMuch(folders: readonly string[], names: readonly string[]): boolean {
  const count = new Set(folders).size;
  return count > 1 && count * new Set(names).size > MAX_PAIRS;
}

/** What is made of every name in every folder. */
function inEvery(
  folders: readonly string[],
  names: readonly string[],
  make: (folder: string, name: string) => Write[],
): Write[] {
  if (isTooMuch(folders, names)) return UNSEEN;
  const unique = [...new Set(names)];
  return [...new Set(folders)].flatMap((folder) => unique.flatMap((name) => make(folder, name)));
}

/** Behind a hole that may hold slashes it may be called anything, even like something protected. */
function hasUnknownName(path: string): boolean {
  const end = /[\uE000\uE001\uE005]([^/\uE000\uE001\uE005]*)$/.exec(path)?.[1];
  return end !== undefined && PROTECTED.some((name) => name.endsWith(end));
}

export const under = (folder: string, name: string): string =>
  folder === '' ? name : `${folder.replace(/\/+$/, '')}/${name}`;

/** What a file is called that is fetched, or a folder that is cloned. */
export function nameOfUrl(url: string): string {
  const name = basename(url.replace(/[?#\uE003].*$/, '')).replace(/\.git$/, '');
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** What comes out of an archive: the members that are named, and where any other would be. */
export function unpackedWrites(args: readonly string[], spec: WriterSpec): Write[] {
  const { unpacks } = spec;
  if (unpacks === undefined) return [];
  // `tar xf` has its letters without a dash.
  const isBundle = unpacks.startsWith('x') && /^[A-Za-z]*x/.test(args[0] ?? '');
  if (unpacks !== 'always' && !isBundle && !flagged(args, unpacks) && !args.some(mayBeAnyFlag)) return [];
  const given = valuesOf(args, spec.targets);
  const folders = given.length > 0 ? given : ['.'];
  const known = new Set([...given, ...valuesOf(args, spec.outputs)]);
  const operands = operandsOf(args, spec).filter((name) => !known.has(name));
  // The archive itself comes first where no flag names it.
  const members = (spec.outputs === undefined ? operands.slice(1) : operands).map((name) =>
    name.replaceAll('*', HOLE.star).replaceAll('?', HOLE.one),
  );
  const below = [...new Set(folders)].map((path): Write => ({ path, below: 'unpacked' }));
  const named = inEvery(folders, members, (folder, name) => [{ path: folder === '.' ? name : under(folder, name) }]);
  return [...below, ...named];
}

/** Also in a bundle, and as any beginning of its name: where it is not certain, it is one. */
function isFlag(arg: string, flag: string): boolean {
  if (flag.length > 1) {
    const [, name] = /^--([^=]+)/.exec(arg) ?? [];
    if (name === undefined && arg.includes('=')) return arg.startsWith(`-${flag}=`);
    return arg === `-${flag}` || (name !== undefined && flag.startsWith(name));
  }
  if (!arg.startsWith('-') || arg.startsWith('--')) return false;
  const at = arg.indexOf(flag, 1);
  return at !== -1 && /^[A-Za-z0-9]*$/.test(arg.slice(1, at));
}

export const flagged = (args: readonly string[], flags: string | undefined): boolean =>
  listed(flags).some((flag) => args.some((arg) => isFlag(arg, flag)));

/** `tar chf` has its letters without a dash. */
const isInBundle = (word: string, name: string, flags: string | undefined): boolean =>
  name.endsWith('tar') &&
  /^[A-Za-z]+$/.test(word) &&
  listed(flags).some((flag) => flag.length === 1 && word.includes(flag));

/** Only where nothing else can be meant: each letter is one that takes no value. */
const keepsLinks = (args: readonly string[], flags: string | undefined): boolean =>
  listed(flags).some((flag) =>
    args.some((arg) => arg === `--${flag}` || (flag.length === 1 && /^-[\drqyv]+$/.test(arg) && arg.includes(flag))),
  );

/** The flag stands there without letters before it that could take it for their value. */
export const hasClearFlag = (args: readonly string[], flags: string | undefined): boolean =>
  listed(flags).some((flag) =>
    args.some((arg) => (flag.length === 1 ? arg === `-${flag}` : arg.startsWith('--') && isFlag(arg, flag))),
  );

/** The values of flags, attached or in the next word. */
export function valuesOf(args: readonly string[], flags: string | undefined): string[] {
  const found: string[] = [];
  for (const flag of listed(flags)) {
    for (const [at, arg] of args.entries()) {
      if (!isFlag(arg, flag)) continue;
      const attached = flag.length === 1 ? arg.slice(arg.indexOf(flag, 1) + 1) : (/=([^]*)$/.exec(arg)?.[1] ?? '');
      const value = attached === '' ? args[at + 1] : attached.replace(/^=/, '');
      if (value !== undefined) found.push(value);
    }
    // `tar cCf a b` has its letters without a dash, and their values in the order of the letters.
    const [bundle = ''] = args;
    if ((flag !== 'f' && flag !== 'C') || !/^[a-zA-Z]+$/.test(bundle) || !bundle.includes(flag)) continue;
    const before = bundle.slice(0, bundle.indexOf(flag)).replace(/[^bfgCFHIKLNTVX]/g, '');
    const value = args[1 + before.length];
    if (value !== undefined) found.push(value);
  }
  return found;
}
