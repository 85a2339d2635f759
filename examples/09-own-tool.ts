// Tools of your own without an MCP server: a plain object, or tool() with zod. See docs/tools.md.
import { query, tool, type Tool } from 'heddle';
import { collect, createScriptedModel, toolResults } from 'heddle/testing';
import { z } from 'zod';

const PRICES: Record<string, number> = { indigo: 4.5, madder: 3.75, weld: 3.25 };

// The ten lines of a tool. Its input is checked against the schema before anyone is asked about the call.
const yarnPrice: Tool<{ colour: string }> = {
  name: 'yarn_price',
  description: 'What a spool of yarn costs, in euros',
  inputSchema: {
    type: 'object',
    properties: { colour: { type: 'string', enum: Object.keys(PRICES) } },
    required: ['colour'],
  },
  isReadOnly: () => true, // it changes nothing, so it runs unasked
  run: async ({ colour }) => ({ content: `${PRICES[colour]}` }),
};

// With zod: the handler's arguments are typed, and what it returns as data is checked as well.
const order = tool(
  'order',
  'Orders yarn',
  { colour: z.string(), spools: z.number().int().min(1) },
  async ({ colour, spools }) => ({ content: [], structuredContent: { total: (PRICES[colour] ?? NaN) * spools } }),
  { outputSchema: { total: z.number() } },
);

const model = createScriptedModel([
  { toolUse: { name: 'yarn_price', input: { colour: 'purple' } } },
  { toolUse: { name: 'yarn_price', input: { colour: 'indigo' } } },
  { toolUse: { name: 'order', input: { colour: 'indigo', spools: 3 } } },
  { toolUse: { name: 'order', input: { colour: 'purple', spools: 3 } } },
  'Ordered: three spools of indigo.',
]);

const messages = await collect(
  query({
    prompt: 'Order three spools of purple yarn. Indigo will do.',
    options: {
      tools: [], // none of the built-in tools
      canUseTool: async (name, input) => {
        console.log(`asked: ${name}`, input);
        return { behavior: 'allow' };
      },
      persistSession: false,
      heddle: { provider: model, tools: [yarnPrice, order] },
    },
  }),
);

for (const { name, input, isError, text } of toolResults(messages)) {
  console.log(`${name} ${JSON.stringify(input)} -> ${isError ? 'error: ' : ''}${text.split('\n').at(-1)}`);
}
model.assertDone();
