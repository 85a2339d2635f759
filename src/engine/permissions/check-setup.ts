import { resolve } from 'node:path/posix';
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
  /** What nothing is said of is there. */
  isMissing(path: string): boolean;
  /** Names that git lists. */
  tracked: readonly string[];
  /** Other names of the same file. */
  otherNames(path: string): string[];
  /** Where the file will be by the time it is opened, if someone moves it in between. */
  swapped: string | undefined;
}

const MAX_LINKS = 40;

/** Reads what a case says of files. */
export function readFiles(facts: readonly string[] = []): CaseFiles {
  const links = new Map<string, string>();
  const odd = new Set<string>();
  const twins = new Map<string, string>();
  const missing = new Set<string>();
  const tracked: string[] = [];
  const repositories = new Set<string>();
  let swapped: string | undefined;
  for (const fact of facts) {
    // What stands in brackets at the end is about the link.
    const [, from, to] =
      /^(\/.*?)\s*(?:->|\bis (?:an? )?sym(?:bolic )?link to\b)\s*(\S.*?)(?:\s+\([^()]*\))?\s*$/.exec(fact) ?? [];
    if (from !== undefined && to !== undefined) links.set(resolve(from), to);
    const [, special] =
      /^(\/\S+) is (?:an? )?(?:fifo|named pipe|pipe|socket|device|character device|block device)\b/i.exec(fact) ?? [];
    if (special !== undefined) odd.add(resolve(special));
    const [, twin, original] = /^(\/\S+) is (?:an? )?hard ?link (?:to|of) (\/\S+)/i.exec(fact) ?? [];
    if (twin !== undefined && original !== undefined) twins.set(resolve(twin), resolve(original));
    const [, absent] = /^(\/\S+) is missing\b/i.exec(fact) ?? [];
    if (absent !== undefined) missing.add(resolve(absent));
    const [, repository] = /^(\/\S+) is a (?:git )?repository\b/i.exec(fact) ?? [];
    if (repository !== undefined) repositories.add(resolve(repository));
    const [, name] = /^git tracks ([^]+)$/.exec(fact) ?? [];
    if (name !== undefined) tracked.push(name);
    swapped ??= /\b(?:swapped|replaced|changed)\b.*?link\b.*?(\/\S+)/i.exec(fact)?.[1];
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
    isMissing: (path) => missing.has(resolve(path)),
    otherNames: (path) =>
      [...twins].flatMap(([twin, original]) =>
        twin === realPath(path) ? [original] : original === realPath(path) ? [twin] : [],
      ),
    swapped,
  };
}

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
