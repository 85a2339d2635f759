// A server on stdio, made with version 1 of the public packages. Variables of its environment say how it answers.
import { appendFileSync, existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const { CANARY, INSTRUCTIONS, APPROVE, JUDGE } = process.env;
if (CANARY) appendFileSync(CANARY, 'started\n');

const server = new McpServer(
  { name: 'one', version: '1.0.0' },
  { capabilities: { logging: {} }, ...(INSTRUCTIONS && { instructions: INSTRUCTIONS }) },
);
const said = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
});
const any = z.object({}).passthrough();
const tool = (name, handler, inputSchema = any) =>
  server.registerTool(name, { description: name, inputSchema }, handler);

tool('echo', async (input) => said(input));
tool('pid', async () => said(String(process.pid)));
tool('environment', async () => said(process.env));
tool('die', async () => {
  process.stderr.write('out of yarn\n');
  process.exit(3);
});
tool('form', async () => {
  const requestedSchema = {
    type: 'object',
    properties: { name: { type: 'string', title: 'Name' }, age: { type: 'integer', minimum: 0 } },
    required: ['name'],
  };
  return said(await server.server.elicitInput({ message: 'Who are you?', requestedSchema }));
});
tool('page', async ({ url }) =>
  said(await server.server.elicitInput({ mode: 'url', message: 'Log in', url, elicitationId: 'e1' })),
);
tool('sample', async ({ prompt = 'Say something' }) => {
  const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
  return said(await server.server.createMessage({ messages, systemPrompt: 'Be brief.', maxTokens: 50 }));
});
// Takes as long as it takes until a file is there.
tool('report', async ({ begun, gate }) => {
  const watcher = watch(dirname(gate));
  const opened = new Promise((resolve) => watcher.on('change', () => existsSync(gate) && resolve()));
  appendFileSync(begun, 'begun\n');
  await opened;
  watcher.close();
  return said('the report');
});
tool('dump', async ({ size }) => said('x'.repeat(size)));
// Answers in the place of a person.
tool('approve', async ({ tool_name, input, tool_use_id }) => {
  if (APPROVE === 'deny') return said({ behavior: 'deny', message: `no ${tool_name} today (${tool_use_id})` });
  if (APPROVE === 'garbage') return said('yes, of course');
  if (APPROVE === 'fail') throw new Error('out of order');
  return said({
    behavior: 'allow',
    ...(APPROVE === 'change' && { updatedInput: { ...input, command: 'touch other' } }),
  });
});
// A hook.
tool('judge', async (input) => {
  if (JUDGE === 'fail') throw new Error('the judge is ill');
  return said((JUDGE ?? '{}').replace('$INPUT', JSON.stringify(JSON.stringify(input)).slice(1, -1)));
});
tool('grow', async () => {
  tool('grown', async () => said('I am new'));
  server.registerPrompt('also', { description: 'Another' }, () => ({ messages: [] }));
  return said('grown');
});

server.registerPrompt(
  'greet',
  { description: 'Greets someone', argsSchema: { name: z.string(), how: z.string().optional() } },
  ({ name, how = 'plainly' }) => ({
    messages: [
      { role: 'user', content: { type: 'text', text: `Greet ${name} ${how}.` } },
      { role: 'assistant', content: { type: 'text', text: `Hello ${name}` } },
    ],
  }),
);
server.registerPrompt('broken', { description: 'Fails' }, () => {
  throw new Error('the loom is jammed');
});

await server.connect(new StdioServerTransport());
