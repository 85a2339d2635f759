import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { hookInto } from '../compaction/kit.js';
import { lastTexts, sent, startWith } from './kit.js';

const bash = (id: string, command: string) => ({ toolUse: { id, name: 'Bash', input: { command } } });
const allow = (rules: string, body: string): string => `---\nallowed-tools: ${rules}\n---\n${body}`;

describe('a command of a file', () => {
  it('stands for its text, with arguments put in and the lines that name it', async () => {
    const run = await startWith({ 'commands/git/hello.md': 'Say $1 to $ARGUMENTS.' }, ['done']);
    expect(await run.ask('/git:hello World "and all"')).toMatchObject({ result: 'done', num_turns: 1 });
    expect(lastTexts(run.model.requests[0]).at(-1)).toBe(
      '<command-message>git:hello</command-message>\n<command-name>/git:hello</command-name>\n' +
        '<command-args>World "and all"</command-args>\n\nSay World to World "and all".',
    );
  });

  it('images stay beside it', async () => {
    const run = await startWith({ 'commands/see.md': 'Look.' }, ['done']);
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png', data: 'AAAA' },
    };
    const content = [{ type: 'text' as const, text: '/see' }, image];
    await run.ask('', { message: { role: 'user', content } });
    expect(run.model.requests[0]?.body.messages.at(-1)?.content.at(-1)).toMatchObject({ type: 'image' });
  });

  it('its rules allow for its turn alone, its lines included', async () => {
    const asked: Question[] = [];
    const run = await startWith(
      { 'commands/mark.md': allow('Bash(touch:*)', 'Marked: !`touch one`') },
      [bash('b1', 'touch two'), 'ok', bash('b2', 'touch three'), 'ok'],
      {
        ask: (question) => {
          asked.push(question);
          return Promise.resolve({ behavior: 'deny', message: 'no' });
        },
      },
    );
    await run.ask('/mark');
    expect(asked).toEqual([]);
    expect(['one', 'two'].map((name) => existsSync(join(run.cwd, name)))).toEqual([true, true]);
    await run.ask('once more');
    expect(asked.map(({ input }) => input.command)).toEqual(['touch three']);
    expect(existsSync(join(run.cwd, 'three'))).toBe(false);
  });

  it('its rules do not count where only policy may allow, and never against a denial', async () => {
    const run = await startWith(
      {
        'commands/mark.md': allow('Bash(touch:*)', 'Mark it.'),
        'settings.json': '{"permissions":{"deny":["Bash(touch:*)"]}}',
      },
      [bash('b1', 'touch two'), 'ok'],
    );
    await run.ask('/mark');
    expect(existsSync(join(run.cwd, 'two'))).toBe(false);
    const other = await startWith(
      { 'commands/mark.md': allow('Bash(touch:*)', 'Mark it.') },
      [bash('b1', 'touch two'), 'ok'],
      { config: { managedSettings: '{"allowManagedPermissionRulesOnly":true}' } },
    );
    await other.ask('/mark');
    expect(existsSync(join(other.cwd, 'two'))).toBe(false);
  });

  it('its model is that of its turn alone', async () => {
    const run = await startWith({ 'commands/quick.md': '---\nmodel: haiku\n---\nBe quick.' }, ['a', 'b'], {
      config: { model: 'claude-opus-4-5' },
    });
    await run.ask('/quick');
    await run.ask('slowly');
    expect(run.model.requests.map(({ body }) => body.model)).toEqual([
      expect.stringMatching(/haiku/),
      expect.stringMatching(/opus/),
    ]);
  });

  it('a line is asked about as a call of Bash is, and what it prints stands in the prompt', async () => {
    const asked: Question[] = [];
    const run = await startWith({ 'commands/mark.md': 'Now: !`touch one && echo weft` and @loom.txt' }, ['ok'], {
      ask: (question) => {
        asked.push(question);
        return Promise.resolve({ behavior: 'allow' });
      },
    });
    writeFileSync(join(run.cwd, 'loom.txt'), 'LOOM');
    await run.ask('/mark');
    expect(asked).toMatchObject([{ tool_name: 'Bash', input: { command: 'touch one && echo weft' } }]);
    expect(lastTexts(run.model.requests[0]).at(-1)).toContain('Now: weft and @loom.txt');
    expect(sent(run.model.requests[0])).toContain('LOOM');
  });

  it('what a line prints mentions no file', async () => {
    const run = await startWith({ 'commands/show.md': 'See !`echo @loom.txt`' }, ['ok']);
    writeFileSync(join(run.cwd, 'loom.txt'), 'LOOM');
    await run.ask('/show');
    expect(sent(run.model.requests[0])).not.toContain('LOOM');
  });

  it('a line that is denied ends it here, and nothing is sent', async () => {
    const run = await startWith({ 'commands/mark.md': 'Now: !`touch one`' }, ['next']);
    const result = await run.ask('/mark');
    expect(result).toMatchObject({
      is_error: true,
      num_turns: 0,
      result: expect.stringMatching(/^\/mark was not run: !`touch one`: .*nobody here who can be asked/),
      permission_denials: [{ tool_name: 'Bash', tool_input: { command: 'touch one' } }],
    });
    expect(run.model.requests).toHaveLength(0);
    expect(run.messages.at(-2)).toMatchObject({ type: 'assistant', local_command_source: 'mark' });
    expect(await run.ask('hello')).toMatchObject({ result: 'next' });
    expect(sent(run.model.requests[0])).not.toContain('command-name');
  });

  it('an interrupt while a line runs ends the turn, and nothing is sent', async () => {
    const run = await startWith({ 'commands/wait.md': allow('Bash(sleep:*)', '!`sleep 60`') }, ['next']);
    await hookInto(run, {
      PreToolUse: () => {
        setImmediate(() => run.session.interrupt());
        return {};
      },
    });
    expect(await run.ask('/wait')).toMatchObject({ subtype: 'error_during_execution', is_error: false });
    expect(run.model.requests).toHaveLength(0);
    expect(await run.ask('hello')).toMatchObject({ result: 'next' });
  });

  it.each([
    ['vanished since it was listed', (file: string) => rmSync(file), /it is not there/],
    ['grew to 10 MB', (file: string) => writeFileSync(file, 'x'.repeat(10 * 1024 * 1024)), /too large: 10 MB/],
  ])('one that %s says so', async (_, spoil, text) => {
    const run = await startWith({ 'commands/fix.md': 'Fix it.' }, []);
    spoil(join(run.cwd, '.claude/commands/fix.md'));
    expect(await run.ask('/fix')).toMatchObject({ is_error: true, num_turns: 0, result: expect.stringMatching(text) });
  });

  it('one whose file cannot be used is not taken for an unknown one', async () => {
    const run = await startWith({ 'skills/big/SKILL.md': 'x'.repeat(10 * 1024 * 1024) }, []);
    expect(await run.ask('/big')).toMatchObject({
      is_error: true,
      result: expect.stringMatching(/^\/big cannot be used: .*too large/),
    });
    expect(run.messages[0]).toMatchObject({ skills: [] });
  });

  it('a frontmatter that is not YAML: the text counts, the model may not call it', async () => {
    const run = await startWith({ 'commands/odd.md': '---\n{ : [\n---\nOdd but usable.' }, ['ok']);
    expect(await run.ask('/odd')).toMatchObject({ result: 'ok' });
    expect(sent(run.model.requests[0])).toContain('Odd but usable.');
    expect(sent(run.model.requests[0])).not.toContain('- odd');
  });

  it('files of a folder that nobody trusts are not read', async () => {
    const run = await startWith({ 'commands/hello.md': 'Say hello.' }, ['what?'], { config: { trusted: false } });
    await run.ask('/hello');
    expect(sent(run.model.requests[0])).toContain('"/hello"');
  });
});

describe('hooks', () => {
  it('UserPromptSubmit sees what was typed, UserPromptExpansion what became of it', async () => {
    const run = await startWith({ 'commands/hello.md': 'Say hello to $1.' }, ['ok']);
    const told = await hookInto(run, {
      UserPromptSubmit: () => ({}),
      UserPromptExpansion: () => ({
        hookSpecificOutput: { hookEventName: 'UserPromptExpansion', additionalContext: 'KEEP-TO-FACTS' },
      }),
    });
    await run.ask('/hello World');
    expect(told).toMatchObject([
      { hook_event_name: 'UserPromptSubmit', prompt: '/hello World' },
      {
        hook_event_name: 'UserPromptExpansion',
        expansion_type: 'command',
        command_name: 'hello',
        command_args: 'World',
        command_source: 'project',
        prompt: expect.stringContaining('Say hello to World.'),
      },
    ]);
    expect(lastTexts(run.model.requests[0]).at(-1)).toContain('KEEP-TO-FACTS');
  });

  it('UserPromptExpansion can hold the prompt back', async () => {
    const run = await startWith({ 'commands/hello.md': 'Say hello.' }, []);
    await hookInto(run, { UserPromptExpansion: () => ({ decision: 'block', reason: 'not today' }) });
    expect(await run.ask('/hello')).toMatchObject({
      num_turns: 0,
      terminal_reason: 'hook_stopped',
      result: expect.stringMatching(
        /UserPromptExpansion operation blocked by hook:\nnot today\n\nOriginal prompt: \/hello/,
      ),
    });
  });

  it('a prompt that UserPromptSubmit blocks runs none of its lines', async () => {
    const run = await startWith({ 'commands/mark.md': allow('Bash(touch:*)', '!`touch one`') }, []);
    await hookInto(run, { UserPromptSubmit: () => ({ decision: 'block', reason: 'no' }) });
    await run.ask('/mark');
    expect(existsSync(join(run.cwd, 'one'))).toBe(false);
  });
});

describe('built-in prompts', () => {
  it('/review goes to the model; a file of the same name takes its place, not that of a local command', async () => {
    const run = await startWith({ 'commands/review.md': 'Our own review.', 'commands/cost.md': 'Count coins.' }, ['a']);
    await run.ask('/review');
    expect(sent(run.model.requests[0])).toContain('Our own review.');
    expect(await run.ask('/cost')).toMatchObject({ result: expect.stringMatching(/^Total cost/) });
    const plain = await startWith({}, ['a']);
    await plain.ask('/review 12');
    expect(sent(plain.model.requests[0])).toMatch(/Review a change to this project.*\\"12\\"/);
  });

  it('/pr-comments says that gh is missing', async () => {
    const run = await startWith({}, [], { config: { env: { PATH: '/nowhere', HOME: '/nowhere' } } });
    expect(await run.ask('/pr_comments')).toMatchObject({
      is_error: true,
      num_turns: 0,
      result: expect.stringMatching(/needs the program "gh".*gh auth login/),
    });
  });

  it('the model is not told of them', async () => {
    const run = await startWith({}, ['a']);
    await run.ask('hi');
    expect(sent(run.model.requests[0])).not.toContain('security-review');
  });
});
