// The answer as it is written: partial messages carry the events of the model API, unchanged.
import { join } from 'node:path';
import { query } from 'heddle';

const messages = query({
  prompt: 'Summarize README.md',
  options: {
    model: 'embedded',
    cwd: join(import.meta.dirname, 'sample-project'),
    persistSession: false,
    includePartialMessages: true,
  },
});

let pieces = 0;
for await (const message of messages) {
  if (message.type === 'stream_event') {
    const { event } = message;
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      console.log(`-> ${event.content_block.name}`);
    }
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      pieces += 1;
      process.stdout.write(event.delta.text);
    }
  }
  // Whole messages come too, one for each block: whoever needs no pieces ignores `stream_event`.
  if (message.type === 'result') console.log(`\n\n${pieces} pieces, ${message.subtype}`);
}
