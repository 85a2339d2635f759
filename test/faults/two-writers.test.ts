import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/engine/index.js';
import { answerApproval } from '../../src/engine/session-functions/answer-pending.js';
import { readEntries, toChain } from '../../src/engine/sessions/chain.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { scratch } from '../engine/kit.js';
import { type Agents, createAgents, errorOf, messagesOf, requestsOf } from './agents.js';
import type { AgentOrder } from './child/order.js';
import { faultsIn } from './pairs.js';

let agents: Agents;

beforeAll(async () => {
  agents = await createAgents();
});

afterAll(() => agents.stop());

/** A process that is in the middle of a turn, and waits for an answer that never comes. */
async function startHolder() {
  const cwd = scratch();
  const configDir = join(cwd, 'config');
  const sessionId = crypto.randomUUID();
  const order: AgentOrder = { cwd, configDir, sessionId, plan: 'count', answer: 'never', prompt: 'Go' };
  const holder = agents.start(order);
  await holder.reaches('asked');
  const store = createFileStore({ configDir });
  const read = () => readFileSync(store.pathOf?.({ sessionId, cwd }) ?? '', 'utf8');
  const { prompt: _, ...rest } = order;
  const later: AgentOrder = { ...rest, open: 'resume', answer: 'allow' };
  return { holder, store, sessionId, read, later, cwd, counted: () => readFileSync(join(cwd, 'count-c1'), 'utf8') };
}

describe('F6: two processes on one session', () => {
  it('the second is told who writes and what is safe; the log stays as it is, and a fork goes on', async () => {
    const { holder, store, sessionId, read, later } = await startHolder();
    const before = read();
    const parts = { store, clock: systemClock };
    const [second, fork] = await Promise.all([
      agents.start({ ...later, prompt: 'Me too' }).ended,
      agents.start({ ...later, open: 'fork', prompt: 'Beside it' }).ended,
      expect(answerApproval(parts, { sessionId, answer: { behavior: 'allow' } })).rejects.toMatchObject({
        code: 'session_locked',
      }),
    ]);
    expect(errorOf(second)).toMatchObject({
      code: 'session_locked',
      message: expect.stringContaining(`process ${holder.pid} `),
      hint: expect.stringMatching(/Nothing was changed.*fork/),
    });
    expect(requestsOf(second)).toEqual([]);
    expect(messagesOf(fork).at(-1)).toMatchObject({ type: 'result', subtype: 'success' });
    expect(messagesOf(fork).at(-1)?.session_id).not.toBe(sessionId);
    expect(read()).toBe(before);
    await holder.kill();
  });

  it('of those who come after a holder that was killed, one at a time goes on, and the effect comes once', async () => {
    const { holder, store, sessionId, read, later, cwd, counted } = await startHolder();
    await holder.kill();
    const free = store.lease({ sessionId, cwd });
    expect(free).not.toBeInstanceOf(Promise);
    await (await free).release();
    const runs = await Promise.all(['a', 'b', 'c'].map((prompt) => agents.start({ ...later, prompt }).ended));
    const codes = runs.map((said) => errorOf(said)?.code ?? messagesOf(said).at(-1)?.subtype);
    expect(codes.filter((code) => code === 'success').length).toBeGreaterThan(0);
    expect(codes.filter((code) => code !== 'success' && code !== 'session_locked')).toEqual([]);
    expect(runs.flatMap(requestsOf).flatMap(faultsIn)).toEqual([]);
    expect(counted()).toBe('x');
    const lines = read().trimEnd().split('\n');
    expect(toChain(await readEntries(lines))).toHaveLength(lines.length);
  });
});
