/** Our SDK drives whatever speaks the protocol, however little of it. */
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Frame, Message } from '../../src/protocol/index.js';
import { type Options, query } from '../../src/sdk/index.js';
import { collect } from '../../src/testing/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';
import { describeThrown } from './record.js';
import { type Prompt, say } from './stage.js';

const STUB = fileURLToPath(new URL('stub-cli.cjs', import.meta.url));

const stub = (behaviour: string, options: Options = {}): Options => ({
  cwd: scratch(),
  env: { ...PATH_ENV, STUB: behaviour },
  pathToClaudeCodeExecutable: STUB,
  ...options,
});

/** One word per message, and how it ended. */
async function run(prompt: Prompt, options: Options): Promise<string[]> {
  const lines: string[] = [];
  try {
    for await (const message of query({ prompt, options })) lines.push(wordFor(message));
  } catch (thrown) {
    lines.push(`threw ${describeThrown(thrown)}`);
  }
  return lines;
}

const wordFor = (message: Message): string =>
  message.type === 'result' && 'result' in message ? `result ${message.result}` : message.type;

describe('a compatible CLI that', () => {
  it.each([
    ['plain', ['system', 'result stub']],
    ['never answers initialize', ['system', 'result stub']],
    ['refuses initialize', ['system', 'result stub']],
    ['answers initialize with nothing', ['system', 'result stub']],
    ['answers initialize without a body', ['system', 'result stub']],
    ['gives only a result', ['result stub']],
    ['gives a bare result', ['result']],
    ['gives a thin result', ['result thin']],
    [
      'prints a line that is no JSON',
      ['threw invalid_frame: Heddle engine process printed a line that is not JSON: Welcome!'],
    ],
    [
      'exits with 3 after a result',
      ['system', 'result stub', 'threw process_failed: Heddle engine process exited with code 3'],
    ],
    ['exits with 1 after an error result', ['result API Error: 500']],
    ['exits with 0 before its result', ['system', 'threw channel_closed: The engine ended before it gave a result.']],
    ['prints frames of later versions', ['system', 'from_the_future', 'system', 'result stub']],
    ['asks what nobody knows', ['result error: Unsupported control request subtype: from_the_future']],
    [
      'asks for permission',
      [
        'result {"subtype":"error","request_id":"q","error":"Unsupported control request subtype: can_use_tool","error_code":"unsupported_request"}',
      ],
    ],
  ])('%s', async (behaviour, expected) => {
    expect(await run('Hi', stub(behaviour))).toEqual(expected);
  });

  it('starts a turn of its own does not end the input of the one that follows', async () => {
    const next = Promise.withResolvers<void>();
    const prompt = (async function* () {
      yield say('1');
      await next.promise;
      yield say('2');
    })();
    const lines: string[] = [];
    for await (const message of query({ prompt, options: stub('adds a turn of its own') })) {
      lines.push(wordFor(message));
      if (lines.at(-1) === 'result a task ended') next.resolve();
    }
    expect(lines).toEqual(['result 1', 'result a task ended', 'result 2', 'result the input has ended']);
  });

  it('asks for permission gets the answer of the callback, with the input that was judged', async () => {
    const canUseTool: Options['canUseTool'] = async (name, input) => ({
      behavior: 'deny',
      message: `${name} ${JSON.stringify(input)}`,
    });
    expect(await run('Hi', stub('asks for permission', { canUseTool }))).toEqual([
      'result {"subtype":"success","request_id":"q","response":{"behavior":"deny","message":"Bash {\\"command\\":\\"ls\\"}","toolUseID":"t"}}',
    ]);
  });

  it('has no extension is run by itself', async () => {
    const options = stub('plain');
    const executable = join(options.cwd ?? '', 'some-engine');
    copyFileSync(STUB, executable);
    chmodSync(executable, 0o755);
    expect(await run('Hi', { ...options, pathToClaudeCodeExecutable: executable })).toEqual(['system', 'result stub']);
  });

  it('is named by CLAUDE_CODE_EXECUTABLE is driven as well', async () => {
    const { pathToClaudeCodeExecutable, ...options } = stub('plain');
    const env = { ...options.env, CLAUDE_CODE_EXECUTABLE: pathToClaudeCodeExecutable };
    expect(await run('Hi', { ...options, env })).toEqual(['system', 'result stub']);
  });

  it('answers control requests with an empty body is believed', async () => {
    const waiting = (async function* () {
      await new Promise<never>(() => {});
      yield say('never');
    })();
    const started = query({ prompt: waiting, options: stub('plain') });
    await started.setModel('x');
    await started.setPermissionMode('plan');
    await started.interrupt();
    expect(await started.supportedModels()).toEqual([expect.objectContaining({ value: 'stub' })]);
    expect(await started.supportedCommands()).toEqual([]);
    started.close();
  });
});

describe('what a compatible CLI is given', () => {
  const runLogged = async (options: Options): Promise<[Started, ...Frame[]]> => {
    const file = join(options.cwd ?? '', 'log');
    await collect(query({ prompt: 'Hi', options: { ...options, env: { ...options.env, STUB_LOG: file } } }));
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as unknown) as [Started, ...Frame[]];
  };
  interface Started {
    argv: string[];
    env: Record<string, string>;
    cwd: string;
  }

  it('the fixed flags first and no prompt among them; its folder; who drives it', async () => {
    const options = stub('plain', { model: 'sonnet', maxTurns: 3, systemPrompt: 'Be brief.' });
    const [started, initialize, user, ...rest] = await runLogged(options);
    expect(started.argv.slice(0, 5)).toEqual([
      '--output-format',
      'stream-json',
      '--verbose',
      '--input-format',
      'stream-json',
    ]);
    expect(started.argv.join(' ')).toMatch(/--model[ =]sonnet/);
    expect(started.argv.join(' ')).toMatch(/--max-turns[ =]3/);
    expect(started.argv).not.toContain('Hi');
    expect(started.cwd).toBe(options.cwd);
    expect(started.env).toMatchObject({
      CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
      CLAUDE_AGENT_SDK_VERSION: expect.stringMatching(/^0\.3\./),
    });
    expect(initialize).toMatchObject({
      type: 'control_request',
      request_id: expect.any(String),
      request: { subtype: 'initialize', systemPrompt: 'Be brief.' },
    });
    expect(user).toEqual({
      type: 'user',
      session_id: '',
      message: { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      parent_tool_use_id: null,
    });
    expect(rest).toEqual([]);
  });

  it('further flags and arguments of its runtime', async () => {
    const options = stub('plain', {
      executable: 'node',
      executableArgs: ['--no-warnings'],
      extraArgs: { 'replay-user-messages': null, 'some-flag': 'a b' },
    });
    const [{ argv }] = await runLogged(options);
    expect(argv.slice(-2)).toEqual(['--replay-user-messages', '--some-flag=a b']);
  });
});
