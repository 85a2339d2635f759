import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Message, ModelRequest } from '../../src/protocol/index.js';
import { Idle } from '../../src/sdk/idle.js';
import { type Options, query } from '../../src/sdk/index.js';
import { startFakeApi } from '../../src/testing/index.js';
import { ensureBuilt } from '../cli/run-cli.js';
import { scratch } from '../engine/kit.js';

const WAITS = 'until [ -e go ]; do sleep 0.02; done; echo done';
const background = { command: WAITS, run_in_background: true, description: 'waits' };

const TELLS = [
  { toolUse: { name: 'Bash', input: background } },
  'started',
  { toolUse: { name: 'Bash', input: { command: 'touch told' } } },
  'told',
];

/** A query with a string prompt whose first turn leaves a command in the background. */
async function launch(
  carrier: 'in-process' | 'subprocess',
  rest: Partial<Options> = {},
  script: Parameters<typeof startFakeApi>[0] = TELLS,
) {
  const api = await startFakeApi(script);
  onTestFinished(() => api.close());
  const cwd = scratch();
  const env = { PATH: process.env.PATH, HOME: cwd, ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: api.url };
  const run = query({ prompt: 'Go', options: { cwd, env, heddle: { carrier }, ...rest } });
  return { run, release: () => writeFileSync(join(cwd, 'go'), '') };
}

describe('a string prompt that leaves a command in the background', () => {
  beforeAll(ensureBuilt, 120_000);

  it.each(['in-process', 'subprocess'] as const)(
    'C1: the turn that follows its end can still ask, over %s; two results, and the query ends',
    async (carrier) => {
      const asked: string[] = [];
      const { run, release } = await launch(carrier, {
        canUseTool: async (_, input) => {
          asked.push(String(input.command));
          return { behavior: 'allow' };
        },
      });
      const results: Message[] = [];
      for await (const message of run) {
        if (message.type !== 'result') continue;
        results.push(message);
        release();
      }
      expect(results).toMatchObject([{ result: 'started' }, { result: 'told', origin: { kind: 'task-notification' } }]);
      expect(asked).toEqual(['touch told']);
    },
  );

  it('stopTask() ends it, and with it the query', async () => {
    const { run } = await launch('in-process', { allowedTools: ['Bash'] });
    let taskId = '';
    const seen: string[] = [];
    for await (const message of run) {
      if (message.type === 'system' && message.subtype === 'task_started') taskId = message.task_id;
      if (message.type === 'system' && message.subtype === 'task_notification') seen.push(message.status);
      if (message.type !== 'result') continue;
      seen.push('result');
      await run.stopTask('nope');
      await run.stopTask(taskId);
    }
    expect(seen).toEqual(['result', 'stopped']);
  });

  const task = { name: 'Bash', input: { ...background, command: 'echo done' } };
  const taskIdIn = (request: ModelRequest): string =>
    /ID: (\w+)/.exec(JSON.stringify(request.body.messages))?.[1] ?? '';
  const shows = (request: ModelRequest) => ({
    toolUse: { name: 'TaskOutput', input: { task_id: taskIdIn(request), block: true, timeout: 60_000 } },
  });

  it.each(['in-process', 'subprocess'] as const)(
    'a turn that has shown its end is the last, over %s',
    async (carrier) => {
      const { run } = await launch(carrier, { allowedTools: ['Bash'] }, [{ toolUse: task }, shows, 'seen']);
      const results: Message[] = [];
      for await (const message of run) if (message.type === 'result') results.push(message);
      expect(results).toMatchObject([{ result: 'seen', queued_turn_count: 0 }]);
    },
  );

  it('a turn that is interrupted after its end is the last', async () => {
    const hangs = { text: 'late', waitFor: new Promise(() => {}) };
    const { run } = await launch('in-process', { allowedTools: ['Bash'] }, [{ toolUse: task }, hangs]);
    const results: Message[] = [];
    for await (const message of run) {
      if (message.type === 'system' && message.subtype === 'task_notification') await run.interrupt();
      if (message.type === 'result') results.push(message);
    }
    expect(results).toMatchObject([{ subtype: 'error_during_execution' }]);
  });

  it('B1: leaving the loop does not wait for it', async () => {
    const { run } = await launch('in-process', { allowedTools: ['Bash'] });
    for await (const message of run) if (message.type === 'result') break;
    expect(await run.next()).toEqual({ value: undefined, done: true });
  });
});

describe('Idle', () => {
  const system = (subtype: string, rest: object = {}) => ({ type: 'system', subtype, ...rest }) as unknown as Message;
  const changed = (...ids: string[]) =>
    system('background_tasks_changed', { tasks: ids.map((task_id) => ({ task_id })) });
  const ended = (task_id: string, status = 'completed') => system('task_notification', { task_id, status });
  const result = { type: 'result' } as unknown as Message;
  const lastResult = { type: 'result', queued_turn_count: 0 } as unknown as Message;

  const cases: [string, Message[], 'idle' | 'tasks' | 'busy'][] = [
    ['nothing has happened', [], 'idle'],
    ['a turn runs', [system('init')], 'busy'],
    ['a turn is over', [system('init'), result], 'idle'],
    ['a task runs', [system('init'), changed('a'), result], 'tasks'],
    ['a task ended and its turn is to come', [system('init'), changed('a'), result, ended('a'), changed()], 'tasks'],
    ['a turn has shown its end', [system('init'), changed('a'), ended('a'), changed(), lastResult], 'idle'],
    ['nobody says whether it has', [system('init'), changed('a'), ended('a'), changed(), result], 'tasks'],
    ['that turn runs', [changed('a'), ended('a'), changed(), system('init')], 'busy'],
    ['that turn is over', [changed('a'), ended('a'), changed(), system('init'), result], 'idle'],
    ['a task was stopped', [changed('a'), ended('a', 'stopped'), changed()], 'idle'],
    ['a task in the foreground ended', [system('init'), ended('a'), result], 'idle'],
  ];
  it.each(cases)('when %s', (_, messages, expected) => {
    const idle = new Idle();
    for (const message of messages) idle.take(message);
    expect(idle.isIdle ? 'idle' : idle.waitsForTasks ? 'tasks' : 'busy').toBe(expected);
  });
});
