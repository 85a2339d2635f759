import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PluginParts, runPlugin } from '../../src/cli/plugin.js';
import { createTrust } from '../../src/engine/settings/trust.js';
import { createPlace, fixtures, MANIFEST } from '../plugins/place.js';
import { createPlace as createSettingsPlace, LOCAL, PROJECT, USER } from '../settings/place.js';

async function run(argv: readonly string[], cwd = fixtures, settings: Partial<PluginParts> = {}) {
  let out = '';
  let err = '';
  const code = await runPlugin(argv, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    cwd,
    ...settings,
  });
  const hide = (text: string) => text.replaceAll(cwd, '').replaceAll(/~\/\S*(?=\/\w)/g, '');
  return { code, out: hide(out), err: hide(err) };
}

const CROOKED = [
  'warning: crooked/.claude-plugin/plugin.json:3: "version" should be text: "2"',
  'warning: crooked/.claude-plugin/plugin.json:4: the key "desciption" is not known; did you mean "description"?',
  'error: crooked/.claude-plugin/plugin.json:5: "../elsewhere": the path has "..", which leads out of the plugin; write a path inside the plugin that begins with ./',
  'error: crooked/.claude-plugin/plugin.json:5: "/etc": the path is absolute, and a plugin may name only what is inside it; write a path inside the plugin that begins with ./',
  'error: crooked/.claude-plugin/plugin.json:5: "./nowhere": there is nothing at this path; correct it or take it out',
  'error: crooked/.claude-plugin/plugin.json:6: "agents" must be a path such as "./more/agents", or a list of paths',
  'warning: crooked/.claude-plugin/plugin.json:7: "lspServers" has no effect here',
  'error: crooked/.claude-plugin/plugin.json:9: "empty": a server needs "command" or "url"',
  'error: crooked/.claude-plugin/plugin.json:10: "typed": command: Invalid input: expected string, received array',
  'error: crooked/.claude-plugin/plugin.json:11: "inside": servers of type "sdk" live in a program, and a plugin cannot bring one',
  /^warning: crooked\/agents\/loose.md:3: /,
  /^error: crooked\/agents\/loose.md:4: /,
  'error: crooked/hooks/hooks.json:3: hooks.PreToolUs: there is no hook event of this name; did you mean "PreToolUse"?',
  'error: crooked/hooks/hooks.json:7: hooks.Stop[0].hooks[0]: a hook of type "command" needs "command"',
  'warning: crooked/hooks/hooks.json:8: hooks.Stop[0].hooks[1]: there is no scripts/lost.sh in the plugin',
].map((line) => (typeof line === 'string' ? line : expect.stringMatching(line)));

describe('heddle plugin list', () => {
  it('a table of what each brings', async () => {
    const { code, out, err } = await run(['list', '--plugin-dir', 'garden', '--plugin-dir=plain-folder']);
    expect([code, err]).toEqual([0, '']);
    const cells = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(cells).toEqual([
      ['NAME', 'VERSION', 'BRINGS', 'FROM', 'PROBLEMS'],
      [
        'garden',
        '1.2.0',
        '3 commands, 1 agent, 2 skills, 1 output style, hooks (PreToolUse, SessionStart, UserPromptExpansion, PostToolUse, Stop), 2 MCP servers',
        '/garden (--plugin-dir)',
        'none',
      ],
      ['plain-folder', '-', '1 command', '/plain-folder (--plugin-dir)', 'none'],
    ]);
  });

  it('problems on stderr; errors are an exit code', async () => {
    const { code, out, err } = await run(['list', '--plugin-dir', 'crooked', '--plugin-dir', 'nowhere']);
    expect([code, out]).toEqual([1, expect.stringMatching(/crooked .* 10 errors, 5 warnings\n$/)]);
    expect(err.trimEnd().split('\n')).toEqual([
      ...CROOKED,
      'error: nowhere: there is no such folder; correct the path',
    ]);
  });

  it('as JSON', async () => {
    const { code, out, err } = await run(['list', '--json', '--plugin-dir', 'plain-folder', '--plugin-dir', 'nowhere']);
    const problem = { severity: 'error', file: '/nowhere', line: 0, text: 'there is no such folder; correct the path' };
    expect([code, err, JSON.parse(out)]).toEqual([
      1,
      '',
      {
        plugins: [
          {
            name: 'plain-folder',
            root: '/plain-folder',
            source: 'flag',
            brings: {
              commands: ['plain-folder:hello'],
              agents: [],
              skills: [],
              outputStyles: [],
              hooks: [],
              mcpServers: [],
            },
            problems: [],
          },
        ],
        marketplaces: [],
        problems: [problem],
      },
    ]);
  });

  it('says what to do where there is none', async () => {
    expect(await run(['list'])).toEqual({
      code: 0,
      out: 'No plugin is named or enabled. To see what one brings: heddle plugin list --plugin-dir <folder>\n',
      err: '',
    });
    expect(await run(['list', '--plugin-dir', 'nowhere'])).toMatchObject({
      code: 1,
      out: 'There is no plugin in what was named.\n',
    });
  });
});

describe('heddle plugin validate', () => {
  it('nothing is wrong', async () => {
    const { code, out, err } = await run(['validate', 'garden', '--strict']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^garden 1\.2\.0 brings 3 commands, .*\nValid: Nothing is wrong\.\n$/);
  });

  it('everything that is wrong, with file and line', async () => {
    const { code, out } = await run(['validate', 'crooked']);
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n')).toEqual([
      ...CROOKED,
      'crooked 2 brings 1 command, hooks (Stop), 1 MCP server.',
      'Not valid: 10 errors, 5 warnings.',
    ]);
  });

  it('warnings are no errors, unless it is strict', async () => {
    const place = createPlace();
    place.write(`p/${MANIFEST}`, { name: 'p', themes: [] });
    place.write('p/commands/a.md', 'a');
    const text = `warning: p/${MANIFEST}:3: "themes" has no effect here\np brings 1 command.\n`;
    expect(await run(['validate', 'p'], place.root)).toEqual({ code: 0, out: `${text}Valid: 1 warning.\n`, err: '' });
    expect(await run(['validate', 'p', '--strict'], place.root)).toEqual({
      code: 1,
      out: `${text}Not valid: 1 warning.\n`,
      err: '',
    });
    const { code, out } = await run(['validate', '--json', 'p'], place.root);
    expect([code, JSON.parse(out)]).toMatchObject([0, { valid: true, plugin: { name: 'p' }, problems: [{ line: 3 }] }]);
  });

  it('what is no plugin, and what a terminal would obey', async () => {
    const place = createPlace();
    place.write(`p/${MANIFEST}`, '{ "name": "\\u001b[31m", "\\u009b2J": 1 }');
    const { code, out } = await run(['validate', 'p'], place.root);
    expect(code).toBe(1);
    expect(out).not.toMatch(/[\p{Cc}--\n]/v);
    expect(out).toContain('Not valid: 1 error, 1 warning.');
    const json = await run(['validate', 'nowhere', '--json'], place.root);
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      1,
      { valid: false, plugin: null, problems: [{ line: 0 }] },
    ]);
  });
});

describe('heddle plugin', () => {
  it('help, and words that it does not know', async () => {
    expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage: heddle plugin list/) });
    expect(await run(['list', '-h'])).toMatchObject({ code: 0, out: expect.stringMatching(/^Usage/) });
    expect(await run([])).toMatchObject({ code: 1, out: expect.stringMatching(/^Usage/) });
    const errors = [
      [['install'], 'error: there is no "plugin install"'],
      [['list', 'garden'], 'error: "plugin list" takes no "garden"; name it with --plugin-dir'],
      [['list', '--strict'], 'error: "plugin list" takes no --strict'],
      [['validate'], 'error: "plugin validate" needs one folder'],
      [['validate', 'a', 'b'], 'error: "plugin validate" needs one folder'],
      [['validate', 'a', '--plugin-dir', 'b'], 'error: "plugin validate" takes no --plugin-dir; name the folder alone'],
    ] as const;
    for (const [argv, text] of errors) {
      expect(await run(argv)).toEqual({ code: 1, out: '', err: `${text}\nSee heddle plugin --help.\n` });
    }
    expect(await run(['list', '--nonsense'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: .*--nonsense/),
    });
  });
});

describe('marketplaces', () => {
  const markets = join(fixtures, '../marketplaces');
  const NOTES = [
    'note: orchard/.claude-plugin/marketplace.json:31: "plums" is elsewhere (url https://example.com/plums.git), and nothing is fetched; get it, and name its folder',
    /:32: "quinces" is elsewhere/,
    /:33: "cherries" is elsewhere/,
    /:34: "figs" is elsewhere/,
    /:35: "dates" is elsewhere/,
    /:36: "olives" is elsewhere/,
  ].map((line) => (typeof line === 'string' ? line : expect.stringMatching(line)));

  it('list: their plugins, with the marketplace each comes from; what is elsewhere is no error', async () => {
    const { code, out, err } = await run(['list', '--plugin-dir', 'orchard'], markets);
    expect(code).toBe(0);
    expect(err.trimEnd().split('\n')).toEqual(NOTES);
    const cells = out
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(cells.slice(1)).toEqual([
      ['apples', '2.0.0', '3 commands, hooks (Stop)', '/orchard/plugins/apples (orchard, --plugin-dir)', 'none'],
      [
        'pears',
        '0.2.0',
        '2 commands, 1 agent, hooks (PreToolUse), 1 MCP server',
        '/orchard/plugins/pears (orchard, --plugin-dir)',
        'none',
      ],
      ['plain', '-', '1 command', '/orchard/plugins/plain (orchard, --plugin-dir)', 'none'],
    ]);
  });

  it('list as JSON', async () => {
    const { code, out, err } = await run(['list', '--json', '--plugin-dir', 'orchard'], markets);
    const { plugins, marketplaces, problems } = JSON.parse(out);
    expect([code, err, problems]).toEqual([0, '', []]);
    expect(plugins.map((plugin: { name: string; marketplace: string }) => [plugin.name, plugin.marketplace])).toEqual([
      ['apples', 'orchard'],
      ['pears', 'orchard'],
      ['plain', 'orchard'],
    ]);
    expect(marketplaces).toEqual([
      {
        name: 'orchard',
        root: '/orchard',
        file: '/orchard/.claude-plugin/marketplace.json',
        plugins: ['apples', 'pears', 'plain'],
        elsewhere: expect.arrayContaining([{ name: 'cherries', where: 'github orchard/cherries', line: 33 }]),
        renames: { apple: 'apples', apfel: 'apple', plum: 'plums' },
      },
    ]);
  });

  it('validate: everything that is wrong in one and in its plugins', async () => {
    const { code, out, err } = await run(['validate', 'orchard', '--strict'], markets);
    expect([code, err]).toEqual([0, '']);
    expect(out.trimEnd().split('\n')).toEqual([
      ...NOTES,
      'orchard is a marketplace of 3 plugins, and 6 elsewhere.',
      'apples 2.0.0 brings 3 commands, hooks (Stop).',
      'pears 0.2.0 brings 2 commands, 1 agent, hooks (PreToolUse), 1 MCP server.',
      'plain brings 1 command.',
      'Valid: Nothing is wrong.',
    ]);
    const crooked = await run(['validate', 'crooked'], markets);
    expect(crooked.code).toBe(1);
    expect(crooked.out).toContain(
      'error: crooked/.claude-plugin/marketplace.json:13: "lost": "./plugins/lost": there is no such folder\n',
    );
    expect(crooked.out).toMatch(
      /\ncrooked is a marketplace of 4 plugins\.\n(.*\n)+Not valid: 15 errors, 8 warnings\.\n$/,
    );
  });

  it('validate as JSON', async () => {
    const { code, out } = await run(['validate', 'both', '--json'], markets);
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      {
        valid: true,
        plugin: null,
        marketplace: { name: 'solo-market', plugins: ['solo'], elsewhere: [] },
        plugins: [{ name: 'solo', version: '3.0.0' }],
        problems: [],
      },
    ]);
    const crooked = await run(['validate', 'crooked', '--json'], markets);
    expect([crooked.code, JSON.parse(crooked.out)]).toMatchObject([
      1,
      { valid: false, marketplace: { name: 'crooked' } },
    ]);
  });

  it('list: what settings enable, and what waits for trust', async () => {
    const place = createSettingsPlace();
    cpSync(join(markets, 'orchard'), place.path('home/shop/orchard'), { recursive: true });
    cpSync(join(markets, 'both'), place.path('home/both'), { recursive: true });
    const known = (path: string) => ({ source: { source: 'directory', path } });
    place.write(USER, { enabledPlugins: { 'solo@own': true }, extraKnownMarketplaces: { own: known('~/both') } });
    place.write(PROJECT, {
      model: 'x',
      enabledPlugins: { 'apples@orchard': true },
      extraKnownMarketplaces: { orchard: known('./orchard') },
    });
    const settings = { configDir: place.config, home: place.home, managedDir: place.managed };
    const list = () => run(['list', '--json'], place.project, settings);
    const shown = async () => JSON.parse((await list()).out).plugins.map((each: { name: string }) => each.name);
    expect(await shown()).toEqual(['solo']);
    const { code, err } = await run(['list'], place.project, settings);
    expect(code).toBe(0);
    expect(err).toMatch(/note: .* is not trusted: enabledPlugins, extraKnownMarketplaces of its settings wait until/);
    await createTrust({ configDir: place.config, home: place.home }).trust(place.project);
    expect(await shown()).toEqual(['solo', 'apples']);
    place.write(USER, '{');
    expect(await list()).toMatchObject({ code: 1, err: expect.stringContaining('Settings cannot be used') });
  });

  it('list: what is wrong with the settings themselves, and that none can be used', async () => {
    const place = createSettingsPlace();
    const settings = { configDir: place.config, home: place.home, managedDir: place.managed };
    place.write(USER, { enabledPlugins: { 'solo@own': true }, extraKnownMarketplaces: { own: 1 } });
    place.write(LOCAL, { enabledPlugins: [1] });
    const { out, err } = await run(['list'], place.project, settings);
    expect(out).toBe('None of the plugins that settings enable can be used.\n');
    expect(err).toMatch(/\.claude\/settings\.local\.json:2: enabledPlugins: /);
  });
});
