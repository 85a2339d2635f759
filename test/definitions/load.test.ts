import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DefinitionFolder } from '../../src/engine/definitions/definition.js';
import { readBody } from '../../src/engine/definitions/definition-text.js';
import { loadDefinitions } from '../../src/engine/definitions/load.js';
import { hasDefinitions } from '../../src/engine/definitions/present.js';
import { createPlace, folderOf, show } from './place.js';

const ofPlugin = (kind: DefinitionFolder['kind'], path: string): DefinitionFolder => ({
  kind,
  path,
  origin: { scope: 'plugin', plugin: 'shop', pluginRoot: '/plugins/shop' },
});

describe('loadDefinitions', () => {
  it('of one name the stronger scope counts, in silence; twice in a scope the first, and it is said', async () => {
    const place = createPlace();
    for (const folder of ['user', 'project', 'second']) place.write(`${folder}/go.md`, `From ${folder}`);
    place.write('user/own.md', 'Own');
    const { commands, problems } = await loadDefinitions([
      folderOf('commands', place.path('user'), 'user'),
      folderOf('commands', place.path('project')),
      folderOf('commands', place.path('second')),
    ]);
    expect([...commands].map(([name, { description }]) => [name, description])).toEqual([
      ['go', 'From project'],
      ['own', 'Own'],
    ]);
    expect(show(problems, place.root)).toEqual([
      `warning second/go.md:1: "go" is there already, in ${place.path('project/go.md')}; this one does not count`,
    ]);
  });

  it('what belongs to a plugin carries its name', async () => {
    const place = createPlace();
    place.write('commands/sub/buy.md', 'Buy');
    place.write('agents/clerk.md', '---\nname: clerk\ndescription: d\n---\np');
    place.write('skills/sell/SKILL.md', '---\ndescription: d\n---\n');
    place.write('styles/loud.md', 'Shout');
    const loaded = await loadDefinitions([
      ofPlugin('commands', place.path('commands')),
      ofPlugin('agents', place.path('agents')),
      ofPlugin('skills', place.path('skills')),
      ofPlugin('output-styles', place.path('styles')),
    ]);
    const { agents, commands, skills, styles } = loaded;
    expect([agents, commands, skills, styles].flatMap((table) => [...table.keys()])).toEqual([
      'shop:clerk',
      'shop:sub:buy',
      'shop:sell',
      'shop:loud',
    ]);
    expect(commands.get('shop:sub:buy')?.origin).toEqual({
      scope: 'plugin',
      plugin: 'shop',
      pluginRoot: '/plugins/shop',
      file: place.path('commands/sub/buy.md'),
    });
  });

  it('a path may name one file, or the folder of one skill', async () => {
    const place = createPlace();
    place.write('one.md', 'One');
    place.write('only/SKILL.md', '---\ndescription: d\n---\n');
    place.write('small/letters/skill.md', '---\ndescription: d\n---\n');
    const loaded = await loadDefinitions([
      folderOf('commands', place.path('one.md')),
      folderOf('skills', place.path('only')),
      folderOf('skills', place.path('small')),
    ]);
    expect([...loaded.commands.keys(), ...loaded.skills.keys()]).toEqual(['one', 'only', 'letters']);
  });

  it('links that lead out are reported and not followed; those inside are, once', async () => {
    const place = createPlace();
    place.write('outside/secret.md', 'Secret');
    place.write('outside/skill/SKILL.md', '---\ndescription: d\n---\n');
    place.write('c/real/in.md', 'In');
    symlinkSync(place.path('outside/secret.md'), place.path('c/out.md'));
    symlinkSync(place.path('outside'), place.path('c/all'));
    symlinkSync('real/in.md', place.path('c/again.md'));
    symlinkSync('..', place.path('c/real/up'));
    symlinkSync('loop', place.path('c/loop'));
    symlinkSync('nowhere.md', place.path('c/dangling.md'));
    mkdirSync(place.path('s/linked'), { recursive: true });
    symlinkSync(place.path('outside/skill'), place.path('s/skill'));
    symlinkSync(place.path('outside/skill/SKILL.md'), place.path('s/linked/SKILL.md'));
    const loaded = await loadDefinitions([folderOf('commands', place.path('c')), folderOf('skills', place.path('s'))]);
    expect([...loaded.commands.keys()].toSorted()).toEqual(['again', 'real:in']);
    expect(readBody(loaded.commands.get('again')?.origin.file ?? '')).toBe('In');
    expect(loaded.skills.size).toBe(0);
    expect(show(loaded.problems, place.root).toSorted()).toEqual([
      expect.stringMatching(/c\/all:0: the link leads out of the folder/),
      expect.stringMatching(/c\/dangling\.md:0: the link leads nowhere/),
      expect.stringMatching(/c\/loop:0: the link leads nowhere/),
      expect.stringMatching(/c\/out\.md:0: the link leads out/),
      expect.stringMatching(/s\/linked\/SKILL\.md:0: the link leads out/),
      expect.stringMatching(/s\/skill:0: the link leads out/),
    ]);
  });

  it('a skill of 10 MB, binary files, UTF-16, pipes and folders called .md: refused in words, the rest loads', async () => {
    const place = createPlace();
    place.write('s/huge/SKILL.md', `---\ndescription: d\n---\n${'x'.repeat(10 * 1024 * 1024)}`);
    place.write('s/fine/SKILL.md', `---\ndescription: d\n---\n${'x'.repeat(900 * 1024)}`);
    place.write('c/binary.md', new Uint8Array([1, 0, 2]));
    place.write('c/wide.md', Buffer.from('\ufeffhello', 'utf16le'));
    place.write('c/folder.md/inner.md', 'Inner');
    mkdirSync(place.path('s/pipe'));
    execFileSync('mkfifo', [place.path('c/pipe.md'), place.path('s/pipe/SKILL.md')]);
    const loaded = await loadDefinitions([folderOf('commands', place.path('c')), folderOf('skills', place.path('s'))]);
    expect([...loaded.commands.keys(), ...loaded.skills.keys()]).toEqual(['folder.md:inner', 'fine']);
    expect(show(loaded.problems, place.root)).toEqual([
      'warning c/pipe.md:0: it is a pipe, socket or device; an ordinary file is expected',
      'error c/binary.md:0: it is not a file of text',
      'error c/wide.md:0: it is UTF-16; save it as UTF-8',
      'error s/huge/SKILL.md:0: it is too large: 10 MB, and at most 1 MB are read',
      'error s/pipe/SKILL.md:0: it is not an ordinary file',
    ]);
  });

  it('a folder with more files than anyone wrote ends, and says so', async () => {
    const place = createPlace();
    mkdirSync(place.path('c'));
    for (let at = 0; at < 5_050; at += 1) writeFileSync(place.path(`c/n${at}.md`), '');
    let deep = 'd';
    for (let at = 0; at < 12; at += 1) {
      place.write(`${deep}/x${at}.md`, 'x');
      deep += '/d';
    }
    const { commands, problems } = await loadDefinitions([
      folderOf('commands', place.path('c')),
      folderOf('commands', place.path('d'), 'user'),
    ]);
    expect(commands.size).toBe(5_000 + 9);
    expect(show(problems, place.root)).toEqual([
      expect.stringContaining('c:0: there are too many files; only 5000 files'),
      expect.stringContaining('d/d/d/d/d/d/d/d/d/d:0: folders are looked at to a depth of 8'),
    ]);
  });

  it('many problems are told as a hundred and a number', async () => {
    const place = createPlace();
    for (let at = 0; at < 150; at += 1) place.write(`c/n${at}.md`, '---\n[\n---\nText');
    const { commands, problems } = await loadDefinitions([folderOf('commands', place.path('c'))]);
    expect(commands.size).toBe(150);
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)?.text).toMatch(/more problems in this folder are not listed/);
  });

  it('folders that are missing, unreadable or no folders never make it throw', async () => {
    const place = createPlace();
    place.write('file', 'x');
    place.write('closed/a.md', 'x');
    chmodSync(place.path('closed'), 0);
    const paths = ['missing', 'file', 'file/below', 'closed', '../'.repeat(3), 'with\0zero'];
    const folders = paths.map((path) =>
      folderOf('commands', path.startsWith('.') ? '/dev/null' : `${place.root}/${path}`),
    );
    const loaded = await loadDefinitions(folders);
    chmodSync(place.path('closed'), 0o700);
    expect(loaded.problems.every(({ line }) => line === 0)).toBe(true);
    expect(loaded.problems.some(({ file }) => file.includes('\0'))).toBe(true);
  });

  it('only the head of commands and skills is read; the body comes when it is called, as it is then', async () => {
    const place = createPlace();
    const description = 'word '.repeat(1_000).trim();
    const file = place.write('c/long.md', `---\ndescription: ${description}\n---\r\nFirst\r\n`);
    const { commands } = await loadDefinitions([folderOf('commands', place.path('c'))]);
    expect(commands.get('long')?.description).toBe(description);
    expect(readBody(file)).toBe('First\n');
    place.write('c/long.md', 'Second');
    expect(readBody(file)).toBe('Second');
    expect(() => readBody(place.path('c/gone.md'))).toThrow(
      expect.objectContaining({ code: 'invalid_settings', message: expect.stringContaining('it is not there') }),
    );
  });
});

describe('hasDefinitions', () => {
  it('tells whether there is anything to load', () => {
    const place = createPlace();
    mkdirSync(place.path('empty'));
    place.write('hidden/.keep', '');
    place.write('some/a.md', '');
    const has = (...names: string[]) => hasDefinitions(names.map((name) => ({ path: place.path(name) })));
    expect(has('empty', 'hidden', 'missing', 'some/a.md/below')).toBe(false);
    expect(has('empty', 'some')).toBe(true);
    expect(has('some/a.md')).toBe(true);
  });
});
