import type { WholeTool, ToolContext, WriteInput } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';
import { createPatch } from './patch.js';
import { resolvePath } from './paths.js';
import { originalFor, readThere, refusing, replaceFile } from './replace-file.js';
import { decodeText, isBinary, showText } from './text-file.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

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
  const path = resolvePath(context.cwd, input.file_path);
  const real = context.judgedPath(path);
  const before = await readThere(real, context);
  if (before === undefined) {
    return foundFiles.has(input) ? `${path} was removed since it was checked; nothing was written.` : { path, real };
  }
  foundFiles.add(input);
  return refuseUnknown(context.ledger.compare(real, before)) ?? { path, real, before };
}

export const writeTool: WholeTool<WriteInput> = {
  name: 'Write',
  description: 'Creates a file, or replaces all of one that has been read before. Use Edit to change a part of a file.',
  inputSchema: inputSchemaOf('Write'),
  parse: (input) => parseToolInput('Write', input),
  isReadOnly: () => false,
  edits: true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'write' }],
  enforce: (input, context) => refusing(() => judge(input, context)),
  async run(input, context) {
    // Time may have passed since `enforce`: the file is judged again right before the write.
    const target = await judge(input, context);
    if (typeof target === 'string') throw new Error(target);
    const { path, real, before } = target;
    await replaceFile(context, { real, before, data: Buffer.from(input.content, 'utf8') });

    const shared = { filePath: path, content: input.content, userModified: false };
    if (before === undefined) {
      return {
        content: `File created successfully at: ${path}`,
        structured: { type: 'create', ...shared, structuredPatch: [], originalFile: null },
      };
    }
    const original = isBinary(before) ? undefined : showText(decodeText(before));
    const structuredPatch = original === undefined ? [] : createPatch(original, input.content);
    return {
      content: `The file ${path} has been updated successfully.`,
      structured: { type: 'update', ...shared, structuredPatch, originalFile: originalFor(original) },
    };
  },
};
