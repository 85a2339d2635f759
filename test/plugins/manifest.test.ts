import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findInside } from '../../src/engine/plugins/inside.js';
import { findNameFault } from '../../src/engine/plugins/names.js';
import { createPlace, MANIFEST } from './place.js';

describe('names of plugins', () => {
  it.each(['garden', 'a1', 'code-review-2'])('%s is fine', (name) => {
    expect(findNameFault(name)).toBeUndefined();
  });

  it.each([
    ['CodeReview', 'code-review'],
    ['a_b', 'a-b'],
    ['x.y', 'x-y'],
    ['gärten', 'g-rten'],
  ])('%s works, with a better one told', (name, better) => {
    expect(findNameFault(name)).toEqual({
      severity: 'warning',
      text: expect.stringContaining(`are better: "${better}"`),
    });
  });

  it.each([
    '',
    ' ',
    'a b',
    'a:b',
    'a/b',
    'a\\b',
    '..',
    '.hidden',
    '-flag',
    '_x',
    '__proto__',
    'a\u0000b',
    'a\u001b[31mb',
    'a\u202eb',
    'a\u200bb',
    'a\nb',
    'mcp',
    'MCP',
    'plugin',
    'constructor',
    'user',
    'x'.repeat(65),
  ])('%j is refused', (name) => {
    expect(findNameFault(name)).toMatchObject({ severity: 'error' });
  });
});

describe('paths of a plugin', () => {
  it.each([
    ['../x', /has "\.\."/],
    ['./a/../../x', /has "\.\."/],
    ['a\\..\\x', /has "\.\."/],
    ['/etc', /absolute/],
    ['~/x', /absolute/],
    ['C:\\x', /absolute/],
    ['\\\\host\\x', /absolute/],
    ['https://example.com/x', /address/],
    ['', /empty/],
    ['a\u0000b', /control/],
    ['a\nb', /control/],
    ['${CLAUDE_PLUGIN_ROOT}/../x', /has "\.\."/],
  ])('%j is refused with what to do', (path, why) => {
    const { root } = createPlace();
    const found = findInside(root, path);
    expect(found).toEqual({ kind: 'refused', text: expect.stringMatching(why) });
    expect(found).toEqual({ kind: 'refused', text: expect.stringContaining('begins with ./') });
  });

  it('may be links that stay inside, and none that lead out', () => {
    const place = createPlace();
    const outside = createPlace();
    outside.write('secret.md', 'x');
    place.write('p/real/a.md', 'a');
    place.link('p/inner', join(place.root, 'p/real'));
    place.link('p/out', outside.root);
    place.link('p/relative', '../../../../../../../etc');
    place.link('p/dangling', join(place.root, 'p/none'));
    place.link('p/loop', join(place.root, 'p/loop'));
    const root = join(place.root, 'p');
    const leadsOut = {
      kind: 'refused',
      text: expect.stringMatching(/^it is a link out of the plugin, to .*; put a copy/),
    };
    expect(['./inner', 'inner/a.md', '${CLAUDE_PLUGIN_ROOT}/real', '.'].map((path) => findInside(root, path))).toEqual([
      { kind: 'folder', path: join(root, 'real') },
      { kind: 'file', path: join(root, 'real/a.md') },
      { kind: 'folder', path: join(root, 'real') },
      { kind: 'folder', path: root },
    ]);
    expect(['out', 'out/secret.md', 'relative'].map((path) => findInside(root, path))).toEqual([
      leadsOut,
      leadsOut,
      leadsOut,
    ]);
    expect(findInside(root, 'dangling')).toEqual({ kind: 'missing' });
    expect(findInside(root, 'loop')).toEqual({ kind: 'refused', text: expect.stringContaining('in a circle') });
  });

  it('of the default places are no links out either', async () => {
    const place = createPlace();
    const outside = createPlace();
    outside.write('plugin.json', { name: 'other' });
    place.write(`p/${MANIFEST}`, { name: 'p' });
    for (const name of ['commands', 'skills', 'hooks/hooks.json', '.mcp.json']) place.link(`p/${name}`, outside.root);
    place.link(`q/${MANIFEST}`, join(outside.root, 'plugin.json'));
    const { plugins, problems } = await place.load(['p', 'q']);
    expect(plugins.map(({ name, folders }) => [name, folders])).toEqual([['p', []]]);
    const text = `it is a link out of the plugin, to ${outside.root}`;
    expect(place.show(problems)).toEqual([
      `error p/commands:0 ${text}; put a copy into the plugin`,
      `error p/skills:0 ${text}; put a copy into the plugin`,
      `error p/hooks/hooks.json:0 ${text}; put a copy into the plugin`,
      `error p/.mcp.json:0 ${text}; put a copy into the plugin`,
      `error q/${MANIFEST}:0 ${text}/plugin.json; put a copy into the plugin`,
    ]);
  });
});

describe('a manifest', () => {
  const load = async (text: string) => {
    const place = createPlace();
    place.write('folder/commands/a.md', 'a');
    place.write(`folder/${MANIFEST}`, text);
    const { plugins, problems } = await place.load(['folder']);
    return { plugins, problems: place.show(problems).map((line) => line.replace(`folder/${MANIFEST}:`, '')) };
  };

  it('may leave out its name, and write other facts in other ways', async () => {
    const { plugins, problems } = await load(
      '\uFEFF{\n"author": "Ada",\n"keywords": "one",\n"version": 1.5,\n"license": ["MIT"],\n"homepage": null, /* no */\n}',
    );
    expect(plugins).toMatchObject([{ name: 'folder', author: { name: 'Ada' }, keywords: ['one'], version: '1.5' }]);
    expect(problems).toEqual([
      'warning 1 "name" is missing; the name of the folder, "folder", is used',
      'warning 4 "version" should be text: "1.5"',
      'warning 6 "homepage" must be text, and is left out',
      'warning 5 "license" must be text, and is left out',
    ]);
  });

  it('addresses are kept without who would open them', async () => {
    const place = createPlace();
    const secret = 'https://user:PASSWORD@example.com/x';
    const manifest = { name: 'p', homepage: `${secret}#readme`, repository: { url: `git+${secret}` } };
    place.write(`p/${MANIFEST}`, { ...manifest, author: { name: 'Ada', url: secret } });
    const { plugins } = await place.load(['p']);
    expect(plugins).toMatchObject([
      {
        homepage: 'https://***@example.com/x#readme',
        repository: 'git+https://***@example.com/x',
        author: { url: 'https://***@example.com/x' },
      },
    ]);
  });

  it.each([
    ['{ "name": "a:b" }', 'error 1 "a:b" is no name for a plugin; use lower-case letters, digits and hyphens: "a-b"'],
    [
      '{\n"name": "\\u001b]0;x"}',
      'error 2 "\\u001b]0;x" is no name for a plugin; use lower-case letters, digits and hyphens: "0-x"',
    ],
    ['{\n\n"name": 5 }', 'error 3 "name" must be text, such as "my-plugin"'],
    ['{ "name": "mcp" }', 'error 1 "mcp" is reserved; choose another name'],
    ['null', 'error 1 a manifest must be one JSON object: { "name": "my-plugin" }'],
    ['{ "name": "x"', 'error 1 the file ends too early: "}" is expected'],
  ])('%j: the plugin is not used', async (text, problem) => {
    expect(await load(text)).toEqual({ plugins: [], problems: [problem] });
  });

  it('tells of keys that do nothing, and of keys that stand twice', async () => {
    const { plugins, problems } = await load(
      '{\n"name": "x",\n"name": "y",\n"comands": "./more",\n"lspServers": {},\n"displayName": "X",\n"__proto__": {}\n}',
    );
    expect(plugins.map(({ name }) => name)).toEqual(['x']);
    expect(problems).toEqual([
      'warning 3 "name" stands here twice; only one would count',
      'warning 7 "__proto__" is no key that can be used',
      'warning 4 the key "comands" is not known; did you mean "commands"?',
      'warning 5 "lspServers" has no effect here',
    ]);
  });

  it('names single files and single skills; nothing is taken twice', async () => {
    const place = createPlace();
    for (const file of ['commands/a.md', 'commands/sub/b.md', 'extra/c.md', 'extra/d.txt'])
      place.write(`p/${file}`, 'x');
    for (const skill of ['skills/one', 'skills/group/two', 'lone']) place.write(`p/${skill}/SKILL.md`, 'x');
    place.write(`p/${MANIFEST}`, {
      name: 'p',
      commands: ['./commands/a.md', './commands/sub', './extra/c.md', './extra/d.txt', 'extra/c.md'],
      skills: ['./skills/one', './skills/group', './lone/SKILL.md', './lone'],
    });
    const { plugins, problems } = await place.load(['p']);
    const root = join(place.root, 'p/');
    expect(plugins[0]?.folders.map(({ kind, path }) => [kind, path.replace(root, '')])).toEqual([
      ['commands', 'commands'],
      ['commands', 'extra/c.md'],
      ['skills', 'skills'],
      ['skills', 'skills/group'],
      ['skills', 'lone'],
    ]);
    expect(place.show(problems)).toEqual([
      `error p/${MANIFEST}:7 "./extra/d.txt": it is a file, and none that ends in .md`,
    ]);
  });
});
