import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { resultText, start } from '../engine/kit.js';
import { bash, ofSubtype, open, routed, task } from './kit.js';

const INTERRUPTED = { subtype: 'error_during_execution', terminal_reason: 'aborted_tools', is_error: false };
const stop = async () => ({ behavior: 'deny', message: 'Stop', interrupt: true });

describe('a denial that interrupts, of a call of an agent', () => {
  it.each([
    ['one in the foreground', [{ toolUse: task('t1') }]],
    ['one below another', [{ toolUse: task('t1') }, { toolUse: task('t2') }]],
    ['one three deep', [{ toolUse: task('t1') }, { toolUse: task('t2') }, { toolUse: task('t3') }]],
  ])('ends the turn as for the main thread: %s', async (_, tasks) => {
    const alone = await start([{ toolUse: bash('b0', 'touch a') }], { ask: stop });
    const expected = await alone.ask('go');
    await alone.session.close();
    const run = await open([...tasks, { toolUse: bash('b1', 'touch a') }, 'Next.'], { ask: stop });
    const { subtype, is_error, terminal_reason, num_turns } = await run.ask('go');
    expect(expected).toMatchObject(INTERRUPTED);
    expect({ subtype, is_error, terminal_reason, num_turns }).toEqual({
      ...INTERRUPTED,
      num_turns: expected.num_turns,
    });
    expect(run.model.requests).toHaveLength(tasks.length + 1);
    expect(ofSubtype(run.messages, 'task_notification').map(({ status }) => status)).toEqual(
      tasks.map(() => 'stopped'),
    );
    expect(run.session.scope.agents.tree.working.size).toBe(0);
    expect(resultText(run.messages, 't1')).toMatch(/interrupted[^]*agentId: a[0-9a-f]{16}/);
    expect(await run.ask('again')).toMatchObject({ result: 'Next.' });
  });

  it('comes from a PermissionRequest hook as well', async () => {
    const decision = { behavior: 'deny', message: 'stop', interrupt: true };
    const line = `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })}'`;
    const settings = JSON.stringify({
      hooks: { PermissionRequest: [{ hooks: [{ type: 'command', command: line }] }] },
    });
    const run = await open([{ toolUse: task('t1') }, { toolUse: bash('b1', 'touch a') }], { config: { settings } });
    expect(await run.ask('go')).toMatchObject(INTERRUPTED);
    expect(run.model.requests).toHaveLength(2);
  });

  it('ends agents beside it, too; one without interrupt ends nothing', async () => {
    const begun = Promise.withResolvers<void>();
    const never = new Promise<never>(() => {});
    const script = routed(4, async (_, said) => {
      if (said.includes('Do t1.') && !said.includes('Do t2.')) {
        await begun.promise;
        return { toolUse: bash('b1', 'touch a') };
      }
      if (said.includes('Do t2.') && !said.includes('Do t1.')) {
        begun.resolve();
        return { text: 'x', waitFor: never };
      }
      return { toolUse: [task('t1'), task('t2')] };
    });
    const run = await open(script, { ask: stop });
    expect(await run.ask('go')).toMatchObject(INTERRUPTED);
    expect(ofSubtype(run.messages, 'task_notification').map(({ status }) => status)).toEqual(['stopped', 'stopped']);

    const mild = await open([{ toolUse: task('t1') }, { toolUse: bash('b1', 'touch a') }, 'told', 'Done.'], {
      ask: async () => ({ behavior: 'deny', message: 'No' }),
    });
    expect(await mild.ask('go')).toMatchObject({ result: 'Done.' });
  });

  it('in the background ends that agent alone, with those that it waits for', async () => {
    const asked: Question[] = [];
    const script = routed(5, (_, said) => {
      if (said.includes('Do t2.') && !said.includes('Do t1.')) return { toolUse: bash('b1', 'touch a') };
      if (said.includes('Do t1.') && !said.includes('"t1"')) return { toolUse: task('t2') };
      if (said.includes('task-notification')) return 'Told.';
      return said.includes('"t1"') ? 'Going on.' : { toolUse: task('t1', { run_in_background: true }) };
    });
    const run = await open(script, {
      ask: async (question) => {
        asked.push(question);
        return stop();
      },
    });
    const told = run.seen((message) => message.type === 'result' && message.origin?.kind === 'task-notification');
    expect(await run.ask('go')).toMatchObject({ result: 'Going on.' });
    expect(await told).toMatchObject({ result: 'Told.', is_error: false });
    expect(asked).toHaveLength(1);
    expect(ofSubtype(run.messages, 'task_notification').map(({ status }) => status)).toEqual(['stopped', 'stopped']);
  });
});
