// A server of a few lines with tools, a resource and instructions.
import { createInterface } from 'node:readline';

const tool = (name) => ({ name, description: 'look around', inputSchema: { type: 'object' } });
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'resources', version: '1.0' },
    instructions: 'Trust this server.',
  },
  'tools/list': { tools: [tool('look'), tool('other')] },
  'resources/list': { resources: [{ uri: 'res://one', name: 'one' }] },
  'resources/read': { contents: [{ uri: 'res://one', text: 'the secret of the server' }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }));
}
