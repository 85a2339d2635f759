import { resolve } from 'node:path/posix';
import { HOLE, hasHole } from '../shell/hole.js';
import { looksLikeFile } from './file-name.js';
import { type GlobToken, matchesGlob, mayMatchGlob, parseGlob, toSearchGlob } from './glob.js';

/** One name on the way of a path pattern; `undefined` stands for `**`. */
export type Step =
  | { name: string }
  /** Where one star is all that is special, the text before or behind it. */
  | { tokens: readonly GlobToken[]; suffix?: string; prefix?: string }
  | undefined;

/** A compiled path rule. It matches a path, and everything below what it matches. */
export interface PathPattern {
  /** The folder or file that its literal beginning names. */
  anchor: string;
  /** What follows; empty when the anchor is all. */
  steps: readonly Step[];
  /** It holds at any depth of any folder: a bare name or `**` in front. */
  isAnywhere: boolean;
  /** It says itself that it is about a folder: `a/` or `a/**`. */
  isFolder?: boolean;
  /** The steps as programs that search take them. */
  globs: readonly string[];
}

export interface PatternPlace {
  /** Where relative patterns start. */
  base: string;
  home: string;
  /** Letter case does not matter on this disk. */
  folds?: boolean;
}

const MAX_ALTERNATIVES = 32;

/** Compiles what stands in the brackets of a path rule; a string says why it can never match. */
export function compilePathPattern(text: string, place: PatternPlace): PathPattern[] | string {
  if (text.trim() === '') return 'it names no path';
  if (text.includes('\0')) return 'it holds a NUL character';
  const trimmed = trimEnds(text);
  if (trimmed.startsWith('!')) return 'a pattern that takes back another one is not supported';
  if (/[^/.~].*\/\.\.(?:\/|$)/.test(text)) return 'it climbs back with ".." after a name';
  // Spaces at the ends were hardly meant, and may be part of a name all the same.
  const alternatives = splitBraces(trimmed)?.concat(trimmed === text ? [] : (splitBraces(text) ?? []));
  if (alternatives === undefined) return 'it has too many alternatives';
  return alternatives.map((alternative) => compileOne(alternative, place));
}

/** As git does, without spaces at the end that are not escaped; nor at the beginning. */
const trimEnds = (text: string): string => {
  const start = text.trimStart();
  const end = start.trimEnd();
  const isEscaped = /(?:^|[^\\])(?:\\\\)*\\$/.test(end) && end !== start;
  return isEscaped ? start.slice(0, end.length + 1) : end;
};

function compileOne(text: string, { base, home, folds = false }: PatternPlace): PathPattern {
  const { from, rest, isBare } = locate(text, { base, home });
  const names = rest.split('/').filter((name) => name !== '' && name !== '.');
  // What is matched covers what lies below, so that these say nothing more.
  const isFolder = names.at(-1) === '**' || text.endsWith('/');
  while (names.length > 0 && names.at(-1) === '**') names.pop();
  if (isBare && names.length > 0) names.unshift('**');
  const literal = names.findIndex((name) => /[*?[\\]/.test(name));
  const head = literal === -1 ? names : names.slice(0, literal);
  const tail = literal === -1 ? [] : names.slice(literal);
  const fold = (part: string): string => (folds ? part.toLowerCase() : part);
  const anchor = fold(resolve(from, ...head));
  const isAnywhere = tail[0] === '**' && head.length === 0 && !/^(?:\/|~|\.\/)/.test(text);
  const parts = tail.filter((name, index) => name !== '**' || tail[index - 1] !== '**');
  const steps = parts.map((name) => toStep(fold(name)));
  return { anchor, steps, isAnywhere, globs: parts.map(toSearchGlob), ...(isFolder && { isFolder }) };
}

const escapeGlob = (name: string): string => name.replace(/[\\*?[\]{}]| $/g, '\\$&');

function locate(text: string, { base, home }: PatternPlace): { from: string; rest: string; isBare: boolean } {
  if (text.startsWith('//')) return { from: '/', rest: text.slice(2), isBare: false };
  if (text === '~' || text.startsWith('~/')) return { from: home, rest: text.slice(2), isBare: false };
  const isBare = !text.replace(/\/+$/, '').includes('/');
  if (!text.startsWith('./') && !text.startsWith('/'))
    return { from: base, rest: text, isBare: isBare && text !== '.' && text !== '..' };
  return { from: base, rest: text.replace(/^\.?\//, ''), isBare: false };
}

function toStep(name: string): Step {
  if (name === '**') return undefined;
  if (!/[*?[\\]/.test(name)) return { name };
  const tokens = parseGlob(name);
  const suffix = /^\*([^*?[\\]+)$/.exec(name)?.[1];
  const prefix = /^([^*?[\\]+)\*$/.exec(name)?.[1];
  return { tokens, ...(suffix !== undefined && { suffix }), ...(prefix !== undefined && { prefix }) };
}

/** Not `\{a,b\}`, which is a name. */
const BRACES = /\{(?<=(?:^|[^\\])(?:\\\\)*\{)((?:\\.|[^{}\\,])*,(?:\\.|[^{}\\])*)\}/;

/** `a.{ts,tsx}` is two patterns. */
function splitBraces(text: string): string[] | undefined {
  const found = BRACES.exec(text);
  if (found === null) return [text];
  const [whole, inner = ''] = found;
  const parts = inner
    .split(/(?<!\\),/)
    .map((part) => text.slice(0, found.index) + part + text.slice(found.index + whole.length));
  const all = parts.flatMap((part) => splitBraces(part) ?? [undefined]);
  return all.length > MAX_ALTERNATIVES || all.includes(undefined) ? undefined : (all as string[]);
}

export const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '');

const isBelow = (folder: string, path: string): boolean =>
  folder === '/' || path === folder || (path.startsWith(folder) && path[folder.length] === '/');

/** True when the pattern matches the path, or a folder above it. */
export function matchesPath(pattern: PathPattern, path: string): boolean {
  const start = pattern.isAnywhere ? '/' : pattern.anchor;
  return isBelow(start, path) && matchesSteps(pattern.steps, namesOf(path.slice(start === '/' ? 0 : start.length)));
}

/** True when the steps can be taken through the names, from one of them on. */
export function matchesSteps(steps: readonly Step[], names: readonly string[], start = 0): boolean {
  let step = 0;
  let at = start;
  let star = -1;
  let from = start;
  while (step < steps.length) {
    const current = steps[step];
    if (current === undefined) {
      star = step;
      from = at;
      step += 1;
    } else if (at < names.length && matchesName(current, names[at] as string)) {
      step += 1;
      at += 1;
    } else if (star !== -1 && from < names.length) {
      from += 1;
      at = from;
      step = star + 1;
    } else return false;
  }
  return true;
}

export function matchesName(step: NonNullable<Step>, name: string): boolean {
  return 'name' in step ? step.name === name : matchesGlob(step.tokens, name);
}

/** True when something below the folder could be matched, though the folder itself may not be. */
export function reachesBelow(pattern: PathPattern, folder: string): boolean {
  if (pattern.isAnywhere || isBelow(folder, pattern.anchor)) return true;
  if (!isBelow(pattern.anchor, folder)) return false;
  const names = namesOf(folder.slice(pattern.anchor === '/' ? 0 : pattern.anchor.length));
  return live(pattern.steps, names, matchesName).size > 0;
}

/**
 * What is matched below the folder, as .gitignore would have it, absolute, for programs that search there. The folder may
 * be in the middle of the pattern: then what is left of it counts from there. `real` is where the folder is found.
 */
export function globsBelow(pattern: PathPattern, folder: string, real = folder): string[] {
  const { anchor, steps, isAnywhere, globs } = pattern;
  const start = real === '/' ? '' : real;
  if (!isAnywhere && isBelow(folder, anchor)) {
    const way = namesOf(folder === '/' ? anchor : anchor.slice(folder.length)).map(escapeGlob);
    return [[start, ...way, ...globs].join('/') || '/'];
  }
  const names = namesOf(isAnywhere || anchor === '/' ? folder : folder.slice(anchor.length));
  // What stands behind `**` is found with it.
  const open = [...live(steps, names, matchesName)].filter(
    (at) => at < steps.length && (at === 0 || steps[at - 1] !== undefined),
  );
  return open.map((at) => [isAnywhere && at === 0 ? '' : start, ...globs.slice(at)].join('/'));
}

/** As before, but of patterns that hold anywhere only those whose own folder is there. */
export const liesBelow = (pattern: PathPattern, folder: string): boolean =>
  isBelow(folder, pattern.anchor) || (!pattern.isAnywhere && reachesBelow(pattern, folder));

/** The name that a pattern ends with, when that is certainly a file's. */
export function fileNameOf({ steps, anchor, isFolder }: PathPattern): string | undefined {
  const last = steps.at(-1);
  const name = steps.length === 0 ? anchor.split('/').at(-1) : last !== undefined && 'name' in last ? last.name : '';
  return isFolder !== true && name !== undefined && looksLikeFile(name) ? name : undefined;
}

/** True when a path with holes could be one that the pattern matches. */
export function mayMatchPath(pattern: PathPattern, template: string): boolean {
  if (!hasHole(template)) return matchesPath(pattern, template);
  const literal = template.slice(0, template.search(SPANNING));
  const isSpanning = SPANNING.test(template);
  const known = isSpanning ? literal : template;
  const names = namesOf(known);
  // The last name goes on in the hole, over slashes too.
  const open = isSpanning && !known.endsWith('/') ? `${names.pop() ?? ''}${HOLE.any}` : undefined;
  const steps = pattern.isAnywhere
    ? pattern.steps
    : [...namesOf(pattern.anchor).map((name) => ({ name })), ...pattern.steps];
  const states = live(steps, names, mayMatchName);
  if (states.has(steps.length)) return true;
  if (!isSpanning || !endsAlike(pattern, template)) return false;
  return open === undefined
    ? states.size > 0
    : [...states].some((at) => steps[at] === undefined || mayMatchName(steps[at], open));
}

/** `src/.../x.ts` is not `.env`; it may be in `conf.d`. */
function endsAlike(pattern: PathPattern, template: string): boolean {
  const end = /[^\uE000-\uE005/]*$/.exec(template)?.[0] ?? '';
  return fileNameOf(pattern)?.endsWith(end) !== false;
}

/** Holes that may hold slashes. */
const SPANNING = new RegExp(`[${HOLE.any}${HOLE.output}${HOLE.below}]`);

function mayMatchName(step: NonNullable<Step>, name: string): boolean {
  if (!hasHole(name)) return matchesName(step, name);
  // A star of the shell does not match a leading dot.
  const first = 'name' in step ? step.name.charAt(0) : step.tokens[0]?.kind === 'text' ? step.tokens[0].text : '';
  if (first === '.' && (name.startsWith(HOLE.star) || name.startsWith(HOLE.one))) return false;
  return 'name' in step
    ? mayMatchGlob(parseGlob(step.name.replace(/[\\*?[]/g, '\\$&')), name)
    : mayMatchGlob(step.tokens, name);
}

/** How many steps may have been taken after these names; the number of all steps when all were, at any point. */
function live(
  steps: readonly Step[],
  names: readonly string[],
  matches: (step: NonNullable<Step>, name: string) => boolean,
): Set<number> {
  let states = settle(new Set([0]), steps);
  for (const name of names) {
    if (states.has(steps.length)) return states;
    const next = new Set<number>();
    for (const at of states) {
      const step = steps[at];
      if (step === undefined) next.add(at);
      else if (matches(step, name)) next.add(at + 1);
    }
    states = settle(next, steps);
  }
  return states;
}

/** `**` may stand for nothing. */
function settle(states: Set<number>, steps: readonly Step[]): Set<number> {
  for (const at of states) if (at < steps.length && steps[at] === undefined) states.add(at + 1);
  return states;
}
