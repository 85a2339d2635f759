import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExclusion } from '../../src/engine/sandbox/excluded.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;

const at = (...names: string[]): string => join(folder, ...names);

function makeRepository(path: string, config: string): void {
  for (const name of ['objects', 'refs']) mkdirSync(join(path, name), { recursive: true });
  writeFileSync(join(path, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(path, 'config'), config);
}

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-excluded-')));
  for (const name of ['project/sub', 'project/origin2', 'cache', 'apart']) mkdirSync(at(name), { recursive: true });
  const remotes = {
    origin: 'git@example.com:me/it.git',
    web: 'https://example.com/me/it.git',
    apart: at('apart'),
    inside: at('project', 'sub'),
    cache: `file://${at('cache')}`,
    near: './sub',
    odd: '"https://example.com"',
  };
  const sections = Object.entries(remotes).map(([name, url]) => `[remote "${name}"]\n\turl = ${url}\n\tfetch = x\n`);
  makeRepository(at('project', '.git'), `[core]\n\tbare = false\n${sections.join('')}`);
  const origin = '[remote "origin"]\n\turl = ssh://example.com/it\n';
  makeRepository(at('single', '.git'), origin);
  makeRepository(at('two', '.git'), `${origin}\tpushurl = ../two/evil\n`);
  mkdirSync(at('tree'));
  mkdirSync(at('single', '.git', 'worktrees', 'tree'), { recursive: true });
  writeFileSync(at('tree', '.git'), `gitdir: ${at('single', '.git', 'worktrees', 'tree')}\n`);
  writeFileSync(at('single', '.git', 'worktrees', 'tree', 'commondir'), '../..\n');
});
afterAll(() => removeFolder(folder));

/** Where commands run, unless a test says otherwise. */
const placeIn = (root: string, cwd = root) => ({ cwd: at(cwd), roots: [at(root)], allowed: [at('cache')] });

const entries = ['docker', 'npm run deploy:*', 'git push *', 'make *-image', '~/bin/tool', "'odd name'"];

describe('a line runs outside of the sandbox', () => {
  const isExcluded = createExclusion(entries, { home: '/home/me' });

  it.each([
    'docker',
    'docker ps -a',
    'docker "ps"',
    'do\\cker ps',
    'docker ps "$NAME" $MORE',
    'npm run deploy',
    'npm run deploy prod',
    'git push origin main',
    'make web-image',
    "'odd name' x",
    'docker ps && docker images',
    'docker ps; docker images\ndocker info',
    'docker ps | docker exec -i db psql',
    'docker rm $(docker ps -q)',
    'docker ps || git push origin',
    'if docker ps; then docker rm a; fi',
    'for name in a b; do docker rm $name; done',
    '(docker ps; docker images) &',
    'docker ps -q | xargs docker rm',
    'timeout 60 docker build .',
    'NO_COLOR=1 docker ps',
    'env CI=1 docker ps',
    'bash -c "docker ps; docker images"',
    'docker exec db sh -c "rm -rf /data"',
    'docker ps 2>&1 >/dev/null',
    'docker exec -i db psql <<< "select 1"',
  ])('%j: every command in it is excluded', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(true);
  });

  it.each([
    'docker ps; rm x',
    'docker ps\nrm x',
    'docker ps && rm x',
    'docker ps || rm x',
    'docker ps & rm x',
    'docker ps | sh',
    'rm x | docker load',
    'docker $(rm x)',
    'docker `rm x`',
    'docker "$(rm x)"',
    'docker ps <(rm x)',
    'docker exec -i db psql <<E\n$(rm x)\nE',
    'docker ps -q | xargs rm',
    'find . -exec docker rm {} \\;',
    'cd sub && docker ps',
    'sudo docker ps',
    'bash -c "docker ps; rm x"',
    'f() { rm x; }; f',
    'docker() { rm x; }; docker ps',
    'alias docker=rm; docker x',
    'trap "rm x" EXIT; docker ps',
    'time rm x',
  ])('not %j: something else runs, too', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(false);
  });

  it.each(['docker ps > out', 'docker load < image', 'docker ps 2> ~/.bashrc', '> out', 'docker ps > /dev/tcp/a/1'])(
    'not %j: the shell would open a file or a connection outside',
    (command) => {
      expect(isExcluded(command, placeIn('project'))).toBe(false);
    },
  );

  it.each([
    'LD_PRELOAD=./x docker ps',
    'X=1 docker ps',
    'env PATH=. docker ps',
    'export PATH=.; docker ps',
    'PATH=.; docker ps',
    'set -x; docker ps',
  ])('not %j: it changes what runs', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(false);
  });

  it.each([
    './docker ps',
    '/tmp/docker ps',
    'dockerx',
    'docker-compose up',
    'npm run build',
    'npm run deployment',
    'git pull',
    'git -C .. push',
    'make web-image $MORE',
    'make "$NAME-image"',
    'odd name',
    '$PROGRAM ps',
    '"$(echo docker)" ps',
    'docker ps "',
    `docker ${'x'.repeat(20_000)}`,
    '',
    '# docker ps',
  ])('not %j: that is another command, or nobody knows which', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(false);
  });
});

describe('a command that does more than its name tells stays in', () => {
  const isExcluded = createExclusion(['git', 'docker', 'npm run deploy', 'tar -I zstd:*'], { home: '/home/me' });

  it.each([
    "git -c alias.z='!touch /outside' z",
    "git -c core.pager='touch /outside' -p log",
    'git --exec-path=. x',
    "git rebase -x 'touch /outside' HEAD~1",
    "git rebase --exec 'touch /outside' HEAD~1",
    "git clone ext::'touch /outside' y",
    'git config --global core.pager evil',
    'git config core.hooksPath evil',
    'git init --template=evil',
    'git -C evil status',
    'git --git-dir=evil status',
    'env -C evil git status',
    'env --chdir=evil git status',
    'git $X',
    'git log "$X"',
    "X='-c alias.z=!touch'; git $X z",
    'git log $(git log)',
    'npm run deploy --script-shell=./x',
    'npm run deploy $X',
    'bash -l -c "docker ps"',
    'bash -lc "docker ps"',
    'bash --login -c "docker ps"',
    'bash -i -c "docker ps"',
    'bash --rcfile evil -i -c "docker ps"',
  ])('%s', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(false);
  });

  it.each([
    'git status',
    'git commit -m "a b"',
    'git push origin main',
    'git -c user.name=me commit',
    'git config --get core.pager',
    'bash -c "git fetch origin && docker ps"',
    'timeout 60 docker run -it x',
    'docker run --privileged x',
    'docker ps $X',
    'tar -I zstd -cf a.tar .',
  ])('others do not: %s', (command) => {
    expect(isExcluded(command, placeIn('project'))).toBe(true);
  });
});

describe('git stays in where commands may have made the repository it works with, or the one it talks to', () => {
  const isExcluded = createExclusion(['git', 'gh', '/usr/bin/git', 'make'], { home: '/home/me' });
  const isOut = (command: string, root: string, cwd = root): boolean => isExcluded(command, placeIn(root, cwd));

  it.each([
    'git push ./e HEAD:x',
    'git push e',
    'git push origin2',
    'git push evil main',
    'git push near',
    'git push inside',
    'git push cache',
    'git push odd',
    'git push --repo=./e',
    'git push --rep ./e',
    'git push -o origin ./e',
    'git push --push-option origin ./e',
    'git push --recurse-submodules=on-demand origin',
    'git push "/srv/$X"',
    'git push /srv/../e',
    'git push',
    'git fetch',
    'git fetch --all',
    'git fetch --multiple origin e',
    'git fetch ../e',
    'git pull . main',
    'git ls-remote e',
    'git clone e f',
    'git clone file://$PWD/e',
    'git clone --recurse-submodules https://example.com/x',
    'git clone --template=evil https://example.com/x',
    'git remote update',
    'git remote add -f x ./e',
    'git submodule update --init',
    'git archive --remote=./e HEAD',
    'git remote-ext origin "touch /outside"',
    'git send-pack ./e main',
    'bash -c "git push ./e"',
    'git status && git push ./e',
    '/usr/bin/git push ./e',
  ])('%s', (command) => {
    expect(isOut(command, 'project')).toBe(false);
  });

  it.each([
    'git push origin main',
    'git push -u --force-with-lease origin HEAD:main',
    'git push --tags web',
    'git push apart main',
    'git push https://example.com/me/it.git main',
    'git fetch --depth 1 --prune origin main',
    'git pull --rebase origin main',
    'git ls-remote --heads origin',
    'git clone --depth=1 git@example.com:me/other.git',
    'git remote -v',
    'git status',
    'gh pr list',
  ])('not: %s', (command) => {
    expect(isOut(command, 'project')).toBe(true);
  });

  it('not in the only repository that a name can mean, nor from a work tree of it', () => {
    expect(['git push', 'git fetch --all', 'git pull', 'git push origin'].map((line) => isOut(line, 'single'))).toEqual(
      [true, true, true, true],
    );
    expect(isOut('git push origin', 'tree')).toBe(true);
    expect(isOut('git push origin', 'two')).toBe(false);
    expect(isOut('git push', 'two')).toBe(false);
  });

  it('in folders further down, and below folders that settings open', () => {
    for (const line of ['git status', 'git push origin', 'gh pr list']) {
      expect(isOut(line, 'project', 'project/sub')).toBe(false);
      expect(isExcluded(line, { cwd: at('project'), roots: [at('project')], allowed: [folder] })).toBe(false);
      expect(isExcluded(line, { cwd: at('cache'), roots: [at('project')], allowed: [at('cache')] })).toBe(false);
    }
    expect(isOut('make x', 'project', 'project/sub')).toBe(true);
  });

  it('when a command has spoilt it, or something poses as an address', () => {
    mkdirSync(at('spoilt', 'https:'), { recursive: true });
    makeRepository(at('spoilt', '.git'), '[remote "origin"]\n\turl = ssh://example.com/it\n');
    expect(isOut('git push origin', 'spoilt')).toBe(true);
    expect(isOut('git clone https://example.com/it', 'spoilt')).toBe(false);
    rmSync(at('spoilt', '.git', 'HEAD'));
    expect(isOut('git push origin', 'spoilt')).toBe(false);
  });
});

describe('an entry that could not do what it says is an error', () => {
  it.each([
    ['', 'names no command'],
    ['*', 'every command'],
    [':*', 'every command'],
    ['* --version', 'every command'],
    ['Bash(docker:*)', 'is a rule'],
    ['docker ps && docker images', 'more than one command'],
    ['docker *; rm *', 'more than one command'],
  ])('%j', (entry, text) => {
    let thrown: unknown;
    try {
      createExclusion(['docker', entry]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: 'invalid_settings',
      message: expect.stringContaining(`sandbox.excludedCommands: \`${entry}\``),
    });
    expect(String(thrown)).toContain(text);
  });
});
