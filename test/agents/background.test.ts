import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import type { Message } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { resultText } from '../engine/kit.js';
import { until } from '../workspace/running.js';
import { agentIdIn, bash, ofSubtype, open, routed, task } from './kit.js';

const background = (id: string, input: object = {}) => task(id, { run_in_background: true, ...input });
const isIdle = (message: Message): boolean => message.type === 'result';
const isEnd = (message: Message): boolean => message.type === 'system' && message.subtype === 'task_notification';

describe('an agent in the background', () => {
  it('lets the turn go on, tells of its end, and starts a turn by itself', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, (_, said) =>
        said.includes('Agent started') ? 'It works.' : { text: 'Woven.', waitFor: gate.promise },
      ),
      'I see that it is done.',
    ]);
    const first = await run.ask('go');
    expect(first).toMatchObject({ result: 'It works.' });
    const id = agentIdIn(resultText(run.messages, 't1'));
    expect(run.session.scope.tasks.running).toMatchObject([{ id, type: 'local_agent' }]);
    const second = run.nextResult();
    gate.resolve();
    expect(await second).toMatchObject({ result: 'I see that it is done.', origin: { kind: 'task-notification' } });
    const told = JSON.stringify(run.model.requests.at(-1)?.body.messages.at(-1));
    expect(told).toContain(`<task-id>${id}</task-id>`);
    expect(told).toContain('<result>Woven.</result>');
    expect(ofSubtype(run.messages, 'task_started')).toMatchObject([
      {
        task_id: id,
        task_type: 'local_agent',
        subagent_type: 'general-purpose',
        is_backgrounded: true,
        spawn_depth: 1,
      },
    ]);
    const [end] = ofSubtype(run.messages, 'task_notification');
    expect(end).toMatchObject({ task_id: id, status: 'completed', usage: { tool_uses: 0, total_tokens: 120 } });
    expect(readFileSync(end?.output_file ?? '', 'utf8')).toBe('Woven.');
    const order = run.messages.map((message) => ('subtype' in message ? message.subtype : message.type));
    expect(order.indexOf('task_started')).toBeLessThan(
      run.messages.findIndex((message) => message.type === 'user' && message.parent_tool_use_id === 't1'),
    );
    run.model.assertDone();
  });

  it('survives an interrupt of its parent, and stops when the host says so', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, () => ({ text: 'late', waitFor: gate.promise })),
      'Next.',
    ]);
    const asked = run.ask('go');
    await until(() => run.model.requests.length === 3);
    run.session.interrupt();
    await asked;
    const [agent] = run.session.scope.tasks.running;
    expect(agent).toMatchObject({ type: 'local_agent', status: 'running' });
    await run.session.scope.tasks.stop(agent?.id ?? '', 'host');
    expect(ofSubtype(run.messages, 'task_notification')).toMatchObject([{ status: 'stopped' }]);
    expect(run.session.busy).toBe(false);
    await run.ask('and?');
    expect(JSON.stringify(run.model.requests.at(-1)?.body.messages)).toContain('was stopped by the user');
  });

  it('stops with the session', async () => {
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, (_, said) =>
        said.includes('Agent started') ? 'ok' : { text: 'never', waitFor: new Promise(() => {}) },
      ),
    ]);
    await run.ask('go');
    await run.session.close();
    expect(ofSubtype(run.messages, 'task_notification')).toMatchObject([{ status: 'stopped' }]);
    expect(run.session.scope.agents.tree.working.size).toBe(0);
  });

  it('is waited for when nothing more comes in, however long it takes', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, (_, said) => (said.includes('Agent started') ? 'ok' : { text: 'late', waitFor: gate.promise })),
      'told',
    ]);
    await run.ask('go');
    run.session.endInput();
    run.clock.advance(60_000);
    expect(run.session.scope.tasks.running).toHaveLength(1);
    gate.resolve();
    await run.session.finished;
    expect(run.messages.filter(isIdle)).toMatchObject([{ result: 'ok' }, { result: 'told' }]);
  });

  it('C4, C5: five ask at once and are answered in reverse order', async () => {
    const ids = ['t1', 't2', 't3', 't4', 't5'];
    const open5: { question: Question; answer: (value: object) => void }[] = [];
    const all = Promise.withResolvers<void>();
    const order: string[] = [];
    const run = await open(
      [
        { toolUse: ids.map((id) => background(id)) },
        ...routed(16, (_, said) => {
          const id = ids.find((each) => said.includes(`Do ${each}.`));
          if (said.includes('task-notification')) return 'noted';
          if (id === undefined || said.includes('Agent started')) return 'All five work.';
          return said.includes(`"b_${id}"`) ? `done ${id}` : { toolUse: bash(`b_${id}`, `touch ${id}`) };
        }),
      ],
      {
        ask: (question) => {
          order.push(`asked ${question.tool_use_id}`);
          return new Promise((resolve) => {
            open5.push({ question, answer: resolve });
            if (open5.length === 5) all.resolve();
          });
        },
      },
    );
    await run.ask('go');
    await all.promise;
    expect(new Set(open5.map(({ question }) => question.agent_id)).size).toBe(5);
    for (const { question } of open5) {
      expect(question).toMatchObject({ tool_name: 'Bash', parent_tool_use_id: question.tool_use_id.slice(2) });
      const shown = run.messages.filter(
        (message) => message.type === 'assistant' && JSON.stringify(message).includes(`"${question.tool_use_id}"`),
      );
      expect(shown).toHaveLength(1);
    }
    expect(order).toHaveLength(5);
    for (const { answer, question } of open5.toReversed()) {
      const ended = new Promise<Message>((resolve) => {
        const detach = run.session.attach({
          deliver(message) {
            if (!isEnd(message)) return;
            detach();
            resolve(message);
          },
        });
      });
      answer({ behavior: 'allow' });
      expect(await ended).toMatchObject({ tool_use_id: question.parent_tool_use_id, status: 'completed' });
    }
    const summary = ofSubtype(run.messages, 'task_notification').map(({ tool_use_id }) => tool_use_id);
    expect(summary).toEqual(open5.toReversed().map(({ question }) => question.parent_tool_use_id));
  });

  it('gives its answer to TaskOutput, and ends with TaskStop', async () => {
    const gate = Promise.withResolvers<void>();
    let id = '';
    const run = await open([
      { toolUse: [background('t1'), background('t2')] },
      ...routed(6, (_, said) => {
        if (!said.includes('"go"'))
          return said.includes('Do t1.')
            ? { text: 'One.', waitFor: gate.promise }
            : { text: 'x', waitFor: new Promise(() => {}) };
        if (said.includes('"o1"') && said.includes('"s1"')) return 'over';
        const [one = '', two = ''] = run.session.scope.tasks.running.map((each) => each.id);
        id = one;
        gate.resolve();
        return {
          toolUse: [
            { name: 'TaskOutput', id: 'o1', input: { task_id: one } },
            { name: 'TaskStop', id: 's1', input: { task_id: two } },
          ],
        };
      }),
    ]);
    expect(await run.ask('go')).toMatchObject({ result: 'over' });
    expect(resultText(run.messages, 'o1')).toContain('<output>\nOne.\n</output>');
    expect(resultText(run.messages, 'o1')).toContain(id);
    expect(resultText(run.messages, 's1')).toContain('Successfully stopped task');
  });

  it('older clients are told of its start and its end, not of its progress', async () => {
    const client = { entrypoint: 'sdk-ts', version: '0.2.50' };
    const script = () => [{ toolUse: task('t1') }, { toolUse: bash('b1', 'echo x') }, 'a', 'b'];
    const old = await open(script(), { config: { client } });
    await old.ask('go');
    const now = await open(script());
    await now.ask('go');
    const subtypes = (messages: readonly Message[]) =>
      messages.flatMap((message) =>
        'subtype' in message && message.subtype?.startsWith('task_') ? [message.subtype] : [],
      );
    expect(subtypes(old.messages)).toEqual(['task_started']);
    expect(subtypes(now.messages)).toEqual(['task_started', 'task_progress', 'task_updated', 'task_notification']);
    expect(ofSubtype(now.messages, 'task_progress')).toMatchObject([
      { last_tool_name: 'Bash', usage: { tool_uses: 1 } },
    ]);
  });
});

describe('what goes wrong around an agent in the background', () => {
  it('that has no file for its answer leaves nothing behind, and the session can be closed', async () => {
    const run = await open([{ toolUse: background('t1') }, 'ok']);
    const { kept } = run.session.scope;
    Object.assign(kept, {
      openOutput: () => {
        throw new Error('There is no room.');
      },
    });
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(resultText(run.messages, 't1')).toBe('There is no room.');
    expect(run.session.scope.agents.tree.working.size).toBe(0);
    await run.session.close();
  });

  it('a long answer is told in part, with where the rest is', async () => {
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, (_, said) => (said.includes('"go"') ? 'started' : 'x'.repeat(100_000))),
      'told',
    ]);
    await run.ask('go');
    await run.seen((message) => message.type === 'result' && message.origin !== undefined);
    const told = JSON.stringify(run.model.requests.at(-1)?.body.messages.at(-1));
    expect(told.length).toBeLessThan(40_000);
    const [end] = ofSubtype(run.messages, 'task_notification');
    expect(told).toContain(`[The rest is in ${end?.output_file}]`);
    expect(readFileSync(end?.output_file ?? '', 'utf8')).toHaveLength(100_000);
  });

  it('one that fails says why', async () => {
    const error = new HeddleError('model_bad_request', 'The thread is torn.');
    const run = await open([
      { toolUse: background('t1') },
      ...routed(2, (_, said) => (said.includes('"go"') ? 'started' : { error })),
      'told',
    ]);
    await run.ask('go');
    await run.seen((message) => message.type === 'result' && message.origin !== undefined);
    expect(ofSubtype(run.messages, 'task_notification')).toMatchObject([{ status: 'failed' }]);
    expect(JSON.stringify(run.model.requests.at(-1)?.body.messages.at(-1))).toContain('The thread is torn.');
  });

  it('what an agent starts in the background is told to the main thread', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: task('t1') },
      { toolUse: background('t2') },
      ...routed(3, (_, said) => {
        if (said.includes('Do t2.') && !said.includes('Do t1.')) return { text: 'deep', waitFor: gate.promise };
        return said.includes('Do t1.') && !said.includes('"go"') ? 'up' : 'Done.';
      }),
      'told',
    ]);
    await run.ask('go');
    expect(run.session.scope.tasks.running).toHaveLength(1);
    gate.resolve();
    await run.seen((message) => message.type === 'result' && message.origin !== undefined);
    expect(JSON.stringify(run.model.requests.at(-1)?.body.messages.at(-1))).toContain('<result>deep</result>');
  });
});
