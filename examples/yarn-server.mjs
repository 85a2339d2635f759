// An MCP server of your own: JSON-RPC, one message per line, nothing to install. Used by 10-own-stdio-server.ts.
import { createInterface } from 'node:readline';

const PRICES = { indigo: 4.5, madder: 3.75, weld: 3.25 };
const properties = { colour: { type: 'string' }, spools: { type: 'number' } };
const inputSchema = { type: 'object', properties, required: ['colour'] };
const yarnPrice = { name: 'yarn_price', description: 'What spools of yarn cost, in euros', inputSchema };
const say = (text, isError) => ({ content: [{ type: 'text', text }], isError });
const unknownMethod = { error: { code: -32601, message: 'Method not found' } };

const methods = {
  initialize({ protocolVersion }) {
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'yarn', version: '1.0' } };
  },
  ping: () => ({}),
  'tools/list': () => ({ tools: [yarnPrice] }),
  'tools/call'({ name, arguments: { colour, spools = 1 } = {} }) {
    if (name !== yarnPrice.name) return say(`There is no tool ${name}.`, true);
    if (!Object.hasOwn(PRICES, colour)) return say(`There is no ${colour} yarn.`, true);
    return say((PRICES[colour] * spools).toFixed(2), false);
  },
};

// Only the protocol is written to stdout; logs go to stderr.
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  const isKnown = Object.hasOwn(methods, method);
  const answer = isKnown ? { result: methods[method](params) } : unknownMethod;
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}
