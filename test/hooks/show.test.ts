import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkMessage } from '../../src/protocol/check.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { until } from '../workspace/running.js';
import { bashCall, callbacksOf, command, createHookBench, type HookBench, quiet, settingsOf } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
const common = { type: 'system', hook_name: 'PreToolUse:Bash', hook_event: 'PreToolUse', uuid, session_id: 's1' };

const fire = (hooks: ReturnType<HookBench['create']>, signal = quiet) =>
  hooks.fire('PreToolUse', bashCall('ls'), { signal });

describe('messages about hooks', () => {
  it('tell of the start and the end of a command, when asked for', async () => {
    const settings = settingsOf('PreToolUse', [command('echo out; echo err >&2; exit 2')]);
    await fire(bench.create({ settings, includeHookEvents: true }));
    const [started, ended] = bench.messages;
    expect(started).toEqual({ ...common, subtype: 'hook_started', hook_id: uuid });
    expect(ended).toMatchObject({
      ...common,
      subtype: 'hook_response',
      hook_id: (started as { hook_id: string }).hook_id,
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 2,
      outcome: 'error',
    });
    expect((ended as { output: string }).output.split('\n').toSorted()).toEqual(['', 'err', 'out']);
    for (const message of bench.messages) checkMessage(message);
  });

  it('are not sent when nobody asked', async () => {
    await fire(bench.create({ settings: settingsOf('PreToolUse', [command('echo out')]) }));
    expect(bench.messages).toEqual([]);
  });

  it('are always sent for SessionStart and Setup', async () => {
    const settings = [...settingsOf('SessionStart', [command('echo out')]), ...settingsOf('Setup', [command('true')])];
    const hooks = bench.create({ settings });
    await hooks.fire('SessionStart', { source: 'startup' }, { signal: quiet });
    await hooks.fire('Setup', { trigger: 'init' }, { signal: quiet });
    expect(
      bench.messages.map((message) => `${message.subtype} ${'hook_name' in message ? message.hook_name : ''}`),
    ).toEqual([
      'hook_started SessionStart:startup',
      'hook_response SessionStart:startup',
      'hook_started Setup:init',
      'hook_response Setup:init',
    ]);
    expect(bench.messages[1]).toMatchObject({ outcome: 'success', exit_code: 0, output: 'out\n' });
  });

  it('tell of prompts and addresses too, and never of callbacks', async () => {
    const hooks = bench.create({
      ...callbacksOf('PreToolUse', [() => ({})]),
      settings: settingsOf('PreToolUse', [
        { type: 'prompt', prompt: 'ok?' },
        { type: 'http', url: 'http://x.test/' },
      ]),
      callModel: async () => '{"ok": false, "reason": "no"}',
      post: async () => ({ status: 200, body: '{"decision":"approve"}' }),
      includeHookEvents: true,
    });
    await fire(hooks);
    const ends = bench.messages.filter(({ subtype }) => subtype === 'hook_response');
    expect(bench.messages).toHaveLength(4);
    expect(ends).toEqual([
      expect.objectContaining({ outcome: 'error', output: 'no' }),
      expect.objectContaining({ outcome: 'success', output: '{"decision":"approve"}' }),
    ]);
  });

  it('hide what a hook wants hidden', async () => {
    const settings = settingsOf('PreToolUse', [command(`echo '{"suppressOutput":true,"systemMessage":"x"}'`)]);
    await fire(bench.create({ settings, includeHookEvents: true }));
    expect(bench.messages[1]).toMatchObject({ subtype: 'hook_response', stdout: '', output: '', outcome: 'success' });
  });

  it('are bounded', async () => {
    const settings = settingsOf('PreToolUse', [command('yes | head -c 900000')]);
    await fire(bench.create({ settings, includeHookEvents: true }));
    const { stdout } = bench.messages[1] as { stdout: string };
    expect(stdout.length).toBeLessThan(30_100);
    expect(stdout).toContain('were cut');
  });

  it('show once a second what is new while a command runs', async () => {
    const clock = createFakeClock();
    let printed = '';
    const settings = settingsOf('PreToolUse', [
      command('echo one; until [ -e go ]; do sleep 0.01; done; echo two; until [ -e end ]; do sleep 0.01; done'),
    ]);
    const hooks = bench.create({
      clock,
      settings,
      includeHookEvents: true,
      runProcess: (spec) =>
        bench.workspace.run({
          ...spec,
          onOutput: (chunk, stream) => {
            spec.onOutput(chunk, stream);
            printed += Buffer.from(chunk).toString();
          },
        }),
    });
    const firing = fire(hooks);
    await until(() => printed === 'one\n');
    clock.advance(999);
    expect(bench.messages).toHaveLength(1);
    clock.advance(1);
    expect(bench.messages[1]).toMatchObject({
      ...common,
      subtype: 'hook_progress',
      stdout: 'one\n',
      output: 'one\n',
      stderr: '',
    });
    clock.advance(5_000);
    expect(bench.messages).toHaveLength(2);
    writeFileSync(join(bench.folder, 'go'), '');
    await until(() => printed === 'one\ntwo\n');
    clock.advance(1_000);
    expect(bench.messages[2]).toMatchObject({ subtype: 'hook_progress', stdout: 'one\ntwo\n' });
    writeFileSync(join(bench.folder, 'end'), '');
    await firing;
    expect(bench.messages.map(({ subtype }) => subtype)).toEqual([
      'hook_started',
      'hook_progress',
      'hook_progress',
      'hook_response',
    ]);
    expect(clock.pending).toEqual([]);
    for (const message of bench.messages) checkMessage(message);
  });

  it('say that a hook was cancelled', async () => {
    const abort = new AbortController();
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('sleep 300')]), includeHookEvents: true });
    const firing = fire(hooks, abort.signal);
    await until(() => bench.messages.length === 1);
    abort.abort();
    await firing;
    expect(bench.messages[1]).toMatchObject({ subtype: 'hook_response', outcome: 'cancelled' });
  });

  it('tell of the end of one that nobody waited for', async () => {
    const settings = settingsOf('Stop', [command('echo late', { async: true })]);
    const late = bench.nextLate();
    await bench
      .create({ settings, includeHookEvents: true })
      .fire('Stop', { stop_hook_active: false }, { signal: quiet });
    await late;
    expect(bench.messages.map(({ subtype }) => subtype)).toEqual(['hook_started', 'hook_response']);
  });
});
