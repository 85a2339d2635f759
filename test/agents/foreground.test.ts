import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { resultText, start } from '../engine/kit.js';

const task = (id: string, input: object = {}) => ({
  toolUse: { name: 'Task', id, input: { description: 'Look around', prompt: 'Find the loom.', ...input } },
});

describe('an agent in the foreground', () => {
  it('works in a conversation of its own, and its last word is the result of the call', async () => {
    const run = await start([
      task('t1'),
      { toolUse: { name: 'Bash', id: 'b1', input: { command: 'echo weft' } } },
      'The loom is in the attic.',
      'Done.',
    ]);
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('The loom is in the attic.');
    const [, first, second, last] = run.model.requests.map(({ body }) => body);
    expect(JSON.stringify(first?.messages)).toContain('Find the loom.');
    expect(JSON.stringify(first?.messages)).not.toContain('"go"');
    expect(JSON.stringify(second?.messages)).toContain('weft');
    expect(JSON.stringify(last?.messages)).not.toContain('weft');
    const inside = run.messages.filter(
      (message) => 'parent_tool_use_id' in message && message.parent_tool_use_id === 't1',
    );
    expect(inside.map(({ type }) => type)).toEqual(['user', 'assistant', 'user']);
    expect(inside[0]).toMatchObject({
      agent_id: expect.stringMatching(/^a[0-9a-f]{16}$/),
      subagent_type: 'general-purpose',
    });
  });

  it('C4: asks as the session does, with its id and the call that started it, after the call was shown', async () => {
    const asked: Question[] = [];
    const seen: string[] = [];
    const run = await start(
      [task('t1'), { toolUse: { name: 'Bash', id: 'b1', input: { command: 'touch x' } } }, 'a', 'b'],
      {
        ask: async (question) => {
          asked.push(question);
          seen.push(
            ...run.messages.flatMap((message) => (JSON.stringify(message).includes('"b1"') ? [message.type] : [])),
          );
          return { behavior: 'deny', message: 'no' };
        },
      },
    );
    await run.ask('go');
    expect(asked).toMatchObject([
      { tool_name: 'Bash', agent_id: expect.stringMatching(/^a/), parent_tool_use_id: 't1' },
    ]);
    expect(seen).toEqual(['assistant']);
    expect(run.messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success', result: 'b' });
  });
});
