import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/protocol/plain.js';
import { createLocalWorkspace, type LocalWorkspace } from '../../src/engine/workspace/local.js';
import { reaperPid } from '../../src/engine/workspace/reaper.js';
import type { Clock, ProcessExit, ProcessSpec } from '../../src/protocol/index.js';
import { createFakeClock, type FakeClock } from '../../src/testing/fake-clock.js';
import { isRunning, pidFrom, until, untilGone } from './running.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
let workspace: LocalWorkspace;
const started: number[] = [];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-processes-')));
  workspace = createLocalWorkspace({ clock: systemClock });
});

afterEach(async () => {
  // Not the workspace of the test: its clock may stand still.
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  removeFolder(folder);
});

const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() };
const quiet = new AbortController().signal;

async function run(line: string, options: Partial<ProcessSpec> = {}): Promise<ProcessExit & { text: string }> {
  let text = '';
  const exit = await workspace.run({
    argv: ['bash', '-c', line],
    cwd: folder,
    env,
    signal: quiet,
    onOutput: (chunk) => {
      text += Buffer.from(chunk).toString();
    },
    ...options,
  });
  return { ...exit, text };
}

const pidOf = async (name: string): Promise<number> => {
  const pid = await pidFrom(resolve(folder, name));
  started.push(pid);
  return pid;
};

/** Time in the workspace stands still until the test moves it. */
function useFakeClock(): FakeClock {
  const clock = createFakeClock();
  workspace = createLocalWorkspace({ clock });
  return clock;
}

async function advanceUntilGone(clock: FakeClock, pid: number): Promise<void> {
  await until(() => {
    clock.advance(100);
    return !isRunning(pid);
  });
}

/** Real time, but the timeout of 5 s comes when the test says so. */
function useTimeout(): { expire: () => void } {
  let expire = () => {};
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      if (ms !== 5_000) return systemClock.after(ms, callback);
      expire = callback;
      return () => undefined;
    },
  };
  workspace = createLocalWorkspace({ clock });
  return { expire: () => expire() };
}

describe('run', () => {
  it('gives output and exit code', async () => {
    expect(await run('echo out; exit 3')).toEqual({
      code: 3,
      signal: null,
      timedOut: false,
      aborted: false,
      text: 'out\n',
    });
  });

  it('tells the streams apart', async () => {
    const streams: string[] = [];
    await run('echo a; echo b >&2', {
      onOutput: (chunk, stream) => streams.push(`${stream}:${Buffer.from(chunk).toString()}`),
    });
    expect(streams.toSorted()).toEqual(['stderr:b\n', 'stdout:a\n']);
  });

  it('reports a signal', async () => {
    expect(await run('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL', timedOut: false, aborted: false });
  });

  it('gives an empty standard input (B2)', async () => {
    expect((await run('readlink /proc/self/fd/0; cat')).text).toBe('/dev/null\n');
  });

  it('passes exactly the environment it is given, and its marker', async () => {
    const { text } = await run('env', { env: { ...env, ONLY: 'this' } });
    const names = text
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    expect(names.toSorted()).toEqual(['HEDDLE_CALL', 'HOME', 'ONLY', 'PATH', 'PWD', 'SHLVL', '_']);
  });

  it('delivers all output of a command that prints a lot and ends at once', async () => {
    let bytes = 0;
    await run('head -c 3000000 /dev/zero', {
      onOutput: (chunk) => {
        bytes += chunk.byteLength;
      },
    });
    expect(bytes).toBe(3_000_000);
  });

  it('does not wait for a background child that holds the pipes, and lets it live', async () => {
    const { code, text } = await run('sleep 300 & echo $! > child; echo done');
    expect({ code, text }).toEqual({ code: 0, text: 'done\n' });
    const child = await pidOf('child');
    expect(isRunning(child)).toBe(true);
    await workspace.close();
    expect(isRunning(child)).toBe(false);
  });

  it('does not break a background child that goes on printing', async () => {
    await run('(while true; do echo line || exit; echo $BASHPID > beat; sleep 0.01; done) & echo $! > child');
    const child = await pidOf('child');
    await rm(join(folder, 'beat'), { force: true });
    await pidFrom(join(folder, 'beat'));
    expect(isRunning(child)).toBe(true);
    await workspace.close();
  });

  it('fails with a typed error when the program or the folder is missing', async () => {
    await expect(run('', { argv: ['no-such-program'] })).rejects.toMatchObject({
      code: 'process_failed',
      message: 'Could not start no-such-program: it was not found on PATH.',
    });
    await expect(run('true', { cwd: join(folder, 'gone') })).rejects.toMatchObject({
      code: 'process_failed',
      message: `Could not start bash: the folder ${join(folder, 'gone')} does not exist.`,
    });
    await expect(run('x'.repeat(200_000))).rejects.toMatchObject({
      code: 'process_failed',
      message: 'Could not start bash: its arguments are too long.',
    });
  });

  it('starts nothing when it is aborted already', async () => {
    expect(await run('touch made', { signal: AbortSignal.abort() })).toMatchObject({ aborted: true, code: null });
    await expect(readFile(join(folder, 'made'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the end of a family (B2)', () => {
  const stubborn = "trap '' TERM; echo $BASHPID > child; while true; do sleep 0.05; done";
  const cases: [string, string][] = [
    ['a child that ignores TERM', `(${stubborn})`],
    ['a background child that ignores TERM', `(${stubborn}) & wait`],
    ['setsid', 'setsid sleep 300 & echo $! > child; wait'],
    [
      'setsid that forks and detaches',
      "setsid -f bash -c 'echo $BASHPID > child; exec sleep 300' </dev/null >/dev/null 2>&1; sleep 300",
    ],
    ['nohup', 'nohup sleep 300 >/dev/null 2>&1 & echo $! > child; wait'],
    ['a double fork', "(setsid bash -c '(echo $BASHPID > child; exec sleep 300) & disown' &) ; sleep 300"],
    [
      'a child without environment in a session of its own',
      "env -i /bin/bash -c 'echo $$ > child; exec setsid -w sleep 300' & wait",
    ],
    ['a stopped child', 'sleep 300 & echo $! > child; kill -STOP $!; wait'],
  ];

  it('on abort: every kind of child', async () => {
    await Promise.all(
      cases.map(async ([name, line]) => {
        const abort = new AbortController();
        const own = await mkdtemp(join(folder, 'case-'));
        const running = run(line, { signal: abort.signal, cwd: own });
        const child = await pidOf(join(own, 'child'));
        abort.abort();
        expect(await running, name).toMatchObject({ aborted: true, timedOut: false });
        await untilGone(child);
      }),
    );
  });

  it('on timeout: waits until all of it is gone', async () => {
    const timeout = useTimeout();
    const escaped = `setsid bash -c "trap '' TERM; echo \\$\\$ > other; while true; do sleep 0.05; done"`;
    const running = run(`(${stubborn}) & ${escaped} & wait`, { timeoutMs: 5_000 });
    const pids = [await pidOf('child'), await pidOf('other')];
    timeout.expire();
    expect(await running).toMatchObject({ timedOut: true, aborted: false });
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it('keeps what was printed before a timeout', async () => {
    const timeout = useTimeout();
    let text = '';
    const running = run('echo before; sleep 300', {
      timeoutMs: 5_000,
      onOutput: (chunk) => {
        text += Buffer.from(chunk).toString();
      },
    });
    await until(() => text !== '');
    timeout.expire();
    expect(await running).toMatchObject({ timedOut: true });
    expect(text).toBe('before\n');
  });

  it('an abort answers within a second though the child is only killed after two', async () => {
    const clock = useFakeClock();
    const abort = new AbortController();
    const running = run(`(${stubborn})`, { signal: abort.signal });
    const child = await pidOf('child');
    abort.abort();
    clock.advance(900);
    expect(await running).toMatchObject({ aborted: true });
    expect(isRunning(child)).toBe(true);
    await advanceUntilGone(clock, child);
  });

  it('an abort does not wait for the end of a timeout', async () => {
    const clock = useFakeClock();
    const abort = new AbortController();
    const running = run(`(${stubborn})`, { timeoutMs: 5_000, signal: abort.signal });
    const child = await pidOf('child');
    clock.advance(5_000);
    abort.abort();
    clock.advance(900);
    expect(await running).toMatchObject({ timedOut: true, aborted: false });
    expect(isRunning(child)).toBe(true);
    await advanceUntilGone(clock, child);
  });

  it('leaves other calls alone', async () => {
    const abort = new AbortController();
    const other = run('echo $$ > other; while [ ! -e stop ]; do sleep 0.02; done; echo fine');
    const running = run('echo $$ > child; sleep 300', { signal: abort.signal });
    await pidOf('child');
    await pidOf('other');
    abort.abort();
    await running;
    await run('touch stop');
    expect(await other).toMatchObject({ code: 0, text: 'fine\n' });
  });

  it('ends the children of a nested host by the marker they inherit', async () => {
    const { text: marker } = await run('printf %s "$HEDDLE_CALL"', { env: { ...env, HEDDLE_CALL: 'outer;' } });
    expect(marker).toMatch(/^outer;heddle-[0-9a-f-]{36}\.\d+\.\d+;$/);
  });
});

describe('a flood of output (B5)', () => {
  it('keeps the loop free and memory flat', async () => {
    const abort = new AbortController();
    let bytes = 0;
    const before = process.memoryUsage().rss;
    const running = run('yes', {
      signal: abort.signal,
      onOutput: (chunk) => {
        bytes += chunk.byteLength;
      },
    });
    let turns = 0;
    while (bytes < 300_000_000) {
      await immediate();
      turns += 1;
    }
    abort.abort();
    await running;
    expect(turns).toBeGreaterThan(100);
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('ends a background child that floods after its call', async () => {
    await run('yes & echo $! > child');
    await untilGone(await pidOf('child'));
  });
});

describe('the reaper', () => {
  it('is one per process and is started again when it died', async () => {
    await run('true');
    const first = reaperPid();
    await run('true');
    expect(reaperPid()).toBe(first);
    if (first === undefined) throw new Error('there is no reaper');
    process.kill(first, 'SIGKILL');
    await until(() => reaperPid() !== first);
    await run('true');
    expect(reaperPid()).not.toBe(first);
    expect(isRunning(reaperPid() ?? 0)).toBe(true);
  });

  it('is started again at once while something runs', async () => {
    const running = run('while [ ! -e stop ]; do sleep 0.02; done');
    const first = reaperPid();
    if (first === undefined) throw new Error('there is no reaper');
    process.kill(first, 'SIGKILL');
    await until(() => reaperPid() !== undefined && reaperPid() !== first);
    await writeFile(join(folder, 'stop'), '');
    expect(await running).toMatchObject({ code: 0 });
  });
});
