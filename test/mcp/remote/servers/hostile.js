// A server on stdio that behaves as its first argument says.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const [mode, detail] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const result = (id, value) => send({ id, result: value });
const tool = (name, more = {}) => ({ name, description: `The ${name}.`, inputSchema: { type: 'object' }, ...more });
const said = (text) => ({ content: [{ type: 'text', text }] });

let tools = [tool('echo'), tool('hang')];

const tell = (data) => send({ method: 'notifications/message', params: { level: 'info', data: String(data) } });

const LISTS = {
  duplicates: () => ({ tools: [tool('echo', { title: 'first' }), tool('echo', { title: 'second' })] }),
  names: () => ({
    tools: [
      tool('x'.repeat(300)),
      tool(''),
      'no tool',
      tool('a b/c'),
      { ...tool('noSchema'), inputSchema: undefined },
      { ...tool('badSchema'), inputSchema: 7 },
      { ...tool('hugeSchema'), inputSchema: { type: 'object', title: 'y'.repeat(300_000) } },
      tool('hidden', { description: `seen\u001b[2J\u200b\u{e0041}${'z'.repeat(100_000)}` }),
    ],
  }),
  pages: (cursor) => {
    const page = Number(cursor ?? 0);
    return { tools: [tool(`t${page}`)], ...(page < 4 && { nextCursor: String(page + 1) }) };
  },
  endless: (cursor) => {
    const page = Number(cursor ?? 0);
    const many = Array.from({ length: 1_000 }, (_, at) => tool(`t${page}-${at}`));
    return { tools: many, nextCursor: String(page + 1) };
  },
};

/** What each mode does when a tool is called. Others answer. */
const CALLS = {
  die: () => {
    process.stderr.write('the reason is here\n');
    process.exit(3);
  },
  flood: () => {
    // One line of 100 MB.
    const block = 'x'.repeat(1 << 20);
    process.stdout.write('{"jsonrpc":"2.0","id":1,"result":"');
    for (let at = 0; at < 100; at += 1) process.stdout.write(block);
  },
  'garbage-flood': () => {
    const line = `${'no message '.repeat(100)}\n`.repeat(1_000);
    for (let at = 0; at < 100; at += 1) process.stdout.write(line);
  },
  'wrong-id': (id) => {
    result(id + 1_000, said('for somebody else'));
    result('another', said('for nobody'));
    result(id, said('for you'));
  },
  changing: (id) => {
    tools = [tool('echo', { description: 'Now another.' }), tool('new')];
    for (let at = 0; at < 50; at += 1) send({ method: 'notifications/tools/list_changed' });
    pending = id;
  },
  environment: (id) => result(id, said(JSON.stringify(process.env))),
  'no-content': (id) => result(id, { nothing: true }),
  'bad-content': (id) => result(id, { content: [{ type: 'text' }] }),
  'no-object': (id) => send({ id, result: 'text' }),
  'rpc-error': (id) => send({ id, error: { code: -32602, message: 'no such thing' } }),
  'visit-first': (id) =>
    send({ id, error: { code: -32042, message: 'x', data: { elicitations: [{ url: 'https://example.com/visit' }] } } }),
  ask: (id) => {
    pending = id;
    send({ id: 'ask-1', method: detail, params: JSON.parse(process.env.ASK_PARAMS ?? '{}') });
  },
  'ask-many': (id) => {
    pending = id;
    for (let at = 0; at < 20; at += 1) {
      const requestedSchema = { type: 'object', properties: {} };
      send({ id: `ask-${at}`, method: 'elicitation/create', params: { message: 'Well?', requestedSchema } });
    }
  },
};

/** A call that waits until another one lets it go on: `step` sends progress of it, `finish` ends it. */
let pending;
let token;

const OTHERS = {
  hang: () => undefined,
  progress: (id, params) => {
    pending = id;
    token = params._meta.progressToken;
    tellProgress('begun');
  },
  step: (id) => {
    tellProgress('further');
    result(id, said('stepped'));
  },
  finish: (id) => {
    result(pending, said('at last'));
    result(id, said('finished'));
  },
};

function tellProgress(message) {
  send({ method: 'notifications/progress', params: { progressToken: token, progress: 1, total: 3, message } });
}

function callTool(id, params) {
  const act = OTHERS[params.name] ?? CALLS[mode];
  if (act !== undefined) return act(id, params);
  const { _meta, ...shown } = params;
  result(id, said(JSON.stringify(shown)));
}

const HANDLERS = {
  initialize: (id, params) => {
    if (mode === 'hang-initialize') return process.stderr.write('thinking\n', () => tell('thinking'));
    if (mode === 'refuse-initialize') return send({ id, error: { code: -32603, message: 'not today' } });
    if (mode === 'die-initialize') {
      process.stderr.write(`key ${process.env.API_KEY}\nboom\n`);
      process.exit(7);
    }
    const protocolVersion = mode === 'version' ? detail : params.protocolVersion;
    const capabilities = { tools: { listChanged: true }, ...(mode === 'late-prompts' && { prompts: {} }) };
    const serverInfo = { name: 'hostile', version: '1' };
    result(id, { protocolVersion, capabilities, serverInfo, instructions: JSON.stringify(params) });
  },
  'tools/list': (id, params) => {
    if (mode === 'hang-list') return;
    if (mode === 'hang-list-telling') return tell(process.pid);
    if (mode === 'die-list') process.exit(4);
    const list = LISTS[mode];
    if (list !== undefined) return result(id, list(params?.cursor));
    result(id, { tools });
    if (child !== undefined) tell(`${process.pid} ${child.pid}`);
  },
  'tools/call': callTool,
  'prompts/list': () => undefined,
  ping: (id) => result(id, {}),
};

if (mode === 'garbage') process.stdout.write('Welcome!\n{"broken\n\u2028\n[]\n{"jsonrpc":"1.0"}\n');
if (mode === 'die-start') process.exit(9);
// Neither the end of the input nor TERM moves it, and neither do they move its child.
const isStubborn = mode === 'stubborn';
if (isStubborn) process.on('SIGTERM', () => undefined);
if (isStubborn) setInterval(() => undefined, 1_000);
const child =
  isStubborn || mode === 'family' || mode === 'parent'
    ? spawn('bash', ['-c', `${isStubborn ? 'trap "" TERM; ' : ''}while :; do sleep 1; done`], { stdio: 'ignore' })
    : undefined;
// It goes when it is told to, and leaves its child.
if (mode === 'parent') child.unref();

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) {
    // An answer to what we asked: it is the result of the call.
    if (mode === 'ask') result(pending, said(JSON.stringify(message.error ?? message.result)));
    if (mode === 'ask-many' && message.error) result(pending, said(JSON.stringify(message.error)));
    return;
  }
  if (message.method === 'notifications/cancelled') {
    return send({ method: 'notifications/message', params: { level: 'info', data: message.params } });
  }
  HANDLERS[message.method]?.(message.id, message.params);
});
