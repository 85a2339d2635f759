/** Where protected names lead: what a hook, a start-up file or a folder of settings is a link to is obeyed under any name. */
import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isProtected } from './path.js';

/** `.claude/skills/name/SKILL.md`, `.git/hooks/pre-commit`. */
const MAX_DEPTH = 4;
/** Of these programs obey nothing, and there may be very many. */
const PASSED_OVER =
  /\/\.git\/(?!hooks(?:$|\/)|config)|\/\.claude\/(?:projects|worktrees|todos|plugins)$|\/\.vscode\/extensions$|\/node_modules$/;

/** The links among the protected names of folders and what these hold, as they are called. */
export function linksIn(folders: readonly string[]): string[] {
  const links: string[] = [];
  for (const folder of new Set(folders)) look(folder, '', links);
  return links;
}

function look(folder: string, below: string, links: string[]): void {
  for (const entry of entriesOf(join(folder, below))) {
    const path = `${below}/${entry.name}`;
    const isObeyed = isProtected(path);
    if ((!isObeyed && path !== '/.config') || PASSED_OVER.test(path)) continue;
    const isLink = entry.isSymbolicLink();
    if (isLink && isObeyed) links.push(join(folder, path));
    if ((isLink || entry.isDirectory()) && path.split('/').length <= MAX_DEPTH) look(folder, path, links);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
