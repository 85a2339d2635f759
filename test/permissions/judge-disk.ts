/** Judges lines on a real disk, as a session does: with links resolved, and with what rules may be about looked for. */
import { readFile } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import { decidePermission, type JudgedAccess, type PermissionPolicy } from '../../src/engine/permissions/decide.js';
import { findSeen } from '../../src/engine/permissions/disk-look.js';
import { findLinked } from '../../src/engine/permissions/links.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import type { Decision } from '../../src/engine/permissions/policy.js';
import { lookupsOf } from '../../src/engine/permissions/seek.js';
import { listFolder, resolveReal } from '../../src/engine/workspace/files.js';

export interface DiskRules extends Partial<Pick<PermissionPolicy, 'mode' | 'trusted' | 'roots'>> {
  allow?: string[];
  ask?: string[];
  deny?: string[];
  /** Where the line runs; the project itself when absent. */
  cwd?: string;
  /** No index of git can be read. */
  isBlind?: boolean;
  list?: typeof listFolder;
}

function kindOf(path: string): 'file' | 'directory' | 'other' | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && (stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : 'other');
}

export async function judgeOnDisk(command: string, project: string, rules: DiskRules = {}): Promise<Decision> {
  const { allow = [], ask = [], deny = [], cwd = project, isBlind = false, list = listFolder, ...more } = rules;
  const home = '/nonexistent';
  const accesses: JudgedAccess[] = commandAccesses(command, cwd, home).map(({ path, access }) => {
    const kind = kindOf(path);
    return { path: resolveReal(path), given: path, access, ...(kind && { kind }) };
  });
  const disk = {
    list,
    realPath: async (path: string) => resolveReal(path),
    ...(!isBlind && { readFile: (path: string) => readFile(path) }),
  };
  for (const { path, real, matches } of await findLinked(command, { cwd, home }, disk)) {
    accesses.push({ path: real, given: path, access: 'read', matches });
  }
  const links = new Map([[project, resolveReal(project)]]);
  const book = compileRules([{ name: 'user', base: project, allow, ask, deny }], { home, links });
  const policy = { mode: 'default', book, roots: [project], home, cwd, trusted: true, ...more } as const;
  const call = { tool: 'Bash', input: { command }, readOnly: false, edits: false, accesses, command, knowsLinks: true };
  const seen = await findSeen(lookupsOf(call, policy), policy.roots, disk);
  return decidePermission({ ...call, seen }, policy);
}
