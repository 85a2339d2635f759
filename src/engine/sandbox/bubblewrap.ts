/** How bubblewrap is found, told what to do, and tried. */
import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';
import { isInside } from '../permissions/path.js';
import { resolveReal } from '../workspace/files.js';
import type { MountPlan } from './mounts.js';

const PROBE_MS = 20_000;
/** bubblewrap takes 9,000 arguments; three belong to each mount. */
const MAX_MOUNTS = 2_500;

/** Root keeps its say over files of others; nothing else, above all no mounting. */
const ROOT_CAPABILITIES = ['CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_CHOWN'];

const UNSHARED = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'];
const BOX = ['--die-with-parent', '--new-session', ...UNSHARED, '--cap-drop', 'ALL'];

/** Parts of /proc by which root changes the machine, whatever it has been deprived of. */
const KERNEL_SWITCHES = ['sys', 'sysrq-trigger', 'irq', 'bus'].map((name) => `/proc/${name}`);
const COVERED = KERNEL_SWITCHES.flatMap((path) => ['--ro-bind-try', path, path]);
const KERNEL = ['--dev', '/dev', '--proc', '/proc', ...COVERED];

/** A sandbox that was asked for and cannot be had. */
export const unavailable = (text: string, hint: string, data: Record<string, unknown> = {}): HeddleError =>
  new HeddleError('sandbox_unavailable', text, { hint, data });

/** The same, and it is this machine's doing: no folder that is worked in can bring it about. */
export const unavailableHere = (text: string, hint: string): HeddleError => unavailable(text, hint, { here: true });

/** Finds a program on PATH, but not where commands of the sandbox could have put it. */
export async function findProgram(
  name: string,
  { path, writable }: { path: string; writable: readonly string[] },
): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const program = join(folder, name);
    if (!(await isProgram(program))) continue;
    if (!writable.some((each) => isReachable(program, each))) return program;
  }
  return undefined;
}

/** Whether who may write in the folder could put another program in its place. */
export const isReachable = (program: string, folder: string): boolean =>
  isInside(folder, program) || isInside(folder, resolveReal(program));

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export interface BubblewrapOptions {
  program: string;
  plan: MountPlan;
  cwd: string;
  /** What stands for /tmp. */
  temporary: string;
  /** A folder with nothing that git sees, which covers names which must not come to be. */
  empty: string;
  /** Stubs that are files, and are themselves what is seen. */
  files: ReadonlySet<string>;
  isRoot: boolean;
}

/** The command line up to the command. */
export function toBubblewrapArgv(options: BubblewrapOptions): [string, ...string[]] {
  const { program, plan, cwd, isRoot } = options;
  if (plan.mounts.length > MAX_MOUNTS) {
    throw unavailable(
      `The sandbox would need ${plan.mounts.length} mounts, and can have ${MAX_MOUNTS}.`,
      'Write fewer or larger paths in sandbox.filesystem.',
    );
  }
  const hidden = plan.mounts.filter(({ view, kind }) => view === 'hidden' && kind === 'folder');
  return [
    program,
    ...BOX,
    ...(isRoot ? ROOT_CAPABILITIES.flatMap((each) => ['--cap-add', each]) : []),
    plan.base === 'writable' ? '--bind' : '--ro-bind',
    '/',
    '/',
    ...KERNEL,
    ...plan.mounts.flatMap((mount) => toArguments(mount, options)),
    // Only now, since places within them had to be made first.
    ...hidden.flatMap(({ path }) => ['--remount-ro', path]),
    '--chdir',
    cwd,
    '--',
  ];
}

function toArguments(
  { view, path, kind }: MountPlan['mounts'][number],
  { temporary, empty, files }: BubblewrapOptions,
): string[] {
  switch (view) {
    case 'writable':
      return ['--bind', path, path];
    case 'read-only':
      return ['--ro-bind', path, path];
    case 'private':
      return ['--bind', temporary, path];
    case 'hidden':
      // A device on a mount without devices: opening it is forbidden.
      return kind === 'folder' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
    case 'stub':
      return ['--ro-bind', files.has(path) ? path : empty, path];
  }
}

/** Of what the box has its own. */
const NAMESPACES = ['mnt', 'pid', 'net', 'ipc', 'uts'].map((name) => `/proc/self/ns/${name}`);

/** Tells in which namespaces it runs: that it runs is no sign of a box around it. */
export const PROBE_ARGV = ['bash', '-c', `readlink ${NAMESPACES.join(' ')}`] as const;

/** Runs the probe in the sandbox. Throws `sandbox_unavailable` unless that works. */
export async function probe(
  argv: readonly [string, ...string[]],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<void> {
  const failure = await run(argv, { cwd, env });
  if (failure === undefined) return;
  const bare = await run(toBareArgv(argv[0]), { cwd, env });
  const text = `The sandbox does not start: ${failure.split('\n').at(-1)}`;
  throw bare === undefined ? unavailable(text, explain(failure)) : unavailableHere(text, explain(failure));
}

/** The same without what belongs to a project: whether it works on this machine at all. */
const toBareArgv = (program: string): string[] => [
  program,
  ...BOX,
  '--ro-bind',
  '/',
  '/',
  ...KERNEL,
  '--',
  ...PROBE_ARGV,
];

/** Why the program does not work on this machine and what to do; undefined when it does. */
export async function tryProgram(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<{ text: string; todo: string } | undefined> {
  const failure = await run(toBareArgv(program), { cwd: '/', env });
  return failure === undefined ? undefined : { text: failure.split('\n').at(-1) ?? '', todo: explain(failure) };
}

/** What the program says when it fails, or what is amiss when it only seems to work. */
const run = (
  [file = '', ...args]: readonly string[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile(file, args, { cwd, env, timeout: PROBE_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) =>
      resolve(error === null ? findLeak(stdout) : stderr.trim() || error.message),
    );
  });

const LEAK = 'commands in it would run outside: it makes no namespaces for them';

function findLeak(stdout: string): string | undefined {
  const inside = stdout.trim().split('\n');
  const isOwn = NAMESPACES.every((link, at) => {
    const told = inside[at] ?? '';
    return told.startsWith(`${basename(link)}:[`) && told !== readlinkSync(link);
  });
  return isOwn ? undefined : LEAK;
}

function explain(stderr: string): string {
  if (stderr === LEAK) return 'What PATH names bwrap is not bubblewrap. Install that, or switch the sandbox off.';
  if (/mount proc|Operation not permitted/i.test(stderr)) {
    return 'In a container, start it so that it may make namespaces and mount /proc; or switch the sandbox off there.';
  }
  if (/uid map|new namespace|Permission denied|No space left/i.test(stderr)) {
    return 'The system forbids user namespaces. Allow them for bwrap (kernel.unprivileged_userns_clone, user.max_user_namespaces, or an AppArmor profile), or switch the sandbox off.';
  }
  return 'Run the same with bwrap by hand to see why, or switch the sandbox off.';
}
