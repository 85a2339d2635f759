import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isToolOf } from '../../src/engine/agents/agent-tools.js';
import type { ScriptToolUse } from '../../src/engine/model/script-step.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { resultText, type Run, scratch } from '../engine/kit.js';
import { bash, open, saidIn, task } from './kit.js';

const define = (tools: string[]) => ({ A: { description: 'd', prompt: 'p', tools } });

type Where = 'a subagent' | 'the main thread' | 'an agent that it starts';

/** One call in an agent with these tools. Everything is allowed otherwise. */
async function call(tools: string[], toolUse: ScriptToolUse, where: Where = 'a subagent'): Promise<Run> {
  const cwd = scratch();
  mkdirSync(join(cwd, 'src'));
  writeFileSync(join(cwd, 'src', 'a.txt'), 'thread');
  writeFileSync(join(cwd, 'b.txt'), 'thread');
  mkdirSync(join(cwd, 'other', '.git'), { recursive: true });
  const inner = toolUse.name === 'Task' ? ['inner'] : [];
  const scripts = {
    'a subagent': [{ toolUse: task('t1', { subagent_type: 'A' }) }, { toolUse }, ...inner, 'said', 'Done.'],
    'the main thread': [{ toolUse }, ...inner, 'Done.'],
    'an agent that it starts': [
      { toolUse: task('t1', { subagent_type: 'A' }) },
      { toolUse: task('t2') },
      { toolUse },
      'deep',
      'said',
      'Done.',
    ],
  };
  const config: Partial<SessionConfig> = {
    agents: define(where === 'an agent that it starts' ? [...tools, 'Task'] : tools),
    permissionMode: 'bypassPermissions',
    allowDangerouslySkipPermissions: true,
    ...(where === 'the main thread' && { agent: 'A' }),
  };
  const run = await open(scripts[where], { config, cwd });
  await run.ask('go');
  return run;
}

const use = (name: string, input: Record<string, unknown>): ScriptToolUse => ({ name, id: 'c1', input });
const line = (command: string): ScriptToolUse => bash('c1', command);
const DENIED = /The agent A may use \w+ only as .* says, and this call is more than that/;

describe('tools of an agent that name uses of a tool', () => {
  it.each<[string, string[], ScriptToolUse]>([
    ['a command', ['Bash(echo:*)'], line('echo made')],
    ['every command of a line', ['Bash(echo:*)', 'Bash(ls:*)'], line('echo a && ls src | echo b')],
    ['moving to a folder of the project', ['Bash(echo:*)'], line('cd src && echo made')],
    ['the whole tool beside a use of it', ['Bash', 'Bash(echo:*)'], line('ls')],
    ['every tool beside a use of one', ['*', 'Bash(echo:*)'], line('ls')],
    ['a use that is all', ['Bash(*)'], line('ls')],
    ['a file', ['Read(src/**)'], use('Read', { file_path: 'src/a.txt' })],
    ['a file that is written', ['Write(/out/**)'], use('Write', { file_path: 'out/x', content: 'x' })],
    ['a folder that is searched', ['Glob(src/**)'], use('Glob', { pattern: '*.txt', path: 'src' })],
    ['an agent', ['Task(Explore)'], task('c1', { subagent_type: 'Explore' })],
    ['an agent under the other name', ['Agent(Explore)'], task('c1', { subagent_type: 'Explore' })],
    ['one of several agents', ['Task(Plan, Explore)'], task('c1', { subagent_type: 'Explore' })],
  ])('%s is open', async (_, tools, toolUse) => {
    const run = await call(tools, toolUse);
    expect(resultText(run.messages, 'c1')).not.toMatch(DENIED);
    expect(resultText(run.messages, 'c1')).not.toContain('No such tool');
  });

  it.each<[string, string[], ScriptToolUse]>([
    ['another command', ['Bash(git diff:*)'], line('touch made')],
    ['a command that only reads', ['Bash(git diff:*)'], line('cat b.txt')],
    ['a command behind one that is named', ['Bash(echo:*)'], line('echo a; touch made')],
    ['a reading one beside one that is named', ['Bash(echo:*)'], line('echo a | cat b.txt')],
    ['a command inside of another', ['Bash(echo:*)'], line('echo $(touch made)')],
    ['writing what one prints', ['Bash(echo:*)'], line('echo a > made')],
    ['what cannot be read', ['Bash(echo:*)'], line('eval "$X"')],
    ['half a use', ['Bash(echo', 'Read'], line('echo a')],
    ['another file', ['Read(src/**)'], use('Read', { file_path: 'b.txt' })],
    ['a file of another place', ['Read(src/**)'], use('Read', { file_path: 'src/../b.txt' })],
    ['writing another file', ['Write(/out/**)'], use('Write', { file_path: 'made', content: 'x' })],
    ['searching another folder', ['Grep(src/**)'], use('Grep', { pattern: 'thread' })],
    ['another agent', ['Task(Explore)'], task('c1', { subagent_type: 'Plan' })],
    ['the default agent', ['Task(Explore)'], task('c1')],
    ['another host', ['WebFetch(domain:a.example)'], use('WebFetch', { url: 'https://b.example/', prompt: 'x' })],
  ])('%s is not, in whatever mode', async (_, tools, toolUse) => {
    const isHalf = tools.includes('Bash(echo');
    const run = isHalf ? await halfUse(tools, toolUse) : await call(tools, toolUse);
    expect(resultText(run.messages, 'c1')).toMatch(DENIED);
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
  });

  /** Files may have what the caller may not. */
  async function halfUse(tools: string[], toolUse: ScriptToolUse): Promise<Run> {
    const run = await open([{ toolUse: task('t1', { subagent_type: 'A' }) }, { toolUse }, 'said', 'Done.'], {
      config: { allowedTools: ['Bash'] },
    });
    const agent = { name: 'A', description: 'd', prompt: 'p', tools, origin: { scope: 'user' as const } };
    run.session.scope.agents.tree.known = () => new Map([['A', agent]]);
    await run.ask('go');
    return run;
  }

  it.each<[Where]>([['the main thread'], ['an agent that it starts']])('hold in %s, too', async (where) => {
    const denied = await call(['Bash(echo:*)'], line('touch made'), where);
    expect(resultText(denied.messages, 'c1')).toMatch(DENIED);
    expect(existsSync(join(denied.cwd, 'made'))).toBe(false);
    const fine = await call(['Bash(echo:*)'], line('echo fine'), where);
    expect(resultText(fine.messages, 'c1')).toContain('fine');
  });

  it('the tool is offered, and what is open is still asked about', async () => {
    const asked: string[] = [];
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'A' }) },
        { toolUse: [bash('c1', 'touch made'), bash('c2', 'mkdir more')] },
        'said',
        'Done.',
      ],
      {
        config: { agents: define(['Bash(touch:*)']) },
        ask: async ({ input }) => {
          asked.push(String(input.command));
          return { behavior: 'allow' };
        },
      },
    );
    await run.ask('go');
    expect(run.model.requests[1]?.body.tools).toMatchObject([{ name: 'Bash' }]);
    expect(asked).toEqual(['touch made']);
    expect(saidIn(run.model.requests[2] as never)).toMatch(DENIED);
  });

  it.each([
    ['Bash(git diff', /tools\[1\] of the agent A: .*not closed/],
    ['mcp__a__x(y)', /tools\[1\] of the agent A: .*mcp__a__x.*brackets/],
    ['TodoWrite(x)', /tools\[1\] of the agent A: .*brackets/],
  ])('of the caller %s is refused', async (wrong, text) => {
    await expect(open([], { config: { agents: define(['Read', wrong]) } })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(text),
    });
  });
});

describe('names of tools of servers', () => {
  it.each([
    ['mcp__a', ['mcp__a__get_x', 'mcp__a__put_x']],
    ['mcp__a__*', ['mcp__a__get_x', 'mcp__a__put_x']],
    ['mcp__a__get_*', ['mcp__a__get_x']],
    ['mcp__a__*_x', ['mcp__a__get_x', 'mcp__a__put_x']],
    ['mcp__a__get_x', ['mcp__a__get_x']],
    ['mcp__*', ['mcp__a__get_x', 'mcp__a__put_x', 'mcp__ab__get_x']],
    ['mcp__a__get', []],
    ['mcp__a*', ['mcp__a__get_x', 'mcp__a__put_x']],
  ])('%s', (name, expected) => {
    const all = ['mcp__a__get_x', 'mcp__a__put_x', 'mcp__ab__get_x', 'Bash'];
    expect(all.filter(isToolOf({ tools: [name] }))).toEqual(expected);
  });
});

describe('what is said of a call that is more', () => {
  it.each([
    ['cd other && git diff', /\(git diff: .*(?:cd|folder|director)/i],
    ['git diff && ls', /\(ls\)\.$/],
  ])('%s', async (command, expected) => {
    const run = await call(['Bash(git diff:*)'], line(command));
    expect(resultText(run.messages, 'c1')).toMatch(expected);
  });

  it.each(['if true; then echo made; fi', 'echo made || true', ': && echo made'])(
    '%s is no more than what it does',
    async (command) => {
      const run = await call(['Bash(echo:*)'], line(command));
      expect(resultText(run.messages, 'c1')).toBe('made');
    },
  );
});
