import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../engine/kit.js';
import { connect } from './kit.js';

/** A plugin on the disk, which may change. */
function place(): { root: string; write(path: string, content: string | object): void; remove(path: string): void } {
  const root = scratch();
  return {
    root,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
    },
    remove: (path) => rmSync(join(root, path), { recursive: true }),
  };
}

const MANIFEST = '.claude-plugin/plugin.json';
const command = (text: string) => `---\ndescription: ${text}\n---\n${text}\n`;
const WRITE = { toolUse: { name: 'Write', input: { file_path: 'made.txt', content: 'x' }, id: 't' } };

describe('reload_plugins', () => {
  it('takes up commands, hooks and servers that a plugin has now, and drops those that it had', async () => {
    const plugin = place();
    plugin.write(MANIFEST, { name: 'tools' });
    plugin.write('commands/old.md', command('old'));
    plugin.write('.mcp.json', { mcpServers: { before: { command: '/dev/null/before' } } });
    const host = connect([WRITE, 'one'], {
      config: { pluginDirs: [plugin.root], permissionMode: 'acceptEdits' },
    });
    const { peer } = host;
    const first = await peer.request('reload_plugins', {});
    expect(first.commands?.map(({ name }) => name)).toContain('tools:old');
    expect(first.mcpServers?.map(({ name }) => name)).toEqual(['plugin_tools_before']);
    expect((await peer.request('get_hooks_listing', {})).hooks).toEqual([]);

    plugin.remove('commands/old.md');
    plugin.write('more/new.md', command('new'));
    plugin.write(MANIFEST, { name: 'tools', version: '2.0.0', commands: './more' });
    plugin.write('agents/helper.md', '---\nname: helper\ndescription: helps\n---\nHelp.\n');
    plugin.write('.mcp.json', { mcpServers: { after: { command: '/dev/null/after' } } });
    const block = { type: 'command', command: 'echo not so >&2; exit 2' };
    plugin.write('hooks/hooks.json', { hooks: { PreToolUse: [{ matcher: 'Write', hooks: [block] }] } });
    const second = await peer.request('reload_plugins', {});
    expect(second).toMatchObject({
      plugins: [{ name: 'tools', path: plugin.root, source: 'flag' }],
      mcpServers: [{ name: 'plugin_tools_after', status: 'failed' }],
      error_count: 0,
    });
    const names = second.commands?.map(({ name }) => name) ?? [];
    expect([names.includes('tools:new'), names.includes('tools:old')]).toEqual([true, false]);
    expect(second.agents?.map(({ name }) => name)).toContain('tools:helper');
    expect(await host.ask('go')).toMatchObject({ permission_denials: [{ tool_name: 'Write' }] });
  });

  it('a plugin that breaks goes, and is counted; servers that the host has set stay', async () => {
    const plugin = place();
    plugin.write(MANIFEST, { name: 'tools' });
    plugin.write('commands/old.md', command('old'));
    const { peer } = connect([], { config: { pluginDirs: [plugin.root] } });
    await peer.request('mcp_set_servers', { servers: { own: { command: '/dev/null/own' } } });
    plugin.write(MANIFEST, '{ broken');
    const report = await peer.request('reload_plugins', {});
    expect(report).toMatchObject({ plugins: [], mcpServers: [{ name: 'own' }] });
    expect(report.error_count).toBeGreaterThan(0);
    expect(report.commands?.map(({ name }) => name)).not.toContain('tools:old');
  });

  it('without plugins there is nothing to read', async () => {
    const { peer } = connect();
    expect(await peer.request('reload_plugins', {})).toMatchObject({ plugins: [], mcpServers: [], error_count: 0 });
  });
});
