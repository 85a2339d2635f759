import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { pidFrom, until, untilGone } from '../workspace/running.js';
import { bashCall, command, createHookBench, type HookBench, quiet, settingsOf } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

/** Waits in the shell until the test lets it go on. */
const WAIT = 'until [ -e go ]; do sleep 0.01; done';
const letGo = (): void => writeFileSync(join(bench.folder, 'go'), '');

describe('commands that nobody waits for', () => {
  it('declared so, go on and deliver later', async () => {
    const line = `${WAIT}; echo '{"systemMessage":"tests pass","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"42 tests"}}'`;
    const hooks = bench.create({ settings: settingsOf('PostToolUse', [command(line, { async: true })]) });
    const verdict = await hooks.fire('PostToolUse', { ...bashCall('ls'), tool_response: '' }, { signal: quiet });
    expect(verdict).toMatchObject({ ran: 1, additionalContext: [] });
    expect(bench.late).toEqual([]);
    const late = bench.nextLate();
    letGo();
    expect(await late).toMatchObject({
      event: 'PostToolUse',
      hookName: 'PostToolUse:Bash',
      source: line,
      rewake: false,
      verdict: { additionalContext: ['42 tests'], systemMessages: ['tests pass'] },
    });
    expect(bench.said()).toEqual(['notice: PostToolUse:Bash says: tests pass']);
  });

  it('say so in their first line, and answer with what follows', async () => {
    const line = `echo '{"async":true}'; ${WAIT}; echo '{"systemMessage":"done"}'`;
    const hooks = bench.create({ settings: settingsOf('Stop', [command(line)]) });
    expect(await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet })).toMatchObject({
      ran: 1,
      failures: [],
    });
    const late = bench.nextLate();
    letGo();
    expect((await late).verdict.systemMessages).toEqual(['done']);
  });

  it('whose whole answer is that line have nothing more to say', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command(`printf '{"async":true}'`)]) });
    expect(await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).toMatchObject({
      ran: 1,
      failures: [],
      outputs: [],
    });
  });

  it('have nothing left to decide', async () => {
    const hooks = bench.create({
      settings: settingsOf('PreToolUse', [command('echo no >&2; exit 2', { async: true })]),
    });
    const late = bench.nextLate();
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBeUndefined();
    const { verdict, rewake } = await late;
    expect(verdict.decision).toBeUndefined();
    expect(verdict.block?.reason).toBe('no');
    expect(rewake).toBe(false);
  });

  it('wake the model when they were declared to and say no', async () => {
    const settings = settingsOf('PostToolUse', [
      command(`${WAIT}; echo 'the build broke' >&2; exit 2`, { asyncRewake: true }),
    ]);
    const hooks = bench.create({ settings });
    await hooks.fire('PostToolUse', { ...bashCall('ls'), tool_response: '' }, { signal: quiet });
    const late = bench.nextLate();
    letGo();
    expect(await late).toMatchObject({ rewake: true, verdict: { block: { reason: 'the build broke' } } });
  });

  it('go on when the turn is interrupted, and are ended when the session is closed', async () => {
    const abort = new AbortController();
    const hooks = bench.create({
      settings: settingsOf('Stop', [command('echo $$ > pid; sleep 300', { async: true })]),
    });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: abort.signal });
    const pid = await pidFrom(join(bench.folder, 'pid'));
    abort.abort();
    hooks.close();
    await untilGone(pid);
    expect(bench.late).toEqual([]);
    expect(bench.said()).toEqual([]);
  });

  it('are not cancelled with the turn they were started in', async () => {
    const abort = new AbortController();
    const line = `echo '{"async":true}'; ${WAIT}; echo '{"systemMessage":"done"}'`;
    const hooks = bench.create({ settings: settingsOf('Stop', [command(line)]) });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: abort.signal });
    abort.abort();
    const late = bench.nextLate();
    letGo();
    expect((await late).verdict.systemMessages).toEqual(['done']);
  });

  it.each([
    ['60 s', `echo '{"async":true}'; echo $$ > pid; sleep 300`, {}, 60_000, '60 s'],
    ['what the line says', `echo '{"async":true,"asyncTimeout":5000}'; echo $$ > pid; sleep 300`, {}, 5_000, '5 s'],
    ['what the declaration says', 'echo $$ > pid; sleep 300', { async: true, timeout: 7 }, 7_000, '7 s'],
  ])('have %s', async (_, line, rest, ms, text) => {
    const clock = createFakeClock();
    const hooks = bench.create({ clock, settings: settingsOf('PreToolUse', [command(line, rest)]) });
    await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
    const pid = await pidFrom(join(bench.folder, 'pid'));
    expect(clock.pending).toEqual([ms]);
    const late = bench.nextLate();
    clock.advance(ms);
    expect((await late).verdict.failures[0]?.message).toBe(`it did not answer within ${text}`);
    expect(bench.said()[0]).toContain(`it did not answer within ${text}`);
    await untilGone(pid);
  });

  it('do not hold up the others', async () => {
    const settings = settingsOf('UserPromptSubmit', [
      command(`${WAIT}; echo late`, { async: true }),
      command('echo now'),
    ]);
    const hooks = bench.create({ settings });
    expect((await hooks.fire('UserPromptSubmit', { prompt: 'hi' }, { signal: quiet })).additionalContext).toEqual([
      'now',
    ]);
    const late = bench.nextLate();
    letGo();
    expect((await late).verdict.additionalContext).toEqual(['late']);
  });
});

it('pretty JSON is not taken for a first line', async () => {
  const line = `printf '{\\n  "decision": "block",\\n  "reason": "no"\\n}\\n'; touch printed`;
  const hooks = bench.create({ settings: settingsOf('PreToolUse', [command(line)]) });
  const firing = hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
  await until(() => existsSync(join(bench.folder, 'printed')));
  expect((await firing).decision).toBe('deny');
});
