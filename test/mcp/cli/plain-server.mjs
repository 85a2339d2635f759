// A server of a few lines. It fails when the credentials of the engine reach it.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

if (process.env.ANTHROPIC_API_KEY !== undefined) process.exit(9);
const more = process.env.TOOLS ? JSON.parse(readFileSync(process.env.TOOLS, 'utf8')) : [];
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'plain', version: '1.0' },
  },
  'tools/list': { tools: [{ name: 'seen', description: '', inputSchema: { type: 'object' } }, ...more] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }));
}
