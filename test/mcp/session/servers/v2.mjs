// A server on stdio, made with version 2 of the public packages.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'two', version: '2.0.0' });
const said = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});

server.registerTool(
  'add',
  {
    description: 'Adds',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() }),
  },
  async ({ a, b }) => ({ ...said(String(a + b)), structuredContent: { sum: a + b } }),
);
server.registerTool('form', { description: 'Asks', inputSchema: z.object({}) }, async (_, { mcpReq }) => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  return said(await mcpReq.elicitInput({ message: 'Who are you?', requestedSchema }));
});

await server.connect(new StdioServerTransport());
