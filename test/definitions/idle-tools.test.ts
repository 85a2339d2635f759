/** Lists of tools that can be read and name no tool: told when the file is loaded. */
import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { createPlace, folderOf, show } from './place.js';

async function load(kind: 'agents' | 'commands', field: string) {
  const place = createPlace();
  place.write(`${kind}/a.md`, `---\nname: a\ndescription: x\n${field}\n---\nbody\n`);
  const { agents, commands, problems } = await loadDefinitions([folderOf(kind, place.path(kind))]);
  return { agent: agents.get('a'), command: commands.get('a'), problems: show(problems, place.root) };
}

describe('the tools of an agent', () => {
  it.each([
    ['read, bash, grep', ['Read', 'Bash', 'Grep'], ['read', 'bash', 'grep']],
    ['Read, bash', ['Read', 'Bash'], ['bash']],
    ['Read, BASH(git diff:*)', ['Read', 'Bash(git diff:*)'], ['BASH']],
    ['Read, Agent, mine', ['Read', 'Agent', 'mine'], []],
    ['mcp__x, mcp__y__*', ['mcp__x', 'mcp__y__*'], []],
    ['[]', [], []],
  ])('%s', async (written, tools, told) => {
    const { agent, problems } = await load('agents', `tools: ${written}`);
    expect(agent?.tools).toEqual(tools);
    expect(problems).toEqual(
      told.map((name) =>
        expect.stringContaining(`warning agents/a.md:4: "tools": "${name}" names no tool; it is taken`),
      ),
    );
  });

  it.each(['inherit', 'Inherit', '[inherit]'])('%s: those of the parent', async (written) => {
    const { agent, problems } = await load('agents', `tools: ${written}`);
    expect(agent).toBeDefined();
    expect(agent).not.toHaveProperty('tools');
    expect(problems).toEqual([]);
  });

  it.each(["['search/codebase', 'edit_file']", 'codebase, usages'])('%s: none is known', async (written) => {
    const { agent, problems } = await load('agents', `tools: ${written}`);
    expect(agent?.tools).toHaveLength(2);
    expect(problems).toEqual([expect.stringMatching(/^warning agents\/a\.md:4: "tools": none of these names a tool/)]);
  });

  it('inherit beside a name is no word for all', async () => {
    expect((await load('agents', 'tools: Read, inherit')).agent?.tools).toEqual(['Read', 'inherit']);
  });
});

describe('what a command allows', () => {
  it.each([
    ['bash(git add:*)', 'the tool is called Bash'],
    ['Read, bash', 'the tool is called Bash'],
    ['all', '"all" names no tool'],
    ['Bash(git add:*, git commit:*)', 'write one rule for each'],
    ['search/codebase', 'names no tool that is built in'],
  ])('%s is told', async (written, text) => {
    const { command, problems } = await load('commands', `allowed-tools: ${written}`);
    expect(command).toBeDefined();
    expect(problems).toEqual([expect.stringMatching(/^warning commands\/a\.md:4: "allowed-tools": /)]);
    expect(problems[0]).toContain(text);
  });

  it.each(['Read, Mine', 'Bash(git add:*), Bash(git commit:*)', 'mcp__x', '"*"', 'Bash(echo a, b)', 'Task', '[]'])(
    '%s is fine',
    async (written) => {
      expect((await load('commands', `allowed-tools: ${written}`)).problems).toEqual([]);
    },
  );
});
