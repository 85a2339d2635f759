import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { checkMcpConfig, checkStart, type Start } from '../../src/cli/checks.js';
import { createDebugLog } from '../../src/cli/debug-log.js';
import { readEnvironment } from '../../src/cli/environment.js';
import { decideMode } from '../../src/cli/mode.js';
import { wantsColour } from '../../src/cli/paint.js';
import { readPrompt } from '../../src/cli/prompt.js';
import { toSessionConfig } from '../../src/cli/session-config.js';
import { type CliOptions, HeddleError, parseArgv } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'heddle-start-up-'));
afterAll(() => removeFolder(folder));

describe('decideMode', () => {
  it.each<[CliOptions, boolean, boolean, string]>([
    [{}, true, true, 'chat'],
    [{ print: true }, true, true, 'print'],
    [{ outputFormat: 'json' }, true, true, 'print'],
    [{}, true, false, 'print'],
    [{}, false, true, 'print'],
    [{ inputFormat: 'stream-json', outputFormat: 'stream-json' }, false, false, 'serve'],
    [{ inputFormat: 'stream-json', print: true }, true, true, 'serve'],
  ])('%j, stdin a terminal: %s, stdout a terminal: %s', (cli, stdinIsTerminal, stdoutIsTerminal, mode) => {
    expect(decideMode(cli, { stdinIsTerminal, stdoutIsTerminal })).toBe(mode);
  });
});

describe('readEnvironment', () => {
  it.each([
    [{}, '/home/me/.claude'],
    [{ CLAUDE: '/c' }, '/c'],
    [{ CLAUDE: '/c', CLAUDE_CONFIG_DIR: '/b' }, '/b'],
    [{ CLAUDE: '/c', CLAUDE_CONFIG_DIR: '/b', HEDDLE_CONFIG_DIR: '/a' }, '/a'],
    [{ HEDDLE_CONFIG_DIR: '' }, '/home/me/.claude'],
  ])('the folder of %j', (variables, configDir) => {
    expect(readEnvironment(variables, '/home/me').configDir).toBe(configDir);
  });

  it('knows who started it, and what they want', () => {
    expect(readEnvironment({}, '/h')).toMatchObject({
      client: { entrypoint: 'cli' },
      enableFileCheckpointing: false,
      debug: false,
    });
    expect(
      readEnvironment(
        {
          CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
          CLAUDE_AGENT_SDK_VERSION: '0.2.50',
          CLAUDE_CODE_MAX_RETRIES: '3',
          CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true',
          DEBUG: 'express,heddle:*',
          IS_SANDBOX: '1',
          GONE: undefined,
        },
        '/h',
      ),
    ).toMatchObject({
      client: { entrypoint: 'sdk-ts', version: '0.2.50' },
      maxRetries: 3,
      enableFileCheckpointing: true,
      debug: true,
    });
    const odd = readEnvironment({ DEBUG: '*', CLAUDE_CODE_MAX_RETRIES: 'many' }, '/h');
    expect(odd).not.toHaveProperty('maxRetries');
    expect(odd.doubts).toEqual(['CLAUDE_CODE_MAX_RETRIES is "many", which is no whole number, and was ignored']);
    expect(readEnvironment({ CLAUDE_CODE_MAX_RETRIES: '' }, '/h').doubts).toEqual([]);
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('colours with %j on a terminal: %s', (env, isTerminal, colour) => {
    expect(wantsColour(env, isTerminal)).toBe(colour);
  });
});

describe('checkStart', () => {
  const problemOf = (argv: string[], extra: Partial<Start> = {}): string | undefined => {
    const { cli, config } = parseArgv(argv);
    try {
      checkStart({ mode: 'print', cli, config, cwd: folder, ...extra });
      return undefined;
    } catch (error) {
      expect((error as HeddleError).code).toBe('invalid_config');
      return (error as HeddleError).message;
    }
  };

  it.each([
    [['-p', 'x', '--allowedTools=Read', '--session-id', '11111111-2222-3333-4444-555555555555']],
    [['--settings', '{"permissions":{"allow":["Read"]},"apiKeyHelper":"echo k"}']],
    [['--mcp-config', '{"mcpServers":{}}']],
    [['--resume', 'x', '--fork-session', '--session-id', '11111111-2222-3333-4444-555555555555']],
  ])('%j is fine', (argv) => {
    expect(problemOf(argv)).toBeUndefined();
  });

  it.each([
    [['--resume', 'a', '--session-id', '11111111-2222-3333-4444-555555555555'], /needs --fork-session/],
    [['--resume'], /^Error: --resume requires a valid session ID or session title when used with --print/],
    [['--restricted'], /^Error: --restricted is not supported yet; running without it would allow more/],
    [['--settings', '[]'], /^Error: Settings file not found: /],
    [['--disallowedTools', 'bash'], /^Error: --disallowedTools: "bash" names no tool; did you mean "Bash"\?$/],
  ])('%j is refused', (argv, text) => {
    expect(problemOf(argv)).toMatch(text);
  });

  it('reads files of JSON', () => {
    writeFileSync(join(folder, 'good.json'), '{"model":"x"}');
    writeFileSync(join(folder, 'bad.json'), '{"model":');
    expect(problemOf(['--settings', 'good.json', '--mcp-config', 'good.json'])).toBeUndefined();
  });

  it('reads --mcp-config: JSON with comments, a bare table, a file', async () => {
    const check = (...values: string[]) => checkMcpConfig(values, folder);
    writeFileSync(join(folder, 'bad.json'), '{"mcpServers":');
    await expect(check('{ /* none */ "mcpServers": {} }', '{"a":{"command":"x"}}')).resolves.toBeUndefined();
    await expect(check('{}', 'bad.json')).rejects.toThrow(/^Error: Invalid MCP configuration:\n.*bad\.json:1:\d+: /);
    await expect(check('none.json')).rejects.toThrow(/MCP config file not found: \S*none\.json$/);
    await expect(check('{bad')).rejects.toThrow(/MCP config file not found: \S*\{bad \(as JSON: .+\)$/);
  });
});

describe('toSessionConfig', () => {
  const configOf = (argv: string[], env: Record<string, string> = {}) =>
    toSessionConfig({ parsed: parseArgv(argv), environment: readEnvironment(env, '/h'), cwd: folder });

  it('leaves the built-in prompt alone unless told otherwise', () => {
    expect(configOf([])).toMatchObject({ cwd: folder, client: { entrypoint: 'cli' } });
    expect(configOf([])).not.toHaveProperty('systemPrompt');
    expect(configOf(['--system-prompt', '']).systemPrompt).toBe('');
  });

  it('takes what flags and variables mean', () => {
    expect(configOf(['--max-turns=0'])).not.toHaveProperty('maxTurns');
    expect(configOf(['--bare']).settingSources).toEqual([]);
    expect(configOf(['--mcp-config', '{"mcpServers":{"a":{}}}']).mcpConfig).toHaveLength(1);
    expect(configOf(['--permission-prompt-tool=stdio', '--permission-prompts=none'])).not.toHaveProperty(
      'permissionPromptTool',
    );
    expect(configOf([]).settingSources).toEqual(['user', 'project', 'local']);
    expect(configOf(['--bare']).settingSources).toEqual([]);
    expect(configOf([], { CLAUDE_CODE_MAX_RETRIES: '2' }).maxRetries).toBe(2);
  });
});

describe('readPrompt', () => {
  const never = () => expect.unreachable();

  it.each([
    [['say', 'hi'], undefined, 'say hi'],
    [[], 'from stdin\n', 'from stdin'],
    [['review'], 'a diff\n', 'review\n\na diff'],
    [['review'], '  \n', 'review'],
    [[], 'ü'.repeat(3), 'üüü'],
  ])('%j with %j on stdin', async (words, text, prompt) => {
    const input = text === undefined ? undefined : Readable.from(Buffer.from(text));
    expect(await readPrompt({ words, input, onSilence: never })).toBe(prompt);
  });

  it('refuses to start without one', async () => {
    const nothing = readPrompt({ words: [], input: Readable.from([]), onSilence: never });
    await expect(nothing).rejects.toThrow(
      'Error: Input must be provided either through stdin or as a prompt argument when using --print',
    );
    await expect(readPrompt({ words: [' '], input: undefined, onSilence: never })).rejects.toThrow(HeddleError);
  });

  it('B4: does not wait for ever on an open stdin that says nothing', async () => {
    let silences = 0;
    const prompt = await readPrompt({
      words: ['go'],
      input: new PassThrough(),
      firstByteWithinMs: 1,
      onSilence: () => {
        silences += 1;
      },
    });
    expect([prompt, silences]).toEqual(['go', 1]);
  });
});

describe('createDebugLog', () => {
  const collect = () => {
    const lines: string[] = [];
    return { lines, stderr: { write: (line: string) => lines.push(line) } };
  };

  it('writes nowhere, to stderr, or to a file, and can be narrowed to topics', () => {
    const { lines, stderr } = collect();
    expect(createDebugLog({ toStderr: false, stderr })).toBeUndefined();
    const log = createDebugLog({ toStderr: true, topics: 'api, hooks', stderr });
    log?.('info', 'an API call', { ms: 3 });
    log?.('info', 'something else');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\S+Z info an API call \{"ms":3\}\n$/);
  });

  it('says once that its file cannot be written', () => {
    const { lines, stderr } = collect();
    writeFileSync(join(folder, 'plain'), '');
    const log = createDebugLog({ toStderr: false, file: join(folder, 'plain', 'log.txt'), stderr });
    log?.('info', 'a');
    log?.('info', 'b');
    expect(lines).toEqual([expect.stringMatching(/^heddle: the debug file cannot be written: /)]);
  });
});
