/** Changing files: read where permission found them to be, and replaced only while they are as they were read. */
import type { ToolContext } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';
import { showSize } from './ordinary-file.js';

/** Larger files are neither compared nor replaced. */
export const MAX_CHANGED_BYTES = 64 * 1024 * 1024;
/** Results carry what was there before, up to this much text. */
const MAX_ORIGINAL = 1024 * 1024;

/** The old text for the consumer; null for a new file, a binary one, and one too large to send about. */
export function originalFor(text: string | undefined): string | null {
  return text === undefined || text.length > MAX_ORIGINAL ? null : text;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What `check` refuses, with the errors of the file system as refusals too. */
export async function refusing<T>(check: () => Promise<T | string>): Promise<string | undefined> {
  try {
    const outcome = await check();
    return typeof outcome === 'string' ? outcome : undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Why nothing can be written under that name. Without its last slash it would be another one. */
export function refuseFolderName(path: string): string | undefined {
  if (!/(^|\/)\.{0,2}$/.test(path)) return undefined;
  return `${path} is the name of a folder. Give the path of a file.`;
}

/** Why a text of the model cannot be stored; `name` is its parameter. */
export function refuseBrokenText(name: string, text: string): string | undefined {
  if (text.isWellFormed()) return undefined;
  const line = text.slice(0, text.search(/\p{Surrogate}/u)).split('\n').length;
  return `The parameter \`${name}\` has half of a surrogate pair in its line ${line}. Give the whole character.`;
}

/** Why a file of that size is not written: no tool could change it again. */
export function refuseSize(bytes: number): string | undefined {
  if (bytes <= MAX_CHANGED_BYTES) return undefined;
  return (
    `The file would become larger than ${showSize(MAX_CHANGED_BYTES)}, the most that file tools can change; nothing ` +
    'was written. Use a program with Bash if you mean it.'
  );
}

const MISSING: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** What is in the file at a judged place; undefined when there is none. */
export async function readThere(real: string, { workspace }: ToolContext): Promise<Uint8Array | undefined> {
  try {
    return await workspace.readFile(real, { maxBytes: MAX_CHANGED_BYTES, exact: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (MISSING.includes(code)) return undefined;
    if (code !== 'EFBIG') throw error;
    throw new Error(
      `${real} is larger than ${showSize(MAX_CHANGED_BYTES)}, the most that file tools can change. Use a program such ` +
        'as sed with Bash.',
      { cause: error },
    );
  }
}

export interface Replacement {
  /** The judged place. */
  real: string;
  /** What the change was worked out on; undefined for a file that was not there. */
  before: Uint8Array | undefined;
  data: Uint8Array;
}

/** Looks once more right before it writes, since another program may have been quicker. Throws when it was. */
export async function replaceFile(context: ToolContext, { real, before, data }: Replacement): Promise<void> {
  const tooLarge = refuseSize(data.length);
  if (tooLarge !== undefined) throw new Error(tooLarge);
  const now = await readThere(real, context);
  if (before !== undefined && now === undefined) {
    throw new Error(`${real} was removed since it was checked; nothing was written.`);
  }
  if (before === undefined && now !== undefined) {
    throw new Error(`${real} was made by another program since it was checked; nothing was written. Read it first.`);
  }
  if (before !== undefined && now !== undefined && Buffer.compare(before, now) !== 0) {
    throw new Error(refuseUnknown('changed'));
  }
  await context.workspace.writeFile(real, data, { exact: true });
  context.ledger.note(real, data);
}
