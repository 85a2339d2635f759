import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SourceFile } from './imports.js';

export const root = fileURLToPath(new URL('../../', import.meta.url));

const NOT_OURS = new Set(['node_modules', 'dist', 'coverage', '.git', '.DS_Store']);
/** Of the hidden files only those that are committed. */
const HIDDEN = new Set(['.ci', '.github', '.gitignore', '.npmrc', '.oxlintrc.json']);

/** Every text file of the repository. */
export function readTree(): SourceFile[] {
  return walk('').flatMap((path) => {
    const bytes = readFileSync(join(root, path));
    return bytes.subarray(0, 8192).includes(0) ? [] : [{ path, text: bytes.toString('utf8') }];
  });
}

function walk(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name) || entry.name.endsWith('.log')) return [];
    if (entry.name.startsWith('.') && !HIDDEN.has(entry.name) && !folder.startsWith('test/')) return [];
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}

export const exists = (path: string): boolean => existsSync(join(root, path));
