import { closeSync, fdatasyncSync, fstatSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';
import { makeFolders } from '../workspace/folders.js';
import { openOwnFile, readOwnBytes } from '../workspace/own-file.js';

/** The open end of a log. Throws `store_failed` when it cannot be written. */
export interface LogWriter {
  write(lines: readonly string[], options: { sync: boolean }): void;
  close(): void;
}

export function openLogFile(path: string): LogWriter {
  const file = attempt(path, () => {
    makeFolders(dirname(path));
    return openLog(path);
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

/** Opens what is a log, or will be one. A file of someone else is left as it is. */
function openLog(path: string): number {
  const file = openOwnFile(path, 'append');
  try {
    if (isLog(file, fstatSync(file).size)) return file;
    const text = `Nothing is written to ${path}: it is not the log of a session.`;
    throw new HeddleError('session_unreadable', text, { hint: 'It was left as it is. Move it away.', data: { path } });
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** So much of either end is looked at, in a log that was damaged. */
const LOOK_BYTES = 64 * 1024;
const OBJECT = 0x7b;

/** What readers take for a log: some line of it begins like an object. */
function isLog(file: number, size: number): boolean {
  if (size === 0 || readOwnBytes(file, { at: 0, length: 1 })[0] === OBJECT) return true;
  const ends = [0, Math.max(0, size - LOOK_BYTES)];
  return ends.some((at) => readOwnBytes(file, { at, length: LOOK_BYTES }).includes('\n{'));
}

/** A writer that died in the middle of a line left no newline: the next line must not become a part of it. */
function isTorn(file: number, size: number): boolean {
  return size > 0 && readOwnBytes(file, { at: size - 1, length: 1 })[0] !== 0x0a;
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0;
  while (written < bytes.length) written += writeSync(file, bytes, written);
}

function attempt<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof HeddleError) throw cause;
    throw new HeddleError('store_failed', `The log ${path} cannot be written: ${textOf(cause)}.`, {
      retryable: true,
      hint: 'What was written before is safe, and a line that broke off harms no later one. Make room, or make the folder writable.',
      cause,
      data: { path },
    });
  }
}

const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
