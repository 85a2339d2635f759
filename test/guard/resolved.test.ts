import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../src/sdk/index.js';
import { LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';
import { createStage, type Stage } from './stage.js';

const ALL = ['user', 'project', 'local'] as const;

/** What the SDK says, with the files as the names under which they were written. */
async function resolve(stage: Stage, options: Parameters<typeof resolveSettings>[0] = {}) {
  const { sources, ...rest } = await resolveSettings({
    cwd: stage.project,
    env: { ...stage.env, HEDDLE_CONFIG_DIR: stage.config },
    settingSources: [...ALL],
    heddle: { trusted: true },
    ...options,
  });
  const table = Object.fromEntries(
    sources.map(({ path, value, layer, file }) => [path, [value, layer, file.replace(`${stage.root}/`, '')]]),
  );
  return { ...rest, table };
}

describe('resolveSettings() of the SDK', () => {
  it('says of every value which layer and file it came from', async () => {
    const stage = createStage();
    stage.write(USER, {
      model: 'of-user',
      language: 'French',
      env: { A: 'user', B: 'user' },
      permissions: { allow: ['Read', 'Bash(ls)'], defaultMode: 'plan' },
    });
    stage.write(PROJECT, { model: 'of-project', env: { B: 'project' }, permissions: { allow: ['Bash(ls)', 'Edit'] } });
    stage.write(LOCAL, { permissions: { deny: ['Bash(rm:*)'], allow: ['Glob'] } });
    const { table, effective } = await resolve(stage, { settings: { outputStyle: 'short' } });
    expect(table).toEqual({
      outputStyle: ['short', 'flag', '--settings'],
      'permissions.deny[0]': ['Bash(rm:*)', 'local', LOCAL],
      'permissions.allow[0]': ['Glob', 'local', LOCAL],
      model: ['of-project', 'project', PROJECT],
      'env.B': ['project', 'project', PROJECT],
      'permissions.allow[1]': ['Bash(ls)', 'project', PROJECT],
      'permissions.allow[2]': ['Edit', 'project', PROJECT],
      language: ['French', 'user', USER],
      'env.A': ['user', 'user', USER],
      'permissions.allow[3]': ['Read', 'user', USER],
      'permissions.defaultMode': ['plan', 'user', USER],
    });
    expect(effective).toEqual({
      outputStyle: 'short',
      model: 'of-project',
      language: 'French',
      env: { A: 'user', B: 'project' },
      permissions: { deny: ['Bash(rm:*)'], allow: ['Glob', 'Bash(ls)', 'Edit', 'Read'], defaultMode: 'plan' },
    });
  });

  it('reads no file that is not asked for', async () => {
    const stage = createStage();
    for (const file of [USER, PROJECT, LOCAL]) stage.write(file, { model: 'x' });
    expect((await resolve(stage, { settingSources: undefined })).table).toEqual({});
    expect((await resolve(stage, { settingSources: ['user'] })).table).toEqual({ model: ['x', 'user', USER] });
  });

  it('names what waits for trust, and what is wrong', async () => {
    const stage = createStage();
    stage.write(
      PROJECT,
      '{\n  "model": "x",\n  "colour": 1,\n  "permissions": { "deny": ["Edit"], "allow": ["Bash"] }\n}',
    );
    const { table, inert, problems, trusted } = await resolve(stage, { heddle: {} });
    expect(trusted).toBe(false);
    expect(table).toEqual({ 'permissions.deny[0]': ['Edit', 'project', PROJECT] });
    expect(inert.map(({ key, waits }) => [key, waits])).toEqual([
      ['model', true],
      ['colour', true],
      ['permissions.allow', true],
    ]);
    expect(problems).toMatchObject([{ severity: 'warning', line: 3, path: 'colour', file: stage.path(PROJECT) }]);
  });

  it('a file from options, as a path', async () => {
    const stage = createStage();
    stage.write('home/shop/mine.json', { model: 'x' });
    expect((await resolve(stage, { settings: 'mine.json' })).table).toEqual({
      model: ['x', 'flag', 'home/shop/mine.json'],
    });
  });

  it('D3: a broken file is an error with file and line', async () => {
    const stage = createStage();
    stage.write(USER, '{\n"model": ');
    await expect(resolve(stage)).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringContaining(`${stage.path(USER)}:2:`),
    });
  });

  it('policy of the machine is told apart in a session', async () => {
    const stage = createStage();
    stage.write(MANAGED, { model: 'of-policy', permissions: { deny: ['WebFetch'] } });
    stage.write('etc/managed-settings.d/10-more.json', { language: 'German' });
    stage.write(USER, { model: 'of-user', language: 'French' });
    const { origins, value } = (await stage.open([])).session.scope.guard.settings;
    expect(origins).toEqual({ model: 'managed', language: 'managed', 'permissions.deny[0]': 'managed' });
    expect(value).toMatchObject({ model: 'of-policy', language: 'German' });
  });
});
