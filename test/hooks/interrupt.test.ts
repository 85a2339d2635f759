/** G1, B1: hooks hold up neither an interrupt nor the end of a session. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLOSE_GRACE_MS, INTERRUPT_GRACE_MS } from '../../src/engine/hooks/grace.js';
import type { HookEvent } from '../../src/protocol/plain.js';
import type { Run } from '../engine/kit.js';
import { bash, BYPASS, call, createStage, textOf } from '../guard/stage.js';
import { LOCAL, USER } from '../settings/place.js';
import { pidFrom, untilGone } from '../workspace/running.js';
import { createDoor } from './kit.js';

/** A callback that never answers, and what becomes of it. */
async function hang(run: Run, event: HookEvent, rest: { timeout?: number } = {}) {
  const { opened: asked, open: onAsked } = createDoor();
  const { opened: cancelled, open: onCancelled } = createDoor();
  const detach = await run.session.scope.hooks.attach({
    callbacks: { [event]: [{ hookCallbackIds: ['hangs'], ...rest }] },
    askCallback: (_id, _input, _toolUseId, { signal }) => {
      signal.addEventListener('abort', onCancelled, { once: true });
      onAsked();
      return new Promise(() => {});
    },
  });
  return { asked, cancelled, detach };
}

const isOver = async (promise: Promise<unknown>): Promise<boolean> => {
  let over = false;
  void promise.then(() => {
    over = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return over;
};

const INTERRUPTED = { subtype: 'error_during_execution', is_error: false };

describe('G1: an interrupt', () => {
  it('waits a while for hooks that hear of the call it stopped, and no longer', async () => {
    const run = await createStage().open([bash('echo $$ > pid; exec sleep 300')], { config: BYPASS });
    const { asked, cancelled } = await hang(run, 'PostToolUseFailure');
    const result = run.ask('go');
    await pidFrom(join(run.cwd, 'pid'));
    run.session.interrupt();
    await asked;
    run.clock.advance(INTERRUPT_GRACE_MS - 1);
    expect(await isOver(result)).toBe(false);
    run.clock.advance(1);
    expect(await result).toMatchObject({ ...INTERRUPTED, terminal_reason: 'aborted_tools' });
    await cancelled;
    expect(INTERRUPT_GRACE_MS).toBeLessThan(1_000);
  });

  it('counts the time that the call took to stop', async () => {
    const started = createDoor();
    const slow = {
      name: 'Slow',
      description: 'stops when it likes',
      inputSchema: { type: 'object' },
      parse: () => ({}),
      isReadOnly: () => false,
      run: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => run.clock.after(500, () => reject(new Error('stopped'))));
          started.open();
        }),
    };
    const run: Run = await createStage().open([call('Slow', {})], { config: BYPASS, tools: [slow] });
    const { asked } = await hang(run, 'PostToolUseFailure');
    const result = run.ask('go');
    await started.opened;
    run.session.interrupt();
    run.clock.advance(500);
    await asked;
    run.clock.advance(INTERRUPT_GRACE_MS - 500);
    expect(await result).toMatchObject(INTERRUPTED);
  });

  it('ends a command with everything it started, also one that ran already', async () => {
    const stage = createStage();
    const hook = { type: 'command', command: 'sleep 300 & echo $! > child; echo $$ > parent; wait' };
    stage.write(USER, { hooks: { PostToolUse: [{ hooks: [hook] }] } });
    const run = await stage.open([bash('echo done')], { config: BYPASS });
    const result = run.ask('go');
    const pids = await Promise.all(['child', 'parent'].map((name) => pidFrom(join(run.cwd, name))));
    run.session.interrupt();
    run.clock.advance(INTERRUPT_GRACE_MS);
    expect(await result).toMatchObject(INTERRUPTED);
    await Promise.all(pids.map(untilGone));
  });

  it.each(['PreToolUse', 'PostToolBatch', 'PermissionDenied', 'Stop', 'SessionStart'] as const)(
    'does not wait for hooks of %s',
    async (event) => {
      const script = event === 'Stop' || event === 'SessionStart' ? ['done'] : [bash('touch made')];
      const config = event === 'PermissionDenied' ? { disallowedTools: ['Bash(touch:*)'] } : BYPASS;
      const run = await createStage().open(script, { config });
      const { asked, cancelled } = await hang(run, event);
      const result = run.ask('go');
      await asked;
      run.session.interrupt();
      expect((await result).is_error).toBe(false);
      await cancelled;
    },
  );

  it('while hooks look at a prompt is an interrupt, and the prompt stays out of the conversation', async () => {
    const run = await createStage().open(['second answer']);
    const { asked, cancelled, detach } = await hang(run, 'UserPromptSubmit');
    const result = run.ask('SECRET PROMPT');
    await asked;
    run.session.interrupt();
    expect(await result).toMatchObject({ ...INTERRUPTED, terminal_reason: 'aborted_streaming', errors: [] });
    await cancelled;
    detach();
    expect(await run.ask('next')).toMatchObject({ subtype: 'success', result: 'second answer' });
    expect(JSON.stringify(run.model.requests[0]?.body)).not.toContain('SECRET PROMPT');
  });

  it('while hooks look at a change of settings puts the change off until they have', async () => {
    const stage = createStage();
    const run = await stage.open([bash('touch a', 't1'), 'one'], { config: { allowedTools: ['Bash(touch:*)'] } });
    const { asked, detach } = await hang(run, 'ConfigChange');
    stage.write(LOCAL, { permissions: { deny: ['Bash(touch a)'] } });
    const result = run.ask('go');
    await asked;
    run.session.interrupt();
    expect(await result).toMatchObject(INTERRUPTED);
    expect(run.session.scope.guard.settings.value.permissions?.deny).toBeUndefined();
    detach();
    const told: unknown[] = [];
    await run.session.scope.hooks.attach({
      callbacks: { ConfigChange: [{ hookCallbackIds: ['tells'] }] },
      askCallback: async (_id, { file_path }) => void told.push(file_path),
    });
    expect((await run.ask('again')).permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
    expect(told).toEqual([stage.path(LOCAL)]);
  });

  it('while hooks look at a task leaves the list as it was', async () => {
    const run = await createStage().open(
      [call('TaskCreate', { subject: 'A', description: 'a' }), call('TaskList', {}, 't2'), 'ok'],
      { config: { ...BYPASS, tools: ['TaskCreate', 'TaskList'] } },
    );
    const { asked, cancelled, detach } = await hang(run, 'TaskCreated');
    const result = run.ask('go');
    await asked;
    run.session.interrupt();
    expect(await result).toMatchObject(INTERRUPTED);
    await cancelled;
    detach();
    await run.ask('go on');
    expect(JSON.stringify(run.messages)).not.toContain('#1');
  });
});

describe('B1: close()', () => {
  it('in the middle of a hook waits as long as an interrupt does, and for SessionEnd to a second in all', async () => {
    const run = await createStage().open([bash('echo hi')], { config: BYPASS });
    const after = await hang(run, 'PostToolUse');
    const end = await hang(run, 'SessionEnd');
    run.ask('go').catch(() => undefined);
    await after.asked;
    const closed = run.session.close();
    run.clock.advance(INTERRUPT_GRACE_MS);
    await end.asked;
    run.clock.advance(CLOSE_GRACE_MS - INTERRUPT_GRACE_MS);
    await closed;
    await Promise.all([after.cancelled, end.cancelled]);
  });

  it.each([
    ['a second', {}, CLOSE_GRACE_MS],
    ['a second, whatever they say', { timeout: 9 }, CLOSE_GRACE_MS],
    ['the shorter time they have', { timeout: 0.2 }, 200],
  ])('gives SessionEnd hooks %s', async (_, rest, ms) => {
    const run = await createStage().open(['one']);
    const end = await hang(run, 'SessionEnd', rest);
    await run.ask('go');
    const closed = run.session.close();
    await end.asked;
    run.clock.advance(ms - 1);
    expect(await isOver(closed)).toBe(false);
    run.clock.advance(1);
    await Promise.all([closed, end.cancelled]);
  });

  it('does not wait longer for SessionEnd hooks that an orderly end has called', async () => {
    const run = await createStage().open(['one']);
    const end = await hang(run, 'SessionEnd');
    await run.ask('go');
    const told = run.session.tellEnd();
    await end.asked;
    const closed = run.session.close();
    await run.clock.armed(2);
    run.clock.advance(CLOSE_GRACE_MS);
    await Promise.all([told, closed, end.cancelled]);
  });

  it('ends hooks that nobody waits for', async () => {
    const run = await createStage().open([bash('mkdir sub && cd sub'), 'done'], { config: BYPASS });
    const moved = await hang(run, 'CwdChanged');
    expect(await run.ask('go')).toMatchObject({ result: 'done' });
    await moved.asked;
    await run.session.close();
    await moved.cancelled;
  });

  it('an orderly end waits for SessionEnd hooks', async () => {
    const stage = createStage();
    stage.write(USER, { hooks: { SessionEnd: [{ hooks: [{ type: 'command', command: 'cat > end' }] }] } });
    const run = await stage.open(['one']);
    await run.ask('go');
    await run.session.tellEnd();
    expect(textOf(join(run.cwd, 'end'))).toContain('"hook_event_name":"SessionEnd"');
  });
});
