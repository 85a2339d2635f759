/** Options in arguments: those of everyday, and none that write files or run programs. */
import { describe, expect, it } from 'vitest';
import { fillShellLine, splitArguments } from '../../src/engine/definitions/arguments.js';

const fill = (line: string, args: string) => fillShellLine(line, { args, words: splitArguments(args), places: {} });

describe('options in arguments', () => {
  it.each([
    ['git diff', 'main -- a.txt'],
    ['git diff', '-w'],
    ['git diff', '-U10 --text --word-diff --no-ext-diff --no-textconv'],
    ['git log', '--since=2.weeks'],
    ['git log', '-5 --author=bob'],
    ['git log', '-n 5 --oneline --graph --all --exclude=x --until=now --grep=a -p -S foo'],
    ['git --no-pager log', '--stat'],
    ['git show', '--name-only --pretty=oneline HEAD'],
    ['git status', '-s --porcelain=v2 -b'],
    ['git branch', '-a -vv --sort=-committerdate'],
    ['git add', '-A'],
    ['git add', '--all -v'],
    ['git blame', '-L 1,5 -w a.ts'],
    ['git shortlog', '-sne'],
    ['gh pr diff', '123 --name-only'],
    ['gh pr list', '--state=open -L 50 --json title'],
    ['ls', '-la --color=never'],
    ['cat', '-n a'],
    ['grep x', '-rn --include=a.ts'],
    ['rg x', '-n -i --pretty --hidden'],
    ['wc', '-l a'],
    ['head', '-n 5 a'],
    ['tail', '-c 10 a'],
    ['npm test', '--'],
    ['sort', '-- a'],
    ['mytool', '-- a'],
  ])('%s takes %s', (line, args) => {
    expect(fill(`${line} $ARGUMENTS`, args)).toEqual({ line: `${line} ${args}`, usesArguments: true });
  });

  it.each<readonly [string, string]>([
    ...['diff', 'log', 'show', 'shortlog', 'status', 'branch', 'add', 'blame'].flatMap((verb) =>
      [
        '--output=F',
        '--output F',
        '--outp=F',
        '--o=F',
        '--output-directory=F',
        '--ext-diff',
        '--ext',
        '--textconv',
        '--textc',
        '--exec=x',
        '--exec-path=.',
        '--exe=x',
        '--git-dir=.',
        '--git-d=.',
        '--work-tree=.',
        '--upload-pack=x',
        '--upload-p=x',
        '--receive-pack=x',
        '--open=x',
        '-Ox',
        '-wOx',
        '-c x=y',
        '-C d',
        '-- --output=F',
      ].map((args) => [`git ${verb}`, args] as const),
    ),
    ['git add', '-e'],
    ['git add', '-ve'],
    ['git add', '--edit'],
    ['git branch', '--edit-description'],
    ['git log', '--show-signature'],
    ['git', '-p log'],
    ['git commit', '--amend'],
    ['git fetch', '-q'],
    ['git grep x', '-n'],
    ['gh', '--version'],
    ['gh pr', '--web'],
    ['gh pr view', '1 --web'],
    ['gh pr view', '1 -cw'],
    ['gh issue create', '--editor'],
    ['gh release download', '-p x'],
    ['gh run download', '--name=x'],
    ['gh repo clone o/r', '-- --upload-pack=x'],
    ['gh alias set x', '--shell'],
    ['gh extension install', '--force'],
    ['rg x', '--pre=./evil'],
    ['rg x', '--pre ./evil'],
    ['rg x', '--pre-glob=x'],
    ['rg x', '--hostname-bin=./evil'],
    ['rg x', '-nz'],
    ['npm test', '-- --watch=false'],
    ['kubectl exec pod', '-- x'],
    ['sort', '-- -x'],
  ])('%s does not take %s', (line, args) => {
    expect(fill(`${line} $ARGUMENTS`, args)).toHaveProperty('fault');
  });

  it('an option that takes the end of options for its value ends nothing', () => {
    expect(fill('git log $1 -- $2', '-S --output=F')).toHaveProperty('fault');
    expect(fill('git log -$1 -- $2', 'S --output=F')).toHaveProperty('fault');
    expect(fill('git log -- $1', '--output=F')).toHaveProperty('line');
    expect(fill('git log $1 -- $2', 'main a.txt')).toHaveProperty('line');
  });
});
