/** Reads a settings file, or says in words why that cannot be done. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isNamed } from './files.js';
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
      const folder = dirname(path);
      // A file in the place of its folder holds no settings that could be lost; a link that leads through one may.
      const isMissing = !isNamed(path) && (!isNamed(folder) || existsSync(folder));
      return isMissing ? { text: undefined } : { fault: (await import('./broken-way.js')).describeWay(path) };
    }
    return { fault: describeFault(code, thrown, maxBytes) };
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
