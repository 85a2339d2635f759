/** The package as its users get it: packed by npm, then unpacked into an empty project. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../remove-folder.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));
const modules = join(root, 'node_modules');
const floor = join(root, 'test/package/floor/node_modules');

/** The Node with which the project is built, and the oldest one that its users may have. */
export const NODES = {
  'the current Node': join(modules, 'node/bin/node'),
  'the oldest Node': join(floor, 'node/bin/node'),
} as const;

/** The same for the compiler. */
export const COMPILERS = {
  'TypeScript 7': join(modules, 'typescript/bin/tsc'),
  'TypeScript 5.9': join(floor, 'typescript/bin/tsc'),
} as const;

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. */
export function run(command: string, args: readonly string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const outcome: Outcome = { code: null, stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (outcome.stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (outcome.stderr += chunk));
  return new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...outcome, code }));
  });
}

export interface Packed {
  /** The tarball. */
  file: string;
  /** The paths in it, without the folder `package/`. */
  paths: string[];
  bytes: number;
  unpackedBytes: number;
  remove(): void;
}

/** `npm pack` into a folder of its own. The build must have run: tests never build what other tests are reading. */
export async function pack(): Promise<Packed> {
  if (!existsSync(join(root, 'dist/sdk/index.js'))) throw new Error('There is no dist/: run `npm run build` first.');
  const folder = mkdtempSync(join(tmpdir(), 'heddle-pack-'));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { code, stdout, stderr } = await run('npm', args, { cwd: root, env: process.env });
  if (code !== 0) throw new Error(`npm pack failed:\n${stderr}`);
  const [listed] = JSON.parse(stdout) as {
    filename: string;
    size: number;
    unpackedSize: number;
    files: { path: string }[];
  }[];
  if (listed === undefined) throw new Error(`npm pack told nothing:\n${stdout}`);
  return {
    file: join(folder, listed.filename),
    paths: listed.files.map(({ path }) => path),
    bytes: listed.size,
    unpackedBytes: listed.unpackedSize,
    remove: () => removeFolder(folder),
  };
}

export interface Project {
  folder: string;
  /** Type-checks everything with the settings of its tsconfig.json; `emit` writes JavaScript beside each file. */
  compile(compiler: keyof typeof COMPILERS, mode: 'check' | 'emit'): Promise<Outcome>;
  /** Runs a file of the project, with nothing in the environment that would change what it does. */
  start(node: keyof typeof NODES, file: string, env?: NodeJS.ProcessEnv): Promise<Outcome>;
  remove(): void;
}

/**
 * A project with the programs of one folder, and the package installed under a name. Its dependencies are linked
 * rather than fetched, so that nothing needs the network.
 */
export async function createProject(
  packed: Packed,
  options: { programs: string; installAs: string },
): Promise<Project> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-project-')));
  const at = (...path: string[]): string => join(folder, ...path);
  cpSync(join(root, 'test/package/programs', options.programs), folder, { recursive: true });
  writeFileSync(at('package.json'), JSON.stringify({ private: true, type: 'module' }));
  const installed = at('node_modules', options.installAs);
  mkdirSync(installed, { recursive: true });
  const unpacked = await run('tar', ['-xzf', packed.file, '--strip-components=1', '-C', installed], { cwd: folder });
  if (unpacked.code !== 0) throw new Error(`tar failed:\n${unpacked.stderr}`);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) link(join(modules, name), at('node_modules', name));
  if (existsSync(at('zod3'))) link(join(floor, 'zod'), at('zod3/node_modules/zod'));

  return {
    folder,
    compile: (compiler, mode) =>
      run(NODES['the current Node'], [COMPILERS[compiler], '-p', folder, ...(mode === 'check' ? ['--noEmit'] : [])], {
        cwd: folder,
      }),
    start: (node, file, env = {}) =>
      run(NODES[node], [at(file)], {
        cwd: mkdtempSync(at('run-')),
        env: { PATH: process.env.PATH, HOME: folder, HEDDLE_CONFIG_DIR: mkdtempSync(at('config-')), ...env },
      }),
    remove: () => removeFolder(folder),
  };
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}
