/** Published files: what stands at the top level of a frontmatter settles what looks like it elsewhere. */
import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { createPlace, folderOf, show } from './place.js';

/** The same head as an agent, a command and a skill. */
async function load(head: string) {
  const place = createPlace();
  for (const file of ['agents/a.md', 'commands/a.md', 'skills/a/SKILL.md']) {
    place.write(file, `---\nname: a\n${head}\n---\nbody\n`);
  }
  const folders = (['agents', 'commands', 'skills'] as const).map((kind) => folderOf(kind, place.path(kind)));
  const { agents, commands, skills, problems } = await loadDefinitions(folders);
  const [agent] = agents.values();
  const allowed = [...commands.values(), ...skills.values()].map(({ allowedTools }) => allowedTools);
  return { agent, allowed, problems: show(problems, place.root) };
}

const ELSEWHERE = [
  ['a table', 'description: x\nmetadata:\n  tools: [git, gh]'],
  ['a table of one line', 'description: x\nmetadata: {tools: [git]}'],
  ['the other name', 'description: x\nrequires:\n  allowed-tools: [node]\n  tool: x'],
  ['a list of tables', 'description: x\ntriggers:\n  - tools: x'],
  ['an example in a text', 'description: Makes agents: such as\n  tools: Read, Grep'],
  ['an example in a text that YAML takes', 'description: Makes agents such as\n  tools = Read'],
  ['a sentence', 'description: Reviewer.\n  Tools: uses Read'],
  ['a bullet', 'description: a: x\n- tools: "b"'],
  ['an indented bullet', 'description: Reviewer: x\n  - tools: Read and Grep'],
] as const;

describe('a field that is read for sure', () => {
  it.each(ELSEWHERE)('settles %s', async (_, head) => {
    for (const key of ['tools', 'allowed-tools', 'Tools']) {
      for (const whole of [`${head}\n${key}: Read, Bash`, `${key}: [Read, Bash]\n${head}`]) {
        const { agent, allowed } = await load(whole);
        expect({ whole, tools: agent?.tools, allowed }).toEqual({
          whole,
          tools: ['Read', 'Bash'],
          allowed: [
            ['Read', 'Bash'],
            ['Read', 'Bash'],
          ],
        });
      }
    }
  });

  it.each(ELSEWHERE)('is missing, or is not sure: %s', async (_, head) => {
    for (const other of ['model: opus', 'tools: Read; Bash', 'tools: all except Bash', 'tools: {Read: true}']) {
      const { agent, allowed } = await load(`${other}\n${head}`);
      expect({ other, agent, allowed }).toEqual({ other, agent: undefined, allowed: [[], []] });
    }
  });

  it.each([
    ['tools that are denied', 'tools: Read, Bash\ndisallowedTools: Write\nmetadata:\n  disallowedTools: Bash'],
    ['a mode', 'tools: Read, Bash\npermissionMode: acceptEdits\nmetadata:\n  permissionMode: plan'],
    ['another field', 'tools: Read, Bash\nmetadata:\n  maxTurns: 3'],
    ['tools in a second frontmatter', 'tools: Read, Bash\n---\ntools: Read'],
    ['tools below the tools', 'tools:\n  tools: Read'],
    ['servers below the servers', 'mcpServers:\n  mcpServers: [a]'],
  ])('does not settle %s', async (_, head) => {
    const { agent, problems } = await load(`description: x\n${head}`);
    expect(agent).toBeUndefined();
    expect(problems).toContainEqual(expect.stringMatching(/^error agents\/a\.md:\d+: /));
  });

  it('settles turns and servers', async () => {
    const head = 'description: x\nmaxTurns: 3\nmcpServers: [a]\nrequires:\n  mcpServers: [b]\n  maxTurns: 9';
    expect((await load(head)).agent).toMatchObject({ maxTurns: 3, mcpServers: ['a'] });
  });
});
