import { describe, expect, it } from 'vitest';
import { readEntries, toChain } from '../../src/engine/sessions/chain.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { start } from '../engine/kit.js';

const SESSION = '99999999-2222-4333-8444-555555555551';
const link = (uuid: string, parentUuid: string | null, fields: object): string =>
  JSON.stringify({ uuid, parentUuid, sessionId: SESSION, cwd: '/', isSidechain: false, ...fields });
const says = (uuid: string, parent: string | null, content: string) =>
  link(uuid, parent, { type: 'user', message: { role: 'user', content } });
const answers = (uuid: string, parent: string, text: string) =>
  link(uuid, parent, {
    type: 'assistant',
    message: {
      id: uuid,
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  });

/** Two ways from the first answer; the second one hangs from a line that is no entry. */
const branched = (...between: string[]) => [
  says('u1', null, 'Q1'),
  answers('a1', 'u1', 'R1'),
  says('u2', 'a1', 'Q2'),
  answers('a2', 'u2', 'R2'),
  ...between,
  says('u3', 'x1', 'Q3'),
  answers('a3', 'u3', 'R3'),
];
const uuidsOf = async (lines: readonly string[]) =>
  toChain(await readEntries(lines)).flatMap((entry) => ('uuid' in entry ? [entry.uuid] : []));

describe('F1: lines of other writers lead from entry to entry', () => {
  it.each([
    ['an attachment', [link('x1', 'a1', { type: 'attachment', attachment: {} })]],
    ['a progress line', [link('x1', 'a1', { type: 'progress', data: {} })]],
    ['a system line', [link('x1', 'a1', { type: 'system', subtype: 'turn_duration' })]],
    ['a message without content', [link('x1', 'a1', { type: 'user' })]],
    ['several', [link('x2', 'a1', { type: 'attachment' }), link('x1', 'x2', { type: 'progress' })]],
  ])('%s: what was abandoned is not said again', async (_, between) => {
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: '/' }, branched(...between));
    const run = await start(['R4'], { store, config: { resume: SESSION } });
    await run.ask('Q4');
    const sent = JSON.stringify(run.model.requests[0]?.body.messages);
    for (const said of ['Q1', 'R1', 'Q3', 'R3', 'Q4']) expect(sent).toContain(said);
    for (const left of ['Q2', 'R2']) expect(sent).not.toContain(left);
  });

  it('what hangs from such a first line has nothing before it', async () => {
    const root = [says('u0', null, 'old'), link('x1', null, { type: 'attachment' }), says('u1', 'x1', 'Q1')];
    expect(await uuidsOf(root)).toEqual(['u1']);
  });

  it('a compaction goes on along them', async () => {
    const boundary = link('b1', null, { type: 'system', subtype: 'compact_boundary', logicalParentUuid: 'x1' });
    const lines = [...branched(link('x1', 'a1', { type: 'attachment' })).slice(0, 5), boundary, says('u4', 'b1', 'S')];
    expect(await uuidsOf(lines)).toEqual(['u1', 'a1', 'b1', 'u4']);
  });

  it('an id that occurs nowhere, and lines that lead in a circle: what stands before is kept', async () => {
    expect(await uuidsOf(branched())).toEqual(['u1', 'a1', 'u2', 'a2', 'u3', 'a3']);
    const circle = [link('x1', 'x2', { type: 'progress' }), link('x2', 'x1', { type: 'progress' })];
    expect(await uuidsOf(branched(...circle))).toEqual(['u1', 'a1', 'u2', 'a2', 'u3', 'a3']);
  });

  it('an entry counts before a line that has its id', async () => {
    const lines = branched(says('x1', 'a1', 'Q2b'), link('x1', null, { type: 'attachment' }));
    expect(await uuidsOf(lines)).toEqual(['u1', 'a1', 'x1', 'u3', 'a3']);
  });
});
