import { join } from 'node:path/posix';
import { placesOf } from './command.js';
import { ownPlacesOf } from './judge-paths.js';
import type { LineContext, LineTouch } from './line-context.js';
import { foldNames, isInside, isProtected, PROTECTED, PROTECTED_NAMES } from './path.js';
import type { PermissionPolicy } from './policy.js';
import { type GlobToken, mayMatchGlob, parseGlob } from './rules/glob.js';
import { hasHole, isFree, showHoles } from './shell/hole.js';

/** The first path that a line writes, or may write, and by which it would change what may run. */
export function findProtectedWrite(line: LineContext): string | undefined {
  const own = ownPlacesOf(line.policy);
  const all = line.touched();
  for (const touched of all) {
    const found = protectedForm(touched, line, own);
    if (found !== undefined) return showHoles(found);
  }
  // What a line packs it may unpack.
  if (all.some(({ touch }) => touch.below === 'unpacked')) {
    const words = line.reading.segments.flatMap((segment) => segment.words.map(({ value }) => value));
    const packed = words.find((word) => isProtected(word));
    if (packed !== undefined) return showHoles(packed);
  }
  const { cut, doubts, line: text } = line.reading;
  // What could not be read may write whatever it names.
  return cut || doubts.length > 0 ? text.split(BREAKS).find((word) => isProtected(word)) : undefined;
}

const BREAKS = /[\s'"`()[\]{};,=:@<>|&\\+$]+/;

function protectedForm(
  { touch, folders, forms }: LineTouch,
  { places, policy }: LineContext,
  own: readonly string[],
): string | undefined {
  const { path, access, below, isInText = false } = touch;
  // Inside of a program it may be what is written.
  const isText = isInText && (access === 'text' || access === 'mention');
  if (access !== 'write' && !isText) return undefined;
  const written = [path.replace(/^~(?=\/|$)/, ''), ...placesOf(path, folders)];
  const names = [...written.flatMap((form) => [form, places.get(form) ?? form]), ...forms.map((form) => form.path)];
  // A folder alone is a word like others; code that names such a file may well write it.
  const isNamed = access === 'write' || path.includes('/') || (access === 'mention' && PROTECTED_NAMES.has(path));
  const found = names.find(
    (form) => own.some((place) => mayBeAt(form, place)) || (isNamed && (isProtected(form) || mayBeProtected(form))),
  );
  if (found !== undefined || below === undefined) return found;
  return names.map((form) => changedBelow(form, { below, own, policy })).find((each) => each !== undefined);
}

interface Ground {
  below: NonNullable<LineTouch['touch']['below']>;
  own: readonly string[];
  policy: PermissionPolicy;
}

/** Whatever is copied into a folder that programs start from may bring files that they obey. */
function changedBelow(form: string, { below, own, policy }: Ground): string | undefined {
  const place = own.find((each) => isInside(form, each));
  if (place !== undefined || below !== 'copied') return place;
  const isStart = [...policy.roots, policy.cwd, policy.home].some((start) => isInside(form, start));
  return isStart ? join(form, '.claude') : undefined;
}

const toTokens = (name: string): GlobToken[] => parseGlob(name.replace(/[\\*?[]/g, '\\$&'));

/** The place, or something in it. A star stands for names, and for nothing else. */
function mayBeAt(form: string, place: string): boolean {
  if (!hasHole(form)) return isInside(place, form);
  if (isFree(form)) return false;
  const names = form.split('/');
  return place.split('/').every((name, at) => {
    const given = names[at];
    return given !== undefined && (hasHole(given) ? mayMatchGlob(toTokens(name), given) : given === name);
  });
}

let hidden: readonly GlobToken[][] | undefined;

/** `.claude/set*` and `.bash?c`: what begins with a star is no hidden name. */
function mayBeProtected(path: string): boolean {
  if (!hasHole(path)) return false;
  hidden ??= PROTECTED.map(toTokens);
  const names = hidden;
  return foldNames(path)
    .split('/')
    .some((part) => hasHole(part) && !hasHole(part.charAt(0)) && names.some((tokens) => mayMatchGlob(tokens, part)));
}
