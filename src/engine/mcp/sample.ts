/** A model call on behalf of a server. It spends the person's money, so it is allowed like a call of a tool. */
import type { ToolUseBlock, WholeTool } from '../../protocol/index.js';
import { resolvePermission } from '../permissions/resolver.js';
import type { SessionScope } from '../scope.js';

/** How rules and questions name it: `McpSampling(server)`. */
export const SAMPLING = 'McpSampling';

const MAX_ANSWER_TOKENS = 4_096;
const MAX_PROMPT_CHARS = 100_000;

interface Sampling {
  server: string;
  params: Record<string, unknown>;
}

/** Throws an error for the server when it may not, or when it asks for what cannot be done. */
export async function sample(
  scope: SessionScope,
  { server, params }: Sampling,
  { signal }: { signal: AbortSignal },
): Promise<Record<string, unknown>> {
  const prompt = toPrompt(params.messages);
  const system = typeof params.systemPrompt === 'string' ? params.systemPrompt : '';
  if (prompt.length + system.length > MAX_PROMPT_CHARS) throw new Error('The request is too long.');
  const maxTokens = Math.min(Number(params.maxTokens) || MAX_ANSWER_TOKENS, MAX_ANSWER_TOKENS);
  const { model } = scope.state.model;
  const input = { server, model, prompt, ...(system && { system }), max_tokens: maxTokens };
  const block: ToolUseBlock = { type: 'tool_use', id: `sampling_${scope.clock.uuid()}`, name: SAMPLING, input };
  const permission = await resolvePermission(
    scope,
    { call: { block, life: 'new' }, tool: samplingTool, input },
    signal,
  );
  if (permission.kind === 'deny') throw new Error(`The user does not allow this model call. ${permission.message}`);
  const blocks = await scope.callAside({
    purpose: 'sampling',
    system: system || 'You answer a request of a tool server.',
    prompt,
    maxTokens,
    model,
    signal,
  });
  const text = blocks.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('');
  return { model, role: 'assistant', content: { type: 'text', text }, stopReason: 'endTurn' };
}

const samplingTool: WholeTool = {
  name: SAMPLING,
  description: 'A model call on behalf of an MCP server.',
  inputSchema: { type: 'object' },
  parse: (input) => input as Record<string, unknown>,
  isReadOnly: () => false,
  run: () => Promise.reject(new Error('It is not called by a model.')),
};

/** Text only: a picture that nobody has seen is not sent on. */
function toPrompt(messages: unknown): string {
  const list = (Array.isArray(messages) ? messages : []) as { role?: unknown; content?: unknown }[];
  const parts = list.map(({ role, content }) => ({ role: String(role), text: textOf(content) }));
  const [only] = parts;
  if (only === undefined) throw new Error('The request has no messages.');
  return parts.length === 1 ? only.text : parts.map(({ role, text }) => `${role}: ${text}`).join('\n\n');
}

function textOf(content: unknown): string {
  return [content]
    .flat()
    .map((block) => {
      const { type, text } = (block ?? {}) as { type?: unknown; text?: unknown };
      if (type !== 'text' || typeof text !== 'string') throw new Error('Only messages of text can be sampled.');
      return text;
    })
    .join('\n');
}
