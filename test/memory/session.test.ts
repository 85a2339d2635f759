/** What a session is told of its files, over compaction and resume. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
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
