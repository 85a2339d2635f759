import { dirname, isAbsolute, relative, sep } from 'node:path';

/** True when `path` is `root` or lies below it. Both absolute and normalised; nothing else is inside anything. */
export function isInside(root: string, path: string): boolean {
  if (!isAbsolute(root) || !isAbsolute(path) || path.includes('\0')) return false;
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

// Windows into the kernel and into other processes (environments, devices), not files of a project.
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** True when the path lies in one of the roots. A root such as `/` does not cover the kernel's own folders. */
export function isWithinRoots(path: string, roots: readonly string[]): boolean {
  const kernel = KERNEL_FOLDERS.find((folder) => isInside(folder, path));
  return roots.some((root) => isInside(root, path) && (kernel === undefined || isInside(kernel, root)));
}

/** True when a glob pattern can match outside the roots, whatever folder it starts from. */
export function climbsOut(pattern: string, roots: readonly string[]): boolean {
  if (pattern.startsWith('~') || /(?:^|[\\/{,(|])\.\.(?:$|[\\/},)|])/.test(pattern)) return true;
  if (!isAbsolute(pattern)) return /[{,(|]\//.test(pattern);
  const literal = /^[^*?[{(!]*/.exec(pattern)?.[0] ?? '';
  return !isWithinRoots(literal === pattern ? literal : dirname(`${literal}x`), roots);
}

const PROTECTED_NAMES = new Set([
  '.mcp.json',
  '.claude.json',
  'managed-settings.json',
  'managed-mcp.json',
  '.envrc',
  '.gitconfig',
  '.gitmodules',
  '.ripgreprc',
  '.npmrc',
  '.netrc',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.logout',
  '.inputrc',
]);

// Everything below these is protected too: settings, hooks, agents, repository config, editor tasks, keys.
const PROTECTED_FOLDERS = new Set(['.claude', '.git', '.husky', '.vscode', '.idea', '.ssh']);
const PROTECTED_CONFIG = new Set(['git', 'fish']);

/**
 * True for files that decide what runs unasked: settings, hooks, policies, shell start-up files. Judged by name alone,
 * so that it holds before they exist; letter case does not matter because on some disks it does not.
 */
export function isProtected(path: string): boolean {
  const parts = path.toLowerCase().split(/[\\/]+/);
  return parts.some((part, at) => {
    const next = parts[at + 1] ?? '';
    // A worktree is a project of its own, wherever it is kept.
    if (part === '.claude' && next === 'worktrees' && parts.length > at + 3) return false;
    if (part === '.config' && PROTECTED_CONFIG.has(next)) return true;
    return PROTECTED_FOLDERS.has(part) || PROTECTED_NAMES.has(part);
  });
}
