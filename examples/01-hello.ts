// One prompt, one answer. Run it with `npm run build`, then `npx node examples/01-hello.ts`.
import { join } from 'node:path';
import { query } from 'heddle';

const messages = query({
  prompt: 'How many TypeScript files are there?',
  options: {
    // Offline and without a key. With ANTHROPIC_API_KEY set, leave it out or name a model, such as 'sonnet'.
    model: 'embedded',
    cwd: join(import.meta.dirname, 'sample-project'),
    persistSession: false,
  },
});

for await (const message of messages) {
  if (message.type === 'system' && message.subtype === 'init') {
    console.log(`${message.model} with ${message.tools.join(', ')}`);
  }
  if (message.type === 'assistant') {
    for (const block of message.message.content) {
      if (block.type === 'tool_use') console.log(`-> ${block.name} ${JSON.stringify(block.input)}`);
      if (block.type === 'text') console.log(block.text);
    }
  }
  if (message.type === 'result') {
    const { subtype, num_turns, duration_ms, total_cost_usd } = message;
    console.log(`${subtype}: ${num_turns} turns, ${duration_ms} ms, $${total_cost_usd.toFixed(4)}`);
  }
}
