// What a decision costs under a thousand rules: of a file tool, and of a shell line of 200 characters. Reading the line
// is part of it, and no line is judged twice.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const RULES = 1_000;
const FILE_US = 50;
const LINE_US = 200;
const HOSTILE_MS = 250;
const ROUNDS = 12;
const CALLS = 2_000;

const LINE =
  'cd /repo && npm test -- --reporter=dot --grep "permission rules" 2>&1 | tail -40 && git status --short && ' +
  'git diff --stat HEAD~1 -- src/engine | head -30 && echo "all checks are done" && ls -la src/engine/tools';

const numbered = (text, count) => Array.from({ length: count }, (_, at) => text + at).join(' ');

/** Lines that are made to keep a reader busy: words that may each begin a command, loops in loops, values that double. */
const HOSTILE = [
  `${'ssh h '.repeat(15)}ls`,
  `${'ssh h '.repeat(1_600)}ls`,
  `${'sudo --zz '.repeat(40)}ls`,
  `${'nice -z '.repeat(1_200)}ls`,
  `${'for i in a b; do '.repeat(40)}v=$w; w=$v; break${'; done'.repeat(40)}`,
  `a=x; ${'a=$a$a; '.repeat(400)}echo $a`,
  `a='${'x '.repeat(2_000)}'; echo ${'$a '.repeat(1_500)}`,
  `sudo --zz ${`${'{a,b}'.repeat(8)} `.repeat(230)}`,
  '"$(time '.repeat(1_200),
  `cp ${numbered('-t d', 700)} ${numbered('a', 700)}`,
  `tar xf a ${numbered('-C d', 700)} ${numbered('m', 700)}`,
  `wget ${numbered('-P d', 700)} ${numbered('u', 700)}`,
  `rsync -R ${numbered('a', 1_500)}`,
  `git show ${numbered('HEAD:a', 1_000)}`,
  `sed -n '${'w'.repeat(9_900)}'`,
  `cat ${'* '.repeat(4_900)}`,
];

export async function measurePermissions({ root, cwd }) {
  const { compileRules, decidePermission, commandAccesses } = await bundle({ root, cwd });
  const policy = {
    mode: 'default',
    book: compileRules([{ name: 'user', base: '/repo', ...rules() }], { home: '/home/user' }),
    roots: ['/repo'],
    home: '/home/user',
    cwd: '/repo',
    trusted: true,
  };
  const path = '/repo/src/engine/permissions/decide.ts';
  const file = { tool: 'Edit', input: {}, readOnly: false, edits: true, accesses: [{ path, access: 'write' }] };
  const fileUs = costOf(() => decidePermission(file, policy));
  let count = 0;
  const decideLine = (line) => {
    count += 1;
    const command = `${line} ${count}`;
    const accesses = commandAccesses(command, policy.cwd, policy.home);
    return decidePermission(
      { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
      policy,
    );
  };
  const lineUs = costOf(() => decideLine(LINE));
  const hostileMs = Math.max(...HOSTILE.map((line) => costOf(() => decideLine(line), { rounds: 3, calls: 1 }) / 1_000));
  return [
    row(`decision about a file under ${RULES} rules`, fileUs, FILE_US),
    row(`decision about a line of ${LINE.length} characters under ${RULES} rules`, lineUs, LINE_US),
    {
      ...row(`decision about the worst of ${HOSTILE.length} hostile lines`, hostileMs, HOSTILE_MS),
      unit: 'ms',
      aim: `<= ${HOSTILE_MS} ms`,
    },
  ];
}

/** Inside the package these are no doors, so they are put together here. */
async function bundle({ root, cwd }) {
  const folder = join(root, 'src/engine/permissions');
  const outfile = join(cwd, 'permissions.mjs');
  const contents = [
    "export { compileRules } from './rules/book.js';",
    "export { decidePermission } from './decide.js';",
    "export { commandAccesses } from './command.js';",
  ].join('\n');
  const stdin = { contents, resolveDir: folder, loader: 'ts' };
  await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', target: 'node22', logLevel: 'error' });
  return import(pathToFileURL(outfile).href);
}

const row = (what, value, aim) => ({ what, unit: 'us', value, aim: `<= ${aim} us`, met: value <= aim });

/** Rules of every kind, of which none is about the calls but two. */
function rules() {
  const lists = { allow: ['Bash(npm test:*)', 'Bash(git:*)'], ask: [], deny: [] };
  const kinds = [
    (n) => `Bash(tool${n} sub:*)`,
    (n) => `Read(./folder${n}/**)`,
    (n) => `Edit(src/module${n}/*.ts)`,
    (n) => `Bash(npm run task${n})`,
    (n) => `Read(**/secret${n}.*)`,
    (n) => `Read(*.kind${n})`,
    (n) => `WebFetch(domain:host${n}.example)`,
    (n) => `mcp__server${n}__tool`,
    (n) => `Bash(git * branch${n})`,
    (n) => `Read(//opt/place${n}/**)`,
  ];
  for (let n = 0; n < RULES; n += 1) {
    const list = n % 4 === 0 ? 'deny' : n % 7 === 0 ? 'ask' : 'allow';
    lists[list].push(kinds[n % kinds.length](n));
  }
  return lists;
}

/** Microseconds of one call, in the round that was disturbed least by whatever else runs on the machine. */
function costOf(call, { rounds: most = ROUNDS, calls = CALLS } = {}) {
  const rounds = Array.from({ length: most }, () => {
    const started = performance.now();
    for (let count = 0; count < calls; count += 1) call();
    return ((performance.now() - started) * 1_000) / calls;
  });
  return Math.min(...rounds);
}
