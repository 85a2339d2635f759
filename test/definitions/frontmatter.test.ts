import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseFrontmatter, splitFrontmatter } from '../../src/engine/definitions/frontmatter.js';
import { readPlainYaml } from '../../src/engine/definitions/plain-yaml.js';

const read = async (text: string) => {
  const { fields, state, body, bodyLine, problems } = await parseFrontmatter(text, 'file.md');
  const values = Object.fromEntries([...fields].map(([key, { value }]) => [key, value]));
  const lines = Object.fromEntries([...fields].map(([key, { line }]) => [key, line]));
  return { values, lines, state, body, bodyLine, problems: problems.map(({ line, text: what }) => `${line}: ${what}`) };
};
const between = (head: string): string => `---\n${head}\n---\nbody\n`;

/** Numbers that follow from a seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('splitFrontmatter', () => {
  it.each([
    ['no frontmatter', 'just text\n', undefined, 'just text\n', 1],
    ['an ordinary one', '---\na: 1\n---\nbody\n', 'a: 1\n', 'body\n', 4],
    ['an empty one', '---\n---\nbody', '', 'body', 3],
    ['CRLF and a mark of UTF-8', '\ufeff---\r\na: 1\r\n---\r\nb\r\nc', 'a: 1\n', 'b\nc', 4],
    ['empty lines before, blanks behind', '\n \n---  \na: 1\n--- \nbody', 'a: 1\n', 'body', 6],
    ['closed by dots', '---\na: 1\n...\nbody', 'a: 1\n', 'body', 4],
    ['a ruler at the top', '---\n\nSome text\n', undefined, '---\n\nSome text\n', 1],
    ['nothing after it', '---\na: 1\n---', 'a: 1\n', '', 4],
    ['rulers in the body', '---\na: 1\n---\nx\n---\ny', 'a: 1\n', 'x\n---\ny', 4],
  ])('%s', (_, text, head, body, bodyLine) => {
    expect(splitFrontmatter(text)).toMatchObject({ head, body, bodyLine, isOpen: false });
  });

  it('one that is not closed ends at the first empty line or heading', () => {
    expect(splitFrontmatter('---\na: 1\nb: 2\n\ntext')).toMatchObject({
      head: 'a: 1\nb: 2\n',
      body: '\ntext',
      isOpen: true,
    });
    expect(splitFrontmatter('---\na: 1\n# Title\ntext')).toMatchObject({
      head: 'a: 1\n',
      body: '# Title\ntext',
      bodyLine: 3,
    });
  });
});

describe('readPlainYaml', () => {
  it.each([
    ['a: text with (brackets), and "quotes"', { a: 'text with (brackets), and "quotes"' }],
    ['a: 5\nb: 1.50\nc: 1.2.3\nd: true\ne: ~\nf:', { a: 5, b: 1.5, c: '1.2.3', d: true, e: null, f: null }],
    ['a: [Read, Bash(git:*), 3]\nb: []', { a: ['Read', 'Bash(git:*)', 3], b: [] }],
    ['a:\n  - one\n  - "two: 2"\nb:\n- three', { a: ['one', 'two: 2'], b: ['three'] }],
    ['a: |\n  one\n  two\nb: >-\n  three\n  four', { a: 'one\ntwo\n', b: 'three four' }],
    ['# note\na:\n  b: 1\n  c:\n    d: x\n\ne: "q \\"r\\""', { a: { b: 1, c: { d: 'x' } }, e: 'q "r"' }],
  ])('reads %j itself, as YAML does', (text, expected) => {
    const fields = readPlainYaml(text, 1);
    const values = fields && Object.fromEntries([...fields].map(([key, { value }]) => [key, value]));
    expect(values).toEqual(expected);
    expect(values).toEqual(parse(text));
  });

  it('says nothing, or exactly what the YAML package says: 20,000 random texts', () => {
    const random = createRandom(7);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
    const scalars = [
      'text',
      'two words',
      '"q"',
      "'s'",
      "'it''s'",
      '"a\\nb"',
      '"a" b',
      'a: b',
      'a:b',
      'a #b',
      'a#b',
      '#c',
      '- x',
      '-x',
      '*a',
      '&a b',
      '!t x',
      '|',
      '>-',
      '|2',
      '[a, b]',
      '[a',
      '[a, ]',
      '[a:b, c: d]',
      '[[a]]',
      '{a: b}',
      '1',
      '01',
      '0x1f',
      '0o7',
      '1e3',
      '.5',
      '5.',
      '+1',
      '-1',
      '.inf',
      '.nan',
      '1_000',
      '12:30',
      '2024-01-01',
      'true',
      'True',
      'tRUE',
      'yes',
      'null',
      'nULL',
      '~',
      '~x',
      '',
      '@x',
      '%x',
      '`x`',
      '"open',
      "'open",
      'a\\nb',
      '<x>',
      '$1',
      '(x)',
      '/a/b',
      'é',
      '…',
      'a:',
      '? x',
      ': x',
      '---',
      '...',
      '1 2',
      '3/4',
      '1.0',
      '1.10.2',
      '[a#b]',
      '[a #b]',
      '[1, true, ~]',
      '["a", b]',
      '"a\\tb"',
      '"a\\x41"',
      'a,b',
      'a]b',
      'a}',
      '<<',
      '"a": b',
      '[a,b]',
      '[ a , b ]',
      '[,]',
    ];
    const line = (): string => {
      const indent = pick(['', '', '', '', '  ', '    ', ' ']);
      const key = pick(['a', 'b', 'c-d', 'e_f', 'g', 'true', 'null', '"k"', '1', '<<', 'h', 'i', 'k k']);
      const gap = pick([': ', ': ', ': ', ':', ':  ', ' : ']);
      return pick([
        () => `${indent}${key}${gap}${pick(scalars)}`,
        () => `${indent}${key}${gap}${pick(scalars)}`,
        () => `${indent}${key}:`,
        () => `${indent}- ${pick(scalars)}`,
        () => `${indent}${pick(scalars)}`,
        () => pick(['', '  ', '# note', '  # note', 'x # note']),
      ])();
    };
    let plain = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const text = Array.from({ length: 1 + random(5) }, line).join('\n');
      const fields = readPlainYaml(text, 1);
      if (fields === undefined) continue;
      plain += 1;
      const values = Object.fromEntries([...fields].map(([key, { value }]) => [key, value]));
      let whole: unknown;
      try {
        whole = parse(text, { logLevel: 'error' }) ?? {};
      } catch (error) {
        whole = String(error);
      }
      expect({ text, values }).toEqual({ text, values: whole });
    }
    expect(plain).toBeGreaterThan(500);
  });
});

describe('parseFrontmatter', () => {
  it('fields with their lines, in plain and in full YAML', async () => {
    const plain = await read(between('name: x\n\n# note\ntools:\n  - Read\nmodel: y'));
    expect(plain).toMatchObject({ lines: { name: 2, tools: 5, model: 7 }, bodyLine: 9, body: 'body\n', problems: [] });
    const full = await read(between('name: x\n\n# note\ntools: ["Read",\n  "Edit"]\nmodel: y # z'));
    expect(full).toMatchObject({ lines: { name: 2, tools: 5, model: 7 }, problems: [] });
    expect(full.values).toEqual({ name: 'x', tools: ['Read', 'Edit'], model: 'y' });
  });

  it('no frontmatter, and an empty one, are fine', async () => {
    expect(await read('text')).toMatchObject({ state: 'none', values: {}, body: 'text', problems: [] });
    expect(await read('---\n# nothing\n---\ntext')).toMatchObject({
      state: 'read',
      values: {},
      body: 'text',
      problems: [],
    });
  });

  it('not strict: a description with colons is text, its neighbours are YAML, and it says so', async () => {
    const { values, problems } = await read(
      between('name: x\ndescription: Use it. Example: Context: a user: "hi"\ntools: [Read, Edit]\nmodel: opus'),
    );
    expect(values).toEqual({
      name: 'x',
      description: 'Use it. Example: Context: a user: "hi"',
      tools: ['Read', 'Edit'],
      model: 'opus',
    });
    expect(problems).toEqual([expect.stringMatching(/^3: "description" is not strict YAML .* read as plain text/)]);
  });

  it('not strict: lines of a dialogue belong to the description, and quotes around the whole go', async () => {
    const { values } = await read(between('description: "Use it.\nuser: "hi"\nassistant: x: y"\ncolor: red'));
    expect(values).toEqual({ description: 'Use it.\nuser: "hi"\nassistant: x: y', color: 'red' });
  });

  it('not strict: tabs that indent, a field twice, an asterisk', async () => {
    const tabs = await read(between('name: x\ntools:\n\t- Read\n\t- Edit'));
    expect(tabs.values).toEqual({ name: 'x', tools: ['Read', 'Edit'] });
    expect(tabs.problems).toEqual([expect.stringMatching(/^4: "tools" is indented with tabs/)]);
    const twice = await read(between('name: x\nname: y'));
    expect(twice.values).toEqual({ name: 'y' });
    expect(twice.problems).toEqual([expect.stringMatching(/^3: "name" is there twice; the last one counts/)]);
    expect((await read(between('name: x\ntools: *'))).values).toEqual({ name: 'x', tools: ['*'] });
  });

  it('a hint in brackets is text', async () => {
    for (const hint of ['[file] [count]', '[file]', '[a|b] <c>']) {
      expect(await read(between(`argument-hint: ${hint}\nmodel: x`))).toMatchObject({
        values: { 'argument-hint': hint, model: 'x' },
        lines: { 'argument-hint': 2, model: 3 },
        problems: [],
      });
    }
  });

  it('no YAML at all: a problem with its line, and the body is there', async () => {
    const { state, values, body, problems } = await read(between('well, [this\nis: nothing} of the kind'));
    expect({ state, values, body }).toEqual({ state: 'broken', values: {}, body: 'body\n' });
    expect(problems).toEqual([expect.stringMatching(/^[23]: the frontmatter is no YAML: /)]);
  });

  it('aliases are bounded, tags make nothing, and no key reaches behind an object', async () => {
    const levels = Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}*a${at}]`);
    const bomb = await read(between(['a0: &a0 [x, x]', ...levels].join('\n')));
    expect(bomb.state).toBe('broken');
    expect(bomb.problems.join()).toMatch(/alias/i);
    const few = await read(between('a: &x { k: [Read] }\nb: *x'));
    expect(few.values).toEqual({ a: { k: ['Read'] }, b: { k: ['Read'] } });
    const tags = await read(between('a: !!js/function "() => 1"\nb: !!binary aGk=\nc: !own {x: 1}'));
    expect(tags.values).toEqual({ a: '() => 1', b: 'aGk=', c: { x: 1 } });
    const keys = await read(
      between('__proto__: {polluted: true}\nhooks: {__proto__: {polluted: true}, a: {constructor: 1, b: 2}}'),
    );
    expect(keys.values).toEqual({ hooks: { a: { b: 2 } } });
    expect(Object.keys(keys.values)).toEqual(['hooks']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(keys.problems).toEqual([expect.stringMatching(/^2: the key "__proto__" is left out/)]);
  });

  it('the YAML package is given so much and no more; what is plain costs nothing', async () => {
    const budget = { chars: 40 };
    expect(await parseFrontmatter(between(`name: ${'x'.repeat(100)}`), 'a.md', budget)).toMatchObject({
      state: 'read',
    });
    expect(await parseFrontmatter(between('name: x # twenty'), 'b.md', budget)).toMatchObject({ state: 'read' });
    expect(budget.chars).toBe(40 - 'name: x # twenty\n'.length);
    const refused = await parseFrontmatter(between('name: {a: "more than is left"}'), 'c.md', budget);
    expect(refused).toMatchObject({ state: 'broken', problems: [{ severity: 'error', file: 'c.md', line: 2 }] });
  });

  it.each([
    ['brackets', `name: x\ntools: ${'['.repeat(30_000)}`],
    ['tables', `name: x\ntools: ${'{a: '.repeat(10_000)}`],
    ['dashes', `name: x\ntools:\n  ${'- '.repeat(20_000)}`],
    ['questions', '? '.repeat(20_000)],
    ['ever deeper lines', Array.from({ length: 350 }, (_, at) => `${' '.repeat(at)}k: # x`).join('\n')],
    ['quotes', `name: x\ndescription: ${'"a" '.repeat(10_000)}`],
    ['anchors', Array.from({ length: 3_000 }, (_, at) => `k${at}: &a${at} x`).join('\n')],
    ['one long line', `name: ${'x'.repeat(200_000)}`],
  ])('hostile %s end, with a value or a problem', async (_, head) => {
    const { state, values, problems } = await read(between(head));
    expect(state === 'broken' || Object.keys(values).length > 0).toBe(true);
    if (state === 'broken') expect(problems.length).toBeGreaterThan(0);
  });
});
