import { describe, expect, it } from 'vitest';
import { outline, resultText, start, user } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const never = new Promise<never>(() => {});

describe('G1: interrupt', () => {
  it('in mid-stream keeps the text so far, is no error, and the next message works', async () => {
    const run = await start(
      [{ text: 'one two three', deltas: 3, waitFor: never, pauseAfterDeltas: 2 }, 'second answer'],
      {
        config: { includePartialMessages: true },
      },
    );
    const first = run.ask('long please');
    await run.seen((message) => message.type === 'stream_event' && message.event.type === 'content_block_delta');
    run.session.interrupt();
    expect(await first).toMatchObject({
      subtype: 'error_during_execution',
      is_error: false,
      num_turns: 2,
      terminal_reason: 'aborted_streaming',
    });
    expect(outline(run.messages).filter((line) => !line.startsWith('stream'))).toEqual([
      'system/init',
      expect.stringMatching(/^assistant ".*" \(aborted\)$/),
      'user "[Request interrupted by user]"',
      'result error_during_execution turns=2',
    ]);
    expect(await run.ask('and now?')).toMatchObject({ subtype: 'success', result: 'second answer' });
    const roles = run.model.requests[1]?.body.messages.map((message) => message.role);
    expect(roles).toEqual(['user', 'assistant', 'user']);
  });

  it('in mid-tool: the running call says it was interrupted, the unstarted one that it was not run', async () => {
    const started = Promise.withResolvers<void>();
    const slow = {
      name: 'Slow',
      description: 'waits',
      inputSchema: { type: 'object' },
      parse: () => ({}),
      isReadOnly: () => false,
      run: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
          started.resolve();
        }),
    };
    const calls = [
      { name: 'Bash', input: { command: 'echo done' } },
      { name: 'Slow', input: {} },
      { name: 'Slow', input: {} },
    ];
    const run = await start([{ toolUse: calls }, 'next'], { config: bypass, tools: [slow] });
    const result = run.ask('go');
    await started.promise;
    run.session.interrupt();
    expect(await result).toMatchObject({ is_error: false, terminal_reason: 'aborted_tools', num_turns: 3 });
    expect(resultText(run.messages, 'toolu_1')).toBe('done');
    expect(resultText(run.messages, 'toolu_2')).toMatch(/interrupted/);
    expect(resultText(run.messages, 'toolu_3')).toMatch(/not run/);
    expect(await run.ask('go on')).toMatchObject({ result: 'next' });
  });

  it('while it waits for a retry', async () => {
    const { HeddleError } = await import('../../src/protocol/plain.js');
    const error = new HeddleError('model_server', 'down', { retryable: true, data: { status: 500 } });
    const run = await start([{ error }, 'ok']);
    const result = run.ask('go');
    await run.clock.armed();
    run.session.interrupt();
    expect(await result).toMatchObject({ is_error: false, subtype: 'error_during_execution' });
    expect(run.clock.pending).toEqual([]);
  });

  it('leaves queued messages alone unless they are cancelled too', async () => {
    const run = await start([{ text: 'one', waitFor: never, pauseAfterDeltas: 1 }, 'two'], {
      config: { includePartialMessages: true },
    });
    run.session.submit(user('1'));
    run.session.submit(user('2', { uuid: '11111111-2222-4333-8444-555555555555' }));
    await run.seen((message) => message.type === 'stream_event');
    expect(run.session.interrupt().stillQueued).toEqual(['11111111-2222-4333-8444-555555555555']);
    run.session.endInput();
    await run.session.finished;
    expect(run.session.lastResult).toMatchObject({ result: 'two' });
  });

  it('close() in the middle ends everything, and nothing more can be sent', async () => {
    const run = await start([{ text: 'one', waitFor: never }]);
    run.session.submit(user('1'));
    run.session.submit(user('2'));
    await run.seen((message) => message.type === 'system' && message.subtype === 'init');
    await run.session.close();
    await run.session.finished;
    expect(() => run.session.submit(user('3'))).toThrow(/closed/);
    expect(run.clock.pending).toEqual([]);
  });
});
