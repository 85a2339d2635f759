/** A program that speaks over its own stdio; the first argument says what it does. */
import { randomUUID } from 'node:crypto';
import type { Clock, Message } from '../../../src/protocol/index.js';
import { createStdioChannel, Peer } from '../../../src/wire/index.js';

const clock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  uuid: randomUUID,
  random: Math.random,
  after(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  },
};

const delta = (n: number): Message => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `${n},` } },
  parent_tool_use_id: null,
  session_id: 's',
  uuid: 'u',
});

const channel = createStdioChannel({ input: process.stdin, output: process.stdout });
const peer = new Peer(channel, { side: 'engine', clock });
const [, , task, count = '0'] = process.argv;

if (task === 'echo') {
  peer.handle('set_model', ({ model }) => ({ model: `resolved-${model}` }));
  for await (const message of peer.messages) peer.send(message);
  peer.end();
} else if (task === 'flood') {
  for (let n = 0; n < Number(count); n += 1) peer.send(delta(n));
  process.stderr.write(`buffered ${channel.buffered}\n`);
  await channel.flushed();
  process.exit(0);
} else {
  const timer = setInterval(() => peer.send(delta(0)), 1);
  const reason = await peer.closed;
  clearInterval(timer);
  await channel.flushed();
  process.stderr.write(`closed: ${(reason as { code?: string } | undefined)?.code}\n`);
}
