/** Real servers, and links to them, for the tests of this folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectRemote, type RemoteParts, type RemoteServerConfig } from '../../../src/engine/mcp/remote/connect.js';
import type { McpLink } from '../../../src/engine/mcp/link.js';
import { build } from 'esbuild';
import { createLocalWorkspace, type LocalWorkspace } from '../../../src/engine/workspace/local.js';
import { systemClock } from '../../../src/protocol/plain.js';

const require = createRequire(import.meta.url);

const programOf = (name: string): string =>
  join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js');

export const EVERYTHING = programOf('server-everything');
export const FILESYSTEM = programOf('server-filesystem');
export const MEMORY = programOf('server-memory');

/** Serves whatever a test wants to suffer from: see the file. */
export const HOSTILE = join(import.meta.dirname, 'servers/hostile.js');

export const node = (program: string, ...args: string[]): RemoteServerConfig => ({
  command: process.execPath,
  args: [program, ...args],
});

export interface Note {
  level: string;
  text: string;
  data?: Record<string, unknown>;
}

export interface Bench {
  readonly notes: Note[];
  readonly workspace: LocalWorkspace;
  connect(config: RemoteServerConfig, parts?: Partial<RemoteParts>): Promise<McpLink>;
  /** Starts a server that listens, and gives what it prints until the pattern matches. */
  listen(args: string[], ready: RegExp, env?: Record<string, string>): Promise<RegExpExecArray>;
  close(): Promise<void>;
}

export const env = { PATH: process.env.PATH ?? '', HOME: tmpdir() };

export function createBench(): Bench {
  const notes: Note[] = [];
  const links: McpLink[] = [];
  const children: ChildProcess[] = [];
  const workspace = createLocalWorkspace({ clock: systemClock });
  return {
    notes,
    workspace,
    async connect(config, parts = {}) {
      const link = await connectRemote('box', config, {
        clock: systemClock,
        logger: (level, text, data) => void notes.push({ level, text, ...(data && { data }) }),
        workspace,
        env,
        cwd: tmpdir(),
        requests: {},
        signal: new AbortController().signal,
        ...parts,
      });
      links.push(link);
      return link;
    },
    listen(args, ready, extra = {}) {
      const child = spawn(process.execPath, args, { env: { ...env, ...extra }, stdio: ['ignore', 'pipe', 'pipe'] });
      children.push(child);
      return new Promise((resolve, reject) => {
        let text = '';
        const look = (chunk: Buffer): void => {
          text += chunk.toString();
          const match = ready.exec(text);
          if (match !== null) resolve(match);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}: ${text}`)));
      });
    },
    async close() {
      await Promise.all(links.splice(0).map((link) => link.close()));
      for (const child of children.splice(0)) child.kill('SIGKILL');
      await workspace.close();
    },
  };
}

export const quiet = new AbortController().signal;

/** Options of a call that nobody disturbs. */
export const calmly = { toolUseId: 'toolu_1', signal: quiet };

/** A program of this folder in one file of that one, as the arguments of Node. */
export async function bundle(name: string, folder: string): Promise<string[]> {
  const outfile = join(folder, name.replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [join(import.meta.dirname, name)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
  });
  // Packages are found from here, though the bundle is elsewhere.
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (specifier, context, next) => next(specifier,
      context.parentURL?.endsWith('.mjs') && !context.parentURL.includes('node_modules')
        ? { ...context, parentURL: ${JSON.stringify(import.meta.url)} } : context) });`;
  return ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, outfile];
}

/** What the promise rejects with. */
export const failureOf = (
  promise: Promise<unknown>,
): Promise<Error & { code?: string; data?: Record<string, unknown> }> =>
  promise.then(
    () => {
      throw new Error('It did not fail.');
    },
    (error: Error) => error,
  );

export const textOf = (result: { content?: readonly { type: string; text?: unknown }[] }): string =>
  (result.content ?? []).map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
