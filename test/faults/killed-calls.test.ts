import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/engine/index.js';
import { answerApproval, pendingApprovals } from '../../src/engine/session-functions/answer-pending.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { scratch } from '../engine/kit.js';
import { type Agents, askedOf, createAgents, messagesOf, requestsOf } from './agents.js';
import type { AgentOrder, Said } from './child/order.js';
import { faultsIn } from './pairs.js';

let agents: Agents;

beforeAll(async () => {
  agents = await createAgents();
});

afterAll(() => agents.stop());

/** Each gap in the life of a call, in order, and what is known of it there. */
const POINTS = [
  ['before requested', 'new'],
  ['after requested', 'pending'],
  ['before answered', 'pending'],
  ['after answered', 'answered'],
  ['before started', 'answered'],
  ['after started', 'unknown'],
  ['before effect', 'unknown'],
  ['after effect', 'unknown'],
  ['before result', 'unknown'],
  ['after result', 'finished'],
] as const;

type Known = (typeof POINTS)[number][1];

/** An agent that was killed at this point. */
async function killedAt(point: string, answer: 'allow' | 'deny' = 'allow') {
  const cwd = scratch();
  const order: AgentOrder = {
    cwd,
    configDir: join(cwd, 'config'),
    sessionId: crypto.randomUUID(),
    plan: 'count',
    answer,
    prompt: 'Go',
    stopAt: point,
  };
  const agent = agents.start(order);
  await agent.reaches(point);
  await agent.kill();
  const parts = { store: createFileStore({ configDir: order.configDir }), clock: systemClock };
  const { prompt: _, stopAt: _stop, ...rest } = order;
  /** Goes on in a new process. */
  const start = (fields: Partial<AgentOrder>) => agents.start({ ...rest, open: 'resume', ...fields });
  const resume = (fields: Partial<AgentOrder>): Promise<Said[]> => start(fields).ended;
  const counted = () => (existsSync(join(cwd, 'count-c1')) ? readFileSync(join(cwd, 'count-c1'), 'utf8').length : 0);
  return { parts, sessionId: order.sessionId, start, resume, counted, countedThen: counted() };
}

type Killed = Awaited<ReturnType<typeof killedAt>>;

/** The one result that the model was given for the call. */
function toldOf(said: readonly Said[]): { content: unknown; is_error?: boolean } {
  const [last] = requestsOf(said).slice(-1);
  expect(faultsIn(last ?? [])).toEqual([]);
  const blocks = (last ?? []).flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const results = blocks.filter((block) => block.type === 'tool_result' && block.tool_use_id === 'c1');
  expect(results).toHaveLength(1);
  return results[0] as { content: unknown; is_error?: boolean };
}

const UNKNOWN = /may have had its effect or not/;

/** What must be so after the call has been approved, by whoever and whenever. */
function expectApproved(said: readonly Said[], known: Known, { counted, countedThen }: Killed): void {
  const result = toldOf(said);
  if (known === 'unknown') {
    expect(result).toMatchObject({ content: expect.stringMatching(UNKNOWN), is_error: true });
    expect(countedThen).toBeLessThanOrEqual(1);
    expect(counted()).toBe(countedThen);
  } else {
    expect(result).toMatchObject({ content: 'counted' });
    expect(result.is_error).toBeUndefined();
    expect(counted()).toBe(1);
  }
  expect(messagesOf(said).at(-1)).toMatchObject({ type: 'result', subtype: 'success', result: 'So it is.' });
}

describe('C6: kill -9 in each gap of the life of a call', () => {
  it.each(POINTS)('%s: resumed and approved, its effect comes at most once (%s)', async (point, known) => {
    const killed = await killedAt(point);
    const said = await killed.resume({});
    expectApproved(said, known, killed);
    expect(askedOf(said)).toEqual(known === 'new' || known === 'pending' ? ['c1'] : []);
  });

  it.each([
    ['before requested', 'new'],
    ['after requested', 'pending'],
    ['after effect', 'unknown'],
  ] as const)('%s: a new prompt settles it, once and for all (%s)', async (point, known) => {
    const killed = await killedAt(point);
    const said = await killed.resume({ prompt: 'Something else' });
    if (known === 'new') {
      // Nobody had been asked: what the user says instead counts.
      expect(toldOf(said)).toMatchObject({ content: expect.stringMatching(/was not run/), is_error: true });
      expect(killed.counted()).toBe(0);
    } else expectApproved(said, known, killed);
    const counted = killed.counted();
    const later = await killed.resume({ prompt: 'And?' });
    expect([toldOf(later), killed.counted()]).toEqual([toldOf(said), counted]);
  });

  it('killed again and again in the runs that go on, and unknown in the end', async () => {
    const killed = await killedAt('after requested');
    const asked: string[] = [];
    for (const point of ['before answered', 'after answered', 'before started', 'before effect']) {
      const agent = killed.start({ stopAt: point });
      await agent.reaches(point);
      await agent.kill();
      asked.push(...askedOf(agent.said));
    }
    // What was answered when it died was asked again; what was answered on the disk was not.
    expect(asked).toEqual(['c1', 'c1']);
    expectApproved(await killed.resume({}), 'unknown', killed);
    expect(killed.counted()).toBe(0);
  });
});

describe('C6: answered between the runs', () => {
  it('approved: it runs once, without a question', async () => {
    const killed = await killedAt('before answered');
    const { parts, sessionId } = killed;
    expect(await pendingApprovals(parts, sessionId)).toMatchObject([{ toolUseId: 'c1', toolName: 'Count' }]);
    await answerApproval(parts, { sessionId, answer: { behavior: 'allow' } });
    const said = await killed.resume({ answer: 'deny' });
    expect(askedOf(said)).toEqual([]);
    expectApproved(said, 'answered', killed);
  });

  it('approved, and killed before it was started, and after: it runs at most once', async () => {
    const killed = await killedAt('after requested');
    const { parts, sessionId } = killed;
    await answerApproval(parts, { sessionId, answer: { behavior: 'allow' } });
    for (const point of ['before started', 'after effect']) {
      const agent = killed.start({ stopAt: point });
      await agent.reaches(point);
      await agent.kill();
      expect(askedOf(agent.said)).toEqual([]);
    }
    expect(killed.counted()).toBe(1);
    const said = await killed.resume({});
    expect(toldOf(said)).toMatchObject({ content: expect.stringMatching(UNKNOWN) });
    expect(killed.counted()).toBe(1);
  });

  it('denied: one paired denial, nobody is asked, and nothing runs', async () => {
    const killed = await killedAt('after requested');
    const { parts, sessionId } = killed;
    await answerApproval(parts, { sessionId, answer: { behavior: 'deny', message: 'Never that.' } });
    const said = await killed.resume({ answer: 'allow' });
    expect(askedOf(said)).toEqual([]);
    expect(toldOf(said)).toMatchObject({ content: expect.stringContaining('Never that.'), is_error: true });
    expect(killed.counted()).toBe(0);
  });
});

describe('C6: denied in the run or in the next', () => {
  it.each([
    ['after requested', ['c1']],
    ['after answered', []],
    ['before result', []],
  ])('%s: one paired denial, and nothing runs', async (point, asked) => {
    const killed = await killedAt(point, 'deny');
    const said = await killed.resume({});
    expect(askedOf(said)).toEqual(asked);
    expect(toldOf(said)).toMatchObject({ content: 'Not this one.', is_error: true });
    expect(killed.counted()).toBe(0);
  });
});
