// Tools of one's own in a project that has stayed with zod 3.
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

const add = tool(
  'add',
  'Adds numbers',
  {
    a: z.number().int(),
    b: z.number().default(1),
    note: z.string().optional(),
    mode: z.enum(['exact', 'rough']).nullable(),
  },
  async ({ a, b, note, mode }) => {
    const sum: number = a + b;
    const rounded = mode === 'rough' ? Math.round(sum / 10) * 10 : sum;
    return { content: [{ type: 'text', text: `${rounded}${note === undefined ? '' : ` ${note.trim()}`}` }] };
  },
);

for await (const message of query({
  prompt: 'What is 2 and 1?',
  options: {
    model: 'claude-sonnet-4-6',
    mcpServers: { math: createSdkMcpServer({ name: 'math', tools: [add] }) },
    allowedTools: ['mcp__math__add'],
    settingSources: [],
  },
})) {
  if (message.type === 'user' && Array.isArray(message.message.content)) {
    for (const block of message.message.content) {
      if (block.type === 'tool_result')
        console.log(block.is_error ? 'error:' : 'result:', JSON.stringify(block.content));
    }
  }
  if (message.type === 'result') console.log(message.subtype);
}
