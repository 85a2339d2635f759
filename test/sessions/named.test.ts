import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { start } from '../engine/kit.js';
import { createPlace, entriesIn, functions, LogMaker } from './functions-kit.js';

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001';
const TWO = 'aaaabbbb-0000-4000-8000-000000000002';
const CWD = '/home/user/shop';

function setUp() {
  const place = createPlace();
  for (const [sessionId, title] of [
    [ONE, 'cafe'],
    [TWO, 'The Bug'],
  ] as const)
    place.write(new LogMaker({ sessionId }).turn('hello', 'hi').line({ type: 'custom-title', customTitle: title }));
  return place;
}

const NAMES: [name: string, id: string][] = [
  [TWO, TWO],
  [TWO.toUpperCase(), TWO],
  ['aaaab', TWO],
  ['AAAAB', TWO],
  [TWO.slice(0, 8), TWO],
  [TWO.slice(0, -1), TWO],
  ['the bug', TWO],
  ['cafe', ONE],
];

describe('a session is named by its id in any case, the start of it, or its title', () => {
  it.each(NAMES)('resume: %s', async (resume, id) => {
    const { store } = setUp().parts;
    for (const fork of [{}, { forkSession: true }]) {
      const run = await start(['fine'], { store, config: { resume, ...fork } });
      expect(run.session.id === id).toBe(!('forkSession' in fork));
      await run.session.close();
    }
  });

  it.each(NAMES)('findNamed, which the commands use: %s', async (name, id) => {
    expect(await functions.findNamed(setUp().parts, name, { cwd: CWD })).toBe(id);
  });

  it.each([
    ['aaaa', /2 sessions begin with "aaaa": .*/],
    ['AAA', /too short for the start of an id/],
    ['bbbb', /No conversation found with session ID: bbbb/],
    [ONE.replace('1', '9').toUpperCase(), /No conversation found with session ID: AAAA/],
  ])('%s could be several or none, and nothing is begun', async (resume, text) => {
    const { store } = setUp().parts;
    await expect(start([], { store, config: { resume } })).rejects.toMatchObject({
      code: 'session_not_found',
      message: expect.stringMatching(text),
    });
    expect(await store.list()).toHaveLength(2);
  });

  it('what is the title of one and begins the id of another is neither', async () => {
    const place = setUp();
    place.write(new LogMaker({ sessionId: 'cafe0000-0000-4000-8000-000000000003' }).turn('hello', 'hi'));
    await expect(functions.findNamed(place.parts, 'cafe', { cwd: CWD })).rejects.toMatchObject({
      code: 'session_not_found',
      message: expect.stringMatching(/"cafe" is the title of session aaaaaaaa.*and session cafe0000/),
    });
  });

  it('of a store without glances, too', async () => {
    const { glance: _, ...store } = createMemoryStore();
    const maker = new LogMaker({ sessionId: TWO }).turn('hello', 'hi');
    await store.append(
      maker,
      maker.lines.map((line) => JSON.stringify(line)),
    );
    const run = await start(['fine'], { store, config: { resume: TWO.toUpperCase() } });
    expect(run.session.id).toBe(TWO);
    await run.session.close();
  });
});

describe('what is written to a session that was named in capitals', () => {
  it('has its id as it is kept', async () => {
    const place = setUp();
    const sessionId = TWO.toUpperCase();
    await functions.renameSession(place.parts, { sessionId, title: 'Named' });
    await functions.tagSession(place.parts, { sessionId, tag: 'one' });
    const { archive: _, ...store } = place.parts.store;
    await functions.archiveSession({ ...place.parts, store }, { sessionId, archived: true });
    const written = entriesIn(place.read({ sessionId: TWO, cwd: CWD })).slice(-3);
    expect(written).toMatchObject([{ customTitle: 'Named' }, { tag: 'one' }, { kind: 'mark' }]);
    for (const line of written) expect(line).toMatchObject({ sessionId: TWO });
  });
});
