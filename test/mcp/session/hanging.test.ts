/** What a model is told of servers, and when: no server holds the agent up. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stillClock } from '../../engine/kit.js';
import { HOSTILE } from '../remote/kit.js';
import { call, find, lastSaid, program, request, talk, type Talk, V1 } from './kit.js';

/** An address that takes whoever comes, and never says anything. */
async function silence(): Promise<{ url: string; greeted: Promise<void> }> {
  const sockets: Socket[] = [];
  const greeted = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => greeted.resolve());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, greeted: greeted.promise };
}

const promptsOf = ({ model }: Talk, at: number) => {
  const { tools = [], system } = model.requests[at]?.body ?? {};
  return JSON.stringify({ tools: tools.filter(({ name }) => name !== 'ToolSearch'), system });
};

describe('A3: thirteen servers that hang', () => {
  it('the first request goes out before any of them has answered, and is the one that goes out without them', async () => {
    const { url, greeted } = await silence();
    const hanging = Object.fromEntries(
      Array.from({ length: 13 }, (_, index) => [
        `hangs${index}`,
        [program(HOSTILE, 'hang-initialize'), { type: 'http' as const, url }, { type: 'sse' as const, url }][
          index % 3
        ] ?? { type: 'http' as const, url },
      ]),
    );
    const systemPrompt = 'You are tested.';
    const alone = talk(['hello'], { systemPrompt });
    await alone.say('Go');
    const run = talk(['hello', 'and on'], { systemPrompt, mcpServers: hanging });
    expect(await run.say('Go')).toMatchObject({ subtype: 'success', result: 'hello' });
    const names = Object.keys(hanging);
    expect(run.messages[0]).toMatchObject({
      subtype: 'init',
      mcp_servers: names.map((name) => ({ name, status: 'pending' })),
    });
    expect(run.model.requests[0]?.body.tools?.map(({ name }) => name)).toContain('ToolSearch');
    expect(promptsOf(run, 0)).toBe(promptsOf(alone, 0));
    expect(alone.model.requests[0]?.body.tools?.map(({ name }) => name)).not.toContain('ToolSearch');
    // They were really on their way.
    await greeted;
    expect(await run.say('Go on')).toMatchObject({ result: 'and on' });
    const statuses = (await run.query.mcpServerStatus()).map(({ status }) => status);
    expect(statuses).toEqual(names.map(() => 'pending'));
    expect(request(run, 1)).toContain(request(run, 0).slice(0, request(run, 0).indexOf('"messages"')));
    await run.end();
  });

  it('ToolSearch waits for the server that has what it looks for, and for no other', async () => {
    const { url } = await silence();
    const run = talk([find('mcp__one__echo'), call('mcp__one__echo', { a: 1 }, 't1'), 'done'], {
      mcpServers: { hangs: { type: 'http', url }, one: program(V1) },
      allowedTools: ['mcp__one'],
      // Time does not pass: whoever waits for it waits for ever.
      heddle: { clock: stillClock() },
    });
    await run.say('Go');
    expect(run.told('find')).toContain('"name":"mcp__one__echo"');
    expect(run.told('find')).toContain('These servers are still connecting, their tools may follow: hangs.');
    expect(run.told('t1')).toBe('{"a":1}');
    expect(await run.status('hangs')).toMatchObject({ status: 'pending' });
  });

  it('G1: a call that waits for its server ends when it is interrupted', async () => {
    const { url, greeted } = await silence();
    const run = talk([call('mcp__hangs__x', {}, 't1'), 'next'], {
      mcpServers: { hangs: { type: 'http', url } },
      allowedTools: ['mcp__hangs'],
    });
    const result = run.say('Go');
    await run.seen(({ type }) => type === 'assistant');
    await greeted;
    await run.query.interrupt();
    expect(await result).toMatchObject({ is_error: false });
    expect(await run.say('And now?')).toMatchObject({ result: 'next' });
  });
});

describe('what the model is told of servers', () => {
  const INSTRUCTIONS = 'Say please to this server.';
  const mcpServers = { one: { ...program(V1), env: { INSTRUCTIONS } } };
  const count = (run: Talk, at: number, text: string) => request(run, at).split(text).length - 1;
  const PENDING = 'These MCP servers are still connecting: one.';
  const TOOL = 'mcp__one__echo: echo';

  it('pending servers are told of once, tools and instructions once they are there, and all of it anew after compaction', async () => {
    const run = talk(['hello', find('mcp__one__echo'), 'found', 'third', 'the summary', 'fourth', 'fifth'], {
      mcpServers,
      allowedTools: ['mcp__one'],
    });
    await run.say('One');
    expect(count(run, 0, PENDING)).toBe(1);
    await run.say('Two');
    await run.say('Three');
    // The last request of the third turn: everything was told, each of it once.
    expect(count(run, 3, PENDING)).toBe(1);
    expect(count(run, 3, INSTRUCTIONS)).toBe(1);
    expect(count(run, 3, 'mcp__one__pid: pid')).toBe(1);
    const system = JSON.stringify(run.model.requests[3]?.body.system ?? '');
    expect(system).not.toContain(INSTRUCTIONS);
    expect(promptsOf(run, 3)).toBe(promptsOf(run, 0));
    await run.say('/compact');
    await run.say('Four');
    expect(count(run, 5, INSTRUCTIONS)).toBe(1);
    expect(count(run, 5, TOOL)).toBe(1);
    await run.say('Five');
    expect(count(run, 6, INSTRUCTIONS)).toBe(1);
    expect(lastSaid(run, 6)).not.toContain('mcp__one');
  });
});
