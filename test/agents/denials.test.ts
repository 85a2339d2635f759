import { describe, expect, it } from 'vitest';
import { bash, open, routed, task } from './kit.js';

const touch = (id: string) => bash(id, `touch ${id}`);
const denial = (id: string, agent_id?: unknown) => ({
  tool_name: 'Bash',
  tool_use_id: id,
  tool_input: { command: `touch ${id}` },
  ...(agent_id !== undefined && { agent_id }),
});
const ID = expect.stringMatching(/^a[0-9a-f]{16}$/);
const config = { disallowedTools: ['Bash(touch:*)'] };

describe('calls that are denied in agents', () => {
  it('are in permission_denials of the result, with the agent, however deep; each once', async () => {
    const run = await open(
      [
        { toolUse: [touch('m1'), task('t1')] },
        { toolUse: [touch('o1'), task('t2')] },
        { toolUse: touch('i1') },
        'deep',
        'said',
        'Done.',
        'Again.',
      ],
      { config },
    );
    const first = await run.ask('go');
    expect(first.permission_denials).toEqual([denial('m1'), denial('o1', ID), denial('i1', ID)]);
    const ids = first.permission_denials.flatMap(({ agent_id }) => agent_id ?? []);
    expect(new Set(ids).size).toBe(2);
    expect((await run.ask('and?')).permission_denials).toEqual([]);
  });

  it('in the background are in the next result', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open(
      [
        { toolUse: task('t1', { run_in_background: true, prompt: 'Do inner' }) },
        ...routed(4, async (_, said) => {
          if (said.includes('task-notification')) return 'I see.';
          if (said.includes('"t1"')) return 'It works.';
          await gate.promise;
          return said.includes('"b1"') ? 'woven' : { toolUse: touch('b1') };
        }),
      ],
      { config },
    );
    expect((await run.ask('go')).permission_denials).toEqual([]);
    const next = run.nextResult();
    gate.resolve();
    expect((await next).permission_denials).toEqual([denial('b1', ID)]);
  });
});
