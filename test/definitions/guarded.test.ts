/** What grants or restricts is read for sure, or not at all: in agents, commands and skills alike. */
import { describe, expect, it } from 'vitest';
import type { Agent, CommandFile } from '../../src/engine/definitions/definition.js';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { createPlace, folderOf, show } from './place.js';

const file = (head: string): string => `---\n${head}\n---\nbody\n`;

async function readAgent(head: string): Promise<{ agent: Agent | undefined; problems: string[] }> {
  const place = createPlace();
  place.write('agents/a.md', file(head));
  const { agents, problems } = await loadDefinitions([folderOf('agents', place.path('agents'))]);
  return { agent: [...agents.values()][0], problems: show(problems, place.root) };
}

/** The same head as a command and as a skill. */
async function readCalls(head: string): Promise<{ calls: CommandFile[]; problems: string[] }> {
  const place = createPlace();
  place.write('commands/c.md', file(head));
  place.write('skills/c/SKILL.md', file(head));
  const folders = (['commands', 'skills'] as const).map((kind) => folderOf(kind, place.path(kind)));
  const { commands, skills, problems } = await loadDefinitions(folders);
  return { calls: [...commands.values(), ...skills.values()], problems: show(problems, place.root) };
}

const allowedOf = ({ calls }: { calls: CommandFile[] }): (readonly string[])[] =>
  calls.map(({ allowedTools }) => allowedTools);

/** With this the file is none that YAML takes as a whole. */
const ODD = 'description: Fix: it';
const STRICT = 'description: Fix it';

describe('lines that are no fields never become permissions', () => {
  it.each([
    ['a key that nobody knows', 'note: careful: never use Bash'],
    ['one with hyphens', 'my-caveats: warning: do not call Bash, Write'],
    ['one with a list below', 'notes:\n* first: a: b\n* Bash'],
    ['one with an indented text', 'notes: a: b\n  Bash\n  Write'],
    ['one with blanks', 'please note: never use Bash'],
    ['two of them', 'notes: a: b\nothers: c: d, Bash'],
    ['one that is YAML', 'notes: Bash'],
    ['a field of a text behind it', 'when_to_use: then: Bash'],
  ])('%s', async (_, stray) => {
    const { agent } = await readAgent(`name: a\n${ODD}\ntools: Read, Grep\n${stray}`);
    expect(agent?.tools).toEqual(['Read', 'Grep']);
    const { calls } = await readCalls(`${ODD}\nallowed-tools: Read, Grep\n${stray}`);
    expect(calls.map(({ allowedTools }) => allowedTools)).toEqual([
      ['Read', 'Grep'],
      ['Read', 'Grep'],
    ]);
  });

  it.each([
    ['an indented field', 'Read, Grep\n  disallowed-tools: Bash'],
    ['an indented field without its blank', 'Read, Grep\n  disallowed-tools:Bash'],
    ['an indented text', 'Read\n  never use Bash'],
    ['a text with a capital', 'Read\n  Bash is evil'],
    ['a line that is no key', 'Read\nnever use Bash'],
    ['bullets', '\n* Read\n* Bash'],
    ['bullets that are indented', '\n  * Read\n  * Bash'],
    ['a star and a name', '"* Read"'],
    ['a star in a list', '[Read, "* Bash"]'],
    ['a sentence', 'all except Bash'],
    ['a sentence behind a comma', 'Read, not Bash'],
    ['a sentence with capitals', 'All Except Bash'],
    ['two words with capitals', 'Read, No Bash'],
    ['capitals between blanks', 'Read Never Bash'],
    ['more words with capitals', 'Read, Never Use Bash'],
    ['a star and a sentence', '"*, Except Bash"'],
    ['a star and a name with a comma', '"*, Bash"'],
    ['all and a name', 'All, Bash'],
    ['an item with capitals', '\n  - Read\n  - Not Bash'],
    ['a sentence with commas', 'Everything, Except, Bash'],
    ['a word before a rule', 'Not Bash(git status:*)'],
    ['a tool of nobody between blanks', 'Read Bassh'],
    ['a sentence with a list in it', 'all except Bash, Write'],
    ['an item that is a sentence', '\n  - Read\n  - everything but Bash'],
    ['a remark in brackets', 'Read (not Bash)'],
    ['an exclamation mark', 'Read, !Bash'],
    ['a minus', 'Read, -Bash'],
    ['a list that is not closed', '[Read, Bash'],
    ['a list that is closed twice', '[Read, Bash]]'],
    ['a quote that is not closed', '"Read, Bash'],
    ['semicolons', 'Read; Bash'],
    ['a table', '{Read: true, Bash: false}'],
    ['a tag', '!none Bash'],
    ['an anchor', '&Read'],
    ['a bracket that is not closed', 'Bash(git status, Read'],
    ['the field twice', 'Read\nallowed-tools: Bash'],
    ['the field twice, written in two ways', 'Read\nallowedTools: Bash'],
    ['the field under both names', 'Read\ntools: Bash'],
  ])('what is not sure grants nothing, and makes no agent: %s', async (_, written) => {
    for (const description of [ODD, STRICT]) {
      const { agent, problems } = await readAgent(`name: a\n${description}\nallowed-tools: ${written}`);
      expect({ agent, problems }).toEqual({
        agent: undefined,
        problems: expect.arrayContaining([expect.stringMatching(/^error agents\/a\.md:[4-6]: .*not loaded/)]),
      });
      const read = await readCalls(`name: c\n${description}\nallowed-tools: ${written}`);
      expect(allowedOf(read)).toEqual([[], []]);
      for (const place of ['commands/c.md', 'skills/c/SKILL.md']) {
        expect(read.problems).toContainEqual(expect.stringMatching(new RegExp(`^warning ${place}:[4-6]: `)));
      }
    }
  });

  it.each([
    ['quotes of their own', '"Read", "Bash(git status:*)"', ['Read', 'Bash(git status:*)']],
    ['quotes of their own in brackets', `['Read', "Grep"]`, ['Read', 'Grep']],
    ['backquotes', '`Read`, `Grep`', ['Read', 'Grep']],
    ['a comma too many', 'Read, Grep,', ['Read', 'Grep']],
    ['blanks', 'Read Grep mcp__a__b', ['Read', 'Grep', 'mcp__a__b']],
    ['blanks and rules', 'Bash(git status:*) Agent MultiEdit', ['Bash(git status:*)', 'Agent', 'MultiEdit']],
    ['tools of nobody with commas', 'Read, Mine', ['Read', 'Mine']],
    ['a list', '\n  - Read\n  - Grep', ['Read', 'Grep']],
    ['a list with tabs', '\n\t- Read\n\t- Grep', ['Read', 'Grep']],
    ['a list at the start of the line', '\n- Read\n- Grep', ['Read', 'Grep']],
    ['a remark', 'Read, Grep # no Bash', ['Read', 'Grep']],
    ['the same twice', 'Read, Grep\nallowed-tools: [Read, Grep]', ['Read', 'Grep']],
    ['a list that goes on below', 'Read,\n  Grep', ['Read', 'Grep']],
    ['a block', '>\n  Read,\n  Grep', ['Read', 'Grep']],
  ])('what is sure counts as ever: %s', async (_, written, expected) => {
    for (const description of [ODD, STRICT]) {
      expect((await readAgent(`name: a\n${description}\ntools: ${written}`)).agent?.tools).toEqual(expected);
      const read = await readCalls(`${description}\nallowed-tools: ${written}`);
      expect(allowedOf(read)).toEqual([expected, expected]);
    }
  });

  it('a command that names what it must not use does not allow that', async () => {
    const read = await readCalls('description: d\nallowed-tools: Read, Bash(git:*)\ndisallowed-tools: bash');
    expect(allowedOf(read)).toEqual([['Read'], ['Read']]);
    expect(read.problems[0]).toMatch(/commands\/c\.md:4: "disallowed-tools" only takes tools from/);
    expect(allowedOf(await readCalls('allowed-tools: "*"\ndisallowed-tools: Bash'))).toEqual([[], []]);
    expect(allowedOf(await readCalls('allowed-tools: Read\ndisallowed-tools: [Bash'))).toEqual([[], []]);
    expect(allowedOf(await readCalls('allowed-tools: "*"'))).toEqual([['*'], ['*']]);
  });

  it.each([
    ['"*"', []],
    ['all', []],
    ['All Tools', []],
    ['Read, all', []],
    ['Ba*', ['Read', 'mcp__s__a']],
    ['Bash(rm:*)', ['Read', 'mcp__s__a']],
    ['"Bash(rm"', ['Read', 'mcp__s__a']],
    ['mcp__s', ['Read', 'Bash(git:*)']],
    ['mcp__*', ['Read', 'Bash(git:*)']],
    ['mcp__s__b', ['Read', 'Bash(git:*)', 'mcp__s__a']],
    ['FileRead', ['Bash(git:*)', 'mcp__s__a']],
    ['MultiEdit', ['Read', 'Bash(git:*)', 'mcp__s__a']],
    ['Bsh', []],
    ['Zz*', []],
    ['No Bash', []],
    ['Bash\ndenied-tools: Read', ['mcp__s__a']],
  ])('what a command must not use is matched as rules are: %s', async (denied, expected) => {
    const head = `description: d\nallowed-tools: Read, Bash(git:*), mcp__s__a\ndisallowed-tools: ${denied}`;
    expect(allowedOf(await readCalls(head))).toEqual([expected, expected]);
  });

  it('a server of which one tool is denied is not allowed, nor is a pattern', async () => {
    const head = 'allowed-tools: mcp__s, mcp__t, mcp__s__*\ndisallowed-tools: mcp__s__a';
    expect(allowedOf(await readCalls(head))).toEqual([['mcp__t'], ['mcp__t']]);
  });

  it('what names no tool is told', async () => {
    const { problems } = await readCalls('description: d\nallowed-tools: Bash\ndisallowed-tools: Bsh');
    expect(problems).toContainEqual(
      'warning commands/c.md:4: "disallowed-tools" holds "Bsh", which names no tool; nothing is allowed by "allowed-tools"',
    );
  });
});

describe('a restriction that cannot be read keeps the agent from being loaded', () => {
  it.each([
    ['a list that is not closed', 'disallowedTools: [Bash, Write'],
    ['a list with quotes that is not closed', "disallowedTools: ['Bash', 'Write'"],
    ['a list that is closed twice', 'disallowedTools: [Bash, Write]]'],
    ['a quote that is not closed', 'disallowedTools: "Bash, Write'],
    ['items without their blank', 'disallowedTools:\n  -Bash\n  -Write'],
    ['semicolons', 'disallowedTools: Bash; Write'],
    ['stars around it', 'disallowedTools: **Bash**'],
    ['an alias', 'disallowedTools: *Bash'],
    ['a tag', 'disallowedTools: !Bash'],
    ['a tag in a list', 'disallowedTools:\n  - !Bash\n  - Write'],
    ['an anchor', 'disallowedTools: &Bash'],
    ['a sentence', 'disallowedTools: no Bash please'],
    ['a number', 'disallowedTools: 7'],
    ['a bracket that swallows a name', 'disallowedTools: Bash(rm, Write'],
    ['a table', 'disallowedTools:\n  Bash: true'],
    ['lines that are no list', 'disallowedTools:\nBash'],
    ['an indented field', ' disallowedTools: Bash'],
    ['a field that is indented further', '   disallowed-tools: Bash'],
    ['an indented field without its blank', ' disallowedTools:Bash'],
    ['an indented field with another sign', '  disallowedTools = Bash'],
    ['no blank', 'disallowedTools:Bash'],
    ['an equals sign', 'disallowedTools = Bash'],
    ['an arrow', 'disallowedTools -> Bash'],
    ['a wide colon', 'disallowedTools\uff1aBash'],
    ['no colon', 'disallowedTools Bash'],
    ['no colon above a list', 'disallowedTools\n  - Bash'],
    ['quotes and no blank', '"disallowedTools":Bash'],
    ['upper case, indented', '  DisallowedTools: Bash'],
    ['a mode that is indented', ' permissionMode: plan'],
    ['a mode that is not closed', 'permissionMode: "plan'],
    ['two modes', 'permissionMode: plan\npermissionMode: acceptEdits'],
    ['two modes in two ways', 'permissionMode: plan\npermission-mode: acceptEdits'],
    ['turns in words', 'maxTurns: "3 turns"'],
    ['no turns', 'maxTurns: 0'],
    ['turns that are a list', 'maxTurns: [3]x'],
    ['two numbers of turns', 'maxTurns: 3\nmax-turns: 30'],
    ['another isolation', 'isolation: container'],
    ['an isolation that is not closed', 'isolation: "worktree'],
    ['servers that are not closed', 'mcpServers: [a, b'],
    ['two lists of servers', 'mcpServers: [a]\nmcp-servers: [b]'],
    ['hooks that are not closed', 'hooks: {PreToolUse: ['],
    ['hooks twice', 'hooks: {}\nHooks: {Stop: []}'],
    ['tools without their blank', 'tools:Read'],
    ['tools, indented', ' tools: Read'],
    ['a bullet', '- disallowedTools: Bash'],
    ['a bullet without its colon', '- disallowedTools Bash'],
    ['a star', '* disallowedTools: Bash'],
    ['a number before it', '1. disallowedTools: Bash'],
    ['bold', '**disallowedTools:** Bash'],
    ['bold without its colon', '**disallowedTools**: Bash'],
    ['a quotation', '> disallowedTools: Bash'],
    ['a heading', 'note: x: y\n  ## tools: Read'],
    ['a table of JSON', '{"disallowedTools": ["Bash"]}'],
    ['a table of JSON with more', '{"a": 1, "disallowedTools": ["Bash"]}'],
    ['behind NEL', 'note: x\u0085disallowedTools: Bash'],
    ['behind LS', 'note: x\u2028disallowedTools: Bash'],
    ['behind PS', 'note: x\u2029disallowedTools: Bash'],
    ['behind VT', 'note: x\u000bdisallowedTools: Bash'],
    ['behind FF', 'note: x\u000cdisallowedTools:Bash'],
    ['below a key that nobody knows', 'note:\n  disallowedTools: Bash'],
    ['below it, further', 'config:\n  agent:\n    tools: Read'],
    ['in a table of one line', 'options: {disallowedTools: Bash}'],
    ['in a list of tables', 'options:\n  - a: 1\n  - disallowedTools: [Bash]'],
    ['below metadata', 'metadata:\n  permission-mode: plan'],
    ['merged', 'base: &b {disallowedTools: [Bash]}\n<<: *b'],
    ['among the servers', 'mcpServers:\n  disallowedTools: [Bash]'],
    ['among the hooks', 'hooks:\n  disallowedTools: [Bash]'],
    ['a mode of two words', 'permissionMode: plan mode'],
    ['a mode of others', 'permissionMode: read-only'],
    ['a list of modes', 'permissionMode: [plan, default]'],
    ['a mode that is a table', 'permissionMode: {plan: true}'],
    ['singular, indented', ' disallowedTool: Bash'],
  ])('%s', async (_, restriction) => {
    for (const head of [`description: x\n${restriction}`, `${restriction}\n${ODD}`, `${ODD}\n${restriction}`]) {
      const { agent, problems } = await readAgent(`name: a\n${head}`);
      expect({ head, agent, problems }).toEqual({
        head,
        agent: undefined,
        problems: expect.arrayContaining([expect.stringMatching(/^error agents\/a\.md:[2-7]: /)]),
      });
    }
  });

  it.each([
    ['below a text', 'description:\n  disallowedTools: Bash'],
    ['below a list', 'description: x\nskills:\n  - disallowedTools: Bash'],
    ['below the tools', 'description: x\ntools:\n  disallowedTools: Bash'],
  ])('a field that stands %s', async (_, head) => {
    const { agent, problems } = await readAgent(`name: a\n${head}`);
    expect(agent).toBeUndefined();
    expect(problems.join('\n')).toMatch(/^error agents\/a\.md:[345]: .*"disallowedTools"/m);
  });

  it('the line is that of the field itself', async () => {
    const { problems } = await readAgent('name: a\ndescription: x\nconfig:\n  a: 1\n  tools: Read');
    expect(problems).toEqual([expect.stringMatching(/^error agents\/a\.md:6: this line looks like the field "tools"/)]);
  });

  it('behind a line of dashes too many', async () => {
    const { agent, problems } = await readAgent('name: a\ndescription: x\n---\ndisallowedTools: Bash');
    expect(agent).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/^error agents\/a\.md:5: .*"disallowedTools"/)]);
    const text = await readAgent('name: a\ndescription: x\n---\nTools: those that you need.\n\nYou work.');
    expect(text.agent).toBeDefined();
  });

  it('below the empty line at which an open frontmatter is taken to end', async () => {
    const place = createPlace();
    place.write('agents/a.md', '---\nname: a\ndescription: x\n\ndisallowedTools: Bash\n\nYou work.\n');
    place.write('agents/b.md', '---\nname: b\ndescription: x\n\nYou work.\nTools: those that you need.\n');
    const { agents, problems } = await loadDefinitions([folderOf('agents', place.path('agents'))]);
    expect([...agents.keys()]).toEqual(['b']);
    expect(show(problems, place.root)).toContainEqual(
      expect.stringMatching(/^error agents\/a\.md:5: .*disallowedTools/),
    );
  });
});

describe('a restriction that is written in another way counts', () => {
  it.each([
    ['DisallowedTools: Bash', ['Bash']],
    ['disallowed_tools: Bash', ['Bash']],
    ['Disallowed-Tools: [Bash]', ['Bash']],
    ['disallowed tools: Bash', ['Bash']],
    ['disallowedTools : Bash', ['Bash']],
    ['"disallowedTools": Bash', ['Bash']],
    ['disallowedTools:\u00a0Bash', ['Bash']],
    ['disallowed\u200bTools: Bash', ['Bash']],
    ['disallowedTools:\tBash', ['Bash']],
    ['disallowedTools: `Bash`', ['Bash']],
    ['disallowedTools: "Bash", "Write"', ['Bash', 'Write']],
    ['disallowedTools: Bash # no shell', ['Bash']],
    ['disallowedTools: Bash\ndisallowedTools: Write', ['Bash', 'Write']],
    ['disallowedTools: Bash\ndisallowed-tools: Write', ['Bash', 'Write']],
    ['disallowedTools: Bash\ndisallowedTools:', ['Bash']],
    ['disallowedTools: bash', ['Bash']],
    ['disallowedTools: BASH(rm:*)', ['Bash(rm:*)']],
    ['disallowedTools: ["Bash(rm", Write]', ['Write', 'Bash(rm', 'Bash']],
    ['x: &t [Bash]\ndisallowedTools: *t', ['Bash']],
    ['disallowedTool: Bash', ['Bash']],
    ['denied-tools: Bash', ['Bash']],
    ['disallowedTools: all', ['*']],
    ['disallowedTools: All tools', ['*']],
    ['disallowedTools: [all]', ['*']],
    ['disallowedTools: Bash, all', ['Bash', '*']],
  ])('%j', async (restriction, expected) => {
    const { agent } = await readAgent(`name: a\ndescription: x\n${restriction}`);
    expect(agent?.disallowedTools).toEqual(expected);
  });

  it('tools, modes, turns and places', async () => {
    expect((await readAgent('name: a\ndescription: x\nTools: Read')).agent?.tools).toEqual(['Read']);
    expect((await readAgent('name: a\ndescription: x\ntool: Read')).agent?.tools).toEqual(['Read']);
    expect((await readAgent('name: a\ndescription: x: y\nTools: Read')).agent?.tools).toEqual(['Read']);
    const stray = 'stray: x: y';
    const head = `name: a\n${ODD}\npermissionMode: plan\n${stray}\nmaxTurns: 1\n${stray}\nisolation: Worktree\n${stray}`;
    expect((await readAgent(head)).agent).toMatchObject({ permissionMode: 'plan', maxTurns: 1, isolation: 'worktree' });
    for (const mode of ['Plan', '[plan]', '\n  - plan']) {
      expect((await readAgent(`name: a\ndescription: x\npermissionMode: ${mode}`)).agent?.permissionMode).toBe('plan');
    }
  });

  it.each([
    ['BashTool', ['Bash']],
    ['Bash_tool', ['Bash']],
    ['bashtool', ['Bash']],
    ['run-bash', ['Bash']],
    ['shell', ['Bash']],
    ['ShellCommand', ['Bash']],
    ['ReadFile', ['Read']],
    ['web_search_tool', ['WebSearch']],
    ['Web', ['WebFetch', 'WebSearch']],
    ['TodoWriteTool', ['TodoWrite']],
    ['spreadsheet', undefined],
    ['Zebra', undefined],
  ])('a name with that of a tool in it denies that tool, and every other one is told: %s', async (name, tools) => {
    const { agent, problems } = await readAgent(`name: a\ndescription: x\ndisallowedTools: ${name}`);
    expect(agent?.disallowedTools).toEqual([name, ...(tools ?? [])]);
    const said = tools === undefined ? 'it denies one of that name, if' : `; denied: ${tools.join(', ')}`;
    expect(problems).toEqual([expect.stringContaining(`:4: "disallowedTools": "${name}" names no tool`)]);
    expect(problems[0]).toContain(said);
  });

  it('what a name that no tool has may mean is denied, and it may come later', async () => {
    const { agent, problems } = await readAgent('name: a\ndescription: x\ndisallowedTools: Bsah, mcp__x__y, mcp__z, *');
    expect(agent?.disallowedTools).toEqual(['Bsah', 'Bash', 'mcp__x__y', 'mcp__z', '*']);
    expect(problems).toEqual([
      expect.stringMatching(/^warning agents\/a\.md:4: "disallowedTools": "Bsah" names no tool.*; denied: Bash$/),
    ]);
  });

  it.each([
    ['disable-model-invocation: true\nnote: a: b', { modelMayCall: false }],
    ['Disable-Model-Invocation: true', { modelMayCall: false }],
    ['disableModelInvocation: true', { modelMayCall: false }],
    ['disable-model-invocation: true\ndisable-model-invocation: false', { modelMayCall: false }],
    ['disable-model-invocation: "true', { modelMayCall: false }],
    ['disable-model-invocation:true', { modelMayCall: false }],
    [' disable-model-invocation: true', { modelMayCall: false }],
    ['disable-model-invocation = true', { modelMayCall: false }],
    ['user-invocable: false\nnote: a: b', { userMayCall: false }],
    ['User-Invocable: false', { userMayCall: false }],
    ['user-invocable:false', { userMayCall: false }],
    [' user-invocable: false', { userMayCall: false }],
    ['user-invocable: "false', { userMayCall: false }],
    ['user-invocable: false\nuserInvocable: true', { userMayCall: false }],
    ['user-invocable: true\nnote: a: b', { userMayCall: true }],
  ])('%j in a command and a skill', async (restriction, expected) => {
    const { calls } = await readCalls(`${ODD}\n${restriction}`);
    expect(calls).toMatchObject([expected, expected]);
  });
});

describe('a field of one line is one line', () => {
  it.each([
    ['examples: user: "hello"', 'opus'],
    ['example: run: this', 'opus'],
    ['* a: b: c', 'opus'],
  ])('a model before %j', async (stray, model) => {
    const { agent } = await readAgent(`name: a\n${ODD}\nmodel: ${model}\n${stray}`);
    expect(agent).toMatchObject({ name: 'a', model });
    const { calls } = await readCalls(`${ODD}\nmodel: ${model}\n${stray}`);
    expect(calls).toMatchObject([{ model }, { model }]);
  });

  it('a name before a line that nobody knows', async () => {
    const { agent } = await readAgent(`name: tester\nuser: "hi": x\n${ODD}`);
    expect(agent).toMatchObject({ name: 'tester', description: 'Fix: it' });
  });

  it('a model of several words is none', async () => {
    const { agent, problems } = await readAgent('name: a\ndescription: x\nmodel: the best\n  there is');
    expect(agent).not.toHaveProperty('model');
    expect(problems).toEqual(['warning agents/a.md:4: "model" must be one word; it is left out']);
  });
});

describe('texts keep what is theirs', () => {
  it('dialogues in a description are text, whatever stands in them', async () => {
    const dialogue =
      'Use it. Examples:\n<example>\nContext: a user asks: x\nuser: "Do: it"\nassistant: "Yes: I use: it"\n</example>';
    const { agent } = await readAgent(`name: a\ndescription: ${dialogue}\ntools: Read\nmodel: opus`);
    expect(agent).toMatchObject({ description: dialogue, tools: ['Read'], model: 'opus' });
  });

  it('a block and a quoted text may speak of fields', async () => {
    for (const text of ['|\n  Sets\n  disallowedTools: Bash', '"Sets\n  disallowedTools: Bash"']) {
      const { agent, problems } = await readAgent(`name: a\ndescription: ${text}`);
      expect(agent?.description).toMatch(/^Sets\s+disallowedTools: Bash$/);
      expect(problems).toEqual([]);
    }
  });

  it('tables of others may have such keys', async () => {
    const hooks =
      'hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: x';
    const servers = 'mcpServers:\n  tools:\n    command: x\n    env: {hooks: "1"}';
    const { agent, problems } = await readAgent(`name: a\ndescription: x\n${hooks}\n${servers}\nmetadata:\n  a: tools`);
    expect(agent?.mcpServers).toEqual([{ tools: { command: 'x', env: { hooks: '1' } } }]);
    expect(problems).toEqual([]);
  });

  it('signs at their beginning that YAML takes away', async () => {
    expect((await readAgent('name: a\ndescription: &amp x')).agent?.description).toBe('&amp x');
    expect((await readAgent('name: a\ndescription: !important thing')).agent?.description).toBe('!important thing');
  });
});

describe('a key of an agent that is not known', () => {
  it.each(['toolz: Read', 'permisionMode: plan', 'dissallowedTools: Bash', 'maxTruns: 3', 'isolatoin: worktree'])(
    'keeps it from being loaded where it is a slip of one that restricts: %s',
    async (line) => {
      const { agent, problems } = await readAgent(`name: a\n${STRICT}\n${line}`);
      expect(agent).toBeUndefined();
      expect(problems).toEqual([expect.stringMatching(/^error agents\/a\.md:4: .*; did you mean "/)]);
    },
  );

  it.each(['mode: plan', 'permissions: plan', 'readonly: true', 'read-only: true', 'modle: opus', 'colour: red'])(
    'is told: %s',
    async (line) => {
      const { agent, problems } = await readAgent(`name: a\n${STRICT}\n${line}`);
      expect(agent).toBeDefined();
      expect(problems).toEqual([expect.stringMatching(/^warning agents\/a\.md:4: ".*" is not known/)]);
    },
  );

  it('is nothing to complain about where it means something else', async () => {
    const { agent, problems } = await readAgent(
      `name: a\n${STRICT}\nversion: 2\nauthor: me\ntags: [x]\npermission_mode: plan`,
    );
    expect([agent?.permissionMode, problems]).toEqual(['plan', []]);
  });
});
