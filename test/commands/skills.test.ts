import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { resultText } from '../engine/kit.js';
import { sent, skill, startWith } from './kit.js';

const call = (id: string, name: string, args?: string) => ({
  toolUse: { id, name: 'Skill', input: { skill: name, ...(args !== undefined && { args }) } },
});
const FORMS = { 'skills/forms/SKILL.md': skill('Fills in forms', 'Read fields.json of $1 first.') };

describe('skills', () => {
  it('the model knows names and descriptions, and gets the text when it calls one', async () => {
    const run = await startWith(FORMS, [call('s', 'forms', 'taxes'), 'done', 'again']);
    await run.ask('go');
    expect(run.messages[0]).toMatchObject({ skills: ['forms'], tools: expect.arrayContaining(['Skill']) });
    expect(sent(run.model.requests[0])).toContain('- forms: Fills in forms');
    expect(sent(run.model.requests[0])).not.toContain('fields.json');
    const text = resultText(run.messages, 's');
    expect(text).toBe(
      `Launching skill: forms\n\nThe files of this skill are in ${join(run.cwd, '.claude/skills/forms')}\n\nRead fields.json of taxes first.`,
    );
    await run.ask('more');
    expect(sent(run.model.requests[2]).match(/Fills in forms/g)).toHaveLength(1);
  });

  it('a person calls one with a slash, unless it is for the model alone', async () => {
    const inner = { 'skills/inner/SKILL.md': skill('For the model', 'Inner text.', 'user-invocable: false\n') };
    const run = await startWith({ ...FORMS, ...inner }, ['a', 'b']);
    await run.ask('/forms taxes');
    expect(sent(run.model.requests[0])).toContain('Read fields.json of taxes first.');
    await run.ask('/inner');
    expect(sent(run.model.requests[1])).not.toContain('Inner text.');
    expect(run.session.scope.commands.list.map(({ name }) => name)).not.toContain('inner');
  });

  it('commands are called by the model, too; what is for people alone is not even named', async () => {
    const own = { 'commands/deploy.md': '---\ndisable-model-invocation: true\n---\nDeploy it.' };
    const run = await startWith({ 'commands/fix.md': 'Fix issue $1.', ...own }, [
      { toolUse: [call('a', '/fix', '7').toolUse, call('b', 'deploy').toolUse, call('c', 'nosuch').toolUse] },
      'done',
    ]);
    await run.ask('go');
    expect(sent(run.model.requests[0])).not.toContain('deploy');
    expect(resultText(run.messages, 'a')).toContain('Fix issue 7.');
    expect(resultText(run.messages, 'b')).toBe('Only the user may call "deploy".');
    expect(resultText(run.messages, 'c')).toBe('There is no skill "nosuch". Available: fix.');
  });

  it('rules are about the name, however it is written', async () => {
    const run = await startWith(FORMS, [call('a', '/forms'), 'done'], {
      config: { disallowedTools: ['Skill(forms)'] },
    });
    const result = await run.ask('go');
    expect(result.permission_denials).toMatchObject([{ tool_name: 'Skill' }]);
    expect(resultText(run.messages, 'a')).not.toContain('fields.json');
  });

  it('one that allows tools is asked about; what it allows holds for the rest of the turn', async () => {
    const asked: Question[] = [];
    const bash = (id: string, command: string) => ({ toolUse: { id, name: 'Bash', input: { command } } });
    const run = await startWith(
      { 'skills/marks/SKILL.md': skill('Marks', 'Use touch. !`touch zero`', 'allowed-tools: Bash(touch:*)\n') },
      [call('s', 'marks'), bash('b1', 'touch one'), 'ok', bash('b2', 'touch two'), 'ok'],
      {
        ask: (question) => {
          asked.push(question);
          return Promise.resolve(
            question.tool_name === 'Skill' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
          );
        },
      },
    );
    await run.ask('go');
    expect(asked.map(({ tool_name }) => tool_name)).toEqual(['Skill']);
    expect(['zero', 'one'].map((name) => existsSync(join(run.cwd, name)))).toEqual([true, true]);
    await run.ask('again');
    expect(asked.map(({ tool_name }) => tool_name)).toEqual(['Skill', 'Bash']);
    expect(existsSync(join(run.cwd, 'two'))).toBe(false);
  });

  it('a line that is denied, or a file that is gone, is an error that allows nothing', async () => {
    const run = await startWith(
      {
        'skills/marks/SKILL.md': skill('Marks', '!`touch zero`'),
        'skills/gone/SKILL.md': skill('Gone', 'x', 'allowed-tools: Bash(touch:*)\n'),
      },
      [
        () => {
          rmSync(join(run.cwd, '.claude/skills/gone'), { recursive: true });
          return { toolUse: [call('a', 'marks').toolUse, call('b', 'gone').toolUse] };
        },
        { toolUse: { id: 'c', name: 'Bash', input: { command: 'touch one' } } },
        'done',
      ],
      { config: { allowedTools: ['Skill'] } },
    );
    const { permission_denials } = await run.ask('go');
    expect(permission_denials.map(({ tool_input }) => tool_input.command)).toEqual(['touch zero', 'touch one']);
    expect(resultText(run.messages, 'a')).toMatch(/^\/marks was not run: !`touch zero`/);
    expect(resultText(run.messages, 'b')).toMatch(/gone.*cannot be read: it is not there/);
    expect(['zero', 'one'].map((name) => existsSync(join(run.cwd, name)))).toEqual([false, false]);
  });

  it('are told again after the conversation was summed up or cleared, and once after a resume', async () => {
    const run = await startWith(FORMS, ['long answer', '<summary>S</summary>', 'b', 'c']);
    await run.ask('one');
    await run.ask('/compact');
    await run.ask('two');
    expect(sent(run.model.requests[2]).match(/- forms: Fills in forms/g)).toHaveLength(1);
    const again = await startWith({}, ['x', 'y'], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: run.session.id },
    });
    await again.ask('three');
    expect(sent(again.model.requests[0]).match(/- forms: Fills in forms/g)).toHaveLength(1);
    await again.ask('/clear');
    await again.ask('four');
    expect(sent(again.model.requests[1]).match(/- forms: Fills in forms/g)).toHaveLength(1);
  });

  it('an agent calls them as well, and what one allows holds for that agent alone', async () => {
    const bash = (id: string, command: string) => ({ toolUse: { id, name: 'Bash', input: { command } } });
    const run = await startWith(
      { 'skills/marks/SKILL.md': skill('Makes marks', 'Use touch.', 'allowed-tools: Bash(touch:*)\n') },
      [
        {
          toolUse: {
            id: 't',
            name: 'Task',
            input: { description: 'd', prompt: 'p', subagent_type: 'general-purpose' },
          },
        },
        call('s', 'marks'),
        bash('b1', 'touch one'),
        'marked',
        bash('b2', 'touch two'),
        'done',
      ],
      { config: { allowedTools: ['Skill'] } },
    );
    await run.ask('go');
    expect(sent(run.model.requests[1])).toContain('- marks: Makes marks');
    expect(sent(run.model.requests[2])).toContain('Use touch.');
    expect(['one', 'two'].map((name) => existsSync(join(run.cwd, name)))).toEqual([true, false]);
  });

  it('500 skills and 200 commands cost the context only their names', async () => {
    const files: Record<string, string> = {};
    const long = 'It does many things in many ways. '.repeat(20);
    for (let at = 0; at < 500; at += 1) files[`skills/skill-${at}/SKILL.md`] = skill(long, 'BODY');
    for (let at = 0; at < 200; at += 1) files[`commands/command-${at}.md`] = `---\ndescription: ${long}\n---\nBODY`;
    const run = await startWith(files, ['ok']);
    await run.ask('hi');
    const text = sent(run.model.requests[0]);
    expect(text).not.toContain('BODY');
    expect(text).toContain('- skill-499');
    expect(text).toContain('- command-199');
    expect(text.length).toBeLessThan(18_000);
    expect((run.messages[0] as { slash_commands: string[] }).slash_commands.length).toBeGreaterThan(700);
  });
});
