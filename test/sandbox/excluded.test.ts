import { describe, expect, it } from 'vitest';
import { createExclusion } from '../../src/engine/sandbox/excluded.js';

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
    'docker ps || git push',
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
    expect(isExcluded(command)).toBe(true);
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
    expect(isExcluded(command)).toBe(false);
  });

  it.each(['docker ps > out', 'docker load < image', 'docker ps 2> ~/.bashrc', '> out', 'docker ps > /dev/tcp/a/1'])(
    'not %j: the shell would open a file or a connection outside',
    (command) => {
      expect(isExcluded(command)).toBe(false);
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
    expect(isExcluded(command)).toBe(false);
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
    expect(isExcluded(command)).toBe(false);
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
    expect(isExcluded(command)).toBe(false);
  });

  it.each([
    'git status',
    'git commit -m "a b"',
    'git push origin main',
    'git -c user.name=me commit',
    'git config --get core.pager',
    'bash -c "git fetch && docker ps"',
    'timeout 60 docker run -it x',
    'docker run --privileged x',
    'docker ps $X',
    'tar -I zstd -cf a.tar .',
  ])('others do not: %s', (command) => {
    expect(isExcluded(command)).toBe(true);
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
