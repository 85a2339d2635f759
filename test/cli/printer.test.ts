import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { describeNotice, tellWaiting } from '../../src/cli/notices.js';
import { createPrinter, type PrinterOptions } from '../../src/cli/printer.js';
import type { Session } from '../../src/engine/session.js';
import type { Message } from '../../src/protocol/index.js';
import { success, system, text } from './message-samples.js';

async function print(options: Partial<PrinterOptions>, ...messages: Message[]) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const printer = await createPrinter({
    format: 'text',
    verbose: false,
    isTerminal: false,
    stdout,
    stderr,
    view: { colour: false, cwd: '/shop' },
    ...options,
  });
  printer.startAt(1);
  for (const message of messages) printer.deliver(message);
  await printer.end();
  return { stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}

const lost = system('session_writes_lost', { error: 'ENOSPC: \x1b[2J' });

describe('createPrinter', () => {
  it('D6: an answer is written out on a terminal, and left as it is in a pipe', async () => {
    const evil = success('\x1b[31mred\u202e');
    expect((await print({ isTerminal: true }, evil)).stdout).toBe('\\x1b[31mred\\u202e\n');
    expect((await print({ isTerminal: false }, evil)).stdout).toBe('\x1b[31mred\u202e\n');
  });

  it('text: every answer is printed when it comes; json: the last one', async () => {
    const later = success('later', { origin: { kind: 'task-notification' } });
    expect((await print({}, success('first'), later)).stdout).toBe('first\nlater\n');
    expect(JSON.parse((await print({ format: 'json' }, success('first'), later)).stdout).result).toBe('later');
  });

  it('the view tells the cost of this answer alone', async () => {
    const { stdout } = await print({ format: 'terminal' }, text('hi'), success('hi', { total_cost_usd: 1.25 }));
    expect(stdout).toBe('hi\n\n✓ 3 turns · 1.2 s · $0.25\n');
  });

  it.each(['text', 'json', 'terminal'] as const)('%s: a session that is not kept is said on stderr', async (format) => {
    const { stdout, stderr } = await print({ format }, lost, success());
    expect(stderr).toBe('heddle: the session cannot be written, so it cannot be resumed: ENOSPC: \\x1b[2J\n');
    expect(stdout).not.toContain('ENOSPC');
  });

  it('with --verbose the view on stderr says it, once', async () => {
    const { stderr } = await print({ verbose: true }, lost, success());
    expect(stderr.match(/session/g)).toHaveLength(1);
  });
});

describe('describeNotice', () => {
  const retry = (fields: Record<string, unknown>): Message =>
    system('api_retry', { attempt: 1, max_retries: 10, retry_delay_ms: 512, error: 'server_error', ...fields });

  it.each([
    [
      { error_code: 'model_overloaded', error_status: 529, retry_delay_ms: 7_200_000 },
      'heddle: the model API is overloaded (529); trying again in 7200 s (attempt 1 of 10)\n',
    ],
    [
      { error_code: 'model_connection', error_status: null, attempt: 3 },
      'heddle: the model API could not be reached; trying again in 0.5 s (attempt 3 of 10)\n',
    ],
    [
      { error_status: 500, error_message: 'odd \x1b' },
      'heddle: odd \\x1b (500); trying again in 0.5 s (attempt 1 of 10)\n',
    ],
    [
      { error_status: 503, error_code: 'constructor' },
      'heddle: server_error (503); trying again in 0.5 s (attempt 1 of 10)\n',
    ],
  ])('%j', (fields, line) => {
    expect(describeNotice(retry(fields))).toBe(line);
  });

  it.each([
    [{ status: 'allowed', utilization: 0.2 }, undefined],
    [{ status: 'rejected' }, 'heddle: the rate limit of your account is reached\n'],
    [
      { status: 'allowed_warning', rateLimitType: 'five_hour', utilization: 0.919 },
      'heddle: the rate limit of your account is nearly reached (five_hour, 91 % used)\n',
    ],
  ])('of a rate limit: %j', (rate_limit_info, line) => {
    expect(describeNotice({ type: 'rate_limit_event', rate_limit_info, uuid: 'u', session_id: 's' })).toBe(line);
  });

  it('nothing of other messages', () => {
    expect([system('init', {}), text('hi'), success()].map(describeNotice)).toEqual([undefined, undefined, undefined]);
  });
});

describe('what is said while background tasks are waited for', () => {
  it.each([
    [['local_bash'], 'heddle: waiting a few seconds for a background task to end\n'],
    [['local_agent'], 'heddle: waiting for a background agent to end\n'],
    [['local_bash', 'local_agent'], 'heddle: waiting for 2 background tasks to end\n'],
    [[], ''],
  ])('%j', (types, expected) => {
    let said = '';
    const session = { scope: { tasks: { running: types.map((type) => ({ type })) } } } as unknown as Session;
    const stderr = { write: (more: string) => (said += more) };
    tellWaiting({ type: 'result' } as Message, { session, stderr });
    expect(said).toBe(expected);
  });
});
