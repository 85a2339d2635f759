/** A project, a config folder and checkpoints over them, with calls as a session makes them. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CheckpointParts, type Checkpoints, createCheckpoints } from '../../src/engine/checkpoints/checkpoints.js';
import { createBashTool } from '../../src/engine/tools/bash.js';
import { toChange } from '../../src/engine/tools/pipeline.js';
import type { Entry, FileEntry } from '../../src/engine/sessions/entry.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import type { ToolContext } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

export const PROMPTS = ['p0', 'p1', 'p2', 'p3', 'p4'] as const;

export interface Bench {
  folder: string;
  config: string;
  session: string;
  /** The log, as JSON would bring it back. */
  entries: Entry[];
  warnings: string[];
  checkpoints: Checkpoints;
  path(...names: string[]): string;
  put(name: string, content: string | Uint8Array): string;
  text(name: string): string;
  /** Every file of the project with its content and mode, links as links, empty folders too. */
  tree(): Record<string, string>;
  /** As a file tool does it. */
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** As the tool Bash does it, with what is known of the line. */
  shell(line: string): Promise<void>;
  git(...args: string[]): string;
  /** A turn with calls in it. */
  turn(uuid: string, act: () => Promise<unknown>): ReturnType<Checkpoints['end']>;
  /** As a new process that resumes the log does it. */
  resume(parts?: Partial<CheckpointParts>): Checkpoints;
  notes(): FileEntry[];
  snapshots(): string[];
  close(): Promise<void>;
}

export function createBench(given: Partial<CheckpointParts> = {}): Bench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-rewind-')));
  const config = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-config-')));
  const workspace = createLocalWorkspace({ clock: systemClock });
  const env = { PATH: process.env.PATH ?? '', HOME: config };
  // Nothing of it runs, so that it needs no more parts.
  const bash = createBashTool({ env } as unknown as Parameters<typeof createBashTool>[0]);
  let calls = 0;

  const open = (parts: Partial<CheckpointParts> = {}): Checkpoints =>
    createCheckpoints({
      folder: bench.session,
      configDir: dirname(dirname(bench.session)),
      workspace,
      clock: systemClock,
      logger: (level, text, data) => {
        if (level === 'warn') bench.warnings.push(`${text}: ${JSON.stringify(data)}`);
      },
      roots: () => [folder],
      cwd: folder,
      childEnv: env,
      entries: [...bench.entries],
      note: (fields) => bench.entries.push(JSON.parse(JSON.stringify(stamp(fields)))),
      log: { position: () => ({ entries: bench.entries.length, leaf: 'leaf' }) },
      permissionState: () => ({ mode: 'default' }),
      background: () => false,
      ...given,
      ...parts,
    });

  const bench: Bench = {
    folder,
    config,
    session: join(config, 'sessions', 'one'),
    entries: [],
    warnings: [],
    get checkpoints() {
      return current;
    },
    path: (...names) => join(folder, ...names),
    put(name, content) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    text: (name) => readFileSync(join(folder, name), 'utf8'),
    tree: () => readTree(folder),
    async write(name, content) {
      const path = join(folder, name);
      const call = { toolUseId: `call-${++calls}`, tool: 'Write', edits: true, writes: [path], shell: false };
      await current.beforeCall(call);
      await workspace.writeFile(path, Buffer.from(content), { exact: true });
      await current.afterCall(call);
    },
    async shell(line) {
      const input = await bash.parse({ command: line });
      const judgedPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
      const context = { toolUseId: `call-${++calls}`, cwd: folder, judgedPath } as ToolContext;
      const call = toChange(bash, { ...input }, context);
      await current.beforeCall(call);
      execFileSync('bash', ['-ec', line], { cwd: folder, env: { ...env, ...GIT_USER }, stdio: 'pipe' });
      await current.afterCall(call);
    },
    git: (...args) =>
      execFileSync('git', args, { cwd: folder, env: { ...env, ...GIT_USER }, encoding: 'utf8', stdio: 'pipe' }),
    async turn(uuid, act) {
      bench.entries.push(stamp({ kind: 'turn', state: 'started', promptUuid: uuid }) as Entry);
      current.begin(uuid);
      await act();
      return current.end();
    },
    resume(parts) {
      bench.entries.push(stamp({ kind: 'session', format: 2, heddleVersion: '0', resumed: true }) as Entry);
      current = open(parts);
      return current;
    },
    notes: () => bench.entries.filter((entry): entry is FileEntry => entry.type === 'heddle' && entry.kind === 'file'),
    snapshots: () => {
      const kept = join(bench.session, 'file-snapshots');
      return existsSync(kept) ? readdirSync(kept) : [];
    },
    async close() {
      await workspace.close();
      removeFolder(folder);
      removeFolder(config);
    },
  };
  let current = open();
  return bench;
}

const GIT_USER = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_CONFIG_NOSYSTEM: '1',
};

const stamp = (fields: object): object => ({
  type: 'heddle',
  sessionId: 'one',
  timestamp: '2026-01-01T00:00:00.000Z',
  ...fields,
});

function readTree(folder: string, prefix = ''): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder).toSorted()) {
    const path = join(folder, name);
    const shown = prefix + name;
    if (name === '.git') continue;
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) tree[shown] = 'link';
    else if (stats.isDirectory()) {
      const below = readTree(path, `${shown}/`);
      Object.assign(tree, Object.keys(below).length > 0 ? below : { [`${shown}/`]: 'empty' });
    } else tree[shown] = `${(stats.mode & 0o777).toString(8)} ${readFileSync(path, 'latin1')}`;
  }
  return tree;
}
