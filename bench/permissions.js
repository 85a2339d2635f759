// What a decision costs under a thousand rules: of a file tool, and of a shell line of 200 characters. Reading the line
// is part of it, and no line is judged twice.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const RULES = 1_000;
const FILE_US = 50;
const LINE_US = 200;
const ROUNDS = 12;
const CALLS = 2_000;

const LINE =
  'cd /repo && npm test -- --reporter=dot --grep "permission rules" 2>&1 | tail -40 && git status --short && ' +
  'git diff --stat HEAD~1 -- src/engine | head -30 && echo "all checks are done" && ls -la src/engine/tools';

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
  const lineUs = costOf(() => {
    count += 1;
    const command = `${LINE} ${count}`;
    const accesses = commandAccesses(command, policy.cwd, policy.home);
    return decidePermission(
      { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command },
      policy,
    );
  });
  return [
    row(`decision about a file under ${RULES} rules`, fileUs, FILE_US),
    row(`decision about a line of ${LINE.length} characters under ${RULES} rules`, lineUs, LINE_US),
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
function costOf(call) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const started = performance.now();
    for (let count = 0; count < CALLS; count += 1) call();
    return ((performance.now() - started) * 1_000) / CALLS;
  });
  return Math.min(...rounds);
}
