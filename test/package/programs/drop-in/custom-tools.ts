// Tools of one's own, with zod 4.
import { createSdkMcpServer, query, tool, type SdkMcpToolDefinition } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

const weatherShape = {
  city: z.string().describe('The city'),
  unit: z.enum(['celsius', 'fahrenheit']).default('celsius').describe('Of the temperature'),
  days: z.number().int().min(1).max(7).optional(),
};

const weather: SdkMcpToolDefinition<typeof weatherShape> = tool(
  'get_weather',
  'The weather of a city',
  weatherShape,
  async (args) => {
    const unit: 'celsius' | 'fahrenheit' = args.unit;
    const days: number | undefined = args.days;
    return { content: [{ type: 'text', text: `${args.city}: 18 ${unit}, ${days ?? 1} day` }] };
  },
  { annotations: { readOnlyHint: true, openWorldHint: true } },
);

const fails = tool('always_fails', 'Fails', {}, async () => {
  throw new Error('out of order');
});

const server = createSdkMcpServer({ name: 'weather', version: '1.0.0', tools: [weather, fails] });

const run = query({
  prompt: 'What is the weather in Tartu?',
  options: {
    model: 'claude-sonnet-4-6',
    mcpServers: { weather: server, remote: { type: 'sdk', name: 'weather', instance: server.instance } },
    allowedTools: ['mcp__weather__get_weather', 'mcp__weather__always_fails'],
    settingSources: [],
  },
});

for await (const message of run) {
  if (message.type === 'user' && Array.isArray(message.message.content)) {
    for (const block of message.message.content) {
      if (block.type === 'tool_result')
        console.log(block.is_error ? 'error:' : 'result:', JSON.stringify(block.content));
    }
  }
  if (message.type === 'result') console.log(message.subtype, message.subtype === 'success' ? message.result : '');
}
