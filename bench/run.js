// npm run bench [-- --only <name>] [--json] [--root <folder>]: what Heddle claims about speed, against a floor taken in
// the same run. Exits with 1 when an aim is missed. `--root` names another checkout that is built.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgents } from './agents.js';
import { startApi } from './api.js';
import { measureDefinitions } from './definitions.js';
import { measureFirstLine } from './first-line.js';
import { measureHeadless } from './headless.js';
import { measureIdleSessions } from './idle-sessions.js';
import { measureInProcess } from './in-process.js';
import { measureMcp } from './mcp.js';
import { measurePackage } from './package.js';
import { measurePermissions } from './permissions.js';
import { measureSessionsList } from './sessions-list.js';
import { measureSessions } from './sessions.js';
import { toTable } from './report.js';
import { measureStreaming } from './streaming.js';
import { measureSubprocess } from './subprocess.js';
import { measureTools } from './tools.js';

const CASES = {
  'in-process': measureInProcess,
  'first-line': measureFirstLine,
  headless: measureHeadless,
  streaming: measureStreaming,
  'idle-sessions': measureIdleSessions,
  package: measurePackage,
  subprocess: measureSubprocess,
  tools: measureTools,
  permissions: measurePermissions,
  sessions: measureSessions,
  'sessions-list': measureSessionsList,
  mcp: measureMcp,
  definitions: measureDefinitions,
  agents: measureAgents,
};

const { values: flags } = parseArgs({
  options: { only: { type: 'string', multiple: true }, json: { type: 'boolean' }, root: { type: 'string' } },
});
const names = flags.only ?? Object.keys(CASES);
const unknown = names.filter((name) => !Object.hasOwn(CASES, name));
if (unknown.length > 0) {
  console.error(`There is no bench named ${unknown.join(', ')}. There are: ${Object.keys(CASES).join(', ')}.`);
  process.exit(2);
}

const root = resolve(flags.root ?? join(import.meta.dirname, '..'));
const scratch = mkdtempSync(join(tmpdir(), 'heddle-bench-'));
const api = await startApi(root);
const env = {
  PATH: process.env.PATH,
  HOME: scratch,
  HEDDLE_CONFIG_DIR: join(scratch, 'config'),
  ANTHROPIC_API_KEY: 'bench',
  ANTHROPIC_BASE_URL: api.url,
};
const started = performance.now();
const rows = [];
try {
  for (const name of names) {
    if (!flags.json) process.stderr.write(`${name} ...\n`);
    const found = await CASES[name]({ root, cwd: scratch, env });
    rows.push(...found.map((row) => ({ bench: name, ...row })));
  }
} finally {
  api.stop();
  rmSync(scratch, { recursive: true, force: true });
}

const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] };
const seconds = (performance.now() - started) / 1000;
console.log(flags.json ? JSON.stringify({ machine, seconds, rows }, null, 2) : toTable({ machine, seconds, rows }));
process.exitCode = rows.some((row) => row.met === false) ? 1 : 0;
