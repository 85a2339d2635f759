/** Folders of plugins and marketplaces inside the project: what is written there may run, so it is asked about. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/index.js';
import { TRUSTED, write } from '../commands/kit.js';
import { scratch, start } from '../engine/kit.js';
import { connect } from '../requests/kit.js';

const MARKET = '.claude-plugin/marketplace.json';
const marketplace = (source: string) =>
  JSON.stringify({ name: 'mk', owner: { name: 'o' }, plugins: [{ name: 'ap', source }] });
const enabling = (path: string, kind = 'directory') =>
  JSON.stringify({
    extraKnownMarketplaces: { mk: { source: { source: kind, path } } },
    enabledPlugins: { 'ap@mk': true },
  });

interface Case {
  files: Record<string, string>;
  /** Below the project. */
  cwd?: string;
  config?: Partial<SessionConfig>;
  asked: string[];
  free?: string[];
}

const PLUGIN = { 'pl/.claude-plugin/plugin.json': '{"name":"pl"}', 'pl/commands/c.md': 'c' };

const CASES: Record<string, Case> = {
  'a plugin that is named': {
    files: PLUGIN,
    config: { pluginDirs: ['./pl'] },
    asked: ['pl/hooks/hooks.json', 'pl/s.sh', 'pl/.claude-plugin/plugin.json', 'pl/deep/er/x'],
    free: ['plx/s.sh', 'src/a.ts'],
  },
  'a plugin that the project is': {
    files: { '.claude-plugin/plugin.json': '{"name":"pl"}' },
    config: { pluginDirs: ['.'] },
    asked: ['hooks/hooks.json', 'src/a.ts'],
  },
  'a marketplace that is named': {
    files: { [`mk/${MARKET}`]: marketplace('./x/ap'), 'mk/x/ap/commands/c.md': 'c' },
    config: { pluginDirs: ['mk'] },
    asked: [`mk/${MARKET}`, 'mk/x/ap/s.sh', 'mk/other/s.sh'],
    free: ['src/a.ts'],
  },
  'a marketplace that is named, and that the project is': {
    files: { [MARKET]: marketplace('./x/ap'), 'x/ap/commands/c.md': 'c' },
    config: { pluginDirs: ['.'] },
    asked: [MARKET, 'x/ap/s.sh', 'x/ap/hooks/hooks.json'],
    free: ['src/a.ts', 'x/other/a.ts'],
  },
  'a marketplace that settings know, and that the project is': {
    files: {
      [MARKET]: marketplace('./x/ap'),
      'x/ap/commands/c.md': 'c',
      '.claude/settings.json': enabling('./'),
    },
    asked: [MARKET, 'x/ap/hooks/hooks.json', 'x/ap/run.sh', 'x/ap/commands/evil.md'],
    free: ['src/a.ts', 'x/other/a.ts'],
  },
  'a marketplace of --settings, from the folder of the session': {
    files: { [`sub/mk/${MARKET}`]: marketplace('./ap'), 'sub/mk/ap/commands/c.md': 'c', '.git/HEAD': 'ref: x\n' },
    cwd: 'sub',
    config: { settings: enabling('./mk') },
    asked: ['sub/mk/ap/hooks/hooks.json', `sub/mk/${MARKET}`, 'sub/mk/later/x'],
    free: ['sub/a.ts'],
  },
  'a plugin that is named and broken': {
    files: { 'pl/.claude-plugin/plugin.json': '{' },
    config: { pluginDirs: ['pl'] },
    asked: ['pl/.claude-plugin/plugin.json', 'pl/hooks/hooks.json'],
    free: ['src/a.ts'],
  },
};

/** What is written, where nobody can be asked. */
async function writeAll(base: string, { cwd = '.', config }: Pick<Case, 'cwd' | 'config'>, calls: object[]) {
  const script = [...calls.map((call, at) => ({ toolUse: { id: `c${at}`, ...call } })), 'done'];
  const run = await start(script as Parameters<typeof start>[0], {
    cwd: join(base, cwd),
    config: { ...TRUSTED, configDir: scratch(), ...config },
  });
  await run.ask('go');
}

describe.each(Object.entries(CASES))('%s', (_, { files, asked, free = [], ...given }) => {
  it.each(['acceptEdits', 'bypassPermissions', 'dontAsk'] as const)('is asked about in %s', async (permissionMode) => {
    const base = scratch();
    write(base, files);
    const config = { ...given.config, permissionMode, allowDangerouslySkipPermissions: true };
    const names = [...asked, ...free];
    const before = names.filter((name) => existsSync(join(base, name)));
    const calls = names.flatMap((name) => [
      { name: 'Write', input: { file_path: join(base, `${name}.new`), content: 'x' } },
      {
        name: 'Bash',
        input: { command: `mkdir -p ${join(base, name, '..')} && touch ${join(base, `${name}.touched`)}` },
      },
    ]);
    await writeAll(base, { ...given, config }, calls);
    const made = names.filter((name) =>
      [`${name}.new`, `${name}.touched`].some((each) => existsSync(join(base, each))),
    );
    expect(made).toEqual(permissionMode === 'dontAsk' ? [] : free);
    expect(names.filter((name) => existsSync(join(base, name)))).toEqual(before);
  });
});

describe('the file of --mcp-config, which names programs that start', () => {
  it.each(['acceptEdits', 'bypassPermissions'] as const)('is asked about in %s', async (permissionMode) => {
    const base = scratch();
    const text = '{"mcpServers":{}}';
    write(base, { 'servers.json': text, 'real.json': text, 'other.json': text });
    symlinkSync('real.json', join(base, 'link.json'));
    const names = ['servers.json', 'real.json', 'other.json'];
    const calls = names.flatMap((name) => [
      { name: 'Bash', input: { command: `echo x >> ${name}` } },
      { name: 'Write', input: { file_path: join(base, name), content: 'y' } },
    ]);
    const mcpConfig = ['servers.json', join(base, 'link.json'), text];
    const config = { mcpConfig, permissionMode, allowDangerouslySkipPermissions: true };
    await writeAll(base, { config }, calls);
    const changed = names.filter((name) => readFileSync(join(base, name), 'utf8') !== text);
    expect(changed).toEqual(['other.json']);
  });
});

describe('a plugin in the project', () => {
  it('is protected from when reload_plugins has found it', async () => {
    const host = connect(
      [{ toolUse: { name: 'Write', id: 't', input: { file_path: 'mk/new/hooks/hooks.json', content: '{}' } } }, 'x'],
      { config: { pluginDirs: ['.'], permissionMode: 'acceptEdits' } },
    );
    host.write(MARKET, JSON.stringify({ name: 'mk', owner: {}, plugins: [] }));
    await host.peer.request('reload_plugins', {});
    host.write('mk/new/commands/c.md', 'c');
    host.write(MARKET, marketplace('./mk/new'));
    await host.peer.request('reload_plugins', {});
    expect(await host.ask('go')).toMatchObject({ permission_denials: [{ tool_name: 'Write' }] });
  });

  it('is opened by a rule as little as settings are', async () => {
    const base = scratch();
    write(base, PLUGIN);
    const allow = ['Edit(./pl/**)', 'Edit(./.claude/**)', 'Edit(./src/**)'];
    const config = { pluginDirs: ['pl'], settings: JSON.stringify({ permissions: { allow } }) };
    const names = ['pl/s.sh', '.claude/s.sh', 'src/s.sh'];
    const calls = names.map((name) => ({ name: 'Write', input: { file_path: join(base, name), content: 'x' } }));
    await writeAll(base, { config }, calls);
    expect(names.filter((name) => existsSync(join(base, name)))).toEqual(['src/s.sh']);
  });
});
