import { relative, resolve } from 'node:path/posix';
import { RULE_LAYERS, type RuleLayer, type WrittenRule } from './layers.js';
import type { FolderEntry } from './disk-walk.js';
import { toPosixPath } from './platform.js';

/** Rules and files as a case of `permissions check` describes them. */
export interface CaseSetup {
  mode?: string;
  allow?: WrittenRule[];
  ask?: WrittenRule[];
  deny?: WrittenRule[];
  cwd?: string;
  home?: string;
  trusted?: boolean;
  /** Where the rules' own settings file is, if not in `cwd`. */
  settingsDir?: string;
  additionalDirectories?: string[];
  privateHosts?: string[];
  platform?: string;
  /** Links and odd files, in words: `/a -> /b`, `/a is a FIFO`, `/a is a hard link to /b`, `/a is missing`, `/a is a repository`, `git tracks a b`. */
  fs?: string[];
  managed?: WrittenRule[] | LayerRules | { permissions?: LayerRules };
  /** The definitions under which tools were approved. */
  approved?: Record<string, unknown>;
  [layer: string]: unknown;
}

export interface LayerRules {
  allow?: WrittenRule[];
  ask?: WrittenRule[];
  deny?: WrittenRule[];
}

export interface CaseFiles {
  /** Where a path leads, as the system would follow it. */
  realPath(path: string): string;
  /** The links in a folder, and the folders that lead to others. */
  list(folder: string): FolderEntry[];
  kind(path: string): 'other' | undefined;
  /** What nothing is said of is there, unless it is rather the name of a commit. */
  isMissing(path: string): boolean;
  /** What is said and not understood. */
  unread: readonly string[];
  /** Names that git lists. */
  tracked: readonly string[];
  /** Other names of the same file. */
  otherNames(path: string): string[];
  /** Where the file will be by the time it is opened, if someone moves it in between. */
  swapped: string | undefined;
}

const MAX_LINKS = 40;

/** What may be said of a file besides: that it is there, what it is, what it holds. */
const PLAIN_FACT =
  /^(?:[~/]\S*|\S*[./]\S*)(?:\s+(?:is\s+(?:there|present|an?\s+(?:(?:regular|plain|ordinary|normal|tracked|untracked|new|empty)\s+)*(?:file|folder|directory))|exists|contains|holds|has)\b[^]*)?$/i;
const SPECIAL = '(?:fifo|named pipe|pipe|socket|device|character device|block device)';

/** Reads what a case says of files. Relative names start in `cwd`. */
export function readFiles(
  facts: readonly string[] = [],
  { cwd = '/', home = '/' }: { cwd?: string | undefined; home?: string | undefined } = {},
): CaseFiles {
  const links = new Map<string, string>();
  const odd = new Set<string>();
  const twins = new Map<string, string>();
  const missing = new Set<string>();
  const there = new Set<string>();
  const tracked: string[] = [];
  const unread: string[] = [];
  const repositories = new Set<string>();
  let swapped: string | undefined;
  const at = (path: string): string => resolve(cwd, path.replace(/^~(?=\/|$)/, home));
  for (const fact of facts) {
    const text = fact.trim();
    const moved = /\b(?:swapped|replaced|changed)\b.*?link\b.*?(\/\S+)/i.exec(text)?.[1];
    // What stands in brackets at the end is about the link.
    const [, from, to] =
      /^(?:sym(?:bolic )?link\s+)?(\S(?:.*?\S)??)\s*(?:[-=]>|\u2192|\b(?:is (?:an? )?sym(?:bolic )?link(?:ed)? to|links to|points to)\b)\s*(\S.*?)(?:\s+\([^()]*\))?$/i.exec(
        text,
      ) ?? [];
    const [, special] = new RegExp(`^(\\S+) is (?:an? )?${SPECIAL}\\b`, 'i').exec(text) ?? [];
    const [, twin, original] = /^(\S+) is (?:an? )?hard ?link (?:to|of) (\S+)/i.exec(text) ?? [];
    const [, absent] = /^(\S+) (?:is missing|does not exist)\b/i.exec(text) ?? [];
    const [, repository] = /^(\S+) is (?:an? )?(?:git )?repository\b/i.exec(text) ?? [];
    const [, name] = /^git tracks ([^]+)$/.exec(text) ?? [];
    if (moved !== undefined) swapped ??= moved;
    else if (twin !== undefined && original !== undefined) twins.set(at(twin), at(original));
    else if (from !== undefined && to !== undefined) links.set(at(from), to.replace(/^~(?=\/|$)/, home));
    else if (special !== undefined) odd.add(at(special));
    else if (absent !== undefined) missing.add(at(absent));
    else if (repository !== undefined) repositories.add(at(repository));
    else if (name !== undefined) tracked.push(name);
    else if (PLAIN_FACT.test(text)) there.add(at(/^\S+/.exec(text)?.[0] ?? ''));
    else unread.push(fact);
  }
  const realPath = (path: string): string => followLinks(path, links);
  return {
    realPath,
    list: (folder) => [
      ...linksIn(realPath(folder), links),
      ...(repositories.has(realPath(folder)) ? [{ name: '.git', kind: 'directory' as const }] : []),
    ],
    kind: (path) => (odd.has(realPath(path)) || realPath(path) === LOOP ? 'other' : undefined),
    tracked,
    isMissing: (path) => missing.has(resolve(path)) || (!there.has(resolve(path)) && isCommit(relative(cwd, path))),
    unread,
    otherNames: (path) =>
      [...twins].flatMap(([twin, original]) =>
        twin === realPath(path) ? [original] : original === realPath(path) ? [twin] : [],
      ),
    swapped,
  };
}

/** `HEAD~2`, `origin/main`, `v1.2`, `1a2b3c4`. */
const isCommit = (name: string): boolean =>
  /^(?:(?:[A-Z]+_)?HEAD|@|(?:origin\/|upstream\/)?(?:main|master|develop|dev|trunk)|[\da-f]{7,40}|v\d[\d.]*|stash)(?:[~^@:].*)?$/.test(
    name,
  );

function linksIn(folder: string, links: ReadonlyMap<string, string>): FolderEntry[] {
  const start = folder === '/' ? '/' : `${folder}/`;
  const names = [...links.keys()].filter((link) => link.startsWith(start)).map((link) => link.slice(start.length));
  const found = new Map<string, FolderEntry>();
  for (const [name = '', ...more] of names.map((each) => each.split('/'))) {
    if (found.get(name)?.kind !== 'link') found.set(name, { name, kind: more.length === 0 ? 'link' : 'directory' });
  }
  return [...found.values()];
}

const LOOP = '/a link that leads to itself';

/** Name by name, so that `..` after a link goes where the link leads. */
function followLinks(path: string, links: ReadonlyMap<string, string>): string {
  let count = 0;
  let rest = path.split('/');
  let here = '/';
  while (rest.length > 0) {
    const [name = '', ...more] = rest;
    rest = more;
    if (name === '' || name === '.') continue;
    const next = resolve(here, name);
    const target = name === '..' ? undefined : links.get(next);
    if (target === undefined) {
      here = next;
      continue;
    }
    count += 1;
    if (count > MAX_LINKS) return LOOP;
    if (target.startsWith('/')) here = '/';
    rest = [...target.split('/'), ...rest];
  }
  return here;
}

/** A layer may be written as its settings file is. */
const unwrap = (given: LayerRules | { permissions?: LayerRules } | undefined): LayerRules | undefined =>
  given !== undefined && 'permissions' in given ? given.permissions : (given as LayerRules | undefined);

/** The layers of a case: its own lists are those of a trusted user. */
export function readLayers(setup: CaseSetup, project?: LayerRules): RuleLayer[] {
  const base = setup.settingsDir ?? setup.cwd ?? '/';
  const layers: RuleLayer[] = [];
  for (const name of RULE_LAYERS) {
    const given = name === 'project' ? (project ?? setup[name]) : setup[name];
    const rules: LayerRules | undefined = Array.isArray(given)
      ? { deny: given as WrittenRule[] }
      : unwrap(given as LayerRules | { permissions?: LayerRules } | undefined);
    const own: LayerRules = name === 'user' ? setup : {};
    const listOf = (key: keyof LayerRules): WrittenRule[] => [...(rules?.[key] ?? []), ...(own[key] ?? [])];
    // A layer that nobody trusts may only tighten.
    const isTrusted = setup.trusted !== false || (name !== 'project' && name !== 'local');
    layers.push({
      name,
      base: toPosixPath(base),
      ...(isTrusted && { allow: listOf('allow') }),
      ask: listOf('ask'),
      deny: listOf('deny'),
    });
  }
  return layers;
}
