import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { isRunning, pidFrom, untilGone } from '../workspace/running.js';
import { bashCall, command, createHookBench, type HookBench, quiet, settingsOf } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

const read = (name: string): string => readFileSync(join(bench.folder, name), 'utf8');

const json = (value: unknown): string => `cat <<'EOF'\n${JSON.stringify(value)}\nEOF`;

describe('what a command is given', () => {
  it('reads the input as one line of JSON', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('cat > input.json')]) });
    await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet, toolUseId: 'toolu_1' });
    expect(read('input.json').endsWith('}\n')).toBe(true);
    expect(JSON.parse(read('input.json'))).toEqual({
      session_id: 's1',
      transcript_path: '/t.jsonl',
      cwd: bench.folder,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      ...bashCall('ls'),
    });
  });

  it('can open /dev/stdin', async () => {
    const hooks = bench.create({ settings: settingsOf('Stop', [command('cat /dev/stdin > input.json')]) });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(JSON.parse(read('input.json'))).toMatchObject({ hook_event_name: 'Stop' });
    expect(bench.said()).toEqual([]);
  });

  it('does not run what ~/.bashrc says', async () => {
    writeFileSync(join(bench.folder, '.bashrc'), 'touch bashrc-ran');
    const hooks = bench.create({ settings: settingsOf('Stop', [command('touch hook-ran')]) });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(existsSync(join(bench.folder, 'hook-ran'))).toBe(true);
    expect(existsSync(join(bench.folder, 'bashrc-ran'))).toBe(false);
  });

  it('need not read a large input', async () => {
    const hooks = bench.create({ settings: settingsOf('UserPromptSubmit', [command('echo seen')]) });
    const verdict = await hooks.fire('UserPromptSubmit', { prompt: 'x'.repeat(3_000_000) }, { signal: quiet });
    expect(verdict.additionalContext).toEqual(['seen']);
  });

  it('runs in the folder of the session, knows the project, and no credentials (E4)', async () => {
    const hooks = bench.create({
      settings: settingsOf('Stop', [command('pwd > where; env > env')]),
      env: { PATH: process.env.PATH ?? '', MINE: 'yes', ANTHROPIC_API_KEY: 'secret', ANTHROPIC_AUTH_TOKEN: 'secret' },
      projectDir: '/the/project',
    });
    await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(read('where')).toBe(`${bench.folder}\n`);
    expect(read('env')).toContain('CLAUDE_PROJECT_DIR=/the/project\n');
    expect(read('env')).toContain('HEDDLE_PROJECT_DIR=/the/project\n');
    expect(read('env')).toContain('MINE=yes\n');
    expect(read('env')).not.toContain('secret');
  });
});

describe('what a command says', () => {
  const fire = (line: string) =>
    bench
      .create({ settings: settingsOf('PreToolUse', [command(line)]) })
      .fire('PreToolUse', bashCall('ls'), { signal: quiet });

  it('exit 0 with JSON is an answer', async () => {
    const answer = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'no ls',
      },
      x: 1,
    };
    const verdict = await fire(json(answer));
    expect(verdict).toMatchObject({ decision: 'deny', by: { reason: 'no ls' } });
  });

  it('exit 0 with text says nothing about a call', async () => {
    expect(await fire('echo all fine')).toMatchObject({ ran: 1, additionalContext: [], failures: [], warnings: [] });
  });

  it('exit 2 denies with what stands on stderr', async () => {
    expect(await fire('echo ignored; echo "not in here" >&2; exit 2')).toMatchObject({
      decision: 'deny',
      by: { reason: 'not in here', byExit: true, source: 'echo ignored; echo "not in here" >&2; exit 2' },
    });
  });

  it('any other exit code is a warning and no more', async () => {
    const verdict = await fire('echo broken >&2; exit 1');
    expect(verdict.decision).toBeUndefined();
    expect(verdict.failures).toEqual([]);
    expect(bench.said()).toEqual([
      'warning: PreToolUse:Bash hook: [echo broken >&2; exit 1] it exited with code 1: broken',
    ]);
  });

  it.each(['UserPromptSubmit', 'SessionStart'] as const)('plain text is context for %s', async (event) => {
    const hooks = bench.create({ settings: settingsOf(event, [command('echo one; echo two')]) });
    const fields = event === 'SessionStart' ? { source: 'startup' } : { prompt: 'hi' };
    const verdict = await hooks.fire(event as 'SessionStart', fields as { source: string }, { signal: quiet });
    expect(verdict.additionalContext).toEqual(['one\ntwo']);
  });

  it('long text is cut, and far too long text does not fill memory', async () => {
    const hooks = bench.create({ settings: settingsOf('UserPromptSubmit', [command('yes | head -c 5000000')]) });
    const verdict = await hooks.fire('UserPromptSubmit', { prompt: 'hi' }, { signal: quiet });
    expect(verdict.additionalContext[0]?.length).toBeLessThan(10_100);
    expect(verdict.additionalContext[0]).toContain('more characters of the hook were cut');
  });

  it('an answer behind more text than is kept is not lost in silence', async () => {
    const verdict = await fire(`yes | head -c 1200000; ${json({ decision: 'block' })}`);
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ message: 'it printed more than 1 MB' }] });
  });

  it.each([1_048_560, 1_048_576, 5_000_000])(
    'nor is one where text is context, behind %d bytes of it',
    async (bytes) => {
      const line = `yes | head -c ${bytes}; ${json({ decision: 'block', reason: 'no' })}`;
      const hooks = bench.create({ settings: settingsOf('UserPromptSubmit', [command(line)]) });
      const verdict = await hooks.fire('UserPromptSubmit', { prompt: 'hi' }, { signal: quiet });
      expect(verdict.failures).toMatchObject([{ message: expect.stringContaining('before its JSON answer') }]);
      expect(verdict.block).toBeDefined();
    },
  );

  it.each([137, 162, 192])('exit %d is what a shell says of a program that was killed: a failure', async (code) => {
    expect(await fire(`exit ${code}`)).toMatchObject({ decision: 'ask', failures: [{ kind: 'signal' }] });
  });

  it.each(['printf "\\0{}"', 'printf "\\377\\376{\\0}\\0"', 'printf "\\0{\\0}"'])(
    'bytes that are no text do not hide an answer: %s',
    async (line) => {
      expect(await fire(line)).toMatchObject({ decision: 'ask', failures: [{ kind: 'invalid' }] });
    },
  );

  it('JSON behind some noise is not lost in silence', async () => {
    const verdict = await fire(`echo loading; ${json({ decision: 'block' })}`);
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ kind: 'invalid' }] });
  });
});

describe('how commands run', () => {
  it('all at once', async () => {
    const meet = (mine: string, other: string) =>
      command(`touch ${mine}; until [ -e ${other} ]; do sleep 0.01; done; echo met`);
    const hooks = bench.create({ settings: settingsOf('UserPromptSubmit', [meet('a', 'b'), meet('b', 'a')]) });
    const verdict = await hooks.fire('UserPromptSubmit', { prompt: 'hi' }, { signal: quiet });
    expect(verdict.additionalContext).toEqual(['met', 'met']);
  });

  it('identical ones once, different ones each', async () => {
    const twice = [
      ...settingsOf('Stop', [command('echo x >> count'), command('echo x >> count')]),
      ...settingsOf('Stop', [command('echo x >> count')], { layer: 'project' }),
      ...settingsOf('Stop', [command('echo y >> count')]),
    ];
    const verdict = await bench
      .create({ settings: twice })
      .fire('Stop', { stop_hook_active: false }, { signal: quiet });
    expect(verdict.ran).toBe(2);
    expect(read('count').split('\n').toSorted().join('')).toBe('xy');
  });

  it('a duplicate in a project does not take the place of a guard of the user', async () => {
    const guard = 'sleep 0.01; exit 2';
    const settings = [
      ...settingsOf('PreToolUse', [command(guard, { async: true })], { layer: 'project' }),
      ...settingsOf('PreToolUse', [command(guard)], { layer: 'user' }),
    ];
    const verdict = await bench.create({ settings }).fire('PreToolUse', bashCall('ls'), { signal: quiet });
    expect(verdict.decision).toBe('deny');
  });

  it('is ended with its whole group when its time is up', async () => {
    const clock = createFakeClock();
    const hooks = bench.create({
      clock,
      settings: settingsOf('PreToolUse', [
        command('sleep 300 & echo $! > child; echo $$ > parent; wait', { timeout: 5 }),
      ]),
    });
    const firing = hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet });
    const pids = await Promise.all(['child', 'parent'].map((name) => pidFrom(join(bench.folder, name))));
    clock.advance(4_999);
    expect(pids.every(isRunning)).toBe(true);
    clock.advance(1);
    expect(await firing).toMatchObject({
      decision: 'ask',
      failures: [{ kind: 'timeout', message: 'it did not answer within 5 s' }],
    });
    await Promise.all(pids.map(untilGone));
  });

  it('has 60 s unless it says otherwise', async () => {
    const clock = createFakeClock();
    const hooks = bench.create({ clock, settings: settingsOf('Stop', [command('sleep 300')]) });
    const firing = hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet });
    await clock.armed();
    clock.advance(60_000);
    expect((await firing).failures[0]?.message).toBe('it did not answer within 60 s');
  });

  it('has 1.5 s when the session ends, whatever it says (B1)', async () => {
    const clock = createFakeClock();
    const hooks = bench.create({ clock, settings: settingsOf('SessionEnd', [command('sleep 300', { timeout: 100 })]) });
    const firing = hooks.fire('SessionEnd', { reason: 'other' }, { signal: quiet });
    await clock.armed();
    clock.advance(1_500);
    expect((await firing).failures[0]?.kind).toBe('timeout');
  });

  it('is cancelled by the signal, without a word about a failure', async () => {
    const abort = new AbortController();
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('echo $$ > pid; sleep 300')]) });
    const firing = hooks.fire('PreToolUse', bashCall('ls'), { signal: abort.signal });
    const pid = await pidFrom(join(bench.folder, 'pid'));
    abort.abort();
    expect(await firing).toMatchObject({ cancelled: true, decision: 'ask', failures: [] });
    await untilGone(pid);
    expect(bench.said()).toEqual([]);
  });

  it('does not start when the signal has aborted already', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('touch started')]) });
    const verdict = await hooks.fire('PreToolUse', bashCall('ls'), { signal: AbortSignal.abort() });
    expect(verdict).toMatchObject({ cancelled: true, decision: 'ask' });
    expect(existsSync(join(bench.folder, 'started'))).toBe(false);
  });

  it('does not wait for what a command leaves in the background', async () => {
    const hooks = bench.create({ settings: settingsOf('UserPromptSubmit', [command('sleep 300 & echo done')]) });
    const verdict = await hooks.fire('UserPromptSubmit', { prompt: 'hi' }, { signal: quiet });
    expect(verdict.additionalContext).toEqual(['done']);
  });
});

describe('`if`', () => {
  it('runs a hook only for calls that match the rule', async () => {
    const asked: unknown[] = [];
    const hooks = bench.create({
      settings: settingsOf('PreToolUse', [command('exit 2', { if: 'Bash(git *)' })]),
      matchesRule: (rule, call) => {
        asked.push([rule, call]);
        return (call.input as { command: string }).command.startsWith('git ');
      },
    });
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBeUndefined();
    expect((await hooks.fire('PreToolUse', bashCall('git push'), { signal: quiet })).decision).toBe('deny');
    expect(asked[0]).toEqual(['Bash(git *)', { toolName: 'Bash', input: { command: 'ls' }, atGate: true }]);
  });

  it('a rule that cannot be used runs a guard for every call, and says so once', async () => {
    const matchesRule = () => {
      throw new Error('Bash( is not closed');
    };
    const settings = [
      ...settingsOf('PreToolUse', [command('exit 2', { if: 'Bash(' })]),
      ...settingsOf('PostToolUse', [command('exit 2', { if: 'Bash(' })]),
    ];
    const hooks = bench.create({ settings, matchesRule });
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBe('deny');
    expect((await hooks.fire('PreToolUse', bashCall('ls'), { signal: quiet })).decision).toBe('deny');
    const post = await hooks.fire('PostToolUse', { ...bashCall('ls'), tool_response: '' }, { signal: quiet });
    expect(post.ran).toBe(0);
    expect(bench.said()).toEqual([
      expect.stringContaining('It runs for every call: Bash( is not closed'),
      expect.stringContaining('It does not run: Bash( is not closed'),
    ]);
  });

  it('where there is no tool call, a gate always runs', async () => {
    const hooks = bench.create({ settings: settingsOf('Stop', [command('exit 2', { if: 'Bash' })]) });
    expect((await hooks.fire('Stop', { stop_hook_active: false }, { signal: quiet })).block).toBeDefined();
  });
});

it('the workspace gives a process its input (B2: without one it is /dev/null)', async () => {
  let text = '';
  const exit = await bench.workspace.run({
    argv: ['bash', '-c', 'cat; echo "[end]"'],
    cwd: bench.folder,
    env: { PATH: process.env.PATH ?? '' },
    signal: quiet,
    input: new TextEncoder().encode('given'),
    onOutput: (chunk) => {
      text += Buffer.from(chunk).toString();
    },
  });
  expect({ code: exit.code, text }).toEqual({ code: 0, text: 'given[end]\n' });
});
