import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usageOf } from '../../src/engine/context-usage/session-usage.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import { query } from '../../src/sdk/index.js';
import { skill, startWith, write } from '../commands/kit.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

const FILES = { 'skills/forms/SKILL.md': skill('Fills in forms of every kind', 'Text.') };

function project(): string {
  const cwd = scratch();
  writeFileSync(join(cwd, 'AGENTS.md'), `Build with make. See @more.md.\n${'All of it counts. '.repeat(100)}`);
  writeFileSync(join(cwd, 'more.md'), 'More to heed.');
  return cwd;
}

const facts = ({ memoryFiles, skills, categories }: Awaited<ReturnType<typeof usageOf>>) => ({
  files: memoryFiles?.map(({ path, type }) => [path.split('/').at(-1), type]),
  skills: skills?.skillFrontmatter?.map(({ name }) => name),
  kinds: categories.filter(({ id }) => id === 'memory_files' || id === 'skills').map(({ id }) => id),
});

const ALL = {
  files: [
    ['AGENTS.md', 'project'],
    ['more.md', 'project'],
  ],
  skills: ['forms'],
  kinds: ['memory_files', 'skills'],
};

/** The script counts so few tokens for an answer that a share of them may be none. */
const TOLD = { ...ALL, kinds: expect.arrayContaining(['memory_files']) };

describe('context usage before the first turn', () => {
  it('has the files of instructions and the skills that the first prompt will bring along', async () => {
    const run = await startWith(FILES, ['ok', 'ok'], { cwd: project() });
    const before = await usageOf(run.session.scope);
    expect(facts(before)).toEqual(ALL);
    expect(before.categories.find(({ id }) => id === 'memory_files')?.tokens).toBeGreaterThan(300);
    const { result } = (await run.ask('/context')) as { result: string };
    expect(result).toMatch(/### Memory files[^]*AGENTS\.md \| project \| \d+[^]*### Skills[^]*\| forms \|/);
    await run.ask('go');
    expect(facts(await usageOf(run.session.scope))).toEqual(TOLD);
  });

  it('tells nobody: no hook, no notice, nothing in the log, and the first prompt brings it all the same', async () => {
    const cwd = project();
    writeFileSync(join(cwd, 'AGENTS.md'), 'Build with make. See @gone.md.');
    const command = 'touch fired';
    const settings = JSON.stringify({ hooks: { InstructionsLoaded: [{ hooks: [{ type: 'command', command }] }] } });
    const run = await startWith(FILES, ['ok'], { cwd, config: { settings } });
    await usageOf(run.session.scope);
    expect(run.messages).toEqual([]);
    expect(run.session.scope.recorder.log.entries).toEqual([]);
    expect(await run.session.scope.workspace.stat(join(cwd, 'fired'))).toBeUndefined();
    await run.ask('go');
    expect(JSON.stringify(run.model.requests[0]?.body.messages)).toMatch(/Build with make.*- forms/);
    expect(await run.session.scope.workspace.stat(join(cwd, 'fired'))).toBeDefined();
  });

  it('again after /clear, and in a process that resumes the session', async () => {
    const cwd = project();
    const run = await startWith(FILES, ['ok'], { cwd });
    await run.ask('go');
    await run.ask('/clear');
    expect(facts(await usageOf(run.session.scope))).toEqual(ALL);

    const first = await startWith(FILES, ['ok'], { cwd });
    await first.ask('go');
    writeFileSync(join(cwd, 'CLAUDE.local.md'), 'Told to nobody yet.');
    const again = await startWith(FILES, [], {
      cwd,
      store: first.store,
      config: { resume: first.session.id, settingSources: ['project', 'user', 'local'] },
    });
    expect(facts(await usageOf(again.session.scope))).toEqual(TOLD);
  });

  it('has nothing of a folder that is not trusted, and no skills where they cannot be called', async () => {
    const untrusted = await startWith(FILES, [], { cwd: project(), config: { trusted: false } });
    expect(facts(await usageOf(untrusted.session.scope))).toEqual({ files: [], skills: [], kinds: [] });
    const agents = { reader: { description: 'd', prompt: 'p', tools: ['Read'] } };
    const reader = await startWith(FILES, [], { cwd: project(), config: { agents, agent: 'reader' } });
    expect(facts(await usageOf(reader.session.scope)).kinds).toEqual(['memory_files']);
  });

  it('getContextUsage() says the same', async () => {
    const cwd = project();
    write(join(cwd, '.claude'), FILES);
    const never = new Promise<never>(() => {});
    const asked = query({
      prompt: (async function* () {
        yield await never;
      })(),
      options: {
        cwd,
        env: PATH_ENV,
        settingSources: ['project'],
        heddle: { provider: createScriptedModel([]), store: createMemoryStore(), trusted: true },
      },
    });
    expect(facts(await asked.getContextUsage())).toEqual(ALL);
    asked.close();
  });
});
