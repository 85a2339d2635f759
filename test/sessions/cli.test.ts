import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../src/cli/completion.js';
import { runSessions, SESSION_COMMANDS } from '../../src/cli/sessions.js';
import { describeAge, describeSize, toTable, widthOf } from '../../src/cli/table.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createPlace, functions, LogMaker, type Place } from './functions-kit.js';

const ONE = 'aaaaaaaa-0000-4000-8000-000000000001';
const TWO = 'aaaabbbb-0000-4000-8000-000000000002';

interface Terminal {
  columns?: number;
  /** What the person types. */
  typed?: string;
}

async function run(place: Place, argv: string[], { columns, typed }: Terminal = {}) {
  let out = '';
  let err = '';
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  if (typed !== undefined) stdin.end(typed);
  const stdout = Object.assign(new PassThrough(), { isTTY: columns !== undefined, columns });
  stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const code = await runSessions(argv, {
    stdin,
    stdout,
    stderr: { write: (text) => (err += text) },
    cwd: '/home/user/shop',
    configDir: place.configDir,
  });
  return { code, out, err };
}

function setUp() {
  const place = createPlace();
  const one = new LogMaker({ sessionId: ONE }).turn('What is a heddle?', 'A part of a loom.');
  const two = new LogMaker({ sessionId: TWO, cwd: '/home/user/other' }).turn('Fix \u001b[31mthe bug\u202e', 'Done.');
  for (const maker of [one, two]) place.write(maker);
  utimesSync(place.pathOf(one), new Date('2026-01-02'), new Date('2026-01-02'));
  utimesSync(place.pathOf(two), new Date('2026-01-03'), new Date('2026-01-03'));
  return { place, one, two };
}

const asking = () =>
  new LogMaker({ sessionId: ONE })
    .life({ kind: 'turn', state: 'started' })
    .prompt('do it')
    .call('t1', 'Bash', { command: 'rm -rf build\u200b' })
    .life({ kind: 'call', toolUseId: 't1', state: 'requested', questionId: 'q', explanation: 'no rule allows it' });

describe('heddle sessions with ids in capitals, and limits of 0', () => {
  it('finds the session all the same', async () => {
    const { place } = setUp();
    const upper = TWO.toUpperCase();
    const { functions: all, parts } = { functions, parts: place.parts };
    expect(await all.getSessionInfo(parts, upper)).toMatchObject({ sessionId: TWO });
    expect(await all.getSessionMessages(parts, upper)).toMatchObject([{ session_id: TWO }, { session_id: TWO }]);
    expect(await all.listSubagents(parts, upper)).toEqual([]);
    expect(await all.exportSession(parts, upper)).toContain(`Session: ${TWO}`);
    await all.renameSession(parts, { sessionId: upper, title: 'Named' });
    expect(await all.getSessionInfo(parts, TWO)).toMatchObject({ customTitle: 'Named' });
    const { sessionId } = await all.forkSession(parts, upper);
    expect(await all.getSessionInfo(parts, sessionId)).toMatchObject({ summary: 'Named (fork)' });
    await all.deleteSession(parts, upper);
    expect(await all.getSessionInfo(parts, TWO)).toBeUndefined();
    // One that is kept under capitals is found under them.
    const loud = place.write(new LogMaker({ sessionId: 'AAAACCCC-0000-4000-8000-000000000003' }).turn('a', 'b'));
    expect((await run(place, ['show', loud])).out).toContain(loud);
  });

  it('an answer is written to the session that was meant', async () => {
    const place = createPlace();
    const maker = asking();
    place.write(maker);
    const answer = { behavior: 'allow' as const };
    await functions.answerApproval(place.parts, { sessionId: ONE.toUpperCase(), answer });
    expect(place.read(maker)).toContain('"state":"answered"');
    expect(await functions.pendingApprovals(place.parts, ONE.toUpperCase())).toEqual([]);
  });

  it('nothing waits in a session that is not there; who names one is told', async () => {
    const { place } = setUp();
    const unknown = 'ffffffff-0000-4000-8000-000000000009';
    expect(await functions.pendingApprovals(place.parts, unknown)).toEqual([]);
    expect(await run(place, ['pending', unknown])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`No conversation found with session ID: ${unknown}`),
    });
    expect(await run(place, ['pending', ONE])).toMatchObject({ code: 0, out: 'Nothing waits for approval.\n' });
  });

  it('--limit 0 shows nothing, and does not say that there is nothing', async () => {
    const { place } = setUp();
    expect(await run(place, ['list', '--limit', '0'])).toEqual({ code: 0, out: '', err: '1 more (--limit)\n' });
    expect(await run(place, ['search', 'heddle', '--limit', '0'])).toEqual({ code: 0, out: '', err: '' });
    expect((await run(place, ['search', 'nothing'])).out).toBe('No session has nothing.\n');
  });
});

describe('heddle sessions list', () => {
  it('a table of this folder, or of all', async () => {
    const { place, one, two } = setUp();
    const size = (maker: LogMaker) => describeSize(statSync(place.pathOf(maker)).size);
    expect(await run(place, ['list'])).toEqual({
      code: 0,
      err: '',
      out: `ID        CHANGED       SIZE  TITLE\naaaaaaaa  2026-01-02  ${size(one)}  What is a heddle?\n`,
    });
    const { out } = await run(place, ['list', '--all']);
    // Control and bidi characters of a title are written out.
    expect(out.split('\n').slice(1)).toEqual([
      `aaaabbbb  2026-01-03  ${size(two)}  Fix \\x1b[31mthe bug\\u202e  /home/user/other`,
      `aaaaaaaa  2026-01-02  ${size(one)}  What is a heddle?          /home/user/shop`,
      '',
    ]);
    expect((await run(place, ['list', '--dir', '../other'])).out).toContain('aaaabbbb');
    expect((await run(place, ['list', '--dir', '/nowhere'])).out).toMatch(/There are no sessions of this folder/);
  });

  it('is fitted to the terminal', async () => {
    const { place } = setUp();
    const { out } = await run(place, ['list', '--all'], { columns: 60 });
    const lines = out.trimEnd().split('\n');
    expect(lines.every((line) => widthOf(line) <= 60)).toBe(true);
    expect(out).toContain('…');
  });

  it('as JSON, with a limit, and with the archive', async () => {
    const { place } = setUp();
    await run(place, ['archive', ONE]);
    expect(JSON.parse((await run(place, ['list', '--all', '--json'])).out)).toMatchObject([{ sessionId: TWO }]);
    expect(JSON.parse((await run(place, ['list', '--all', '--json', '--limit', '1'])).out)).toHaveLength(1);
    expect(JSON.parse((await run(place, ['list', '--all', '--json', '--archived'])).out)).toMatchObject([
      { sessionId: TWO },
      { sessionId: ONE, archived: true },
    ]);
    expect(await run(place, ['list'])).toMatchObject({ code: 0, err: '1 in the archive (--archived)\n' });
    expect((await run(place, ['list', '--archived'])).out).toContain('[archived] What is a heddle?');
  });
});

describe('heddle sessions: which one is meant', () => {
  it('an id, its beginning, a title', async () => {
    const { place } = setUp();
    await functions.renameSession(place.parts, { sessionId: TWO, title: 'The Bug' });
    for (const name of [TWO, TWO.toUpperCase(), 'aaaab', 'the bug'])
      expect((await run(place, ['show', name, '--json'])).out).toContain(TWO);
  });

  it('errors say what to do', async () => {
    const { place } = setUp();
    expect(await run(place, ['show', 'aaaa'])).toEqual({
      code: 1,
      out: '',
      err: `2 sessions begin with "aaaa": ${TWO}, ${ONE}\nGive more of the id.\n`,
    });
    expect((await run(place, ['show', 'aa'])).err).toMatch(/too short/);
    expect((await run(place, ['show', 'no\u001bsuch'])).err).toMatch(
      /title "no\\x1bsuch"\.\nheddle sessions list --all/,
    );
    const unknown = await run(place, ['rename', ONE.replace('1', '9'), 'x']);
    expect(unknown.err).toMatch(/No conversation found.*\nheddle sessions list --all/);
    expect((await run(place, ['fork', ONE, '--at', 'x'])).err).toMatch(/No message found.*\nA fork ends with/);
  });

  it.each([
    [['nothing'], /there is no "sessions nothing"/],
    [['list', '--frob'], /Unknown option '--frob'/],
    [['list', '--yes'], /takes no --yes/],
    [['list', 'word'], /no more than 0/],
    [['list', '--limit', '-1'], /limit/],
    [['list', '--limit', 'x'], /--limit takes a whole number/],
    [['list', '--all', '--dir', '.'], /exclude/],
    [['show'], /needs a session/],
    [['rename', ONE], /needs a session and its title/],
    [['search'], /needs words/],
    [['export', ONE, '--format', 'pdf'], /markdown or json/],
  ])('%j is refused', async (argv, expected) => {
    const { place } = setUp();
    const { code, out, err } = await run(place, argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(expected);
    expect(err).toMatch(/See heddle sessions --help/);
  });

  it('help names every command', async () => {
    const { place } = setUp();
    const help = await run(place, ['--help']);
    expect(help.code).toBe(0);
    for (const command of SESSION_COMMANDS) {
      expect(help.out).toMatch(new RegExp(`^  ${command} `, 'm'));
      expect((await run(place, [command, '--help'])).out).toBe(help.out);
    }
    expect((await run(place, [])).code).toBe(1);
    for (const shell of ['bash', 'zsh', 'fish']) expect(completionScript(shell)).toContain('unarchive');
  });
});

describe('heddle sessions: what was said', () => {
  it('show', async () => {
    const { place } = setUp();
    const { out } = await run(place, ['show', ONE]);
    expect(out).toContain('Title     What is a heddle?');
    expect(out).toContain('> What is a heddle?\n\nA part of a loom.\n');
    const { out: cut } = await run(place, ['show', ONE, '--limit', '1']);
    expect(cut).toContain('(1 earlier messages; --all shows them)');
    expect(cut).not.toContain('> What');
  });

  it('search', async () => {
    const { place } = setUp();
    const { out } = await run(place, ['search', 'loom', 'part']);
    expect(out).toBe('aaaaaaaa  2026-01-02  What is a heddle?  /home/user/shop\n    A part of a loom.\n');
    expect(JSON.parse((await run(place, ['search', 'bug', '--json'])).out)).toMatchObject([{ sessionId: TWO }]);
    expect((await run(place, ['search', 'bug', '--dir', '.'])).out).toBe('No session has bug.\n');
  });

  it('export, to stdout or a new file', async () => {
    const { place } = setUp();
    expect((await run(place, ['export', ONE])).out).toMatch(/^# What is a heddle?/);
    const file = join(place.configDir, 'out.json');
    expect((await run(place, ['export', ONE, '--format', 'json', '-o', file])).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ format: 'heddle-session' });
    expect((await run(place, ['export', ONE, '-o', file])).err).toMatch(/exists already/);
  });
});

describe('heddle sessions: changes', () => {
  it('rename, tag, archive, fork, import', async () => {
    const { place, one } = setUp();
    expect((await run(place, ['rename', 'aaaaaaaa', 'My', 'title'])).out).toBe(`${ONE} is now "My title".\n`);
    expect((await run(place, ['tag', ONE, 'work'])).out).toBe(`${ONE} has the tag "work".\n`);
    expect(await functions.getSessionInfo(place.parts, ONE)).toMatchObject({ customTitle: 'My title', tag: 'work' });
    await run(place, ['tag', ONE]);
    expect((await functions.getSessionInfo(place.parts, ONE))?.tag).toBeUndefined();
    await run(place, ['archive', ONE, TWO]);
    await run(place, ['unarchive', ONE]);
    const archived = (await functions.listSessions(place.parts)).map((info) => [info.sessionId, info.archived]);
    expect(Object.fromEntries(archived)).toEqual({ [ONE]: false, [TWO]: true });
    const { sessionId } = JSON.parse((await run(place, ['fork', ONE, '--title', 'Other', '--json'])).out) as {
      sessionId: string;
    };
    expect(await functions.getSessionInfo(place.parts, sessionId)).toMatchObject({ summary: 'Other' });

    const elsewhere = createPlace();
    expect((await run(elsewhere, ['import', place.pathOf(one)])).out).toContain(`heddle --resume ${ONE}`);
    // But for a line of ours at the start of each turn.
    const imported = elsewhere.read(one).split('\n');
    expect(imported.filter((line) => !line.includes('"subtype":"interrupted"')).join('\n')).toBe(place.read(one));
    const nonsense = join(place.configDir, 'x.jsonl');
    writeFileSync(nonsense, 'nonsense\n');
    expect(await run(elsewhere, ['import', nonsense])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/not the log of a session/),
    });
    expect((await run(elsewhere, ['import', '/no/such/file'])).err).toMatch(/cannot be read/);
  });

  it('delete asks, or needs --yes', async () => {
    const { place, one, two } = setUp();
    expect((await run(place, ['delete', ONE])).err).toMatch(/needs --yes/);
    expect(await run(place, ['delete', ONE], { columns: 80, typed: 'n\n' })).toMatchObject({
      code: 1,
      err: 'Nothing was deleted.\n',
    });
    expect(await run(place, ['delete', ONE], { columns: 80, typed: '' })).toMatchObject({ code: 1 });
    expect(existsSync(place.pathOf(one))).toBe(true);
    const asked = await run(place, ['delete', ONE], { columns: 80, typed: 'y\n' });
    expect(asked.code).toBe(0);
    expect(asked.out).toContain('aaaaaaaa "What is a heddle?"');
    expect((await run(place, ['delete', 'nothing', TWO, '--yes'])).code).toBe(1);
    expect([existsSync(place.pathOf(one)), existsSync(place.pathOf(two))]).toEqual([false, true]);
    expect((await run(place, ['delete', TWO, '--yes'])).out).toBe(`${TWO} is deleted.\n`);
  });
});

describe('heddle sessions pending|approve|deny (C6, D6)', () => {
  it('shows the whole call, and writes the answer down', async () => {
    const place = createPlace();
    const maker = asking();
    place.write(maker);
    const { out } = await run(place, ['pending']);
    for (const part of ['rm -rf build\\u200b', '/home/user/shop', 'no rule allows it', 'call: t1', 'approve aaaaaaaa'])
      expect(out).toContain(part);
    expect(JSON.parse((await run(place, ['pending', ONE, '--json'])).out)).toMatchObject([
      { sessionId: ONE, toolUseId: 't1' },
    ]);
    const approved = await run(place, ['approve', ONE]);
    expect(approved.out).toMatch(/is approved[\s\S]*rm -rf build[\s\S]*runs once[\s\S]*heddle --resume/);
    expect(place.read(maker)).toMatch(/"state":"answered","behavior":"allow"/);
    expect((await run(place, ['pending'])).out).toBe('Nothing waits for approval.\n');
    expect(await run(place, ['deny', ONE, '--all'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/answered already/),
    });
  });

  it('a denial with its reason; a session that runs is answered there', async () => {
    const place = createPlace();
    const maker = asking();
    place.write(maker);
    const lease = await createFileStore({ configDir: place.configDir }).lease({ sessionId: ONE, cwd: maker.cwd });
    expect(await run(place, ['deny', ONE, 't1'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/answer there/),
    });
    await lease.release();
    await run(place, ['deny', ONE, 't1', '--message', 'not like this']);
    expect(place.read(maker)).toContain('"behavior":"deny","message":"not like this"');
  });
});

describe('tables', () => {
  it('wide letters, ages, sizes', () => {
    const table = toTable(
      [
        { title: 'A', flexible: true },
        { title: 'B', right: true },
      ],
      [
        ['日本語のとても長い題', '1'],
        ['👍🏽 ok', '22'],
      ],
      18,
    );
    expect(
      table
        .split('\n')
        .map(widthOf)
        .every((width) => width <= 18),
    ).toBe(true);
    const now = Date.UTC(2026, 5, 30);
    expect([0, 5, 120, 3000, 60_000].map((minutes) => describeAge(now - minutes * 60_000, now))).toEqual([
      'now',
      '5 min ago',
      '2 h ago',
      '2 d ago',
      '2026-05-19',
    ]);
    expect([0, 999, 1536, 15_000, 5 * 2 ** 30].map(describeSize)).toEqual([
      '0 B',
      '999 B',
      '1.5 KB',
      '15 KB',
      '5.0 GB',
    ]);
  });
});
