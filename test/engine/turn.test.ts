import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ResultMessage } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { outline, resultText, start, user } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };

describe('a turn', () => {
  it('answers a prompt with init, a block and a result', async () => {
    const run = await start(['Hello.']);
    const result = await run.ask('Hi');
    expect(outline(run.messages)).toEqual(['system/init', 'assistant "Hello."', 'result success turns=1']);
    expect(result).toMatchObject({ result: 'Hello.', stop_reason: 'end_turn', terminal_reason: 'completed' });
    run.model.assertDone();
  });

  it('runs tool calls until the model is done, and counts its turns', async () => {
    const run = await start(
      [
        { thinking: 'hm', text: 'Looking.', toolUse: { name: 'Bash', input: { command: 'echo hi' } } },
        { toolUse: { name: 'Glob', input: { pattern: '*.md' } } },
        'Done.',
      ],
      { config: bypass },
    );
    const result = await run.ask('go');
    expect(outline(run.messages)).toEqual([
      'system/init',
      'assistant thinking',
      'assistant "Looking."',
      'assistant Bash({"command":"echo hi"})',
      'user ok toolu_1',
      'assistant Glob({"pattern":"*.md"})',
      'user ok toolu_2',
      'assistant "Done."',
      'result success turns=3',
    ]);
    expect(result.usage).toMatchObject({ input_tokens: 300, output_tokens: 60 });
    expect(run.model.requests[1]?.body.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
  });

  it('shows every event of the stream in order when partial messages are wanted, the block before its end', async () => {
    const run = await start([{ text: 'ab', deltas: 2 }], { config: { includePartialMessages: true } });
    await run.ask('Hi');
    expect(outline(run.messages)).toEqual([
      'system/init',
      'stream message_start',
      'stream content_block_start',
      'stream content_block_delta',
      'stream content_block_delta',
      'assistant "ab"',
      'stream content_block_stop',
      'stream message_delta',
      'stream message_stop',
      'result success turns=1',
    ]);
  });

  it('queues messages that come while a turn runs, and gives each its own init and result', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await start([{ text: 'one', waitFor: gate.promise }, 'two', 'three']);
    const uuid = '11111111-2222-4333-8444-555555555555';
    run.session.submit(user('1'));
    run.session.submit(user('2', { uuid }));
    run.session.submit(user('3'));
    run.session.endInput();
    gate.resolve();
    await run.session.finished;
    expect(outline(run.messages)).toEqual([
      'command_lifecycle',
      'system/init',
      'assistant "one"',
      'result success turns=1',
      'command_lifecycle',
      'system/init',
      'assistant "two"',
      'result success turns=1',
      'command_lifecycle',
      'system/init',
      'assistant "three"',
      'result success turns=1',
    ]);
    const results = run.messages.filter((message) => message.type === 'result') as ResultMessage[];
    expect(results.map((result) => result.result_index)).toEqual([0, 1, 2]);
    expect(run.model.requests[2]?.body.messages).toHaveLength(5);
  });

  it('runs read-only calls of one message together and others in order', async () => {
    const order: string[] = [];
    const gates = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
    const probe = (name: string, readOnly: boolean, wait?: Promise<void>) => ({
      name,
      description: name,
      inputSchema: { type: 'object' },
      parse: () => ({}),
      isReadOnly: () => readOnly,
      async run() {
        order.push(`${name} starts`);
        if (name === 'B') gates.a.resolve();
        await wait;
        order.push(`${name} ends`);
        return { content: name };
      },
    });
    const run = await start([{ toolUse: ['A', 'B', 'C', 'D'].map((name) => ({ name, input: {} })) }, 'Done.'], {
      config: bypass,
      tools: [probe('A', true, gates.a.promise), probe('B', true), probe('C', false), probe('D', true)],
    });
    await run.ask('go');
    expect(order.indexOf('B starts')).toBeLessThan(order.indexOf('A ends'));
    expect(order.slice(-4)).toEqual(['C starts', 'C ends', 'D starts', 'D ends']);
    expect(run.model.requests[1]?.body.messages.at(-1)?.content).toHaveLength(4);
  });

  it('tells the model which tool does not exist and which input is wrong, and lives on', async () => {
    const run = await start([
      { toolUse: { name: 'NoSuchTool', input: {} } },
      { toolUse: { name: 'Read', input: { bogus: 1 } } },
      { events: cutCall() },
      'ok',
    ]);
    const result = await run.ask('go');
    expect(resultText(run.messages, 'toolu_1')).toContain('No such tool available: NoSuchTool');
    expect(resultText(run.messages, 'toolu_2')).toMatch(/file_path/);
    expect(resultText(run.messages, 'toolu_cut')).toMatch(/not a JSON object/);
    expect(result.subtype).toBe('success');
  });

  it('carries a file through Read, Edit and Write with real files', async () => {
    const run = await start(
      [
        (request) => ({ toolUse: { name: 'Read', input: { file_path: pathIn(request) } } }),
        (request) => ({
          toolUse: { name: 'Edit', input: { file_path: pathIn(request), old_string: 'beta', new_string: 'BETA' } },
        }),
        { toolUse: { name: 'Write', input: { file_path: 'new.txt', content: 'x' } } },
        'Done.',
      ],
      { config: { permissionMode: 'acceptEdits' } },
    );
    writeFileSync(join(run.cwd, 'a.txt'), 'alpha\nbeta\n');
    await run.ask(`edit ${join(run.cwd, 'a.txt')}`);
    expect(readFileSync(join(run.cwd, 'a.txt'), 'utf8')).toBe('alpha\nBETA\n');
    expect(existsSync(join(run.cwd, 'new.txt'))).toBe(true);
  });
});

describe('limits', () => {
  const calls = (count: number) =>
    Array.from({ length: count }, () => ({ toolUse: { name: 'Bash', input: { command: 'echo 1' } } }));

  it('ends after maxTurns rounds', async () => {
    const run = await start(calls(2), { config: { ...bypass, maxTurns: 2 } });
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype: 'error_max_turns', is_error: true, num_turns: 3 });
    expect(result).toMatchObject({ errors: ['Reached maximum number of turns (2)'] });
    run.model.assertDone();
  });

  it('is no error for clients of SDK 0.2', async () => {
    const client = { entrypoint: 'sdk-ts', version: '0.2.50' };
    const run = await start(calls(1), { config: { ...bypass, maxTurns: 1, client } });
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_turns', is_error: false, errors: [] });
  });

  it('G7: stops before a tool once the budget is spent, and pairs the call it left', async () => {
    const run = await start([{ ...calls(1)[0], usage: { output_tokens: 1_000_000 } }, 'after'], {
      config: { ...bypass, maxBudgetUsd: 1 },
    });
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype: 'error_max_budget_usd', terminal_reason: 'budget_exhausted' });
    expect(resultText(run.messages, 'toolu_1')).toMatch(/not run/);
    const again = await run.ask('more');
    expect(again.subtype).toBe('error_max_budget_usd');
    expect(run.model.requests).toHaveLength(1);
  });

  it('G7: clamps max_tokens to what the budget leaves', async () => {
    const run = await start(['ok'], { config: { maxBudgetUsd: 0.05 } });
    await run.ask('go');
    const { max_tokens } = run.model.requests[0]?.body ?? { max_tokens: 0 };
    expect(max_tokens).toBeGreaterThan(100);
    expect(max_tokens * 15e-6).toBeLessThan(0.05);
  });

  it('refuses a budget for a model without a price', async () => {
    const opening = start(['ok'], { config: { model: 'somebody-elses-model', maxBudgetUsd: 1 } });
    await expect(opening).rejects.toMatchObject({ code: 'budget_unpriced' });
  });
});

describe('stop reasons', () => {
  it('max_tokens: asks the model to go on', async () => {
    const run = await start([{ text: 'first half', stopReason: 'max_tokens' }, 'second half']);
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype: 'success', result: 'first halfsecond half' });
    expect(outline(run.messages)[2]).toMatch(/cut off at the output limit/);
  });

  it('max_tokens: gives up after three continuations', async () => {
    const run = await start(Array.from({ length: 4 }, () => ({ text: 'more', stopReason: 'max_tokens' })));
    expect(await run.ask('go')).toMatchObject({ subtype: 'success', stop_reason: 'max_tokens' });
    run.model.assertDone();
  });

  it('refusal: an error that says so', async () => {
    const run = await start([{ text: 'I', stopReason: 'refusal' }]);
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype: 'error_during_execution', is_error: true, stop_reason: 'refusal' });
  });

  it('pause_turn: goes on with what there is', async () => {
    const run = await start([{ text: 'searching', stopReason: 'pause_turn' }, 'found']);
    expect(await run.ask('go')).toMatchObject({ result: 'found' });
    expect(run.model.requests[1]?.body.messages.at(-1)?.role).toBe('assistant');
  });

  it('empty content: asks once more, then fails', async () => {
    const run = await start([{}, {}]);
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_during_execution', is_error: true });
    run.model.assertDone();
  });
});

describe('failures of the model API', () => {
  const overloaded = () =>
    new HeddleError('model_overloaded', 'Overloaded', {
      retryable: true,
      data: { status: 529, message: 'Overloaded' },
    });

  it('G4: one message per retry with cause, wait and limit, then the answer', async () => {
    const run = await start([{ error: overloaded() }, 'ok']);
    const result = run.ask('go');
    await run.clock.armed();
    run.clock.advance(60_000);
    expect(await result).toMatchObject({ subtype: 'success', result: 'ok' });
    expect(run.messages).toContainEqual(
      expect.objectContaining({ subtype: 'api_retry', attempt: 1, max_retries: 10, error_status: 529 }),
    );
  });

  it('G4: falls back to the other model after three overloads', async () => {
    const script = [{ error: overloaded() }, { error: overloaded() }, { error: overloaded() }, 'from haiku'];
    const run = await start(script, { config: { fallbackModel: 'haiku' } });
    const result = run.ask('go');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await run.clock.armed();
      run.clock.advance(60_000);
    }
    expect(await result).toMatchObject({ result: 'from haiku' });
    expect(outline(run.messages)).toContain('system/model_fallback');
    expect(run.model.requests[3]?.body.model).toMatch(/haiku/);
  });

  it('G10: an answer that breaks off no longer counts for the context, but for the cost', async () => {
    const broken = new HeddleError('model_stream', 'The stream broke.', { retryable: true });
    const run = await start([
      { text: 'half', toolUse: { name: 'Bash', input: { command: 'x' } }, error: broken },
      'whole',
    ]);
    const pending = run.ask('go');
    await run.clock.armed();
    run.clock.advance(60_000);
    const result = await pending;
    expect(result).toMatchObject({ result: 'whole' });
    expect(run.model.requests[1]?.body).toEqual(run.model.requests[0]?.body);
    expect(result.usage.input_tokens).toBe(200);
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'api_retry', aborted_message_id: 'msg_1' }));
  });

  it('G10: a failure for good is explained in place of an answer, and the session stays usable', async () => {
    const error = new HeddleError('model_auth', 'Refused', { data: { status: 401, message: 'invalid x-api-key' } });
    const run = await start([{ error }, 'ok']);
    const result = await run.ask('go');
    expect(result).toMatchObject({
      subtype: 'success',
      is_error: true,
      error_code: 'model_auth',
      api_error_status: 401,
    });
    expect(run.messages).toContainEqual(
      expect.objectContaining({ type: 'assistant', error: 'authentication_failed', is_api_error_message: true }),
    );
    expect(await run.ask('again')).toMatchObject({ is_error: false, result: 'ok' });
    expect(run.model.requests[1]?.body.messages).toHaveLength(1);
  });
});

function pathIn(request: { body: { messages: { content: unknown }[] } }): string {
  return /edit ([^\s"]+a\.txt)/.exec(JSON.stringify(request.body.messages))?.[1] ?? '';
}

function cutCall() {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: 'msg_cut',
    type: 'message' as const,
    role: 'assistant' as const,
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  };
  return [
    { type: 'message_start' as const, message },
    {
      type: 'content_block_start' as const,
      index: 0,
      content_block: { type: 'tool_use' as const, id: 'toolu_cut', name: 'Read', input: {} },
    },
    {
      type: 'content_block_delta' as const,
      index: 0,
      delta: { type: 'input_json_delta' as const, partial_json: '{"file_path": "/a' },
    },
    { type: 'content_block_stop' as const, index: 0 },
    { type: 'message_delta' as const, delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage },
    { type: 'message_stop' as const },
  ];
}
