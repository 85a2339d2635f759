/** One prompt, one answer, with the built program. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeAnswer, type FakeApi, startFakeApi } from '../../src/testing/fake-api.js';
import { type CliOptions, createHome, ensureBuilt, framesOf, runCli, startCli } from './run-cli.js';

const home = createHome();
beforeAll(ensureBuilt, 120_000);
afterAll(home.remove);

const STREAM = ['--output-format', 'stream-json', '--verbose'];

type Step = string | FakeAnswer;

async function withApi<T>(steps: readonly Step[], use: (api: FakeApi, options: CliOptions) => Promise<T>): Promise<T> {
  const api = await startFakeApi(steps);
  const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key', NO_PROXY: '127.0.0.1' };
  try {
    return await use(api, { env });
  } finally {
    await api.close();
  }
}

/** What the person said, as the model saw it. */
const lastPrompt = (api: FakeApi): string => {
  const { content } = api.requests.at(-1)?.body.messages.at(-1) ?? {};
  if (typeof content === 'string') return content;
  const last = content?.at(-1);
  return last?.type === 'text' ? last.text : '';
};

describe('output formats', () => {
  it('text: the answer alone', () =>
    withApi(['Hello!'], async (api, options) => {
      expect(await runCli(home.folder, ['-p', 'say hi'], options)).toEqual({ code: 0, stdout: 'Hello!\n', stderr: '' });
      expect(lastPrompt(api)).toBe('say hi');
      expect(api.requests[0]?.headers['x-api-key']).toBe('test-key');
    }));

  it('text without -p, when stdout is not a terminal', () =>
    withApi(['Hello!'], async (_api, options) => {
      expect(await runCli(home.folder, ['say hi'], options)).toMatchObject({ code: 0, stdout: 'Hello!\n' });
    }));

  it('text with --verbose: the way to the answer on stderr', async () => {
    const { code, stdout, stderr } = await runCli(home.folder, [
      '-p',
      '--verbose',
      'list the files',
      '--model=embedded',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/file/);
    expect(stderr).toMatch(/^● Glob /);
  });

  it('json: one result', () =>
    withApi(['Hello!'], async (_api, options) => {
      const { code, stdout } = await runCli(home.folder, ['-p', 'hi', '--output-format=json'], options);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ type: 'result', subtype: 'success', result: 'Hello!', num_turns: 1 });
    }));

  it('json with --verbose: all messages', () =>
    withApi(['Hello!'], async (_api, options) => {
      const { stdout } = await runCli(home.folder, ['-p', 'hi', '--output-format=json', '--verbose'], options);
      const types = (JSON.parse(stdout) as { type: string }[]).map(({ type }) => type);
      expect(types).toEqual(['system', 'assistant', 'result']);
    }));

  it('stream-json: every message on a line, in order', () =>
    withApi(['Hel\u2028lo!'], async (_api, options) => {
      const { code, stdout, stderr } = await runCli(home.folder, ['-p', 'hi', ...STREAM], options);
      expect([code, stderr]).toEqual([0, '']);
      expect(framesOf(stdout).map(({ type, subtype }) => subtype ?? type)).toEqual(['init', 'assistant', 'success']);
      expect(stdout.split('\u2028')).toHaveLength(1);
    }));

  it('stream-json with --include-partial-messages: the deltas too', () =>
    withApi([{ text: 'one two', deltas: 2 }], async (_api, options) => {
      const { stdout } = await runCli(home.folder, ['-p', 'hi', ...STREAM, '--include-partial-messages'], options);
      const deltas = framesOf(stdout).filter(
        ({ type, event }) => type === 'stream_event' && (event as { type: string }).type === 'content_block_delta',
      );
      expect(deltas).toHaveLength(2);
    }));

  it('terminal: the view of the chat, without colours in a pipe', () =>
    withApi(
      [
        { text: 'I look.', toolUse: { name: 'Read', input: { file_path: join(home.folder, 'a.txt') } } },
        'It says: yarn.',
      ],
      async (_api, options) => {
        writeFileSync(join(home.folder, 'a.txt'), 'yarn\n');
        const { code, stdout } = await runCli(home.folder, ['-p', 'hi', '--output-format=terminal'], options);
        expect(code).toBe(0);
        expect(stdout).toMatch(
          /^I look\.\n\n● Read a\.txt\n {2}1\tyarn\n(.*\n)?\nIt says: yarn\.\n\n✓ 2 turns · \d+\.\d s · \$\d\.\d+\n$/,
        );
      },
    ));
});

describe('prompts', () => {
  it('from stdin', () =>
    withApi(['ok'], async (api, options) => {
      await runCli(home.folder, ['-p'], { ...options, input: 'from a pipe\n' });
      expect(lastPrompt(api)).toBe('from a pipe');
    }));

  it('from both: stdin follows the argument', () =>
    withApi(['ok'], async (api, options) => {
      await runCli(home.folder, ['-p', 'review this'], { ...options, input: 'the diff\n' });
      expect(lastPrompt(api)).toBe('review this\n\nthe diff');
    }));

  it('behind -- after a flag that takes several words', () =>
    withApi(['ok'], async (api, options) => {
      await runCli(home.folder, ['-p', '--allowedTools', 'Read', 'Grep', '--', '--help me'], options);
      expect(lastPrompt(api)).toBe('--help me');
    }));
});

describe('results and exit codes', () => {
  it('an API error is on stderr, exit 1', () =>
    withApi([{ status: 400, message: 'bad thing' }], async (_api, options) => {
      const { code, stdout, stderr } = await runCli(home.folder, ['-p', 'hi'], options);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/API Error: 400/);
    }));

  it('a limit is on stderr, exit 1', () =>
    withApi([{ toolUse: { name: 'Glob', input: { pattern: '*' } } }], async (_api, options) => {
      const { code, stdout, stderr } = await runCli(home.folder, ['-p', 'hi', '--max-turns', '1'], options);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toBe('Error: Reached maximum number of turns (1)\n');
    }));

  it('G4: retries are counted by CLAUDE_CODE_MAX_RETRIES', () =>
    withApi([{ status: 529, headers: { 'retry-after': '0' } }, 'ok'], async (_api, { env }) => {
      const options = { env: { ...env, CLAUDE_CODE_MAX_RETRIES: '1' } };
      const { code, stdout } = await runCli(home.folder, ['-p', 'hi', ...STREAM], options);
      expect(code).toBe(0);
      expect(framesOf(stdout).map(({ type, subtype }) => subtype ?? type)).toContain('api_retry');
    }));

  it('nobody can be asked: what needs approval is denied, and said', async () => {
    const { stdout } = await runCli(home.folder, ['-p', 'write a file x.txt saying hi', '--model=embedded', ...STREAM]);
    expect(framesOf(stdout).at(-1)).toMatchObject({ permission_denials: [{ tool_name: 'Write' }] });
    expect(existsSync(join(home.folder, 'x.txt'))).toBe(false);
  });

  it('sessions are kept, continued, and kept out of the disk on request', async () => {
    const ask = (...flags: string[]) =>
      runCli(home.folder, ['-p', 'hello', '--model=embedded', '--output-format=json', ...flags], {
        env: { HEDDLE_CONFIG_DIR: join(home.folder, 'kept') },
      });
    const idOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as { session_id: string }).session_id;
    const files = () => readdirSync(join(home.folder, 'kept'), { recursive: true }).map(String);
    const first = idOf(await ask());
    expect(idOf(await ask('--continue'))).toBe(first);
    expect(idOf(await ask('--resume', first))).toBe(first);
    const other = idOf(await ask('--no-session-persistence'));
    expect(files().filter((name) => name.endsWith('.jsonl'))).toEqual([expect.stringContaining(first)]);
    expect(other).not.toBe(first);
    const id = '11111111-2222-4333-8444-555555555555';
    expect(idOf(await ask('--session-id', id))).toBe(id);
  });
});

describe('signals', () => {
  const silent: FakeAnswer = { text: 'never to end', malformed: 'silent' };

  it('SIGTERM: 143', () =>
    withApi([silent], async (api, options) => {
      const { child, done } = startCli(home.folder, ['-p', 'hi'], options);
      await api.received(1);
      child.kill('SIGTERM');
      expect(await done).toMatchObject({ code: 143, stdout: '' });
    }));

  it('G1: SIGINT ends the turn with a result, and the program with 130', () =>
    withApi([silent], async (_api, options) => {
      const { child, prints, done } = startCli(
        home.folder,
        ['-p', 'hi', ...STREAM, '--include-partial-messages'],
        options,
      );
      await prints('content_block_delta');
      child.kill('SIGINT');
      const { code, stdout } = await done;
      expect(code).toBe(130);
      expect(framesOf(stdout).at(-1)).toMatchObject({ type: 'result', is_error: false });
    }));

  it('B3: SIGTERM leaves no child of a tool behind', () =>
    withApi(
      [{ toolUse: { name: 'Bash', input: { command: 'echo $$ > pid; exec sleep 300' } } }],
      async (_api, options) => {
        const { child, prints, done } = startCli(
          home.folder,
          ['-p', 'hi', ...STREAM, '--allowedTools', 'Bash'],
          options,
        );
        await prints('"tool_use"');
        const path = join(home.folder, 'pid');
        while (!existsSync(path) || readFileSync(path, 'utf8').trim() === '') await new Promise(setImmediate);
        const pid = Number(readFileSync(path, 'utf8'));
        child.kill('SIGTERM');
        expect((await done).code).toBe(143);
        expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
      },
    ));

  it('B1: ends when its reader goes away', () =>
    withApi([{ text: 'word '.repeat(4000), deltas: 4000, delayMs: 5 }], async (_api, options) => {
      const { child, prints, done } = startCli(
        home.folder,
        ['-p', 'hi', ...STREAM, '--include-partial-messages'],
        options,
      );
      await prints('content_block_delta');
      child.stdout?.destroy();
      expect((await done).code).toBe(1);
    }));
});
