import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/index.js';
import type { ScriptAnswer } from '../../src/engine/model/script-step.js';
import { createFakeClock } from '../../src/testing/index.js';
import { resultText, type Run, type RunOptions, scratch } from '../engine/kit.js';
import { agentIdIn, bash, open, routed, task } from './kit.js';

const USAGE = { input_tokens: 10_000, output_tokens: 100 };
const weaver = (limits: object) => ({ weaver: { description: 'd', prompt: 'You weave.', ...limits } });
const started = (id: string, input: object = {}) => ({ toolUse: task(id, { subagent_type: 'weaver', ...input }) });

const requestsOf = ({ model }: Run): number =>
  model.requests.filter(({ body }) => JSON.stringify(body.system).includes('You weave.')).length;

/** Each answer of the agent calls a tool, so that it goes on until something ends it. */
const working = (limits: object, options: RunOptions = {}, each: Partial<ScriptAnswer> = {}): Promise<Run> => {
  let calls = 0;
  return open(
    routed(40, ({ body }, said) => {
      if (JSON.stringify(body.system).includes('You weave.')) {
        calls += 1;
        return { toolUse: bash(`b${calls}`, 'echo x'), usage: USAGE, ...each };
      }
      if (said.includes('"t3"')) return 'Done.';
      const [id] = ['t1', 't2', 't3'].filter((name) => !said.includes(`"${name}"`));
      const resume = said.includes('"t1"') ? { resume: agentIdIn(said) } : {};
      return started(id ?? 't1', resume);
    }),
    { ...options, config: { agents: weaver(limits), model: 'sonnet', ...options.config } },
  );
};

describe('G7: limits of a definition', () => {
  it.each([
    [{ maxBudgetUsd: 0.05 }, 'Reached maximum budget ($0.05) of the agent weaver'],
    [{ maxTokens: 19_000 }, 'Reached maximum number of tokens (19000) of the agent weaver'],
    [{ maxTurns: 2 }, 'Reached maximum number of turns (2)'],
  ])('%j: what is spent stays spent for whoever goes on', async (limits, text) => {
    const run = await working(limits);
    await run.ask('go');
    expect(requestsOf(run)).toBe(2);
    for (const id of ['t1', 't2', 't3']) expect(resultText(run.messages, id)).toContain(text);
  });

  it('the time is counted on', async () => {
    const clock = createFakeClock();
    let calls = 0;
    const run = await open(
      [
        started('t1'),
        () => {
          clock.advance(1_500);
          calls += 1;
          return 'woven';
        },
        ({ body }) => started('t2', { resume: agentIdIn(JSON.stringify(body.messages)) }),
        () => {
          clock.advance(1_500);
          calls += 1;
          return 'never';
        },
        ({ body }) => started('t3', { resume: agentIdIn(JSON.stringify(body.messages)) }),
        'Done.',
      ],
      { clock, config: { agents: weaver({ maxSeconds: 2 }) } },
    );
    await run.ask('go');
    expect(calls).toBe(2);
    for (const id of ['t2', 't3']) {
      expect(resultText(run.messages, id)).toContain('Reached maximum time (2 s) of the agent weaver');
    }
  });

  it.each([{ maxBudgetUsd: 0.05 }, { maxTokens: 19_000 }, { maxTurns: 2 }])(
    '%j: also after another engine has resumed the session',
    async (limits) => {
      const [configDir, cwd] = [scratch(), scratch()];
      const store = () => createFileStore({ configDir });
      const first = await working(limits, { store: store(), cwd });
      await first.ask('go');
      const id = agentIdIn(resultText(first.messages, 't1'));
      await first.session.close();
      const second = await open([started('t4', { resume: id }), 'Done.'], {
        store: store(),
        cwd,
        config: { agents: weaver(limits), model: 'sonnet', resume: first.session.id },
      });
      await second.ask('more');
      expect(requestsOf(second)).toBe(0);
      expect(resultText(second.messages, 't4')).toContain('Reached maximum');
    },
  );

  it('what the agents below it have used counts after a resume, too, and so does their time', async () => {
    const [configDir, cwd] = [scratch(), scratch()];
    const store = () => createFileStore({ configDir });
    // Ids of agents are the beginnings of these.
    const clock = Object.assign(createFakeClock(), { uuid: () => randomUUID() });
    const agents = {
      ...weaver({ maxTokens: 1_000_000, maxSeconds: 1_000 }),
      deep: { description: 'd', prompt: 'Deep.' },
    };
    const first = await open(
      [
        started('t1'),
        { toolUse: task('t2', { subagent_type: 'deep' }), usage: USAGE },
        { toolUse: task('t3', { subagent_type: 'deep' }), usage: USAGE },
        () => {
          clock.advance(7_000);
          return { text: 'deepest', usage: USAGE };
        },
        { text: 'deep', usage: USAGE },
        { text: 'woven', usage: USAGE },
        'Done.',
      ],
      { store: store(), cwd, clock, config: { agents } },
    );
    await first.ask('go');
    const id = agentIdIn(resultText(first.messages, 't1'));
    const account = first.session.scope.agents.tree.accounts.get(id);
    expect(account).toMatchObject({ spent: { tokens: 5 * 10_100, turns: 5 }, workedMs: 7_000 });
    await first.session.close();
    const second = await open([started('t4', { resume: id }), 'woven', 'Done.'], {
      store: store(),
      cwd,
      config: { agents, resume: first.session.id },
    });
    const before = second.session.scope.agents.tree.accounts;
    await second.ask('more');
    const spent = before.get(id)?.spent;
    expect(spent).toMatchObject({ turns: 6, tokens: 5 * 10_100 + 120 });
    expect(spent?.microCents).toBeGreaterThanOrEqual(account?.spent.microCents ?? Number.NaN);
    expect(before.get(id)?.workedMs).toBeGreaterThanOrEqual(7_000);
  });

  it.each([
    [{ maxTurns: 2 }, { max_turns: 1_000 }, 2],
    [{ maxTurns: 3 }, { max_turns: 1 }, 1],
    [{ maxTurns: 0 }, { max_turns: 3 }, 3],
    [{}, { max_turns: 2 }, 2],
  ])('%j, called with %j: the stricter one counts', async (limits, input, expected) => {
    const run = await open(
      routed(20, ({ body }, said) => {
        if (JSON.stringify(body.system).includes('You weave.')) return { toolUse: bash(`b${said.length}`, 'echo x') };
        return said.includes('"t1"') ? 'Done.' : started('t1', input);
      }),
      { config: { agents: weaver(limits) } },
    );
    await run.ask('go');
    expect(requestsOf(run)).toBe(expected);
    expect(resultText(run.messages, 't1')).toContain(`Reached maximum number of turns (${expected})`);
  });

  it.each([
    [{ maxBudgetUsd: 0.05 }, {}, 'error_max_budget_usd', 'Reached maximum budget ($0.05)'],
    [{ maxTokens: 15_000 }, {}, 'error_during_execution', 'Reached maximum number of tokens (15000)'],
    [{ maxTokens: 15_000 }, { taskBudget: 900_000 }, 'error_during_execution', 'tokens (15000)'],
    [{ maxTokens: 900_000 }, { taskBudget: 15_000 }, 'error_during_execution', 'tokens (15000)'],
    [{ maxBudgetUsd: 9 }, { maxBudgetUsd: 0.05 }, 'error_max_budget_usd', 'budget ($0.05)'],
  ])('the main thread as %j, called with %j', async (limits, called, subtype, text) => {
    const run = await open(
      routed(9, (_, said) => ({ toolUse: bash(`b${said.length}`, 'echo x'), usage: USAGE })),
      { config: { agents: weaver(limits), agent: 'weaver', model: 'sonnet', ...called } },
    );
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype, errors: [expect.stringContaining(text)] });
  });

  it('maxSeconds of the main thread', async () => {
    const clock = createFakeClock();
    const advance = () => {
      clock.advance(1_000);
      return { toolUse: bash('b1', 'echo x') };
    };
    const run = await open([advance], { clock, config: { agents: weaver({ maxSeconds: 0.5 }), agent: 'weaver' } });
    const result = await run.ask('go');
    expect(result).toMatchObject({ errors: ['Reached maximum time (0.5 s)'] });
  });

  it('a file limits its agent', async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, '.claude', 'agents'), { recursive: true });
    const text = '---\nname: weaver\ndescription: d\nmax-tokens: 19000\n---\nYou weave.';
    writeFileSync(join(cwd, '.claude', 'agents', 'weaver.md'), text);
    const run = await working({}, { cwd, config: { agents: {}, settingSources: ['project'], trusted: true } });
    await run.ask('go');
    expect(requestsOf(run)).toBe(2);
    expect(resultText(run.messages, 't1')).toContain('Reached maximum number of tokens (19000) of the agent weaver');
  });
});

it('however long its answer is, the id of an agent is at the end', async () => {
  const run = await open([started('t1'), 'x'.repeat(250_000), 'Done.'], { config: { agents: weaver({}) } });
  await run.ask('go');
  const answer = resultText(run.messages, 't1');
  expect(answer.length).toBeLessThan(101_000);
  expect(answer).toContain('characters are left out');
  expect(answer).toMatch(/agentId: a[0-9a-f]{16} \(to go on[^<]*<usage>[^<]*<\/usage>$/);
});
