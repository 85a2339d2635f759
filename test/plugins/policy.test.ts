/** What policy enables is policy's: hooks and servers of such a plugin, against settings of everyone else. */
import { describe, expect, it } from 'vitest';
import { hooksOfDefinition } from '../../src/engine/agents/agent-hooks.js';
import { findServers } from '../../src/engine/mcp/open.js';
import { openDefinitions } from '../../src/engine/definitions/open.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { connect } from '../requests/kit.js';
import { createPlace, MANAGED, USER } from '../settings/place.js';

const known = (path: string) => ({ source: { source: 'directory', path } });
const hook = (command: string) => ({ UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] });

/** Policy enables one plugin, the person another; both have a hook and a server. */
function setUp({ policy = {}, user = {} }: { policy?: object; user?: object } = {}) {
  const place = createPlace();
  for (const name of ['firm', 'mine']) {
    const market = { name, owner: {}, plugins: [{ name: `of-${name}`, source: './p' }] };
    place.write(`srv/${name}/.claude-plugin/marketplace.json`, market);
    place.write(`srv/${name}/p/hooks/hooks.json`, { hooks: hook(`echo ${name}`) });
    const agent = `---\nname: a\ndescription: d\nhooks: ${JSON.stringify(hook(`echo agent-${name}`))}\n---\nDo.\n`;
    place.write(`srv/${name}/p/agents/a.md`, agent);
    place.write(`srv/${name}/p/.mcp.json`, { s: { command: '/dev/null/none', args: [name] } });
  }
  const enabling = (name: string) => ({
    enabledPlugins: { [`of-${name}@${name}`]: true },
    extraKnownMarketplaces: { [name]: known(place.path(`srv/${name}`)) },
  });
  place.write(MANAGED, { ...enabling('firm'), hooks: hook('echo policy'), ...policy });
  place.write(USER, { ...enabling('mine'), hooks: hook('echo user'), ...user });
  const { config: configDir, project: cwd, managed: managedDir, home } = place;
  const config: SessionConfig = { cwd, configDir, managedDir, env: { HOME: home }, settingSources: ['user'] };
  return { place, config };
}

describe('hooks of a plugin that policy enables', () => {
  it.each<[string, Parameters<typeof setUp>[0], string[]]>([
    ['run, and as strong as policy', {}, ['mine', 'user', 'firm', 'policy']],
    ['run in spite of disableAllHooks of the person', { user: { disableAllHooks: true } }, ['firm', 'policy']],
    ['are left by allowManagedHooksOnly', { policy: { allowManagedHooksOnly: true } }, ['firm', 'policy']],
    ['are switched off by policy itself', { policy: { disableAllHooks: true } }, []],
    [
      'are kept by policy for all',
      { policy: { disableAllHooks: false }, user: { disableAllHooks: true } },
      ['mine', 'user', 'firm', 'policy'],
    ],
  ])('%s', async (_, given, expected) => {
    const { peer } = connect([], { config: setUp(given).config });
    const { hooks } = await peer.request('get_hooks_listing', {});
    expect(JSON.stringify(hooks).match(/(?<=echo )\w+/g) ?? []).toEqual(expected);
  });
});

describe('hooks of its agents', () => {
  it.each<[string, Parameters<typeof setUp>[0], string[]]>([
    ['run', {}, ['managed of-firm:a', 'user of-mine:a']],
    ['run in spite of disableAllHooks of the person', { user: { disableAllHooks: true } }, ['managed of-firm:a']],
    ['are left by allowManagedHooksOnly', { policy: { allowManagedHooksOnly: true } }, ['managed of-firm:a']],
    ['are switched off by policy itself', { policy: { disableAllHooks: true } }, []],
  ])('%s', async (_, given, expected) => {
    const { place, config } = setUp(given);
    const settings = await place.load({ cwd: place.project });
    const { agents } = await openDefinitions(config, settings);
    const counting = [...agents.values()].flatMap((agent) => {
      const source = hooksOfDefinition(agent, settings);
      return source === undefined ? [] : [`${source.layer} ${agent.name}`];
    });
    expect(counting.toSorted()).toEqual(expected);
  });
});

describe('servers of a plugin that policy enables', () => {
  const serversOf = async (given: Parameters<typeof setUp>[0], more: Partial<SessionConfig> = {}) => {
    const { place, config } = setUp(given);
    const settings = await place.load({ cwd: place.project });
    const called = { ...config, ...more };
    const { plugins } = await openDefinitions(called, settings);
    const { servers } = await findServers(called, settings, plugins);
    return [...servers].map(([name, { scope, config: server, blocked }]) => [
      name,
      scope,
      server && 'args' in server ? server.args?.[0] : undefined,
      blocked === undefined,
    ]);
  };
  const FIRM = ['plugin_of-firm_s', 'managed', 'firm', true];

  it('are policy’s', async () => {
    expect(await serversOf({})).toEqual([FIRM, ['plugin_of-mine_s', 'user', 'mine', true]]);
  });

  it.each<[string, Partial<SessionConfig>]>([
    ['--mcp-config', {}],
    ['--mcp-config and --strict-mcp-config', { strictMcpConfig: true }],
  ])('are not replaced by one of the same name: %s', async (_, more) => {
    const other = JSON.stringify({
      mcpServers: { 'plugin_of-firm_s': { command: '/dev/null/none', args: ['other'] } },
    });
    expect((await serversOf({}, { mcpConfig: [other], ...more }))[0]).toEqual(FIRM);
  });

  it('stay where --strict-mcp-config names nothing', async () => {
    expect(await serversOf({}, { strictMcpConfig: true })).toEqual([FIRM]);
  });

  it('are left by allowManagedMcpServersOnly', async () => {
    expect(await serversOf({ policy: { allowManagedMcpServersOnly: true } })).toEqual([
      FIRM,
      ['plugin_of-mine_s', 'user', 'mine', false],
    ]);
  });
});
