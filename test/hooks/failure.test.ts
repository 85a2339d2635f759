import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookFields, Hooks } from '../../src/engine/hooks/registry.js';
import type { FailureKind } from '../../src/engine/hooks/outcome.js';
import type { HookEvent } from '../../src/protocol/plain.js';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.js';
import {
  type BenchOptions,
  bashCall,
  callbacksOf,
  command,
  createHookBench,
  type HookBench,
  quiet,
  settingsOf,
} from './kit.js';

let bench: HookBench;
let clock: FakeClock | undefined;
beforeEach(() => {
  bench = createHookBench();
  clock = undefined;
});
afterEach(() => bench.close());

type Declare = (event: HookEvent, onFailure?: string) => BenchOptions;

const byCommand =
  (line: string, rest: BenchOptions = {}): Declare =>
  (event, onFailure) => ({
    settings: settingsOf(event, [command(line, { ...(onFailure && { onFailure }) })]),
    ...rest,
  });
const byCallback =
  (answer: () => unknown): Declare =>
  (event, onFailure) =>
    callbacksOf(event, [answer], { ...(onFailure && { onFailure }) });
const withClock =
  (declare: Declare): Declare =>
  (event, onFailure) => {
    clock = createFakeClock();
    return { ...declare(event, onFailure), clock };
  };

const FAILURES: readonly (readonly [what: string, kind: FailureKind, declare: Declare])[] = [
  ['a callback that throws', 'error', byCallback(() => Promise.reject(new Error('boom')))],
  ['a callback that never answers', 'timeout', withClock(byCallback(() => new Promise(() => {})))],
  ['a callback that answers with a text', 'invalid', byCallback(() => 'yes')],
  ['a callback that answers with a wrong field', 'invalid', byCallback(() => ({ decision: 'allow' }))],
  [
    'a callback that answers for another event',
    'invalid',
    byCallback(() => ({ hookSpecificOutput: { hookEventName: 'Setup' } })),
  ],
  [
    'a callback that does not name its event',
    'invalid',
    byCallback(() => ({ hookSpecificOutput: { permissionDecision: 'allow' } })),
  ],
  ['a callback that answers with what is no JSON', 'invalid', byCallback(() => ({ big: 1n }))],
  ['a command that is not there', 'start', byCommand('/nowhere/hook.sh')],
  ['a command without a folder', 'start', byCommand('true', { cwd: () => '/nowhere' })],
  ['a command that is killed', 'signal', byCommand('kill -9 $$')],
  ['a command whose child is killed', 'signal', byCommand('bash -c "kill -9 \\$\\$"; exit $?')],
  ['a command that never ends', 'timeout', withClock(byCommand('sleep 300'))],
  ['a command that prints half an object', 'invalid', byCommand('echo "{\\"decision\\":"')],
  ['a command that prints a wrong shape', 'invalid', byCommand(`echo '{"continue":"no"}'`)],
  ['a command that prints a wrong field in its own part', 'invalid', byCommand(`echo '{"hookSpecificOutput":{}}'`)],
  [
    'a callback that decides and says that nobody should wait',
    'invalid',
    byCallback(() => ({ async: true, decision: 'block' })),
  ],
  [
    'a command that decides and says that nobody should wait',
    'invalid',
    byCommand(`echo '{"async":true,"decision":"block"}'`),
  ],
  ['a command that prints far too much', 'invalid', byCommand('echo "{"; yes | head -c 2000000')],
];

const FIELDS = {
  PreToolUse: bashCall('ls'),
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  UserPromptSubmit: { prompt: 'hi' },
  Stop: { stop_hook_active: false },
  PostToolUse: { ...bashCall('ls'), tool_response: 'x' },
  Notification: { message: 'hello' },
} as const;

async function fire(hooks: Hooks, event: keyof typeof FIELDS) {
  const firing = hooks.fire(event, FIELDS[event] as HookFields<typeof event>, { signal: quiet });
  if (clock !== undefined) {
    await clock.armed();
    clock.advance(60_000);
  }
  return firing;
}

describe.each(FAILURES)('%s', (_, kind, declare) => {
  it('never lets a call pass (PreToolUse): it is asked about, and everybody is told', async () => {
    const verdict = await fire(bench.create(declare('PreToolUse')), 'PreToolUse');
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ kind, hookName: 'PreToolUse:Bash' }] });
    expect(bench.said()).toEqual([expect.stringMatching(/^error: The PreToolUse:Bash hook \(.*\) failed: .+\.$/s)]);
    expect(bench.logged.filter((line) => line.startsWith('error: '))).toHaveLength(1);
  });

  it('leaves the question to the person (PermissionRequest)', async () => {
    const verdict = await fire(bench.create(declare('PermissionRequest')), 'PermissionRequest');
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ kind }] });
    expect(verdict.permission).toBeUndefined();
  });

  it('holds a prompt back, puts the end off once, and changes nothing elsewhere', async () => {
    for (const [event, blocks] of [
      ['UserPromptSubmit', true],
      ['Stop', true],
      ['PostToolUse', false],
      ['Notification', false],
    ] as const) {
      const verdict = await fire(bench.create(declare(event)), event);
      expect([event, verdict.failures[0]?.kind, verdict.block !== undefined]).toEqual([event, kind, blocks]);
    }
    expect(bench.said()).toHaveLength(4);
  });
});

describe('onFailure', () => {
  const broken = (layer: 'user' | 'managed' | 'flag' | 'project' | 'local', event: HookEvent, onFailure: string) =>
    bench.create({ settings: settingsOf(event, [command('kill -9 $$', { onFailure })], { layer }) });

  it.each([
    ['user', 'allow', undefined],
    ['managed', 'allow', undefined],
    ['flag', 'allow', undefined],
    ['project', 'allow', 'ask'],
    ['local', 'allow', 'ask'],
    ['project', 'deny', 'deny'],
    ['user', 'deny', 'deny'],
    ['user', 'ask', 'ask'],
    ['user', 'whatever', 'ask'],
  ] as const)('%s: %s gives %s', async (layer, onFailure, decision) => {
    const verdict = await fire(broken(layer, 'PreToolUse', onFailure), 'PreToolUse');
    expect(verdict.decision).toBe(decision);
    expect(verdict.failures).toHaveLength(1);
    expect(bench.said()).toHaveLength(1);
  });

  it('of a callback is the word of its host', async () => {
    const hooks = bench.create(
      callbacksOf('PreToolUse', [() => Promise.reject(new Error('x'))], { onFailure: 'allow' }),
    );
    expect((await fire(hooks, 'PreToolUse')).decision).toBeUndefined();
  });

  it('can make an event strict that is no gate', async () => {
    expect((await fire(broken('project', 'PostToolUse', 'deny'), 'PostToolUse')).block?.reason).toContain(
      'killed by SIGKILL',
    );
    expect((await fire(broken('project', 'PostToolUse', 'ask'), 'PostToolUse')).block).toBeUndefined();
  });
});

describe('a gate that cannot tell', () => {
  it('runs its hooks when the name they match is missing', async () => {
    const hooks = bench.create({
      settings: [
        ...settingsOf('SubagentStop', [command('exit 2')], { matcher: 'Explore' }),
        ...settingsOf('SubagentStart', [command('exit 2')], { matcher: 'Explore' }),
      ],
    });
    const stop = { stop_hook_active: false, agent_id: 'a', agent_transcript_path: '/a' };
    expect((await hooks.fire('SubagentStop', stop, { signal: quiet })).ran).toBe(1);
    expect((await hooks.fire('SubagentStart', { agent_id: 'a', agent_type: 'Plan' }, { signal: quiet })).ran).toBe(0);
  });

  it('stays shut when the input cannot be written as JSON', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('true')]) });
    const verdict = await hooks.fire('PreToolUse', { ...bashCall('ls'), tool_input: { n: 1n } }, { signal: quiet });
    expect(verdict).toMatchObject({ decision: 'ask', failures: [{ kind: 'error' }] });
    expect(bench.said()[0]).toContain('The PreToolUse hooks could not be run');
  });

  it('stays shut when the hooks are closed', async () => {
    const hooks = bench.create({ settings: settingsOf('PreToolUse', [command('true')]) });
    hooks.close();
    expect(await fire(hooks, 'PreToolUse')).toMatchObject({ decision: 'ask', cancelled: true });
  });

  it('runs for everything when its matcher cannot be used', async () => {
    const settings = settingsOf('PreToolUse', [command('exit 2')], { matcher: 'Bash(rm:*)' });
    expect((await fire(bench.create({ settings }), 'PreToolUse')).decision).toBe('deny');
  });
});
