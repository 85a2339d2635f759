/** What children see of the environment. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEngine, createTrust } from '../../src/engine/index.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { SETTING_SOURCES, systemClock } from '../../src/protocol/plain.js';
import { startFakeApi } from '../../src/testing/index.js';
import { resultText, start, user } from '../engine/kit.js';
import { MANAGED, PROJECT, USER } from '../settings/place.js';
import { bash, closeRun, createStage, type Stage, textOf } from './stage.js';

const PLANTED = { SECRET_X: 'planted', LC_ALL: 'C', TZ: 'UTC', GITHUB_TOKEN: 'token' };
const SETTINGS = {
  env: { FROM_SETTINGS: 'yes', OPENAI_API_KEY: 'meant', ANTHROPIC_API_KEY: 'own' },
  hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'env > seen-by-hook' }] }] },
};
const ALL = { settingSources: [...SETTING_SOURCES] };

/** The variables that a command and a hook of the user see. What is not said about trust stands in the record. */
async function look(stage: Stage, config: Partial<SessionConfig>) {
  stage.write(USER, SETTINGS);
  const run = await start([bash('env'), 'ok'], {
    cwd: stage.project,
    config: {
      env: { ...stage.env, ...PLANTED },
      configDir: stage.config,
      managedDir: stage.managed,
      allowedTools: ['Bash(env)'],
      ...config,
    },
  });
  onTestFinished(() => closeRun(run));
  await run.ask('go');
  const read = (text = ''): Record<string, string> =>
    Object.fromEntries(text.split('\n').map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]));
  return {
    bash: read(resultText(run.messages, 't1')),
    hook: read(textOf(stage.path('home/shop/seen-by-hook'))),
  };
}

const KNOWN = /^(SECRET_X|LC_ALL|TZ|HOME|GITHUB_TOKEN|\w*API_KEY|FROM_SETTINGS)$/;
const names = (seen: Record<string, string>): string[] =>
  Object.keys(seen)
    .filter((name) => KNOWN.test(name))
    .toSorted();

const MINIMAL = ['FROM_SETTINGS', 'HOME', 'LC_ALL', 'OPENAI_API_KEY', 'TZ'];
const WHOLE = ['FROM_SETTINGS', 'GITHUB_TOKEN', 'HOME', 'LC_ALL', 'OPENAI_API_KEY', 'SECRET_X', 'TZ'];

describe('E4: a planted SECRET_X', () => {
  it('reaches neither commands nor hooks in a folder that nobody trusts', async () => {
    const { bash: ofBash, hook } = await look(createStage(), ALL);
    expect(names(ofBash)).toEqual(MINIMAL);
    expect(names(hook)).toEqual(MINIMAL);
  });

  it('nor where only settings of the user are read, nor where the caller says that it is not trusted', async () => {
    expect(names((await look(createStage(), { settingSources: ['user'] })).bash)).toEqual(MINIMAL);
    expect(names((await look(createStage(), { trusted: false })).bash)).toEqual(['HOME', 'LC_ALL', 'TZ']);
  });

  it('reaches them in one that is trusted, by the record or by the caller', async () => {
    const stage = createStage();
    await createTrust({ configDir: stage.config, home: stage.home }).trust(stage.project);
    const { bash: ofBash, hook } = await look(stage, ALL);
    expect(names(ofBash)).toEqual(WHOLE);
    expect(names(hook)).toEqual(WHOLE);
    expect(names((await look(createStage(), { ...ALL, trusted: true })).bash)).toEqual(WHOLE);
  });

  it('reaches them where the caller reads no settings and so vouches for the folder, or gave exactly this environment', async () => {
    expect((await look(createStage(), {})).bash).toHaveProperty('SECRET_X', 'planted');
    expect(names((await look(createStage(), { ...ALL, envIsExact: true })).bash)).toEqual(WHOLE);
  });

  it('a key helper of the user gets what it needs there', async () => {
    const stage = createStage();
    stage.write(USER, { apiKeyHelper: 'echo "key-$SECRET_X"' });
    const api = await startFakeApi(['ok']);
    onTestFinished(() => api.close());
    const session = await createEngine({ clock: systemClock }).open({
      cwd: stage.project,
      configDir: stage.config,
      managedDir: stage.managed,
      env: { ...stage.env, ...PLANTED, ANTHROPIC_BASE_URL: api.url },
      ...ALL,
    });
    onTestFinished(() => session.close());
    session.submit(user('go'));
    session.endInput();
    await session.finished;
    expect(api.requests[0]?.headers['x-api-key']).toBe('key-planted');
  });

  it('an untrusted project adds nothing to the list', async () => {
    const stage = createStage();
    stage.write(PROJECT, { env: { SECRET_X: 'mine', GITHUB_TOKEN: 'mine' } });
    expect(names((await look(stage, ALL)).bash)).toEqual(MINIMAL);
  });
});

describe('variables of settings', () => {
  const env = { TZ: 'Asia/Tokyo' };

  it('count more than those that the process happens to have', async () => {
    const { bash: ofBash, hook } = await look(createStage(), {
      ...ALL,
      trusted: true,
      settings: JSON.stringify({ env }),
    });
    expect([ofBash.TZ, hook.TZ]).toEqual(['Asia/Tokyo', 'Asia/Tokyo']);
  });

  it('count less than those that the caller gave, unless they are policy', async () => {
    const stage = createStage();
    stage.write(MANAGED, { env: { LC_ALL: 'POSIX' } });
    const exact = { ...ALL, trusted: true, envIsExact: true, settings: JSON.stringify({ env }) };
    expect((await look(stage, exact)).bash).toMatchObject({ TZ: 'UTC', LC_ALL: 'POSIX' });
  });
});
