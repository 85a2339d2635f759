import { describe, expect, it } from 'vitest';
import { readWebTarget } from '../../src/engine/permissions/web.js';
import type { RuleLayer } from '../../src/engine/permissions/layers.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import {
  allowsWords,
  compileCommandPattern,
  forbidsWords,
  textOf,
  textsOf,
} from '../../src/engine/permissions/rules/command-pattern.js';
import {
  matchesGlob,
  matchesStars,
  mayMatchGlob,
  parseGlob,
  parseStars,
} from '../../src/engine/permissions/rules/glob.js';
import {
  compilePathPattern,
  matchesPath,
  mayMatchPath,
  reachesBelow,
} from '../../src/engine/permissions/rules/path-pattern.js';
import { parseRule } from '../../src/engine/permissions/rules/written.js';
import { HOLE } from '../../src/engine/permissions/shell/hole.js';

const HOME = '/home/user';
const compile = (layer: Partial<RuleLayer>) =>
  compileRules([{ name: 'user', base: '/repo', ...layer }], { home: HOME });

describe('rules as they are written', () => {
  it.each([
    ['Bash', { tool: 'Bash' }],
    [' Bash ', { tool: 'Bash' }],
    ['Bash(*)', { tool: 'Bash' }],
    ['Bash(npm test)', { tool: 'Bash', specifier: 'npm test' }],
    ["Bash(echo '(a')", { tool: 'Bash', specifier: "echo '(a'" }],
    ['Bash(echo (a))', { tool: 'Bash', specifier: 'echo (a)' }],
    ['FileRead(./x)', { tool: 'Read', specifier: './x' }],
    ['Agent(explore)', { tool: 'Task', specifier: 'explore' }],
    ['mcp__a__b', { tool: 'mcp__a__b' }],
  ])('%j', (text, parts) => {
    expect(parseRule(text)).toEqual({ text, ...parts });
  });

  it.each<[Partial<RuleLayer>, string, RegExp]>([
    [{ deny: ['Bash(rm'] }, 'Bash(rm', /not closed/],
    [{ deny: ['Bash rm)'] }, 'Bash rm)', /never opened/],
    [{ deny: ['Bash(a) b'] }, 'Bash(a) b', /after its bracket/],
    [{ deny: ['Bash(a (b)'] }, 'Bash(a (b)', /do not match up/],
    [{ deny: ['Bash()'] }, 'Bash()', /names no command/],
    [{ deny: [''] }, '', /empty/],
    [{ deny: ['(x)'] }, '(x)', /names no tool/],
    [{ allow: ['Bsh'] }, 'Bsh', /names no tool/],
    [{ allow: ['bash'] }, 'bash', /did you mean Bash/],
    [{ allow: ['Bash(a && b:*)'] }, 'Bash(a && b:*)', /more than one command/],
    [{ allow: ['Bash(a | *)'] }, 'Bash(a | *)', /more than one command/],
    [{ deny: ['Read()'] }, 'Read()', /names no path/],
    [{ deny: ['Read(!x)'] }, 'Read(!x)', /takes back/],
    [{ allow: ['Read(//etc/../**)'] }, 'Read(//etc/../**)', /climbs back/],
    [{ allow: ['WebFetch(example.org)'] }, 'WebFetch(example.org)', /domain:/],
    [{ allow: ['WebFetch(domain:a/b)'] }, 'WebFetch(domain:a/b)', /no host/],
    [{ allow: ['WebSearch(x)'] }, 'WebSearch(x)', /no brackets/],
    [{ allow: ['mcp__a__b(x)'] }, 'mcp__a__b(x)', /no brackets/],
    [{ allow: ['mcp__*'] }, 'mcp__*', /only "\*" and/],
    [{ allow: ['B*'] }, 'B*', /only "\*" and/],
    [{ deny: ['*(x)'] }, '*(x)', /only a rule for one tool/],
    [{ deny: [{ path: 'a', command: 'b' }] }, '*(b)', /both a path and a command/],
    [{ deny: [{}] }, '*', /neither tool/],
    [{ deny: [{ tool: 'Read', command: 'b' }] }, 'Read(b)', /runs no command/],
    [{ deny: [{ tool: 'Bash', path: 'b' }] }, 'Bash(b)', /no path/],
    [{ deny: [{ tool: 'Bash', behavior: 'allow' }] }, 'Bash', /counts as deny/],
    [{ allow: [{ tool: 'Bash', comand: 'npm' } as never] }, 'Bash', /"comand" is no key of a rule/],
    [{ deny: [{ tool: 'Read', paht: './x' } as never] }, 'Read', /"paht" is no key of a rule/],
    [{ allow: [{ tool: 'Bash', command: ' ' }] }, 'Bash( )', /empty/],
    [{ allow: [{ tool: 'Edit', path: '' }] }, 'Edit()', /empty/],
    [{ deny: [7 as never] }, '7', /neither a text/],
    [{ deny: ['mcp__'] }, 'mcp__', /names no server/],
    [{ deny: ['Bash((rm))'] }, 'Bash((rm))', /doubled/],
    [{ deny: [`Read(${'['.repeat(60_000)})`] }, `Read(${'['.repeat(55)}\u2026`, /longer than/],
    [{ allow: [{ tool: 'Edit', path: 'a'.repeat(60_000) }] }, `Edit(${'a'.repeat(55)}\u2026`, /longer than/],
  ])('D3 %j has a problem', (layer, rule, problem) => {
    expect(compile(layer).problems).toEqual([{ layer: 'user', rule, problem: expect.stringMatching(problem) }]);
  });

  it('has no problem with any form that there is', () => {
    const forms = [
      'Bash',
      'Bash(*)',
      'Bash(npm test)',
      'Bash(npm test:*)',
      'Bash(npm run *)',
      'Bash(git * main)',
      'Bash(a && b)',
      'Read',
      'Read(./a/**)',
      'Edit(/docs/**)',
      'Write(//etc/x)',
      'Read(~/.ssh/**)',
      'Grep(x)',
      'Glob(x)',
      'NotebookEdit(*.ipynb)',
      'Read(*.{a,b})',
      'WebFetch',
      'WebFetch(domain:example.org)',
      'WebFetch(domain:*.example.org)',
      'WebSearch',
      'mcp__srv',
      'mcp__srv__*',
      'mcp__srv__tool',
      'Agent(explore)',
      'Task(explore)',
      'Skill(x)',
      'Skill(x:*)',
      '*',
      'FileRead',
      'KillShell',
    ]; // prettier-ignore
    expect(compile({ allow: forms, ask: forms, deny: [...forms, 'mcp__*', 'mcp__*__delete*'] }).problems).toEqual([]);
    expect(
      compileRules([{ name: 'flag', base: '/', allow: ['Weather'] }], { home: HOME, tools: ['Weather'] }).problems,
    ).toEqual([]);
  });

  it('says where path rules begin, so that links can be resolved', () => {
    const book = compile({ deny: ['Read(./s/**)', 'Edit(//data/x)', 'Read(~/k)', 'Read(.env)'] });
    expect(book.folders.toSorted()).toEqual(['/data/x', '/home/user/k', '/repo', '/repo/s']);
    const linked = compileRules([{ name: 'user', base: '/repo', deny: ['Read(./s/**)'] }], {
      home: HOME,
      links: new Map([['/repo/s', '/data/s']]),
    });
    expect(linked.deny.reads.find('/data/s/k')?.text).toBe('Read(./s/**)');
    expect(linked.deny.reads.find('/repo/s/k')?.text).toBe('Read(./s/**)');
  });

  it('reports the rule of the strongest layer', () => {
    const layers: RuleLayer[] = (['user', 'project', 'managed'] as const).map((name) => ({
      name,
      base: '/repo',
      deny: ['Bash(rm:*)', 'Read(./x)'],
    }));
    const book = compileRules(layers, { home: HOME });
    expect(book.deny.forbids([{ value: 'rm', splits: false }])?.rule.layer).toBe('managed');
    expect(book.deny.reads.find('/repo/x')?.layer).toBe('managed');
  });
});

const words = (text: string) =>
  (text === '' ? [] : text.split(' ')).map((value) => ({
    value: value.replaceAll('_', ' '),
    splits: value === HOLE.any,
  }));

describe('command patterns', () => {
  const pattern = (text: string) => {
    const compiled = compileCommandPattern(text);
    if (typeof compiled === 'string') throw new Error(compiled);
    return compiled;
  };

  it.each([
    ['npm test', 'npm test', true],
    ['npm test', 'npm test -w', false],
    ['npm test', 'npm testx', false],
    ['npm test:*', 'npm test', true],
    ['npm test:*', 'npm test -w', true],
    ['npm test:*', 'npm testx', false],
    ['npm test:*', 'npm', false],
    ['npm test *', 'npm test', true],
    ['npm test*', 'npm testx', true],
    ['npm run *', 'npm run a b', true],
    ['git * main', 'git push main', true],
    ['git * main', 'git push origin main', true],
    ['git * main', 'git main', false],
    ['git push * main', 'git push x_main', false],
    ['git commit -m "a b":*', 'git commit -m a_b', true],
    ['git commit -m "a b":*', 'git commit -m a b', false],
    ["echo 'x *'", 'echo x_y', true],
    ['git:*', 'git-evil status', false],
    ['git:*', '/usr/bin/git status', false],
    ['git:*', './git status', false],
    ['a \\* b', 'a * b', true],
    ['a \\* b', 'a c b', false],
    ['* --help', 'x --help', true],
    ['npm test:*', `npm test ${HOLE.any}`, true],
    ['npm test:*', `npm ${HOLE.any} test`, false],
  ])('%j allows %j: %s', (text, command, allowed) => {
    const given = words(command);
    expect(allowsWords(pattern(text), given, textOf(given)) !== undefined).toBe(allowed);
  });

  it.each([
    ['rm:*', 'rm x', 'yes'],
    ['rm:*', '/bin/rm x', 'yes'],
    ['rm:*', 'rmdir x', 'no'],
    ['git push:*', 'git push', 'yes'],
    ['git push:*', 'git -C /x push', 'yes'],
    ['git push:*', 'git -c a=b --no-pager push x', 'yes'],
    ['git push:*', 'git log push', 'no'],
    ['git push:*', `git ${HOLE.any}`, 'maybe'],
    ['git push:*', `git ${HOLE.output}sh`, 'maybe'],
    ['git push:*', `git x${HOLE.star}`, 'no'],
    ['git push * --force', 'git push origin main --force', 'yes'],
    ['git push * --force', 'git push --force', 'yes'],
    ['git push * --force', 'git -C x push origin --force', 'yes'],
    ['git push * --force', `git push ${HOLE.any}`, 'maybe'],
    ['git push * --force', 'git push origin', 'no'],
    ['rm -rf:*', 'rm -fr x', 'yes'],
    ['rm -rf:*', 'rm -r x -f', 'yes'],
    ['rm -rf:*', 'rm --recursive --force x', 'yes'],
    ['rm -rf:*', 'rm -r x', 'no'],
    ['npm test', 'npm test', 'yes'],
    ['npm test', 'npm test x', 'no'],
    ['npm test', `npm test ${HOLE.any}`, 'maybe'],
    ['*curl*', 'xcurlx', 'yes'],
  ])('%j forbids %j: %s', (text, command, match) => {
    const given = words(command);
    expect(forbidsWords(pattern(text), given, textsOf(given))).toBe(match);
  });
});

describe('path patterns', () => {
  const patterns = (text: string) => {
    const compiled = compilePathPattern(text, { base: '/repo', home: HOME });
    if (typeof compiled === 'string') throw new Error(compiled);
    return compiled;
  };

  it.each([
    ['./.env', '/repo/.env', true],
    ['./.env', '/repo/a/.env', false],
    ['.env', '/repo/a/.env', true],
    ['.env', '/elsewhere/.env', true],
    ['.env', '/repo/.env.local', false],
    ['.env*', '/repo/.env.local', true],
    ['*/.env*', '/repo/backend/.env', true],
    ['*/.env*', '/repo/a/b/.env', false],
    ['**/.env', '/repo/.env', true],
    ['**/.env', '/repo/a/b/.env', true],
    ['./secrets/**', '/repo/secrets', true],
    ['./secrets/**', '/repo/secrets/a/b', true],
    ['./secrets/**', '/repo/secrets2', false],
    ['secrets/', '/repo/secrets/a', true],
    ['./secrets', '/repo/secrets/a', true],
    ['/docs/**', '/repo/docs/a', true],
    ['/docs/**', '/docs/a', false],
    ['//etc/**', '/etc/passwd', true],
    ['//etc/**', '/etcetera', false],
    ['//**', '/anything', true],
    ['~/.ssh/**', '/home/user/.ssh/id', true],
    ['../x', '/x', true],
    ['src/**/*.ts', '/repo/src/a.ts', true],
    ['src/**/*.ts', '/repo/src/a/b/c.ts', true],
    ['src/**/*.ts', '/repo/src/a.tsx', false],
    ['src/**/test/**/*.ts', '/repo/src/a/test/b/c.ts', true],
    ['*.{ts,tsx}', '/repo/a/b.tsx', true],
    ['a?c', '/repo/abc', true],
    ['a[bx]c', '/repo/axc', true],
    ['a[!b]c', '/repo/abc', false],
    ['a\\*c', '/repo/a*c', true],
    ['a\\*c', '/repo/abc', false],
    ['My Docs/**', '/repo/My Docs/ü.md', true],
    [' ./.env ', '/repo/.env', true],
    ['./.env ', '/repo/.env', true],
    ['./.env ', '/repo/.env ', true],
    ['./a\\ ', '/repo/a ', true],
    ['./a\\ ', '/repo/a', false],
    [' .env', '/elsewhere/.env', true],
    ['\\{a,b\\}', '/repo/a', false],
    ['\\{a,b\\}', '/repo/{a,b}', true],
    ['x{a\\,b,c}', '/repo/xa,b', true],
  ])('%j matches %j: %s', (text, path, matches) => {
    expect(patterns(text).some((pattern) => matchesPath(pattern, path))).toBe(matches);
    const book = compile({ deny: [`Read(${text})`] });
    expect(book.deny.reads.find(path) !== undefined).toBe(matches);
  });

  it.each([
    ['./.env', `/repo/.e${HOLE.star}`, true],
    ['./.env', `/repo/${HOLE.star}`, false],
    ['./.env', `/repo/.e${HOLE.one}v`, true],
    ['./.env', `/repo/a${HOLE.star}`, false],
    ['./.env', `/repo/${HOLE.any}`, true],
    ['./.env', `/repo/src${HOLE.below}`, false],
    ['./.env', `/repo/${HOLE.below}.ts`, false],
    ['./src/.env', `/repo/${HOLE.star}/.env`, true],
    ['.env', `${HOLE.any}/.env`, true],
    ['.env', HOLE.any, true],
    ['./secrets/**', `/repo/s${HOLE.star}/k`, true],
    ['./secrets/**', `/repo/t${HOLE.star}/k`, false],
  ])('%j may match %j: %s', (text, template, may) => {
    expect(patterns(text).some((pattern) => mayMatchPath(pattern, template))).toBe(may);
  });

  it.each([
    ['./secrets/**', '/repo', true],
    ['./secrets/**', '/repo/src', false],
    ['./secrets/**', '/', true],
    ['src/**/k', '/repo/src/a', true],
    ['src/*/k', '/repo/src/a', true],
    ['src/*/k', '/repo/src/a/b', false],
    ['.env', '/anywhere', true],
    ['//etc/x', '/repo', false],
  ])('%j reaches below %j: %s', (text, folder, reaches) => {
    expect(patterns(text).some((pattern) => reachesBelow(pattern, folder))).toBe(reaches);
  });

  it('rules for tools that are others by now forbid for these, and allow nothing more', () => {
    const { deny } = compile({ deny: ['NotebookRead(./a)', 'LS(./b)', 'KillBash', 'SlashCommand(/deploy:*)'] });
    expect(deny.reads.find('/repo/a')).toBeDefined();
    expect(deny.ownPaths('Glob')?.find('/repo/b')).toBeDefined();
    expect(deny.tool('TaskStop')).toBeDefined();
    expect(deny.name('Skill', 'deploy')).toBeDefined();
    expect(compile({ allow: ['NotebookRead(//etc/a)'] }).allow.reads.find('/etc/a')).toBeUndefined();
  });

  it('E4 an IPv4 address that is written as one of IPv6 is the same host', () => {
    const { deny } = compile({ deny: ['WebFetch(domain:8.8.8.8)', 'WebFetch(domain:[::ffff:9.9.9.9])'] });
    for (const host of ['[::ffff:8.8.8.8]', '9.9.9.9']) {
      expect(deny.host(readWebTarget(`https://${host}/`).host), host).toBeDefined();
    }
  });

  it('to allow, a bare name means files of the project', () => {
    const book = compile({ allow: ['Read(notes.md)'] });
    expect(book.allow.reads.find('/repo/a/notes.md')).toBeDefined();
    expect(book.allow.reads.find('/elsewhere/notes.md')).toBeUndefined();
  });
});

describe('globs', () => {
  // A matcher that goes back for every star would not come to an end here.
  it('take no longer than the product of the two lengths', () => {
    const text = 'a'.repeat(2_000);
    for (const pattern of [`${'*a'.repeat(200)}b`, `${'a*'.repeat(500)}b`, `${'?*'.repeat(500)}b`]) {
      expect(matchesGlob(parseGlob(pattern), text)).toBe(false);
      expect(matchesStars(parseStars(pattern), text)).toBe(false);
      expect(mayMatchGlob(parseGlob(pattern), text.slice(0, 300))).toBe(false);
    }
    const steps = compilePathPattern(`${'**/a/'.repeat(50)}b`, { base: '/repo', home: HOME });
    expect(typeof steps !== 'string' && steps.some((each) => matchesPath(each, `/repo${'/a'.repeat(500)}`))).toBe(
      false,
    );
  });

  it('both matchers of stars agree', () => {
    for (const pattern of ['', '*', 'a', 'a*', '*a', 'a*b', '*a*', 'a*b*c', '**', 'ab*ab', 'a*a']) {
      for (const text of ['', 'a', 'ab', 'aab', 'abc', 'axbyc', 'abab', 'aba', 'b']) {
        const tokens = parseGlob(pattern, { onlyStars: true });
        expect({ pattern, text, matches: matchesStars(parseStars(pattern), text) }).toEqual({
          pattern,
          text,
          matches: matchesGlob(tokens, text),
        });
        expect(mayMatchGlob(tokens, text)).toBe(matchesGlob(tokens, text));
      }
    }
  });
});
