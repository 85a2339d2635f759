import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMcp } from '../../src/cli/mcp.js';
import { openDefinitions } from '../../src/engine/definitions/open.js';
import { findServers } from '../../src/engine/mcp/open.js';
import { toHookSources } from '../../src/engine/plugins/hook-sources.js';
import { findBroughtServers } from '../../src/engine/agents/brought-servers.js';
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
  });

  describe.each([
    ['project', PROJECT],
    ['local', LOCAL],
  ])('a trusted project takes nothing away from the person: %s settings', (layer, file) => {
    const MINE = 'user apples home/orchard/plugins/apples';
    const at = (line: number) => `warning ${file}:${line}`;
    const off = 'does not count: user settings enable it, and a project switches nothing of theirs off';
    it.each<[string, object, string[], string[]]>([
      ['false', wishes({ 'apples@orchard': false }, {}), [MINE], [`${at(3)} "apples@orchard" ${off}`]],
      ['an old name', wishes({ 'apple@orchard': false }, {}), [MINE], [`${at(3)} "apple@orchard" ${off}`]],
      ['another case', wishes({ 'APPLES@orchard': false }, {}), [MINE], [`${at(3)} "APPLES@orchard" ${off}`]],
      ['no value at all', wishes({ 'apples@orchard': 'no' }, {}), [MINE], [`${at(3)} "apples@orchard" ${off}`]],
      ['true', wishes(APPLES, {}), [MINE], []],
      [
        'another marketplace of the name',
        wishes({ 'pears@orchard': true }, { orchard: directory('./orchard') }),
        [MINE, `${layer} pears home/orchard/plugins/pears`],
        [`${at(6)} the marketplace "orchard" does not count: user settings know one of this name; give it another`],
      ],
      [
        'another plugin of the name',
        wishes({ 'apples@theirs': true }, { theirs: directory('./orchard') }),
        [MINE],
        [
          `${at(6)} the marketplace calls itself "orchard", not "theirs"`,
          'error home/shop/orchard/plugins/apples:0 there is a plugin "apples" already, in home/orchard/plugins/apples; this one is not used',
        ],
      ],
    ])('%s', async (_, given, names, problems) => {
      const { place, open } = setUp();
      place.write(USER, wishes(APPLES, { orchard: directory('~/orchard') }));
      place.write(file, given);
      expect(await open()).toMatchObject({ names, problems });
    });

    it('and may enable what the person has switched off, or enabled of a marketplace that only it knows', async () => {
      const { place, open } = setUp();
      place.write(USER, wishes({ 'apples@orchard': false, 'pears@theirs': true }, { orchard: directory('~/orchard') }));
      place.write(file, wishes(APPLES, { theirs: directory('./orchard') }));
      expect((await open()).names.toSorted()).toEqual([
        `${layer} apples home/orchard/plugins/apples`,
        `${layer} pears home/shop/orchard/plugins/pears`,
      ]);
    });
  });

  it('the person’s own call switches off what their settings enable', async () => {
    const { place, open } = setUp();
    place.write(USER, wishes(APPLES, { orchard: directory('~/orchard') }));
    place.write(PROJECT, wishes({ 'apples@orchard': false }, {}));
    const flag = JSON.stringify(wishes({ 'apples@orchard': false }, {}));
    expect(await open({ flag })).toMatchObject({ names: [], problems: [] });
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

  it('holds for marketplaces that someone names', async () => {
    const { names, problems } = await strict([], ['orchard']);
    expect(names).toEqual([]);
    expect(problems.join('\n')).toContain(
      `warning home/shop/orchard/${MARKET}:0 the marketplace "orchard" is not among strictKnownMarketplaces`,
    );
  });
});

describe('strictKnownMarketplaces and plugins that someone names', () => {
  const named = async (pluginDirs: string[], list: (root: string) => unknown[] = () => []) => {
    const { place, open } = setUp();
    place.write('home/shop/alone/commands/c.md', 'c');
    place.write(`home/shop/both/${MARKET}`, { name: 'both', owner: {}, plugins: [{ name: 'both', source: './' }] });
    place.write('home/shop/both/.claude-plugin/plugin.json', { name: 'both' });
    place.write('home/shop/both/deep/er/commands/c.md', 'c');
    place.write(`home/shop/torn/${MARKET}`, '{');
    place.write('home/shop/torn/.claude-plugin/plugin.json', { name: 'torn' });
    symlinkSync(place.path('home/shop/both/deep/er'), place.path('home/shop/link'));
    place.write(MANAGED, { strictKnownMarketplaces: list(place.root) });
    return open({}, { pluginDirs });
  };

  it.each([
    ['the marketplace itself', 'both', `both/${MARKET}:0 the marketplace "both" is not among`],
    [
      'a plugin in it',
      'orchard/plugins/pears',
      'pears:0 it is in the marketplace home/shop/orchard, which is not among',
    ],
    ['a folder deep in it', 'both/deep/er', 'er:0 it is in the marketplace home/shop/both, which is not among'],
    ['a link into it', 'link', 'er:0 it is in the marketplace home/shop/both, which is not among'],
    ['one whose file is broken', 'torn', 'torn:0 it is in the marketplace home/shop/torn, which is not among'],
  ])('%s is refused', async (_, folder, text) => {
    const { names, problems } = await named([folder]);
    expect([names, problems.join('\n')]).toEqual([[], expect.stringContaining(text)]);
  });

  it('a plugin of its own, and one in a marketplace that is listed, are loaded', async () => {
    expect(
      (await named(['alone', 'both/deep/er'], (root) => [directory(`${root}/home/shop/both`).source])).names,
    ).toEqual(['flag alone home/shop/alone', 'flag er home/shop/both/deep/er']);
  });
});

describe('addresses', () => {
  it('are told without their passwords', async () => {
    const { place, open } = setUp();
    const url = 'https://user:PASSWORD@example.com/x.git?token=PASSWORD';
    const sources = [{ source: 'url', url }, url, 'user:PASSWORD@example.com:x.git', { source: 'github', repo: url }];
    const more = [{ source: 'git-subdir', url, path: url }, `git+${url}`, `./${url}`];
    const plugins = [...sources, ...more].map((source, at) => ({ name: `p${at}`, source }));
    plugins.push({ name: 'odd', source: './plugins/apples', commands: url, hooks: url } as (typeof plugins)[0]);
    place.write(`home/far/${MARKET}`, { name: 'far', owner: {}, metadata: { pluginRoot: url }, plugins });
    const wanted = Object.fromEntries(plugins.map(({ name }) => [`${name}@far`, true]));
    const marketplaces = {
      far: directory('~/far'),
      a: { source: { source: 'url', url } },
      b: { source: { source: url } },
      c: directory(url),
    };
    cpSync(place.path('home/orchard/plugins'), place.path('home/far/plugins'), { recursive: true });
    place.write(USER, wishes({ ...wanted, 'x@a': true, 'x@b': true, 'x@c': true }, marketplaces));
    const { problems } = await open({}, { pluginDirs: [url, place.path('home/far')] });
    expect(problems.length).toBeGreaterThan(10);
    expect(problems.filter((text) => text.includes('PASSWORD'))).toEqual([]);
    expect(problems.join('\n')).toContain('is elsewhere (url https://***@example.com/x.git?token=***)');
  });
});

describe('the folders of marketplaces that settings know', () => {
  it('are protected: what is written there runs in the next session', async () => {
    const { place } = setUp();
    const file = { source: { source: 'file', path: `./m/${MARKET}` } };
    place.write(PROJECT, wishes({}, { orchard: directory('./orchard'), m: file, far: { source: { source: 'npm' } } }));
    const isOwn = async (name: string, trusted = true) =>
      isProtected(place.path(name), ownPlacesOf(await place.load({ trusted }), { roots: [place.project] }));
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
      brought: await findBroughtServers(settings, { cwd: place.project, configDir: place.config }),
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
