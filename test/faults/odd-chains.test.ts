import { describe, expect, it } from 'vitest';
import { toContext } from '../../src/engine/context.js';
import { toChain } from '../../src/engine/sessions/chain.js';
import { type Entry, parseEntry } from '../../src/engine/sessions/entry.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { start } from '../engine/kit.js';
import { faultsIn } from './pairs.js';

const link = (uuid: string, parentUuid: string | null, fields: object): string =>
  JSON.stringify({ uuid, parentUuid, sessionId: 's', cwd: '/', isSidechain: false, ...fields });
const says = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });
const calls = (id: string, ...names: string[]) => ({
  type: 'assistant',
  message: {
    id,
    role: 'assistant',
    model: 'm',
    usage: { input_tokens: 1, output_tokens: 1 },
    content: names.map((name) => ({ type: 'tool_use', id: name, name: 'Bash', input: {} })),
  },
});
const answers = (...names: string[]) =>
  says(names.map((name) => ({ type: 'tool_result', tool_use_id: name, content: `result of ${name}` })));

const chainOf = (lines: readonly string[]): Entry[] =>
  toChain(lines.map(parseEntry).filter((entry) => entry !== undefined));
const uuidsOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => ('uuid' in entry ? [entry.uuid] : []));

const LINES = [
  link('a', null, says('go')),
  link('b', 'a', calls('m1', 't1')),
  link('c', 'b', answers('t1')),
  link('d', 'c', calls('m2', 't2')),
  link('e', 'd', answers('t2')),
];

describe('F1: chains as damage and other writers leave them', () => {
  it('a line that is there twice counts once, where it was first', () => {
    for (const place of LINES.keys()) {
      const repeated = chainOf([...LINES.slice(0, place + 1), ...LINES.slice(place)]);
      expect(uuidsOf(repeated)).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
    expect(uuidsOf(chainOf([...LINES.slice(0, 4), LINES[1] ?? '', ...LINES.slice(4)]))).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
  });

  it('a parent that comes later leads nowhere, and nothing goes round in circles', () => {
    const chain = chainOf([link('a', 'c', says('one')), link('b', 'a', says('two')), link('c', 'b', says('three'))]);
    expect(uuidsOf(chain)).toEqual(['a', 'b', 'c']);
  });

  it('results that are linked to their calls alone are all there', () => {
    const chain = chainOf([
      link('a', null, says('go')),
      link('b', 'a', calls('m1', 't1')),
      link('c', 'b', calls('m1', 't2')),
      link('d', 'c', calls('m1', 't3')),
      link('r2', 'c', answers('t2')),
      link('r1', 'b', answers('t1')),
      link('r3', 'd', answers('t3')),
      link('e', 'r3', says('and?')),
    ]);
    const context = toContext(chain);
    expect(faultsIn(context)).toEqual([]);
    expect(JSON.stringify(context)).toMatch(/result of t1.*result of t2.*result of t3.*and\?/s);
  });

  it('results of a branch that was left stay there', async () => {
    const store = createMemoryStore();
    const call = { id: 'm1', text: 'first', toolUse: { id: 't1', name: 'Bash', input: { command: 'echo out' } } };
    const config = { permissionMode: 'bypassPermissions' as const };
    const run = await start([call, 'end'], { store, config });
    await run.ask('go');
    const at = run.messages.find((message) => message.type === 'assistant')?.uuid;
    const back = await start(['other'], {
      store,
      cwd: run.cwd,
      config: { ...config, resume: run.session.id, resumeSessionAt: at },
    });
    await back.ask('instead');
    const later = await start(['more'], { store, cwd: run.cwd, config: { ...config, resume: run.session.id } });
    await later.ask('still?');
    for (const { model } of [back, later]) {
      const { messages } = model.requests[0]?.body ?? { messages: [] };
      expect(faultsIn(messages)).toEqual([]);
      expect(JSON.stringify(messages)).not.toContain('"t1"');
    }
  });
});
