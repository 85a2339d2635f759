import { describe, expect, it } from 'vitest';
import { query } from '../../src/sdk/index.js';
import {
  collect,
  createFakeClock,
  createMemoryStore,
  createMemoryWorkspace,
  createScriptedModel,
  type MemoryWorkspace,
  type ScriptStep,
  toolResult,
  toolResults,
} from '../../src/testing/index.js';
import { ENV } from './scratch.js';

const call = (name: string, input: Record<string, unknown>): ScriptStep => ({ toolUse: { name, input } });

const run = async (workspace: MemoryWorkspace, script: readonly ScriptStep[]) => {
  const model = createScriptedModel([...script, 'Done.']);
  const messages = await collect(
    query({
      prompt: 'go',
      options: {
        cwd: workspace.root,
        env: ENV,
        model: 'sonnet',
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
        heddle: { provider: model, store: createMemoryStore(), workspace },
      },
    }),
  );
  model.assertDone();
  return messages;
};

const spec = (argv: [string, ...string[]], more: { timeoutMs?: number; signal?: AbortSignal } = {}) => {
  const output: string[] = [];
  return {
    output,
    argv,
    cwd: '/project',
    env: {},
    signal: new AbortController().signal,
    onOutput: (chunk: Uint8Array, stream: string) => void output.push(`${stream}: ${new TextDecoder().decode(chunk)}`),
    ...more,
  };
};

describe('a session on a memory workspace', () => {
  it('reads, writes and edits without touching the disk', async () => {
    const workspace = createMemoryWorkspace({ 'src/list.txt': 'milk\nbread\n', '/etc/other': 'x' });
    const messages = await run(workspace, [
      call('Read', { file_path: 'src/list.txt' }),
      call('Edit', { file_path: 'src/list.txt', old_string: 'bread', new_string: 'eggs' }),
      call('Write', { file_path: '/project/new/deep/file.txt', content: 'hello\n' }),
      call('Write', { file_path: '/etc/other', content: 'unread' }),
      call('Read', { file_path: 'missing.txt' }),
      call('Read', { file_path: 'src' }),
    ]);
    expect(workspace.files()).toEqual({
      'src/list.txt': 'milk\neggs\n',
      'new/deep/file.txt': 'hello\n',
      '/etc/other': 'x',
    });
    expect(toolResult(messages, 'toolu_1').text).toBe('1\tmilk\n2\tbread');
    expect(toolResults(messages).map(({ isError }) => isError)).toEqual([false, false, false, true, true, true]);
    expect(toolResult(messages, 'toolu_4').text).toMatch(/has not been read yet/);
    expect(toolResult(messages, 'toolu_5').text).toMatch(/does not exist/);
    expect(toolResult(messages, 'toolu_6').text).toMatch(/EISDIR/);
  });

  it('lets an edit fail when somebody else has changed the file', async () => {
    const workspace = createMemoryWorkspace({ 'a.txt': 'one' });
    const messages = await run(workspace, [
      call('Read', { file_path: 'a.txt' }),
      () => {
        workspace.write('a.txt', 'two');
        return { toolUse: { name: 'Edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'three' } } };
      },
    ]);
    expect(toolResult(messages, 'toolu_2')).toMatchObject({ isError: true, text: expect.stringMatching(/modified/) });
    expect(workspace.read('a.txt')).toBe('two');
  });

  it('answers Bash from the run function of the test', async () => {
    const seen: unknown[] = [];
    const workspace = createMemoryWorkspace(
      {},
      {
        run: (argv, { command, cwd }) => {
          seen.push([argv[0], command, cwd]);
          if (command === 'make') return { code: 2, stdout: 'building\n', stderr: 'no rule\n' };
          if (command === 'broken') throw new Error('not in this test');
          return { stdout: 'fine\n' };
        },
      },
    );
    const messages = await run(workspace, [
      call('Bash', { command: 'npm test' }),
      call('Bash', { command: 'make' }),
      call('Bash', { command: 'broken' }),
    ]);
    expect(seen[0]).toEqual(['bash', 'npm test', '/project']);
    expect(toolResults(messages)).toMatchObject([
      { name: 'Bash', input: { command: 'npm test' }, isError: false, text: 'fine' },
      { isError: true, text: 'Exit code 2\nno rule\nbuilding' },
      { isError: true, text: expect.stringContaining('not in this test') },
    ]);
  });

  it('says what is missing for Bash, Glob and Grep', async () => {
    const workspace = createMemoryWorkspace({ 'a.txt': '' });
    const messages = await run(workspace, [
      call('Bash', { command: 'ls' }),
      call('Glob', { pattern: '*' }),
      call('Grep', { pattern: 'x' }),
    ]);
    const [bash, glob, grep] = toolResults(messages);
    expect(bash).toMatchObject({
      isError: true,
      text: expect.stringMatching(/was asked for: ls\. Give createMemoryWorkspace a `run` function/),
    });
    for (const result of [glob, grep]) {
      expect(result).toMatchObject({
        isError: true,
        text: expect.stringContaining('memory workspace cannot be searched'),
      });
    }
    await expect(workspace.ripgrep()).rejects.toMatchObject({
      code: 'not_supported',
      hint: expect.stringContaining('temporary folder'),
    });
    await expect(workspace.run(spec(['ls']))).rejects.toMatchObject({
      code: 'not_supported',
      hint: expect.stringContaining('run: (argv'),
    });
  });
});

describe('the Workspace contract in memory', () => {
  it('fails with the codes of the system', async () => {
    const workspace = createMemoryWorkspace({ 'a.txt': 'four' });
    const codeOf = (pending: Promise<unknown>) => pending.then(String, (error: { code?: string }) => error.code);
    expect(await codeOf(workspace.readFile('/project/none'))).toBe('ENOENT');
    expect(await codeOf(workspace.readFile('/project'))).toBe('EISDIR');
    expect(await codeOf(workspace.readFile('/project/a.txt/b'))).toBe('ENOTDIR');
    expect(await codeOf(workspace.readFile('/project/a.txt', { maxBytes: 3 }))).toBe('EFBIG');
    expect(await codeOf(workspace.writeFile('/project', new Uint8Array()))).toBe('EISDIR');
    expect(await codeOf(workspace.writeFile('/project/a.txt/b/c', new Uint8Array()))).toBe('ENOTDIR');
    expect(await workspace.stat('/project/a.txt/b')).toBeUndefined();
    expect(() => workspace.read('none')).toThrow(/ENOENT/);
  });

  it('knows files and folders, their times and real paths', async () => {
    const clock = createFakeClock(1000);
    const workspace = createMemoryWorkspace({ 'x/y.txt': 'four' }, { clock, root: '/here' });
    expect(await workspace.stat('/here/x/y.txt')).toEqual({ kind: 'file', size: 4, mtimeMs: 1000, mode: 0o644 });
    expect(await workspace.stat('/here/x')).toMatchObject({ kind: 'directory' });
    expect(await workspace.stat('/here/z')).toBeUndefined();
    expect(await workspace.realPath('/here/x/../new/./file')).toBe('/here/new/file');
    clock.advance(5);
    await workspace.writeFile('/here/x/y.txt', new Uint8Array([1]));
    expect(await workspace.stat('/here/x/y.txt')).toMatchObject({ size: 1, mtimeMs: 1005 });
    workspace.remove('x');
    expect(workspace.files()).toEqual({});
    expect(await workspace.stat('/here/x')).toBeUndefined();
    workspace.remove('.');
    expect(await workspace.stat('/here')).toMatchObject({ kind: 'directory' });
  });

  it('shares no bytes with its callers', async () => {
    const given = new Uint8Array([97]);
    const workspace = createMemoryWorkspace({ a: given });
    given[0] = 98;
    (await workspace.readFile('/project/a'))[0] = 99;
    await workspace.writeFile('/project/b', given);
    given[0] = 100;
    expect(workspace.files()).toEqual({ a: 'a', b: 'b' });
  });

  it('ends a process with its signal and with its time', async () => {
    const clock = createFakeClock();
    const hangs = createMemoryWorkspace({}, { clock, run: () => new Promise(() => {}) });
    const timed = hangs.run(spec(['sleep'], { timeoutMs: 1000 }));
    clock.advance(1000);
    expect(await timed).toEqual({ code: null, signal: 'SIGTERM', timedOut: true, aborted: false });

    const stop = new AbortController();
    const stopped = hangs.run(spec(['sleep'], { timeoutMs: 1000, signal: stop.signal }));
    stop.abort();
    expect(await stopped).toMatchObject({ code: null, timedOut: false, aborted: true });
    expect(clock.pending).toEqual([]);

    const quick = createMemoryWorkspace({}, { run: async () => ({ code: 3, stdout: 'o', stderr: 'e' }) });
    const program = spec(['ls', '-l']);
    expect(await quick.run(program)).toEqual({ code: 3, signal: null, timedOut: false, aborted: false });
    expect(program.output).toEqual(['stdout: o', 'stderr: e']);
  });
});
