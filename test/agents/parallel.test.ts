import { describe, expect, it } from 'vitest';
import { MAX_DEPTH, MAX_WORKING } from '../../src/engine/agents/agents.js';
import { resultText } from '../engine/kit.js';
import { ofSubtype, open, routed, task } from './kit.js';

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `t${index + 1}x`);

describe('several agents', () => {
  it.each([2, 50])('%i of one message work at the same time', async (count) => {
    const ids = many(count);
    let waiting = 0;
    const all = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: ids.map((id) => task(id)) },
      ...routed(count, (_, said) => {
        waiting += 1;
        if (waiting === count) all.resolve();
        return { text: `answer to ${/Do (t\d+x)/.exec(said)?.[1]}`, waitFor: all.promise };
      }),
      'Done.',
    ]);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    for (const id of ids) expect(resultText(run.messages, id)).toContain(`answer to ${id}`);
    expect(new Set(ofSubtype(run.messages, 'task_started').map(({ task_id }) => task_id)).size).toBe(count);
    run.model.assertDone();
  });

  it('more than may work at once are refused, and said so to the model', async () => {
    const ids = many(MAX_WORKING + 3);
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: ids.map((id) => task(id, { run_in_background: true })) },
      ...routed(MAX_WORKING + 1, (_, said) => {
        if (!said.includes('"go"')) return { text: 'x', waitFor: gate.promise };
        return 'Started.';
      }),
    ]);
    await run.ask('go');
    const refused = ids.filter((id) => resultText(run.messages, id).includes('100 agents are working'));
    expect(refused).toHaveLength(3);
    expect(run.session.scope.agents.tree.working.size).toBe(MAX_WORKING);
  });

  it('agents that start one another without end come to one', async () => {
    let started = 0;
    const run = await open(
      routed(50, (request) => {
        const canStart = request.body.tools?.some((tool) => 'name' in tool && tool.name === 'Task');
        const hasResult = JSON.stringify(request.body.messages).includes('tool_result');
        if (!canStart || hasResult) return 'the end';
        started += 1;
        return { toolUse: task(`t${started}`) };
      }),
    );
    expect(await run.ask('go')).toMatchObject({ result: 'the end' });
    expect(started).toBe(MAX_DEPTH);
    expect(ofSubtype(run.messages, 'task_started').map(({ spawn_depth }) => spawn_depth)).toEqual([1, 2, 3, 4]);
  });

  it('G7: the turns of a tree are those of the main thread and of all agents', async () => {
    const run = await open([{ toolUse: many(3).map((id) => task(id)) }, ...routed(3, () => 'an answer')], {
      config: { maxTotalTurns: 3 },
    });
    const text = 'Reached maximum number of turns (3) of the query and its agents';
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_turns', errors: [text] });
    expect(run.model.requests).toHaveLength(3);
    expect(many(3).filter((id) => resultText(run.messages, id).includes(text))).toHaveLength(1);
    expect(await run.ask('once more')).toMatchObject({ subtype: 'error_max_turns' });
  });

  it.each([0, 1.5])('G7: %d turns for a tree are refused at once', async (maxTotalTurns) => {
    await expect(open([], { config: { maxTotalTurns } })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('two calls do not go on with the same agent at once', async () => {
    let id = '';
    const run = await open([
      { toolUse: task('t1') },
      'first',
      () => {
        id = /agentId: (\w+)/.exec(resultText(run.messages, 't1'))?.[1] ?? '';
        return { toolUse: [task('t2', { resume: id }), task('t3', { resume: id })] };
      },
      'again',
      'Done.',
    ]);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    const texts = ['t2', 't3'].map((each) => resultText(run.messages, each));
    expect(texts.filter((text) => text.includes(`${id} is still working`))).toHaveLength(1);
    expect(texts.filter((text) => text.startsWith('again'))).toHaveLength(1);
  });
});

describe('an agent that cannot be started', () => {
  it.each([
    [{ subagent_type: 'nobody' }, 'There is no agent "nobody". Available: general-purpose'],
    [{ mode: 'free' }, 'There is no permission mode "free"'],
    [{ resume: 'a0000000000000000' }, 'There is no agent a0000000000000000'],
    [{ resume: '../../etc' }, 'There is no agent ../../etc'],
    [{ isolation: 'worktree' }, 'only in a folder that is trusted'],
  ])('%j is a clear error', async (input, text) => {
    const run = await open([{ toolUse: task('t1', input) }, 'ok']);
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(resultText(run.messages, 't1')).toContain(text);
    expect(run.session.scope.agents.tree.working.size).toBe(0);
  });
});
