import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { loadPlugins } from '../../src/engine/plugins/load.js';
import { openPlugins } from '../../src/engine/plugins/open.js';
import type { Plugin } from '../../src/engine/plugins/plugin.js';
import { createPlace, MANIFEST } from './place.js';

const MARKET = '.claude-plugin/marketplace.json';
const fixtures = join(import.meta.dirname, '../fixtures/marketplaces');
const orchard = join(fixtures, 'orchard');

const flags = (...paths: string[]) => paths.map((path) => ({ path, scope: 'flag' as const }));
const load = (...paths: string[]) => loadPlugins(flags(...paths), { cwd: fixtures });
const namesOf = (plugins: readonly Plugin[]) => plugins.map(({ name }) => name);
const commandsOf = async (plugins: readonly Plugin[]) => [
  ...(await loadDefinitions(plugins.flatMap(({ folders }) => folders))).commands.keys(),
];

const market = (plugins: unknown, more: object = {}) => ({ name: 'm', owner: { name: 'x' }, plugins, ...more });

describe('a folder that is a marketplace', () => {
  it('brings every plugin of a local source, named by the marketplace', async () => {
    const { plugins, problems, marketplaces } = await load('orchard');
    expect(problems).toEqual([]);
    expect(plugins.map(({ name, root, marketplace, source }) => [name, root, marketplace, source])).toEqual([
      ['apples', join(orchard, 'plugins/apples'), 'orchard', 'flag'],
      ['pears', join(orchard, 'plugins/pears'), 'orchard', 'flag'],
      ['plain', join(orchard, 'plugins/plain'), 'orchard', 'flag'],
    ]);
    expect(marketplaces.map(({ name, root }) => [name, root])).toEqual([['orchard', orchard]]);
  });

  it('adds what an entry names to what the manifest says, which counts more', async () => {
    const [apples = expect.fail('none')] = (await load('orchard')).plugins;
    expect(apples).toMatchObject({ version: '2.0.0', description: 'Of the entry', license: 'MIT' });
    expect(Object.keys(apples.hooks)).toEqual(['Stop']);
    expect(await commandsOf([apples])).toEqual(['apples:pick', 'apples:peel', 'apples:press']);
  });

  it('with strict: false the entry is the manifest, its paths those of the plugin', async () => {
    const [, pears = expect.fail('none')] = (await load('orchard')).plugins;
    const { root, folders } = pears;
    expect(pears.version).toBe('0.2.0');
    expect(await commandsOf([pears])).toEqual(['pears:pick', 'pears:cake']);
    expect([...(await loadDefinitions(folders)).agents.keys()]).toEqual(['pears:cook']);
    expect(pears.hooks.PreToolUse?.[0]?.hooks[0]?.command).toBe(`${root}/check.sh`);
    expect(pears.mcpServers).toEqual({ plugin_pears_cellar: { command: 'node', args: [`${root}/cellar.js`] } });
  });

  it('fetches nothing, and tells with file and line what is elsewhere', async () => {
    const { plugins, problems } = await openPlugins(flags('orchard'), { cwd: fixtures });
    expect(namesOf(plugins)).toEqual(['apples', 'pears', 'plain']);
    const file = join(orchard, MARKET);
    const tell = (line: number, name: string, where: string) => ({
      severity: 'warning',
      file,
      line,
      text: `"${name}" is elsewhere (${where}), and nothing is fetched; get it, and name its folder with --plugin-dir`,
    });
    expect(problems).toEqual([
      tell(31, 'plums', 'url https://example.com/plums.git'),
      tell(32, 'quinces', 'git-subdir https://example.com/all.git folder quinces'),
      tell(33, 'cherries', 'github orchard/cherries'),
      tell(34, 'figs', 'npm @orchard/figs'),
      tell(35, 'dates', 'https://example.com/dates.git'),
      tell(36, 'olives', 'git@example.com:orchard/olives.git'),
    ]);
  });

  it('that is a plugin too is loaded once, also when it is named twice or from both sides', async () => {
    const { plugins, problems } = await load('both', 'both', join(fixtures, 'both', '.'));
    expect(problems).toEqual([]);
    expect(plugins.map(({ name, version, description }) => [name, version, description])).toEqual([
      ['solo', '3.0.0', 'The folder itself'],
    ]);
    for (const paths of [
      ['orchard/plugins/apples', 'orchard'],
      ['orchard', 'orchard/plugins/apples'],
    ]) {
      const again = await load(...paths);
      expect([again.problems, namesOf(again.plugins)]).toEqual([[], ['apples', 'pears', 'plain']]);
      expect(again.plugins[0]?.license).toBe('MIT');
    }
  });

  it('and a plugin that no entry offers: both count', async () => {
    const place = createPlace();
    place.write(`m/${MANIFEST}`, { name: 'self' });
    place.write('m/commands/a.md', 'a');
    place.write(`m/${MARKET}`, market([{ name: 'in', source: './in' }]));
    place.write('m/in/commands/a.md', 'a');
    const { plugins, problems } = await place.load(['m']);
    expect([problems, namesOf(plugins)]).toEqual([[], ['self', 'in']]);
  });

  it('whose entries share a folder: each has what it names', async () => {
    const { plugins, problems } = await load('shelf');
    expect(problems).toEqual([]);
    const skills = await Promise.all(
      plugins.map(async ({ folders }) => [...(await loadDefinitions(folders)).skills.keys()]),
    );
    expect(skills).toEqual([['office:letters', 'office:tables'], ['studio:posters']]);
  });

  it('shares neither hooks nor servers among entries that name their parts', async () => {
    const place = createPlace();
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] };
    place.write('m/hooks/hooks.json', { hooks });
    place.write('m/.mcp.json', { a: { command: 'a' } });
    place.write('m/x.md', 'x');
    place.write('m/y.md', 'y');
    const entries = ['x', 'y'].map((name) => ({ name, source: './', strict: false, commands: `./${name}.md` }));
    place.write(`m/${MARKET}`, market(entries));
    const { plugins } = await place.load(['m']);
    expect(plugins.map((plugin) => [plugin.name, plugin.hooks, plugin.mcpServers])).toEqual([
      ['x', {}, {}],
      ['y', {}, {}],
    ]);
    place.write(`m/${MARKET}`, market(entries.slice(0, 1)));
    const [alone] = (await place.load(['m'])).plugins;
    expect([Object.keys(alone?.hooks ?? {}), Object.keys(alone?.mcpServers ?? {})]).toEqual([['Stop'], ['plugin_x_a']]);
  });
});

describe('what is wrong in a marketplace', () => {
  it('is told with file and line, and the rest loads', async () => {
    const { plugins, problems } = await load('crooked');
    expect(plugins.map(({ name }) => name)).toEqual(['straight', 'other-name', 'firm', 'double']);
    const advice = 'write the path of its folder, such as "./plugins/my-plugin"';
    const inside = 'write a path inside the marketplace that begins with ./';
    const root = join(fixtures, 'crooked');
    const shown = problems.map(({ severity, file, line, text }) =>
      `${severity} ${file}:${line} ${text}`.replaceAll(`${root}/`, ''),
    );
    const at = (line: number, text: string, severity = 'error') => `${severity} ${MARKET}:${line} ${text}`;
    expect(shown).toEqual([
      at(3, 'the key "plugin" is not known; did you mean "plugins"?', 'warning'),
      at(1, '"owner" is missing; write { "name": ... }', 'warning'),
      at(2, '"name" must be a word such as "my-marketplace"; the name of the folder, "crooked", is used'),
      at(21, `"../orchard": the path has "..", which leads out of the marketplace; ${inside}`),
      at(5, 'a plugin must be an object: { "name": ..., "source": ... }'),
      at(6, 'a plugin needs a "name", such as "my-plugin"'),
      at(7, '"a b" is no name for a plugin; use lower-case letters, digits and hyphens: "a-b"'),
      at(8, `"sourceless": "source" is missing; ${advice}`),
      at(9, `"numbered": this is no source of a plugin; ${advice}`),
      at(10, `"odd": this is no source of a plugin; ${advice}`),
      at(11, `"up": "../orchard/plugins/apples": the path has "..", which leads out of the marketplace; ${inside}`),
      at(12, `"root": "/etc": the path is absolute, and a marketplace may name only what is inside it; ${inside}`),
      at(13, '"lost": "./plugins/lost": there is no such folder'),
      at(14, '"file": "./plugins/straight/commands/go.md": it is a file; name the folder of the plugin'),
      at(15, '"strict" must be true or false, and is left out', 'warning'),
      at(16, '"Straight" stands in line 15 already; this one is not used'),
      at(22, 'there is a plugin "straight", so this has no effect', 'warning'),
      at(22, 'this must be the new name of the plugin'),
      at(22, 'there is no plugin "straigt"', 'warning'),
      at(17, 'the plugin calls itself "other-name", and is known by that name; write the same in both', 'warning'),
      at(
        18,
        'there is no plugins/firm/.claude-plugin/plugin.json, so the entry stands for it; "strict": false says so',
        'warning',
      ),
      at(
        19,
        'what plugins/double/.claude-plugin/plugin.json names is not used, because of "strict": false; name it here, or take that out',
        'warning',
      ),
      at(
        19,
        '"../up.md": the path has "..", which leads out of the plugin; write a path inside the plugin that begins with ./',
      ),
    ]);
    expect(await commandsOf(plugins)).toEqual(['straight:go', 'other-name:go', 'firm:go', 'double:stay']);
  });

  it.each([
    ['{ "name": ', /1 .*the file ends too early/],
    ['[]', /1 a marketplace must be one JSON object/],
    ['{ "name": "m", "owner": {} }', /1 "plugins" must be a list/],
    ['{ "name": "m", "owner": {}, "plugins": {} }', /1 "plugins" must be a list/],
    ['{ "name": "m", "owner": {}, "plugins": [], "renames": [] }', /1 "renames" must be an object/],
    ['{ "name": "m", "owner": {}, "plugins": [], "metadata": 1 }', /1 "metadata" must be an object/],
    ['{ "name": "m", "owner": {}, "plugins": [], "metadata": { "pluginRoot": 1 } }', /"metadata.pluginRoot" must be/],
    ['{ "name": "m", "owner": {}, "plugins": [], "metadata": { "pluginRoot": "./no" } }', /"\.\/no": there is no such/],
  ])('%s', async (text, expected) => {
    const place = createPlace();
    place.write(`m/${MARKET}`, text);
    const { plugins, problems } = await place.load(['m']);
    expect(plugins).toEqual([]);
    expect(place.show(problems)).toEqual([expect.stringMatching(expected)]);
    expect(problems[0]).toMatchObject({ severity: 'error', file: join(place.root, 'm', MARKET) });
  });

  it('a broken marketplace takes no plugin with it whose folder it is', async () => {
    const place = createPlace();
    place.write(`m/${MARKET}`, '{');
    place.write(`m/${MANIFEST}`, { name: 'self' });
    place.write('m/commands/a.md', 'a');
    const { plugins, problems } = await place.load(['m']);
    expect([namesOf(plugins), problems.length]).toEqual([['self'], 1]);
  });

  it('links that lead out of it, of a source and of the file itself', async () => {
    const place = createPlace();
    place.write('out/commands/a.md', 'a');
    place.link('m/plugins/out', join(place.root, 'out'));
    place.write('m/real/commands/a.md', 'a');
    place.link('m/plugins/in', '../real');
    place.write(
      `m/${MARKET}`,
      market([
        { name: 'out', source: './plugins/out' },
        { name: 'in', source: './plugins/in' },
      ]),
    );
    const { plugins, problems } = await place.load(['m']);
    expect(plugins.map(({ name, root }) => [name, root])).toEqual([['in', join(place.root, 'm/real')]]);
    expect(place.show(problems)).toEqual([
      `error m/${MARKET}:9 "out": "./plugins/out": it is a link out of the marketplace, to out; put a copy into the marketplace`,
    ]);
    place.write('other.json', market([]));
    place.link(`n/${MARKET}`, join(place.root, 'other.json'));
    expect(place.show((await place.load(['n'])).problems)).toEqual([
      `error n/${MARKET}:0 it is a link out of the marketplace, to other.json; put a copy into the marketplace`,
    ]);
  });

  it('its file or the folder of it is not what is to be named', async () => {
    const { problems } = await load('orchard/.claude-plugin', `orchard/${MARKET}`);
    expect(problems.map(({ text }) => text)).toEqual(
      Array.from({ length: 2 }, () => 'this is a part of a plugin; name the folder that holds .claude-plugin'),
    );
  });

  it('the same plugin in two marketplaces: the first counts', async () => {
    const place = createPlace();
    for (const name of ['m', 'n']) {
      place.write(`${name}/p/commands/${name}.md`, 'a');
      place.write(`${name}/${MARKET}`, { ...market([{ name: 'p', source: './p' }]), name });
    }
    const { plugins, problems } = await place.load(['m', 'n']);
    expect(await commandsOf(plugins)).toEqual(['p:m']);
    expect(place.show(problems)).toEqual(['error n/p:0 there is a plugin "p" already, in m/p; this one is not used']);
  });
});
