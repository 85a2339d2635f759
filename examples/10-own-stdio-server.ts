// An MCP server of your own as a process: yarn-server.mjs beside this file, 30 lines in plain JavaScript. See docs/mcp.md.
import { fileURLToPath } from 'node:url';
import { query } from 'heddle';
import { collect, createScriptedModel, toolResults } from 'heddle/testing';

const server = fileURLToPath(new URL('yarn-server.mjs', import.meta.url));

// A script stands in for the model: one call with a colour that there is not, one that is right, then the answer.
const model = createScriptedModel([
  { toolUse: { name: 'mcp__yarn__yarn_price', input: { colour: 'purple', spools: 3 } } },
  { toolUse: { name: 'mcp__yarn__yarn_price', input: { colour: 'indigo', spools: 3 } } },
  'Three spools of indigo cost 13.50 euros.',
]);

const messages = await collect(
  query({
    prompt: 'What do three spools of purple yarn cost? Indigo will do.',
    options: {
      // The same in a file: heddle mcp add yarn node yarn-server.mjs
      mcpServers: { yarn: { command: process.execPath, args: [server] } },
      allowedTools: ['mcp__yarn__yarn_price'],
      tools: [],
      persistSession: false,
      heddle: { provider: model },
    },
  }),
);

for (const { name, input, isError, text } of toolResults(messages)) {
  console.log(`${name} ${JSON.stringify(input)} -> ${isError ? 'error: ' : ''}${text.split('\n')[0]}`);
}
const last = messages.at(-1);
if (last?.type === 'result' && last.subtype === 'success') console.log(last.result);
model.assertDone();
