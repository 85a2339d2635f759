import { describe, expect, it } from 'vitest';
import type { Definitions } from '../../src/engine/definitions/definition.js';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { createPlace, FIXTURES, folderOf, show } from './place.js';

const load = (kind: 'agents' | 'commands' | 'skills' | 'output-styles'): Promise<Definitions> =>
  loadDefinitions([folderOf(kind, `${FIXTURES}/${kind}`)]);
const problemsOf = ({ problems }: Definitions): string[] => show(problems, FIXTURES);

describe('agent files', () => {
  it('load as people write them', async () => {
    const { agents } = await load('agents');
    expect([...agents.keys()].toSorted()).toEqual([
      'api-designer',
      'migrator',
      'planner',
      'reviewer',
      'writer',
      'wrong',
    ]);
    expect(agents.get('reviewer')).toEqual({
      name: 'reviewer',
      description: 'Looks through a change before it is merged. Use it after code was written.',
      prompt: 'You review changes. Read the diff first, then the files around it.',
      tools: ['Read', 'Grep', 'Bash(git diff:*, git log:*)'],
      model: 'inherit',
      color: 'green',
      origin: { scope: 'project', file: `${FIXTURES}/agents/reviewer.md` },
    });
    // In a folder, with a mark of UTF-8 and the line ends of Windows; `*` are all tools.
    expect(agents.get('writer')).toMatchObject({ description: 'Writes documentation', prompt: 'You write.\nBriefly.' });
    expect(agents.get('writer')).not.toHaveProperty('tools');
  });

  it('every field there is', async () => {
    const { agents } = await load('agents');
    expect(agents.get('migrator')).toEqual({
      name: 'migrator',
      description: 'Moves code to a new version.\n\nUse it for one package at a time.',
      prompt: 'You move code.',
      tools: ['Read', 'Edit'],
      disallowedTools: ['Bash'],
      model: 'haiku',
      permissionMode: 'acceptEdits',
      maxTurns: 12,
      effort: 'high',
      background: true,
      isolation: 'worktree',
      context: 'forked',
      initialPrompt: 'Begin with the list of packages.',
      skills: ['pdf-forms', 'release-notes'],
      mcpServers: ['github', { tracker: { command: 'tracker-server', args: ['--read-only'] } }],
      hooks: { PreToolUse: [{ matcher: 'Edit', hooks: [{ type: 'command', command: './check.sh' }] }] },
      origin: { scope: 'project', file: `${FIXTURES}/agents/full.md` },
    });
  });

  it('what is not strict YAML is read, and what was done is said', async () => {
    const loaded = await load('agents');
    expect(loaded.agents.get('api-designer')).toMatchObject({
      description: expect.stringMatching(
        /^Use this agent when .* assistant: "Let me ask the api-designer"<\/example>$/,
      ),
      tools: ['Read', 'Write'],
      model: 'sonnet',
    });
    expect(loaded.agents.get('planner')).toMatchObject({
      description: expect.stringContaining('user: "Where do I begin?"\nassistant: "I will ask: the planner"'),
      model: 'opus',
      color: 'purple',
    });
    const notes = problemsOf(loaded).filter((text) => text.includes('not strict'));
    expect(notes).toEqual([
      expect.stringMatching(/^warning agents\/dialogue\.md:8: "description" is not strict YAML/),
      expect.stringMatching(/^warning agents\/unquoted\.md:3: "description" is not strict YAML/),
    ]);
  });

  it('wrong kinds are told with their line, and the agent is there', async () => {
    const loaded = await load('agents');
    expect(
      problemsOf(loaded)
        .filter((text) => text.includes('wrong-kinds'))
        .toSorted(),
    ).toEqual([
      expect.stringMatching(/:4: "color" must be one of red, /),
      expect.stringMatching(/:5: "effort" must be /),
      expect.stringMatching(/:6: "model" must be one word/),
      expect.stringMatching(/:7: "background" must be true or false/),
    ]);
    expect(loaded.agents.get('wrong')).toMatchObject({ background: false });
  });

  it('one whose restrictions cannot be read is not loaded: it never gets more than was meant', async () => {
    const loaded = await load('agents');
    for (const name of ['loose', 'unguarded', 'broken']) expect(loaded.agents.has(name)).toBe(false);
    expect(problemsOf(loaded).filter((text) => text.startsWith('error'))).toEqual([
      expect.stringMatching(/broken\.md:2: the frontmatter is no YAML/),
      expect.stringMatching(/broken\.md:1: the agent is not loaded/),
      expect.stringMatching(
        /wrong-hooks\.md:4: the agent is not loaded without its hooks: .*did you mean "PreToolUse"/,
      ),
      expect.stringMatching(/wrong-tools\.md:4: "tools" must be a list of names; the agent is not loaded/),
    ]);
  });

  it('limits are read by either spelling, and one that cannot be kept keeps the agent from being loaded', async () => {
    const place = createPlace();
    const write = (name: string, fields: string) =>
      place.write(`a/${name}.md`, `---\nname: ${name}\ndescription: d\n${fields}\n---\np`);
    write('good', 'maxBudgetUsd: 0.5\nmax-tokens: 9000\nmaxSeconds: "1.5"');
    write('zero', 'maxBudgetUsd: 0');
    write('half', 'maxTokens: 1.5');
    write('word', 'max-seconds: soon');
    const { agents, problems } = await loadDefinitions([folderOf('agents', place.path('a'))]);
    expect([...agents.keys()]).toEqual(['good']);
    expect(agents.get('good')).toMatchObject({ maxBudgetUsd: 0.5, maxTokens: 9_000, maxSeconds: 1.5 });
    const errors = show(problems, place.root).filter((text) => text.startsWith('error'));
    expect(errors.toSorted()).toEqual([
      expect.stringMatching(/half\.md:4: "maxTokens" must be a whole number above 0; the agent is not loaded/),
      expect.stringMatching(/word\.md:4: "maxSeconds" must be a number above 0; the agent is not loaded/),
      expect.stringMatching(/zero\.md:4: "maxBudgetUsd" must be a number above 0; the agent is not loaded/),
    ]);
  });

  it('notes beside agents are no agents', async () => {
    const loaded = await load('agents');
    expect(problemsOf(loaded).filter((text) => /notes|README/.test(text))).toEqual([
      'warning agents/notes.md:1: it has no frontmatter with a name and a description; it is no agent',
    ]);
  });

  it('names and descriptions that are missing come from the file', async () => {
    const place = createPlace();
    place.write('a/tester.md', '---\nmodel: opus\n---\n\n# You test.\n');
    place.write(
      'a/servers.md',
      '---\nname: s\ndescription: d\nmcpServers:\n  good: {command: x}\n  bad: {port: 1}\n---\np',
    );
    const { agents, problems } = await loadDefinitions([folderOf('agents', place.path('a'))]);
    expect(agents.get('tester')).toMatchObject({ description: 'You test.', model: 'opus' });
    expect(agents.get('s')?.mcpServers).toEqual([{ good: { command: 'x' } }]);
    expect(show(problems, place.root)).toEqual([
      expect.stringContaining('servers.md:4: the MCP server "bad" is left out'),
      expect.stringContaining('the agent has no usable "name"'),
      expect.stringContaining('the agent has no "description"'),
    ]);
  });
});

describe('command files', () => {
  it('with and without frontmatter, in folders, lists and hints of every form', async () => {
    const { commands } = await load('commands');
    const base = { argumentHint: '', allowedTools: [], modelMayCall: true, userMayCall: true };
    const origin = (file: string) => ({ scope: 'project', file: `${FIXTURES}/commands/${file}` });
    expect(Object.fromEntries(commands)).toEqual({
      hello: { ...base, name: 'hello', description: 'Say hello to $ARGUMENTS, politely.', origin: origin('hello.md') },
      fix: {
        ...base,
        name: 'fix',
        description: 'Fix an issue',
        argumentHint: '[issue] [priority]',
        allowedTools: ['Bash(git add:*)', 'Bash(git commit:*)', 'Read'],
        origin: origin('fix.md'),
      },
      'git:status': {
        ...base,
        name: 'git:status',
        description: 'What changed: a summary',
        argumentHint: '[path] [depth]',
        allowedTools: ['Bash(git status:*)'],
        model: 'opus',
        modelMayCall: false,
        origin: origin('git/status.md'),
      },
      'git:hidden': {
        ...base,
        name: 'git:hidden',
        description: 'Only for people',
        modelMayCall: false,
        origin: origin('git/hidden.md'),
      },
      // Nobody knows what its frontmatter said: the model may not call it.
      broken: {
        ...base,
        name: 'broken',
        description: 'Do the thing',
        modelMayCall: false,
        origin: origin('broken.md'),
      },
      open: { ...base, name: 'open', description: 'Never closed', allowedTools: ['Read'], origin: origin('open.md') },
    });
  });

  it('says what is wrong, with file and line', async () => {
    expect(problemsOf(await load('commands'))).toEqual([
      'error commands/broken.md:2: the frontmatter is no YAML: it holds no "key: value" lines',
      expect.stringMatching(/^warning commands\/open\.md:1: the frontmatter is not closed/),
    ]);
  });

  it('what only skills can do is told', async () => {
    const place = createPlace();
    place.write('c/fork.md', '---\ndescription: d\ncontext: fork\nagent: Explore\n---\nx');
    place.write('c/agent.md', '---\ndescription: d\nagent: Explore\n---\nx');
    place.write('c/inline.md', '---\ndescription: d\ncontext: inline\n---\nx');
    const { commands, problems } = await loadDefinitions([folderOf('commands', place.path('c'))]);
    expect([...commands.keys()].toSorted()).toEqual(['agent', 'fork', 'inline']);
    expect(show(problems, place.path('c')).toSorted()).toEqual([
      expect.stringMatching(
        /^warning agent\.md:3: "context" and "agent" count in skills; a command goes to whoever calls/,
      ),
      expect.stringMatching(/^warning fork\.md:3: "context" and "agent" count in skills/),
    ]);
  });

  it('a switch that is neither yes nor no keeps the model away; a name that nobody can type is no command', async () => {
    const place = createPlace();
    place.write('c/odd.md', '---\ndisable-model-invocation: maybe\n---\nx');
    place.write('c/two words.md', 'x');
    const { commands, problems } = await loadDefinitions([folderOf('commands', place.path('c'))]);
    expect([...commands.values()].map(({ name, modelMayCall }) => [name, modelMayCall])).toEqual([['odd', false]]);
    expect(show(problems, place.path('c'))).toEqual([
      expect.stringContaining('odd.md:2: "disable-model-invocation" must be true or false'),
      expect.stringContaining('two words.md:1: "/two words" cannot be called'),
    ]);
  });
});

describe('skills and output styles', () => {
  it('one folder each, named by it where the written name cannot be called', async () => {
    const loaded = await load('skills');
    const { skills } = loaded;
    expect([...skills.keys()]).toEqual(['pdf-forms', 'quiet', 'release-notes']);
    expect(skills.get('pdf-forms')).toMatchObject({
      allowedTools: ['Read', 'Bash(python:*)'],
      folder: `${FIXTURES}/skills/pdf-forms`,
      origin: { scope: 'project', file: `${FIXTURES}/skills/pdf-forms/SKILL.md` },
    });
    expect(skills.get('quiet')).toMatchObject({ userMayCall: false, modelMayCall: true });
    expect(skills.get('release-notes')?.description).toBe(
      'Writes release notes from the log. When a version is about to be published.',
    );
    expect(problemsOf(loaded)).toEqual([
      expect.stringMatching(/release-notes\/SKILL\.md:2: a skill cannot be called "Release Notes"/),
    ]);
  });

  it('styles keep the default prompt where they say so', async () => {
    const loaded = await load('output-styles');
    expect([...loaded.styles.values()].map(({ name, keepsDefault, prompt }) => [name, keepsDefault, prompt])).toEqual([
      ['teacher', false, 'Explain every step.'],
      ['Terse', true, 'Answer in one sentence.'],
    ]);
    expect(problemsOf(loaded)).toEqual([expect.stringContaining('empty.md:4: the output style has no text')]);
  });
});
