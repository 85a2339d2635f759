/** Changing files: read where permission found them to be, and replaced only while they are as they were read. */
import type { ToolContext } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';

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

const MISSING: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** What is in the file at a judged place; undefined when there is none. */
export async function readThere(real: string, { workspace }: ToolContext): Promise<Uint8Array | undefined> {
  try {
    return await workspace.readFile(real, { maxBytes: MAX_CHANGED_BYTES, exact: true });
  } catch (error) {
    if (error instanceof Error && MISSING.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
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
