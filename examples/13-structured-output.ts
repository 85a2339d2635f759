// An answer with a shape: zod describes it, and the turn ends with a value that matches or with an error. See docs/structured-output.md.
import { join } from 'node:path';
import { query } from 'heddle';
import { createScriptedModel } from 'heddle/testing';
import { z } from 'zod';

const Order = z.object({
  items: z.array(z.object({ colour: z.string(), metres: z.number().int().min(1) })),
  urgent: z.boolean(),
});

const weld = { colour: 'weld', metres: 210 };
const model = createScriptedModel([
  { toolUse: { name: 'Read', input: { file_path: 'data/stock.csv' } } },
  'Order 210 metres of weld.', // the model forgets that a value is wanted, and is told so
  { toolUse: { name: 'StructuredOutput', input: { items: [{ ...weld, metres: '210' }], urgent: false } } },
  { toolUse: { name: 'StructuredOutput', input: { items: [weld], urgent: false } } },
]);

for await (const message of query({
  prompt: 'What must be ordered?',
  options: {
    cwd: join(import.meta.dirname, 'sample-project'),
    // A JSON Schema works as well.
    outputFormat: { type: 'json_schema', schema: Order },
    persistSession: false,
    heddle: { provider: model },
  },
})) {
  if (message.type === 'user' && Array.isArray(message.message.content)) {
    for (const block of message.message.content) {
      if (block.type === 'tool_result' && block.is_error) console.log(`told:  ${JSON.stringify(block.content)}`);
    }
  }
  if (message.type !== 'result') continue;
  if (message.subtype === 'success') {
    const { items, urgent } = Order.parse(message.structured_output);
    for (const { colour, metres } of items) console.log(`order: ${metres} m of ${colour}${urgent ? ', now' : ''}`);
  } else {
    console.log(`no value: ${message.subtype}`);
  }
}
model.assertDone();
