import type { Tool, ToolContext, ToolOutput, ToolResultContentBlock } from '../../protocol/index.js';
import type { McpCallResult } from './connection.js';
import { keepBlocks, toBlocks } from './content.js';
import type { UsableTool } from './definition.js';
import type { McpLink } from './link.js';
import { toPhaseError } from './remote/phase-error.js';

/** Calls a tool of a server by the name that the server has for it. */
export type CallTool = McpLink['call'];

/** More often than this nobody needs to hear that a call gets on. */
const PROGRESS_MS = 250;

/** A tool of a server as one of ours. What a server says of itself is never trusted for permission. */
export function toTool(name: string, tool: UsableTool, { server, call }: { server: string; call: CallTool }): Tool {
  const { description, inputSchema, outputSchema } = tool;
  return {
    name,
    description,
    inputSchema,
    // The server knows its schema best, and answers a wrong input with an error of its own.
    parse: (input) => (typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}),
    isReadOnly: () => false,
    ...(outputSchema && { outputSchema }),
    async run(input, context) {
      const { toolUseId, signal } = context;
      const onProgress = tellProgress(context);
      const result = await call(tool.given.name, input, { toolUseId, signal, onProgress });
      try {
        const kept = { name: toolUseId, keep: context.keep };
        return toOutput(result, { outputSchema, blocks: await keepBlocks(result?.content, kept) });
      } catch (thrown) {
        throw toPhaseError(thrown, { server, phase: 'call', about: tool.given.name, evidence: {} });
      }
    },
  };
}

/** A server that tells of every byte must not flood the session. */
function tellProgress({ clock, progress }: ToolContext): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - last < PROGRESS_MS) return;
    last = now;
    progress();
  };
}

/**
 * What an MCP tool gives back, as ours do. Of a tool with an output schema only `structuredContent` is structured
 * output; of others the consumer sees the content.
 */
export const toToolOutput = (result: McpCallResult, tool: { outputSchema?: unknown } = {}): ToolOutput =>
  toOutput(result, { ...tool, blocks: toBlocks(result?.content) });

function toOutput(
  result: McpCallResult | undefined,
  { outputSchema, blocks }: { outputSchema?: unknown; blocks: ToolResultContentBlock[] },
): ToolOutput {
  const { structuredContent: structured, isError, content } = result ?? {};
  if (isError === true) return { content: errorText(blocks, structured), isError: true };
  if (structured !== undefined && structured !== null) {
    // Its text says the same again; what is no text does not.
    const others = blocks.filter((_, index) => content?.[index]?.type !== 'text');
    const text = JSON.stringify(structured);
    return { content: others.length === 0 ? text : [{ type: 'text', text }, ...others], structured };
  }
  return outputSchema === undefined ? { content: blocks, structured: blocks } : { content: blocks };
}

function errorText(blocks: readonly ToolResultContentBlock[], structured: unknown): string {
  const text = blocks.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
  if (text !== '') return text;
  return structured === undefined ? 'The tool failed, and its server does not say why.' : JSON.stringify(structured);
}
