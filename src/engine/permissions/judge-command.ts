import { basename, dirname, relative, resolve } from 'node:path/posix';
import type { Toucher } from './brought.js';
import { readLine } from './command.js';
import type { LineContext, LineTouch } from './line-context.js';
import { isInside } from './path.js';
import { INTERPRETERS, type Touch } from './programs/effects.js';
import type { PathKey } from './rules/path-index.js';
import { fileNameOf, type PathPattern } from './rules/path-pattern.js';
import type { CompiledRule, RuleIndex } from './rules/rule-index.js';
import { fitsIncludes, type Lookup } from './seen.js';
import { SegmentFact } from './segment-fact.js';
import { HOLE, isFree, isPattern, literalStart } from './shell/hole.js';
import { nameOf, type Segment } from './shell/reading.js';

/** A rule that stops a line, and whether that is certain. */
export interface Hit {
  rule: CompiledRule;
  isCertain: boolean;
  /** What of the line it is about. */
  about: string;
  path?: string;
}

/** The rule of one behaviour that a line falls under: one that it certainly does comes first. */
export function findHit(rules: RuleIndex, context: LineContext): Hit | undefined {
  const { reading } = context;
  const whole = rules.exactLine(reading.line);
  if (whole !== undefined) return { rule: whole, isCertain: true, about: reading.line };
  const search = new Search(rules, context);
  if (rules.judgesCommands) {
    for (const segment of reading.segments) if (search.command(segment, 0)) return search.best;
    if (reading.cut && [reading.line, unquoted(reading.line)].some((text) => search.text(text, {}))) return search.best;
  }
  if (rules.judgesPaths) {
    for (const touched of context.touched()) if (search.touch(touched)) return search.best;
    if (reading.cut && search.places(reading.line)) return search.best;
  }
  return search.best;
}

/** What parts the words of a line that nobody has read. */
const BETWEEN_WORDS = /[\s;&|<>()`'"=]+/;

/** As the shell would take quotes and backslashes off: `r\\m`, `/bin/r""m`. */
const unquoted = (text: string): string => text.replace(/\\\n|\$(?=["'])|["'\\]/g, '');

const MAX_DEPTH = 2;

/** Looks for what is certain, and remembers the first of what is possible. Each step says whether it is over. */
class Search {
  readonly #rules: RuleIndex;
  readonly #context: LineContext;
  best: Hit | undefined;

  constructor(rules: RuleIndex, context: LineContext) {
    this.#rules = rules;
    this.#context = context;
  }

  #add(hit: Hit): boolean {
    if (hit.isCertain) this.best = hit;
    else this.best ??= hit;
    return hit.isCertain;
  }

  /** Of a line that is cut, every word that is a forbidden place. */
  places(line: string): boolean {
    const { cwd, home } = this.#context;
    for (const word of new Set([line, unquoted(line)].flatMap((text) => text.split(BETWEEN_WORDS)))) {
      const path = resolve(cwd, word.startsWith('~/') ? home + word.slice(1) : word);
      const rule = this.#rules.reads.find(path) ?? this.#rules.edits.find(path);
      if (rule !== undefined && word !== '') return this.#add({ rule, isCertain: true, about: word, path });
    }
    return false;
  }

  command(segment: Segment, depth: number): boolean {
    const match = this.#rules.forbids(segment.words);
    if (match !== undefined && this.#add({ ...match, about: showWords(segment) })) return true;
    if (depth > MAX_DEPTH) return false;
    const { cwd, home, tables } = this.#context;
    const { dangers } = depth === 0 ? this.#context.factOf(segment) : new SegmentFact(segment, tables);
    for (const { script } of dangers) {
      if (script === undefined) continue;
      const inner = readLine(script, { cwd, home, tables });
      for (const each of inner.segments) if (this.command(each, depth + 1)) return true;
    }
    return INTERPRETERS.test(bareName(segment)) && this.#code(segment);
  }

  /** A program in another language may run what a rule is about, if it names it. */
  #code(segment: Segment): boolean {
    const about = showWords(segment);
    const texts = [...segment.words.slice(1).map(({ value }) => value), segment.inputText ?? ''];
    return texts.some((text) => /[\s(!]/.test(text) && this.text(text, { about, isCertain: false }));
  }

  /** Words of a text that no parser has read. */
  text(text: string, options: { about?: string; isCertain?: boolean }): boolean {
    const tokens = text.split(/[\s;&|()<>`$"'\\{}=,[\]!]+/).filter((token) => token !== '');
    for (const [at, token] of tokens.entries()) {
      const words = tokens.slice(at, at + 8).map((value) => ({ value, splits: false }));
      const match = this.#rules.forbids(words);
      if (match === undefined) continue;
      const isCertain = match.isCertain && options.isCertain !== false;
      if (this.#add({ rule: match.rule, isCertain, about: options.about ?? token })) return true;
    }
    return false;
  }

  touch(given: LineTouch): boolean {
    const { touch, forms } = given;
    if (this.#isThere(given)) return false;
    const { access, recurses, below, isCalledFile, isPossible = false } = touch;
    const { reads, edits, wholeRead, wholeEdit } = this.#rules;
    const isKnown = access === 'read' || access === 'write';
    const whole = (isKnown ? wholeRead : undefined) ?? (access === 'write' ? wholeEdit : undefined);
    if (whole !== undefined && this.#add({ rule: whole, isCertain: !isPossible, about: touch.path, path: touch.path }))
      return true;
    for (const { path: form, key, isPossible: isDoubtful = false } of forms) {
      const asRead = key === undefined ? this.#possible(form, given) : look(reads, form, key);
      const isCertain = !isPossible && !isDoubtful && access !== 'text';
      if (asRead !== undefined && this.#add(toHit(asRead, { form, isCertain }))) return true;
      const asWrite = access === 'read' ? undefined : look(edits, form, key);
      if (asWrite !== undefined && this.#add(toHit(asWrite, { form, isCertain: isCertain && access === 'write' })))
        return true;
      if (key === undefined) {
        this.#belowPattern(form, given);
        continue;
      }
      // What is moved or linked can be read under another name.
      const isMeant = ({ pattern }: { pattern: PathPattern }): boolean =>
        below !== 'changed' || !this.#isAbsent(pattern, { how: 'below', place: form }, given);
      const inside =
        below && (edits.findBelow(form, isMeant) ?? (below === 'changed' ? reads.findBelow(form, isMeant) : undefined));
      if (inside !== undefined) this.#add({ rule: inside, isCertain: false, about: form, path: form });
      if (recurses !== true && !(isCalledFile === true && this.#isKnownFolder(form))) continue;
      const roots = touch.ofRepository ? this.#context.policy.roots.filter((root) => isInside(root, form)) : [];
      for (const { pattern, rule } of [form, ...roots].flatMap((folder) => reads.below(folder))) {
        if (!mayBeOpened(pattern, touch) || this.#isLeftOut(pattern, given)) continue;
        if (this.#isNotBelow(pattern, form, given)) continue;
        const about = `${form}${touch.ofRepository === undefined ? '' : wayOut(pattern, form)}`;
        this.#add({ rule, isCertain: false, about, path: form });
      }
    }
    return false;
  }

  /** `grep -r x *` opens what lies below whatever the pattern matches, and `mv s* y` takes it along. */
  #belowPattern(form: string, given: LineTouch): void {
    const { recurses, below } = given.touch;
    const { reads, edits } = this.#rules;
    const inside = `${form}/${HOLE.below}`;
    const changed =
      below && (edits.findPossible(inside) ?? (below === 'changed' ? reads.findPossible(inside) : undefined));
    if (changed !== undefined) this.#add({ rule: changed, isCertain: false, about: form, path: form });
    if (recurses !== true) return;
    for (const { pattern, rule } of reads.possible(inside)) {
      if (!mayBeOpened(pattern, given.touch) || this.#isLeftOut(pattern, given)) continue;
      if (!this.#isNotBelow(pattern, form, given)) this.#add({ rule, isCertain: false, about: form, path: form });
    }
  }

  /** The rule that a path with holes may fall under, where something is there that it may be. */
  #possible(form: string, given: LineTouch): Found | undefined {
    const { touch, by } = given;
    const isLooked = (touch.access === 'read' || touch.access === 'mention') && !isFree(form);
    const isMeant = ({ pattern }: { pattern: PathPattern }): boolean => {
      const lookup = isLooked ? toLookup(form, by, this.#context) : undefined;
      return lookup === undefined || !this.#isAbsent(pattern, lookup, given);
    };
    const rule = this.#rules.reads.findPossible(form, isMeant);
    return rule && { rule, isCertain: false };
  }

  /** A search below the folder meets nothing that the pattern matches. */
  #isNotBelow(pattern: PathPattern, form: string, given: LineTouch): boolean {
    const { isTracked = false, inIndex, ofRepository, includes } = given.touch;
    if (isFree(form) || (isTracked && !this.#isInIndex(inIndex, given))) return false;
    const more = includes === undefined ? {} : { includes };
    const whole = ofRepository === true ? { ofRepository } : {};
    return this.#isAbsent(pattern, { how: isTracked ? 'tracked' : 'below', place: form, ...whole, ...more }, given);
  }

  /** What git shows is what it has taken up, if these words are paths. */
  #isInIndex(words: readonly string[] | undefined, { folders }: LineTouch): boolean {
    if (words === undefined || folders === undefined) return false;
    return words.every((word) => folders.every((folder) => this.#context.isThere(resolve(folder, word))));
  }

  #isAbsent(pattern: PathPattern, lookup: Lookup, { by }: LineTouch): boolean {
    return this.#context.isAbsent({ ...lookup, pattern }, by);
  }

  /** The word is the path that it looks like: what would be opened if it were none is not. */
  #isThere({ touch: { unlessThere }, folders }: LineTouch): boolean {
    if (unlessThere === undefined || folders === undefined) return false;
    return folders.every((folder) => this.#context.isThere(resolve(folder, unlessThere)));
  }

  /** Whatever it is called, it holds a folder that is worked in. */
  #isKnownFolder(path: string): boolean {
    const { cwd, policy } = this.#context;
    return [cwd, ...policy.roots].some((root) => isInside(path, root));
  }

  /** All that the pattern matches lies in a place that the command leaves out. */
  #isLeftOut({ anchor, isAnywhere }: PathPattern, { touch, folders }: LineTouch): boolean {
    if (isAnywhere || touch.excludes === undefined || folders === undefined) return false;
    const { excludes } = touch;
    return folders.every((folder) => excludes.some((path) => isInside(resolve(folder, path), anchor)));
  }
}

/** How git is told to leave a place out. */
function wayOut({ anchor, steps, isAnywhere }: PathPattern, folder: string): string {
  const isPlain = !isAnywhere && steps.length === 0 && anchor !== folder && isInside(folder, anchor);
  return isPlain ? ` (without it: -- . ':!${relative(folder, anchor)}')` : '';
}

const showWords = ({ words }: Segment): string => words.map(({ value }) => value).join(' ');

const bareName = (segment: Segment): string => basename(nameOf(segment));

interface Found {
  rule: CompiledRule;
  isCertain: boolean;
}

function look(index: RuleIndex['reads'], form: string, key: PathKey | undefined): Found | undefined {
  if (index.size === 0) return undefined;
  const rule = key === undefined ? index.findPossible(form) : index.find(key);
  return rule && { rule, isCertain: key !== undefined };
}

/** Where a path with holes is looked for; undefined where that is not only on the disk. */
function toLookup(form: string, by: Toucher, { factOf, listsTracked }: LineContext): Lookup | undefined {
  const segment = 'words' in by ? (by as Segment) : undefined;
  // Programs match patterns in their own ways where the shell finds nothing, git also against what is in commits.
  if (segment !== undefined && isPattern(form) && factOf(segment).use === undefined)
    return nameOf(segment) === 'git' ? undefined : { how: 'below', place: dirname(`${literalStart(form)}x`) };
  const at = form.indexOf(HOLE.below);
  // What stands behind a listed name (`$f.bak`, `$f/*`) makes another one of it, which git need not have.
  if (at === -1 || !form.endsWith(HOLE.below) || !listsTracked()) return { how: 'matched', place: form };
  return { how: 'listed', place: form.slice(0, at).replace(/(?<=.)\/+$/, '') };
}

const toHit = (found: Found, { form, isCertain }: { form: string; isCertain: boolean }): Hit => ({
  rule: found.rule,
  isCertain: found.isCertain && isCertain,
  about: form,
  path: form,
});

/** False when a search leaves out what the pattern matches. */
function mayBeOpened(pattern: PathPattern, { includes, skipsHidden }: Touch): boolean {
  if (skipsHidden === true && endOf(pattern).startsWith('.')) return false;
  // The name of a folder says nothing of the files in it.
  const name = fileNameOf(pattern);
  return name === undefined || fitsIncludes(name, includes);
}

/** How its last name begins, at least. */
function endOf({ steps, anchor }: PathPattern): string {
  const last = steps.length === 0 ? { name: anchor.split('/').at(-1) ?? '' } : steps.at(-1);
  if (last === undefined || 'name' in last) return last?.name ?? '';
  const first = 'tokens' in last ? last.tokens[0] : undefined;
  return first?.kind === 'text' ? first.text : '';
}
