import { liesBelow, matchesSteps, mayMatchPath, namesOf, type PathPattern, reachesBelow } from './path-pattern.js';

/** A path without holes, cut once for several lookups. */
export interface PathKey {
  names: readonly string[];
  /** The root, and each folder on the way, the path itself last. */
  anchors: readonly string[];
}

export function toPathKey(path: string): PathKey {
  const names = namesOf(path);
  const normal = path.startsWith('/') && path.length === lengthOf(names) ? path : `/${names.join('/')}`;
  const anchors = ['/'];
  let end = 0;
  for (const name of names) {
    end += name.length + 1;
    anchors.push(normal.slice(0, end));
  }
  return { names, anchors };
}

/** Of a path of these names. */
const lengthOf = (names: readonly string[]): number => names.reduce((length, name) => length + name.length + 1, 0);

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
      bucket = { whole: undefined, names: new Map(), suffixes: new Affixes(), prefixes: new Affixes(), others: [] };
      this.#buckets.set(anchor, bucket);
    }
    const [first, second] = pattern.steps;
    if (pattern.steps.length === 0) bucket.whole ??= rule;
    else if (pattern.steps.length > 2 || first !== undefined || second === undefined)
      bucket.others.push({ pattern, rule });
    else if ('name' in second) setFirst(bucket.names, second.name, rule);
    else if (second.suffix !== undefined) bucket.suffixes.add(second.suffix, rule);
    else if (second.prefix !== undefined) bucket.prefixes.add(second.prefix, rule);
    else bucket.others.push({ pattern, rule });
  }

  /** The rule for a path without holes. */
  find(path: string | PathKey): Rule | undefined {
    if (this.#all.length === 0) return undefined;
    const { names, anchors } = typeof path === 'string' ? toPathKey(path) : path;
    let best: Rule | undefined;
    for (let depth = 0; depth < anchors.length; depth += 1) {
      const bucket = this.#buckets.get(anchors[depth] as string);
      if (bucket !== undefined) best = firstOf(best, search(bucket, names, depth));
    }
    return best;
  }

  /** A rule that a path with holes may fall under. */
  findPossible(template: string, isMeant: (entry: Entry<Rule>) => boolean = ALL): Rule | undefined {
    return this.#all.find((entry) => mayMatchPath(entry.pattern, template) && isMeant(entry))?.rule;
  }

  /** All that a path with holes may fall under. */
  possible(template: string): readonly Entry<Rule>[] {
    return this.#all.filter(({ pattern }) => mayMatchPath(pattern, template));
  }

  /** All that may match something below the folder. */
  below(folder: string): readonly Entry<Rule>[] {
    return this.#all.filter(({ pattern }) => reachesBelow(pattern, folder));
  }

  /** The first that is about a place below the folder. */
  findBelow(folder: string, isMeant: (entry: Entry<Rule>) => boolean = ALL): Rule | undefined {
    return this.#all.find((entry) => liesBelow(entry.pattern, folder) && isMeant(entry))?.rule;
  }
}

const ALL = (): boolean => true;

export interface Entry<Rule> {
  pattern: PathPattern;
  rule: Rule;
}

interface Bucket<Rule> {
  /** The anchor is all that is named. */
  whole: Rule | undefined;
  /** At any depth a name, the end of one, and the beginning of one. */
  names: Map<string, Rule>;
  suffixes: Affixes<Rule>;
  prefixes: Affixes<Rule>;
  others: Entry<Rule>[];
}

function setFirst<Rule>(map: Map<string, Rule>, key: string, rule: Rule): void {
  if (!map.has(key)) map.set(key, rule);
}

/** Ends or beginnings of names, looked up only in the lengths that there are. */
class Affixes<Rule> {
  readonly #rules = new Map<string, Rule>();
  readonly lengths: number[] = [];

  add(text: string, rule: Rule): void {
    setFirst(this.#rules, text, rule);
    // Nothing at all is neither the end of a name nor its beginning.
    if (text !== '' && !this.lengths.includes(text.length)) this.lengths.push(text.length);
  }

  get(text: string): Rule | undefined {
    return this.#rules.get(text);
  }
}

const firstOf = <Rule extends Ranked>(one: Rule | undefined, other: Rule | undefined): Rule | undefined =>
  one === undefined || (other !== undefined && other.rank < one.rank) ? other : one;

/** `depth` of the names lead to the anchor of the bucket. */
function search<Rule extends Ranked>(bucket: Bucket<Rule>, names: readonly string[], depth: number): Rule | undefined {
  const { suffixes, prefixes } = bucket;
  let best = bucket.whole;
  for (const { pattern, rule } of bucket.others) {
    if (matchesSteps(pattern.steps, names, depth)) best = firstOf(best, rule);
  }
  for (let index = depth; index < names.length; index += 1) {
    const name = names[index] as string;
    best = firstOf(best, bucket.names.get(name));
    for (const length of suffixes.lengths) {
      if (length <= name.length) best = firstOf(best, suffixes.get(name.slice(name.length - length)));
    }
    for (const length of prefixes.lengths) {
      if (length <= name.length) best = firstOf(best, prefixes.get(name.slice(0, length)));
    }
  }
  return best;
}
