import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMcp } from '../../src/cli/mcp.js';
import { openDefinitions } from '../../src/engine/definitions/open.js';
import { findServers } from '../../src/engine/mcp/open.js';
import { toHookSources } from '../../src/engine/plugins/hook-sources.js';
import { findBroughtServers } from '../../src/engine/plugins/open.js';
import { ownPlacesOf } from '../../src/engine/permissions/own-places.js';
import { isProtected } from '../../src/engine/permissions/path.js';
import type { LoadOptions } from '../../src/engine/settings/load.js';
import { createTrust } from '../../src/engine/settings/trust.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { createPlace, LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';

const fixtures = join(import.meta.dirname, '../fixtures/marketplaces');
const MARKET = '.claude-plugin/marketplace.json';

const directory = (path: string) => ({ source: { source: 'directory', path } });

/** A machine with the orchard at home, in the project and outside of both. */
function setUp() {
  const place = createPlace();
  for (const folder of ['home/orchard', 'home/shop/orchard', 'srv/orchard']) {
    cpSync(join(fixtures, 'orchard'), place.path(folder), { recursive: true });
  }
  const config = (more: Partial<SessionConfig> = {}): SessionConfig => ({
    cwd: place.project,
    configDir: place.config,
    env: { HOME: place.home, ANTHROPIC_API_KEY: 'key' },
    settingSources: ['user', 'project', 'local'],
    ...more,
  });
  const hide = (text: string) => text.replaceAll(`${place.root}/`, '');
  const open = async (options: Partial<LoadOptions> = {}, more: Partial<SessionConfig> = {}) => {
    const settings = await place.load({ cwd: place.project, ...options });
    const definitions = await openDefinitions(config(more), settings);
    return {
      settings,
      plugins: definitions.plugins,
      names: definitions.plugins.map(({ name, root, source }) => `${source} ${name} ${hide(root)}`),
      problems: definitions.problems.map(({ severity, file, line, text }) =>
        hide(`${severity} ${file}:${line} ${text}`),
      ),
      commands: [...definitions.commands.keys()],
    };
  };
  return { place, open, config };
}

const wishes = (enabledPlugins: object, extraKnownMarketplaces: object) => ({ enabledPlugins, extraKnownMarketplaces });
const APPLES = { 'apples@orchard': true };

describe('plugins that settings enable', () => {
  it('are loaded like named ones, and only those that are enabled', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes({ ...APPLES, 'pears@orchard': false }, { orchard: directory('~/orchard') }));
    const { names, problems, commands, plugins } = await open();
    expect([names, problems]).toEqual([['user apples home/orchard/plugins/apples'], []]);
    expect(commands).toEqual(['apples:pick', 'apples:peel', 'apples:press']);
    expect(toHookSources(plugins).map(({ layer }) => layer)).toEqual(['user']);
    expect(plugins[0]).toMatchObject({ marketplace: 'orchard', version: '2.0.0' });
  });

  it('of policy, of --settings and of a file that is a marketplace', async () => {
    const { place, open } = setUp();
    place.write(MANAGED, wishes({ 'plain@firm': true }, { firm: directory(place.path('srv/orchard')) }));
    const file = { source: { source: 'file', path: `orchard/${MARKET}` } };
    const flag = JSON.stringify(wishes(APPLES, { orchard: file }));
    expect((await open({ flag })).names).toEqual([
      'managed plain srv/orchard/plugins/plain',
      'flag apples home/shop/orchard/plugins/apples',
    ]);
  });

  it('of a project count when it is trusted, and start there', async () => {
    const { place, open } = setUp();
    place.write(PROJECT, wishes(APPLES, { orchard: directory('./orchard') }));
    place.write(LOCAL, wishes({ 'pears@mine': true }, { mine: directory('./orchard') }));
    expect(await open({ trusted: false })).toMatchObject({ names: [], problems: [], commands: [] });
    const { names } = await open();
    expect(names).toEqual([
      'local pears home/shop/orchard/plugins/pears',
      'project apples home/shop/orchard/plugins/apples',
    ]);
  });

  it('an untrusted project neither enables from nor replaces what the person knows', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes(APPLES, { orchard: directory('~/orchard') }));
    place.write(
      PROJECT,
      wishes({ 'pears@orchard': true, 'apples@orchard': false }, { orchard: directory('./orchard') }),
    );
    expect((await open({ trusted: false })).names).toEqual(['user apples home/orchard/plugins/apples']);
    // A trusted one may, and its plugins are then the project's, whoever enabled them.
    place.write(PROJECT, wishes({}, { orchard: directory('./orchard') }));
    expect((await open()).names).toEqual(['project apples home/shop/orchard/plugins/apples']);
  });

  it('nobody gets the rights of policy for a marketplace of their own', async () => {
    const { place, open } = setUp();
    place.write(MANAGED, { enabledPlugins: APPLES });
    place.write(USER, { extraKnownMarketplaces: { orchard: directory('~/orchard') } });
    expect((await open()).names).toEqual(['user apples home/orchard/plugins/apples']);
  });

  it('a project names only what is inside it, also through links', async () => {
    const { place, open } = setUp();
    symlinkSync(place.path('srv/orchard'), place.path('home/shop/link'));
    for (const path of ['../orchard', './link', place.path('srv/orchard'), '~/orchard']) {
      place.write(PROJECT, wishes(APPLES, { orchard: directory(path) }));
      const { names, problems } = await open();
      expect([path, names, problems]).toEqual([
        path,
        [],
        [expect.stringMatching(/^warning home\/shop\/\.claude\/settings\.json:6 .* is not inside the project, whose/)],
      ]);
    }
  });

  it('a relative path in settings that hold everywhere is refused: it would lead into any clone', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes(APPLES, { orchard: directory('./orchard') }));
    const { names, problems } = await open({ trusted: false });
    expect([names, problems]).toEqual([
      [],
      [
        'warning home/.claude/settings.json:6 the marketplace "orchard" is left out: in user settings "./orchard" must be an absolute path, or begin with ~/',
      ],
    ]);
  });

  it('by an old name', async () => {
    const { place, open } = setUp();
    const known = { orchard: directory('~/orchard') };
    for (const name of ['apple', 'apfel', 'Apple']) {
      place.write(USER, wishes({ [`${name}@orchard`]: true }, known));
      expect([name, (await open()).names]).toEqual([name, ['user apples home/orchard/plugins/apples']]);
    }
    place.write(USER, wishes({ 'apple@orchard': true, 'apples@orchard': false }, known));
    expect((await open()).names).toEqual([]);
    place.write(USER, wishes({ 'apples@orchard': true }, known));
    place.write(MANAGED, { enabledPlugins: { 'apple@orchard': false } });
    expect((await open()).names).toEqual([]);
  });

  it('by an old name that leads in a circle is one that is not known', async () => {
    const { place, open } = setUp();
    place.write(`home/ring/${MARKET}`, { name: 'ring', owner: {}, plugins: [], renames: { a: 'b', b: 'a' } });
    place.write(USER, wishes({ 'a@ring': true }, { ring: directory('~/ring') }));
    expect((await open()).problems).toEqual([expect.stringContaining('there is no plugin "a" that can be used')]);
  });

  it('what is not known or not here is told, and nothing fails', async () => {
    const { place, open } = setUp();
    place.write(
      USER,
      wishes(
        {
          ...APPLES,
          'kiwis@orchard': true,
          'plum@orchard': true,
          'one@nowhere': true,
          'two@nowhere': true,
          'off@nowhere': false,
          bare: true,
          'list@orchard': ['1.0'],
          'x@lost': true,
          'x@crooked': true,
          'x@hub': true,
        },
        {
          orchard: directory('~/orchard'),
          lost: directory('~/lost'),
          crooked: { path: '~/orchard' },
          hub: { source: { source: 'github', repo: 'a/b' } },
          unused: directory('~/nothing'),
        },
      ),
    );
    const { names, problems } = await open();
    expect(names).toEqual(['user apples home/orchard/plugins/apples']);
    const at = (line: number, text: string) => `warning home/.claude/settings.json:${line} ${text}`;
    expect(problems).toEqual([
      at(9, '"bare": write it as "plugin@marketplace"'),
      at(10, '"list@orchard": this must be true or false, and is left out'),
      at(4, `"kiwis@orchard" is left out: there is no plugin "kiwis" that can be used in home/orchard/${MARKET}`),
      at(
        5,
        `"plum@orchard" is left out: "plums" is elsewhere (url https://example.com/plums.git), and nothing is fetched; get it, and name its folder with --plugin-dir (home/orchard/${MARKET}:31)`,
      ),
      at(24, 'the marketplace "lost" is left out: home/lost: there is nothing there'),
      at(30, 'the marketplace "crooked" is left out: it needs { "source": { "source": "directory", "path": ... } }'),
      at(33, 'the marketplace "hub" is elsewhere (github a/b), and nothing is fetched; get it, and name its folder'),
      at(
        6,
        'the marketplace "nowhere" is not known, so "one@nowhere", "two@nowhere" cannot be loaded; add it to extraKnownMarketplaces',
      ),
    ]);
  });

  it.each([
    [{ source: { source: 'directory', path: '' } }, 'its "path" must be a path'],
    [{ source: { source: 'directory', path: 7 } }, 'its "path" must be a path'],
    [{ source: { source: 'file', path: '~/orchard' } }, 'home/orchard is a folder, not a file'],
    [directory(`~/orchard/${MARKET}`), `home/orchard/${MARKET} is a file, not a folder`],
    [directory('~/shop'), `home/shop/${MARKET}:0 there is no such file`],
    [{ source: { source: 'npm', package: 'p' } }, 'is elsewhere (npm p)'],
    [null, 'it needs { "source"'],
  ])('a marketplace that is %j', async (given, text) => {
    const { place, open } = setUp();
    place.write(USER, wishes(APPLES, { orchard: given }));
    const { names, problems } = await open();
    expect([names, problems]).toEqual([[], [expect.stringContaining(text)]]);
  });

  it('a name of its own that is another', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes({ 'apples@fruit': true }, { fruit: directory('~/orchard') }));
    expect(await open()).toMatchObject({
      names: ['user apples home/orchard/plugins/apples'],
      problems: ['warning home/.claude/settings.json:6 the marketplace calls itself "orchard", not "fruit"'],
    });
  });
});

describe('plugins that are named, beside settings', () => {
  it('a marketplace that is named is known, and replaces one of settings; not one of policy', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes({ ...APPLES, 'kiwis@orchard': true }, { orchard: directory(place.path('srv/orchard')) }));
    const named = { pluginDirs: ['orchard'] };
    const { names, problems } = await open({}, named);
    expect(names.map((name) => name.split(' ')[2])).toEqual(
      ['apples', 'pears', 'plain'].map((name) => `home/shop/orchard/plugins/${name}`),
    );
    expect(problems[0]).toContain('"kiwis@orchard" is left out');
    place.write(MANAGED, wishes(APPLES, { orchard: directory(place.path('srv/orchard')) }));
    expect((await open({}, named)).names.slice(0, 2)).toEqual([
      'managed apples srv/orchard/plugins/apples',
      'flag pears home/shop/orchard/plugins/pears',
    ]);
  });

  it('count whatever the person switched off otherwise, but not against policy', async () => {
    const { place, open } = setUp();
    place.write(USER, { enabledPlugins: { 'apples@orchard': false } });
    place.write(MANAGED, { enabledPlugins: { 'pears@orchard': false } });
    const { names, problems } = await open({}, { pluginDirs: ['orchard'] });
    expect(names.map((name) => name.split(' ')[1])).toEqual(['apples', 'plain']);
    expect(problems[0]).toBe(
      `warning home/shop/orchard/${MARKET}:19 "pears" is switched off by "pears@orchard" of managed settings`,
    );
  });
});

describe('strictKnownMarketplaces', () => {
  const strict = async (list: unknown[] | ((root: string) => unknown[]), named: string[] = []) => {
    const { place, open } = setUp();
    place.write(MANAGED, { strictKnownMarketplaces: typeof list === 'function' ? list(place.root) : list });
    place.write(USER, wishes(APPLES, { orchard: directory('~/orchard') }));
    const { names, problems } = await open({}, { pluginDirs: named });
    return { names, problems };
  };

  it.each([
    ['an empty list', () => []],
    ['a name', () => ['orchard', { name: 'orchard' }]],
    ['another folder', (root: string) => [directory(`${root}/srv/orchard`).source]],
    ['a relative path', () => [directory('home/orchard').source, directory('./orchard').source]],
    [
      'another kind',
      () => [
        { source: 'github', repo: 'orchard/orchard' },
        { source: 'hostPattern', hostPattern: '.*' },
      ],
    ],
    ['a pattern that is none', () => [{ source: 'pathPattern', pathPattern: '(' }]],
    ['a pattern for the end of a path', () => [{ source: 'pathPattern', pathPattern: '/orchard' }]],
  ])('%s lists nothing', async (_, list) => {
    const { names, problems } = await strict(list);
    expect([names, problems]).toEqual([
      [],
      [
        'warning home/.claude/settings.json:6 the marketplace "orchard" is not among strictKnownMarketplaces; nothing of it is used',
      ],
    ]);
  });

  it.each([
    ['its folder', (root: string) => [directory(`${root}/home/orchard`).source]],
    ['its folder from home', () => [directory('~/orchard').source]],
    ['its file', (root: string) => [{ source: 'file', path: `${root}/home/orchard/${MARKET}` }]],
    ['a pattern', (root: string) => [{ source: 'pathPattern', pathPattern: `^${root}/home/` }]],
  ])('%s lists it', async (_, list) => {
    expect((await strict(list)).names).toEqual(['user apples home/orchard/plugins/apples']);
  });

  it('holds for marketplaces that someone names; a plugin is still one', async () => {
    const { names, problems } = await strict([], ['orchard', 'orchard/plugins/pears']);
    expect(names).toEqual(['flag pears home/shop/orchard/plugins/pears']);
    expect(problems.join('\n')).toContain(
      `warning home/shop/orchard/${MARKET}:0 the marketplace "orchard" is not among strictKnownMarketplaces`,
    );
  });
});

describe('the folders of marketplaces that settings know', () => {
  it('are protected: what is written there runs in the next session', async () => {
    const { place } = setUp();
    const file = { source: { source: 'file', path: `./m/${MARKET}` } };
    place.write(PROJECT, wishes({}, { orchard: directory('./orchard'), m: file, far: { source: { source: 'npm' } } }));
    const isOwn = async (name: string, trusted = true) =>
      isProtected(place.path(name), ownPlacesOf(await place.load({ trusted }), [place.project]));
    for (const name of ['orchard/plugins/apples/hooks/hooks.json', 'orchard/plugins/apples/x.sh', 'm/plugins/x/y.sh']) {
      expect([name, await isOwn(`home/shop/${name}`)]).toEqual([name, true]);
    }
    expect([await isOwn('home/shop/src/a.ts'), await isOwn('home/shop/orchard/x', false)]).toEqual([false, false]);
    // Where the project is the marketplace, the rest of it stays a place to work in.
    place.write(PROJECT, wishes({}, { self: directory('.') }));
    const parts = [MARKET, 'plugins/x/run.sh', 'hooks/hooks.json', 'src/a.ts'].map((name) =>
      isOwn(`home/shop/${name}`),
    );
    expect(await Promise.all(parts)).toEqual([true, true, true, false]);
  });
});

describe('servers of plugins that settings enable', () => {
  const servers = async (file: string, more: Partial<SessionConfig> = {}) => {
    const { place, open, config } = setUp();
    const cellar = { command: 'node', env: { KEY: '${ANTHROPIC_API_KEY}' } };
    place.write('home/shop/orchard/plugins/pears/.mcp.json', { cellar });
    place.write(file, wishes({ 'pears@orchard': true }, { orchard: directory(place.path('home/shop/orchard')) }));
    const { settings, plugins } = await open();
    const { servers: found } = await findServers(config(more), settings, plugins);
    return {
      found: [...found].map(([name, { scope, blocked }]) => [name, scope, blocked]),
      brought: await findBroughtServers(settings, place.project),
    };
  };

  it('of the project wait for approval one by one, as all of its servers do', async () => {
    const { found, brought } = await servers(PROJECT);
    expect(found).toEqual([
      ['plugin_pears_cellar', 'project', expect.stringContaining('heddle mcp approve plugin_pears_cellar')],
    ]);
    expect(brought).toMatchObject([{ layer: 'project', entries: { plugin_pears_cellar: { command: 'node' } } }]);
  });

  it('of the person count; not beside --strict-mcp-config', async () => {
    expect((await servers(USER)).found).toEqual([['plugin_pears_cellar', 'user', undefined]]);
    expect((await servers(USER, { strictMcpConfig: true })).found).toEqual([]);
  });

  it('are approved with heddle mcp, and count then', async () => {
    const { place, open, config } = setUp();
    place.write(PROJECT, wishes({ 'pears@orchard': true }, { orchard: directory('./orchard') }));
    await createTrust({ configDir: place.config, home: place.home }).trust(place.project);
    let out = '';
    const output = { write: (text: string) => (out += text) };
    const { config: configDir, home, managed: managedDir, project: cwd } = place;
    const code = await runMcp(['approve', 'plugin_pears_cellar'], {
      stdin: process.stdin,
      stdout: output,
      stderr: output,
      env: {},
      configDir,
      home,
      managedDir,
      cwd,
    });
    expect([code, out]).toEqual([0, expect.stringContaining('plugin_pears_cellar')]);
    const { settings, plugins } = await open();
    const { servers: found } = await findServers(config(), settings, plugins);
    expect(found.get('plugin_pears_cellar')).toMatchObject({ scope: 'project', config: { command: 'node' } });
    expect(found.get('plugin_pears_cellar')?.blocked).toBeUndefined();
  });
});
