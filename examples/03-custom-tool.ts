// A tool of your own: zod describes its input, and the model sees it as mcp__<server>__<tool>.
import { createSdkMcpServer, query, tool } from 'heddle';
import { createScriptedModel, toolResults } from 'heddle/testing';
import type { Message } from 'heddle';
import { z } from 'zod';

const PRICES = { indigo: 4.5, madder: 3.75, weld: 3.25 };

const yarnPrice = tool(
  'yarn_price',
  'What spools of yarn cost, in euros',
  { colour: z.enum(['indigo', 'madder', 'weld']), spools: z.number().int().min(1) },
  async ({ colour, spools }) => ({ content: [{ type: 'text', text: (PRICES[colour] * spools).toFixed(2) }] }),
);

// A script stands in for the model: one call with a wrong input, one that is right, then the answer.
const model = createScriptedModel([
  { toolUse: { name: 'mcp__shop__yarn_price', input: { colour: 'purple', spools: 3 } } },
  { toolUse: { name: 'mcp__shop__yarn_price', input: { colour: 'indigo', spools: 3 } } },
  'Three spools of indigo cost 13.50 euros.',
]);

const messages: Message[] = [];
for await (const message of query({
  prompt: 'What do three spools of purple yarn cost? Indigo will do.',
  options: {
    mcpServers: { shop: createSdkMcpServer({ name: 'shop', tools: [yarnPrice] }) },
    allowedTools: ['mcp__shop__yarn_price'],
    persistSession: false,
    heddle: { provider: model },
  },
})) {
  messages.push(message);
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result);
}

for (const { name, input, isError, text } of toolResults(messages)) {
  console.log(`${name} ${JSON.stringify(input)} -> ${isError ? 'error: ' : ''}${text.split('\n')[0]}`);
}
model.assertDone();
