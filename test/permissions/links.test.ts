/** E2 patterns and odd paths lead where links lead, and rules hold there. */
import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';
import { findLinked } from '../../src/engine/permissions/links.js';

const FS = ['/repo/ldir -> ../outside', '/repo/sub/lfile.txt -> /outside/secret.txt', '/repo/in -> /repo/src'];

function judge(command: string, rules: { allow?: string[]; deny?: string[] } = {}): string {
  const setup = { mode: 'default', cwd: '/repo', trusted: true, fs: FS, ...rules };
  return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict;
}

const DENY = { allow: ['Bash'], deny: ['Read(//outside/**)'] };

describe('E2 links behind a pattern', () => {
  it.each([
    'cat ldir/secret.txt',
    'cat ld*/secret.txt',
    'cat */secret.txt',
    'cat ?dir/secret.txt',
    'cat [k-m]dir/secret.txt',
    'cat *d*/*.txt ldir/secret.txt',
    'cat sub/*',
    'cat sub/*.txt',
    'cat s?b/l*',
    'cat < sub/lf*',
    'head -n1 sub/*',
    'grep -r SECRET l*',
    'grep x */*',
    'for f in sub/*; do cat "$f"; done',
    'find l*/ -exec cat {} +',
    'find . -exec cat {} +',
    "find . -regex '.*' -exec cat {} +",
    "find . -name '*.txt' -exec cat {} +",
    'find . | xargs cat',
    'find sub -type l -exec cat {} +',
    "find . -type f -o -name '*.txt' -exec cat {} +",
    'git ls-files | xargs cat',
    'cat ld*/../outside/secret.txt',
  ])('%s is asked about, and denied where a rule says so', (command) => {
    expect(judge(command)).toBe('ask');
    expect(judge(command, DENY)).not.toBe('allow');
  });

  it.each(['cat ld*/secret.txt', 'cat */secret.txt', 'cat sub/*.txt', 'grep -r SECRET l* ldir/x'])(
    '%s is certainly denied',
    (command) => {
      expect(judge(command, DENY)).toBe('deny');
    },
  );

  it.each([
    'cat *.ts',
    'cat in/*',
    'cat i*/a.ts',
    'cat src/*',
    'ls',
    'ls src/*',
    'find . -type f -exec cat {} +',
    "find . -name '*.ts' -exec cat {} +",
    'find src -exec cat {} +',
    'find . -type f | xargs cat',
  ])('%s leads nowhere else', (command) => {
    expect(judge(command)).toBe('allow');
    expect(judge(command, DENY)).toBe('allow');
  });
});

describe('E2 links below a folder that a command goes through', () => {
  it.each([
    'grep -R SECRET .',
    'grep -nR SECRET',
    'grep --dereference-recursive SECRET .',
    'grep --deref SECRET sub',
    'rgrep -R SECRET .',
    'rg -L SECRET',
    'rg --follow SECRET sub',
    "find -L . -name '*.txt' -exec cat {} +",
    "find . -follow -name '*.md' -exec cat {} +",
    "find -L sub -name '*.md' | xargs cat",
    'fd -L md -x cat',
    'cp -rL . ../c',
    'cp -R --dereference sub ../c',
    'cp -aL sub ../c',
    'tar chf - . | grep -a X',
    'tar -chf x.tar sub',
    'tar cf - --dereference sub',
    'rsync -aL . ../c',
    'rsync -a --copy-unsafe-links sub ../c',
    'zip -r - .',
    'zip -qr x.zip sub',
    'scp -r sub host:x',
    'diff -rN . dir',
    'diff sub dir',
    'diff sub a.txt',
    'sdiff sub dir',
    'diff --from-file=a.txt sub',
    'colordiff -r sub dir',
  ])('%s is not allowed', (command) => {
    expect(judge(command, DENY)).not.toBe('allow');
    expect(judge(command)).toBe('ask');
  });

  it.each([
    'grep -R SECRET src',
    'grep -r SECRET .',
    'cp -r sub ../c',
    'cp -rL src ../c',
    'tar cf - .',
    'zip -ry - .',
    'diff a.txt b.txt',
    'diff src lib',
    'diff -r src in',
    'find -L src -exec cat {} +',
  ])('%s leads nowhere else', (command) => {
    expect(judge(command, DENY)).toBe('allow');
  });

  it('goes on behind a link, and not in circles', () => {
    const fs = ['/repo/a -> /other', '/other/b -> /outside/deep', '/other/c -> /repo', '/repo/self -> .'];
    const verdict = (command: string, deny: string): string =>
      judgeCase({ setup: { cwd: '/repo', fs, allow: ['Bash'], deny: [deny] }, input: { tool: 'Bash', command } })
        .verdict;
    expect(verdict('grep -R x .', 'Read(//outside/deep/k)')).toBe('ask');
    expect(verdict("find -L . -name '*.k' -exec cat {} +", 'Read(//outside/deep/a.k)')).toBe('ask');
    expect(verdict('grep -R x .', 'Read(//other/k)')).toBe('ask');
    expect(verdict('grep -R x .', 'Read(//elsewhere/k)')).toBe('allow');
  });

  it('a link to all of the disk leads anywhere', () => {
    const setup = { cwd: '/repo', fs: ['/repo/all -> /'], allow: ['Bash'], deny: ['Read(//outside/k)'] };
    expect(judgeCase({ setup, input: { tool: 'Bash', command: 'grep -R x .' } }).verdict).toBe('ask');
  });

  it.each([
    'diff dir .',
    'diff dir/.env .',
    'diff -y dir .',
    'sdiff dir .',
    'diff --from-file=dir/.env .',
    'diff . a.ts',
  ])('%s reads a denied file that it does not name', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Read(./.env)'] })).not.toBe('allow');
    expect(judge(command, { deny: ['Read(./.env)'] })).not.toBe('allow');
  });

  it.each(['ls -L', 'ls -RL .', 'du -L .', 'tree -l'])('%s is asked about', (command) => {
    expect(judge(command)).toBe('ask');
  });
});

describe('E2 a link that a line makes', () => {
  it.each([
    'ln -s ../../outside sub/k',
    'mkdir d2; ln -s ../../outside d2/k; cat d2/k/secret.txt',
    'ln -s ../../outside/secret.txt sub/',
    'ln -st sub ../../outside',
    'ln --symbolic ../../outside sub/deep',
  ])('%s leads on from where it is put', (command) => {
    const setup = { cwd: '/a/repo', fs: [], allow: ['Bash'], deny: ['Read(//a/outside/**)'] };
    expect(judgeCase({ setup, input: { tool: 'Bash', command } }).verdict).not.toBe('allow');
  });
});

describe('E2 names that come from a list', () => {
  it.each([
    'zip -q - -@ <<< .env',
    'echo .env | zip - -@',
    'echo ../outside/secret.txt | tar cf - -T -',
    'tar cf - --files-from=list',
    'find . | cpio -o',
    'sort --files0-from=list',
    'rsync --files-from=list . ../c',
  ])('%s', (command) => {
    expect(judge(command, { allow: ['Bash'], deny: ['Read(./.env)', 'Read(//outside/**)'] })).not.toBe('allow');
  });
});

describe('E2 where it could not be looked at everywhere', () => {
  it('says so', () => {
    const fs = Array.from({ length: 5_001 }, (_, at) => `/repo/many/l${at} -> /repo/src/${at}`);
    const setup = { cwd: '/repo', fs, trusted: true };
    const { verdict, reason } = judgeCase({ setup, input: { tool: 'Bash', command: 'cat many/*' } });
    expect(verdict).toBe('ask');
    expect(reason).toContain('could not be looked at everywhere');
  });

  it('a project with many names is looked at', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `n${at}`);
    const list = async (folder: string) =>
      folder === '/repo'
        ? names.map((name) => ({ name, kind: 'directory' as const }))
        : names.map((name) => ({ name, kind: name === 'n7' ? ('link' as const) : ('file' as const) }));
    const disk = { list, realPath: async () => '/repo/n1', readFile: async () => new Uint8Array() };
    for (const command of ['find . -exec cat {} +', 'cat */*', 'git ls-files | xargs wc -l', 'grep -R x .']) {
      const found = await findLinked(command, { cwd: '/repo' }, disk);
      expect(new Set(found.map(({ real }) => real.slice(0, 8)))).toEqual(new Set(['/repo/n1']));
    }
  });

  it('six hundred links that stay inside are looked at', () => {
    const fs = Array.from({ length: 600 }, (_, at) => `/repo/node_modules/p${at} -> .pnpm/p${at}`);
    for (const command of ['cat node_modules/p*/package.json', 'git ls-files | xargs wc -l', 'find . -exec wc {} +']) {
      const given = { setup: { cwd: '/repo', fs, trusted: true }, input: { tool: 'Bash', command } };
      expect(judgeCase(given).verdict).toBe('allow');
    }
  });

  it.each(['ls -d .*', 'ls -ld .*', 'ls --directory .* src', "find . -type f -not -path './sub/*' -exec cat {} +"])(
    '%s needs no such look',
    (command) => {
      expect(judge(command)).toBe('allow');
    },
  );

  it.each(['find . ! -type f -exec cat {} +', "find . -not -path './x' -exec cat {} +", 'ls -d ../*', 'cat .*'])(
    '%s does',
    (command) => {
      expect(judge(command)).toBe('ask');
    },
  );
});

describe('E2 `..` behind a link', () => {
  it('is where the system goes, and where the text says', () => {
    const deny = ['Read(//outside/k)'];
    const fs = ['/repo/l -> /outside/deep'];
    const verdict = (command: string): string =>
      judgeCase({ setup: { cwd: '/repo', fs, allow: ['Bash'], deny }, input: { tool: 'Bash', command } }).verdict;
    expect(verdict('cat l/../k')).toBe('deny');
    expect(verdict('cat < l/../k')).toBe('deny');
    expect(verdict('cat l/../j')).toBe('allow');
  });

  it.each(['cat .*/outside/secret.txt', 'cat .?/outside/k', 'cat [.][.]/outside/k', 'cat sub/../.*/outside/k'])(
    '%s may climb in older shells',
    (command) => {
      expect(judge(command)).toBe('ask');
      expect(judge(command, DENY)).toBe('ask');
    },
  );

  it.each(['cat .env*', 'ls *.ts', 'cat *.*'])('%s does not', (command) => {
    expect(judge(command)).toBe('allow');
  });
});

describe('E2 /proc leads wherever a process is', () => {
  const ENV = { allow: ['Bash'], deny: ['Read(./.env)'] };

  it.each([
    'cat /proc/self/cwd/.env',
    'cat /proc/thread-self/cwd/.env',
    'cat /proc/$$/cwd/.env',
    'cat /proc/$PPID/cwd/.env',
    'cat /proc/1/root/repo/.env',
    'cat /proc/*/cwd/.env',
    'cat /pro?/self/cwd/.env',
    'cat /proc/self/c?d/.env',
    'cat /proc/self/task/1/cwd/.env',
    'cat /dev/fd/../../self/cwd/.env',
    'cat /dev/fd/3/.env 3< .',
    'cat /dev/stdin/.env < .',
    'cat /proc/self/fd/3/.env 3< .',
    'cat //proc//self/./cwd/.env',
    'cd /proc/self/cwd && cat .env',
    'cat < /proc/self/cwd/.env',
    'cp /proc/self/cwd/.env x',
  ])('%s', (command) => {
    expect(judge(command, ENV)).not.toBe('allow');
    expect(judge(command)).toBe('ask');
  });

  it.each(['cat /proc/cpuinfo', 'cat /proc/self/status', 'echo /proc/self/cwd'])('%s does not', (command) => {
    expect(judge(command, ENV)).toBe('allow');
  });
});
