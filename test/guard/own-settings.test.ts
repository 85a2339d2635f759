/** Where settings really come from is protected, whatever that place is called. */
import { mkdirSync, symlinkSync } from 'node:fs';
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
