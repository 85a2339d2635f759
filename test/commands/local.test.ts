import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { currentTurn } from '../../src/engine/next-action.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { outline, start, user } from '../engine/kit.js';
import { sent, startWith, TRUSTED } from './kit.js';

const OLD = { client: { entrypoint: 'sdk-ts', version: '0.2.50' } };

describe('a local command', () => {
  it('is answered without a turn of the model', async () => {
    const run = await start(['hello']);
    await run.ask('hi');
    const from = run.messages.length;
    const result = await run.ask('/cost');
    expect(run.messages.slice(from).map(({ type }) => type)).toEqual(['system', 'assistant', 'result']);
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: false,
      num_turns: 0,
      result: expect.stringMatching(/^Total cost: \$/),
      local_command: { name: 'cost', outcome: 'success' },
    });
    expect(run.messages.at(-2)).toMatchObject({
      local_command_source: 'cost',
      message: { model: '<synthetic>', content: [{ type: 'text', text: (result as { result: string }).result }] },
    });
    expect(run.model.requests).toHaveLength(1);
  });

  it('is no part of the conversation, and a session with nothing else leaves no log', async () => {
    const run = await start(['hello']);
    await run.ask('/help');
    expect(await run.store.load(run.session.id)).toBeUndefined();
    await run.ask('hi');
    expect(sent(run.model.requests[0])).not.toContain('/help');
  });

  it('does not end the turn that a dead process left open', async () => {
    const asked = Promise.withResolvers<void>();
    const run = await start([{ toolUse: { id: 'b', name: 'Bash', input: { command: 'touch x' } } }], {
      ask() {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    run.session.submit(user('go'));
    await asked.promise;
    const lines = (await run.store.load(run.session.id))?.lines ?? [];
    const store = createMemoryStore({ now: () => 0 });
    await store.append({ sessionId: run.session.id, cwd: run.cwd }, lines);
    const again = await start([], { store, cwd: run.cwd, config: { resume: run.session.id } });
    await again.ask('/cost');
    expect(currentTurn(again.session.scope.recorder.log.entries)).toBeDefined();
    await run.session.close();
  });

  it('/compact is one like the others where there is nothing to sum up', async () => {
    const text = 'There is nothing to compact yet.';
    const run = await start([]);
    const result = await run.ask('/compact');
    expect(run.messages.map(({ type }) => type)).toEqual(['system', 'assistant', 'result']);
    expect(run.messages[1]).toMatchObject({
      local_command_source: 'compact',
      message: { model: '<synthetic>', content: [{ type: 'text', text }] },
    });
    expect(result).toMatchObject({ result: text, local_command: { name: 'compact', outcome: 'success' } });
    const old = await start([], { config: OLD });
    await old.ask('/compact');
    expect(old.messages[1]).toMatchObject({
      type: 'user',
      message: { content: `<local-command-stdout>${text}</local-command-stdout>` },
    });
  });

  it('/help of a command that there is not fails', async () => {
    const run = await start([]);
    expect(await run.ask('/help nope')).toMatchObject({
      result: 'There is no command /nope. See /help.',
      local_command: { name: 'help', outcome: 'error' },
    });
    expect(await run.ask('/help cost')).toMatchObject({ local_command: { name: 'help', outcome: 'success' } });
  });

  it('says why it failed once, also where the hint says it again', async () => {
    const run = await start([]);
    const providerFor = () => Promise.reject(new HeddleError('no_provider', 'No model is configured.'));
    Object.assign(run.session.scope, { providerFor });
    const result = await run.ask('/model haiku');
    expect(JSON.stringify(result).split('No model is configured.')).toHaveLength(2);
    expect(result).toMatchObject({ result: expect.stringContaining('Set ANTHROPIC_API_KEY') });
  });

  it('for clients of the 0.2 line: a line of the user, an empty result, two turns', async () => {
    const run = await start(['hello'], { config: OLD });
    const result = await run.ask('/cost');
    expect(run.messages.map(({ type }) => type)).toEqual(['system', 'user', 'result']);
    expect(run.messages[1]).toMatchObject({
      message: { content: expect.stringMatching(/^<local-command-stdout>Total cost: \$0.00/) },
    });
    expect(result).toMatchObject({ num_turns: 2, result: '', is_error: false });
    expect(result).not.toHaveProperty('local_command');
  });

  it('an unknown one goes to the model as it is; clients of the 0.2 line are told so', async () => {
    const run = await start(['what?', 'a path']);
    expect(await run.ask('/nosuch thing')).toMatchObject({ result: 'what?', num_turns: 1 });
    expect(sent(run.model.requests[0])).toContain('/nosuch thing');
    const old = await start(['a path'], { config: OLD });
    expect(await old.ask('/nosuch thing')).toMatchObject({
      result: 'Unknown skill: nosuch',
      num_turns: 1,
      is_error: false,
    });
    expect(old.model.requests).toHaveLength(0);
    expect(await old.ask('/usr/bin/env is missing')).toMatchObject({ result: 'a path' });
  });

  it('with disableSlashCommands slashes mean nothing', async () => {
    const run = await startWith({ 'commands/hello.md': 'Say hello.' }, ['one', 'two'], {
      config: { disableSlashCommands: true },
    });
    await run.ask('/cost');
    await run.ask('/hello');
    expect(sent(run.model.requests[1])).toContain('"/hello"');
    expect(run.messages[0]).toMatchObject({ slash_commands: [], skills: [] });
    expect((run.messages[0] as { tools: string[] }).tools).not.toContain('Skill');
  });
});

describe('each of them', () => {
  it.each([
    ['/help', /\/clear: .*\n[\s\S]*\/review \[branch or pull request\]: /],
    ['/help model', /^\/model \[model\]\nShow or choose/],
    ['/help nosuch', /no command \/nosuch/],
    ['/agents', /- general-purpose \(builtin\): /],
    ['/mcp', /no MCP servers/],
    ['/memory', /no files of instructions/],
    ['/model', /^The model is .*\n\n.*\n- default: /],
    [
      '/permissions',
      /^The permission mode is default\.\n\nDenied\n- Bash\(rm:\*\) \(flag\)\n\nAllowed\n- Read \(flag\)$/,
    ],
    ['/allowed-tools', /permission mode/],
    ['/release-notes', /^Heddle \d/],
    ['/context', /^## Context usage\n\nModel: /],
    ['/resume', /no other session/],
  ])('%s', async (command, text) => {
    const run = await start([], { config: { allowedTools: ['Read'], disallowedTools: ['Bash(rm:*)'] } });
    expect(await run.ask(command)).toMatchObject({ num_turns: 0, result: expect.stringMatching(text) });
  });

  it('/model chooses one, which later turns and a resume start from', async () => {
    const run = await start(['a'], { config: { model: 'claude-opus-4-5' } });
    expect(await run.ask('/model haiku')).toMatchObject({
      result: expect.stringMatching(/^The model is now claude-haiku/),
    });
    await run.ask('hi');
    expect(run.model.requests[0]?.body.model).toMatch(/^claude-haiku/);
  });

  it('/model with one that cannot be used says why', async () => {
    const run = await start([], { config: { maxBudgetUsd: 1 } });
    expect(await run.ask('/model somebody-elses')).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/price of somebody-elses is not known/),
      local_command: { outcome: 'error' },
    });
  });

  it('/resume names the other sessions of the folder', async () => {
    const first = await start(['a']);
    await first.ask('spin the wool');
    await first.session.close();
    const run = await start([], { store: first.store, cwd: first.cwd });
    expect(await run.ask('/resume')).toMatchObject({
      result: expect.stringMatching(new RegExp(`- ${first.session.id} \\(2025-.*\\): spin the wool`)),
    });
  });

  it('/memory names files, and those that wait for trust', async () => {
    const run = await startWith({}, []);
    writeFileSync(join(run.cwd, 'AGENTS.md'), 'Be brief.');
    mkdirSync(join(run.cwd, '.config'), { recursive: true });
    writeFileSync(join(run.cwd, '.config', 'CLAUDE.md'), 'Be kind.');
    expect(await run.ask('/memory')).toMatchObject({
      result: expect.stringMatching(/CLAUDE\.md \(user\)\n- .*AGENTS\.md \(project\)$/),
    });
    const other = await start([], { cwd: run.cwd, config: { ...TRUSTED, trusted: false } });
    expect(await other.ask('/memory')).toMatchObject({ result: expect.stringContaining('not trusted') });
  });

  it('/compact heeds what is said, makes no turn, and says what it did', async () => {
    const run = await start(['long answer', '<summary>S</summary>']);
    await run.ask('hi');
    expect(await run.ask('/compact names')).toMatchObject({
      num_turns: 0,
      result: expect.stringMatching(/^Compacted/),
      local_command: { name: 'compact' },
    });
    expect(outline(run.messages).filter((line) => line.startsWith('result'))).toHaveLength(2);
  });
});
