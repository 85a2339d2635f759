/** What the program refuses to start with: the texts and exit codes that clients of this protocol know. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, ensureBuilt, framesOf, runCli } from './run-cli.js';

const home = createHome();
beforeAll(ensureBuilt, 120_000);
afterAll(home.remove);

const UNKNOWN_ID = '99999999-9999-4999-8999-999999999999';
const STREAM = ['--output-format', 'stream-json', '--verbose'];

describe('start-up errors of the built program: exit 1, nothing on stdout', () => {
  it.each<[string[], string | RegExp]>([
    [
      ['-p', 'hi', '--output-format', 'stream-json'],
      'Error: When using --print, --output-format=stream-json requires --verbose\n',
    ],
    [['-p'], 'Error: Input must be provided either through stdin or as a prompt argument when using --print\n'],
    [['--no-such-flag'], "error: unknown option '--no-such-flag'\n"],
    [['--modell', 'x'], "error: unknown option '--modell'\n(Did you mean --model?)\n"],
    [
      ['-p', 'hi', '--permission-mode', 'bogus'],
      "error: option '--permission-mode <mode>' argument 'bogus' is invalid. Allowed choices are default, acceptEdits, bypassPermissions, plan, delegate, dontAsk.\n",
    ],
    [
      ['-p', 'hi', '--max-turns', 'abc'],
      "error: option '--max-turns <turns>' argument 'abc' is invalid. must be a number\n",
    ],
    [['-p', 'hi', '--session-id', 'notuuid'], 'Error: Invalid session ID. Must be a valid UUID.\n'],
    [
      ['-p', 'hi', '--model', 'embedded', '--resume', UNKNOWN_ID],
      `No conversation found with session ID: ${UNKNOWN_ID}\n`,
    ],
    [
      ['-p', 'hi', '--mcp-config', '{bad'],
      /^Error: Invalid MCP configuration:\nMCP config file not found: \S*\{bad \(as JSON: .+\)\n$/,
    ],
    [['-p', 'hi', '--settings', '/nonexistent.json'], 'Error: Settings file not found: /nonexistent.json\n'],
    [['-p', 'hi', '--json-schema', '{bad'], /^Error: --json-schema is not valid JSON: .+\n$/],
    [
      ['-p', '--input-format', 'stream-json', '--output-format', 'text'],
      'Error: --input-format=stream-json requires output-format=stream-json.\n',
    ],
    [['-p', 'hi', '--resume'], /^Error: --resume requires a valid session ID or session title when used with --print/],
    [['doctor', '--bogus'], "error: unknown option '--bogus'\n"],
  ])('%j', async (args, stderr) => {
    const outcome = await runCli(home.folder, args);
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: typeof stderr === 'string' ? stderr : expect.stringMatching(stderr),
    });
  });

  it('without a key: says what to set, and how to try it offline', async () => {
    const { code, stdout, stderr } = await runCli(home.folder, ['-p', 'hi']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('export ANTHROPIC_API_KEY=');
    expect(stderr).toContain('heddle --model embedded');
  });

  it.each([[['-p', 'hi', '--output-format', 'json']], [['-p', 'hi', ...STREAM]]])(
    'H1: %j gives programs a result that says why',
    async (args) => {
      const { code, stdout, stderr } = await runCli(home.folder, [...args, '--resume', UNKNOWN_ID]);
      expect(code).toBe(1);
      expect(framesOf(stdout)).toEqual([
        expect.objectContaining({
          type: 'result',
          subtype: 'error_during_execution',
          is_error: true,
          errors: [`No conversation found with session ID: ${UNKNOWN_ID}`],
          error_code: 'session_not_found',
          session_id: UNKNOWN_ID,
        }),
      ]);
      expect(stderr).toBe(`No conversation found with session ID: ${UNKNOWN_ID}\n`);
    },
  );

  it('a flag that does nothing yet is said aloud, once', async () => {
    const args = ['-p', 'hi', '--model', 'embedded', '--brief', '--brief', '--file', 'x'];
    const { code, stderr } = await runCli(home.folder, args);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'heddle: --brief is not supported yet and was ignored\nheddle: --file is not supported yet and was ignored\n',
    );
  });
});
