import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';

/** The open end of a log. Throws `store_failed` when it cannot be written. */
export interface LogWriter {
  write(lines: readonly string[], options: { sync: boolean }): void;
  close(): void;
}

export function openLogFile(path: string): LogWriter {
  const file = attempt(path, () => {
    makeFolders(dirname(path));
    return openSync(path, 'a+', 0o600);
  });
  // Where our own last line ended. When the file ends elsewhere, someone else wrote, or we broke off.
  let known = 0;
  return {
    write(lines, { sync }) {
      if (lines.length === 0) return;
      attempt(path, () => {
        const { size } = fstatSync(file);
        const text = `${lines.join('\n')}\n`;
        const bytes = Buffer.from(size !== known && isTorn(file, size) ? `\n${text}` : text);
        writeAll(file, bytes);
        known = size + bytes.length;
        if (sync) fdatasyncSync(file);
      });
    },
    close: () => closeSync(file),
  };
}

/** A writer that died in the middle of a line left no newline: the next line must not become a part of it. */
function isTorn(file: number, size: number): boolean {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new HeddleError('store_failed', `The log ${path} cannot be written: ${textOf(cause)}.`, {
      retryable: true,
      hint: 'What was written before is safe, and a line that broke off harms no later one. Make room, or make the folder writable.',
      cause,
      data: { path },
    });
  }
}

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
