/** Which servers of a project someone has approved: each by its name and by what it says, so that a changed one asks again. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../../protocol/index.js';
import { findMainTree, realPathOf } from '../../settings/files.js';
import { readText } from '../../settings/read.js';
import { isTable } from '../../settings/table.js';

/** A server of a project, as approval knows it. */
export interface ProjectServer {
  /** The folder of the project. */
  root: string;
  name: string;
  /** Of the entry as it is written. */
  hash: string;
}

/** `changed`: something else by this name was approved or rejected before. */
export type ApprovalState = 'approved' | 'rejected' | 'changed' | undefined;

export interface McpApprovals {
  /** A record that cannot be read approves nothing. */
  stateOf(server: ProjectServer): Promise<ApprovalState>;
  approve(server: ProjectServer): Promise<void>;
  reject(server: ProjectServer): Promise<void>;
  /** Takes back what was said of this name, whatever it said. */
  forget(server: Pick<ProjectServer, 'root' | 'name'>): Promise<void>;
}

const FILE = 'mcp-approvals.json';

/** Kept in the user's folder, where a project cannot write. A worktree of git has the approvals of its main tree. */
export function createMcpApprovals({ configDir, clock }: { configDir: string; clock?: Clock }): McpApprovals {
  const file = join(configDir, FILE);
  const set = async ({ root, name }: Pick<ProjectServer, 'root' | 'name'>, value: unknown): Promise<void> => {
    const { editSettings } = await import('../../settings/edit.js');
    const path = ['projects', keyOf(root), name];
    await editSettings(file, () => [{ path, value }], clock && { clock });
  };
  return {
    async stateOf({ root, name, hash }) {
      const entry = await readEntry(file, keyOf(root), name);
      if (!isTable(entry)) return undefined;
      if (entry.hash !== hash) return 'changed';
      return entry.decision === 'approved' || entry.decision === 'rejected' ? entry.decision : undefined;
    },
    approve: ({ hash, ...server }) => set(server, { hash, decision: 'approved' }),
    reject: ({ hash, ...server }) => set(server, { hash, decision: 'rejected' }),
    forget: (server) => set(server, undefined),
  };
}

/** The hash of an entry as it is written: the order of its keys does not count, everything else does. */
export const hashEntry = (name: string, written: unknown): string =>
  createHash('sha256')
    .update(canonical([name, written]))
    .digest('hex');

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isTable(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}

const keyOf = (root: string): string => realPathOf(findMainTree(realPathOf(root)) ?? root);

async function readEntry(file: string, root: string, name: string): Promise<unknown> {
  const read = await readText(file);
  if ('fault' in read || read.text === undefined) return undefined;
  const record = parse(read.text);
  const projects = isTable(record) && isTable(record.projects) ? record.projects : {};
  const project = Object.hasOwn(projects, root) ? projects[root] : undefined;
  return isTable(project) && Object.hasOwn(project, name) ? project[name] : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
