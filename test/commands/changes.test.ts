import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { JsonRpcMessage, Message } from '../../src/protocol/index.js';
import { query } from '../../src/sdk/index.js';
import { createMemoryStore } from '../../src/testing/index.js';
import { PATH_ENV, type Run, scratch, start, user } from '../engine/kit.js';
import { sent, skill, startWith, write } from './kit.js';

const LOCAL = 'agents clear compact context cost help mcp memory model permissions release-notes resume'.split(' ');
const PROMPTS = ['init', 'review', 'security-review', 'pr-comments'];

const tells =
  (name: string, is = true) =>
  (message: Message): boolean =>
    message.type === 'system' &&
    message.subtype === 'commands_changed' &&
    message.commands.some((command) => command.name === name) === is;

/** What fits, from now on. */
const next = (run: Run, fits: (message: Message) => boolean): Promise<Message> => {
  run.messages.length = 0;
  return run.seen(fits);
};

describe('the list of commands', () => {
  it('is in every init, with built-in ones marked', async () => {
    const run = await start(['a']);
    await run.ask('hi');
    expect(run.messages[0]).toMatchObject({ slash_commands: [...LOCAL, ...PROMPTS], skills: [] });
    expect(run.session.scope.commands.list.find(({ name }) => name === 'clear')).toEqual({
      name: 'clear',
      description: expect.any(String),
      argumentHint: '',
      aliases: ['new', 'reset'],
      builtin: true,
    });
  });

  it.each([...LOCAL, ...PROMPTS])('/%s is in docs/commands.md', (name) => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8');
    expect(text).toMatch(new RegExp(`^\\| .\\/${name}[ \`]`, 'm'));
  });

  it('of one name the stronger place counts: a skill before a command of the same place', async () => {
    const run = await startWith(
      {
        'commands/a.md': 'project command',
        'skills/b/SKILL.md': skill('s', 'project skill'),
        'commands/b.md': 'weaker',
      },
      ['x', 'y'],
    );
    write(join(run.cwd, '.config'), { 'skills/a/SKILL.md': skill('s', 'user skill'), 'commands/c.md': 'user command' });
    await run.session.scope.commands.reload();
    await run.ask('/a');
    expect(sent(run.model.requests[0])).toContain('project command');
    await run.ask('/b');
    expect(sent(run.model.requests[1])).toContain('project skill');
    const names = run.session.scope.commands.list.map(({ name }) => name);
    expect(names.filter((name) => /^[abc]$/.test(name)).toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('supportedCommands() knows it before the first prompt, files included', async () => {
    const configDir = scratch();
    write(configDir, { 'commands/fix.md': '---\ndescription: Fix it\nargument-hint: [issue]\n---\nFix $1.' });
    const running = query({
      prompt: (async function* () {
        await new Promise(() => {});
        yield undefined as never;
      })(),
      options: {
        cwd: scratch(),
        env: { ...PATH_ENV, HEDDLE_CONFIG_DIR: configDir },
        settingSources: ['user'],
        heddle: { provider: createScriptedModel([]), store: createMemoryStore() },
      },
    });
    const commands = await running.supportedCommands();
    expect(commands).toContainEqual({ name: 'fix', description: 'Fix it', argumentHint: '[issue]' });
    expect(commands.map(({ name }) => name)).toEqual([...LOCAL, 'fix', ...PROMPTS]);
    await running.return?.(undefined);
  });

  it('is given by supportedCommands() as it is now', async () => {
    const configDir = scratch();
    const more = Promise.withResolvers<void>();
    const running = query({
      prompt: (async function* () {
        yield user('hi');
        await more.promise;
      })(),
      options: {
        cwd: scratch(),
        env: { ...PATH_ENV, HEDDLE_CONFIG_DIR: configDir },
        settingSources: ['user'],
        heddle: { provider: createScriptedModel(['a']), store: createMemoryStore() },
      },
    });
    const names = async () => (await running.supportedCommands()).map(({ name }) => name);
    expect(await names()).not.toContain('late');
    for await (const message of running as AsyncIterable<Message>) {
      if (message.type === 'result') write(configDir, { 'commands/late.md': 'Late' });
      if (!tells('late')(message)) continue;
      expect(await names()).toContain('late');
      more.resolve();
    }
    expect(await names()).toContain('late');
  });
});

describe('changes', () => {
  const problems = (run: Run): string[] =>
    run.messages.flatMap((message) =>
      message.type === 'system' && message.subtype === 'informational' ? [message.content] : [],
    );

  it('that break a file are told, once each', async () => {
    const run = await startWith({ 'skills/s/SKILL.md': skill('S', 'x'), 'commands/a.md': 'A' }, ['a']);
    await run.ask('hi');
    expect(problems(run)).toEqual([]);
    const { commands } = run.session.scope;
    write(join(run.cwd, '.claude'), { 'skills/s/SKILL.md': skill('S', 'x'.repeat(2 * 1024 * 1024)) });
    await commands.reload();
    await commands.reload();
    expect(problems(run)).toEqual([expect.stringContaining('SKILL.md: it is too large')]);
    write(join(run.cwd, '.claude'), { 'commands/cost.md': 'mine' });
    await commands.reload();
    expect(problems(run)).toHaveLength(2);
    expect(problems(run)[1]).toMatch(/cost\.md: \/cost is built in/);
  });

  it('of a plugin may bring a folder that was not there; not one that leads out of it', async () => {
    const cwd = scratch();
    write(cwd, { 'p/.claude-plugin/plugin.json': '{"name":"p"}', 'out/x/SKILL.md': skill('S', 'x') });
    const run = await startWith({}, [], { cwd, config: { pluginDirs: [join(cwd, 'p')] } });
    const { commands } = run.session.scope;
    write(cwd, { 'p/skills/s/SKILL.md': skill('S', 'x') });
    symlinkSync(join(cwd, 'out'), join(cwd, 'p/commands'));
    await commands.reload();
    expect(commands.skillNames).toEqual(['p:s']);
    rmSync(join(cwd, 'p/skills'), { recursive: true });
    symlinkSync(join(cwd, 'out'), join(cwd, 'p/skills'));
    await commands.reload();
    expect(commands.skillNames).toEqual([]);
  });

  it('of files are noticed after the first turn: the host is told, and the model with its next prompt', async () => {
    const run = await startWith({ 'commands/fix.md': 'Fix.' }, ['a', 'b', 'c']);
    await run.ask('hi');
    write(join(run.cwd, '.claude'), { 'skills/forms/SKILL.md': skill('Fills in forms', 'x') });
    const added = next(run, tells('forms'));
    await run.clock.armed();
    run.clock.advance(3_000);
    await added;
    await run.ask('more');
    expect(sent(run.model.requests[1])).toContain('- forms: Fills in forms');

    rmSync(join(run.cwd, '.claude/commands/fix.md'));
    rmSync(join(run.cwd, '.claude/skills/forms'), { recursive: true });
    const removed = next(run, (message) => tells('fix', false)(message) && tells('forms', false)(message));
    const stop = new AbortController();
    void (async () => {
      while (!stop.signal.aborted) {
        await run.clock.armed();
        run.clock.advance(3_000);
        await new Promise(setImmediate);
      }
    })();
    await removed;
    stop.abort();
    await run.ask('and now?');
    expect(sent(run.model.requests[2])).toContain('There are no skills any more');
    await run.session.close();
  });

  it('are not looked for in a folder that nobody trusts, nor after the end', async () => {
    const run = await startWith({ 'commands/fix.md': 'Fix.' }, ['a'], {
      config: { trusted: false, settingSources: ['project'] },
    });
    await run.ask('hi');
    expect(run.session.scope.definitions.folders).toEqual([]);
    expect(run.clock.pending).toEqual([]);
    const other = await startWith({}, ['a']);
    await other.ask('hi');
    await other.clock.armed();
    await other.session.close();
    expect(other.clock.pending).toEqual([]);
  });

  it('of servers are told as well, and a prompt of one is expanded', async () => {
    const answers: Record<string, (params: unknown) => unknown> = {
      initialize: () => ({
        protocolVersion: '2025-06-18',
        capabilities: { prompts: {} },
        serverInfo: { name: 's', version: '1' },
      }),
      'prompts/list': () => ({
        prompts: [{ name: 'weave', description: 'Weaves', arguments: [{ name: 'what', required: true }] }],
      }),
      'prompts/get': (params) => ({
        messages: [{ role: 'user', content: { type: 'text', text: `Weave ${JSON.stringify(params)} @loom.txt` } }],
      }),
    };
    const exchange = async (message: JsonRpcMessage): Promise<JsonRpcMessage | undefined> => {
      if (message.id === undefined || message.method === undefined) return undefined;
      const result = answers[message.method]?.(message.params) ?? {};
      return { jsonrpc: '2.0', id: message.id, result };
    };
    const run = await startWith({ '../loom.txt': 'LOOM' }, ['hello', 'a', 'b']);
    await run.ask('hi');
    const told = run.seen(tells('mcp__s__weave'));
    await run.session.scope.mcp.set(new Map([['s', { exchange, config: { type: 'sdk', name: 's' } }]]));
    await told;
    expect(await run.ask('/mcp__s__weave cloth')).toMatchObject({ result: 'a' });
    expect(sent(run.model.requests[1])).toMatch(/<command-name>\/mcp__s__weave.*Weave .*cloth/);
    expect(sent(run.model.requests[1])).not.toContain('LOOM');
    answers['prompts/get'] = () => {
      throw new Error('the loom is broken');
    };
    expect(await run.ask('/mcp__s__weave cloth')).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  });
});
