/** What a session is told of its files, over compaction and resume. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usageOf } from '../../src/engine/context-usage/session-usage.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { sent, TRUSTED, write } from '../commands/kit.js';
import { type Run, scratch, start } from '../engine/kit.js';

const SUMMARY = '<summary>S</summary>';
const read: ScriptStep = { toolUse: { name: 'Read', input: { file_path: 'sub/f.txt' } } };
const FILES = { 'AGENTS.md': 'of the root', 'sub/AGENTS.md': 'of the folder', 'sub/f.txt': 'F' };

const open = (script: readonly ScriptStep[], before?: Run): Promise<Run> => {
  const cwd = before?.cwd ?? scratch();
  if (before === undefined) write(cwd, FILES);
  const resumed = before && { store: before.store };
  const config = { ...TRUSTED, ...(before && { resume: before.session.id }) };
  return start(script, { cwd, ...resumed, config });
};
const timesTold = (run: Run): number => sent(run.model.requests.at(-1)).split('of the folder').length - 1;

describe('instructions of folders below, in a session', () => {
  it('are told once, also after a resume', async () => {
    const first = await open([read, 'x', read, 'y']);
    await first.ask('a');
    await first.ask('b');
    expect(timesTold(first)).toBe(1);
    const second = await open([read, 'z'], first);
    await second.ask('c');
    expect(timesTold(second)).toBe(1);
  });

  it('are told again after a compaction', async () => {
    const run = await open([read, 'x', SUMMARY, read, 'y']);
    await run.ask('a');
    await run.ask('/compact');
    await run.ask('b');
    expect(timesTold(run)).toBe(1);
  });

  it.each([
    ['resume, then compaction', [read, 'x'], ['a'], [SUMMARY, read, 'y'], ['/compact', 'b']],
    ['compaction, then resume', [read, 'x', SUMMARY], ['a', '/compact'], [read, 'y'], ['b']],
  ])('are told again after %s', async (_, before, prompts, after, more) => {
    const first = await open(before);
    for (const prompt of prompts) await first.ask(prompt);
    const second = await open(after, first);
    for (const prompt of more) await second.ask(prompt);
    expect(timesTold(second)).toBe(1);
  });
});

describe('instructions of folders below, for people', () => {
  const listed = async (run: Run): Promise<string> => {
    const answer = await run.ask('/memory');
    return 'result' in answer ? answer.result : '';
  };
  const counted = async (run: Run) => (await usageOf(run.session.scope)).memoryFiles?.map(({ path }) => path);

  it('/memory and the use of the context name them once they are told', async () => {
    const run = await open(['x', read, 'y']);
    const [root, below] = [join(run.cwd, 'AGENTS.md'), join(run.cwd, 'sub/AGENTS.md')];
    await run.ask('a');
    expect(await listed(run)).not.toContain(below);
    expect(await counted(run)).toEqual([root]);
    await run.ask('b');
    expect(await listed(run)).toContain(`${below} (project)`);
    expect(await counted(run)).toEqual([root, below]);
  });

  it('/memory names them beside those of the start after a resume, too', async () => {
    const first = await open(['x']);
    await first.ask('a');
    const run = await open([read, 'y'], first);
    await run.ask('b');
    const [root, below] = [join(run.cwd, 'AGENTS.md'), join(run.cwd, 'sub/AGENTS.md')];
    expect(await listed(run)).toMatch(new RegExp(`${root} \\(project\\)[^]*${below} \\(project\\)`));
  });

  it.each(['/compact', '/clear'])('%s forgets them', async (command) => {
    const run = await open([read, 'x', SUMMARY]);
    await run.ask('a');
    await run.ask(command);
    expect(await listed(run)).toContain(join(run.cwd, 'AGENTS.md'));
    expect(await listed(run)).not.toContain(join(run.cwd, 'sub/AGENTS.md'));
    expect(run.session.scope.memory.nested).toEqual([]);
  });
});

describe('instructions of the folder of a mentioned file', () => {
  it('are told with it, before the prompt, and once', async () => {
    const run = await open(['x', read, 'y']);
    await run.ask('see @sub/f.txt');
    expect(sent(run.model.requests[0])).toMatch(/as Read shows it[^]*of the folder[^]*see @sub\/f\.txt/);
    await run.ask('b');
    expect(timesTold(run)).toBe(1);
    expect((await usageOf(run.session.scope)).memoryFiles).toHaveLength(2);
  });

  it.each(['@f.txt', '@sub/none.txt', '@sub/'])('are not told where no file of it is shown: %s', async (mention) => {
    const run = await open(['x']);
    write(run.cwd, { 'f.txt': 'F' });
    await run.ask(`see ${mention}`);
    expect(timesTold(run)).toBe(0);
    expect(sent(run.model.requests[0]).split('of the root')).toHaveLength(2);
  });

  it('are not told where the file is denied, nor in a folder that nobody trusts', async () => {
    const cwd = scratch();
    write(cwd, FILES);
    const denied = await start(['x'], { cwd, config: { ...TRUSTED, disallowedTools: ['Read(sub/f.txt)'] } });
    await denied.ask('see @sub/f.txt');
    expect(timesTold(denied)).toBe(0);
    const untrusted = await start(['x'], { cwd, config: { ...TRUSTED, trusted: false } });
    await untrusted.ask('see @sub/f.txt');
    expect(sent(untrusted.model.requests[0])).toContain('as Read shows it');
    expect(timesTold(untrusted)).toBe(0);
  });
});

describe('an import of the project that leads outside of it', () => {
  /** Whether the model was sent a file that is elsewhere. */
  const imported = async (more: (outside: string) => Partial<SessionConfig>): Promise<boolean> => {
    const [cwd, outside] = [scratch(), scratch()];
    write(outside, { 'shared.md': 'FROM-ELSEWHERE' });
    write(cwd, { 'AGENTS.md': `See @${outside}/shared.md` });
    const run = await start(['x'], { cwd, config: { ...TRUSTED, ...more(outside) } });
    await run.ask('hi');
    return sent(run.model.requests[0]).includes('FROM-ELSEWHERE');
  };

  it.each<[string, (outside: string) => Partial<SessionConfig>]>([
    ['a rule', (outside) => ({ allowedTools: [`Read(/${outside}/**)`] })],
    ['an additional directory', (outside) => ({ additionalDirectories: [outside] })],
    ['a plugin', (outside) => ({ pluginDirs: [outside] })],
  ])('is read where Read may read there: %s', async (_, more) => {
    expect(await imported(more)).toBe(true);
  });

  it.each<[string, (outside: string) => Partial<SessionConfig>]>([
    ['nothing said', () => ({})],
    ['a mode', () => ({ permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true })],
    ['plan', () => ({ permissionMode: 'plan' })],
    ['a rule for another place', (outside) => ({ allowedTools: [`Read(/${outside}/other/**)`] })],
    ['a denial', (outside) => ({ additionalDirectories: [outside], disallowedTools: [`Read(/${outside}/shared.md)`] })],
    ['no trust', (outside) => ({ additionalDirectories: [outside], trusted: false })],
  ])('is not read otherwise: %s', async (_, more) => {
    expect(await imported(more)).toBe(false);
  });
});

describe('an output style', () => {
  const style = {
    '.claude/output-styles/terse.md': '---\nname: Terse\n---\n\nBE-TERSE',
    '.claude/settings.json': '{"outputStyle":"terse"}',
  };
  const run = async (systemPrompt: string | string[] | { type: 'preset'; preset: 'claude_code' } | undefined) => {
    const cwd = scratch();
    write(cwd, style);
    const session = await start(['x'], {
      cwd,
      config: { ...TRUSTED, configDir: join(cwd, '.config'), ...(systemPrompt !== undefined && { systemPrompt }) },
    });
    await session.ask('hi');
    return { system: JSON.stringify(session.model.requests[0]?.body.system), init: session.messages[0] };
  };

  it.each([[undefined], [''], [{ type: 'preset', preset: 'claude_code' } as const]])(
    'counts where no prompt is given: %j',
    async (prompt) => {
      const { system, init } = await run(prompt);
      expect(system).toContain('BE-TERSE');
      expect(init).toMatchObject({ output_style: 'Terse' });
    },
  );

  it.each([['OWN'], [['']], [['OWN']]])('does not count beside one, and init does not say so: %j', async (prompt) => {
    const { system, init } = await run(prompt);
    expect(system).not.toContain('BE-TERSE');
    expect(init).toMatchObject({ output_style: 'default' });
  });
});
