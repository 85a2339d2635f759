import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxSettings } from '../../src/protocol/index.js';
import { type Box, createBox, hasBubblewrap, skipNote } from './box.js';

let box: Box;

const inRoot = (...names: string[]): string => join(box.root, ...names);
const inFolder = (...names: string[]): string => join(box.folder, ...names);

async function put(path: string, text = 'secret\n'): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  return path;
}

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', box.root, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    encoding: 'utf8',
    env: { ...box.env, GIT_CONFIG_NOSYSTEM: '1' },
  });

// Groups that are skipped are not named by every reporter; someone should see why.
if (!hasBubblewrap) console.warn(`Tests of the sandbox${skipNote}`);

describe.skipIf(!hasBubblewrap)(`files in the sandbox${skipNote}`, () => {
  beforeEach(async () => {
    box = await createBox();
  });
  afterEach(() => box.close());

  it('may be written in the working directory and nowhere else', async () => {
    const sandbox = await box.open();
    const { text, code } = await box.run(
      sandbox,
      `echo in > in; echo out > ${inFolder('out')}; echo etc > /etc/heddle-x`,
    );
    expect(code).not.toBe(0);
    expect(text.match(/Read-only file system/g)).toHaveLength(2);
    expect(await readFile(inRoot('in'), 'utf8')).toBe('in\n');
    expect(existsSync(inFolder('out'))).toBe(false);
    expect(sandbox.hintFor({ output: text, exitCode: 1 })).toContain(box.root);
  });

  it('are the same inside and outside: the working directory, output, exit codes', async () => {
    const sandbox = await box.open();
    await mkdir(inRoot('deep', 'er'), { recursive: true });
    const { text, code } = await box.run(sandbox, 'pwd -P; echo error >&2; exit 7', { cwd: inRoot('deep', 'er') });
    expect({ text, code }).toEqual({ text: `${inRoot('deep', 'er')}\nerror\n`, code: 7 });
  });

  it.each<SandboxSettings['filesystem']>([
    {},
    { denyWrite: ['/tmp', '/'] },
    { denyRead: ['/tmp'], denyWrite: ['/tmp/**'] },
    { denyRead: ['/tmp/*', '/tmp/heddle-sandbox-*/tmp'] },
  ])('in TMPDIR can be written and read, with %j too', async (filesystem) => {
    const sandbox = await box.open({ filesystem });
    const line =
      'echo one > "$TMPDIR/a" && mkdir "$TMPDIR/b" && mv "$TMPDIR/a" "$TMPDIR/b" && cat "$TMPDIR/b/a" "$(mktemp)"';
    expect(await box.run(sandbox, line)).toMatchObject({ text: 'one\n', code: 0 });
    expect((await box.run(sandbox, 'cat "$TMPDIR/b/a"')).text).toBe('one\n');
    expect(await readFile(join(sandbox.temporary ?? '', 'b', 'a'), 'utf8')).toBe('one\n');
  });

  it('in /tmp are its own and outlive a command; TMPDIR has one name on both sides', async () => {
    const sandbox = await box.open();
    const other = await createBox('/tmp');
    try {
      const seen = await box.run(sandbox, `ls ${other.root}; echo kept > /tmp/note; echo $TMPDIR; touch $TMPDIR/file`);
      expect(seen.text).toContain('No such file');
      expect(seen.text).toContain(sandbox.temporary);
      expect(existsSync('/tmp/note')).toBe(false);
      expect(existsSync(join(sandbox.temporary ?? '', 'file'))).toBe(true);
      expect((await box.run(sandbox, 'cat /tmp/note')).text).toBe('kept\n');
      await sandbox.close();
      expect(existsSync(sandbox.temporary ?? '')).toBe(false);
    } finally {
      await other.close();
    }
  });

  it('of a project in /tmp are there', async () => {
    const other = await createBox('/tmp');
    try {
      const sandbox = await other.open();
      const { text } = await other.run(sandbox, 'echo x > made; pwd -P');
      expect(text).toBe(`${other.root}\n`);
      expect(existsSync(join(other.root, 'made'))).toBe(true);
    } finally {
      await other.close();
    }
  });

  it('that settings hide cannot be read: a file, a folder, by pattern, through a link', async () => {
    await put(inFolder('key'));
    await put(inFolder('vault', 'a'));
    await put(inRoot('sub', '.env'));
    await symlink(inFolder('key'), inRoot('link'));
    const sandbox = await box.open({ filesystem: { denyRead: [inFolder('key'), inFolder('vault'), '**/.env'] } });
    const { text } = await box.run(
      sandbox,
      `cat ${inFolder('key')} link ${inFolder('vault', 'a')} sub/.env; ls ../vault`,
    );
    expect(text).not.toContain('secret');
    expect(text.match(/Permission denied/g)).toHaveLength(3);
    expect(text).toContain('No such file');
    expect(sandbox.hintFor({ output: text, exitCode: 1 })).toContain('**/.env');
  });

  it('stay hidden when a command moves the folder they are in', async () => {
    await put(inRoot('a', 'b', 'key'));
    const sandbox = await box.open({ filesystem: { denyRead: ['a/b/key'] } });
    const { text } = await box.run(sandbox, 'mv a/b c; mv a c; rm -rf a');
    expect(text).toContain('Device or resource busy');
    expect((await box.run(sandbox, 'cat a/b/key c/key c/b/key')).text).not.toContain('secret');
    expect(await readFile(inRoot('a', 'b', 'key'), 'utf8')).toBe('secret\n');
  });

  it('in a hidden folder are seen where a working directory or allowRead says so', async () => {
    await put(inFolder('notes'), 'notes\n');
    await put(inFolder('shown', 'a'), 'shown\n');
    const sandbox = await box.open({ filesystem: { denyRead: [box.folder], allowRead: [inFolder('shown')] } });
    const { text } = await box.run(
      sandbox,
      'cat ../notes; cat ../shown/a; ls ..; echo x > ../shown/b; echo x > ../c; echo x > own',
    );
    expect(text).not.toContain('notes\nshown');
    expect(text).toContain('shown\n');
    expect(text.match(/Read-only file system/g)).toHaveLength(2);
    expect(existsSync(inRoot('own'))).toBe(true);
  });

  it('may be written where allowWrite says so, and not where denyWrite does, also when nothing is there yet', async () => {
    await mkdir(inFolder('cache', 'never'), { recursive: true });
    const sandbox = await box.open({
      filesystem: { allowWrite: [inFolder('cache')], denyWrite: [inFolder('cache', 'never'), 'new/deep', 'plain.txt'] },
    });
    const { text } = await box.run(
      sandbox,
      'touch ../cache/a; touch ../cache/never/b; mkdir -p new/deep; touch new/deep/c; touch new/d; echo x > plain.txt; mv new old; true',
    );
    expect(await readdir(inFolder('cache'))).toEqual(['a', 'never']);
    expect(await readdir(inFolder('cache', 'never'))).toEqual([]);
    expect(text).toContain('new');
    expect(await readdir(box.root)).toEqual(['new']);
    expect(await readdir(inRoot('new'))).toEqual(['d']);
  });

  it('that decide what runs cannot be made, and nothing is left in their place (E3)', async () => {
    const sandbox = await box.open();
    const attempts = [
      'mkdir -p .claude && echo "{}" > .claude/settings.json',
      'echo "{}" > .claude/settings.local.json',
      'echo "{}" > .mcp.json',
      'rm -rf .claude .mcp.json .git',
      'mv .claude x',
      'git init -q .',
      'mkdir -p .git/hooks && echo x > .git/hooks/pre-commit',
      'ln -s /nowhere .claude/settings.json',
      'touch done',
    ];
    await box.run(sandbox, attempts.join('; '));
    expect(await readdir(box.root)).toEqual(['done']);
  });

  it('of a repository can be committed, but its hooks and its configuration stay as they are (E3)', async () => {
    git('init', '-q');
    git('config', 'extensions.worktreeConfig', 'true');
    const config = await readFile(inRoot('.git', 'config'), 'utf8');
    const hooks = await readdir(inRoot('.git', 'hooks'));
    await mkdir(inRoot('evil'));
    await put(inRoot('evil', 'config'), '[core]\n\tfsmonitor = "touch pwned; false"\n');
    const sandbox = await box.open();
    const attempts = [
      'git config core.fsmonitor x',
      'echo x > .git/hooks/pre-commit',
      'echo x >> .git/config',
      'rm -f .git/config; mv .git old; mv .git/hooks .git/h2',
      'echo ../evil > .git/commondir',
      'cp evil/config .git/config.worktree',
    ];
    await box.run(sandbox, attempts.join('; '));
    expect(await readFile(inRoot('.git', 'config'), 'utf8')).toBe(config);
    expect(await readdir(inRoot('.git', 'hooks'))).toEqual(hooks);
    expect(await readdir(inRoot('.git'))).not.toEqual(expect.arrayContaining(['commondir']));
    expect(await readdir(inRoot('.git'))).not.toEqual(expect.arrayContaining(['config.worktree']));
    const commit = await box.run(
      sandbox,
      'git add -A && git -c user.name=a -c user.email=a@example.com commit -qm first && git status --short && git log --format=%s',
    );
    expect(commit).toMatchObject({ text: 'first\n', code: 0 });
    expect(git('ls-files')).toBe('evil/config\n');
  });

  describe('never make a folder itself the repository that git works with (E3)', () => {
    const evil =
      '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch pwned; false"\n';
    const plant = [
      'mkdir -p objects refs',
      'echo "ref: refs/heads/main" > HEAD',
      'cp evil.txt config',
      'echo sub > commondir; rm -rf commondir; mv commondir other',
    ].join('; ');
    const gitStatus = () => spawnSync('git', ['status', '--short'], { cwd: box.root, encoding: 'utf8', env: box.env });

    it.each([
      ['when there is none', 'true'],
      ['when a command spoils the one that is there', 'mv .git/HEAD .git/old; echo x > .git/HEAD'],
      ['when it takes another part of it away', 'mv .git/objects .git/old'],
      ['when the next command does the rest', 'rm .git/HEAD', true],
    ])('%s', async (_, spoil, apart = false) => {
      if (spoil !== 'true') git('init', '-q');
      await put(inRoot('evil.txt'), evil);
      const sandbox = await box.open();
      for (const line of apart ? [spoil, plant] : [`${spoil}; ${plant}`]) await box.run(sandbox, line);
      expect(existsSync(inRoot('config'))).toBe(true);
      expect(gitStatus()).toMatchObject({ stdout: '', stderr: expect.stringContaining('commondir') });
      // Nor while another command runs, or after it.
      const { release } = await sandbox.wrap({ argv: ['true'], cwd: box.root, env: box.env });
      gitStatus();
      await release();
      gitStatus();
      expect(existsSync(inRoot('pwned'))).toBe(false);
    });

    it('and leave nothing where the parts are gone again', async () => {
      const sandbox = await box.open();
      await box.run(sandbox, 'echo x > HEAD');
      expect(await readdir(box.root)).toEqual(['HEAD', 'commondir']);
      await box.run(sandbox, 'rm HEAD; echo x > made');
      expect(await readdir(box.root)).toEqual(['made']);
    });

    it('while commands work with the real one: branches, and what HEAD names', async () => {
      git('init', '-q', '-b', 'main');
      git('commit', '-q', '--allow-empty', '-m', 'first');
      const sandbox = await box.open();
      const line =
        'git switch -q -c other && git log --format=%s HEAD && git status --short && git branch --show-current';
      expect(await box.run(sandbox, line)).toMatchObject({ text: 'first\nother\n', code: 0 });
      expect((await readdir(inRoot('.git'))).filter((name) => /remotes|commondir/.test(name))).toEqual([]);
    });
  });

  it('that must not come to be are no hindrance to git stash -u and git clean', async () => {
    git('init', '-q');
    await put(inRoot('a'), 'a');
    git('add', 'a');
    git('commit', '-q', '-m', 'first');
    const sandbox = await box.open();
    const user = 'git -c user.name=a -c user.email=a@example.com';
    const line = `echo b > a; echo u > u; ${user} stash -u -q && cat a && git stash pop -q && git clean -fdq && cat a`;
    expect(await box.run(sandbox, line)).toMatchObject({ text: 'ab\n', code: 0 });
    expect(await readdir(box.root)).toEqual(['.git', 'a']);
  });

  it('that name other repositories, or lead a work tree to one, cannot be made', async () => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    git('worktree', 'add', '-q', inFolder('tree'));
    git('config', 'extensions.worktreeConfig', 'true');
    const sandbox = await box.open();
    const attempts = [
      'mkdir .git/remotes; echo "URL: ./e" > .git/remotes/e',
      'mkdir .git/branches; echo ./e > .git/branches/e',
      'echo ../../../e > .git/worktrees/tree/commondir',
      'rm .git/worktrees/tree/commondir; mv .git/worktrees/tree .git/worktrees/t',
      'echo x > .git/worktrees/tree/config.worktree',
    ];
    await box.run(sandbox, attempts.join('; '));
    expect(existsSync(inRoot('.git', 'remotes'))).toBe(false);
    expect(existsSync(inRoot('.git', 'branches', 'e'))).toBe(false);
    expect(await readFile(inRoot('.git', 'worktrees', 'tree', 'commondir'), 'utf8')).toBe('../..\n');
    expect(existsSync(inRoot('.git', 'worktrees', 'tree', 'config.worktree'))).toBe(false);
  });

  it('of another repository that may be written stay protected when a command takes parts of it away', async () => {
    execFileSync('git', ['init', '-q', '--bare', inFolder('main')]);
    const config = await readFile(inFolder('main', 'config'), 'utf8');
    const sandbox = await box.open({ filesystem: { allowWrite: [inFolder('main')] } });
    await box.run(sandbox, 'cd ../main; mv HEAD H; mv objects o; mv refs r');
    await box.run(sandbox, 'cd ../main; echo x >> config; mv H HEAD; mv o objects; mv r refs');
    expect(await readFile(inFolder('main', 'config'), 'utf8')).toBe(config);
  });

  it('of another repository that may be written are protected the same way', async () => {
    execFileSync('git', ['init', '-q', inFolder('main')]);
    const sandbox = await box.open({ filesystem: { allowWrite: [inFolder('main', '.git')] } });
    await box.run(
      sandbox,
      'cd ../main/.git; touch here; touch hooks/pre-commit; echo x >> config; echo ../x > commondir',
    );
    const names = await readdir(inFolder('main', '.git'));
    expect(names).toContain('here');
    expect(names).not.toContain('commondir');
    expect(await readdir(inFolder('main', '.git', 'hooks'))).not.toContain('pre-commit');
    expect(await readFile(inFolder('main', '.git', 'config'), 'utf8')).not.toContain('x\n');
  });

  it('that are protected stay so while any command needs it, whoever ends first', async () => {
    const [first, second] = [await box.open(), await box.open()];
    const spec = { argv: ['true'] as const, cwd: box.root, env: box.env };
    const one = await first.wrap(spec);
    const two = await second.wrap(spec);
    await one.release();
    expect((await readdir(box.root)).toSorted()).toEqual(['.claude', '.git', '.mcp.json', 'commondir']);
    await two.release();
    expect(await readdir(box.root)).toEqual([]);
  });

  it('left by a killed process are taken away with the next command', async () => {
    const sandbox = await box.open();
    const { argv } = await sandbox.wrap({ argv: ['true'], cwd: box.root, env: box.env });
    expect(argv).toContain(inRoot('.mcp.json'));
    const [sign = ''] = await readdir(inRoot('.mcp.json'));
    // As if it had been made by a process that is gone: no process has this number.
    const left = sign.replace(`-${process.pid}-`, '-4194305-');
    await sandbox.close();
    await mkdir(inRoot('.mcp.json', left), { recursive: true });
    const next = await box.open();
    await box.run(next, 'true');
    expect(await readdir(box.root)).toEqual([]);
  });

  it('that are links a command could replace are no reason to run with less (E8)', async () => {
    await mkdir(inFolder('shared'));
    await symlink(inFolder('shared'), inRoot('.claude'));
    await expect(box.open()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining(inRoot('.claude')),
    });
  });

  it('are not opened by a link that a command puts where an allowed path was', async () => {
    await mkdir(inFolder('treasure', 'deep'), { recursive: true });
    const settings = { filesystem: { allowWrite: ['out', inFolder('later', 'deep')] } };
    const sandbox = await box.open(settings);
    await box.run(sandbox, 'ln -s ../treasure out');
    for (const each of [sandbox, await box.open(settings)]) await box.run(each, 'touch out/x');
    await symlink(inFolder('treasure'), inFolder('later'));
    const last = await box.run(sandbox, 'touch ../later/deep/x ../treasure/deep/x; echo ran');
    expect(last.text).toContain('ran');
    expect(await readdir(inFolder('treasure'))).toEqual(['deep']);
    expect(await readdir(inFolder('treasure', 'deep'))).toEqual([]);
  });

  it('in the home folder, where it is the working directory, cannot be start-up files', async () => {
    await put(join(box.home, '.bashrc'), 'old\n');
    await put(join(box.home, 'dotfiles', 'zshrc'), 'old\n');
    await symlink('dotfiles/zshrc', join(box.home, '.zshrc'));
    await put(join(box.home, '.config', 'tool', 'a'), 'old\n');
    await put(join(box.home, '.ssh', 'config'), 'old\n');
    const sandbox = await box.open({}, { roots: [box.home] });
    const attempts = [
      'echo new > .bashrc; echo new > .profile; echo new > .zshrc; mv .bashrc b; echo new > .ssh/config',
      'mkdir -p .config/fish .config/git; echo new > .claude/settings.json; rm .zshrc; echo new > dotfiles/zshrc',
      'echo new > .config/tool/a; echo new > dotfiles/other',
    ];
    await box.run(sandbox, attempts.join('; '), { cwd: box.home });
    expect((await readdir(box.home)).toSorted()).toEqual([
      '.bashrc',
      '.claude',
      '.config',
      '.ssh',
      '.zshrc',
      'dotfiles',
    ]);
    for (const name of ['.bashrc', '.zshrc', '.ssh/config']) {
      expect(await readFile(join(box.home, name), 'utf8')).toBe('old\n');
    }
    expect(await readdir(join(box.home, '.claude'))).toEqual([]);
    expect(await readdir(join(box.home, '.config'))).toEqual(['tool']);
    expect(await readFile(join(box.home, '.config', 'tool', 'a'), 'utf8')).toBe('new\n');
    expect(await readdir(join(box.home, 'dotfiles'))).toEqual(['other', 'zshrc']);
  });

  it('of a folder added later are writable from then on', async () => {
    const sandbox = await box.open();
    await mkdir(inFolder('added'));
    await box.run(sandbox, 'touch ../added/a');
    await box.run(sandbox, 'touch ../added/b', { roots: [box.root, inFolder('added')] });
    expect(await readdir(inFolder('added'))).toEqual(['b']);
  });

  it('give no credentials of other programs away', async () => {
    await put(join(box.configDir, '.credentials.json'), 'token\n');
    const sandbox = await box.open({ filesystem: { allowRead: [box.configDir] } });
    const { text } = await box.run(sandbox, `cat ${join(box.configDir, '.credentials.json')}`);
    expect(text).not.toContain('token');
  });

  it('include no sockets of services, unless they are named', async () => {
    const path = inFolder('agent.sock');
    const server = createServer((socket) => socket.end('answered\n')).listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    await chmod(path, 0o777);
    try {
      const env = { ...box.env, SSH_AUTH_SOCK: path };
      const line = `echo "agent $SSH_AUTH_SOCK"; socat -u UNIX-CONNECT:${path} -; ls -A /run`;
      const closed = await box.run(await box.open(), line, { env });
      expect(closed.text).toMatch(/^agent \n/);
      expect(closed.text).not.toContain('answered');
      const open = await box.run(await box.open({ network: { allowUnixSockets: [path] } }), line, { env });
      expect(open.text).toBe(`agent ${path}\nanswered\n`);
      const all = await box.run(await box.open({ network: { allowAllUnixSockets: true } }), line, { env });
      expect(all.text).toContain(`agent ${path}\nanswered\n`);
    } finally {
      server.close();
    }
  });
});
