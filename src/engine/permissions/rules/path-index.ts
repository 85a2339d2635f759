import { liesBelow, matchesSteps, mayMatchPath, namesOf, type PathPattern, reachesBelow } from './path-pattern.js';

/** A path without holes, cut once for several lookups. */
export interface PathKey {
  names: readonly string[];
  /** The root, and each folder on the way, the path itself last. */
  anchors: readonly string[];
}

export function toPathKey(path: string): PathKey {
  const names = namesOf(path);
  const anchors = ['/'];
  let anchor = '';
  for (const name of names) {
    anchor += `/${name}`;
    anchors.push(anchor);
  }
  return { names, anchors };
}

/** Of two rules that match, the one with the lower rank is reported. */
interface Ranked {
  rank: number;
}

/** Finds the first of many path patterns that matches, by looking only at those that could. */
export class PathIndex<Rule extends Ranked> {
  readonly #buckets = new Map<string, Bucket<Rule>>();
  readonly #all: Entry<Rule>[] = [];

  get size(): number {
    return this.#all.length;
  }

  /** The folders and files that patterns begin with: links in them must be known. */
  get anchors(): string[] {
    return [...new Set(this.#all.map(({ pattern }) => pattern.anchor))];
  }

  add(pattern: PathPattern, rule: Rule): void {
    this.#all.push({ pattern, rule });
    const anchor = pattern.isAnywhere ? '/' : pattern.anchor;
    let bucket = this.#buckets.get(anchor);
    if (bucket === undefined) {
      bucket = { whole: undefined, names: new Map(), suffixes: new Map(), prefixes: new Map(), others: [] };
      this.#buckets.set(anchor, bucket);
    }
    const [first, second] = pattern.steps;
    if (pattern.steps.length === 0) bucket.whole ??= rule;
    else if (pattern.steps.length > 2 || first !== undefined || second === undefined)
      bucket.others.push({ pattern, rule });
    else if ('name' in second) setFirst(bucket.names, second.name, rule);
    else if (second.suffix !== undefined) setFirst(bucket.suffixes, second.suffix, rule);
    else if (second.prefix !== undefined) setFirst(bucket.prefixes, second.prefix, rule);
    else bucket.others.push({ pattern, rule });
  }

  /** The rule for a path without holes. */
  find(path: string | PathKey): Rule | undefined {
    if (this.#all.length === 0) return undefined;
    const { names, anchors } = typeof path === 'string' ? toPathKey(path) : path;
    let best: Rule | undefined;
    const consider = (rule: Rule | undefined): void => {
      if (rule !== undefined && (best === undefined || rule.rank < best.rank)) best = rule;
    };
    for (let depth = 0; depth < anchors.length; depth += 1) {
      const bucket = this.#buckets.get(anchors[depth] as string);
      if (bucket !== undefined) search(bucket, { names, depth, consider });
    }
    return best;
  }

  /** A rule that a path with holes may fall under. */
  findPossible(template: string): Rule | undefined {
    return this.#all.find(({ pattern }) => mayMatchPath(pattern, template))?.rule;
  }

  /** All that may match something below the folder. */
  below(folder: string): readonly Entry<Rule>[] {
    return this.#all.filter(({ pattern }) => reachesBelow(pattern, folder));
  }

  /** The first that is about a place below the folder. */
  findBelow(folder: string): Rule | undefined {
    return this.#all.find(({ pattern }) => liesBelow(pattern, folder))?.rule;
  }
}

export interface Entry<Rule> {
  pattern: PathPattern;
  rule: Rule;
}

interface Bucket<Rule> {
  /** The anchor is all that is named. */
  whole: Rule | undefined;
  /** At any depth a name, the end of one, and the beginning of one. */
  names: Map<string, Rule>;
  suffixes: Map<string, Rule>;
  prefixes: Map<string, Rule>;
  others: Entry<Rule>[];
}

function setFirst<Rule>(map: Map<string, Rule>, key: string, rule: Rule): void {
  if (!map.has(key)) map.set(key, rule);
}

interface Search<Rule> {
  /** Of the whole path. */
  names: readonly string[];
  /** How many of them lead to the anchor. */
  depth: number;
  consider(rule: Rule | undefined): void;
}

function search<Rule>(bucket: Bucket<Rule>, { names, depth, consider }: Search<Rule>): void {
  consider(bucket.whole);
  for (const { pattern, rule } of bucket.others) if (matchesSteps(pattern.steps, names, depth)) consider(rule);
  const { suffixes, prefixes } = bucket;
  if (bucket.names.size === 0 && suffixes.size === 0 && prefixes.size === 0) return;
  for (let index = depth; index < names.length; index += 1) {
    const name = names[index] as string;
    consider(bucket.names.get(name));
    for (let at = 0; suffixes.size > 0 && at < name.length; at += 1) consider(suffixes.get(name.slice(at)));
    for (let at = 1; prefixes.size > 0 && at <= name.length; at += 1) consider(prefixes.get(name.slice(0, at)));
  }
}
