import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limitSkills } from '../../src/engine/commands/chosen-skills.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { toCommand } from '../../src/sdk/carrier.js';
import { type Options, query } from '../../src/sdk/index.js';
import { toSessionConfig } from '../../src/sdk/options.js';
import { pickSafe } from '../../src/server/client-config.js';
import type { Transport } from '../../src/wire/index.js';
import { ofSubtype } from '../agents/kit.js';
import { PATH_ENV, resultText, scratch } from '../engine/kit.js';
import { sent, skill, startWith } from './kit.js';

const call = (id: string, name: string) => ({ id, name: 'Skill', input: { skill: name } });
const FILES = {
  'skills/forms/SKILL.md': skill('Fills in forms', 'Forms text.'),
  'skills/roofs/SKILL.md': skill('Mends roofs', 'Roofs text.'),
  'skills/own/SKILL.md': skill('For people', 'Own text.', 'disable-model-invocation: true\n'),
  'commands/fix.md': '---\ndescription: Fixes\n---\nFix text.',
};
const ambient = { cwd: '/somewhere', env: {} };

describe('skills that the session was called with', () => {
  it('a list limits what the model sees and may call, and not what a person may', async () => {
    const agent = { id: 't', name: 'Task', input: { description: 'd', prompt: 'p' } };
    const run = await startWith(
      FILES,
      [
        { toolUse: [call('a', 'forms'), call('b', 'roofs'), call('c', 'fix'), call('d', 'nosuch')] },
        { toolUse: agent },
        { toolUse: call('e', 'roofs') },
        'no',
        'Done.',
        'ok',
      ],
      { config: { skills: ['forms'] } },
    );
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    for (const request of [run.model.requests[0], run.model.requests[2]]) {
      expect(sent(request)).toContain('- forms: Fills in forms');
      expect(sent(request)).not.toMatch(/Mends roofs|- fix/);
    }
    expect(resultText(run.messages, 'a')).toContain('Forms text.');
    for (const id of ['b', 'c', 'e'])
      expect(resultText(run.messages, id)).toMatch(/^"(roofs|fix)" is not among the skills of this session\.$/);
    expect(resultText(run.messages, 'd')).toBe('There is no skill "nosuch". Available: forms.');
    await run.ask('/roofs');
    expect(sent(run.model.requests[5])).toContain('Roofs text.');
    expect(ofSubtype(run.messages, 'informational')).toEqual([]);
  });

  it.each<[SessionConfig['skills'], boolean, string[]]>([
    [undefined, true, ['fix', 'forms', 'roofs']],
    ['all', true, ['fix', 'forms', 'roofs']],
    [['roofs', 'fix'], true, ['fix', 'roofs']],
    [[], false, []],
  ])('%j', async (skills, isOffered, names) => {
    const run = await startWith(FILES, ['ok'], { config: skills === undefined ? {} : { skills } });
    await run.ask('go');
    expect(run.session.scope.state.tools.names.includes('Skill')).toBe(isOffered);
    expect(
      ['fix', 'forms', 'own', 'roofs'].filter((name) => sent(run.model.requests[0]).includes(`- ${name}`)),
    ).toEqual(names);
  });

  it('a name that nothing has, or that is for people alone, is told', async () => {
    const broken = { 'skills/torn/SKILL.md': Buffer.from([0xff, 0xfe, 0x00]).toString('latin1') };
    const run = await startWith({ ...FILES, ...broken }, ['ok'], {
      config: { skills: ['forms', 'nosuch', 'nosuch', 'own', 'torn'] },
    });
    await run.ask('go');
    const told = ofSubtype(run.messages, 'informational').map(({ level, content }) => [level, content]);
    expect(told.filter(([, content]) => content?.startsWith('skills:'))).toEqual([
      ['warning', 'skills: there is no skill "nosuch".'],
      ['warning', 'skills: only a person may call "own".'],
      ['warning', expect.stringMatching(/^skills: there is no skill "torn"\. .*SKILL\.md/)],
    ]);
  });

  it.each([7, 'some', [7], {}])('%j is refused', async (skills) => {
    const config = { skills } as unknown as Partial<SessionConfig>;
    await expect(startWith(FILES, [], { config })).rejects.toMatchObject({ code: 'invalid_config' });
  });
});

describe('the option skills', () => {
  it.each<[Options, string[] | undefined]>([
    [{ skills: 'all' }, ['Skill']],
    [{ skills: ['forms'] }, ['Skill']],
    [{ skills: ['forms'], allowedTools: ['Read', 'Skill'] }, ['Read', 'Skill']],
    [{ skills: [], allowedTools: ['Read'] }, ['Read']],
    [{}, undefined],
  ])('%j: skills are not asked about', (options, allowedTools) => {
    expect(toSessionConfig(options, ambient).allowedTools).toEqual(allowedTools);
  });

  it('a child process gets it by the flag that it knows', () => {
    const options: Options = { skills: ['forms'], heddle: { carrier: 'subprocess' } };
    const { args } = toCommand(options, toSessionConfig(options, ambient));
    expect(args.filter((arg) => /skill|forms/i.test(arg))).toEqual(['--allowedTools=Skill']);
  });

  it.each<[Options['skills'], unknown]>([
    [['forms'], ['forms']],
    [[], []],
    ['all', undefined],
  ])('initialize has a list: %j', async (skills, expected) => {
    const initialize = Promise.withResolvers<{ skills?: unknown }>();
    const over = Promise.withResolvers<void>();
    const transport: Transport = {
      write: (line) => {
        const { request } = JSON.parse(line) as { request?: { subtype: string; skills?: unknown } };
        if (request?.subtype === 'initialize') initialize.resolve(request);
      },
      close: () => over.resolve(),
      isReady: () => true,
      // Nothing ever arrives.
      async *readMessages() {
        await over.promise;
        yield* [];
      },
      endInput: () => {},
    };
    const abortController = new AbortController();
    const options: Options = {
      cwd: scratch(),
      env: PATH_ENV,
      skills,
      abortController,
      heddle: { carrier: { transport } },
    };
    const reading = query({ prompt: 'x', options }).next();
    reading.catch(() => undefined);
    expect((await initialize.promise).skills).toEqual(expected);
    abortController.abort();
    await Promise.allSettled([reading]);
  });

  it('holds from end to end, and asks nobody about a skill that allows tools', async () => {
    const cwd = scratch();
    for (const name of ['marks', 'other']) {
      mkdirSync(join(cwd, '.claude/skills', name), { recursive: true });
      writeFileSync(
        join(cwd, '.claude/skills', name, 'SKILL.md'),
        skill(`Makes ${name}`, `Text of ${name}.`, 'allowed-tools: Bash(touch:*)\n'),
      );
    }
    const model = createScriptedModel([{ toolUse: [call('a', 'marks'), call('b', 'other')] }, 'ok']);
    const options: Options = {
      cwd,
      env: PATH_ENV,
      settingSources: ['project'],
      skills: ['marks'],
      heddle: { provider: model, store: createMemoryStore(), trusted: true },
    };
    for await (const _ of query({ prompt: 'go', options }));
    expect(sent(model.requests[1])).toContain('Text of marks.');
    expect(sent(model.requests[1])).not.toContain('Text of other.');
  });
});

describe('what a client wants of what a server has chosen', () => {
  it.each<[SessionConfig['skills'], string[] | 'all', string[] | 'all']>([
    [undefined, ['a'], ['a']],
    [undefined, 'all', 'all'],
    ['all', ['a'], ['a']],
    [['a', 'b'], ['b', 'c'], ['b']],
    [['a'], 'all', ['a']],
    [[], 'all', []],
  ])('%j, %j: %j', (set, wanted, expected) => {
    expect(limitSkills(set, wanted)).toEqual(expected);
  });

  it('is safe to choose, since it only limits', () => {
    expect(pickSafe({ skills: ['a'], allowedTools: ['Skill'] })).toEqual({
      safe: { skills: ['a'] },
      ignored: ['allowedTools'],
    });
  });
});
