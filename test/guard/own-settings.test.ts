/** Where settings really come from is protected, whatever that place is called. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bash, BYPASS, call, createStage, person, type Stage } from './stage.js';

const write = (path: string) => call('Write', { file_path: path, content: '{}' }, path);

async function asked(stage: Stage, calls: readonly ReturnType<typeof call>[], config: object): Promise<string[]> {
  const { ask, ids } = person();
  const run = await stage.open([...calls, 'ok'], { ask, config });
  await run.ask('go');
  return ids();
}

describe('E3 settings under other names', () => {
  it.each(['acceptEdits', 'bypassPermissions'] as const)(
    'the folder of settings in the project, in %s',
    async (mode) => {
      const stage = createStage();
      const configDir = stage.path('home/shop/cfg');
      mkdirSync(configDir, { recursive: true });
      const config = { ...(mode === 'bypassPermissions' ? BYPASS : { permissionMode: mode }), configDir };
      const calls = [write('cfg/settings.json'), write('cfg/agents/a.md'), write('cfg2/settings.json')];
      expect(await asked(stage, calls, config)).toEqual(['cfg/settings.json', 'cfg/agents/a.md']);
      expect(stage.exists('home/shop/cfg/agents/a.md')).toBe(false);
      expect(stage.exists('home/shop/cfg2/settings.json')).toBe(true);
    },
  );

  it('the file of --settings, by its name, by a link and by a command', async () => {
    const stage = createStage();
    stage.write('home/shop/real/flags.json', {});
    symlinkSync('real/flags.json', stage.path('home/shop/flags.json'));
    const config = { ...BYPASS, settings: 'flags.json' };
    const calls = [
      write('flags.json'),
      write('real/flags.json'),
      write('real/other.json'),
      bash('echo x > real/flags.json', 'shell'),
      bash('mkdir e; cp e/flags.json .', 'join'),
      bash('rm -rf real', 'folder'),
    ];
    expect(await asked(stage, calls, config)).toEqual(['flags.json', 'real/flags.json', 'shell', 'join', 'folder']);
    expect(stage.exists('home/shop/real/other.json')).toBe(true);
  });

  it('the folders of policy, also their parts', async () => {
    const stage = createStage();
    const managedDir = stage.path('home/shop/policy');
    mkdirSync(managedDir, { recursive: true });
    const calls = [write('policy/managed-settings.d/a.json'), write('policy/x'), write('managed-settings.d/a.json')];
    expect(await asked(stage, calls, { ...BYPASS, managedDir })).toEqual([
      'policy/managed-settings.d/a.json',
      'policy/x',
      'managed-settings.d/a.json',
    ]);
  });

  it('of a folder of settings in which someone works only what is settings', async () => {
    const stage = createStage();
    const configDir = stage.path('home');
    const calls = [write(stage.path('home/settings.json')), write('a.txt')];
    expect(await asked(stage, calls, { ...BYPASS, configDir })).toEqual([stage.path('home/settings.json')]);
    expect(stage.exists('home/shop/a.txt')).toBe(true);
  });
});

describe('E3 what protected names lead to', () => {
  const HOOK = '#!/bin/sh\n';

  it.each([
    ['.git/hooks/pre-commit', '../../s/x', 's/x'],
    ['.git/hooks', '../s', 's/pre-commit'],
    ['.husky', 's', 's/pre-push'],
    ['.envrc', 's/x', 's/x'],
    ['.mcp.json', 's/x', 's/x'],
    ['.claude/hooks/h.sh', '../../s/x', 's/x'],
    ['.claude/agents', '../s', 's/a.md'],
    ['.claude/skills/k/SKILL.md', '../../../s/x', 's/x'],
    ['../.bashrc', 'shop/s/x', 's/x'],
  ])('%s -> %s: %s', async (name, target, written) => {
    const stage = createStage();
    stage.write('home/shop/s/x', HOOK);
    const link = stage.path(`home/shop/${name}`);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, link);
    const calls = [
      call('Read', { file_path: 's/x' }, 'read'),
      write(written),
      bash(`echo x > ${written}`, 'shell'),
      write('other'),
    ];
    expect(await asked(stage, calls, { permissionMode: 'acceptEdits' })).toEqual([written, 'shell']);
  });
});

describe('E3 scripts that commands of settings name', () => {
  const hooks = (command: string) => ({
    hooks: { PreToolUse: [{ matcher: 'NoTool', hooks: [{ type: 'command', command }] }] },
  });

  it.each<[string, object, string]>([
    ['a hook', hooks('./check.sh'), 'check.sh'],
    ['a hook that names the project', hooks('"$CLAUDE_PROJECT_DIR"/tools/check.sh --quick'), 'tools/check.sh'],
    ['a hook through a language', hooks('cd tools && node check.sh'), 'tools/check.sh'],
    ['a hook that takes a file in', hooks('env A=1 sh -s < tools/check.sh'), 'tools/check.sh'],
    ['a hook whose script is not there yet', hooks('tools/none.sh'), 'tools/none.sh'],
    ['a flag of a hook', hooks('checker --config=tools/check.sh'), 'tools/check.sh'],
    ['a helper', { apiKeyHelper: 'tools/check.sh' }, 'tools/check.sh'],
    ['a server', { mcpServers: { s: { command: 'node', args: ['tools/check.sh'] } } }, 'tools/check.sh'],
  ])('%s', async (_, settings, script) => {
    const stage = createStage();
    stage.write('home/.claude/settings.json', settings);
    for (const name of ['check.sh', 'tools/check.sh', 'tools/other.sh']) stage.write(`home/shop/${name}`, 'exit 2\n');
    const calls = [
      ...['check.sh', 'tools/check.sh', 'tools/other.sh'].map((name) => call('Read', { file_path: name }, name)),
      write(script),
      bash(`echo x > ${script}`, 'shell'),
      write('tools/other.sh'),
    ];
    expect(await asked(stage, calls, { permissionMode: 'acceptEdits' })).toEqual([script, 'shell']);
  });

  it('but not what work on a project changes every day', async () => {
    const stage = createStage();
    stage.write('home/.claude/settings.json', hooks('[ -f package.json ] && npx tsc -p tsconfig.json'));
    for (const name of ['package.json', 'tsconfig.json']) stage.write(`home/shop/${name}`, '{}');
    const calls = [
      call('Read', { file_path: 'package.json' }, 'r'),
      write('package.json'),
      bash('echo > tsconfig.json', 's'),
    ];
    expect(await asked(stage, calls, { permissionMode: 'acceptEdits' })).toEqual([]);
  });
});
