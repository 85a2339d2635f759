/** Which folders someone vouches for. Kept where other programs of this kind keep it, tied to the real path. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isTable } from './table.js';
import type { EditOptions } from './edit.js';
import { findMainTree, realPathOf } from './files.js';
import { readText } from './read.js';

export interface Trust {
  /**
   * Itself or a folder above it is trusted, or the main work tree of a git worktree is. The home folder, `/` and folders
   * that everyone may write to vouch for nothing but themselves. A record that cannot be read trusts nothing.
   */
  isTrusted(folder: string): Promise<boolean>;
  /** Gives the real path that is trusted from now on, and whether it was not before. */
  trust(folder: string): Promise<TrustChange>;
  /** Takes back what was said of this very folder. */
  untrust(folder: string): Promise<TrustChange>;
  /** Throws `invalid_settings` when the record is broken. */
  list(): Promise<string[]>;
}

export interface TrustChange {
  folder: string;
  changed: boolean;
}

export interface TrustOptions {
  configDir: string;
  home: string;
  clock?: Clock;
}

const KEY = 'hasTrustDialogAccepted';
/** Other programs keep much more than trust in it. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

export function createTrust({ configDir, home, clock }: TrustOptions): Trust {
  const file = join(configDir, '.claude.json');
  const options: EditOptions = { maxBytes: MAX_RECORD_BYTES, ...(clock && { clock }) };

  const readTrusted = async (): Promise<Set<string>> => {
    const read = await readText(file, MAX_RECORD_BYTES);
    if ('fault' in read) throw broken(file, read.fault);
    if (read.text === undefined) return new Set();
    const record = await parseRecord(file, read.text);
    const projects = isTable(record.projects) ? record.projects : {};
    return new Set(Object.keys(projects).filter((folder) => isAccepted(projects[folder])));
  };

  const set = async (folder: string, accepted: boolean): Promise<TrustChange> => {
    const real = accepted ? realFolder(folder) : realPathOf(folder);
    const { editSettings } = await import('./edit.js');
    const { changed } = await editSettings(
      file,
      ({ projects = {} }) => {
        if (!isTable(projects)) throw broken(file, '"projects" must be an object');
        const entry = Object.hasOwn(projects, real) ? projects[real] : undefined;
        if (isAccepted(entry) === accepted) return [];
        if (entry !== undefined && !isTable(entry)) throw broken(file, `"projects" has no object for ${real}`);
        return [{ path: ['projects', real, KEY], value: accepted }];
      },
      options,
    );
    return { folder: real, changed };
  };

  return {
    async isTrusted(folder) {
      let trusted: Set<string>;
      try {
        trusted = await readTrusted();
      } catch {
        return false;
      }
      if (trusted.size === 0) return false;
      const real = realPathOf(folder);
      const main = findMainTree(real);
      const realHome = realPathOf(home);
      const vouches = (above: string): boolean => trusted.has(above) && above !== realHome && !isOpenToAll(above);
      return [real, ...(main === undefined ? [] : [realPathOf(main)])].some(
        (root) => trusted.has(root) || foldersAbove(root).some(vouches),
      );
    },
    trust: (folder) => set(folder, true),
    untrust: (folder) => set(folder, false),
    list: async () => [...(await readTrusted())].toSorted(),
  };
}

const isAccepted = (entry: unknown): boolean => isTable(entry) && entry[KEY] === true;

/** The root of the file system is not among them. */
function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder || above === dirname(above) ? [] : [above, ...foldersAbove(above)];
}

const OTHERS_MAY_WRITE = 0o002;

/** Anyone may have put a folder there, as in the folder for temporary files. */
function isOpenToAll(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  return stats === undefined || (stats.mode & OTHERS_MAY_WRITE) !== 0;
}

function realFolder(folder: string): string {
  const real = realPathOf(folder);
  if (statSync(real, { throwIfNoEntry: false })?.isDirectory() === true) return real;
  throw new HeddleError('invalid_config', `${folder} is no folder.`, { hint: 'Name an existing folder.' });
}

/** The record is plain JSON as a rule; the slower way also understands comments, and says where it is broken. */
async function parseRecord(file: string, text: string): Promise<Record<string, unknown>> {
  const value = parseFast(text) ?? (await parseSlowly(file, text));
  if (isTable(value)) return value;
  throw broken(file, 'it must be one JSON object: { ... }');
}

function parseFast(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function parseSlowly(file: string, text: string): Promise<unknown> {
  const { parseJsonc } = await import('./jsonc.js');
  const { value, faults } = await parseJsonc(text.replace(/^\uFEFF/, ''));
  const [fault] = faults;
  if (fault !== undefined) throw broken(`${file}:${fault.line}:${fault.column}`, fault.text);
  return value;
}

const broken = (place: string, text: string): HeddleError =>
  new HeddleError('invalid_settings', `${place}: ${text}. No folder counts as trusted until it is mended.`);
