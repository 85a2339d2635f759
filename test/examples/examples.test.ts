import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run-cli.js';
import { removeFolder } from '../remove-folder.js';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'heddle-examples-'));
const temporary = join(folder, 'tmp');
const config = join(folder, 'config');

/** What each one must print, in this order. */
const EXPECTED: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  '01-hello.ts': [
    'embedded with Bash, Edit, Glob, Grep, NotebookEdit, Read, ',
    '-> Glob {"pattern":"**/*.ts"}',
    'There are 4 .ts files here.',
    /^success: 2 turns, \d+ ms, \$0\.0000$/m,
  ],
  '02-streaming.ts': ['-> Read', 'Its title is "Loom stock".', /^(?:[2-9]|\d{2,}) pieces, success$/m],
  '03-custom-tool.ts': [
    'Three spools of indigo cost 13.50 euros.',
    /"purple","spools":3\} -> error: .*expected one of "indigo"/,
    '"indigo","spools":3} -> 13.50',
  ],
  '04-permissions.ts': [
    'call:  Read',
    'call:  Write',
    'asked: Write (Writing to ./order.txt needs approval)',
    'asked: Bash',
    "denied: Bash { command: 'rm stock.csv' }",
    'files: draft.txt, stock.csv',
  ],
  '05-sessions.ts': [
    'message 1 of',
    'message 2 of',
    'message 3 of',
    'one session: true',
    'message 4 of',
    'message 5 of',
    /^log: 11 messages, \d+ lines$/m,
  ],
  '06-subprocess.ts': [
    'the engine is another process',
    'asked: Write',
    'I wrote hello.txt',
    'Hello from a child process.',
    'process_failed: Heddle engine executable not found: no-such-engine',
  ],
  '07-testing.ts': [
    'user ok toolu_1 "1\\t1.9"',
    'result success turns=3',
    'version.txt: 2.0',
    'replayed 3 model calls, equal',
    'recorded: "Set the version in version.txt to 2.0."',
    'asked:    "Set the version in version.txt to 3.0."',
  ],
  '08-websocket.ts': [
    'listening on 127.0.0.1',
    'asked about Write',
    'I wrote warp.txt',
    'I wrote weft.txt',
    'warp.txt, weft.txt',
    'invalid_config: Give the token of this server.',
  ],
  '09-own-tool.ts': [
    "asked: order { colour: 'indigo', spools: 3 }",
    /"purple"\} -> error: .*expected one of "indigo", "madder", "weld"/,
    'yarn_price {"colour":"indigo"} -> 4.5',
    '"indigo","spools":3} -> {"total":13.5}',
    /"purple","spools":3\} -> error: .*`total` type is expected as `number`/,
  ],
  '10-own-stdio-server.ts': [
    'mcp__yarn__yarn_price {"colour":"purple","spools":3} -> error: There is no purple yarn.',
    '"indigo","spools":3} -> 13.50',
    'Three spools of indigo cost 13.50 euros.',
  ],
  '11-subagents.ts': [
    'main calls Task',
    'started: Ask the buyer',
    'started: Ask the counter',
    'counter calls Read',
    'completed: Weld: 90 metres.',
    'prompt -> There are 90 metres of weld.',
    'completed: Agent "Ask the buyer" completed',
    'task-notification -> The buyer says: order 210 metres.',
  ],
  '12-plan-mode.ts': [
    'asked: Write\nasked: ExitPlanMode\nasked: ExitPlanMode\nmode:  acceptEdits\n',
    'Write: no: Show me the plan first.',
    'ExitPlanMode: no: A sample must come first.',
    'ExitPlanMode: The user has approved the plan.',
    'pattern.txt: twill',
  ],
  '13-structured-output.ts': [/^told: .*`items\[0\]\.metres` type is expected as `integer`/m, 'order: 210 m of weld'],
  '14-skills-and-commands.ts': [
    '/restock <colour>: Says what to order of a colour',
    '/loom:warp <threads>: Plans a warp',
    'output style: terse',
    'In stock: weld,90,300',
    'told of AGENTS.md: true',
    'Skill: Read recipes.txt in the folder of this skill first. The dye is indigo.',
    '/loom:warp 120 -> Warp 120 threads.',
  ],
};

beforeAll(() => {
  ensureBuilt();
  mkdirSync(temporary);
});
afterAll(() => removeFolder(folder));

async function runExample(name: string) {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: temporary,
    HEDDLE_CONFIG_DIR: config,
    NODE_DISABLE_COMPILE_CACHE: '1',
  };
  // Later versions of Node need neither flag; the floor does.
  const flags = ['--experimental-strip-types', '--disable-warning=ExperimentalWarning'];
  return promisify(execFile)(process.execPath, [...flags, join(examples, name)], { cwd: folder, env });
}

function expectInOrder(text: string, parts: readonly (string | RegExp)[]): void {
  let rest = text;
  for (const part of parts) {
    const found = typeof part === 'string' ? part : (part.exec(rest)?.[0] ?? String(part));
    expect(rest).toContain(found);
    rest = rest.slice(rest.indexOf(found) + found.length);
  }
}

describe('the examples', () => {
  const names = readdirSync(examples).filter((name) => name.endsWith('.ts'));

  it('are all run here', () => {
    expect(names.toSorted()).toEqual(Object.keys(EXPECTED));
  });

  it.each(names)('%s runs offline against the built package and leaves nothing behind', async (name) => {
    const { stdout, stderr } = await runExample(name);
    expect(stderr).toBe('');
    expectInOrder(stdout, EXPECTED[name] ?? []);
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(folder)).toEqual(['tmp']);
  });

  it.each(names)('%s is short and imports the package by its name', (name) => {
    const text = readFileSync(join(examples, name), 'utf8');
    expect(text.split('\n').length).toBeLessThanOrEqual(61);
    expect(text).toMatch(/from 'heddle'/);
    expect(text).not.toMatch(/from '\.\.?\//);
  });
});
