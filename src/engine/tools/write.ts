import type { Tool, ToolContext, WriteInput } from '../../protocol/index.js';
import { refuseUnknown } from './ledger.js';
import { createPatch } from './patch.js';
import { resolvePath } from './paths.js';
import { decodeText, isBinary, showText } from './text-file.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

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

interface Target {
  path: string;
  real: string;
  /** Undefined when there is no such file. */
  before?: Uint8Array;
}

/** Looks at the file that is to be replaced. A text refuses. */
async function judge(input: WriteInput, context: ToolContext): Promise<Target | string> {
  const { workspace, ledger } = context;
  const path = resolvePath(context.cwd, input.file_path);
  const real = await workspace.realPath(path);
  const stat = await workspace.stat(path);
  if (stat === undefined) return { path, real };
  if (stat.kind === 'directory') return `EISDIR: illegal operation on a directory, write '${path}'`;
  if (stat.kind === 'other') return `${path} is a device, pipe or socket. Only ordinary files can be written.`;
  const before = await workspace.readFile(path, { maxBytes: MAX_CHANGED_BYTES });
  return refuseUnknown(ledger.compare(real, before)) ?? { path, real, before };
}

export const writeTool: Tool<WriteInput> = {
  name: 'Write',
  description: 'Creates a file, or replaces all of one that has been read before. Use Edit to change a part of a file.',
  inputSchema: inputSchemaOf('Write'),
  parse: (input) => parseToolInput('Write', input),
  isReadOnly: () => false,
  edits: true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'write' }],
  enforce: (input, context) => refusing(() => judge(input, context)),
  async run(input, context) {
    // Time may have passed since `enforce`, for a person was asked: the file is judged again right before the write.
    const target = await judge(input, context);
    if (typeof target === 'string') throw new Error(target);
    const { path, real, before } = target;
    const data = Buffer.from(input.content, 'utf8');
    await context.workspace.writeFile(path, data);
    context.ledger.note(real, data);

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
