import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore, systemClock } from '../../src/engine/index.js';
import { createFileStore, projectSlug } from '../../src/engine/stores/file-store.js';
import { InMemorySessionStore } from '../../src/sdk/memory-session-store.js';
import { loadSession } from '../../src/engine/sessions/resume.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { scratch } from '../engine/kit.js';
import { createPlace, entriesIn, functions, LogMaker } from './functions-kit.js';

const { listSessions, getSessionInfo, getSessionMessages } = functions;

describe('listSessions', () => {
  it('newest first, with all that is known (F7)', async () => {
    const place = createPlace();
    const old = new LogMaker().turn('the first question', 'yes');
    const titled = new LogMaker({ cwd: '/home/user/other' })
      .prompt('context', { isMeta: true })
      .prompt('  what   is\nthis? ', { gitBranch: 'main' })
      .answer('a thing')
      .line({ type: 'custom-title', sessionId: 'x', customTitle: 'My title' })
      .line({ type: 'tag', tag: 'work', sessionId: 'x' });
    place.write(old);
    place.write(titled);
    utimesSync(place.pathOf(old), 1000, 1000);
    expect(await listSessions(place.parts)).toEqual([
      {
        sessionId: titled.sessionId,
        summary: 'My title',
        customTitle: 'My title',
        firstPrompt: 'what is this?',
        lastModified: Math.floor(statSync(place.pathOf(titled)).mtimeMs),
        fileSize: place.read(titled).length,
        gitBranch: 'main',
        cwd: '/home/user/other',
        tag: 'work',
        createdAt: Date.UTC(2026, 0, 2) + 1000,
      },
      {
        sessionId: old.sessionId,
        summary: 'the first question',
        firstPrompt: 'the first question',
        lastModified: 1_000_000,
        fileSize: place.read(old).length,
        cwd: '/home/user/shop',
        createdAt: Date.UTC(2026, 0, 2) + 1000,
      },
    ]);
  });

  it('pages, by folder, and leaves out what is no conversation', async () => {
    const place = createPlace();
    const makers = Array.from({ length: 5 }, (_, at) =>
      new LogMaker({ cwd: '/home/user/a-b' }).turn(`prompt ${at}`, 'a'),
    );
    for (const [at, maker] of makers.entries()) {
      place.write(maker);
      utimesSync(place.pathOf(maker), 2000 - at, 2000 - at);
    }
    // The same place on the disk, and another folder.
    place.write(new LogMaker({ cwd: '/home/user/a/b' }).turn('elsewhere', 'a'));
    place.write(new LogMaker({ cwd: '/home/user/a-b' }));
    place.write(
      new LogMaker({ cwd: '/home/user/a-b' }).chain({
        type: 'user',
        isSidechain: true,
        message: { role: 'user', content: 'an agent' },
      }),
    );
    const damaged = { sessionId: randomUUID(), cwd: '/home/user/a-b' };
    writeFileSync(place.pathOf(damaged), '\0\0 not json\n{"type":');
    const here = await listSessions(place.parts, { dir: '/home/user/a-b' });
    expect(here.map(({ summary }) => summary)).toEqual(makers.map((_, at) => `prompt ${at}`));
    const page = await listSessions(place.parts, { dir: '/home/user/a-b', limit: 2, offset: 1 });
    expect(page.map(({ summary }) => summary)).toEqual(['prompt 1', 'prompt 2']);
    expect(await listSessions(place.parts, { limit: 0 })).toEqual([]);
    expect((await listSessions(place.parts, { offset: 4 })).length).toBe(2);
    await expect(listSessions(place.parts, { limit: -1 })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('with the work trees of a git repository', async () => {
    const place = createPlace();
    const root = scratch();
    const [main, tree] = [join(root, 'main'), join(root, 'tree')];
    const record = join(main, '.git/worktrees/tree');
    mkdirSync(record, { recursive: true });
    mkdirSync(tree);
    writeFileSync(join(tree, '.git'), `gitdir: ${record}\n`);
    writeFileSync(join(record, 'gitdir'), `${join(tree, '.git')}\n`);
    writeFileSync(join(record, 'commondir'), '../..\n');
    place.write(new LogMaker({ cwd: main }).turn('in main', 'a'));
    place.write(new LogMaker({ cwd: tree }).turn('in tree', 'a'));
    const summaries = async (options: object) => (await listSessions(place.parts, options)).map((each) => each.summary);
    expect((await summaries({ dir: tree })).toSorted()).toEqual(['in main', 'in tree']);
    expect((await summaries({ dir: main })).toSorted()).toEqual(['in main', 'in tree']);
    expect(await summaries({ dir: tree, includeWorktrees: false })).toEqual(['in tree']);
  });

  it('what other programs write: summaries, their titles, the last prompt, commands, pictures', async () => {
    const place = createPlace();
    const infoOf = async (maker: LogMaker) => getSessionInfo(place.parts, place.write(maker));
    expect(await infoOf(new LogMaker().turn('hi', 'a').line({ type: 'summary', summary: 'About x' }))).toMatchObject({
      summary: 'About x',
      firstPrompt: 'hi',
    });
    expect(
      await infoOf(new LogMaker().turn('hi', 'a').line({ type: 'ai-title', aiTitle: 'Of a model' })),
    ).toMatchObject({
      summary: 'Of a model',
    });
    const command =
      '<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>it all</command-args>';
    expect(await infoOf(new LogMaker().prompt(command).answer('a'))).toMatchObject({ summary: '/fix it all' });
    expect(await infoOf(new LogMaker().prompt([{ type: 'image', source: {} }]).answer('a'))).toMatchObject({
      summary: '(no text)',
    });
    expect(await infoOf(new LogMaker().prompt('x'.repeat(500)).answer('a'))).toMatchObject({
      summary: `${'x'.repeat(200)}…`,
    });
  });

  it('a title that stands far from both ends is found once it is said again', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('hi', 'a').line({ type: 'custom-title', customTitle: 'Kept' });
    for (let at = 0; at < 40; at += 1) maker.turn('more', 'x'.repeat(10_000));
    maker.line({ type: 'custom-title', customTitle: 'Kept' }).turn('more', 'x'.repeat(10_000));
    expect(await getSessionInfo(place.parts, place.write(maker))).toMatchObject({ summary: 'Kept' });
  });
});

describe('getSessionMessages', () => {
  it('the chain across compactions, without what the engine put in', async () => {
    const place = createPlace();
    const maker = new LogMaker()
      .prompt('where we are', { isMeta: true })
      .turn('one', 'first')
      .boundary()
      .prompt('summary', { isCompactSummary: true })
      .turn('two', 'second');
    const { sessionId } = maker;
    place.write(maker);
    const messages = await getSessionMessages(place.parts, sessionId);
    expect(messages.map(({ type, message }) => [type, (message as { content: unknown }).content])).toEqual([
      ['user', 'one'],
      ['assistant', [{ type: 'text', text: 'first' }]],
      ['user', 'summary'],
      ['user', 'two'],
      ['assistant', [{ type: 'text', text: 'second' }]],
    ]);
    expect(messages[0]).toEqual({
      type: 'user',
      uuid: maker.uuids[1],
      session_id: sessionId,
      message: { role: 'user', content: 'one' },
      parent_tool_use_id: null,
      parent_agent_id: null,
    });
    const all = await getSessionMessages(place.parts, sessionId, { includeSystemMessages: true });
    expect(all[2]).toMatchObject({
      type: 'system',
      message: { subtype: 'compact_boundary', compact_metadata: { pre_tokens: 900 } },
    });
    expect(await getSessionMessages(place.parts, sessionId, { offset: 1, limit: 2 })).toEqual(messages.slice(1, 3));
  });

  it('unknown and of another folder: empty; no UUID: an error that says so', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('one', 'first'));
    expect(await getSessionMessages(place.parts, randomUUID())).toEqual([]);
    expect(await getSessionInfo(place.parts, randomUUID())).toBeUndefined();
    expect(await getSessionMessages(place.parts, sessionId, { dir: '/home/user/elsewhere' })).toEqual([]);
    expect(await getSessionInfo(place.parts, sessionId, { dir: '/home/user/elsewhere' })).toBeUndefined();
    for (const bad of ['../../etc/passwd', 'My title', '']) {
      await expect(getSessionMessages(place.parts, bad)).rejects.toMatchObject({
        code: 'invalid_config',
        message: /UUID/,
      });
    }
  });

  it('subagents have logs of their own', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    const { sessionId, cwd } = maker;
    place.write(maker);
    const agent = new LogMaker({ sessionId, cwd }).prompt('search', { isSidechain: true }).chain({
      type: 'assistant',
      isSidechain: true,
      message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'found' }] },
    });
    await place.parts.store.append(
      { sessionId, cwd, agentId: 'a1' },
      agent.lines.map((line) => JSON.stringify(line)),
    );
    expect(await functions.listSubagents(place.parts, sessionId)).toEqual(['a1']);
    const messages = await functions.getSubagentMessages(place.parts, { sessionId, agentId: 'a1' });
    expect(messages.map(({ type, session_id }) => [type, session_id])).toEqual([
      ['user', sessionId],
      ['assistant', sessionId],
    ]);
    expect(await functions.getSubagentMessages(place.parts, { sessionId, agentId: '../x' })).toEqual([]);
    expect(await functions.listSubagents(place.parts, randomUUID())).toEqual([]);
  });
});

describe('titles, tags and the archive', () => {
  it('are one line or file each, also while another process holds the lease', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    const { sessionId, cwd } = maker;
    place.write(maker);
    const before = place.read(maker);
    const other = createFileStore({ configDir: place.configDir });
    const lease = await other.lease({ sessionId, cwd });
    await functions.renameSession(place.parts, { sessionId, title: ' A new\ntitle ' });
    await functions.tagSession(place.parts, { sessionId, tag: 'work' });
    await functions.archiveSession(place.parts, { sessionId, archived: true });
    await other.append({ sessionId, cwd }, ['{"type":"heddle","kind":"set"}']);
    await lease.release();
    const added = place.read(maker).slice(before.length);
    expect(entriesIn(added)).toMatchObject([
      { type: 'custom-title', sessionId, customTitle: 'A new title' },
      { type: 'tag', sessionId, tag: 'work' },
      { type: 'heddle', kind: 'set' },
    ]);
    expect(await getSessionInfo(place.parts, sessionId)).toMatchObject({
      summary: 'A new title',
      tag: 'work',
      archived: true,
    });
    await functions.tagSession(place.parts, { sessionId, tag: null });
    await functions.archiveSession(place.parts, { sessionId, archived: false });
    const info = await getSessionInfo(place.parts, sessionId);
    expect([info?.tag, info?.archived]).toEqual([undefined, false]);
  });

  it('a prompt takes a session out of the archive, whoever wrote it', async () => {
    const place = createPlace();
    for (const later of [
      (maker: LogMaker) => maker.turn('again', 'yes'),
      (maker: LogMaker) => maker.prompt('of another program'),
    ]) {
      const maker = new LogMaker().turn('one', 'first');
      const now = Date.parse((maker.lines.at(-1) as { timestamp: string }).timestamp);
      const sessionId = place.write(maker);
      const parts = { ...place.parts, clock: { ...place.parts.clock, now: () => now } };
      await functions.archiveSession(parts, { sessionId, archived: true });
      expect(await getSessionInfo(parts, sessionId)).toMatchObject({ archived: true });
      place.write(later(maker));
      expect(await getSessionInfo(parts, sessionId)).toMatchObject({ archived: false });
    }
  });

  it('the archive is the file that other programs know', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    const sessionId = place.write(maker);
    const file = join(place.pathOf(maker).replace('.jsonl', ''), 'archived.json');
    const isArchived = async () => (await getSessionInfo(place.parts, sessionId))?.archived;
    expect(await isArchived()).toBeUndefined();
    await functions.archiveSession(place.parts, { sessionId, archived: true });
    const { at, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { at: string };
    expect(rest).toEqual({ archived: true, by: 'heddle' });
    expect(new Date(at).toISOString()).toBe(at);
    for (const archived of [false, true]) {
      writeFileSync(file, JSON.stringify({ archived, at, by: 'sdk' }));
      expect(await isArchived()).toBe(archived);
      expect((await functions.listSessions(place.parts)).map((info) => info.archived)).toEqual([archived]);
    }
    for (const odd of ['', 'x', '{}', 'null', '{"archived":true}', '{"archived":"yes","at":"2026-01-01T00:00:00Z"}']) {
      writeFileSync(file, odd);
      expect(await isArchived()).toBeUndefined();
    }
  });

  it('a store without files has a line for the archive', async () => {
    const maker = new LogMaker().turn('one', 'first');
    const { sessionId, cwd } = maker;
    const store = createMemoryStore();
    await store.append(
      { sessionId, cwd },
      maker.lines.map((line) => JSON.stringify(line)),
    );
    const parts = { store, clock: systemClock };
    await functions.archiveSession(parts, { sessionId, archived: true });
    expect(entriesIn((await store.load(sessionId))?.lines.at(-1) ?? '')).toMatchObject([
      { type: 'heddle', kind: 'mark', archived: true, sessionId },
    ]);
    expect(await getSessionInfo(parts, sessionId)).toMatchObject({ archived: true });
  });

  it('a log in a folder of another name gets its marks where it is', async () => {
    const place = createPlace();
    const maker = new LogMaker({ cwd: '/home/user/moved' }).turn('one', 'first');
    const moved = { sessionId: maker.sessionId, cwd: '/home/user/elsewhere' };
    mkdirSync(join(place.configDir, 'projects', projectSlug(moved.cwd)), { recursive: true });
    writeFileSync(place.pathOf(moved), maker.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await functions.renameSession(place.parts, { sessionId: maker.sessionId, title: 'Here' });
    expect(place.read(moved)).toContain('"customTitle":"Here"');
    expect(existsSync(place.pathOf(maker))).toBe(false);
  });

  it('what is not there, and what is no title', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('one', 'first'));
    const unknown = randomUUID();
    await expect(functions.renameSession(place.parts, { sessionId: unknown, title: 'x' })).rejects.toMatchObject({
      code: 'session_not_found',
      hint: expect.stringContaining('listSessions'),
    });
    await expect(functions.renameSession(place.parts, { sessionId, title: ' \n' })).rejects.toMatchObject({
      code: 'invalid_config',
    });
    const nowhere = { dir: '/home/user/elsewhere' };
    await expect(functions.tagSession(place.parts, { sessionId, tag: 'x' }, nowhere)).rejects.toMatchObject({
      code: 'session_not_found',
    });
  });
});

describe('forkSession', () => {
  const build = () =>
    new LogMaker()
      .turn('one', 'first')
      .boundary()
      .prompt('summary', { isCompactSummary: true })
      .turn('two', 'second')
      .line({ type: 'attachment', uuid: 'foreign', parentUuid: null });

  it('new ids, the same conversation, the other file untouched (F4)', async () => {
    const place = createPlace();
    const maker = build();
    const { cwd } = maker;
    place.write(maker);
    const before = place.read(maker);
    const { sessionId } = await functions.forkSession(place.parts, maker.sessionId);
    expect(place.read(maker)).toBe(before);
    const texts = async (id: string) =>
      (await getSessionMessages(place.parts, id)).map(({ message }) => (message as { content: unknown }).content);
    expect(await texts(sessionId)).toEqual(await texts(maker.sessionId));
    const entries = entriesIn(place.read({ sessionId, cwd }));
    const chain = entries.filter(({ uuid, type }) => uuid && type !== 'custom-title');
    expect(chain.some(({ uuid }) => maker.uuids.includes(String(uuid)))).toBe(false);
    expect(entries.every((entry) => entry.sessionId === sessionId)).toBe(true);
    expect(chain.map(({ forkedFrom }) => forkedFrom)).toEqual(
      maker.uuids.map((messageUuid) => ({ sessionId: maker.sessionId, messageUuid })),
    );
    const ids = chain.map(({ uuid }) => uuid);
    expect(chain.map(({ parentUuid, logicalParentUuid }) => parentUuid ?? logicalParentUuid ?? null)).toEqual([
      null,
      ...ids.slice(0, -1),
    ]);
    expect(await getSessionInfo(place.parts, sessionId)).toMatchObject({ summary: 'one (fork)', cwd });
    // It can be resumed, and what it copied was paid for elsewhere.
    const { entries: resumed } = await loadSession(place.parts.store, sessionId);
    expect(resumed.some((entry) => 'kind' in entry && entry.kind === 'step' && !entry.forked)).toBe(false);
  });

  it('up to a message, with a title of its own', async () => {
    const place = createPlace();
    const maker = build();
    place.write(maker);
    const [one, first, boundary, , two] = maker.uuids;
    const upTo = async (upToMessageId: string | undefined) => {
      const { sessionId } = await functions.forkSession(place.parts, maker.sessionId, { upToMessageId, title: 'Mine' });
      expect(await getSessionInfo(place.parts, sessionId)).toMatchObject({ summary: 'Mine' });
      return (await getSessionMessages(place.parts, sessionId)).length;
    };
    expect([await upTo(one), await upTo(first), await upTo(boundary), await upTo(two)]).toEqual([1, 2, 2, 4]);
    await expect(
      functions.forkSession(place.parts, maker.sessionId, { upToMessageId: 'nothing' }),
    ).rejects.toMatchObject({
      code: 'invalid_config',
      message: 'No message found with message.uuid of: nothing',
    });
  });

  it('leaves an open question behind', async () => {
    const place = createPlace();
    const maker = new LogMaker()
      .life({ kind: 'turn', state: 'started' })
      .prompt('do it')
      .call('t1', 'Bash', { command: 'ls' })
      .life({ kind: 'call', toolUseId: 't1', state: 'requested', questionId: 'q' });
    place.write(maker);
    const { sessionId } = await functions.forkSession(place.parts, maker.sessionId);
    expect(await functions.pendingApprovals(place.parts, maker.sessionId)).toHaveLength(1);
    expect(await functions.pendingApprovals(place.parts, sessionId)).toEqual([]);
  });
});

describe('deleteSession', () => {
  it('removes the log, its folder, its checkpoints and its rows of the index', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('needle', 'first');
    const sessionId = place.write(maker);
    const beside = place.pathOf(maker).replace('.jsonl', '');
    const checkpoints = join(place.configDir, 'sessions', sessionId, 'checkpoints');
    for (const folder of [join(beside, 'tool-results'), checkpoints]) mkdirSync(folder, { recursive: true });
    expect(await functions.searchSessions(place.parts, 'needle')).toHaveLength(1);
    await functions.deleteSession(place.parts, sessionId);
    expect([place.pathOf(maker), beside, checkpoints].map((path) => existsSync(path))).toEqual([false, false, false]);
    expect(await functions.searchSessions(place.parts, 'needle')).toEqual([]);
    await expect(functions.deleteSession(place.parts, sessionId)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('not while someone writes it (F6)', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    const { sessionId, cwd } = maker;
    place.write(maker);
    const lease = await createFileStore({ configDir: place.configDir }).lease({ sessionId, cwd });
    await expect(functions.deleteSession(place.parts, sessionId)).rejects.toMatchObject({ code: 'session_locked' });
    expect(existsSync(place.pathOf(maker))).toBe(true);
    await lease.release();
    await functions.deleteSession(place.parts, sessionId);
    expect(existsSync(place.pathOf(maker))).toBe(false);
  });

  it('a log that cannot be read can still be removed', async () => {
    const place = createPlace();
    const damaged = { sessionId: randomUUID(), cwd: '/home/user/shop' };
    mkdirSync(join(place.configDir, 'projects', projectSlug(damaged.cwd)), { recursive: true });
    writeFileSync(place.pathOf(damaged), '\0\0');
    await functions.deleteSession(place.parts, damaged.sessionId);
    expect(existsSync(place.pathOf(damaged))).toBe(false);
  });
});

describe('other stores', () => {
  const copy = async (target: SessionStore | InMemorySessionStore, options: object = {}) => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first').turn('two', 'second');
    const { sessionId, cwd } = maker;
    place.write(maker);
    await place.parts.store.append({ sessionId, cwd, agentId: 'a1' }, [
      '{"type":"user","uuid":"u","isSidechain":true,"message":{"content":"x"}}',
    ]);
    await functions.importSessionToStore(place.parts, { sessionId, target }, options);
    return { place, maker, sessionId, cwd };
  };

  it('importSessionToStore copies line by line, in batches, and completes what broke off', async () => {
    const target = createMemoryStore();
    const { place, maker, sessionId } = await copy(target, { batchSize: 3 });
    const lines = async () => (await target.load(sessionId))?.lines;
    expect(`${(await lines())?.join('\n')}\n`).toBe(place.read(maker));
    expect(await target.agents?.(sessionId)).toEqual(['a1']);
    place.write(maker.turn('three', 'third'));
    await functions.importSessionToStore(place.parts, { sessionId, target });
    await functions.importSessionToStore(place.parts, { sessionId, target });
    expect(`${(await lines())?.join('\n')}\n`).toBe(place.read(maker));
    const other = createMemoryStore();
    await other.append({ sessionId, cwd: '/' }, ['{"type":"else"}']);
    await expect(functions.importSessionToStore(place.parts, { sessionId, target: other })).rejects.toMatchObject({
      code: 'session_exists',
    });
    await expect(
      functions.importSessionToStore(place.parts, { sessionId, target }, { batchSize: 0 }),
    ).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });

  it('a store of the public shape: everything works on it', async () => {
    const remote = new InMemorySessionStore();
    const { place, sessionId, cwd } = await copy(remote);
    const parts = { ...place.parts, store: functions.toSessionStore(remote, { cwd }), indexFile: undefined };
    expect(remote.getEntries({ projectKey: projectSlug(cwd), sessionId })).toHaveLength(11);
    expect((await listSessions(parts)).map(({ summary }) => summary)).toEqual(['one']);
    expect(await getSessionMessages(parts, sessionId)).toEqual(await getSessionMessages(place.parts, sessionId));
    expect(await functions.listSubagents(parts, sessionId)).toEqual(['a1']);
    await functions.renameSession(parts, { sessionId, title: 'Remote' });
    expect(await getSessionInfo(parts, sessionId)).toMatchObject({ summary: 'Remote' });
    const fork = await functions.forkSession(parts, sessionId);
    expect(await getSessionMessages(parts, fork.sessionId)).toHaveLength(4);
    await functions.deleteSession(parts, sessionId);
    expect(remote.size).toBe(1);
    const failing = functions.toSessionStore({ append: async () => {}, load: async () => null }, { cwd });
    await expect(listSessions({ store: failing })).rejects.toMatchObject({ code: 'not_supported' });
  });
});
