/** The built program driven over stdin and stdout, as an SDK does it. */
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeApi } from '../../src/testing/fake-api.js';
import { createHome, ensureBuilt, framesOf, runCli, startCli } from './run-cli.js';

const home = createHome();
beforeAll(ensureBuilt, 120_000);
afterAll(home.remove);

const SERVE = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json', '--model', 'embedded'];
const line = (frame: object): string => `${JSON.stringify(frame)}\n`;
const initialize = line({ type: 'control_request', request_id: 'r1', request: { subtype: 'initialize' } });
const user = (content: string): string =>
  line({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' });
const kinds = (stdout: string): unknown[] => framesOf(stdout).map(({ type, subtype }) => subtype ?? type);

describe('stream-json on both sides', () => {
  it('handshake, answer, clean end: frames on stdout and nothing on stderr', async () => {
    const { code, stdout, stderr } = await runCli(home.folder, SERVE, { input: initialize + user('hello') });
    expect([code, stderr]).toEqual([0, '']);
    expect(kinds(stdout)).toEqual(['control_response', 'init', 'assistant', 'success']);
  });

  it('servers of the SDK may be named by a flag as well as by initialize', async () => {
    const flag = ['--mcp-config', '{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}'];
    const { code, stdout } = await runCli(home.folder, [...SERVE, ...flag], { input: user('hello') });
    expect([code, kinds(stdout).at(-1)]).toEqual([0, 'success']);
  });

  it('the flags of an SDK leave stderr clean, also those that do nothing yet', async () => {
    const flags = ['--setting-sources', '', '--permission-mode', 'default', '--permission-prompt-tool', 'stdio'];
    const later = ['--mcp-config', '{"mcpServers":{}}', '--include-hook-events', '--disallowedTools', 'LS'];
    const env = { DEBUG: 'heddle', CLAUDE_CODE_ENTRYPOINT: 'sdk-ts', CLAUDE_AGENT_SDK_VERSION: '0.2.50' };
    const input = initialize + user('hello');
    const { code, stderr } = await runCli(home.folder, [...SERVE, ...flags, ...later], { input, env });
    expect([code, stderr]).toEqual([0, '']);
  });

  it('what cannot be had is refused in a result', async () => {
    const flags = ['--agent', 'nobody'];
    const { code, stdout, stderr } = await runCli(home.folder, [...SERVE, ...flags], { input: user('hello') });
    expect([code, stderr]).toEqual([1, '']);
    expect(framesOf(stdout)).toEqual([expect.objectContaining({ type: 'result', error_code: 'invalid_config' })]);
  });

  it('a server that cannot be started leaves the session alone', async () => {
    const servers = ['--mcp-config', '{"mcpServers":{"a":{"command":"no-such-program"}}}'];
    const { code, stdout, stderr } = await runCli(home.folder, [...SERVE, ...servers], { input: user('hello') });
    expect([code, stderr, kinds(stdout).at(-1)]).toEqual([0, '', 'success']);
    expect(framesOf(stdout)[0]).toMatchObject({ subtype: 'init', mcp_servers: [{ name: 'a' }] });
  });

  it('a byte order mark before the first frame is no part of it', async () => {
    const { code, stdout } = await runCli(home.folder, SERVE, { input: `\uFEFF${user('hello')}` });
    expect([code, kinds(stdout)]).toEqual([0, ['init', 'assistant', 'success']]);
  });

  it('each message gets an answer of its own, also with -p, and a prompt comes first', async () => {
    const { stdout } = await runCli(home.folder, ['-p', ...SERVE, '--', 'list the files'], {
      input: user('one') + user('two'),
    });
    expect(kinds(stdout).filter((kind) => kind === 'init')).toHaveLength(3);
    expect(kinds(stdout).filter((kind) => kind === 'success')).toHaveLength(3);
    expect(stdout.indexOf('"Glob"')).toBeLessThan(stdout.indexOf('"success"'));
  });

  it('no input at all is a clean end', async () => {
    expect(await runCli(home.folder, SERVE, { input: '' })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('a line that is not JSON: said on stderr, exit 1', async () => {
    const { code, stderr } = await runCli(home.folder, SERVE, { input: 'not json\n' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/not JSON: not json/);
  });

  it('F3: resume of an unknown session is a lone result, exit 1', async () => {
    const id = '99999999-9999-4999-8999-999999999999';
    const { code, stdout } = await runCli(home.folder, [...SERVE, '--resume', id], { input: user('hello') });
    expect(code).toBe(1);
    expect(framesOf(stdout)).toEqual([
      expect.objectContaining({
        subtype: 'error_during_execution',
        errors: expect.arrayContaining([`No conversation found with session ID: ${id}`]),
      }),
    ]);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s: exit %i', async (signal, code) => {
    const { child, prints, done } = startCli(home.folder, SERVE, { keepsInputOpen: true });
    child.stdin?.write(initialize);
    await prints('control_response');
    child.kill(signal);
    expect(await done).toMatchObject({ code, stderr: '' });
  });
});

describe('a host that goes down: its end of stdin and a signal arrive together', () => {
  /** Both are there before the program runs on. */
  async function endWith(signal: 'SIGTERM' | 'SIGINT', child: ChildProcess): Promise<void> {
    child.kill('SIGSTOP');
    const stdin = child.stdin as Writable;
    await new Promise((resolve) => stdin.on('close', resolve).end());
    child.kill(signal);
    child.kill('SIGCONT');
  }
  const signals = [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const;

  /**
   * Which thread of the program gets a signal is up to the system, and one that sleeps gets it late: what came first is seen
   * first most of the time, and not always.
   */
  async function mostly(holds: () => Promise<boolean>): Promise<boolean> {
    let held = 0;
    for (let tries = 0; tries < 3 && held < 2; tries += 1) if (await holds()) held += 1;
    return held === 2;
  }

  it.each(signals)('%s while a question is open: exit %i, and no further model call', async (signal, code) => {
    const isHeard = async (): Promise<boolean> => {
      const api = await startFakeApi([
        { toolUse: { name: 'Bash', input: { command: 'touch asked' } } },
        'nobody should hear this',
      ]);
      const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key', NO_PROXY: '127.0.0.1' };
      const args = [...SERVE.slice(0, -2), '--permission-prompt-tool', 'stdio'];
      const { child, prints, done } = startCli(home.folder, args, { env, keepsInputOpen: true });
      child.stdin?.write(initialize + user('go'));
      await prints('can_use_tool');
      await endWith(signal, child);
      expect(await done).toMatchObject({ code, stderr: '' });
      await api.close();
      return api.requests.length === 1;
    };
    expect(await mostly(isHeard)).toBe(true);
  });

  it.each(signals)('%s with half a frame on the way: exit %i', async (signal, code) => {
    const { child, prints, done } = startCli(home.folder, SERVE, { keepsInputOpen: true });
    child.stdin?.write(initialize);
    await prints('control_response');
    child.stdin?.write('{"type":"us');
    await endWith(signal, child);
    expect(await done).toMatchObject({ code, stderr: '' });
  });

  it.each(signals)('%s while a prompt is read from stdin: exit %i, and no model call', async (signal, code) => {
    const isHeard = async (): Promise<boolean> => {
      const api = await startFakeApi(['nobody should hear this']);
      const key = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test-key', NO_PROXY: '127.0.0.1' };
      const env = { ...key, DEBUG: 'heddle' };
      const { child, complains, done } = startCli(home.folder, ['-p'], { env, keepsInputOpen: true });
      child.stdin?.write('hello');
      await complains('the prompt is read from stdin');
      await endWith(signal, child);
      expect(await done).toMatchObject({ code, stdout: '' });
      await api.close();
      return api.requests.length === 0;
    };
    expect(await mostly(isHeard)).toBe(true);
  });
});
