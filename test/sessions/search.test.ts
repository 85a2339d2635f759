import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { toPhrases } from '../../src/engine/session-functions/search-text.js';
import { createPlace, functions, LogMaker, type Place } from './functions-kit.js';

const ids = async (place: Place, query: string, options: object = {}) =>
  (await functions.searchSessions(place.parts, query, options)).map(({ sessionId }) => sessionId);

describe('searchSessions (F7)', () => {
  it('prompts, answers, inputs of tools and titles; not their results, nor what the engine put in', async () => {
    const place = createPlace();
    const maker = new LogMaker()
      .prompt('hidden context', { isMeta: true })
      .turn('Why does the lease expire?', 'Because the heartbeat stopped.')
      .call('t1', 'Bash', { command: 'grep -rn timeout src/engine' })
      .result('t1', 'secretoutput');
    const sessionId = place.write(maker);
    place.write(new LogMaker().turn('Something else', 'entirely'));
    await functions.renameSession(place.parts, { sessionId, title: 'Wartezeiten' });
    const [found] = await functions.searchSessions(place.parts, 'heartbeat');
    expect(found).toEqual({
      sessionId,
      summary: 'Wartezeiten',
      snippet: 'Because the heartbeat stopped.',
      lastModified: Math.floor(statSync(place.pathOf(maker)).mtimeMs),
      uuid: maker.uuids[2],
      cwd: '/home/user/shop',
    });
    for (const query of ['lease', 'LEASE exp', 'src/engine', 'wartezeit', '"the heartbeat"', 'lease heartbeat grep'])
      expect([query, await ids(place, query)]).toEqual([query, [sessionId]]);
    for (const query of ['hidden', 'secretoutput', '"heartbeat the"', 'lease nothing'])
      expect([query, await ids(place, query)]).toEqual([query, []]);
    expect(statSync(place.parts.indexFile).mode & 0o777).toBe(0o600);
  });

  it('titles first, then the newest; a limit; by folder', async () => {
    const place = createPlace();
    const old = place.write(
      new LogMaker({ cwd: '/home/user/a' }).turn('x', 'a').line({ type: 'custom-title', customTitle: 'apple pie' }),
    );
    const maker = new LogMaker({ cwd: '/home/user/b' }).turn('apple', 'a');
    const recent = place.write(maker);
    expect(await ids(place, 'apple')).toEqual([old, recent]);
    expect(await ids(place, 'apple', { limit: 1 })).toEqual([old]);
    expect(await ids(place, 'apple', { dir: '/home/user/b' })).toEqual([recent]);
    expect(await ids(place, 'apple', { dir: '/home/user/c' })).toEqual([]);
    // A title that was replaced is found no more.
    await functions.renameSession(place.parts, { sessionId: old, title: 'pear' });
    expect(await ids(place, 'apple')).toEqual([recent]);
    expect(await ids(place, 'pear')).toEqual([old]);
  });

  it.each([
    '"',
    '"unclosed',
    'a"b',
    '*',
    'AND',
    'NOT',
    'NEAR(a b)',
    'text:x',
    'a AND OR b',
    '(',
    '{a b}: c',
    '^start',
    '-minus',
    '+',
    'a*b',
    "'; DROP TABLE said; --",
    '\0',
    '\uD800',
    'ß',
    'ﬁ',
    '日本',
    'x'.repeat(5000),
    'a '.repeat(3000),
    '\u200B',
    '💥',
    '<b>&amp;',
  ])('no text breaks it: %j', async (query) => {
    const place = createPlace();
    place.write(new LogMaker().turn('a text b start minus 日本語を検索する 💥', 'yes'));
    const found = await functions.searchSessions(place.parts, query).catch((error: { code: string }) => error.code);
    expect(toPhrases(query).length === 0 ? found === 'invalid_config' : Array.isArray(found)).toBe(true);
  });

  it('scripts without spaces are found inside of a sentence', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('この関数を検索してください', 'はい'));
    expect(await functions.searchSessions(place.parts, '検索')).toMatchObject([
      { sessionId, snippet: 'この関数を検索してください' },
    ]);
    expect(await ids(place, '索検')).toEqual([]);
  });

  it('only what is new is read; a log that was replaced is read anew; one that is gone is forgotten', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('first', 'a');
    const sessionId = place.write(maker);
    expect(await ids(place, 'first')).toEqual([sessionId]);
    const offsetOf = () => {
      const database = new DatabaseSync(place.parts.indexFile);
      const row = database.prepare('SELECT offset, rows FROM sessions').get();
      database.close();
      return row;
    };
    expect(offsetOf()).toEqual({ offset: statSync(place.pathOf(maker)).size, rows: 3 });
    place.write(maker.turn('second', 'b'));
    // A line without its end waits for it.
    const whole = statSync(place.pathOf(maker)).size;
    writeFileSync(place.pathOf(maker), '{"uuid":"u","type":"user","cwd":"/","message":{"content":"thi', { flag: 'a' });
    expect([await ids(place, 'second'), await ids(place, 'thi')]).toEqual([[sessionId], []]);
    expect(offsetOf()).toEqual({ offset: whole, rows: 5 });
    writeFileSync(place.pathOf(maker), 'rd"}}\n', { flag: 'a' });
    expect(await ids(place, 'third')).toEqual([sessionId]);

    const other = new LogMaker({ sessionId }).turn('replaced', 'a').turn('and longer than it was', 'x'.repeat(2000));
    rmSync(place.pathOf(maker));
    place.write(other);
    expect([await ids(place, 'first'), await ids(place, 'replaced')]).toEqual([[], [sessionId]]);
    truncateSync(place.pathOf(maker), 700);
    expect(await ids(place, 'longer')).toEqual([]);
    rmSync(place.pathOf(maker));
    expect(await ids(place, 'replaced')).toEqual([]);
    expect(offsetOf()).toBeUndefined();
  });

  it('an index that is damaged, or of a later version, is made anew', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('needle', 'a'));
    const damage: ((file: string) => void)[] = [
      (file) => writeFileSync(file, 'this is no database at all'.repeat(1000)),
      (file) => writeFileSync(file, ''),
      (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0xff, 4096, bytes.length);
        writeFileSync(file, bytes);
      },
      (file) => {
        const database = new DatabaseSync(file);
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
      (file) => {
        const database = new DatabaseSync(file);
        database.exec('DROP TABLE sessions');
        database.close();
      },
    ];
    for (const [at, harm] of damage.entries()) {
      expect(await ids(place, 'needle')).toEqual([sessionId]);
      for (const suffix of ['-wal', '-shm']) rmSync(place.parts.indexFile + suffix, { force: true });
      harm(place.parts.indexFile);
      expect([at, await ids(place, 'needle')]).toEqual([at, [sessionId]]);
    }
  });

  it('where the index cannot be kept, it lives as long as the search; a file of another program stays', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('needle', 'a'));
    mkdirSync(place.parts.indexFile);
    expect(await ids(place, 'needle')).toEqual([sessionId]);
    rmSync(place.parts.indexFile, { recursive: true });
    const database = new DatabaseSync(place.parts.indexFile);
    database.exec('PRAGMA application_id = 7; CREATE TABLE theirs (x)');
    database.close();
    expect(await ids(place, 'needle')).toEqual([sessionId]);
    const kept = new DatabaseSync(place.parts.indexFile);
    expect(kept.prepare('SELECT count(*) AS n FROM theirs').get()).toEqual({ n: 0 });
    kept.close();
  });

  it('two at once, and nothing of a deleted session is left in the file', async () => {
    const place = createPlace();
    const makers = Array.from({ length: 30 }, (_, at) => new LogMaker().turn(`common word${at}`, 'unforgettable'));
    for (const maker of makers) place.write(maker);
    const found = await Promise.all([ids(place, 'common', { limit: 50 }), ids(place, 'common', { limit: 50 })]);
    expect(found.map(({ length }) => length)).toEqual([30, 30]);
    for (const { sessionId } of makers) await functions.deleteSession(place.parts, sessionId);
    const bytes = ['', '-wal'].map((suffix) => place.parts.indexFile + suffix).filter((file) => existsSync(file));
    expect(bytes.some((file) => readFileSync(file).includes('unforgettable'))).toBe(false);
  });

  it('F7: a deleted session is forgotten in small steps; where that is too much, the index is made anew', async () => {
    const place = createPlace();
    const many = new LogMaker();
    for (let at = 0; at < 200; at += 1) many.turn(`prompt${at}`, 'unforgettable');
    const large = new LogMaker().turn('x'.repeat(40_000), 'immense');
    const other = place.write(new LogMaker().turn('needle', 'a'));
    for (const maker of [many, large]) place.write(maker);
    expect(await ids(place, 'immense')).toHaveLength(1);
    const before = statSync(place.parts.indexFile).ino;

    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await functions.deleteSession(place.parts, many.sessionId);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(15);
    expect(statSync(place.parts.indexFile).ino).toBe(before);
    expect([await ids(place, 'unforgettable'), await ids(place, 'needle')]).toEqual([[], [other]]);

    const rowsOf = () => {
      const database = new DatabaseSync(place.parts.indexFile);
      const row = database.prepare('SELECT count(*) AS rows FROM sessions').get();
      database.close();
      return row;
    };
    expect(rowsOf()).toEqual({ rows: 2 });
    await functions.deleteSession(place.parts, large.sessionId);
    expect(rowsOf()).toEqual({ rows: 0 });
    expect([await ids(place, 'immense'), await ids(place, 'needle')]).toEqual([[], [other]]);
    // One that vanished otherwise is forgotten by the next search.
    rmSync(place.pathOf({ sessionId: other, cwd: '/home/user/shop' }));
    expect([await ids(place, 'needle'), rowsOf()]).toEqual([[], { rows: 0 }]);
  });

  it('needs a word, and sessions that are files', async () => {
    const place = createPlace();
    for (const query of [5, null, undefined, {}]) {
      await expect(ids(place, query as string)).rejects.toMatchObject({ code: 'invalid_config' });
    }
    await expect(ids(place, ' ?! ')).rejects.toMatchObject({ code: 'invalid_config' });
    const { store } = place.parts;
    const parts = { ...place.parts, store: { ...store, pathOf: undefined } };
    await expect(functions.searchSessions(parts, 'x')).rejects.toMatchObject({ code: 'not_supported' });
  });
});
