import { describe, expect, it } from 'vitest';
import { resultText } from '../engine/kit.js';
import { agentIdIn, bash, open, routed, task } from './kit.js';

const background = (id: string, input: object = {}) => task(id, { run_in_background: true, ...input });
const output = (id: string, input: Record<string, unknown>) => ({ name: 'TaskOutput', id, input });

describe('TaskOutput of an agent that still works', () => {
  it.each([
    ['without a wait', { block: false }, 'not_ready'],
    ['after a wait', { timeout: 10 }, 'timeout'],
    ['by its older name', { bash: true }, 'not_ready'],
  ])(
    'shows what it has said and done so far: %s',
    async (_, { bash: isOld, ...input }: Record<string, unknown>, state) => {
      const [looked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const script = routed(7, async (_request, said) => {
        if (said.includes('"go"')) {
          if (said.includes('"o2"')) return 'Done.';
          if (said.includes('"o1"')) {
            answered.resolve();
            return { toolUse: output('o2', { task_id: agentIdIn(said) }) };
          }
          if (!said.includes('"t1"')) return { toolUse: background('t1') };
          await looked.promise;
          const id = agentIdIn(said);
          return {
            toolUse: isOld
              ? { name: 'BashOutput', id: 'o1', input: { bash_id: id } }
              : output('o1', { task_id: id, ...input }),
          };
        }
        if (!said.includes('"b1"')) return { text: 'I look around first.', toolUse: bash('b1', 'echo secret') };
        looked.resolve();
        await answered.promise;
        return 'The answer.';
      });
      const run = await open(script);
      const advancing = setInterval(() => run.clock.advance(10), 5);
      const result = await run.ask('go');
      clearInterval(advancing);
      expect(result).toMatchObject({ result: 'Done.' });
      const shown = resultText(run.messages, 'o1');
      expect(shown).toContain(`<retrieval_status>${state}</retrieval_status>`);
      expect(shown).toContain('<status>running</status>');
      expect(shown).toContain('Tool calls so far: 1]\nI look around first.\n[It called Bash]\n</output>');
      expect(shown).not.toContain('secret');
      expect(resultText(run.messages, 'o2')).toContain('<output>\nThe answer.\n</output>');
    },
  );

  it('shows no more than the last of it, and nothing of what the agent did before it was gone on with', async () => {
    const [looked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const long = `${'x'.repeat(5_000)}END`;
    let round = 0;
    const script = routed(50, async (_request, said) => {
      if (said.includes('"go"')) {
        if (said.includes('"o1"')) {
          answered.resolve();
          return 'Done.';
        }
        if (said.includes('"t2"')) {
          await looked.promise;
          return { toolUse: output('o1', { task_id: agentIdIn(said), block: false }) };
        }
        const resume = agentIdIn(said);
        return { toolUse: said.includes('"t1"') ? background('t2', { resume, prompt: 'Go on.' }) : task('t1') };
      }
      if (!said.includes('Go on.')) return 'Long ago.';
      round += 1;
      if (round <= 20) return { text: `${round} ${long}`, toolUse: bash(`b${round}`, 'echo x') };
      looked.resolve();
      await answered.promise;
      return 'Over.';
    });
    const run = await open(script);
    await run.ask('go');
    const shown = resultText(run.messages, 'o1');
    expect(shown).toContain('Tool calls so far: 20]\n[10 earlier ones are left out]\n6 xxx');
    expect(shown.match(/\[It called Bash\]/g)).toHaveLength(15);
    expect(shown).not.toMatch(/Long ago|END/);
    expect(shown.length).toBeLessThan(20_000);
  });
});
