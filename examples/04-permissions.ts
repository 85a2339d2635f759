// Your program decides: reading in the folder runs unasked, everything else is put to canUseTool.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CanUseTool, query } from 'heddle';
import { createScriptedModel } from 'heddle/testing';

const folder = mkdtempSync(join(tmpdir(), 'heddle-example-'));
writeFileSync(join(folder, 'stock.csv'), 'indigo,12\nweld,3\n');

const model = createScriptedModel([
  { toolUse: { name: 'Read', input: { file_path: 'stock.csv' } } },
  { toolUse: { name: 'Write', input: { file_path: 'order.txt', content: 'weld: 9 spools\n' } } },
  { toolUse: { name: 'Bash', input: { command: 'rm stock.csv' } } },
  'The order is written. I was not allowed to remove the stock list.',
]);

// Without `updatedInput` the call runs as it was judged. A callback that throws denies the call.
const canUseTool: CanUseTool = async (name, input, { decisionReason }) => {
  console.log(`asked: ${name} (${decisionReason?.replace(folder, '.')})`);
  if (name === 'Write') return { behavior: 'allow', updatedInput: { ...input, file_path: 'draft.txt' } };
  return { behavior: 'deny', message: 'Nothing is removed here.' };
};

for await (const message of query({
  prompt: 'Order what runs low, then remove the stock list.',
  options: { cwd: folder, canUseTool, persistSession: false, heddle: { provider: model } },
})) {
  if (message.type === 'assistant') {
    for (const block of message.message.content) {
      if (block.type === 'tool_use') console.log(`call:  ${block.name} ${JSON.stringify(block.input)}`);
      if (block.type === 'text') console.log(`says:  ${block.text}`);
    }
  }
  if (message.type === 'result') {
    for (const denied of message.permission_denials) console.log('denied:', denied.tool_name, denied.tool_input);
  }
}
console.log(`files: ${readdirSync(folder).toSorted().join(', ')}`);
rmSync(folder, { recursive: true });
