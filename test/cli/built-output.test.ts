/** What the built program says, and how it ends, where something around it is broken. */
import { execFile } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeAnswer, startFakeApi } from '../../src/testing/fake-api.js';
import {
  BIN,
  type CliOptions,
  type CliOutcome,
  createHome,
  ensureBuilt,
  framesOf,
  runCli,
  startCli,
} from './run-cli.js';

const home = createHome();
beforeAll(ensureBuilt, 120_000);
afterAll(home.remove);

const ASK = ['-p', 'hello', '--model', 'embedded'];
const STREAM = ['--output-format', 'stream-json', '--verbose'];

describe('stdout that cannot be written', () => {
  it.each([[ASK], [[...ASK, '--output-format=json']], [[...ASK, ...STREAM]], [['--version']], [['--help']]])(
    'H5: %j: one line on stderr, exit 1',
    async (args) => {
      writeFileSync(join(home.folder, 'read-only'), '');
      const stdout = openSync(join(home.folder, 'read-only'), 'r');
      const { code, stderr } = await runCli(home.folder, args, { stdout });
      closeSync(stdout);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^heddle: stdout cannot be written: .*EBADF.*\n$/);
    },
  );

  it('a reader that has seen enough is no failure worth a word', async () => {
    const { child, done } = startCli(home.folder, ASK);
    child.stdout?.destroy();
    expect(await done).toEqual({ code: 1, stdout: '', stderr: '' });
  });
});

describe('a session that cannot be written', () => {
  const broken = (): CliOptions => {
    writeFileSync(join(home.folder, 'file'), '');
    return { env: { HEDDLE_CONFIG_DIR: join(home.folder, 'file') } };
  };
  const LOST =
    /^heddle: the session cannot be written, so it cannot be resumed: The log .* cannot be written: ENOTDIR.*\n$/;

  it.each([[[]], [['--output-format=json']], [['--output-format=terminal']]])(
    'F1: %j: said once on stderr, and the answer comes',
    async (flags) => {
      const { code, stdout, stderr } = await runCli(home.folder, [...ASK, ...flags], broken());
      expect(code).toBe(0);
      expect(stderr).toMatch(LOST);
      expect(stdout).not.toMatch(/^✗/m);
    },
  );

  it('stream-json says it in a message', async () => {
    const { stdout, stderr } = await runCli(home.folder, [...ASK, ...STREAM], broken());
    expect(stderr).toBe('');
    expect(framesOf(stdout).filter(({ subtype }) => subtype === 'session_writes_lost')).toHaveLength(1);
  });

  it('a folder below one that refuses without a reason ends nothing', async () => {
    const env = { HEDDLE_CONFIG_DIR: '/proc/nope/config' };
    const { code, stdout, stderr } = await runCli(home.folder, [...ASK, '--debug-file=/proc/nope/log/x.txt'], { env });
    expect([code, stdout === '']).toEqual([0, false]);
    expect(stderr).toMatch(/^heddle: the session cannot be written, so it cannot be resumed: The log .*: E/m);
    expect(stderr).toMatch(/^heddle: the debug file cannot be written: E/m);
    const report = await runCli(home.folder, ['doctor', '--json'], {
      env: { ...env, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
    });
    expect(report.code).toBe(1);
    expect(report.stdout).toContain('/proc/nope/config cannot be written');
  });

  it('folders on the way are made, for nobody else to read', async () => {
    const env = { HEDDLE_CONFIG_DIR: join(home.folder, 'deep/er/config') };
    expect(await runCli(home.folder, ASK, { env })).toMatchObject({ code: 0, stderr: '' });
    expect(readdirSync(join(home.folder, 'deep/er/config/projects'))).toHaveLength(1);
  });
});

describe('a working directory that is gone', () => {
  const runGone = (args: readonly string[]): Promise<CliOutcome> => {
    const cwd = join(home.folder, 'gone');
    mkdirSync(cwd, { recursive: true });
    return new Promise((resolve) => {
      const words = ['-c', 'rmdir "$PWD" && exec "$@"', 'sh', process.execPath, BIN, ...args];
      const env = { PATH: process.env.PATH ?? '', HOME: home.folder, TMPDIR: home.folder };
      const child = execFile('sh', words, { cwd, env }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, stdout, stderr }),
      );
      child.stdin?.end();
    });
  };

  it.each([[ASK], [['doctor']], [['--input-format', 'stream-json', ...STREAM]]])('%j: said in a line', async (args) => {
    expect(await runGone(args)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The working directory no longer exists. Change to an existing folder.\n',
    });
  });
});

describe('a model API that is overloaded', () => {
  const overloaded: FakeAnswer = { status: 529, headers: { 'retry-after': '0' } };
  const run = async (flags: string[]): Promise<CliOutcome> => {
    const api = await startFakeApi([overloaded, overloaded, 'ok']);
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key', NO_PROXY: '127.0.0.1' };
    const options = { env: { ...env, CLAUDE_CODE_MAX_RETRIES: '2' } };
    return runCli(home.folder, ['-p', 'hi', ...flags], options).finally(() => api.close());
  };

  it.each([[[]], [['--output-format=json']]])('G4: %j: every wait is said on stderr', async (flags) => {
    const { code, stderr } = await run(flags);
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([
      'heddle: the model API is overloaded (529); trying again in 0.0 s (attempt 1 of 2)',
      'heddle: the model API is overloaded (529); trying again in 0.0 s (attempt 2 of 2)',
      '',
    ]);
  });

  it('stream-json has its messages, and stderr stays clean', async () => {
    expect((await run(STREAM)).stderr).toBe('');
  });
});

describe('what was asked for and will not be', () => {
  it.each<[string[], string]>([
    [['--continue'], 'heddle: there is no earlier session of this folder; a new one was started\n'],
    [['--tools', 'Read', 'Bogus'], 'heddle: "Bogus" names no tool\n'],
    [['--allowedTools', 'bash'], 'heddle: options: allowedTools[0]: "bash" names no tool; did you mean "Bash"?\n'],
    [['--settings', '{"apiKeyHelper":"echo k"}'], ''],
  ])('%j is said', async (flags, stderr) => {
    const env = { HEDDLE_CONFIG_DIR: join(home.folder, 'empty') };
    expect(await runCli(home.folder, [...ASK, '--no-session-persistence', ...flags], { env })).toMatchObject({
      code: 0,
      stderr,
    });
  });

  it('a number of retries that is none', async () => {
    const { code, stderr } = await runCli(home.folder, ASK, { env: { CLAUDE_CODE_MAX_RETRIES: 'abc' } });
    expect([code, stderr]).toEqual([
      0,
      'heddle: CLAUDE_CODE_MAX_RETRIES is "abc", which is no whole number, and was ignored\n',
    ]);
  });

  it('half a rule is refused (D3)', async () => {
    const { code, stdout, stderr } = await runCli(home.folder, [...ASK, '--allowedTools=Bash(']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('allowedTools[0]: "Bash(": its bracket is not closed.');
  });

  it('D1: a denial that names no tool is refused', async () => {
    expect(await runCli(home.folder, [...ASK, '--disallowedTools', 'Write', 'bash'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Error: --disallowedTools: "bash" names no tool; did you mean "Bash"?\n',
    });
  });
});
