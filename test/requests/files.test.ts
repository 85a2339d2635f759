import { mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../engine/kit.js';
import { connect, decide, on } from './kit.js';

describe('read_file', () => {
  it('gives the text, the path and the path as it was asked for', async () => {
    const { peer, write } = connect();
    const file = write('src/a.txt', 'Grüße\n');
    const answer = { contents: 'Grüße\n', absPath: file, lossy: false };
    expect(await peer.request('read_file', { path: 'src/a.txt' })).toEqual({ ...answer, requested_path: 'src/a.txt' });
    expect(await peer.request('read_file', { path: file })).toEqual({ ...answer, requested_path: file });
  });

  it.each([
    [0, ''],
    [1, 'a'],
    [2, 'a'],
    [3, 'aü'],
    [5, 'aü'],
    [6, 'aü€'],
    [9, 'aü€'],
    [10, 'aü€😀'],
  ])('cuts at %d bytes, never in the middle of a character', async (max_bytes, contents) => {
    const { peer, write } = connect();
    write('a.txt', 'aü€😀z');
    expect(await peer.request('read_file', { path: 'a.txt', max_bytes })).toMatchObject({ contents, lossy: true });
  });

  it('bytes that are no text are lossy as text, and whole as base64', async () => {
    const { peer, write } = connect();
    const bytes = Buffer.from([0, 0xff, 0xfe, 0x41]);
    write('b.bin', bytes);
    const text = await peer.request('read_file', { path: 'b.bin' });
    expect(text).toMatchObject({ lossy: true, contents: expect.stringContaining('A') });
    const coded = await peer.request('read_file', { path: 'b.bin', encoding: 'base64' });
    expect(coded).toMatchObject({ contents: bytes.toString('base64'), lossy: false });
    const cut = await peer.request('read_file', { path: 'b.bin', encoding: 'base64', max_bytes: 2 });
    expect(cut).toMatchObject({ contents: bytes.subarray(0, 2).toString('base64'), lossy: true });
  });

  it('has a usual bound, and a hard one', async () => {
    const { peer, write } = connect();
    write('large', Buffer.alloc(1024 * 1024 + 1, 'x'));
    const { contents, lossy } = await peer.request('read_file', { path: 'large' });
    expect([contents.length, lossy]).toEqual([1024 * 1024, true]);
    write('huge', Buffer.alloc(16 * 1024 * 1024 + 1));
    await expect(peer.request('read_file', { path: 'huge', max_bytes: 1 })).rejects.toThrow('too large');
  });

  it.each([
    ['a rule of settings', { settings: { permissions: { deny: ['Read(./secret/**)'] } } }],
    ['a tool that is not there', { config: { disallowedTools: ['Read'] } }],
  ])('%s denies it: an error', async (_, options) => {
    const { peer, write } = connect([], options);
    write('secret/a.txt', 'swordfish');
    const refused = peer.request('read_file', { path: 'secret/a.txt' });
    await expect(refused).rejects.toMatchObject({ code: 'request_failed', message: expect.stringContaining('denied') });
  });

  it('what Read would ask about is not read: outside, through a link, under an ask rule', async () => {
    const { peer, cwd, write } = connect([], { settings: { permissions: { ask: ['Read(./ask.txt)'] } } });
    const outside = join(scratch(), 'b.txt');
    writeFileSync(outside, 'swordfish');
    symlinkSync(outside, join(cwd, 'link.txt'));
    write('ask.txt', 'swordfish');
    for (const path of [outside, 'link.txt', '../../../etc/hostname', 'ask.txt']) {
      await expect(peer.request('read_file', { path })).rejects.toThrow('would have to be asked');
    }
  });

  it('a folder that is opened for tools is open here', async () => {
    const more = scratch();
    writeFileSync(join(more, 'b.txt'), 'text');
    const { peer } = connect([], { config: { additionalDirectories: [more] } });
    expect(await peer.request('read_file', { path: join(more, 'b.txt') })).toMatchObject({ contents: 'text' });
  });

  it.each([
    [{ path: 'no.txt' }, 'does not exist'],
    [{ path: '.' }, 'EISDIR'],
    [{ path: '' }, 'cannot be used'],
    [{ path: 'a\0b' }, 'cannot be used'],
    [{ path: 'a.txt', encoding: 'latin1' }, 'encoding'],
    [{ path: 'a.txt', max_bytes: -1 }, 'max_bytes'],
  ])('%j is an error that says why', async (params, text) => {
    const { peer, write } = connect();
    write('a.txt', 'x');
    await expect(peer.request('read_file', params)).rejects.toThrow(text);
  });

  it.each([
    ['blocks it', 'echo not now >&2; exit 2', /not now/],
    ['denies it', decide({ permissionDecision: 'deny', permissionDecisionReason: 'not now' }), /not now/],
    ['wants somebody asked', decide({ permissionDecision: 'ask', permissionDecisionReason: 'who?' }), /who\?/],
    ['wants another file', decide({ updatedInput: { file_path: '/x' } }), /something else to be read/],
    ['wants a part of it', decide({ updatedInput: { file_path: 'a.txt', limit: 1 } }), /something else to be read/],
    ['stops', `echo '{"continue":false,"stopReason":"no more"}'`, /no more/],
  ])('is not read where a PreToolUse hook for Read %s', async (_, command, text) => {
    const { peer, write } = connect([], { settings: { hooks: on('PreToolUse', 'Read', command) } });
    write('a.txt', 'text');
    await expect(peer.request('read_file', { path: 'a.txt' })).rejects.toThrow(text);
  });

  it('hooks are asked and told what Read would ask and tell', async () => {
    const settings = {
      hooks: { ...on('PreToolUse', 'Read', 'cat >pre.json'), ...on('PostToolUse', '*', 'cat >post.json') },
    };
    const { peer, write, cwd } = connect([], { settings });
    const file = write('a.txt', 'one\ntwo\n');
    expect(await peer.request('read_file', { path: 'a.txt' })).toMatchObject({ contents: 'one\ntwo\n' });
    const told = (name: string): unknown => JSON.parse(readFileSync(join(cwd, name), 'utf8'));
    const call = { tool_name: 'Read', tool_input: { file_path: file } };
    expect(told('pre.json')).toMatchObject(call);
    expect(told('post.json')).toMatchObject({
      ...call,
      tool_response: { file: { filePath: file, content: 'one\ntwo' } },
    });
  });

  it('a hook for other tools, and one that allows, change nothing', async () => {
    const blocks = on('PreToolUse', 'Write', 'exit 2').PreToolUse;
    const allows = on('PreToolUse', 'Read', decide({ permissionDecision: 'allow' })).PreToolUse;
    const { peer, write } = connect([], { settings: { hooks: { PreToolUse: [...blocks, ...allows] } } });
    write('a.txt', 'text');
    expect(await peer.request('read_file', { path: 'a.txt' })).toMatchObject({ contents: 'text' });
    await expect(peer.request('read_file', { path: '/etc/hostname' })).rejects.toThrow('would have to be asked');
  });

  it('is not shown where a PostToolUse hook shows something else in its place', async () => {
    const command = `echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"less"}}'`;
    const { peer, write } = connect([], { settings: { hooks: on('PostToolUse', 'Read', command) } });
    write('a.txt', 'text');
    await expect(peer.request('read_file', { path: 'a.txt' })).rejects.toThrow('something else to be shown');
  });

  it('does not make the file known to the model', async () => {
    const { peer, write, ask } = connect([EDIT, 'done'], { config: { permissionMode: 'acceptEdits' } });
    write('a.txt', 'old');
    await peer.request('read_file', { path: 'a.txt' });
    await ask('go');
    expect((await peer.request('read_file', { path: 'a.txt' })).contents).toBe('old');
  });
});

const EDIT = {
  toolUse: { name: 'Edit', input: { file_path: 'a.txt', old_string: 'old', new_string: 'new' }, id: 't' },
};

describe('seed_read_state', () => {
  const after = async (mtime: (file: string) => number): Promise<string> => {
    const { peer, write, ask } = connect([EDIT, 'done'], { config: { permissionMode: 'acceptEdits' } });
    const file = write('a.txt', 'old');
    await peer.request('seed_read_state', { path: 'a.txt', mtime: mtime(file) });
    await ask('go');
    return (await peer.request('read_file', { path: 'a.txt' })).contents;
  };

  it('a file that the host has shown can be edited', async () => {
    expect(await after((file) => Math.floor(statSync(file).mtimeMs))).toBe('new');
  });

  it('one that has changed since must be read first', async () => {
    expect(await after((file) => Math.floor(statSync(file).mtimeMs) - 1)).toBe('old');
    expect(await after(() => Number.NaN)).toBe('old');
  });

  it('one that changes afterwards must be read first', async () => {
    const { peer, write, ask } = connect([EDIT, 'done'], { config: { permissionMode: 'acceptEdits' } });
    const file = write('a.txt', 'old');
    await peer.request('seed_read_state', { path: 'a.txt', mtime: Math.ceil(statSync(file).mtimeMs) });
    const { mtime } = statSync(file);
    writeFileSync(file, 'old, and more');
    utimesSync(file, mtime, mtime);
    await ask('go');
    expect((await peer.request('read_file', { path: 'a.txt' })).contents).toBe('old, and more');
  });

  it('a file that may not be read stays unknown; one that is not there is nothing', async () => {
    const { peer, write } = connect([], { settings: { permissions: { deny: ['Read(./a.txt)'] } } });
    write('a.txt', 'old');
    await expect(peer.request('seed_read_state', { path: 'a.txt', mtime: Date.now() })).rejects.toThrow('denied');
    expect(await peer.request('seed_read_state', { path: 'b.txt', mtime: 1 })).toBeUndefined();
  });
});

describe('file_suggestions', () => {
  const names = async (query: string, files: readonly string[], settings: object = {}) => {
    const { peer, write, cwd } = connect([], { settings });
    for (const file of files) write(file, '');
    const answer = await peer.request('file_suggestions', { query });
    expect(answer.cwd).toBe(cwd);
    return answer.suggestions.map(({ path }) => path);
  };
  const FILES = ['src/host.ts', 'src/deep/ghost.txt', 'test/host.test.ts', 'host', 'hosts/other.md', 'x/h-o-s-t', 'no'];

  it('the best first: the name itself, its start, a part of it, the folder, the letters in order', async () => {
    expect(await names('host', FILES)).toEqual([
      'host',
      'src/host.ts',
      'test/host.test.ts',
      'src/deep/ghost.txt',
      'hosts/other.md',
      'x/h-o-s-t',
    ]);
  });

  it.each([
    ['SRC/H', ['src/host.ts', 'src/deep/ghost.txt']],
    ['./src/host.ts', ['src/host.ts']],
    ['nothing of the kind', []],
  ])('%s', async (query, expected) => {
    expect(await names(query, FILES)).toEqual(expected);
  });

  it('without a query the shortest paths; never more than twenty', async () => {
    const many = Array.from({ length: 30 }, (_, i) => `f${String(i).padStart(2, '0')}`);
    expect(await names('', [...many, 'deep/er'])).toEqual(many.slice(0, 20));
  });

  it('leaves out what .gitignore names, what may not be read, and git itself', async () => {
    const { peer, write } = connect([], {
      settings: { permissions: { deny: ['Read(./secret/**)', 'Read(./*.pem)'] } },
    });
    for (const file of ['a.txt', 'secret/a.txt', 'a.pem', 'out/a.txt', '.git/a.txt', '.hidden/a.txt']) write(file, '');
    write('.gitignore', 'out/\n');
    const { suggestions } = await peer.request('file_suggestions', { query: 'a.' });
    expect(suggestions).toEqual([{ path: 'a.txt' }, { path: '.hidden/a.txt' }]);
  });

  it('follows no link out of the folder', async () => {
    const { peer, cwd } = connect();
    const outside = scratch();
    mkdirSync(join(outside, 'far'));
    writeFileSync(join(outside, 'far', 'found.txt'), '');
    symlinkSync(outside, join(cwd, 'way'));
    expect((await peer.request('file_suggestions', { query: 'found' })).suggestions).toEqual([]);
  });

  it('a client of a server without Read is told no file, and no name of one', async () => {
    const { peer, write } = connect([], { config: { settingsWrites: 'none', tools: [] } });
    write('a.txt', 'x');
    for (const refused of [
      peer.request('read_file', { path: 'a.txt' }),
      peer.request('file_suggestions', { query: 'a' }),
      peer.request('seed_read_state', { path: 'a.txt', mtime: 1 }),
    ])
      await expect(refused).rejects.toThrow('this session has no Read');
  });
});
