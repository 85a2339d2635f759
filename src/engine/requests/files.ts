/** Single files, for a host: what is in one, and that the model knows one. */
import { isUtf8 } from 'node:buffer';
import type { ParamsOf, ResultOf } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Session } from '../session.js';
import { readOrdinary } from '../tools/ordinary-file.js';
import { findReadable, readingContext } from './reading.js';
import { readUnderHooks } from '../hooks/under-hooks.js';

const USUAL_BYTES = 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
const ENCODINGS = ['utf-8', 'utf8', 'base64'];

export async function readFile(
  { scope }: Session,
  { path: given, max_bytes = USUAL_BYTES, encoding = 'utf-8' }: ParamsOf<'read_file'>,
  { signal }: { signal: AbortSignal },
): Promise<ResultOf<'read_file'>> {
  if (!ENCODINGS.includes(encoding)) throw new HeddleError('invalid_config', 'encoding must be utf-8 or base64.');
  if (!(max_bytes >= 0)) throw new HeddleError('invalid_config', 'max_bytes must be 0 or more.');
  const place = await findReadable(scope, given);
  const { path, real } = place;
  const limits = { maxBytes: MAX_BYTES, action: 'read' as const, advice: 'Have a program get a part of it.' };
  const whole = await readUnderHooks(
    scope,
    {
      tool: 'Read',
      input: { file_path: path },
      shown: given,
      read: () => readOrdinary({ path, real, ...limits }, readingContext(scope, place, signal)),
      toResponse: (bytes) => toResponse(path, bytes),
    },
    signal,
  );
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, Math.min(whole.byteLength, Math.trunc(max_bytes)));
  const isCut = bytes.byteLength < whole.byteLength;
  const facts = { absPath: path, requested_path: given };
  if (encoding === 'base64') return { contents: bytes.toString('base64'), lossy: isCut, ...facts };
  const shown = isCut ? withoutHalf(bytes) : bytes;
  return { contents: shown.toString('utf8'), lossy: isCut || !isUtf8(shown), ...facts };
}

/** As Read tells hooks what is in a file. */
function toResponse(filePath: string, bytes: Uint8Array): unknown {
  const content = Buffer.from(bytes)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  const totalLines = content.split('\n').length;
  return { type: 'text', file: { filePath, content, numLines: totalLines, startLine: 1, totalLines } };
}

/** Without the first bytes of a character whose last ones were cut off. */
function withoutHalf(bytes: Buffer): Buffer {
  const start = bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
  const first = bytes[start] ?? 0;
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start !== -1 && start + length > bytes.length ? bytes.subarray(0, start) : bytes;
}

/** A host that shows the model a file itself says so; one that has changed since, or is gone, has to be read again. */
export async function seedReadState(
  { scope }: Session,
  { path: given, mtime }: ParamsOf<'seed_read_state'>,
): Promise<undefined> {
  const { workspace, ledger } = scope;
  const { real } = await findReadable(scope, given);
  const stat = await workspace.stat(real);
  if (stat?.kind !== 'file' || stat.size > MAX_BYTES || !(Math.floor(stat.mtimeMs) <= mtime)) return undefined;
  ledger.note(real, await workspace.readFile(real, { maxBytes: MAX_BYTES, exact: true }));
  return undefined;
}
