/** What once went wrong between rules, settings and hooks. */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { runPermissions } from '../../src/cli/permissions.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { resultText } from '../engine/kit.js';
import { MANAGED, USER } from '../settings/place.js';
import { bash, BYPASS, call, createStage, person, textOf } from './stage.js';

const hook = (event: string, command: string) => ({ hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } });
const update = (type: string, behavior: string, destination: string, ruleContent: string) => ({
  type,
  behavior,
  destination,
  rules: [{ toolName: 'Bash', ruleContent }],
});

it('parallel calls of one message see a new deny', async () => {
  const stage = createStage();
  const run = await stage.open(
    [
      bash('touch first', 't0'),
      () => {
        stage.write(USER, { permissions: { deny: ['Bash(touch bad)', 'Bash(touch bad2)'] } });
        return { toolUse: [bash('touch bad').toolUse, bash('touch bad2', 't2').toolUse] };
      },
      'ok',
    ],
    { config: { allowedTools: ['Bash(touch:*)'] } },
  );
  expect((await run.ask('go')).permission_denials).toHaveLength(2);
});
it('E2: a link below ~ does not lead a shell reader past a Read deny', async () => {
  const stage = createStage();
  stage.write('home/secrets/h.txt', 'SECRET');
  symlinkSync(stage.path('home/secrets/h.txt'), stage.path('home/l'));
  stage.write(USER, { permissions: { allow: ['Bash(cat:*)'], deny: ['Read(~/secrets/**)'] } });
  const run = await stage.open([bash('cat ~/l'), bash('cat $HOME/l', 't2'), 'ok']);
  expect((await run.ask('go')).permission_denials).toHaveLength(2);
});
it('E2: Grep and Glob leave out what Read denies', async () => {
  const stage = createStage();
  for (const name of ['.env', 'a.txt']) stage.write(`home/shop/${name}`, 'SECRET');
  stage.write(USER, { permissions: { deny: ['Read(./.env)'] } });
  const run = await stage.open([call('Grep', { pattern: 'SECRET' }), call('Glob', { pattern: '**/*' }, 't2'), 'ok']);
  await run.ask('go');
  expect(resultText(run.messages, 't1') + resultText(run.messages, 't2')).not.toContain('.env');
});
it.each([
  ['Read(**/keys/*.txt)', 'lib/keys/k.txt', 'lib/keys'],
  ['Read(*/.env)', 'lib/.env', 'lib'],
  ['Read(./packages/*/keys/**)', 'packages/a/keys/k.txt', 'packages/a'],
  ['Read(**/config/*/k.txt)', 'a/config/prod/k.txt', 'a/config/prod'],
  ['Read(./{x}/**)', '{x}/k.txt', '.'],
  ['Read(./[id]/{{x}}/k)', 'i/{{x}}/k', 'i'],
  ['Read(./k.[x)', 'k.[x', '.'],
  ['Read(./k.txt )', 'k.txt ', '.'],
  ['Read(./secret.?)', 'secret.é', '.'],
  ['Read(./secret.?)', 'secret.\u{1f511}', '.'],
  ['Read(./secret.[!a])', 'secret.漢', '.'],
])('E2: %s holds for a search that starts in the middle of it, and whatever signs it has', async (rule, file, path) => {
  const stage = createStage();
  stage.write(`home/shop/${file}`, 'SECRET');
  stage.write('home/shop/b.txt', 'SECRET');
  stage.write(USER, { permissions: { deny: [rule] } });
  const script = [
    call('Read', { file_path: file }),
    call('Grep', { pattern: 'SECRET', path, output_mode: 'content' }, 't2'),
    call('Glob', { pattern: '**/*', path }, 't3'),
    'ok',
  ];
  const run = await stage.open(script);
  await run.ask('go');
  expect(resultText(run.messages, 't1')).toContain('denied');
  expect(resultText(run.messages, 't2')).toMatch(path === '.' ? /^b\.txt:1:SECRET$/ : /^No matches found/);
  expect(resultText(run.messages, 't3')).not.toContain(file.slice(file.lastIndexOf('/') + 1));
});
it('disableBypassPermissionsMode holds against the call', async () => {
  const stage = createStage();
  stage.write(MANAGED, { permissions: { disableBypassPermissionsMode: 'disable' } });
  const run = await stage.open([bash('touch x'), 'ok'], { config: BYPASS }).catch(() => undefined);
  await run?.ask('go');
  expect(stage.exists('home/shop/x')).toBe(false);
});
it('a link that is swapped while the person is asked is not followed', async () => {
  const stage = createStage();
  mkdirSync(stage.path('out'));
  mkdirSync(stage.path('home/shop/sub'));
  const { ask, asked } = person(() => {
    if (asked.length > 1) return { behavior: 'deny', message: 'no' };
    rmSync(stage.path('home/shop/sub'), { recursive: true });
    symlinkSync(stage.path('out'), stage.path('home/shop/sub'));
    return { behavior: 'allow' };
  });
  const run = await stage.open([call('Write', { file_path: 'sub/new.txt', content: 'x' }), 'ok'], { ask });
  await run.ask('go');
  expect(readdirSync(stage.path('out'))).toEqual([]);
});
it('a gate that is written while a session runs counts at the next call', async () => {
  const stage = createStage();
  const run = await stage.open(
    [
      bash('touch first', 't0'),
      () => {
        stage.write(USER, hook('PreToolUse', 'exit 2'));
        return bash('touch a');
      },
      'ok',
    ],
    { config: BYPASS },
  );
  expect((await run.ask('go')).permission_denials).toHaveLength(1);
});
it('and a hook on prompts at the next turn', async () => {
  const stage = createStage();
  const run = await stage.open(['one', 'two'], { config: BYPASS });
  await run.ask('go');
  stage.write(USER, hook('UserPromptSubmit', 'exit 2'));
  expect(await run.ask('go')).not.toMatchObject({ result: 'two' });
});
it('replaceRules for a file leaves the rules of the session alone', async () => {
  const stage = createStage();
  const { ask } = person(({ tool_use_id }) => ({
    behavior: 'allow',
    updatedPermissions: [
      tool_use_id === 't1'
        ? update('addRules', 'deny', 'session', 'touch a')
        : update('replaceRules', 'deny', 'userSettings', 'touch z'),
    ],
  }));
  const run = await stage.open([bash('touch b', 't1'), bash('touch c', 't2'), bash('touch a', 't3'), 'ok'], { ask });
  await run.ask('go');
  expect(stage.exists('home/shop/a')).toBe(false);
});
it('D5: a rule that is revoked in its file is gone in the running session, too', async () => {
  const stage = createStage();
  const { ask, ids } = person(({ tool_use_id }) =>
    tool_use_id === 't1'
      ? { behavior: 'allow', updatedPermissions: [update('addRules', 'allow', 'localSettings', 'touch a')] }
      : { behavior: 'deny', message: 'no' },
  );
  const write = () => {};
  const { project: cwd, config: configDir, home, managed: managedDir } = stage;
  const run = await stage.open(
    [
      bash('touch a', 't1'),
      async () => {
        await runPermissions(['remove', 'Bash(touch a)'], {
          stdout: { write },
          stderr: { write },
          cwd,
          configDir,
          home,
          managedDir,
        });
        return bash('touch a', 't2');
      },
      'ok',
    ],
    { ask },
  );
  await run.ask('go');
  expect(ids()).toEqual(['t1', 't2']);
});
it('D5: an approval in the log yields to a deny that came later', async () => {
  const stage = createStage();
  const sessionId = '5b0c4f4e-6a51-4c8e-9d2a-3f1b7c9e8a02';
  const first = await stage.open([bash('touch made'), 'x'], {
    ask: async () => ({ behavior: 'allow' }),
    config: { sessionId },
  });
  await first.ask('go');
  rmSync(stage.path('home/shop/made'));
  const lines = (await first.store.load(sessionId))?.lines ?? [];
  const store = createMemoryStore();
  await store.append(
    { sessionId, cwd: stage.project },
    lines.slice(0, lines.findLastIndex((line) => line.includes('"answered"')) + 1),
  );
  stage.write(USER, { permissions: { deny: ['Bash(touch:*)'] } });
  const run = await stage.open(['seen'], { store, config: { resume: sessionId } });
  const over = run.nextResult();
  run.session.resumeTurn();
  await over;
  expect(stage.exists('home/shop/made')).toBe(false);
});
it('ConfigChange hears of policy', async () => {
  const stage = createStage();
  stage.write(USER, hook('ConfigChange', 'cat >> changes'));
  const run = await stage.open(
    [
      bash('touch x'),
      () => {
        stage.write(MANAGED, { model: 'x' });
        return bash('touch y', 't2');
      },
      'x',
    ],
    { config: BYPASS },
  );
  await run.ask('go');
  expect(textOf(stage.path('home/shop/changes'))).toContain('policy_settings');
});
it('E2: where the case of letters makes no other file, a Read deny holds for every spelling', async () => {
  const stage = createStage();
  stage.write(USER, { permissions: { allow: ['Bash(cat:*)'], deny: ['Read(./.env)'] } });
  const system = vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
  try {
    const run = await stage.open([
      call('Read', { file_path: stage.path('home/shop/.ENV') }),
      bash('cat .Env', 't2'),
      'ok',
    ]);
    expect((await run.ask('go')).permission_denials).toHaveLength(2);
  } finally {
    system.mockRestore();
  }
});
