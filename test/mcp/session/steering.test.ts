/** Servers that are changed, switched and looked at while a query runs; their prompts as commands. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../../src/protocol/index.js';
import { createSdkMcpServer, tool } from '../../../src/sdk/index.js';
import { stillClock } from '../../engine/kit.js';
import { untilGone } from '../../workspace/running.js';
import { call, find, lastSaid, program, request, type Talk, talk, V1, V2 } from './kit.js';

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const calc = (word = 'sum') =>
  createSdkMcpServer({
    name: 'calc',
    tools: [tool('add', `The ${word}`, { a: z.number() }, async ({ a }) => said(`${word} ${a + 1}`))],
  });

const names = async (run: Talk) =>
  Object.fromEntries((await run.query.mcpServerStatus()).map(({ name, status }) => [name, status]));

const isCommands = (message: Message): boolean => message.type === 'system' && message.subtype === 'commands_changed';

describe('setMcpServers', () => {
  it('servers of every kind come, stay and go; those of flags stay', async () => {
    const run = talk(
      [
        'one',
        find('mcp__one__pid,mcp__calc__add,mcp__flag__add'),
        {
          toolUse: [
            { name: 'mcp__one__pid', input: {}, id: 't1' },
            { name: 'mcp__calc__add', input: { a: 1 }, id: 't2' },
          ],
        },
        'two',
        call('mcp__one__pid', {}, 't3'),
        call('mcp__calc__add', { a: 1 }, 't4'),
        'three',
      ],
      { mcpServers: { flag: program(V2) }, allowedTools: ['mcp__one', 'mcp__calc'] },
    );
    await run.say('One');
    const far = { type: 'http' as const, url: 'http://127.0.0.1:9/mcp' };
    const outcome = await run.query.setMcpServers({ one: program(V1), calc: calc(), far });
    expect(outcome).toMatchObject({
      added: ['one', 'calc', 'far'],
      removed: [],
      errors: { far: expect.stringMatching(/^MCP server far failed in/) },
    });
    expect(await names(run)).toMatchObject({ one: 'connected', calc: 'connected', far: 'failed' });
    expect(await run.status('calc')).toMatchObject({ scope: 'dynamic', config: { type: 'sdk', name: 'calc' } });
    await run.say('Two');
    expect(run.told('t2')).toBe('sum 2');
    // The same again changes nothing; what is not named goes, with its process.
    expect(await run.query.setMcpServers({ one: program(V1) })).toEqual({
      added: [],
      removed: ['calc', 'far'],
      errors: {},
    });
    await run.say('Three');
    expect(run.told('t3')).toBe(run.told('t1'));
    expect(run.told('t4')).toMatch(/no such tool|not (there|known|offer|available)/i);
    expect(lastSaid(run, 4)).toContain('These tools are not there any more');
    expect(await run.query.setMcpServers({})).toMatchObject({ removed: ['one'] });
    await untilGone(Number(run.told('t1')));
    expect(await names(run)).toEqual({ flag: 'connected' });
  });

  it('another server of this process by the same name takes its place', async () => {
    const run = talk([call('mcp__calc__add', { a: 1 }, 't1'), 'one', call('mcp__calc__add', { a: 1 }, 't2'), 'two'], {
      mcpServers: { calc: calc('sum') },
      heddle: { clock: stillClock() },
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
    });
    await run.say('One');
    expect(await run.query.setMcpServers({ calc: calc('other') })).toEqual({
      added: ['calc'],
      removed: ['calc'],
      errors: {},
    });
    await run.say('Two');
    expect([run.told('t1'), run.told('t2')]).toEqual(['sum 2', 'other 2']);
    const offered = run.model.requests[2]?.body.tools?.find(({ name }) => name === 'mcp__calc__add');
    expect(offered?.description).toBe('The other');
  });

  it('a server that is named wrongly or twice is refused, with the reason', async () => {
    const run = talk(['one']);
    await run.say('One');
    const outcome = await run.query.setMcpServers({ 'a b': calc(), a_b: calc(), '': calc() });
    expect(Object.keys(outcome.errors).toSorted()).toEqual(['', 'a b']);
    expect(outcome.errors['a b']).toContain('could be taken for those of a_b');
  });
});

describe('toggleMcpServer and reconnectMcpServer', () => {
  it('off ends the process, on begins another; reconnecting, too', async () => {
    const pid = (id: string) => call('mcp__one__pid', {}, id);
    const run = talk([find('mcp__one__pid'), pid('t1'), 'a', pid('t2'), 'b', pid('t3'), 'c', pid('t4'), 'd'], {
      mcpServers: { one: program(V1) },
      allowedTools: ['mcp__one'],
    });
    await run.say('One');
    await run.query.toggleMcpServer('one', false);
    await untilGone(Number(run.told('t1')));
    expect(await run.status('one')).toMatchObject({ status: 'disabled' });
    await run.say('Two');
    expect(run.told('t2')).toContain('MCP server one is switched off.');
    await run.query.toggleMcpServer('one', true);
    expect(await run.status('one')).toMatchObject({ status: 'connected' });
    await run.say('Three');
    await run.query.reconnectMcpServer('one');
    await run.say('Four');
    const pids = ['t1', 't3', 't4'].map((id) => Number(run.told(id)));
    expect(new Set(pids).size).toBe(3);
    await untilGone(pids[1] ?? 0);
    await expect(run.query.reconnectMcpServer('nope')).rejects.toThrow('Server not found: nope');
    await expect(run.query.toggleMcpServer('nope', false)).rejects.toThrow('Server not found: nope');
  });

  it('a server that cannot be reached again says why', async () => {
    const run = talk(['one'], { mcpServers: { no: { command: '/no/such/program' } } });
    await run.say('One');
    await expect(run.query.reconnectMcpServer('no')).rejects.toThrow(/MCP server no failed in start/);
  });
});

describe('prompts as slash commands', () => {
  const options = { mcpServers: { one: program(V1) }, allowedTools: ['mcp__one'] };

  it('are told of when they come, and stand for what the server says', async () => {
    const run = talk(['hello', 'greeted', 'again'], options);
    await run.say('One');
    expect(await run.seen(isCommands)).toMatchObject({
      commands: expect.arrayContaining([
        expect.objectContaining({
          name: 'mcp__one__greet',
          description: 'Greets someone',
          argumentHint: '<name> [how]',
        }),
        expect.objectContaining({ name: 'mcp__one__broken' }),
      ]),
    });
    await run.say('/mcp__one__greet "Ada Lovelace" very politely');
    const init = run.messages.filter((message) => message.type === 'system' && message.subtype === 'init')[1];
    expect(init).toMatchObject({ slash_commands: expect.arrayContaining(['mcp__one__greet', 'mcp__one__broken']) });
    const texts = lastSaid(run, 1);
    expect(texts).toContain('<command-name>/mcp__one__greet</command-name>');
    expect(texts).toContain('<command-args>\\"Ada Lovelace\\" very politely</command-args>');
    expect(texts).toContain('Greet Ada Lovelace very politely.');
    expect(texts).toContain('assistant:');
    expect(texts).toContain('Hello Ada Lovelace');
    await run.say('/mcp__one__greet Ada');
    expect(lastSaid(run, 2)).toContain('Greet Ada plainly.');
  });

  it('one that fails, or lacks an argument, is an error result, and the next prompt works', async () => {
    const run = talk(['hello', 'fine'], options);
    await run.say('One');
    await run.seen(isCommands);
    expect(await run.say('/mcp__one__broken')).toMatchObject({
      is_error: true,
      errors: [expect.stringMatching(/^MCP server one failed in prompt of broken: .*the loom is jammed/)],
    });
    expect(await run.say('/mcp__one__greet')).toMatchObject({
      is_error: true,
      errors: [expect.stringContaining('The argument name is missing.')],
    });
    expect(run.model.requests).toHaveLength(1);
    expect(await run.say('Two')).toMatchObject({ subtype: 'success', result: 'fine' });
    expect(request(run, 1)).not.toContain('broken</command-name>');
  });

  it('what is no command is a prompt like any other', async () => {
    const run = talk(['hello', 'fine'], options);
    await run.say('One');
    await run.seen(isCommands);
    await run.say('/mcp__one__nope x');
    expect(lastSaid(run, 1)).toContain('/mcp__one__nope x');
  });

  it('those that come and go later are told of, too', async () => {
    const run = talk([find('mcp__one__grow'), call('mcp__one__grow'), 'done', 'two'], options);
    await run.say('One');
    const grown = (message: Message) => isCommands(message) && JSON.stringify(message).includes('mcp__one__also');
    await run.seen(grown);
    const gone = run.seen((message) => isCommands(message) && !JSON.stringify(message).includes('mcp__one'));
    await run.query.toggleMcpServer('one', false);
    await gone;
    await run.say('Two');
    expect(lastSaid(run, 3)).toContain('These tools are not there any more');
  });
});
