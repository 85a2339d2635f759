import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWith } from '../commands/kit.js';
import { bash, ofSubtype, task } from './kit.js';

const weaver = (fields: string) => ({
  'agents/weaver.md': `---\nname: weaver\ndescription: d\n${fields}\n---\nYou weave.\n`,
});
const weave = (fields: string, calls: ReturnType<typeof bash>[] = []) =>
  startWith(
    weaver(fields),
    [
      { toolUse: task('t1', { subagent_type: 'weaver' }) },
      ...(calls.length > 0 ? [{ toolUse: calls }] : []),
      'woven',
      'Done.',
    ],
    { config: { allowedTools: ['Bash', 'Write'] } },
  );

describe('a broken rule in disallowedTools of an agent file', () => {
  it.each<[string, RegExp, string[]]>([
    ['disallowedTools: Bash(touch', /its bracket is not closed; denied: Bash$/, ['Bash']],
    ['disallowedTools: ["Bash(touch", "Write"]', /not closed; denied: Bash$/, ['Bash', 'Write']],
    ['disallowedTools: Bahs', /names no tool.*; denied: Bash$/, ['Bash']],
    ['disallowedTools: Bahs(touch:*)', /names no tool.*; denied: Bash$/, ['Bash']],
    ['disallowedTools: bash', /names no tool; it is taken as Bash$/, ['Bash']],
    ['disallowedTools: WebFetch(example.com)', /can never match.*; denied: WebFetch$/, ['WebFetch']],
    ['disallowed-tools: Bash(touch', /^"disallowedTools": .*denied: Bash$/, ['Bash']],
  ])('%s', async (fields, problem, denied) => {
    const run = await weave(fields);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    const place = `${join(run.cwd, '.claude/agents/weaver.md')}:4: `;
    const told = ofSubtype(run.messages, 'informational').map(({ level, content }) => ({ level, content }));
    expect(told).toEqual([{ level: 'warning', content: expect.stringContaining(place) }]);
    expect(told[0]?.content.slice(place.length).replace(/\.$/, '')).toMatch(problem);
    const tools = run.model.requests[1]?.body.tools?.map(({ name }) => name) ?? [];
    expect(tools).toContain('Read');
    for (const name of denied) expect(tools).not.toContain(name);
  });

  it('denies what it names also where everything is allowed and the person would agree', async () => {
    const run = await startWith(
      weaver('disallowedTools: Bash(touch'),
      [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, { toolUse: bash('b1', 'touch one') }, 'woven', 'Done.'],
      {
        ask: async () => ({ behavior: 'allow' }),
        config: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
      },
    );
    await run.ask('go');
    expect(existsSync(join(run.cwd, 'one'))).toBe(false);
  });

  it.each(['disallowedTools: Bash(touch:*), Write, mcp__x', 'tools: Read, Bash(git diff:*), TheirOwnTool'])(
    'nothing is told of whole ones: %s',
    async (fields) => {
      const run = await weave(fields, [bash('b1', 'touch one')]);
      await run.ask('go');
      expect(ofSubtype(run.messages, 'informational')).toEqual([]);
    },
  );

  it.each([
    'tools: Read, Bash(git diff, Write',
    'disallowedTools: Bash(touch, Write',
    'disallowedTools: ["Bash)touch"]',
    'disallowedTools: ["Bash(touch:*)x"]',
  ])('a list that may mean several things keeps the agent away: %s', async (fields) => {
    const run = await weave(fields);
    await run.ask('go');
    const told = ofSubtype(run.messages, 'informational').map(({ content }) => content);
    expect(told).toEqual([
      expect.stringMatching(/weaver\.md:4: "\w+" must be a list of names; the agent is not loaded/),
    ]);
  });
});

describe('/permissions of a main thread that is an agent', () => {
  const shown = async (fields: string, config: object = {}): Promise<string> => {
    const run = await startWith(weaver(fields), [], { config: { agent: 'weaver', ...config } });
    return ((await run.ask('/permissions')) as { result: string }).result;
  };

  it('shows what it denies and which tools it leaves', async () => {
    const text = await shown('tools: Read, Bash(git diff:*)\ndisallowedTools: Bash(touch:*), Bash(rm:*)', {
      disallowedTools: ['Bash(rm:*)'],
      allowedTools: ['Read'],
    });
    expect(text).toBe(
      [
        'The permission mode is default.',
        'Denied\n- Bash(rm:*) (flag)\n- Bash(touch:*) (agent weaver)',
        'Allowed\n- Read (flag)',
        'The only tools of the agent weaver\n- Read\n- Bash(git diff:*)',
      ].join('\n\n'),
    );
  });

  it('shows what is denied in the place of a broken rule, and nothing where it brings nothing', async () => {
    expect(await shown('disallowedTools: Bash(touch')).toContain(
      'Denied\n- Bash(touch (agent weaver)\n- Bash (agent weaver)',
    );
    expect(await shown('color: red')).toBe('The permission mode is default.\n\nThere are no rules.');
  });
});
