import { closeSync, fstatSync, readSync, read as readSoon } from 'node:fs';
import { promisify } from 'node:util';
import { HeddleError } from '../../protocol/plain.js';
import { openOwnFile, type OwnFileOptions } from '../workspace/own-file.js';

/** Small enough that cutting it into lines does not hold up the other sessions of the process. */
const CHUNK_BYTES = 1024 * 1024;
const GLANCE_BYTES = 64 * 1024;
/** A first or last line may hold a picture; beyond this it is not looked for. */
const MAX_GLANCE_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

const readLater = promisify(readSoon);

/** All whole lines of a log. Reads in pieces, so that the event loop turns in between. */
export async function readLog(path: string, options: OwnFileOptions = {}): Promise<string[]> {
  try {
    const lines = await readLines(path, options);
    if (lines.length === 0 || lines.some((line) => line.startsWith('{'))) return lines;
  } catch (cause) {
    throw unreadableError(path, cause);
  }
  throw new HeddleError('session_unreadable', `The file ${path} is not the log of a session.`, {
    hint: 'It was left as it is. Move it away, or start a new session.',
    data: { path },
  });
}

async function readLines(path: string, options: OwnFileOptions): Promise<string[]> {
  const file = openOwnFile(path, 'read', options);
  try {
    const lines: string[] = [];
    let rest: Buffer[] = [];
    for (;;) {
      const { bytesRead, buffer } = await readLater(file, Buffer.allocUnsafeSlow(CHUNK_BYTES), 0, CHUNK_BYTES, null);
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      const end = chunk.lastIndexOf(NEWLINE);
      if (end === -1) {
        rest.push(chunk);
        continue;
      }
      const whole = chunk.subarray(0, end);
      addLines(lines, rest.length === 0 ? whole : Buffer.concat([...rest, whole]));
      rest = [chunk.subarray(end + 1)];
    }
    addLast(lines, Buffer.concat(rest));
    return lines;
  } finally {
    closeSync(file);
  }
}

/** The ends of a log, if it is there. Synchronous: a list of a thousand sessions asks for a thousand of these. */
export function glanceAt(path: string): { head: string[]; tail: string[] } | undefined {
  let file: number | undefined;
  try {
    file = openOwnFile(path, 'read');
    const { size } = fstatSync(file);
    const { lines: head, end } = readHead(file, size);
    return { head, tail: readTail(file, { from: end, size }) };
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw unreadableError(path, cause);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readHead(file: number, size: number): { lines: string[]; end: number } {
  const lines: string[] = [];
  for (let length = GLANCE_BYTES; ; length *= 8) {
    const bytes = readAt(file, 0, Math.min(length, size));
    if (bytes.length === size) {
      const end = bytes.lastIndexOf(NEWLINE);
      addLines(lines, bytes.subarray(0, Math.max(end, 0)));
      addLast(lines, bytes.subarray(end + 1));
      return { lines, end: size };
    }
    const end = bytes.lastIndexOf(NEWLINE);
    if (end === -1 && length < MAX_GLANCE_BYTES) continue;
    addLines(lines, bytes.subarray(0, Math.max(end, 0)));
    return { lines, end: end + 1 };
  }
}

/** `from` is the start of a line. */
function readTail(file: number, { from, size }: { from: number; size: number }): string[] {
  const lines: string[] = [];
  for (let length = GLANCE_BYTES; from < size; length *= 8) {
    const start = Math.max(from, size - length);
    const bytes = readAt(file, start, size - start);
    const first = start === from ? 0 : bytes.indexOf(NEWLINE) + 1;
    const isCut = start !== from && (first === 0 || first === bytes.length);
    if (isCut && length < MAX_GLANCE_BYTES) continue;
    if (isCut) break;
    const end = bytes.lastIndexOf(NEWLINE);
    if (end > first) addLines(lines, bytes.subarray(first, end));
    addLast(lines, bytes.subarray(Math.max(first, end + 1)));
    break;
  }
  return lines;
}

/** Of use for one read at a time: what is read is made a text before the next. */
const shared = Buffer.allocUnsafeSlow(GLANCE_BYTES);

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = length <= shared.length ? shared : Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const count = readSync(file, bytes, read, length - read, position + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

function addLines(lines: string[], bytes: Buffer): void {
  for (const line of bytes.toString('utf8').split('\n')) if (line !== '') lines.push(line);
}

/** A torn last line is left out; one that only lacks its newline is whole, since no prefix of an object is JSON. */
function addLast(lines: string[], bytes: Buffer): void {
  if (bytes.length === 0 || bytes.at(-1) !== 0x7d) return;
  const line = bytes.toString('utf8');
  try {
    JSON.parse(line);
  } catch {
    return;
  }
  lines.push(line);
}

/** The folder is named by its slug, which cannot be turned back; entries carry the real one, and soon. */
export function cwdOf(lines: readonly string[]): string | undefined {
  for (const line of lines.slice(0, 200)) {
    if (!line.includes('"cwd":')) continue;
    const { cwd } = parseObject(line);
    if (isFolderPath(cwd)) return cwd;
  }
  return undefined;
}

/** Of any system: a log may come from another one. What is none leads to no project, or out of it. */
const isFolderPath = (cwd: unknown): cwd is string =>
  typeof cwd === 'string' && /^(?:\/|[a-z]:[\\/]|\\\\)/i.test(cwd) && !cwd.includes('\0');

function parseObject(line: string): { cwd?: unknown } {
  try {
    return (JSON.parse(line) as { cwd?: unknown } | null) ?? {};
  } catch {
    return {};
  }
}

export function unreadableError(path: string, cause: unknown): HeddleError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new HeddleError('session_unreadable', `The log ${path} cannot be read: ${text}.`, {
    hint: 'Nothing was changed. Make it a file that you may read, or start a new session.',
    cause,
    data: { path },
  });
}
