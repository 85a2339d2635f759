/** Folders, a sandbox and real processes for the tests of this folder. */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/protocol/plain.js';
import type { ProcessExit, ProcessSpec, SandboxSettings } from '../../src/protocol/index.js';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/engine/sandbox/sandbox.js';
import { createLocalWorkspace, type LocalWorkspace } from '../../src/engine/workspace/local.js';
import { removeFolder } from '../remove-folder.js';

const searchPath = process.env.PATH ?? '';

const works = (program: string, ...args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Installed, and allowed to do its work. */
export const hasBubblewrap =
  works('socat', '-V') &&
  works('bwrap', '--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--unshare-net', 'true');

export const skipNote = hasBubblewrap ? '' : ' (bubblewrap or socat is not installed or does not work here: skipped)';

/** A line of a script that stands for bubblewrap: it lies about its namespaces, which no one could find out. */
export const LIE = "printf '%s\\n' 'mnt:[1]' 'pid:[1]' 'net:[1]' 'ipc:[1]' 'uts:[1]'";

export interface Run extends ProcessExit {
  text: string;
}

export interface Box {
  /** Holds all the others. Not in /tmp, so that commands see it. */
  readonly folder: string;
  readonly root: string;
  readonly home: string;
  readonly configDir: string;
  readonly env: Record<string, string>;
  readonly workspace: LocalWorkspace;
  /** Closed with the box. */
  open(settings?: SandboxSettings, options?: Partial<SandboxOptions>): Promise<Sandbox>;
  /** Runs a shell line in the sandbox; in its working directory unless told otherwise. */
  run(sandbox: Sandbox, line: string, options?: Partial<ProcessSpec> & { roots?: readonly string[] }): Promise<Run>;
  close(): Promise<void>;
}

export async function createBox(parent = '/var/tmp'): Promise<Box> {
  const folder = await realpath(await mkdtemp(join(parent, 'heddle-box-')));
  const [root, home] = [join(folder, 'project'), join(folder, 'home')] as const;
  const configDir = join(home, '.claude');
  for (const each of [root, configDir]) await mkdir(each, { recursive: true });
  const env = { PATH: searchPath, HOME: home };
  const workspace = createLocalWorkspace({ clock: systemClock });
  const opened: Sandbox[] = [];
  return {
    folder,
    root,
    home,
    configDir,
    env,
    workspace,
    async open(settings = {}, options = {}) {
      const sandbox = await createSandbox(
        { enabled: true, ...settings },
        { roots: [root], home, configDir, env, clock: systemClock, ...options },
      );
      opened.push(sandbox);
      return sandbox;
    },
    async run(sandbox, line, { roots, ...options } = {}) {
      const spec = { argv: ['bash', '-c', line] as const, cwd: root, env, ...options };
      const wrapped = await sandbox.wrap({ ...spec, ...(roots && { roots }) });
      let text = '';
      try {
        const exit = await workspace.run({
          signal: new AbortController().signal,
          onOutput: (chunk) => {
            text += Buffer.from(chunk).toString();
          },
          ...spec,
          argv: wrapped.argv,
          env: wrapped.env,
        });
        return { ...exit, text };
      } finally {
        await wrapped.release();
      }
    },
    async close() {
      for (const sandbox of opened) await sandbox.close();
      await workspace.close();
      removeFolder(folder);
    },
  };
}
