import { describe, expect, it } from 'vitest';
import { readTree } from './tree.js';
import { checkWords } from './words.js';

const words = (text: string): string[] => checkWords([{ path: 'docs/x.md', text }]);
/** Joined here, so that this file itself stays clean. */
const path = (...parts: string[]): string => ['', ...parts].join('/');

describe('checkWords', () => {
  it.each([
    path('work', 'main', 'src'),
    `cd ${path('root', 'project')}`,
    `"${path('home', 'ada', 'project')}"`,
    `file://${path('Users', 'ada')}`,
    ['C:', 'Users', 'ada'].join('\\'),
    ['registry', 'example', 'org'].join('.'),
    ['https:/', 'verdaccio.example', 'x'].join('/'),
    ['"resolved": "', 'https://npm.example/x.tgz"'].join(''),
    ['As an', 'AI, I wrote this'].join(' '),
    ['generated with', 'Copilot'].join(' '),
    ['Co-Authored-By', ' someone'].join(':'),
    ['see facts', 'md'].join('.'),
    ['seed', '001'].join(' '),
    ['sk-ant-api03', 'x'.repeat(60)].join('-'),
    ['-----BEGIN RSA', 'PRIVATE KEY-----'].join(' '),
  ])('rejects %s', (text) => {
    expect(words(`fine\n${text}`)).toEqual([expect.stringMatching(/^docs\/x\.md:2: names /)]);
  });

  it.each([
    'src/work/list.ts',
    '~/.claude',
    '$HOME/home/notes',
    path('home', 'user', 'project'),
    path('tmp', 'x'),
    'sk-ant-test',
    'docs/architecture.md',
    'a random seed 42',
  ])('accepts %s', (text) => {
    expect(words(text)).toEqual([]);
  });

  it('holds for this repository', () => {
    expect(checkWords(readTree())).toEqual([]);
  });
});
