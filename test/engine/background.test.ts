import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileStore, createMemoryStore } from '../../src/engine/index.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { Message } from '../../src/protocol/index.js';
import { until } from '../workspace/running.js';
import { PATH_ENV, outline, resultText, type Run, type RunOptions, scratch, start } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const bash = (id: string, command: string): ScriptStep => ({
  toolUse: { name: 'Bash', id, input: { command, run_in_background: true, description: id } },
});
const WAITS = 'until [ -e go ]; do sleep 0.02; done; echo done';

async function launch(script: readonly ScriptStep[], options: RunOptions = {}): Promise<Run> {
  // Ending a process takes real time, whatever the clock of the session says.
  const workspace = createLocalWorkspace({ clock: systemClock });
  const run = await start(script, { workspace, ...options, config: { ...bypass, ...options.config } });
  onTestFinished(() => run.session.close());
  return run;
}

const release = (run: Run): void => writeFileSync(join(run.cwd, 'go'), '');
const ofSubtype = (messages: readonly Message[], subtype: string) =>
  messages.filter((message) => message.type === 'system' && message.subtype === subtype);
const lastPrompt = (run: Run): string => JSON.stringify(run.model.requests.at(-1)?.body.messages.at(-1));
const taskOf = (run: Run) => {
  const [task] = run.session.scope.tasks.running;
  if (task === undefined) throw new Error('No task runs.');
  return task;
};

describe('when a background task ends', () => {
  it('a turn starts by itself: init, answer, and a result that says where it came from', async () => {
    const run = await launch([bash('t1', WAITS), 'started', 'I see that it is done']);
    expect((await run.ask('go')).origin).toBeUndefined();
    const seen = run.messages.length;
    const next = run.nextResult();
    const { id, outputPath } = taskOf(run);
    release(run);
    const result = await next;
    expect(result).toMatchObject({
      subtype: 'success',
      origin: { kind: 'task-notification' },
      num_turns: 1,
      result_index: 1,
    });
    expect(outline(run.messages.slice(seen)).join('\n')).toMatchInlineSnapshot(`
      "system/task_updated
      system/task_notification
      system/background_tasks_changed
      system/init
      assistant "I see that it is done"
      result success turns=1"
    `);
    expect(lastPrompt(run)).toContain(`<task-id>${id}</task-id>`);
    expect(lastPrompt(run)).toContain('<status>completed</status>');
    expect(readFileSync(outputPath, 'utf8')).toBe('done\n');
  });

  it('in the middle of a turn, it is told in a turn of its own after it', async () => {
    const over = Promise.withResolvers<void>();
    const run = await launch([
      bash('t1', WAITS),
      async () => {
        release(run);
        await over.promise;
        return 'first answer';
      },
      'second answer',
    ]);
    const first = run.ask('go');
    await run.seen((message) => message.type === 'system' && message.subtype === 'task_notification');
    over.resolve();
    expect(await first).toMatchObject({ result: 'first answer' });
    const second = await run.nextResult();
    expect(second).toMatchObject({ result: 'second answer', origin: { kind: 'task-notification' } });
  });

  it('several at once are told in one turn, and with a prompt that waits already in the turn of that', async () => {
    const run = await launch([
      { toolUse: ['a', 'b'].map((id) => ({ name: 'Bash', id, input: { command: WAITS, run_in_background: true } })) },
      async () => {
        release(run);
        await until(() => run.session.scope.tasks.running.length === 0);
        run.session.submit({ type: 'user', message: { role: 'user', content: 'meanwhile' }, parent_tool_use_id: null });
        return 'one';
      },
      'two',
    ]);
    await run.ask('go');
    expect(await run.nextResult()).toMatchObject({ result: 'two' });
    const told = JSON.stringify(run.model.requests.at(-1)?.body.messages);
    expect(told.match(/<task-notification>/g)).toHaveLength(2);
    expect(told.indexOf('<task-notification>')).toBeLessThan(told.indexOf('meanwhile'));
    run.model.assertDone();
  });

  it('stopped by the host: told to the consumer, and no turn starts', async () => {
    const run = await launch([bash('t1', 'sleep 300'), 'ok', 'after']);
    await run.ask('go');
    await run.session.scope.tasks.stop(taskOf(run).id, 'host');
    expect(ofSubtype(run.messages, 'task_notification')).toMatchObject([{ status: 'stopped' }]);
    expect(await run.ask('again')).toMatchObject({ result: 'after' });
    expect(lastPrompt(run)).toContain('was stopped by the user');
  });

  it('an interrupt leaves tasks alone; closing ends them', async () => {
    const run = await launch([bash('t1', 'sleep 300'), 'ok']);
    await run.ask('go');
    const task = taskOf(run);
    run.session.interrupt();
    expect(task.status).toBe('running');
    await run.session.close();
    expect(task.status).toBe('stopped');
  });

  it('its output may be read without asking, and no other file there', async () => {
    const read =
      (id: string, path: (output: string) => string): ScriptStep =>
      async () => {
        const { outputPath } = taskOf(run);
        await until(() => readFileSync(outputPath, 'utf8') !== '');
        return { toolUse: { name: 'Read', id, input: { file_path: path(outputPath) } } };
      };
    const run = await launch(
      [
        bash('t1', 'echo hi; sleep 300'),
        read('t2', (path) => path),
        read('t3', (path) => join(path, '../../../x')),
        'ok',
      ],
      {
        store: createFileStore({ configDir: scratch() }),
        config: { permissionMode: 'default', allowedTools: ['Bash'] },
      },
    );
    await run.ask('go');
    expect(resultText(run.messages, 't2')).toContain('1\thi');
    expect(resultText(run.messages, 't3')).toContain('outside allowed working directories');
  });
});

describe('at the end of input', () => {
  it('the session waits for the end of a task and the turn that tells of it', async () => {
    const run = await launch([bash('t1', WAITS), 'started', 'told']);
    const first = run.ask('go');
    run.session.endInput();
    await first;
    const second = run.nextResult();
    release(run);
    expect(await second).toMatchObject({ result: 'told' });
    await run.session.finished;
  });

  it('but not for ever', async () => {
    const run = await launch([bash('t1', 'sleep 300'), 'started']);
    const first = run.ask('go');
    run.session.endInput();
    await first;
    const task = taskOf(run);
    await until(() => run.clock.pending.includes(5_000));
    run.clock.advance(5_000);
    await run.session.finished;
    expect(task.status).toBe('stopped');
  });

  it('as long as the environment says', async () => {
    const env = { ...PATH_ENV, HEDDLE_TASK_GRACE_MS: '0' };
    const run = await launch([bash('t1', 'sleep 300'), 'started'], { config: { env } });
    const first = run.ask('go');
    run.session.endInput();
    await first;
    await until(() => run.clock.pending.includes(0));
    run.clock.advance(0);
    await run.session.finished;
  });
});

it('the wait begins anew after each turn: one that tells of a task is never cut off by it', async () => {
  const answering = Promise.withResolvers<void>();
  const run = await launch([
    { toolUse: [WAITS, 'sleep 300'].map((command) => ({ name: 'Bash', input: { command, run_in_background: true } })) },
    'started',
    async () => {
      await answering.promise;
      return 'told';
    },
  ]);
  const first = run.ask('go');
  run.session.endInput();
  await first;
  await until(() => run.clock.pending.includes(5_000));
  const second = run.nextResult();
  release(run);
  await until(() => run.model.requests.length === 3);
  run.clock.advance(60_000);
  answering.resolve();
  expect(await second).toMatchObject({ result: 'told' });
  const [left] = run.session.scope.tasks.running;
  expect(left?.status).toBe('running');
  await until(() => run.clock.pending.includes(5_000));
  run.clock.advance(5_000);
  await run.session.finished;
  expect(left?.status).toBe('stopped');
});

describe('what TaskOutput has shown', () => {
  const waitFor: ScriptStep = (request) => {
    const [, task_id] = /running in background with ID: (\w+)/.exec(JSON.stringify(request.body.messages)) ?? [];
    return { toolUse: { name: 'TaskOutput', input: { task_id, timeout: 60_000 } } };
  };

  it('starts no turn, and is not told after a resume', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const run = await launch([bash('t1', 'echo hi'), waitFor, 'seen', 'next'], { store, cwd });
    await run.ask('go');
    await run.ask('more');
    expect(JSON.stringify(run.model.requests.at(-1)?.body.messages)).not.toContain('<task-notification>');
    const again = await launch(['ok'], { store, cwd, config: { resume: run.session.id } });
    await again.ask('and?');
    expect(JSON.stringify(again.model.requests[0]?.body.messages)).not.toContain('<task-notification>');
  });

  it('starts one for clients of the older line, which expect it', async () => {
    const config = { client: { entrypoint: 'sdk-ts', version: '0.2.50' } };
    const run = await launch([bash('t1', 'echo hi'), waitFor, 'seen', 'told'], { config });
    await run.ask('go');
    expect(await run.nextResult()).toMatchObject({ result: 'told', origin: { kind: 'task-notification' } });
  });
});

it('an interrupt is no invitation: what was to be told waits for the next prompt', async () => {
  const run = await launch([
    bash('t1', WAITS),
    async () => {
      release(run);
      await until(() => run.session.scope.tasks.running.length === 0);
      run.session.interrupt();
      return 'never seen';
    },
    'next',
  ]);
  await run.ask('go');
  expect(await run.ask('and now?')).toMatchObject({ result: 'next' });
  expect(lastPrompt(run)).toContain('<task-notification>');
});

describe('after a process died', () => {
  it('or a clean end, the model is told which tasks the engine has stopped', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const first = await launch([bash('server', 'sleep 300'), 'started'], { store, cwd });
    await first.ask('go');
    await first.session.close();
    const second = await launch(['ok'], { store, cwd, config: { resume: first.session.id } });
    await second.ask('is it up?');
    expect(JSON.stringify(second.model.requests[0]?.body.messages)).toContain('was stopped with the session');
  });

  it('what was kept can still be read', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const first = await launch([bash('t1', 'echo hi; sleep 300'), 'started'], { store, cwd });
    await first.ask('go');
    const { outputPath } = taskOf(first);
    await until(() => readFileSync(outputPath, 'utf8') !== '');
    await first.session.close();
    const read: ScriptStep = { toolUse: { name: 'Read', id: 't2', input: { file_path: outputPath } } };
    const config = { resume: first.session.id, permissionMode: 'default' as const };
    const second = await launch([read, 'ok'], { store, cwd, config });
    await second.ask('what did it say?');
    expect(resultText(second.messages, 't2')).toContain('1\thi');
  });

  it('what is to be told starts no turn by itself', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const first = await launch([bash('t1', 'sleep 300'), 'started'], { store, cwd });
    await first.ask('go');
    const second = await launch([], { store, cwd, config: { resume: first.session.id } });
    second.session.endInput();
    await second.session.finished;
    expect(second.messages).toEqual([]);
  });

  it('the model is told with the next prompt which tasks are gone, once', async () => {
    const store = createFileStore({ configDir: scratch() });
    const cwd = scratch();
    const first = await launch([bash('t1', 'sleep 300'), 'started'], { store, cwd });
    await first.ask('go');
    // As a process leaves it that dies now: the task has no end.
    const { key, lines } = (await store.load(first.session.id)) ?? expect.unreachable();
    const left = createMemoryStore();
    await left.append(key, lines);
    const second = await launch(['seen', 'again'], { store: left, cwd, config: { resume: first.session.id } });
    await second.ask('what now?');
    const told = JSON.stringify(second.model.requests[0]?.body.messages.at(-1));
    expect(told).toContain('ended with the process that ran it');
    expect(told).toContain('what now?');
    await second.ask('more');
    expect(JSON.stringify(second.model.requests[1]?.body.messages).match(/ended with the process/g)).toHaveLength(1);
    const third = await launch(['third'], { store: left, cwd, config: { resume: first.session.id } });
    await third.ask('and?');
    expect(JSON.stringify(third.model.requests[0]?.body.messages).match(/ended with the process/g)).toHaveLength(1);
  });
});

describe('the files of a session that is not kept', () => {
  it('are gone when it is closed', async () => {
    const run = await launch([bash('t1', 'echo hi; sleep 300'), 'started'], { config: { persistSession: false } });
    await run.ask('go');
    const { outputPath } = taskOf(run);
    expect(existsSync(outputPath)).toBe(true);
    await run.session.close();
    expect(existsSync(outputPath)).toBe(false);
  });
});
