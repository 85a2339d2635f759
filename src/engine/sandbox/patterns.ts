/** Paths as the settings of the sandbox write them, and the places they stand for. */
import { lstat, readdir } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';
import { matchesGlob, parseGlob } from '../permissions/rules/glob.js';

export interface PatternBase {
  home: string;
  /** Where relative entries start. */
  project: string;
}

/** Looking further would hold up every command. */
const MAX_LOOKS = 100_000;

/** What other programs would read in another way. */
const MISREAD: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$/, 'begins or ends with a space. Take it away.'],
  [/\$[a-z_(]|`/i, 'has a variable, and none are put in. Write the path itself, or `~/` for the home folder.'],
  [/^[a-z][a-z\d+.-]*:\/\//i, 'is an address. Write a path.'],
  [/^!/, 'begins with `!`, which takes nothing out. Write it in the list that says the opposite.'],
];

/**
 * `/x` and `//x` are absolute, `~/x` is in the home folder, all else starts at the project. A closing `/` or `/**` means the
 * folder itself. Throws `invalid_settings` for what would not do what it seems to say.
 */
export function toPattern(entry: string, field: string, base: PatternBase): string {
  const refuse = (text: string): HeddleError =>
    new HeddleError('invalid_settings', `sandbox.${field}: \`${entry}\` ${text}`);
  if (entry.trim() === '' || entry.includes('\0')) throw refuse('names no path.');
  if (/[{}]/.test(entry)) throw refuse('has braces. Write one entry for each of the paths.');
  for (const [form, text] of MISREAD) if (form.test(entry)) throw refuse(text);
  if (/^~[^/]/.test(entry)) throw refuse('names the home folder of another user. Write its absolute path.');
  const bare = entry.replace(/(?:\/\*\*)?\/*$/, '');
  if (bare === '') return '/';
  if (bare === '~' || bare.startsWith('~/')) return normalize(join(base.home, bare.slice(1)));
  return normalize(bare.startsWith('/') ? bare.replace(/^\/+/, '/') : join(base.project, bare));
}

const isPlain = (part: string): boolean => !/[*?[\\]/.test(part);

/** Whether the pattern names one path. */
export const isLiteral = (pattern: string): boolean => pattern.split('/').every(isPlain);

/** Every path there is now that the pattern matches. Links are neither followed nor resolved. */
export async function expandPattern(pattern: string): Promise<string[]> {
  const parts = pattern.split('/').filter((part) => part !== '');
  const found = new Set<string>();
  let looks = 0;

  const look = (): void => {
    looks += 1;
    if (looks <= MAX_LOOKS) return;
    throw new HeddleError(
      'invalid_settings',
      `sandbox.filesystem: \`${pattern}\` has to look at more than ${MAX_LOOKS} folders before every command.`,
      { hint: 'Begin the pattern with a smaller folder.' },
    );
  };
  const expand = async (place: string, at: number): Promise<void> => {
    const part = parts[at];
    if (part === undefined) {
      found.add(place);
      return;
    }
    if (part !== '**' && isPlain(part)) {
      const next = join(place, part);
      if (await exists(next)) await expand(next, at + 1);
      return;
    }
    look();
    const entries = await list(place);
    if (part === '**') await expand(place, at + 1);
    const tokens = part === '**' ? undefined : parseGlob(part);
    for (const entry of entries) {
      const next = join(place, entry.name);
      if (tokens === undefined) {
        if (entry.isDirectory()) await expand(next, at);
      } else if (matchesGlob(tokens, entry.name)) await expand(next, at + 1);
    }
  };
  await expand('/', 0);
  return [...found];
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** What cannot be listed by us cannot be listed by the command either. */
const list = (folder: string) => readdir(folder, { withFileTypes: true }).catch(() => []);
