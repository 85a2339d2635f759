import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { type Run, type RunOptions, scratch } from '../engine/kit.js';
import { ofSubtype, open, saidIn, task } from './kit.js';

type Where = 'a subagent' | 'the main thread';

/** An agent that knows these skills, in a session whose user has them. Gives what it was told first. */
async function know(
  where: Where,
  files: Record<string, string>,
  { fields = {}, ...options }: RunOptions & { fields?: object; config?: Partial<SessionConfig> } = {},
): Promise<Run & { told: string }> {
  const cwd = scratch();
  for (const [name, text] of Object.entries(files)) {
    const folder = join(cwd, '.config', 'skills', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), text);
  }
  const agents = { A: { description: 'd', prompt: 'p', skills: [...Object.keys(files), 'none'], ...fields } };
  const isMain = where === 'the main thread';
  const script: ScriptStep[] = isMain ? ['Done.'] : [{ toolUse: task('t1', { subagent_type: 'A' }) }, 'woven', 'Done.'];
  const run = await open(script, {
    ...options,
    cwd,
    config: { settingSources: ['user'], agents, ...(isMain && { agent: 'A' }), ...options.config },
  });
  await run.ask('go');
  const request = run.model.requests[isMain ? 0 : 1];
  return Object.assign(run, { told: request === undefined ? '' : saidIn(request) });
}

const skill = (body: string, fields = ''): string => `---\ndescription: Knots\n${fields}---\n${body}\n`;
const warnings = ({ messages }: Run): string[] => ofSubtype(messages, 'informational').map(({ content }) => content);

describe.each<[Where]>([['a subagent'], ['the main thread']])('skills that %s knows from the start', (where) => {
  it('stand before the prompt, expanded as called ones are; one that is not there is told of', async () => {
    const body = 'Tie [$ARGUMENTS] as !`echo two | tr a-z A-Z` says, in ${CLAUDE_SKILL_DIR}.';
    const run = await know(where, { knots: skill(body) }, { config: { allowedTools: ['Bash'] } });
    expect(run.told).toContain(`Tie [] as TWO says, in ${join(run.cwd, '.config/skills/knots')}.`);
    expect(run.told.indexOf('The skill knots')).toBeLessThan(run.told.indexOf(where === 'a subagent' ? 'Do t1' : 'go'));
    expect(warnings(run)).toContain('The agent A wants the skill none, which is not there.');
  });

  it.each<[string, RunOptions & { fields?: object }, string]>([
    ['a rule', { config: { disallowedTools: ['Skill(knots)'] } }, 'knots'],
    ['a rule about all of them', { config: { settings: '{"permissions":{"deny":["Skill"]}}' } }, 'knots'],
    ['a rule of its own', { fields: { disallowedTools: ['Skill(knots)'] } }, 'knots'],
    ['a use that its tools do not name', { fields: { tools: ['Read', 'Skill(other)'] } }, 'knots'],
  ])('%s that denies one keeps it away, and is told', async (_, options, name) => {
    const run = await know(where, { knots: skill('Tie it.'), bows: skill('Bow it.') }, options);
    expect(run.told).not.toContain('Tie it.');
    expect(warnings(run)).toContainEqual(expect.stringContaining(`The agent A does not get the skill ${name}: `));
    const denials = run.messages.flatMap((message) => (message.type === 'result' ? message.permission_denials : []));
    expect(denials).toContainEqual(
      expect.objectContaining({
        tool_name: 'Skill',
        tool_input: { skill: name },
        ...(where === 'a subagent' && { agent_id: expect.stringMatching(/^a/) }),
      }),
    );
  });

  it('a hook that blocks it keeps it away', async () => {
    const hooks = { PreToolUse: [{ matcher: 'Skill', hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] };
    const run = await know(where, { knots: skill('Tie it.') }, { fields: { hooks } });
    expect(run.told).not.toContain('Tie it.');
    expect(warnings(run)).toContainEqual(expect.stringMatching(/does not get the skill knots: .*no/));
  });

  it('a line that may not run keeps it away, and does not run', async () => {
    const run = await know(where, { knots: skill('Tie !`touch made`.') });
    expect(run.told).not.toContain('Tie');
    expect(warnings(run)).toContainEqual(expect.stringContaining('/knots was not run: !`touch made`'));
  });

  it('one that only people may call is none that it knows', async () => {
    const run = await know(where, { knots: skill('Tie it.', 'disable-model-invocation: true\n') });
    expect(run.told).not.toContain('Tie it.');
    expect(warnings(run)).toContainEqual(expect.stringContaining('Only the user may call "knots"'));
  });

  it('one that allows tools is asked about; who denies and interrupts ends the turn', async () => {
    const files = { knots: skill('Tie it.', 'allowed-tools: Bash(touch:*)\n') };
    const asked: unknown[] = [];
    const yes = await know(where, files, {
      ask: async ({ tool_name, input }) => {
        asked.push([tool_name, input]);
        return { behavior: 'allow' };
      },
    });
    expect(asked).toEqual([['Skill', { skill: 'knots' }]]);
    expect(yes.told).toContain('Tie it.');
    const no = await know(where, files, {
      ask: async () => ({ behavior: 'deny', message: 'not here', interrupt: true }),
    });
    expect(no.told).toBe('');
    expect(no.messages.at(-1)).toMatchObject({ type: 'result', terminal_reason: expect.stringMatching(/^aborted/) });
  });

  it('need neither the Skill tool nor the option that lists skills', async () => {
    const run = await know(where, { knots: skill('Tie it.') }, { fields: { tools: ['Read'] }, config: { skills: [] } });
    expect(run.told).toContain('Tie it.');
  });

  it('are none where skills are switched off', async () => {
    const run = await know(where, { knots: skill('Tie it.') }, { config: { disableSlashCommands: true } });
    expect(run.told).not.toContain('Tie it.');
    expect(warnings(run)).toContain('The agent A wants the skill knots, which is not there.');
  });

  it('one that would run in an agent when it is called is only told', async () => {
    const run = await know(where, { knots: skill('Tie it.', 'context: fork\n') });
    expect(run.told).toContain('Tie it.');
    run.model.assertDone();
  });
});
