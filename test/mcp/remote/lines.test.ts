import { describe, expect, it } from 'vitest';
import { createLineReader } from '../../../src/engine/mcp/remote/lines.js';

function read(chunks: readonly Uint8Array[]) {
  const seen: { messages: unknown[]; garbage: string[]; floods: string[] } = { messages: [], garbage: [], floods: [] };
  const take = createLineReader({
    message: (message) => void seen.messages.push(message),
    garbage: (text) => void seen.garbage.push(text),
    flood: (error) => void seen.floods.push(error.message),
  });
  for (const chunk of chunks) take(chunk);
  return seen;
}

const message = (id: number, more: object = {}) => ({ jsonrpc: '2.0', id, ...more });
const bytes = (text: string) => new TextEncoder().encode(text);

describe('lines of a server on stdio', () => {
  it('come in any pieces', () => {
    const messages = [message(1, { text: 'ä\u2028 🧵' }), message(2), message(3, { text: 'x'.repeat(3_000) })];
    const whole = bytes(`${messages.map((each) => JSON.stringify(each)).join('\r\n')}\n\n`);
    for (const size of [1, 2, 3, 7, 64, 1_000, whole.length]) {
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
        whole.subarray(at * size, (at + 1) * size),
      );
      expect(read(chunks)).toEqual({ messages, garbage: [], floods: [] });
    }
  });

  it('may be batches', () => {
    const text = JSON.stringify([message(1), message(2)]);
    expect(read([bytes(`${text}\n`)]).messages).toEqual([message(1), message(2)]);
  });

  it('that are no messages are garbage', () => {
    const lines = ['hello', '{', '[]', '[1]', '7', 'null', '{"jsonrpc":"1.0"}', '{}'];
    expect(read([bytes(`${lines.join('\n')}\n`)])).toEqual({ messages: [], garbage: lines, floods: [] });
  });

  it('of more than 16 MB end it, in one piece or in many', () => {
    const block = bytes('x'.repeat(1 << 20));
    const many = Array.from({ length: 40 }, () => block);
    expect(read(many).floods).toEqual(['it sent a message of more than 16 MB']);
    expect(read([...many.slice(0, 16), bytes('xy\n')]).floods).toEqual(['it sent a message of more than 16 MB']);
    expect(read([bytes(`${'x'.repeat(17 << 20)}\n`)]).floods).toEqual(['it sent a message of more than 16 MB']);
  });

  it('of a little less pass', () => {
    const large = message(1, { text: 'x'.repeat((16 << 20) - 100) });
    expect(read([bytes(`${JSON.stringify(large)}\n`)]).messages).toHaveLength(1);
  });
});
