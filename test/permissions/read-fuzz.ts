/** Random lines that read, under real programs: what runs unasked prints nothing from outside, and nothing denied. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom, type Random } from '../soak/random.js';
import { removeFolder } from '../remove-folder.js';
import { judgeOnDisk } from './judge-disk.js';

const PROGRAMS =
  'cat|head -n 9|tail -n 9|sort|uniq|nl|tac|strings|sed -n p|sed p|awk 1|cut -c1-99|grep -h SECRET|grep -rh SECRET|grep -rhs SECRET --include=*.txt|grep -rhs --exclude=q --include=*.txt SECRET|grep -Rh SECRET|xxd|diff -r sub|diff a.txt|diff twin|diff -N twin|diff -y|sdiff -l twin|fold|paste'.split(
    '|',
  );
const PATHS =
  'a.txt|b.ts|.|..|.env|sub|sub/c.txt|ldir|ldir/secret.txt|ld*/secret.txt|*/secret.txt|l*|l*/|*|sub/*|sub/l*|s?b/*.txt|.e*|.en?|[.]env|.*|{.env,a.txt}|/proc/self/cwd/.env|/proc/$$/cwd/.env|/proc/*/cwd/.env|/dev/fd/../../self/cwd/.env|/dev/fd/3/.env 3< .|ldir/../proj/.env|lin/../.env|lin/../../.env|../proj/.env|$PWD/.env|$PWD|$PWD/|../proj|twin|next.js|sub/../.env|lin/*|*/*|~/x'.split(
    '|',
  );
const LATE = '||||||-n|-u|-b|-c|-i|-r|-e p|--|-h'.split('|');
const AWAY = ['rm -rf made', 'rm -r made', 'rm -rf ./made'];
const MARKS = '-I{}|-I A|-i|-L1|-n1|-n9|--replace|'.split('|');

/** One line that reads something, somehow. */
function createLine(random: Random): string {
  const program = random.pick(PROGRAMS);
  const path = (): string => random.pick(PATHS);
  const folder = (): string =>
    random.pick(['.', '..', 'sub', 'ldir', 'lin', '/proc/self/cwd', 'l*', 'sub/..', '$PWD', 'cut']);
  const marks = (): string => `${random.pick(MARKS)} ${random.pick(MARKS)}`;
  const inside = (): string =>
    random.pick(['*', 'lfile.txt', 'sub/lfile.txt', 'secret.txt', 'c.txt', '../.env', '.env']);
  const bring = (): string =>
    `${random.pick(['cp -r', 'cp -a', 'cp -P', 'cp', 'ln -s', 'ln', 'rsync -a', 'cp -rT'])} ${path()} made`;
  const forms: readonly (() => string)[] = [
    () => `${program} ${path()} ${random.pick(LATE)}`,
    () => `${program} ${path()} ${path()} ${random.pick(LATE)}`,
    () => `${program} ${path()} ${path()}`,
    () => `${program} < ${path()}`,
    () => `cd ${folder()} && ${program} ${path()}`,
    () => `env -C ${folder()} -C ${folder()} ${program} ${path()}`,
    () => `env -C ${folder()} --chdir=${folder()} ${program} ${path()}`,
    () => `echo ${path()} | xargs ${marks()} ${program} {}`,
    () => `echo ${path()} | xargs ${marks()} ${program}`,
    () => `for f in ${path()} ${path()}; do ${program} "$f"; done`,
    () => `find ${folder()} -exec ${program} {} +`,
    () => `find ${folder()} -type f -exec ${program} {} +`,
    () => `find ${folder()} -name '*.txt' -exec ${program} {} \\;`,
    () => `find ${folder()} -type f -exec ${program} {} + -name '*.ts'`,
    () => `find ${folder()} -print -name '*.ts' | xargs ${program}`,
    () => `find ${folder()} -name '*.txt' | xargs ${program}`,
    () => `tar -C ${folder()} -cf - ${path()}`,
    () => `tar -C ${folder()} -C ${folder()} -cf - ${path()}`,
    () => `tar cC ${folder()} ${path()}`,
    () => `git show HEAD ${path()} ${path()}`,
    () => `git log ${random.pick(['-p', '-u', '--stat', '--cc', ''])} ${path()} ${path()}`,
    () => `git -C ${folder()} show HEAD -- ${path()}`,
    () => `cd ${folder()} && git -C ${folder()} diff HEAD~1 -- ${path()}`,
    () => `git diff --no-index /dev/null ${path()}`,
    () => `git stash ${random.pick(['list', 'show'])} ${random.pick(['', '-p', '--color', '--stat', '--raw', '-w'])}`,
    () => `git show ${random.pick(['--stat', '-s', '--quiet'])} ${random.pick(['', '--no-quiet', '-p', '--color'])}`,
    () => `git ls-files | xargs ${program}`,
    () => `git ${random.pick(['grep -h SECRET', 'diff HEAD~1', 'log -p', 'show'])} -- ${path()} ${path()}`,
    () => `git ${random.pick(['diff', 'log -p', 'show', 'show HEAD'])} ${path()}`,
    () => `git range-diff HEAD~1...${random.pick(['next.js', 'HEAD'])}`,
    () => `diff ${random.pick(['', '-r', '-rN', '-N', '-y', '--from-file=a.txt'])} ${path()} ${folder()}`,
    () => `find ${random.pick(['-L', '-H', '-P'])} ${folder()} -name '*.txt' -exec ${program} {} +`,
    () => `find ${folder()} -follow -name '*.txt' | xargs ${program}`,
    () => `grep ${random.pick(['-R', '-hR', '--dereference-recursive', '-r'])} SECRET ${path()}`,
    () => `tar ${random.pick(['ch', '-ch', '-c --dereference', 'c'])} ${path()}`,
    () =>
      `cp -r${random.pick(['L', 'H', 'P', ' --dereference', ''])} ${folder()} ../copy && cat ../copy/*; rm -rf ../copy`,
    () => `${bring()}; ${program} made/${inside()}; ${random.pick(AWAY)}`,
    () => `${bring()}; cd made && ${program} ${inside()}; cd ..; ${random.pick(AWAY)}`,
    () => `${bring()}; find ${random.pick(['made', '.', '-L made'])} -exec ${program} {} +; ${random.pick(AWAY)}`,
    () => `for i in 1 2; do ${program} made/${inside()}; ${bring()}; done; rm -rf made`,
    () => `cp -r ${folder()} mid; mv mid made; ${program} made/${inside()}; rm -rf made mid`,
    () => `gzip -${random.pick(['rc', 'cfr', 'c'])} ${path()} | zcat`,
    () => `${program} $(find ${folder()} -name '*.t*')`,
    () =>
      `find ${folder()} -name ${random.pick(['.env', 'c.txt', "'*env'", "'.e*'", "'?.txt'"])} -exec ${program} {} +`,
    () => `git ${random.pick(['diff', 'diff -R', 'diff --cached', 'diff HEAD', 'grep -h SECRET', 'grep -n S'])}`,
    () => `cd ${folder()} && git ${random.pick(['diff', 'grep -h SECRET', 'diff HEAD', 'show'])}`,
    () => `${bring()}; ${random.pick(['grep -rh SECRET .', 'git diff', 'git grep SECRET', 'cat *'])}; rm -rf made`,
    () => {
      const from = random.pick(['a.txt', 'sub', 'twin', '.env', 'lin', 'ldir', 'sub/*']);
      return `mv ${from} made; ${program} made; grep -rh SECRET ${folder()}; mv made ${from}`;
    },
    () => `${program} "$(git ls-files ${random.pick(['', 'sub', "'*.txt'"])})"`,
    () => `for f in $(find ${folder()}${random.pick(['', ' -type f'])}); do ${program} "$f"; done`,
    () => `git diff --name-only ${random.pick(['', 'HEAD', '--cached'])} | xargs -r ${program}`,
    () => `printf '%s' ${path()} | tar ${random.pick(['ch', 'c'])} -T -`,
    () => `ln -s ../../outside sub/made; cat sub/made/*; rm -f sub/made`,
  ];
  return random.pick(forms)();
}

interface Scene {
  root: string;
  project: string;
}

/** `past`: what is denied is in commits, and neither on the disk nor in the index. */
export type Where = 'here' | 'past';

function createScene(where: Where): Scene {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-reads-')));
  const project = join(root, 'proj');
  mkdirSync(join(project, 'sub'), { recursive: true });
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside/secret.txt'), 'SECRET-outside\n');
  writeFileSync(join(project, 'a.txt'), 'a\n');
  writeFileSync(join(project, 'b.ts'), 'b\n');
  writeFileSync(join(project, 'sub/c.txt'), 'c\n');
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: project, stdio: 'ignore', env: ENV });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'one');
  writeFileSync(join(project, '.env'), 'SECRET-denied\n');
  // A folder with files of the same names, so that there is something to compare.
  mkdirSync(join(project, 'twin'));
  for (const name of ['.env', 'a.txt', 'lfile.txt']) writeFileSync(join(project, 'twin', name), 'x\n');
  symlinkSync('../outside', join(project, 'ldir'));
  symlinkSync('../../outside/secret.txt', join(project, 'sub/lfile.txt'));
  symlinkSync('sub', join(project, 'lin'));
  // Cut at its spaces, this path names another file.
  mkdirSync(join(project, 'cut/a ldir'), { recursive: true });
  writeFileSync(join(project, 'cut/a ldir/secret.txt b.ts'), 'x\n');
  git('add', '-A');
  git('commit', '-qm', 'two');
  git('branch', '-f', 'next.js');
  writeFileSync(join(project, '.env'), 'SECRET-denied again\n');
  git('stash');
  if (where === 'past') git('rm', '-q', '.env');
  return { root, project };
}

const ENV = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C.UTF-8',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
};

/** What they make, the line takes away. */
const MAKERS = ['Bash(cp:*)', 'Bash(mv:*)', 'Bash(ln:*)', 'Bash(rm:*)', 'Bash(rsync:*)'];

async function judge(command: string, { project, root }: Scene, isRuled: boolean): Promise<string> {
  const deny = ['Read(./.env)', `Read(/${root}/outside/**)`];
  return (await judgeOnDisk(command, project, isRuled ? { allow: ['Bash'], deny } : { allow: MAKERS })).verdict;
}

const RUNNER = `
while IFS= read -r -d '' OUT && IFS= read -r -d '' LINE; do
  timeout -k 1 5 bash --norc --noprofile -c "$LINE" < /dev/null > "$OUT" 2> /dev/null
done
true`;

/** Lines that ran unasked and printed what they must not, or made a file. */
export async function fuzzReads({
  count,
  seed,
  where = 'here',
}: {
  count: number;
  seed: number;
  where?: Where;
}): Promise<{ ran: number; bad: string[] }> {
  const random = createRandom(seed);
  const scene = createScene(where);
  const { root, project } = scene;
  const names = (): string =>
    readdirSync(project, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('.git'))
      .toSorted((one, other) => (one < other ? -1 : 1))
      .join();
  try {
    const jobs: { line: string; out: string; isRuled: boolean }[] = [];
    const before = names();
    for (let made = 0; made < count; made += 1) {
      const line = createLine(random);
      for (const isRuled of [false, true]) {
        if ((await judge(line, scene, isRuled)) === 'allow')
          jobs.push({ line, isRuled, out: join(root, `${jobs.length}.out`) });
      }
    }
    const bad: string[] = [];
    const run = (wanted: typeof jobs): void =>
      void execFileSync('bash', ['--norc', '-c', RUNNER], {
        cwd: project,
        env: ENV,
        input: wanted.map(({ out, line }) => `${out}\0${line}\0`).join(''),
        stdio: ['pipe', 'ignore', 'ignore'],
      });
    run(jobs.filter(({ isRuled }) => !isRuled));
    if (names() !== before) bad.push(`files are there that were not: ${names()}`);
    run(jobs.filter(({ isRuled }) => isRuled));
    for (const { line, out, isRuled } of jobs) {
      const text = readFileSync(out, 'latin1');
      if (text.includes('SECRET-outside') || (isRuled && text.includes('SECRET-denied'))) {
        bad.push(`${isRuled ? 'though denied' : 'unasked'}: ${line}`);
      }
    }
    return { ran: jobs.length, bad };
  } finally {
    removeFolder(root);
  }
}
