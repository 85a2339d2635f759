import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Frame, HeddleError } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { Peer, type SpawnedProcess, type SpawnOptions, spawnEngineProcess } from '../../src/wire/index.js';
import { createManualClock, createSink, type RecordingSink } from './doubles.js';
import { removeFolder } from '../remove-folder.js';

type Options = Partial<Parameters<typeof spawnEngineProcess>[0]>;

/** Runs a script of Node as the engine, and keeps hold of the child. */
function run(script: string, options: Options = {}) {
  let child: ReturnType<typeof spawn> | undefined;
  const channel = spawnEngineProcess({
    command: process.execPath,
    args: ['-e', script],
    env: {},
    clock: systemClock,
    spawn: ({ command, args, cwd, env }) => {
      const started = spawn(command, args, { cwd, env, stdio: 'pipe' });
      child = started;
      return started;
    },
    ...options,
  });
  const sink = createSink();
  return {
    channel,
    sink,
    receive: () => channel.receive(sink),
    exited: () =>
      new Promise<NodeJS.Signals | number | null>((resolve) => {
        if (child === undefined) throw new Error('nothing was started');
        const { exitCode, signalCode } = child;
        if (exitCode !== null || signalCode !== null) resolve(signalCode ?? exitCode);
        else child.once('exit', (code, signal) => resolve(signal ?? code));
      }),
  };
}

const endOf = async (sink: RecordingSink): Promise<HeddleError | undefined> =>
  (await sink.until('end')) as HeddleError | undefined;
const framesOf = (sink: RecordingSink): unknown[] => sink.calls.filter(([kind]) => kind === 'frame').map(([, f]) => f);

const ECHO = `process.stdin.pipe(process.stdout)`;
/** Says that it is ready, then ignores TERM and the end of its input. */
const STUBBORN = `process.on('SIGTERM', () => console.log('{"type":"term"}')); setInterval(() => {}, 1000); console.log('{"type":"ready"}')`;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-process-'));
});
afterAll(() => removeFolder(folder));

describe('a child process that behaves', () => {
  it('echoes frames and ends without an error when it exits with 0 after the end', async () => {
    const { channel, sink, receive, exited } = run(ECHO);
    receive();
    const sent: Frame[] = [
      { type: 'x', text: 'a\u2028b 漢😀' },
      { type: 'y', text: 'z'.repeat(300_000) },
    ];
    for (const frame of sent) channel.send(frame);
    channel.end();
    expect(await endOf(sink)).toBeUndefined();
    expect(framesOf(sink)).toEqual(sent);
    expect(sink.calls.slice(-2)).toEqual([
      ['end', undefined],
      ['closed', undefined],
    ]);
    expect(await exited()).toBe(0);
    expect([channel.trusted, channel.final, channel.buffered]).toEqual([false, true, 0]);
  });

  it('an exit with 0 after it said something is no error, even before our end', async () => {
    const { sink, receive } = run(`console.log('{"type":"result"}')`);
    receive();
    expect(await endOf(sink)).toBeUndefined();
    expect(framesOf(sink)).toEqual([{ type: 'result' }]);
  });

  it('is given exactly the environment, the folder and the arguments', async () => {
    const script = `console.log(JSON.stringify({type:'x', env: process.env, cwd: process.cwd(), argv: process.argv.slice(1)}))`;
    const channel = spawnEngineProcess({
      command: process.execPath,
      args: ['-e', script, '--', 'one two'],
      cwd: folder,
      env: { ONLY: 'this', NOT: undefined },
      clock: systemClock,
    });
    const sink = createSink();
    channel.receive(sink);
    const told = (await sink.until('frame')) as { env: object };
    expect(told).toMatchObject({ env: { ONLY: 'this' }, argv: ['one two'] });
    expect(Object.keys(told.env)).not.toContain('NOT');
    await sink.until('closed');
  });

  it('delivers what it wrote before it exited, and all of it (nothing lost)', async () => {
    const { sink, receive } = run(
      `for (let n = 0; n < 2000; n += 1) process.stdout.write(JSON.stringify({type:'x', n, pad: 'p'.repeat(200)}) + '\\n')`,
    );
    receive();
    expect(await endOf(sink)).toBeUndefined();
    expect(framesOf(sink).map((frame) => (frame as { n: number }).n)).toEqual(
      Array.from({ length: 2000 }, (_, n) => n),
    );
  });
});

describe('a child process that cannot be started (H1)', () => {
  const start = async (options: { command: string; cwd?: string }): Promise<HeddleError | undefined> => {
    const channel = spawnEngineProcess({ args: [], env: {}, clock: systemClock, ...options });
    const sink = createSink();
    channel.send({ type: 'x' });
    channel.receive(sink);
    return endOf(sink);
  };

  it('names an executable that does not exist, and what to set', async () => {
    const command = join(folder, 'no-such-engine');
    expect(await start({ command })).toMatchObject({
      code: 'process_failed',
      message: `Heddle engine executable not found: ${command}`,
      hint: expect.stringContaining('pathToClaudeCodeExecutable'),
      data: { command, errno: 'ENOENT' },
    });
  });

  it('does not blame the executable for a folder that does not exist', async () => {
    const cwd = join(folder, 'no-such-folder');
    const error = await start({ command: process.execPath, cwd });
    expect(error?.message).toBe(`Heddle engine process could not be started: the folder ${cwd} does not exist.`);
  });

  it('says when a file may not be run', async () => {
    const command = join(folder, 'plain.txt');
    await writeFile(command, 'x');
    await chmod(command, 0o644);
    expect((await start({ command }))?.message).toBe(`Heddle engine executable may not be run: ${command}`);
  });

  it('tells whoever receives later, and rejects open requests with it', async () => {
    const command = join(folder, 'no-such-engine');
    const channel = spawnEngineProcess({ command, args: [], env: {}, clock: systemClock });
    const peer = new Peer(channel, { side: 'host', clock: systemClock });
    await expect(peer.request('initialize', {})).rejects.toMatchObject({ code: 'process_failed' });
    const late = createSink();
    const other = spawnEngineProcess({ command, args: [], env: {}, clock: systemClock });
    await new Promise((resolve) => setImmediate(resolve));
    other.receive(late);
    expect(await endOf(late)).toMatchObject({ code: 'process_failed' });
  });

  it('a custom spawner that throws is a typed error', () => {
    const fail = (): SpawnedProcess => {
      throw new Error('the machine is on fire');
    };
    expect(() => spawnEngineProcess({ command: 'x', args: [], env: {}, clock: systemClock, spawn: fail })).toThrow(
      expect.objectContaining({ code: 'process_failed', message: expect.stringContaining('on fire') }),
    );
  });
});

describe('a child process that fails (H1)', () => {
  it('exit code and stderr tail are in the error', async () => {
    const { sink, receive } = run(`console.error('no such model'); process.exit(3)`);
    receive();
    expect(await endOf(sink)).toMatchObject({
      code: 'process_failed',
      message: 'Heddle engine process exited with code 3. stderr: no such model',
      hint: 'What it wrote to stderr says why.',
      data: { exitCode: 3, signal: null, stderr: 'no such model', command: process.execPath },
    });
  });

  it('so is the signal that ended it', async () => {
    const { sink, receive } = run(`process.kill(process.pid, 'SIGKILL')`);
    receive();
    expect(await endOf(sink)).toMatchObject({
      message: 'Heddle engine process was terminated by signal SIGKILL',
      data: { exitCode: null, signal: 'SIGKILL' },
    });
  });

  it('a failure after good frames comes behind them', async () => {
    const { sink, receive } = run(`console.log('{"type":"result"}'); process.exitCode = 3`);
    receive();
    expect((await endOf(sink))?.message).toBe('Heddle engine process exited with code 3');
    expect(framesOf(sink)).toEqual([{ type: 'result' }]);
  });

  it('garbage on stdout is a typed error with its first 200 characters, and the child is ended', async () => {
    const garbage = `Usage: some-tool [options] ${'x'.repeat(400)}`;
    const { sink, receive, exited } = run(`console.log(${JSON.stringify(garbage)}); setInterval(() => {}, 1000)`);
    receive();
    expect(await endOf(sink)).toMatchObject({
      code: 'invalid_frame',
      message: `Heddle engine process printed a line that is not JSON: ${garbage.slice(0, 200)}`,
      data: { start: garbage.slice(0, 200), length: garbage.length },
    });
    expect(await exited()).toBe('SIGTERM');
  });

  it('lenient: lines that are not JSON are skipped and logged', async () => {
    const logged: unknown[] = [];
    const { sink, receive } = run(`console.log('starting...\\n{"type":"x"}\\nbye')`, {
      lenient: true,
      logger: (_, __, data) => logged.push(data?.line),
    });
    receive();
    expect(await endOf(sink)).toBeUndefined();
    expect(framesOf(sink)).toEqual([{ type: 'x' }]);
    expect(logged).toEqual(['starting...', 'bye']);
  });

  it('one that exits without reading does not break the writer (EPIPE)', async () => {
    const { channel, sink, receive } = run(`process.exit(0)`);
    receive();
    for (let n = 0; n < 200; n += 1) channel.send({ type: 'x', pad: 'p'.repeat(10_000) });
    expect(await endOf(sink)).toMatchObject({
      code: 'process_failed',
      message: 'Heddle engine process exited with code 0 before it answered',
    });
    channel.send({ type: 'too late' });
    await channel.drained(0);
    expect(channel.buffered).toBe(0);
  });

  it('B5: a flood of 50 MB on stderr is streamed to the callback, and only its tail is kept', async () => {
    let chars = 0;
    const { sink, receive } = run(
      `const line = 'e'.repeat(65535) + '\\n'; let left = 800;
       const more = () => { while (left-- > 0) if (!process.stderr.write(line)) return process.stderr.once('drain', more);
         process.stderr.write('the end', () => process.exit(9)); }; more()`,
      { stderr: (data) => void (chars += data.length) },
    );
    receive();
    const error = await endOf(sink);
    expect(chars).toBe(800 * 65_536 + 'the end'.length);
    const stderr = String(error?.data.stderr);
    expect(stderr).toMatch(/^e+\nthe end$/);
    expect(stderr.length).toBeLessThanOrEqual(4_096);
    expect(error?.message.length).toBeLessThan(4_300);
  });

  it('a callback that throws is logged, and the run goes on', async () => {
    const logged: string[] = [];
    const { sink, receive } = run(`console.error('careful'); console.log('{"type":"x"}')`, {
      stderr: () => {
        throw new Error('not in the mood');
      },
      logger: (_, text) => logged.push(text),
    });
    receive();
    expect(await endOf(sink)).toBeUndefined();
    expect(logged).toEqual(['The stderr callback threw. not in the mood']);
  });

  it('B4: a grandchild that holds the pipes open does not hold up the end', async () => {
    const script = `require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'inherit', detached: true })
      .on('spawn', function () { console.log(JSON.stringify({ type: 'pid', pid: this.pid })); process.exit(4) })`;
    const { sink, receive } = run(script);
    receive();
    expect((await endOf(sink))?.message).toBe('Heddle engine process exited with code 4');
    const [{ pid }] = framesOf(sink) as [{ pid: number }];
    process.kill(pid, 'SIGKILL');
  });
});

describe('closing a child process', () => {
  it('B1: close sends TERM at once and ends both ways', async () => {
    const { channel, sink, receive, exited } = run(`setInterval(() => {}, 1000); console.log('{"type":"ready"}')`);
    receive();
    await sink.until('frame');
    const reason = new Error('enough');
    channel.close(reason);
    channel.close();
    expect(sink.calls.slice(1)).toEqual([
      ['end', reason],
      ['closed', reason],
    ]);
    expect(await exited()).toBe('SIGTERM');
  });

  it('B1: a child that ignores TERM is killed after 5 s', async () => {
    const clock = createManualClock();
    const { channel, sink, receive, exited } = run(STUBBORN, { clock });
    receive();
    await sink.until('frame');
    channel.close();
    let isGone = false;
    const gone = exited().then((how) => {
      isGone = true;
      return how;
    });
    clock.advance(4_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isGone).toBe(false);
    clock.advance(1);
    expect(await gone).toBe('SIGKILL');
    expect(clock.timers).toBe(0);
  });

  it('B1: one that closes its output and stays is made to go', async () => {
    const clock = createManualClock();
    const { sink, receive, exited } = run(
      `setInterval(() => {}, 1000); console.log('{"type":"x"}'); process.stdout.end(); require('fs').closeSync(1)`,
      { clock },
    );
    receive();
    await sink.until('frame');
    while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(5_000);
    expect(await exited()).toBe('SIGTERM');
    expect(await endOf(sink)).toMatchObject({ code: 'process_failed', data: { signal: 'SIGTERM' } });
  });

  it('an abort closes with an AbortError, also one that came before', async () => {
    const controller = new AbortController();
    const { sink, receive, exited } = run(STUBBORN, { signal: controller.signal, killDelayMs: 1 });
    receive();
    await sink.until('frame');
    controller.abort();
    expect(await endOf(sink)).toMatchObject({ name: 'AbortError', code: 'aborted' });
    expect(await exited()).toBe('SIGKILL');

    const early = run(ECHO, { signal: AbortSignal.abort() });
    early.receive();
    expect(await endOf(early.sink)).toMatchObject({ code: 'aborted' });
    expect(await early.exited()).toBe('SIGTERM');
  });

  it('no timer and no child is left after a clean end (B1)', async () => {
    const clock = createManualClock();
    const { channel, sink, receive, exited } = run(ECHO, { clock });
    receive();
    channel.end();
    await sink.until('closed');
    expect([clock.timers, await exited()]).toEqual([0, 0]);
  });

  it('a parent that closed and has nothing else to do exits before a child that ignores TERM', async () => {
    await build({
      entryPoints: [fileURLToPath(new URL('child/closing-parent.ts', import.meta.url))],
      outfile: join(folder, 'parent.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      external: ['ws', 'zod'],
    });
    const stop = new AbortController();
    const changes = watch(folder, { signal: stop.signal })[Symbol.asyncIterator]();
    // The watch begins with the first question: asked later, it would miss a marker that is there already.
    let change = changes.next();
    const parent = spawn(process.execPath, [join(folder, 'parent.mjs'), join(folder, 'marker')], { stdio: 'inherit' });
    const [code] = await once(parent, 'exit');
    expect(code).toBe(0);
    while (!existsSync(join(folder, 'marker'))) {
      await change;
      change = changes.next();
    }
    change.catch(() => {});
    stop.abort();
  });
});

describe('a custom spawner', () => {
  it('is given everything, and what it returns is used', async () => {
    let given: SpawnOptions | undefined;
    const { signal } = new AbortController();
    const channel = spawnEngineProcess({
      command: 'engine',
      args: ['--flag'],
      cwd: folder,
      env: { A: '1' },
      signal,
      clock: systemClock,
      spawn: (options) => {
        given = options;
        return spawn(process.execPath, ['-e', ECHO], { stdio: ['pipe', 'pipe', 'ignore'] });
      },
    });
    const sink = createSink();
    channel.receive(sink);
    channel.send({ type: 'x' });
    channel.end();
    expect(await endOf(sink)).toBeUndefined();
    expect(given).toEqual({ command: 'engine', args: ['--flag'], cwd: folder, env: { A: '1' }, signal });
    expect(framesOf(sink)).toEqual([{ type: 'x' }]);
  });
});
