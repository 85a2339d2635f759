/** Reads a settings file, or says in words why that cannot be done. */
import { existsSync, readlinkSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readWhole } from '../workspace/files.js';

export const MAX_SETTINGS_BYTES = 1024 * 1024;

/** A file that is not there has no text. */
export type FileText = { text: string | undefined } | { fault: string };

export async function readText(path: string, maxBytes = MAX_SETTINGS_BYTES): Promise<FileText> {
  try {
    const bytes = await readWhole(path, { maxBytes });
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? { fault: 'it is no text: it has NUL characters' } : { text };
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      const fault = findBrokenWay(path);
      return fault === undefined ? { text: undefined } : { fault };
    }
    return { fault: describeFault(code, thrown, maxBytes) };
  }
}

/** Somebody meant a file to be there: the link, or its folder, leads nowhere. */
function findBrokenWay(path: string): string | undefined {
  const folder = dirname(path);
  const target = linkAt(path);
  if (target !== undefined) return `it is a link to ${target}, which is not there`;
  if (existsSync(folder)) return statSync(folder).isDirectory() ? undefined : `${folder} is a file, not a folder`;
  const above = linkAt(folder);
  return above && `${folder} is a link to ${above}, which is not there`;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function describeFault(code: string, thrown: unknown, maxBytes: number): string {
  const known: Readonly<Record<string, string>> = {
    EACCES: 'it cannot be read: permission denied',
    EPERM: 'it cannot be read: permission denied',
    EISDIR: 'it is a folder, not a file',
    ELOOP: 'it cannot be read: its links lead in a circle',
    EINVAL: 'it is a pipe, socket or device, not an ordinary file',
    EFBIG: `it is larger than ${Math.floor(maxBytes / 1024)} KB, too large for settings`,
    ERR_ENCODING_INVALID_ENCODED_DATA: 'it is no UTF-8 text',
  };
  return known[code] ?? `it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
}
