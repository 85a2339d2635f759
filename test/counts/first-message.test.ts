import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run-cli.js';
import { bytesOf, recordModules, withZod } from './loaded-modules.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'heddle-first-message-'));
beforeAll(() => ensureBuilt());
afterAll(() => removeFolder(folder));

const door = (layer: string): string =>
  JSON.stringify(pathToFileURL(join(import.meta.dirname, `../../dist/${layer}/index.js`)).href);

/** One query() of the built package in a fresh process; prints how many schemas were built when, then does `after`. */
const program = (after = ''): string => `
  import { query } from ${door('sdk')};
  import { createMemoryStore, createScriptedModel } from ${door('testing')};
  const heddle = { provider: createScriptedModel(['Hello.']), store: createMemoryStore() };
  const types = [];
  for await (const message of query({ prompt: 'hi', options: { heddle, env: { HOME: '/nowhere' } } })) types.push(message.type);
  console.log(types.join(' '));
  const { builtSchemas, checkFrame } = await import(${door('protocol')});
  console.log(builtSchemas());
  ${after}
`;

/** Says something at the first message. What it loads by then is the package's alone: its model is written here. */
const FIRST_MESSAGE = `
  import { query } from ${door('sdk')};
  const provider = { name: 'silent', keySource: 'none', async *stream() {} };
  for await (const message of query({ prompt: 'hi', options: { heddle: { provider }, env: { HOME: ${JSON.stringify(folder)} } } })) {
    console.log(message.type);
    break;
  }
`;

/** What an app waits for. Raise these only for something a first message needs. */
const MOST_MODULES = 8;
const MOST_BYTES = 748 * 1024;
const SLOW_IMPORT = /^import .*"node:(?:child_process|crypto|net)"/m;

async function run(code: string) {
  let lines: string[] = [];
  const loaded = await recordModules(async (nodeArgs, env) => {
    const args = [...nodeArgs, '--input-type=module', '--eval', code];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
    expect(stderr).toBe('');
    lines = stdout.trim().split('\n');
  });
  return { lines, ...loaded };
}

describe('an in-process query() (A1)', () => {
  it('builds no schema and loads no schema library, from its first message to its result', async () => {
    const { lines, modules, beforeFirstOutput } = await run(program());
    expect(lines).toEqual(['system assistant result', '0']);
    expect(withZod(beforeFirstOutput)).toEqual([]);
    expect(withZod(modules)).not.toEqual([]);
  });

  it('loads few files before its first message, and nothing of Node that takes milliseconds', async () => {
    const { lines, beforeFirstOutput } = await run(FIRST_MESSAGE);
    expect(lines).toEqual(['system']);
    expect(beforeFirstOutput.length).toBeGreaterThan(3);
    expect(beforeFirstOutput.length).toBeLessThanOrEqual(MOST_MODULES);
    expect(bytesOf(beforeFirstOutput)).toBeLessThanOrEqual(MOST_BYTES);
    expect(beforeFirstOutput.filter(({ path }) => SLOW_IMPORT.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  it('would show a schema that was built', async () => {
    const { lines } = await run(program(`checkFrame({ type: 'keep_alive' }); console.log(builtSchemas());`));
    expect(lines).toEqual(['system assistant result', '0', '1']);
  });
});
