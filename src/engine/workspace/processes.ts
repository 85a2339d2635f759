/** Child processes as whole families: started as group leaders, ended with everything they started. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { HeddleError } from '../../protocol/plain.js';
import type { Clock, Logger, ProcessExit, ProcessInput, ProcessSpec } from '../../protocol/index.js';
import { openFolder } from './exact-folder.js';
import { openInput } from './process-input.js';
import { type Family, livesOn, startTimeOf, walkFamily } from './process-table.js';
import { ensureReaper, hostToken, letGo, registerGroup, unregisterGroup } from './reaper.js';
import { codeOf } from './system-error.js';
import { createWitness, type Witness } from './witness.js';

/** Carries who started a process, also to children that leave their group. Nested hosts add to it. */
const MARKER = 'HEDDLE_CALL';

const KILL_AFTER_MS = 2_000;
const POLL_MS = 20;
/** An aborted call answers within a second, so it does not wait for a child that ignores TERM. */
const ABORT_WAIT_MS = 500;
/** Output may still be in the pipe when the leader exits; a background child may hold the pipe for ever. */
const DRAIN_IDLE_MS = 50;
const DRAIN_MAX_MS = 500;
/** What a background child may still print after its call before its pipe is closed. */
const LEFTOVER_BYTES = 64 * 1024 * 1024;

export interface Processes {
  run(spec: ProcessSpec): Promise<ProcessExit>;
  /** Ends everything that was started here and still runs, background children included. */
  close(): Promise<void>;
}

interface Call {
  family: Family;
  /** Undefined where there is no /proc. */
  startedAt?: number;
  /** Resolves when the leader has exited. */
  exited: Promise<void>;
}

interface Started {
  child: ChildProcess;
  call: Call;
  look?: Witness;
}

let workspaces = 0;

const doNothing = (): void => undefined;

export function createProcesses(options: { clock: Clock; logger?: Logger }): Processes {
  const { clock, logger } = options;
  const token = `${hostToken}.${++workspaces}.`;
  /** Calls whose group may still have members: the leader lives or, without /proc, the group does. */
  const live = new Set<Call>();
  let calls = 0;

  /** Resolves after a while, or as soon as `early` does. */
  const pause = (ms: number, early?: Promise<void>) =>
    new Promise<void>((resolve, reject) => {
      const cancel = clock.after(ms, resolve);
      early?.then(resolve, reject).finally(cancel);
    });

  const signalFamily = (call: Call, signal: 'SIGTERM' | 'SIGKILL'): void => {
    const { family } = call;
    const walked = walkFamily(family, call.startedAt);
    // A stopped process takes TERM only after CONT.
    for (const each of signal === 'SIGTERM' ? ([signal, 'SIGCONT'] as const) : [signal]) {
      if (family.leader !== undefined) kill(-family.leader, each);
      if (walked) for (const pid of family.members.keys()) kill(pid, each);
    }
  };

  const isGone = ({ family, startedAt }: Call): boolean => {
    if (livesOn(family)) return false;
    if (walkFamily(family, startedAt)) return family.members.size === 0;
    return family.leader === undefined || !kill(-family.leader, 0);
  };

  /** TERM, two seconds, KILL. Resolves when nothing is left, or nothing more can be done. */
  const end = async (call: Call): Promise<void> => {
    const deadline = clock.monotonic() + KILL_AFTER_MS;
    signalFamily(call, 'SIGTERM');
    await pause(KILL_AFTER_MS, call.exited);
    // That a family is gone is seen a moment later, whatever the Clock says.
    for (let round = 0; clock.monotonic() < deadline && round < KILL_AFTER_MS / POLL_MS; round += 1) {
      if (isGone(call)) return;
      await moment();
    }
    for (let round = 0; round < 20 && !isGone(call); round += 1) {
      signalFamily(call, 'SIGKILL');
      await moment();
    }
  };

  const start = (spec: ProcessSpec): Started => {
    ensureReaper({ path: spec.env.PATH, logger });
    // Loaded here: it takes milliseconds, and an answer without tools starts no process.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const [file, ...args] = spec.argv;
    const marker = `${token}${++calls};`;
    const folder = spec.exact === true ? openFolder(spec.cwd) : undefined;
    let look: Witness | undefined;
    let input: number | undefined;
    let child: ChildProcess;
    try {
      look = folder && createWitness(folder, { path: spec.cwd, since: clock.now() });
      input = openInput(spec);
      child = spawn(file, args, {
        // The child has the handle too, until the program takes over.
        cwd: folder?.at('.') ?? spec.cwd,
        env: { ...spec.env, [MARKER]: `${spec.env[MARKER] ?? ''}${marker}` },
        detached: true,
        stdio: [input ?? (spec.onStart === undefined ? 'ignore' : 'pipe'), 'pipe', 'pipe'],
      });
    } finally {
      folder?.close();
      if (input !== undefined) closeSync(input);
    }
    const { pid } = child;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const call: Call = { family: { marker, leader: pid, members: new Map() }, exited };
    if (pid === undefined) return { child, call };
    call.startedAt = startTimeOf(pid);
    live.add(call);
    registerGroup(pid);
    if (child.stdin !== null) spec.onStart?.(toInput(child.stdin));
    return { child, call, look };
  };

  /** Once the leader is reaped its number may come to belong to others; without /proc there is nothing else to go by. */
  const releaseGroup = (call: Call): void => {
    const { leader } = call.family;
    if (leader === undefined) return;
    if (call.startedAt === undefined && kill(-leader, 0)) return;
    call.family.leader = undefined;
    live.delete(call);
    unregisterGroup(leader);
  };

  const watch = (child: ChildProcess, call: Call, spec: ProcessSpec): Promise<ProcessExit> =>
    new Promise((resolve, reject) => {
      const exit: ProcessExit = { code: null, signal: null, timedOut: false, aborted: false };
      const output = openOutput(child, spec, clock);
      // Timers of the Clock keep nothing alive, and neither does an escaped child.
      const hold = setInterval(doNothing, 60_000);
      let ending: Promise<void> | undefined;
      let cancelTimeout = doNothing;

      const finish = (settle: () => void) => {
        clearInterval(hold);
        cancelTimeout();
        spec.signal.removeEventListener('abort', onAbort);
        output.abandon();
        settle();
      };
      const finishAfter = (work: Promise<void>) => {
        work.then(
          () => finish(() => resolve(exit)),
          (error: unknown) => finish(() => reject(error)),
        );
      };
      const stop = (): Promise<void> => {
        ending ??= end(call).then(() => output.drained());
        return ending;
      };
      const onAbort = () => {
        exit.aborted = !exit.timedOut;
        finishAfter(pause(ABORT_WAIT_MS, stop()));
      };
      const onTimeout = () => {
        if (exit.aborted) return;
        exit.timedOut = true;
        finishAfter(stop());
      };
      child.on('error', (error) => {
        if (child.pid === undefined) finish(() => reject(toStartError(error, spec)));
      });
      child.on('exit', (code, signal) => {
        releaseGroup(call);
        exit.code = code;
        exit.signal = signal;
        if (ending !== undefined) return;
        cancelTimeout();
        if (spec.onStart !== undefined) return finishAfter(stop());
        void output.drained().then(() => {
          if (ending === undefined) finish(() => resolve(exit));
        });
      });
      spec.signal.addEventListener('abort', onAbort, { once: true });
      if (spec.timeoutMs !== undefined) cancelTimeout = clock.after(spec.timeoutMs, onTimeout);
    });

  return {
    async run(spec) {
      if (spec.signal.aborted) return { code: null, signal: null, timedOut: false, aborted: true };
      for (const call of live) if (call.startedAt === undefined) releaseGroup(call);
      let started: Started;
      try {
        started = start(spec);
      } catch (error) {
        throw isAboutPlace(error, spec) ? error : toStartError(error, spec);
      }
      const { child, call, look } = started;
      const exit = await watch(child, call, spec);
      return look === undefined ? exit : { ...exit, look };
    },
    async close() {
      // Looking through /proc costs more than a whole answer.
      if (calls === 0) return;
      const leftovers: Call = { family: { marker: token, members: new Map() }, exited: Promise.resolve() };
      await Promise.all([leftovers, ...live].map(end));
    },
  };
}

/** The time that the system needs, which no Clock keeps. */
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** An open standard input. Whoever closes its other end has said so by ending. */
function toInput(stdin: Writable): ProcessInput {
  stdin.on('error', () => stdin.destroy());
  return {
    get buffered() {
      return stdin.writableLength;
    },
    write(data) {
      if (stdin.writable) stdin.write(data);
    },
    end() {
      if (stdin.writable) stdin.end();
    },
  };
}

/** False when nobody is there to get the signal. */
const kill = (target: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(target, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

interface Output {
  /** Resolves when all that was printed before the exit has been delivered. */
  drained(): Promise<void>;
  /** Nobody listens any more: what still comes is thrown away, and keeps nothing alive. */
  abandon(): void;
}

function openOutput(child: ChildProcess, spec: ProcessSpec, clock: Clock): Output {
  const streams: [Readable | null, 'stdout' | 'stderr'][] = [
    [child.stdout, 'stdout'],
    [child.stderr, 'stderr'],
  ];
  let open = 0;
  let chunks = 0;
  let leftover: number | undefined;
  let onEnd = doNothing;

  for (const [stream, name] of streams) {
    if (stream === null) continue;
    open += 1;
    stream.on('data', (chunk: Uint8Array) => {
      chunks += 1;
      if (leftover === undefined) return spec.onOutput(chunk, name);
      leftover += chunk.byteLength;
      if (leftover > LEFTOVER_BYTES) stream.destroy();
    });
    stream.on('error', () => stream.destroy());
    stream.on('close', () => {
      open -= 1;
      if (open === 0) onEnd();
    });
  }

  return {
    drained: () =>
      new Promise((resolve) => {
        if (open === 0) return resolve();
        const deadline = clock.monotonic() + DRAIN_MAX_MS;
        let cancel = doNothing;
        onEnd = () => {
          cancel();
          resolve();
        };
        const waitIdle = () => {
          const seen = chunks;
          cancel = clock.after(DRAIN_IDLE_MS, () => {
            // After a busy moment the timer comes first and the data second: look once more behind the reading.
            setImmediate(() => {
              if (chunks === seen || clock.monotonic() >= deadline) return resolve();
              waitIdle();
            });
          });
        };
        waitIdle();
      }),
    abandon() {
      leftover = 0;
      for (const [stream] of streams) letGo(stream);
    },
  };
}

/** A link is in the way, or the file for the input cannot be read: the caller knows what that means. */
const isAboutPlace = (error: unknown, { inputFile }: ProcessSpec): boolean =>
  codeOf(error) === 'ELOOP' || (inputFile !== undefined && (error as NodeJS.ErrnoException).path === inputFile);

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

function toStartError(error: unknown, spec: ProcessSpec): HeddleError {
  const { code, message } = error as NodeJS.ErrnoException;
  const [program] = spec.argv;
  const data = { program, cwd: spec.cwd, code };
  // The system reports a missing folder as if the program were missing.
  if (code === 'ENOENT' && !isFolder(spec.cwd)) {
    return new HeddleError('process_failed', `Could not start ${program}: the folder ${spec.cwd} does not exist.`, {
      cause: error,
      hint: 'Choose a working directory that exists.',
      data,
    });
  }
  const reason =
    code === 'ENOENT' ? 'it was not found on PATH' : code === 'E2BIG' ? 'its arguments are too long' : message;
  return new HeddleError('process_failed', `Could not start ${program}: ${reason}.`, { cause: error, data });
}
