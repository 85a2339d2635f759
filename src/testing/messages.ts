/** Finds what a test looks for among the messages of a run. */
import type { Message, ResultMessage } from '../protocol/index.js';

/** All messages of a query, or of anything else that gives messages. Rejects with what the query throws. */
export async function collect<M = Message>(query: AsyncIterable<M>): Promise<M[]> {
  const messages: M[] = [];
  for await (const message of query) messages.push(message);
  return messages;
}

/** The result of the last turn. Throws when there is none. */
export function lastResult(messages: readonly Message[]): ResultMessage {
  const result = messages.findLast((message) => message.type === 'result');
  if (result === undefined) throw new Error(`There is no result among the ${messages.length} messages.`);
  return result;
}

/** A tool call and what came of it. */
export interface ToolResultFacts {
  id: string;
  /** Undefined when the call itself is not among the messages. */
  name: string | undefined;
  input: Record<string, unknown> | undefined;
  isError: boolean;
  /** What the model was told. Blocks that are no text appear as `[image]` and so on. */
  text: string;
  /** What the tool returned as data. */
  structured: unknown;
}

/** The results of all tool calls, in the order in which they came. */
export function toolResults(messages: readonly Message[]): ToolResultFacts[] {
  const calls = new Map<string, { name: string; input: Record<string, unknown> }>();
  const results: ToolResultFacts[] = [];
  for (const message of messages) {
    if (message.type === 'assistant') {
      for (const block of message.message.content) if (block.type === 'tool_use') calls.set(block.id, block);
    }
    if (message.type !== 'user' || typeof message.message.content === 'string') continue;
    for (const block of message.message.content) {
      if (block.type !== 'tool_result') continue;
      const call = calls.get(block.tool_use_id);
      results.push({
        id: block.tool_use_id,
        name: call?.name,
        input: call?.input,
        isError: block.is_error === true,
        text: textOfResult(block.content),
        structured: message.tool_use_result,
      });
    }
  }
  return results;
}

/** The result of one call. Throws when there is none. */
export function toolResult(messages: readonly Message[], id: string): ToolResultFacts {
  const results = toolResults(messages);
  const found = results.find((result) => result.id === id);
  if (found !== undefined) return found;
  const known = results.map((result) => result.id).join(', ');
  throw new Error(
    `There is no result for the call ${id}. ${known === '' ? 'There are none at all.' : `There are: ${known}.`}`,
  );
}

/** The content of a tool result as text. */
export function textOfResult(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: { type: string; text?: unknown }) => (typeof block.text === 'string' ? block.text : `[${block.type}]`))
    .join('\n');
}
