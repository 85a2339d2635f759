import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { pidFrom, until, untilGone } from '../workspace/running.js';
import { bashCall, command, createDoor, createHookBench, type HookBench, quiet, settingsOf } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

/** Waits in the shell until the test lets it go on. */
const WAIT = 'until [ -e go ]; do sleep 0.01; done';
const says = `echo '{"systemMessage":"x"}'`;
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
    const text = 'PostToolUse:Bash hook, running in the background, has finished: 42 tests';
    expect(await late).toEqual({ rewake: false, texts: [`<system-reminder>\n${text}\n</system-reminder>`] });
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
    await late;
    expect(bench.said()).toEqual(['notice: Stop says: done']);
  });

  it('whose whole answer is that line have nothing more to say', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command(`printf '{"async":true}'`)]) });
    expect(await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).toMatchObject({
      ran: 1,
      failures: [],
    });
  });

  it('have nothing left to decide', async () => {
    const hooks = bench.create({
      settings: settingsOf('PreToolUse', [command('echo no >&2; exit 2', { async: true })]),
    });
    const late = bench.nextLate();
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBeUndefined();
    expect(await late).toEqual({ rewake: false, texts: [] });
    expect(bench.said()).toEqual([
      'warning: PreToolUse:Bash hook: [echo no >&2; exit 2] it objects, too late to change anything: no',
    ]);
  });

  it('wake the model when they were declared to and say no', async () => {
    const settings = settingsOf('PostToolUse', [
      command(`${WAIT}; echo 'the build broke' >&2; exit 2`, { asyncRewake: true }),
    ]);
    const hooks = bench.create({ settings });
    await hooks.fire('PostToolUse', { ...bashCall('ls'), tool_response: '' }, { signal: quiet });
    const late = bench.nextLate();
    letGo();
    const text = 'PostToolUse:Bash hook, running in the background, objects:\nthe build broke';
    expect(await late).toEqual({ rewake: true, texts: [`<system-reminder>\n${text}\n</system-reminder>`] });
    expect(bench.said()).toEqual(['notice: PostToolUse:Bash says: the build broke']);
  });

  it('wake it in words of their own, and say others to the person', async () => {
    const rest = { asyncRewake: true, rewakeMessage: 'A review found:', rewakeSummary: 'The review is back' };
    const hooks = bench.create({ settings: settingsOf('Stop', [command('echo a hole >&2; exit 2', rest)]) });
    const late = bench.nextLate();
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect((await late).texts).toEqual(['<system-reminder>\nA review found:\na hole\n</system-reminder>']);
    expect(bench.said()).toEqual(['notice: Stop says: The review is back']);
  });

  it('wake nobody when they have no objection', async () => {
    const hooks = bench.create({ settings: settingsOf('Stop', [command('echo fine', { asyncRewake: true })]) });
    const late = bench.nextLate();
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(await late).toEqual({ rewake: false, texts: [] });
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
    await late;
    expect(bench.said()).toEqual(['notice: Stop says: done']);
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
    await late;
    expect(bench.said()).toEqual([expect.stringContaining(`it did not answer within ${text}`)]);
    await untilGone(pid);
  });

  it('are over when they were ended before they said so, and are told of once', async () => {
    const abort = new AbortController();
    const started = createDoor();
    const hooks = bench.create({
      settings: settingsOf('Stop', [command('true')]),
      runProcess: (spec) =>
        new Promise((resolve) => {
          const end = (): void => {
            spec.onOutput(Buffer.from('{"async":true}\n'), 'stdout');
            resolve({ code: null, signal: 'SIGTERM', timedOut: false, aborted: true });
          };
          // What a process prints comes behind the signal that ends it.
          spec.signal.addEventListener('abort', () => setImmediate(end));
          started.open();
        }),
    });
    const firing = hooks.fire('Stop', { stop_hook_active: false }, { signal: abort.signal });
    await started.opened;
    abort.abort();
    expect(await firing).toMatchObject({ cancelled: true });
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(bench.late).toEqual([]);
  });

  it('that cannot be told of are logged', async () => {
    const hooks = bench.create({
      settings: settingsOf('Stop', [command(says, { async: true })]),
      emit: () => {
        throw new Error('nobody is there');
      },
    });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    await until(() => bench.logged.length > 0);
    expect(bench.logged).toEqual(['error: What a Stop hook said late is lost: Error: nobody is there']);
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
    expect((await late).texts).toEqual([expect.stringContaining('late')]);
  });
});

it('pretty JSON is not taken for a first line', async () => {
  const line = `printf '{\\n  "decision": "block",\\n  "reason": "no"\\n}\\n'; touch printed`;
  const hooks = bench.create({ settings: settingsOf('PreToolUse', [command(line)]) });
  const firing = hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
  await until(() => existsSync(join(bench.folder, 'printed')));
  expect((await firing).decision).toBe('deny');
});
