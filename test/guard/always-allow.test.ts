import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runPermissions } from '../../src/cli/permissions.js';
import { createTrust } from '../../src/engine/index.js';
import type { PermissionUpdate, PermissionUpdateDestination } from '../../src/protocol/index.js';
import { resultText } from '../engine/kit.js';
import { LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';
import { type Asked, bash, call, createStage, person, type Stage } from './stage.js';

const rules = (
  destination: PermissionUpdateDestination,
  ruleContent: string,
  more: { type?: 'addRules' | 'replaceRules' | 'removeRules'; behavior?: 'allow' | 'ask' | 'deny' } = {},
): PermissionUpdate => ({
  type: 'addRules',
  behavior: 'allow',
  ...more,
  destination,
  rules: [{ toolName: 'Bash', ruleContent }],
});

const always =
  (...updatedPermissions: PermissionUpdate[]) =>
  () => ({ behavior: 'allow', updatedPermissions });

/** Runs one line in a new session; gives whether it was asked about. */
async function isAsked(stage: Stage, line: string, cwd = stage.project): Promise<boolean> {
  const { ask, asked } = person();
  const run = await stage.open([bash(line), 'ok'], { ask, cwd, config: { trusted: undefined } });
  await run.ask('go');
  return asked.length > 0;
}

async function createTrusted(): Promise<Stage> {
  const stage = createStage();
  await createTrust({ configDir: stage.config, home: stage.home }).trust(stage.project);
  return stage;
}

const WRITTEN = `{
  // what I allow
  "permissions": {
    "allow": [
      "Bash(ls)" // harmless
    ]
  },
  "ofSomebodyElse": { "kept": [1, 2,] } /* as it is */
}
`;

describe('updatedPermissions', () => {
  it.each<[PermissionUpdateDestination, string | undefined]>([
    ['userSettings', USER],
    ['projectSettings', PROJECT],
    ['localSettings', LOCAL],
    ['session', undefined],
    ['cliArg', undefined],
  ])(
    '%s: the rule counts at once, is where it belongs, and nothing else is changed there',
    async (destination, file) => {
      const stage = await createTrusted();
      for (const each of [USER, PROJECT, LOCAL]) stage.write(each, WRITTEN);
      const { ask, ids } = person(always(rules(destination, 'touch a:*')));
      const run = await stage.open([bash('touch a 1'), bash('touch a 2', 't2'), 'ok'], { ask });
      await run.ask('go');
      expect(ids()).toEqual(['t1']);
      for (const each of [USER, PROJECT, LOCAL]) {
        const added = '      "Bash(ls)", // harmless\n      "Bash(touch a:*)"\n';
        const expected = each === file ? WRITTEN.replace('      "Bash(ls)" // harmless\n', added) : WRITTEN;
        expect(stage.text(each)).toBe(expected);
      }
      expect(await isAsked(stage, 'touch a 3')).toBe(file === undefined);
    },
  );

  it('files are made where there are none, the local one for its owner alone', async () => {
    const stage = await createTrusted();
    const { ask } = person(always(rules('localSettings', 'touch a'), rules('projectSettings', 'touch b')));
    await (await stage.open([bash('touch a'), 'ok'], { ask })).ask('go');
    expect(JSON.parse(stage.text(LOCAL))).toEqual({ permissions: { allow: ['Bash(touch a)'] } });
    expect(JSON.parse(stage.text(PROJECT))).toEqual({ permissions: { allow: ['Bash(touch b)'] } });
    expect(statSync(stage.path(LOCAL)).mode & 0o777).toBe(0o600);
  });

  it('rules are replaced and removed, folders and modes are kept, with all five kinds in one answer', async () => {
    const stage = await createTrusted();
    stage.write(LOCAL, WRITTEN);
    const updates: PermissionUpdate[] = [
      rules('localSettings', 'touch a', { type: 'replaceRules' }),
      rules('localSettings', 'touch b', { behavior: 'deny' }),
      { type: 'addDirectories', directories: ['~/library'], destination: 'localSettings' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'localSettings' },
      rules('userSettings', 'none', { type: 'removeRules' }),
    ];
    const { ask } = person(always(...updates));
    await (await stage.open([bash('touch a'), 'ok'], { ask })).ask('go');
    stage.write('home/library/book.txt', 'text');
    const next = await stage.open([call('Read', { file_path: stage.path('home/library/book.txt') }), 'ok']);
    expect(next.session.scope.state.mode).toBe('acceptEdits');
    expect((await next.ask('go')).permission_denials).toEqual([]);
    const { permissions, ...rest } = next.session.scope.guard.settings.layers[1]?.settings ?? {};
    expect(permissions).toEqual({
      allow: ['Bash(touch a)'],
      deny: ['Bash(touch b)'],
      additionalDirectories: ['~/library'],
      defaultMode: 'acceptEdits',
    });
    expect(rest).toEqual({ ofSomebodyElse: { kept: [1, 2] } });
    expect(stage.text(LOCAL)).toMatch(/what I allow.*as it is/s);
  });

  it('what cannot be written whole changes nothing, and the call does not run', async () => {
    const stage = await createTrusted();
    stage.write(LOCAL, WRITTEN);
    for (const broken of [
      rules('localSettings', 'touch ('),
      { type: 'setMode', mode: 'bypassPermissions', destination: 'localSettings' } as const,
    ]) {
      const { ask } = person(always(rules('userSettings', 'touch a'), broken));
      const run = await stage.open([bash('touch made'), 'ok'], { ask });
      expect((await run.ask('go')).permission_denials).toHaveLength(1);
    }
    expect(stage.exists(USER)).toBe(false);
    expect(stage.text(LOCAL)).toBe(WRITTEN);
    expect(stage.exists('home/shop/made')).toBe(false);
  });
});

describe('D5: "always allow"', () => {
  it('offers the narrowest rule that helps, which then spares the question', async () => {
    const stage = await createTrusted();
    chmodSync(stage.write('home/shop/check.sh', '#!/bin/sh\necho "$1" >> ran\n'), 0o755);
    const { ask, asked } = person(({ permission_suggestions }: Asked) => ({
      behavior: 'allow',
      updatedPermissions: permission_suggestions,
    }));
    const run = await stage.open([bash('./check.sh fast'), 'ok'], { ask });
    await run.ask('go');
    expect(asked[0]?.permission_suggestions).toEqual([rules('localSettings', './check.sh fast')]);
    expect(await isAsked(stage, './check.sh fast')).toBe(false);
    expect(await isAsked(stage, './check.sh slow')).toBe(true);
    expect(stage.text('home/shop/ran')).toBe('fast\nfast\n');
  });

  it('survives a restart, a sub-directory and a git worktree, and starts where it is used', async () => {
    const stage = await createTrusted();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...args], {
        cwd: stage.project,
        env: { ...stage.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
      });
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '--quiet', stage.path('home/tree'));
    mkdirSync(stage.path('home/shop/sub/deep'), { recursive: true });
    const { ask } = person(always(rules('localSettings', 'touch x:*')));
    await (await stage.open([bash('touch x'), 'ok'], { ask, cwd: stage.path('home/shop/sub') })).ask('go');
    expect(stage.exists('home/shop/sub/.claude')).toBe(false);
    for (const cwd of ['home/shop', 'home/shop/sub/deep', 'home/tree']) {
      expect(await isAsked(stage, 'touch x', stage.path(cwd))).toBe(false);
      expect(await isAsked(stage, 'touch y', stage.path(cwd))).toBe(true);
    }
  });

  it('a folder that only claims to be a worktree of the project gets nothing of it', async () => {
    const stage = await createTrusted();
    stage.write(LOCAL, { permissions: { allow: ['Bash(touch x)'] } });
    stage.write('home/shop/.git/HEAD', 'ref: refs/heads/main\n');
    stage.write('home/shop/.git/worktrees/tree/gitdir', `${stage.path('home/real-tree/.git')}\n`);
    stage.write('home/shop/.git/worktrees/tree/commondir', '../..\n');
    for (const name of ['real-tree', 'false-tree']) {
      stage.write(`home/${name}/.git`, `gitdir: ${stage.path('home/shop/.git/worktrees/tree')}\n`);
    }
    expect(await isAsked(stage, 'touch x', stage.path('home/real-tree'))).toBe(false);
    expect(await isAsked(stage, 'touch x', stage.path('home/false-tree'))).toBe(true);
  });

  it.each([
    ['user', USER],
    ['project', PROJECT],
    ['managed', MANAGED],
  ])('a later deny of the %s file wins at once', async (_, file) => {
    const stage = await createTrusted();
    const { ask, ids } = person(always(rules('localSettings', 'touch x:*')));
    const run = await stage.open(
      [
        bash('touch x 1'),
        bash('touch x 2', 't2'),
        () => {
          stage.write(file, { permissions: { deny: ['Bash(touch x:*)'] } });
          return bash('touch x 3', 't3');
        },
        'ok',
      ],
      { ask },
    );
    expect((await run.ask('go')).permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t3']);
    expect(ids()).toEqual(['t1']);
    expect(resultText(run.messages, 't3')).toMatch(/has been denied/);
  });

  it('is listed with file and line, and revoked by `heddle permissions remove`', async () => {
    const stage = await createTrusted();
    stage.write(LOCAL, WRITTEN);
    const { ask } = person(always(rules('localSettings', 'touch x:*')));
    await (await stage.open([bash('touch x'), 'ok'], { ask })).ask('go');
    const permissions = async (...argv: string[]): Promise<string> => {
      let out = '';
      const write = (text: string): unknown => (out += text);
      const { project: cwd, config: configDir, home, managed: managedDir } = stage;
      const code = await runPermissions(argv, {
        stdout: { write },
        stderr: { write },
        cwd,
        configDir,
        home,
        managedDir,
      });
      expect(code).toBe(0);
      return out;
    };
    expect(await permissions('list')).toMatch(/local +allow +Bash\(touch x:\*\) +.*settings\.local\.json:6\n/);
    expect(await permissions('remove', 'Bash(touch x:*)')).toContain('-       "Bash(touch x:*)"');
    expect(stage.text(LOCAL).replaceAll(/,(?= \/\/ harmless)/g, '')).toBe(WRITTEN);
    expect(await isAsked(stage, 'touch x')).toBe(true);
    await permissions('add', 'Bash(touch x:*)');
    expect(await isAsked(stage, 'touch x')).toBe(false);
  });

  it('in a folder that nobody trusts it is written, counts for the session, and waits after that', async () => {
    const stage = createStage();
    const { ask, ids } = person(always(rules('localSettings', 'touch x:*')));
    const run = await stage.open([bash('touch x 1'), bash('touch x 2', 't2'), 'ok'], {
      ask,
      config: { trusted: false },
    });
    await run.ask('go');
    expect(ids()).toEqual(['t1']);
    expect(await isAsked(stage, 'touch x')).toBe(true);
    await createTrust({ configDir: stage.config, home: stage.home }).trust(stage.project);
    expect(await isAsked(stage, 'touch x')).toBe(false);
  });
});
