import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { cutAfter, toChain } from '../../src/engine/sessions/chain.js';
import { type Entry, isChainEntry, parseEntry } from '../../src/engine/sessions/entry.js';
import { start } from '../engine/kit.js';
import { bodiesOf, linesOf, storeWith } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };

const TURNS: ScriptStep[] = [
  { id: 'm1', text: 'one' },
  { id: 'm2', toolUse: { id: 't2', name: 'Bash', input: { command: 'echo two' } } },
  { id: 'm3', text: 'two' },
  { id: 'm4', text: 'three' },
];

async function threeTurns() {
  const whole = await start(TURNS, { config: bypass });
  await whole.ask('first');
  await whole.ask('second');
  await whole.ask('third');
  await whole.session.close();
  const messages = whole.messages.filter((message) => message.type === 'assistant');
  return { whole, messages, key: { sessionId: whole.session.id, cwd: whole.cwd } };
}

describe('resumeSessionAt', () => {
  it('goes on after a message in the same file; what came later stays there and is not said again', async () => {
    const { whole, messages, key } = await threeTurns();
    const before = await linesOf(whole);
    const at = messages[0]?.uuid;
    const run = await start(['other'], {
      store: whole.store,
      cwd: whole.cwd,
      config: { ...bypass, resume: key.sessionId, resumeSessionAt: at },
    });
    await run.ask('another way');
    expect(run.session.id).toBe(key.sessionId);
    const sent = JSON.stringify(run.model.requests[0]?.body.messages);
    expect(sent).toContain('first');
    expect(sent).toContain('another way');
    expect(sent).not.toContain('second');
    const after = await linesOf(run);
    expect(after.slice(0, before.length)).toEqual(before);
    const prompt = after.map(parseEntry).find((entry) => JSON.stringify(entry).includes('another way'));
    expect(prompt).toMatchObject({ parentUuid: at });
  });

  it('is remembered: a later resume finds the new branch, and the next request is the one of the uninterrupted run', async () => {
    const { whole, messages, key } = await threeTurns();
    const config = { ...bypass, resume: key.sessionId };
    const branched = await start(['other', 'and on'], {
      store: whole.store,
      cwd: whole.cwd,
      config: { ...config, resumeSessionAt: messages[0]?.uuid },
    });
    await branched.ask('another way');
    const lines = await linesOf(branched);
    await branched.ask('go on');
    const again = await start(['and on'], { store: await storeWith(key, lines), cwd: whole.cwd, config });
    await again.ask('go on');
    expect(bodiesOf(again)).toEqual(bodiesOf(branched).slice(1));
  });

  it('goes back to a branch that was left behind, and a later resume follows', async () => {
    const { whole, messages, key } = await threeTurns();
    const config = { ...bypass, resume: key.sessionId };
    const at = (uuid: string | undefined) => ({
      store: whole.store,
      cwd: whole.cwd,
      config: { ...config, resumeSessionAt: uuid },
    });
    const other = await start(['other'], at(messages[0]?.uuid));
    await other.ask('another way');
    const back = await start(['back', 'on'], at(messages[2]?.uuid));
    await back.ask('as before');
    const sent = JSON.stringify(back.model.requests[0]?.body.messages);
    expect(sent).toContain('second');
    expect(sent).not.toContain('another way');
    const lines = await linesOf(back);
    await back.ask('go on');
    const again = await start(['on'], { store: await storeWith(key, lines), cwd: whole.cwd, config });
    await again.ask('go on');
    expect(bodiesOf(again)).toEqual(bodiesOf(back).slice(1));
  });

  it('counts the money of what was left behind', async () => {
    const { whole, messages, key } = await threeTurns();
    const run = await start(['other'], {
      store: whole.store,
      cwd: whole.cwd,
      config: { ...bypass, resume: key.sessionId, resumeSessionAt: messages[0]?.uuid },
    });
    const result = await run.ask('another way');
    const tokens = Object.values(result.modelUsage).reduce((sum, usage) => sum + usage.outputTokens, 0);
    const all = await start(['x'], { config: bypass });
    const single = await all.ask('y');
    const one = Object.values(single.modelUsage).reduce((sum, usage) => sum + usage.outputTokens, 0);
    expect(tokens).toBe(5 * one);
  });

  it('in the middle of a tool loop tells the model that the call was started', async () => {
    const { whole, messages, key } = await threeTurns();
    const run = await start(['other'], {
      store: whole.store,
      cwd: whole.cwd,
      config: { ...bypass, resume: key.sessionId, resumeSessionAt: messages[1]?.uuid },
    });
    await run.ask('and now');
    expect(JSON.stringify(run.model.requests[0]?.body.messages)).toMatch(/may have had its effect or not/);
  });

  it('of a message that is beside the conversation is an error, and not all of it', async () => {
    const { whole, key } = await threeTurns();
    const lines = await linesOf(whole);
    const last = lines.findLast((line) => parseEntry(line)?.type === 'assistant') ?? '';
    const uuid = '00000000-0000-4000-8000-000000000001';
    const beside = JSON.stringify({ ...(JSON.parse(last) as object), uuid, isSidechain: true });
    const store = await storeWith(key, [...lines, beside]);
    const resumed = start([], { store, cwd: whole.cwd, config: { resume: key.sessionId, resumeSessionAt: uuid } });
    await expect(resumed).rejects.toThrow(`No message found with message.uuid of: ${uuid}`);
  });

  it('of a message that is not there is an error that names it', async () => {
    const { whole, key } = await threeTurns();
    const resumed = start([], {
      store: whole.store,
      cwd: whole.cwd,
      config: { resume: key.sessionId, resumeSessionAt: '00000000-0000-4000-8000-000000000000' },
    });
    await expect(resumed).rejects.toThrow(
      'No message found with message.uuid of: 00000000-0000-4000-8000-000000000000',
    );
  });
});

describe('what names no session, or two', () => {
  const A = '00000000-0000-4000-8000-000000000001';
  it.each([
    [{ resume: '' }, 'resume names no session'],
    [{ forkSession: true }, 'forkSession needs a session'],
    [{ resumeSessionAt: A }, 'resumeSessionAt needs a session'],
    [{ resume: A, sessionId: A }, 'sessionId is for a new session'],
  ])('%j is refused', async (config, text) => {
    await expect(start([], { config })).rejects.toThrow(text);
  });
});

describe('a prompt with a uuid that was used before', () => {
  it('gets one of its own, so that nothing is lost', async () => {
    const uuid = '00000000-0000-4000-8000-000000000002';
    const run = await start(['one', 'two', 'three']);
    await run.ask('first', { uuid });
    await run.ask('second', { uuid });
    const key = { sessionId: run.session.id, cwd: run.cwd };
    const again = await start(['three'], {
      store: await storeWith(key, await linesOf(run)),
      cwd: run.cwd,
      config: { resume: key.sessionId },
    });
    await again.ask('third');
    const sent = JSON.stringify(again.model.requests[0]?.body.messages);
    for (const text of ['first', 'one', 'second', 'two', 'third']) expect(sent).toContain(text);
  });
});

describe('entries of a conversation', () => {
  it('have times that rise, since other readers go by them', async () => {
    const { whole } = await threeTurns();
    const times = (await linesOf(whole))
      .map(parseEntry)
      .flatMap((entry) => (entry && isChainEntry(entry) ? [entry.timestamp] : []));
    expect(new Set(times).size).toBe(times.length);
    expect(times.toSorted()).toEqual(times);
  });
});

describe('cutting a log', () => {
  it('at any entry keeps a chain that ends there', async () => {
    const { whole } = await threeTurns();
    const entries = (await linesOf(whole)).map(parseEntry).filter((entry): entry is Entry => entry !== undefined);
    for (const entry of entries.filter(isChainEntry)) {
      const kept = cutAfter(entries, entry.uuid);
      expect(kept.findLast(isChainEntry)?.uuid).toBe(entry.uuid);
      expect(toChain(kept)).toEqual(kept);
    }
    expect(cutAfter(entries, null).some(isChainEntry)).toBe(false);
  });
});
