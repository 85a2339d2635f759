import type { ToolContext, ToolOutput, WriteInput } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';
import { createPatch, tellPatch } from './patch.js';
import { resolvePath } from './paths.js';
import { originalFor, readThere, refuseBrokenText, refuseFolderName, refusing, replaceFile } from './replace-file.js';
import { decodeText, isBinary, showText } from './text-file.js';

interface Target {
  path: string;
  real: string;
  /** Undefined when there is no such file. */
  before?: Uint8Array;
}

/** The calls whose file was there when they were checked. */
const foundFiles = new WeakSet<WriteInput>();

/** Looks at the file that is to be replaced. A text refuses. */
async function judge(input: WriteInput, context: ToolContext): Promise<Target | string> {
  const wrong = refuseFolderName(input.file_path) ?? refuseBrokenText('content', input.content);
  if (wrong !== undefined) return wrong;
  const path = resolvePath(context.cwd, input.file_path);
  const real = context.judgedPath(path);
  const before = await readThere(real, context);
  if (before === undefined) {
    return foundFiles.has(input) ? `${path} was removed since it was checked; nothing was written.` : { path, real };
  }
  foundFiles.add(input);
  return refuseUnknown(context.ledger.compare(real, before)) ?? { path, real, before };
}

export const refuseWrite = (input: WriteInput, context: ToolContext): Promise<string | undefined> =>
  refusing(() => judge(input, context));

export async function runWrite(input: WriteInput, context: ToolContext): Promise<ToolOutput> {
  // Time may have passed since `enforce`: the file is judged again right before the write.
  const target = await judge(input, context);
  if (typeof target === 'string') throw new Error(target);
  const { path, real, before } = target;
  const original = before === undefined || isBinary(before) ? undefined : showText(decodeText(before));
  // Before the write: what fails must not fail behind it.
  const patch = original === undefined ? { hunks: [], cut: false } : createPatch(original, input.content);
  await replaceFile(context, { real, before, data: Buffer.from(input.content, 'utf8') });

  const isNew = before === undefined;
  return {
    content: isNew ? `File created successfully at: ${path}` : `The file ${path} has been updated successfully.`,
    structured: {
      type: isNew ? 'create' : 'update',
      filePath: path,
      content: input.content,
      userModified: false,
      ...tellPatch(patch),
      originalFile: originalFor(original),
    },
  };
}
