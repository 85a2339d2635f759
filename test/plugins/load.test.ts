import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { loadPlugins } from '../../src/engine/plugins/load.js';
import { openPlugins } from '../../src/engine/plugins/open.js';
import { createPlace, fixtures, MANIFEST } from './place.js';

const named = (name: string) => ({ name });
const garden = join(fixtures, 'garden');

describe('a plugin as people write them', () => {
  it('brings folders, hooks and servers, those of its manifest beside the default ones', async () => {
    const { plugins, problems } = await loadPlugins([{ path: 'garden', scope: 'flag' }], { cwd: fixtures });
    expect(problems).toEqual([]);
    const [{ folders, hooks, mcpServers, ...facts } = expect.fail('no plugin')] = plugins;
    expect(facts).toEqual({
      name: 'garden',
      root: garden,
      source: 'flag',
      version: '1.2.0',
      description: 'Looks after the beds',
      author: { name: 'Ada Grower', email: 'ada@example.com' },
      homepage: 'https://example.com/garden',
      repository: 'https://example.com/garden.git',
      license: 'MIT',
      keywords: ['beds', 'water'],
    });
    expect(folders.map(({ kind, path }) => [kind, path.slice(garden.length + 1)])).toEqual([
      ['agents', 'agents'],
      ['commands', 'commands'],
      ['commands', 'more/commands/weed.md'],
      ['skills', 'skills'],
      ['skills', 'more/skills'],
      ['output-styles', 'output-styles'],
    ]);
    expect(folders[0]?.origin).toEqual({ scope: 'plugin', plugin: 'garden', pluginRoot: garden });
    expect(Object.keys(hooks)).toEqual(['PreToolUse', 'SessionStart', 'UserPromptExpansion', 'PostToolUse', 'Stop']);
    expect(hooks.PreToolUse).toEqual([
      {
        matcher: 'Bash',
        hooks: [{ type: 'command', command: `"${garden}/scripts/check.sh"`, timeout: 10, if: 'Bash(rm *)' }],
      },
    ]);
    expect(hooks.PostToolUse?.[0]?.hooks[0]).toMatchObject({
      command: `sh ${garden}/scripts/check.sh`,
      asyncRewake: true,
      rewakeSummary: 'Beds looked at',
    });
    expect(hooks.UserPromptExpansion).toEqual([{ hooks: [{ type: 'command', command: 'true' }] }]);
    expect(mcpServers).toEqual({
      plugin_garden_seeds: {
        command: 'node',
        args: [`${garden}/scripts/seeds.js`, '--all'],
        env: { SEEDS: `${garden}/seeds`, TOKEN: '${SEEDS_TOKEN}' },
      },
      plugin_garden_weather: { type: 'http', url: 'https://weather.example.com/mcp' },
    });
  });

  it('has its definitions under its own name', async () => {
    const { plugins } = await loadPlugins([{ path: garden, scope: 'flag' }], { cwd: '/' });
    const { agents, commands, skills, styles, problems } = await loadDefinitions(plugins[0]?.folders ?? []);
    expect(problems).toEqual([]);
    expect([agents, commands, skills, styles].map((table) => [...table.keys()])).toEqual([
      ['garden:gardener'],
      ['garden:water', 'garden:beds:dig', 'garden:weed'],
      ['garden:pruning', 'garden:grafting'],
      ['garden:terse'],
    ]);
  });

  it('without a manifest is called as its folder', async () => {
    const { plugins, problems } = await loadPlugins([{ path: 'plain-folder', scope: 'user' }], { cwd: fixtures });
    expect([plugins.map(({ name, source }) => [name, source]), problems]).toEqual([[['plain-folder', 'user']], []]);
  });
});

describe('what cannot be a plugin', () => {
  it('is a problem each, and the rest loads', async () => {
    const place = createPlace();
    place.write('good/commands/a.md', 'a');
    place.write('file.txt', 'x');
    place.write('broken/.claude-plugin/plugin.json', '{\n  "name": "broken",\n  "version" 1\n}');
    place.write('list/.claude-plugin/plugin.json', '[]');
    place.write('empty/.claude-plugin/plugin.json', '');
    place.write('My Things/commands/a.md', 'a');
    place.link('circle', join(place.root, 'circle'));
    const names =
      'nowhere file.txt broken list empty circle broken/.claude-plugin broken/.claude-plugin/plugin.json good';
    const { plugins, problems } = await place.load([...names.split(' '), 'My Things', '', 'a\0b', 'x'.repeat(300)]);
    expect(plugins.map(({ name }) => name)).toEqual(['good']);
    expect(place.show(problems)).toEqual([
      'error nowhere:0 there is no such folder; correct the path',
      'error file.txt:0 it is a file; name the folder of the plugin',
      'error broken/.claude-plugin/plugin.json:3 ":" is expected after a key',
      'error list/.claude-plugin/plugin.json:1 a manifest must be one JSON object: { "name": "my-plugin" }',
      'error empty/.claude-plugin/plugin.json:1 the file is empty; write {} or delete it',
      'error circle:0 it cannot be read: its links lead in a circle',
      'error broken/.claude-plugin:0 this is a part of a plugin; name the folder that holds .claude-plugin',
      'error broken/.claude-plugin/plugin.json:0 this is a part of a plugin; name the folder that holds .claude-plugin',
      `error My Things:0 a folder without ${MANIFEST} is a plugin of the folder's name, and "My Things" is no name for a plugin; use lower-case letters, digits and hyphens: "my-things"`,
      'error .:0 "" is no path of a plugin',
      'error .:0 "a\\u0000b" is no path of a plugin',
      `error ${'x'.repeat(300)}:0 it cannot be read: the path is too long`,
    ]);
  });

  it('has parts that are not what they should be, and the others load', async () => {
    const place = createPlace();
    place.write(`odd/${MANIFEST}`, {
      name: 'odd',
      hooks: './hooks',
      mcpServers: ['./none.json', 5],
      skills: ['./note.md'],
    });
    place.write('odd/note.md', 'x');
    place.write('odd/agents', 'a file');
    place.write('odd/commands/a.md', 'a');
    place.write('odd/hooks/hooks.json/inner', 'a folder');
    place.write('odd/.mcp.json', `{ "big": "${'x'.repeat(2 ** 20)}" }`);
    const { plugins, problems } = await place.load(['odd']);
    expect(plugins[0]?.folders.map(({ kind }) => kind)).toEqual(['commands']);
    expect(place.show(problems)).toEqual([
      `error odd/${MANIFEST}:6 "mcpServers" must be the path of a file in the plugin, or an object`,
      'error odd/agents:0 it is a file; a folder is expected',
      `error odd/${MANIFEST}:9 "./note.md": it is a file; name a folder of skills, or the folder with SKILL.md`,
      'error odd/hooks/hooks.json:0 it is a folder; a file is expected',
      `error odd/${MANIFEST}:3 "./hooks": it is a folder; name a JSON file`,
      'error odd/.mcp.json:0 it is larger than 1024 KB, too large to be read',
      `error odd/${MANIFEST}:5 "./none.json": there is nothing at this path; correct it or take it out`,
    ]);
  });

  it('far too many files end in a problem, not in a wait', async () => {
    const place = createPlace();
    const folder = join(place.root, 'many/commands');
    mkdirSync(folder, { recursive: true });
    for (let at = 0; at < 5_100; at += 1) writeFileSync(join(folder, `c${at}.md`), '');
    place.write('many/agents/one.md', '---\nname: one\ndescription: one\n---\nOne.');
    const { plugins } = await place.load(['many']);
    const { agents, problems } = await loadDefinitions(plugins[0]?.folders ?? []);
    expect([...agents.keys()]).toEqual(['many:one']);
    expect(place.show(problems)).toEqual([expect.stringMatching(/^warning many\/commands:0 there are too many files/)]);
  });

  it('says where the plugins are, when they were not named themselves', async () => {
    const place = createPlace();
    for (const name of ['a', 'b']) place.write(`all/plugins/${name}/${MANIFEST}`, named(name));
    place.write('bare/plugin.json', named('bare'));
    place.write(`inner/${MANIFEST}`, named('inner'));
    place.write('inner/.claude-plugin/commands/a.md', 'a');
    const { problems } = await place.load(['all', 'bare', 'inner']);
    const nothing = 'it brings nothing: no commands, agents, skills, output-styles, hooks/hooks.json or .mcp.json';
    expect(place.show(problems)).toEqual([
      `warning all:0 ${nothing}. There are plugins in it (plugins/a, plugins/b); name each of them`,
      'warning bare/plugin.json:0 it is not read here; put it into .claude-plugin',
      `warning bare:0 ${nothing}`,
      'warning inner/.claude-plugin/commands:0 nothing is looked for here; only plugin.json belongs into .claude-plugin',
    ]);
  });
});

describe('several plugins', () => {
  it('of one name: the first counts; one folder named twice is one', async () => {
    const place = createPlace();
    for (const folder of ['one', 'two', 'three']) place.write(`${folder}/commands/a.md`, 'a');
    place.write(`one/${MANIFEST}`, named('same'));
    place.write(`two/${MANIFEST}`, named('Same'));
    place.link('again', join(place.root, 'three'));
    const { plugins, problems } = await place.load(['one', 'two', 'three', './three/', 'again']);
    expect(plugins.map(({ name }) => name)).toEqual(['same', 'three']);
    expect(place.show(problems)).toEqual([
      `warning two/${MANIFEST}:2 "Same" works; lower-case letters, digits and hyphens are better: "same"`,
      'error two:0 there is a plugin "same" already, in one; this one is not used',
    ]);
  });

  it('whose servers would have one name: the first counts', async () => {
    const place = createPlace();
    place.write('a/.mcp.json', { b_c: { command: 'one' } });
    place.write('a_b/.mcp.json', { mcpServers: { c: { command: 'two' }, d: { command: 'three' } } });
    const { plugins, problems } = await place.load(['a', 'a_b']);
    expect(plugins.map(({ mcpServers }) => mcpServers)).toEqual([
      { plugin_a_b_c: { command: 'one' } },
      { plugin_a_b_d: { command: 'three' } },
    ]);
    expect(place.show(problems)).toEqual([
      'error a_b/.mcp.json:3 "c": there is a server "plugin_a_b_c" already; this one is not used, give it another name',
    ]);
  });
});

describe('plugins that a project names (E1)', () => {
  it('lie inside it, also when links are followed', async () => {
    const place = createPlace();
    const outside = createPlace();
    outside.write('p/commands/a.md', 'a');
    place.write('tools/mine/commands/a.md', 'a');
    place.link('tools/linked', join(outside.root, 'p'));
    const { plugins, problems } = await place.load(
      ['./tools/mine', 'tools/linked', join(outside.root, 'p')],
      'project',
    );
    expect(plugins.map(({ name, source }) => [name, source])).toEqual([['mine', 'project']]);
    const why = 'it is not inside the project, whose settings may name only what is; use --plugin-dir';
    expect(problems.map(({ text }) => text)).toEqual([why, why]);
    // Without a project there are none.
    const loaded = await loadPlugins([{ path: 'tools/mine', scope: 'project' }], { cwd: place.root });
    expect([loaded.plugins, loaded.problems.length]).toEqual([[], 1]);
  });
});

it('without a folder there is nothing to load', async () => {
  expect(await openPlugins([], { cwd: '/' })).toEqual({ plugins: [], problems: [] });
  const { plugins } = await openPlugins([{ path: 'garden', scope: 'flag' }], { cwd: fixtures });
  expect(plugins.map(({ name }) => name)).toEqual(['garden']);
});
