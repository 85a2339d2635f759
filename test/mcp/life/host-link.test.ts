import { describe, expect, it } from 'vitest';
import { connectHost, type HostLink, type HostLinkOptions } from '../../../src/engine/mcp/host-link.js';
import type { ServerRequests } from '../../../src/engine/mcp/link.js';
import type { JsonRpcMessage } from '../../../src/protocol/index.js';
import { HeddleError } from '../../../src/protocol/plain.js';
import { createFakeClock } from '../../../src/testing/index.js';
import { tool } from './kit.js';

type Answer = (message: JsonRpcMessage, signal?: AbortSignal) => unknown;

/** A server of the host that answers as it is told. */
async function linked(answers: Record<string, Answer> = {}, options: Partial<HostLinkOptions> = {}) {
  const seen: JsonRpcMessage[] = [];
  const clock = createFakeClock();
  const defaults: Record<string, Answer> = {
    initialize: () => ({ serverInfo: { name: 'x', version: '1' }, capabilities: {}, instructions: 'Be kind.' }),
    'tools/list': () => ({ tools: [tool('look')] }),
    'tools/call': () => ({ content: [] }),
  };
  const link: HostLink = await connectHost({
    server: 's',
    clock,
    signal: new AbortController().signal,
    async exchange(message, { signal }) {
      seen.push(message);
      const answer = (answers[message.method ?? ''] ?? defaults[message.method ?? ''])?.(message, signal);
      return message.id === undefined ? undefined : { jsonrpc: '2.0', id: message.id, result: await answer };
    },
    ...options,
  });
  return { link, seen, clock };
}

const never = () => new Promise<never>(() => {});
const sent = (seen: readonly JsonRpcMessage[], method: string) => seen.filter((message) => message.method === method);

describe('a server of the host', () => {
  it('says what it has, page by page', async () => {
    const { link, seen } = await linked({
      initialize: () => ({ capabilities: { prompts: {}, resources: {} } }),
      'tools/list': ({ params }) =>
        (params as { cursor?: string })?.cursor ? { tools: [tool('b')] } : { tools: [tool('a')], nextCursor: 'x' },
      'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
      'resources/list': () => ({ resources: [{ uri: 'x://1' }] }),
      'resources/read': () => ({ contents: [{ uri: 'x://1', text: 'words' }] }),
      'prompts/get': () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }] }),
    });
    expect(link.tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect([link.prompts, link.resources]).toEqual([[{ name: 'p' }], [{ uri: 'x://1' }]]);
    const { signal } = new AbortController();
    expect(await link.readResource('x://1', { signal })).toEqual([{ uri: 'x://1', text: 'words' }]);
    expect(await link.getPrompt('p', { a: 'b' }, { signal })).toHaveLength(1);
    expect(sent(seen, 'prompts/get')[0]?.params).toEqual({ name: 'p', arguments: { a: 'b' } });
  });

  it('that gives pages without end is asked for 100 of them', async () => {
    const { link, seen } = await linked({ 'tools/list': () => ({ tools: [tool('a')], nextCursor: 'again' }) });
    expect(sent(seen, 'tools/list')).toHaveLength(100);
    expect(link.tools).toHaveLength(100);
  });

  it('an abort is heard at once and told to the server', async () => {
    const { link, seen } = await linked({ 'tools/call': never });
    const abort = new AbortController();
    const call = link.call('look', {}, { toolUseId: 't1', signal: abort.signal });
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    const [{ id } = {}] = sent(seen, 'tools/call');
    expect(sent(seen, 'notifications/cancelled')).toMatchObject([{ params: { requestId: id } }]);
  });

  it('G8: a call that is silent for too long ends; progress starts the time anew', async () => {
    const { link, clock, seen } = await linked({ 'tools/call': never }, { callMs: 1_000 });
    const progress: number[] = [];
    const call = link.call(
      'look',
      {},
      {
        toolUseId: 't1',
        signal: new AbortController().signal,
        onProgress: ({ progress: at }) => void progress.push(at),
      },
    );
    call.catch(() => {});
    const params = sent(seen, 'tools/call')[0]?.params as { _meta?: { progressToken: number } } | undefined;
    const progressToken = params?._meta?.progressToken;
    for (let at = 1; at <= 3; at += 1) {
      clock.advance(900);
      await link.receive({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: at } });
    }
    clock.advance(1_000);
    await expect(call).rejects.toThrow(
      'MCP server s failed in call of look: there was no answer and no progress for 1 s.',
    );
    expect(progress).toEqual([1, 2, 3]);
    expect(sent(seen, 'notifications/cancelled')).toHaveLength(1);
    expect(clock.pending).toEqual([]);
  });

  it('a host that goes away in the middle of a call: the call says so, and the connection is lost once', async () => {
    const { link } = await linked({
      'tools/call': () => Promise.reject(new HeddleError('channel_closed', 'The socket was closed.')),
    });
    const lost: string[] = [];
    link.onLost(({ message }) => void lost.push(message));
    const options = { toolUseId: 't1', signal: new AbortController().signal };
    const text = 'MCP server s failed in call of look: The socket was closed.';
    await expect(link.call('look', {}, options)).rejects.toThrow(text);
    await expect(link.call('look', {}, options)).rejects.toThrow(text);
    expect(lost).toEqual([text]);
  });

  it('a list that changed is read anew, and stays as it was when that fails', async () => {
    let tools: object[] | undefined = [tool('a')];
    const { link } = await linked({ 'tools/list': () => (tools ? { tools } : Promise.reject(new Error('no'))) });
    const changes: string[] = [];
    link.onChange((list) => void changes.push(list));
    tools = [tool('b')];
    const change = { jsonrpc: '2.0' as const, method: 'notifications/tools/list_changed' };
    await link.receive(change);
    tools = undefined;
    await link.receive(change);
    expect(link.tools.map(({ name }) => name)).toEqual(['b']);
    expect(changes).toEqual(['tools']);
  });

  it('asks the session, as far as the session can do that', async () => {
    const requests: ServerRequests = {
      elicit: async ({ message, mode }) => ({ action: 'accept', content: { message, mode } }),
      roots: () => [{ uri: 'file:///x', name: 'x' }],
    };
    const { link, seen } = await linked({}, { requests });
    expect(seen[0]?.params).toMatchObject({ capabilities: { elicitation: {}, roots: {} } });
    const ask = (method: string, params?: object) =>
      link.receive({ jsonrpc: '2.0', id: 7, method, ...(params && { params }) });
    expect(await ask('ping')).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
    expect(await ask('roots/list')).toMatchObject({ result: { roots: [{ uri: 'file:///x' }] } });
    expect(await ask('elicitation/create', { message: 'Who?' })).toMatchObject({
      result: { content: { message: 'Who?', mode: 'form' } },
    });
    expect(await ask('sampling/createMessage', {})).toMatchObject({ error: { code: -32601 } });
    await link.close();
    expect(await ask('ping')).toBeUndefined();
  });
});
