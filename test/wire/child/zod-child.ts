/** Says after each exchange whether the schema library was asked for. */
import { registerHooks } from 'node:module';
import { PassThrough } from 'node:stream';

let zodWasAskedFor = false;
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'zod') return next(specifier, context);
    zodWasAskedFor = true;
    throw new Error('this test has no zod');
  },
});

const { createMemoryPair, createStdioChannel, Peer } = await import('../../../src/wire/index.js');
let ids = 0;
const clock = {
  now: () => 0,
  monotonic: () => 0,
  random: () => 0,
  uuid: () => String((ids += 1)),
  after: () => () => {},
};

const [left, right] = createMemoryPair();
const host = new Peer(left, { side: 'host', clock });
const engine = new Peer(right, { side: 'engine', clock });
engine.handle('set_model', () => ({ model: 'm' }));
host.send({ type: 'user', message: { role: 'user', content: 'x' }, parent_tool_use_id: null, session_id: 's' });
await host.request('set_model', {});
await engine.messages.next();
const trusted = zodWasAskedFor;

const input = new PassThrough();
const untrusted = new Peer(createStdioChannel({ input, output: new PassThrough() }), { side: 'host', clock });
input.write('{"type":"keep_alive"}\n{"type":"stream_event"}\n');
await untrusted.messages.next();
const deltas = zodWasAskedFor;
input.write('{"type":"user"}\n');
await untrusted.closed;
process.stdout.write(JSON.stringify({ trusted, deltas, messages: zodWasAskedFor }));
