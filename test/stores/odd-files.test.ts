/** What may stand where a store looks for its files. Others may be there; nothing waits for them, nothing writes to them. */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createSqliteStore } from '../../src/engine/stores/sqlite-store.js';
import { createSnapshots } from '../../src/engine/checkpoints/snapshots.js';
import { createCopies } from '../../src/engine/checkpoints/copies.js';
import { hashOf } from '../../src/engine/checkpoints/file-state.js';
import { createKeeper } from '../../src/engine/sessions/kept-output.js';
import { foldersOfProject } from '../../src/engine/session-functions/work-trees.js';
import { scratch, start } from '../engine/kit.js';
import { createPlace, functions, LogMaker, type Place } from '../sessions/functions-kit.js';

const pipeAt = (path: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', [path]);
};

const linkAt = (path: string, target: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
};

const refusal = async (act: () => unknown): Promise<unknown> => {
  try {
    return await act();
  } catch (thrown) {
    return thrown;
  }
};

/** A place with one good session, and the paths of another that is not there. */
function setUp() {
  const place = createPlace();
  const good = new LogMaker().turn('hello', 'hi');
  place.write(good);
  const odd = new LogMaker();
  const path = place.pathOf(odd);
  return { place, good, odd, path, beside: path.replace(/\.jsonl$/, '') };
}

const everything = (place: Place, sessionId: string): Record<string, () => unknown> => ({
  info: () => functions.getSessionInfo(place.parts, sessionId),
  messages: () => functions.getSessionMessages(place.parts, sessionId),
  export: () => functions.exportSession(place.parts, sessionId),
  fork: () => functions.forkSession(place.parts, sessionId),
  rename: () => functions.renameSession(place.parts, { sessionId, title: 'x' }),
  tag: () => functions.tagSession(place.parts, { sessionId, tag: 'x' }),
  archive: () => functions.archiveSession(place.parts, { sessionId, archived: true }),
  pending: () => functions.pendingApprovals(place.parts, sessionId),
  answer: () => functions.answerApproval(place.parts, { sessionId, answer: { behavior: 'allow' } }),
  resume: () => start([], { store: place.parts.store, config: { resume: sessionId } }),
  begin: () => start([], { store: place.parts.store, cwd: '/home/user/shop', config: { sessionId } }),
});

const others = async ({ place, good }: ReturnType<typeof setUp>): Promise<void> => {
  expect((await functions.listSessions(place.parts)).map(({ sessionId }) => sessionId)).toContain(good.sessionId);
  expect(await functions.searchSessions(place.parts, 'hello')).toMatchObject([{ sessionId: good.sessionId }]);
};

describe('in the place of a log', () => {
  it.each(['info', 'messages', 'export', 'fork', 'rename', 'tag', 'pending', 'answer', 'resume', 'begin'])(
    'a pipe is refused, to %s, and the others are found',
    async (name) => {
      const at = setUp();
      pipeAt(at.path);
      expect(await refusal(() => everything(at.place, at.odd.sessionId)[name]?.())).toMatchObject({
        code: 'session_unreadable',
      });
      await others(at);
    },
  );

  it.each(['rename', 'tag', 'answer', 'resume', 'begin', 'messages'])(
    'a link is refused, to %s, and what it leads to stays as it is',
    async (name) => {
      const at = setUp();
      const target = join(scratch(), 'theirs');
      const text = `${new LogMaker()
        .turn('a', 'b')
        .lines.map((line) => JSON.stringify(line))
        .join('\n')}\n`;
      writeFileSync(target, text);
      linkAt(at.path, target);
      expect(await refusal(() => everything(at.place, at.odd.sessionId)[name]?.())).toMatchObject({
        code: 'session_unreadable',
        message: expect.stringContaining('it is a link'),
      });
      await others(at);
      expect(readFileSync(target, 'utf8')).toBe(text);
    },
  );

  it('a link that leads nowhere makes no file there', async () => {
    const { place, odd, path } = setUp();
    const target = join(scratch(), 'theirs');
    linkAt(path, target);
    expect(() => place.parts.store.append(odd, ['{}'])).toThrow(expect.objectContaining({ code: 'store_failed' }));
    expect(() => lstatSync(target)).toThrow('ENOENT');
    await functions.deleteSession(place.parts, odd.sessionId);
    expect(() => lstatSync(path)).toThrow('ENOENT');
  });

  const FOREIGN: Record<string, string | Buffer> = {
    'binary data': Buffer.from([0, 159, 10, 146, 150, 10, 255]),
    'binary data without lines': Buffer.from([0, 159, 146, 150]),
    'a page': '<html>\n<body>\n',
    'a list': 'root:x:0:0\nuser:x:1:1\n',
    'a log of a later format': `${JSON.stringify({ type: 'heddle', kind: 'session', format: 9, sessionId: 's' })}\n`,
    'a later format among numbers that are none': [{}, 'x', null, 9, 1]
      .map((format) => `${JSON.stringify({ type: 'heddle', kind: 'session', format })}\n`)
      .join(''),
  };

  it.each(Object.keys(FOREIGN))('%s stays as it is, whatever is asked for', async (name) => {
    const content = FOREIGN[name] ?? '';
    const at = setUp();
    mkdirSync(dirname(at.path), { recursive: true });
    writeFileSync(at.path, content);
    for (const way of ['rename', 'tag', 'answer', 'resume', 'begin']) {
      const code = way === 'begin' ? /^session_(unreadable|exists)$/ : /^session_unreadable$/;
      expect([way, await refusal(() => everything(at.place, at.odd.sessionId)[way]?.())]).toMatchObject([
        way,
        { code: expect.stringMatching(code) },
      ]);
    }
    expect(readFileSync(at.path)).toEqual(Buffer.from(content));
    await others(at);
  });

  it.each(['binary data', 'binary data without lines', 'a page', 'a list'])(
    '%s is not appended to by the store either, and a log with a broken start is',
    async (name) => {
      const at = setUp();
      mkdirSync(dirname(at.path), { recursive: true });
      writeFileSync(at.path, FOREIGN[name] ?? '');
      const { store } = at.place.parts;
      expect(() => store.append(at.odd, ['{}'])).toThrow(expect.objectContaining({ code: 'session_unreadable' }));
      expect(readFileSync(at.path)).toEqual(Buffer.from(FOREIGN[name] ?? ''));
      writeFileSync(at.path, `${'x'.repeat(200_000)}\n{"n":1}\n`);
      await store.append(at.odd, ['{"n":2}']);
      expect(readFileSync(at.path, 'utf8')).toMatch(/x\n\{"n":1\}\n\{"n":2\}\n$/);
    },
  );
});

describe('beside a log', () => {
  it('a pipe in the place of the archive holds up nobody, and the archive takes its place', async () => {
    const at = setUp();
    at.place.write(at.odd.turn('archived', 'yes'));
    pipeAt(join(at.beside, 'archived.json'));
    expect(await functions.getSessionInfo(at.place.parts, at.odd.sessionId)).not.toHaveProperty('archived');
    const run = await start(['fine'], { store: at.place.parts.store, config: { resume: at.odd.sessionId } });
    expect(await run.ask('go on')).toMatchObject({ result: 'fine' });
    await run.session.close();
    await functions.archiveSession(at.place.parts, { sessionId: at.odd.sessionId, archived: true });
    expect(await functions.getSessionInfo(at.place.parts, at.odd.sessionId)).toMatchObject({ archived: true });
  });

  it('a link in the place of the archive is replaced, not followed', async () => {
    const at = setUp();
    at.place.write(at.odd.turn('archived', 'yes'));
    const target = join(scratch(), 'theirs');
    writeFileSync(target, 'theirs');
    linkAt(join(at.beside, 'archived.json'), target);
    await functions.archiveSession(at.place.parts, { sessionId: at.odd.sessionId, archived: true });
    expect(readFileSync(target, 'utf8')).toBe('theirs');
    expect(await functions.getSessionInfo(at.place.parts, at.odd.sessionId)).toMatchObject({ archived: true });
  });

  it('a link in the place of the folder is neither written nor read through', async () => {
    const at = setUp();
    at.place.write(at.odd.turn('archived', 'yes'));
    const target = scratch();
    linkAt(at.beside, target);
    const archive = () => functions.archiveSession(at.place.parts, { sessionId: at.odd.sessionId, archived: true });
    expect(await refusal(archive)).toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('is a link'),
    });
    expect(readdirSync(target)).toEqual([]);
    writeFileSync(join(target, 'archived.json'), JSON.stringify({ archived: true, at: new Date().toISOString() }));
    expect(await functions.getSessionInfo(at.place.parts, at.odd.sessionId)).not.toHaveProperty('archived');
  });

  it.each(['<html>', '\0\u0001\u0002', '{"type":"heddle","kind":"session","format":9}\n'])(
    'what is no log, as %j, is not put into the archive',
    async (text) => {
      const { place, odd, path, beside } = setUp();
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      const archive = () => functions.archiveSession(place.parts, { sessionId: odd.sessionId, archived: true });
      expect(await refusal(archive)).toMatchObject({ name: 'HeddleError' });
      expect(existsSync(join(beside, 'archived.json'))).toBe(false);
    },
  );

  it('a kept result takes the place of a link', async () => {
    const { path, beside } = setUp();
    const target = join(scratch(), 'theirs');
    writeFileSync(target, 'theirs');
    linkAt(join(beside, 'tool-results', 'one.txt'), target);
    const kept = await createKeeper(path).keep('one.txt', 'ours');
    expect([readFileSync(kept, 'utf8'), readFileSync(target, 'utf8')]).toEqual(['ours', 'theirs']);
  });
});

describe('elsewhere', () => {
  it.each(['pipe', 'link'])('a %s in the place of a lease is an error that says so', async (kind) => {
    const { place, good } = setUp();
    const path = join(place.configDir, 'leases', `${good.sessionId}.json`);
    const target = join(scratch(), 'theirs');
    writeFileSync(target, '{}');
    if (kind === 'pipe') pipeAt(path);
    else linkAt(path, target);
    const run = () => start([], { store: place.parts.store, config: { resume: good.sessionId } });
    expect(await refusal(run)).toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('not an ordinary file'),
    });
    expect(readFileSync(target, 'utf8')).toBe('{}');
    expect(readdirSync(dirname(path))).toEqual([`${good.sessionId}.json`]);
  });

  it.each(['pipe', 'link'])('a %s in the place of the index of searches is passed over', async (kind) => {
    const at = setUp();
    const target = join(scratch(), 'theirs');
    writeFileSync(target, '');
    if (kind === 'pipe') pipeAt(at.place.parts.indexFile);
    else linkAt(at.place.parts.indexFile, target);
    await others(at);
    expect(readFileSync(target, 'utf8')).toBe('');
  });

  it('a pipe in the place of a database is an error; a link to one may be named', async () => {
    const folder = scratch();
    pipeAt(join(folder, 'pipe'));
    const key = { sessionId: new LogMaker().sessionId, cwd: '/ws' };
    const store = createSqliteStore({ path: join(folder, 'pipe') });
    expect(() => store.append(key, ['{}'])).toThrow(expect.objectContaining({ code: 'store_failed' }));
    linkAt(join(folder, 'link'), join(folder, 'real'));
    const linked = createSqliteStore({ path: join(folder, 'link') });
    await linked.append(key, ['{}']);
    linked.close();
    expect(lstatSync(join(folder, 'real')).size).toBeGreaterThan(0);
  });

  it('a pipe among what checkpoints keep is as if it were not there', async () => {
    const folder = scratch();
    const content = Buffer.from('kept');
    pipeAt(join(folder, hashOf(content)));
    const limits = { count: 10, bytes: 1000 };
    const snapshots = createSnapshots({ folder, limits, needed: () => ({ hashes: [], current: 0 }) });
    expect(await snapshots.read(hashOf(content))).toBeUndefined();
    pipeAt(join(folder, 'copies'));
    expect(createCopies(join(folder, 'copies'), { [hashOf(content)]: [0, 4] }).read(hashOf(content))).toBeUndefined();
  });

  it('copies are not written through a link', () => {
    const folder = scratch();
    writeFileSync(join(folder, 'theirs'), 'theirs');
    linkAt(join(folder, 'copies'), join(folder, 'theirs'));
    const copies = createCopies(join(folder, 'copies'));
    copies.add(hashOf(Buffer.from('x')), Buffer.from('x'));
    expect(() => copies.index()).toThrow('ELOOP');
    expect(readFileSync(join(folder, 'theirs'), 'utf8')).toBe('theirs');
  });

  it('a pipe among the records of git is passed over', () => {
    const folder = scratch();
    pipeAt(join(folder, '.git', 'worktrees', 'one', 'gitdir'));
    expect(foldersOfProject(folder)).toEqual([folder]);
    const linked = scratch();
    pipeAt(join(linked, '.git'));
    expect(foldersOfProject(linked)).toEqual([linked]);
  });
});

it('a store of files that is damaged says so, and what it left alone', () => {
  const folder = scratch();
  writeFileSync(join(folder, 'db'), 'SQLite format 3\0 and then something else'.repeat(100));
  const store = createSqliteStore({ path: join(folder, 'db') });
  expect(() => store.append({ sessionId: 's', cwd: '/ws' }, ['{}'])).toThrow(
    expect.objectContaining({ code: 'store_failed', hint: expect.stringMatching(/damaged.*left as it is/) }),
  );
});

it('the store of files takes capitals and small letters for one session', async () => {
  const store = createFileStore({ configDir: scratch() });
  const sessionId = new LogMaker().sessionId;
  const first = await start(['one'], { store, cwd: scratch(), config: { sessionId: sessionId.toUpperCase() } });
  expect(first.session.id).toBe(sessionId);
  await first.ask('hello');
  await first.session.close();
  expect(
    await refusal(() => start([], { store, cwd: scratch(), config: { sessionId: sessionId.toUpperCase() } })),
  ).toMatchObject({ code: 'session_exists' });
});
