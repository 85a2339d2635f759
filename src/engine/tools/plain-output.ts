/** What a tool of the app or of a server gave, as something that can be kept and sent; built-in tools need no look. */
import type { ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';

/** Throws an error that says what is wrong with the result. */
export function toPlainOutput(name: string, given: unknown): ToolOutput {
  const { content, isError, structured } = (given ?? {}) as Partial<ToolOutput>;
  if (typeof content !== 'string' && !Array.isArray(content)) {
    throw new Error(`${name} gave no result: its function run must return { content }.`);
  }
  if (Array.isArray(content)) checkBlocks(name, content);
  return {
    content,
    ...(isError === true && { isError }),
    ...(structured !== undefined && { structured: toPlain(name, structured) }),
  };
}

function checkBlocks(name: string, blocks: readonly unknown[]): asserts blocks is ToolResultContentBlock[] {
  for (const [index, block] of blocks.entries()) {
    const { type, text, source } = (block ?? {}) as { type?: unknown; text?: unknown; source?: unknown };
    const isUsable =
      typeof type === 'string' &&
      (type !== 'text' || typeof text === 'string') &&
      (type !== 'image' || (typeof source === 'object' && source !== null));
    if (!isUsable) throw new Error(`${name} gave a result that cannot be used: content[${index}] is no content block.`);
  }
}

/** What JSON cannot hold cannot be logged. */
function toPlain(name: string, structured: unknown): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(structured, (_, value: unknown) =>
      ArrayBuffer.isView(value) ? `[${value.byteLength} bytes]` : value,
    );
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Error(`${name} gave a structured result that is not JSON: ${why}`, { cause: thrown });
  }
  if (text === undefined) throw new Error(`${name} gave a structured result that is not JSON.`);
  return JSON.parse(text);
}
