/** Files in memory, and processes that the test plays. */
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { Clock, FileStat, ProcessExit, ProcessSpec, Workspace } from '../protocol/index.js';
import { HeddleError, systemClock } from '../protocol/plain.js';

/** What a process came to. */
export interface RunResult {
  /** 0 when absent. */
  code?: number;
  stdout?: string;
  stderr?: string;
}

export interface RunCall {
  /** The line that a shell was given, as the Bash tool does; undefined for any other program. */
  command: string | undefined;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** Aborts when the process must end; nobody waits for the result then. */
  signal: AbortSignal;
}

/** Plays a process. May throw: the call of the tool then fails with the message. */
export type RunProcess = (argv: readonly [string, ...string[]], call: RunCall) => RunResult | Promise<RunResult>;

export interface MemoryWorkspaceOptions {
  /** The folder that relative names start from; it always exists. `/project` when absent. */
  root?: string;
  /** Without it every process fails with `not_supported`. */
  run?: RunProcess;
  /** For the times of files, and for how long a process may take. */
  clock?: Clock;
}

/** Names are absolute, or relative to `root`. */
export interface MemoryWorkspace extends Workspace {
  /** The working directory for a session on these files. */
  readonly root: string;
  /** All files as text, by name: relative inside `root`, absolute elsewhere. */
  files(): Record<string, string>;
  /** One file as text. Throws ENOENT. */
  read(path: string): string;
  /** As somebody else would write it, behind the agent's back. */
  write(path: string, content: string | Uint8Array): void;
  /** Removes a file, or a folder with all that is in it. Nothing happens when there is none. */
  remove(path: string): void;
}

interface MemoryFile {
  data: Uint8Array;
  mtimeMs: number;
  mode: number;
}

/**
 * A Workspace without links, so that `exact` changes nothing, and without ripgrep: Read, Write and Edit work as on a
 * disk, Bash where `run` answers for it, Glob and Grep not at all.
 */
export function createMemoryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: MemoryWorkspaceOptions = {},
): MemoryWorkspace {
  const { clock = systemClock } = options;
  const root = resolve(options.root ?? '/project');
  const kept = new Map<string, MemoryFile>();
  const folders = new Set<string>();
  const at = (path: string): string => resolve(root, path);

  const makeFolders = (folder: string): void => {
    if (kept.has(folder)) throw systemError('ENOTDIR', 'not a directory, mkdir', folder);
    const parent = dirname(folder);
    if (parent !== folder) makeFolders(parent);
    folders.add(folder);
  };

  const put = (path: string, content: string | Uint8Array): void => {
    if (folders.has(path)) throw systemError('EISDIR', 'illegal operation on a directory, write', path);
    makeFolders(dirname(path));
    // A copy: what the caller does to its bytes later must not change the file.
    const data = typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content);
    kept.set(path, { data, mtimeMs: clock.now(), mode: kept.get(path)?.mode ?? 0o644 });
  };

  const get = (path: string): MemoryFile => {
    const file = kept.get(path);
    if (file !== undefined) return file;
    if (folders.has(path)) throw systemError('EISDIR', 'illegal operation on a directory, read', path);
    const throughFile = ancestorsOf(path).some((folder) => kept.has(folder));
    throw throughFile
      ? systemError('ENOTDIR', 'not a directory, open', path)
      : systemError('ENOENT', 'no such file or directory, open', path);
  };

  makeFolders(root);
  for (const [name, content] of Object.entries(files)) put(at(name), content);

  return {
    root,
    files: () =>
      Object.fromEntries(
        [...kept]
          .map(([path, { data }]) => [nameOf(root, path), decode(data)] as const)
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    read: (path) => decode(get(at(path)).data),
    write: (path, content) => put(at(path), content),
    remove(path) {
      const gone = at(path);
      for (const known of [...kept.keys(), ...folders]) {
        if (known !== gone && !known.startsWith(`${gone}${sep}`)) continue;
        kept.delete(known);
        if (known !== root) folders.delete(known);
      }
    },

    async readFile(path, { maxBytes = Number.POSITIVE_INFINITY } = {}) {
      const { data } = get(resolve(path));
      if (data.length > maxBytes) throw systemError('EFBIG', `larger than ${maxBytes} bytes, read`, path);
      return Uint8Array.from(data);
    },
    async writeFile(path, data) {
      put(resolve(path), data);
    },
    async stat(path): Promise<FileStat | undefined> {
      const file = kept.get(resolve(path));
      if (file !== undefined) return { kind: 'file', size: file.data.length, mtimeMs: file.mtimeMs, mode: file.mode };
      return folders.has(resolve(path)) ? { kind: 'directory', size: 0, mtimeMs: 0, mode: 0o755 } : undefined;
    },
    realPath: (path) => Promise.resolve(resolve(path)),
    run: (spec) => runProcess(spec, { play: options.run, clock }),
    ripgrep: () =>
      Promise.reject(
        new HeddleError(
          'not_supported',
          'A memory workspace cannot be searched: Glob and Grep need ripgrep on real files.',
          {
            hint: 'Test them on a temporary folder with the workspace left out, or list them in disallowedTools.',
          },
        ),
      ),
  };
}

/** Ends with the process, with the signal, or when its time is up, whichever comes first. */
async function runProcess(
  spec: ProcessSpec,
  { play, clock }: { play: RunProcess | undefined; clock: Clock },
): Promise<ProcessExit> {
  const { argv, cwd, env, timeoutMs } = spec;
  const command = shellLine(argv);
  if (play === undefined) {
    throw new HeddleError(
      'not_supported',
      `A memory workspace runs no processes, and was asked for: ${command ?? argv.join(' ')}. Give ` +
        'createMemoryWorkspace a `run` function that answers for them.',
      { hint: 'createMemoryWorkspace(files, { run: (argv, { command }) => ({ code: 0, stdout: "..." }) })' },
    );
  }
  const stop = new AbortController();
  const signal = AbortSignal.any([spec.signal, stop.signal]);
  const cancel = timeoutMs === undefined ? () => {} : clock.after(timeoutMs, () => stop.abort());
  const stopped = new Promise<undefined>((done) => {
    if (signal.aborted) done(undefined);
    signal.addEventListener('abort', () => done(undefined), { once: true });
  });
  try {
    const played = (async () => play(argv, { command, cwd, env, signal }))();
    const result = await Promise.race([played, stopped]);
    if (result === undefined) {
      // Nobody hears of a process that fails after it was ended.
      played.catch(() => {});
      return { code: null, signal: 'SIGTERM', timedOut: !spec.signal.aborted, aborted: spec.signal.aborted };
    }
    const { code = 0, stdout = '', stderr = '' } = result;
    if (stdout !== '') spec.onOutput(new TextEncoder().encode(stdout), 'stdout');
    if (stderr !== '') spec.onOutput(new TextEncoder().encode(stderr), 'stderr');
    return { code, signal: null, timedOut: false, aborted: false };
  } finally {
    cancel();
  }
}

/** `bash -c line`, or `bash -c wrapper bash line`: the line that was asked for is the last word. */
function shellLine(argv: readonly string[]): string | undefined {
  const [program = '', flag] = argv;
  return /^(ba|z)?sh$/.test(basename(program)) && flag === '-c' ? argv.at(-1) : undefined;
}

const decode = (data: Uint8Array): string => new TextDecoder().decode(data);

function nameOf(root: string, path: string): string {
  const way = relative(root, path);
  const isOutside = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? path : way.split(sep).join('/');
}

function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
}

/** An error as the system would give it, with its code. */
const systemError = (code: string, reason: string, path: string): Error =>
  Object.assign(new Error(`${code}: ${reason} '${path}'`), { code, path });
