/** Beside the log of an archived session lies a file that says so, where other programs that keep such logs look for it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { makeFolders } from '../workspace/folders.js';

export interface Archive {
  archived: boolean;
  /** ISO. A prompt that is younger took the session out. */
  at: string;
}

const fileOf = (logPath: string): string => `${logPath.slice(0, -'.jsonl'.length)}${sep}archived.json`;

/** Undefined when the session never was in the archive. */
export function readArchive(logPath: string): Archive | undefined {
  const file = fileOf(logPath);
  // Most have none, and a thousand of them are looked at for one list.
  if (!existsSync(file)) return undefined;
  try {
    const { archived, at } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Archive>;
    return typeof archived === 'boolean' && !Number.isNaN(Date.parse(String(at)))
      ? { archived, at: String(at) }
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeArchive(logPath: string, { archived, at }: Archive): void {
  const file = fileOf(logPath);
  makeFolders(dirname(file));
  writeFileSync(file, JSON.stringify({ archived, at, by: 'heddle' }), { mode: 0o600 });
}

/** Takes a session out, if it is in. Whoever writes the log must not fail because of this. */
export function endArchive(logPath: string, at: string): void {
  if (!readArchive(logPath)?.archived) return;
  try {
    writeArchive(logPath, { archived: false, at });
  } catch {
    // The prompt itself says so, too.
  }
}
