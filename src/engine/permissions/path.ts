import { dirname, isAbsolute, relative, sep } from 'node:path';

/** True when `path` is `root` or lies below it. Both absolute and normalised; nothing else is inside anything. */
export function isInside(root: string, path: string): boolean {
  if (!isAbsolute(root) || !isAbsolute(path) || path.includes('\0')) return false;
  // Most paths hold nothing that would have to be taken out first.
  if (sep === '/' && !UNTIDY.test(root) && !UNTIDY.test(path)) return path === root || path.startsWith(`${root}/`);
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

const UNTIDY = /\/\.{0,2}(?:\/|$)/;

// Windows into the kernel and into other processes (environments, devices), not files of a project.
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

/** Never opened by a rule that names no path. */
export const isKernelPath = (path: string): boolean => /^\/(?:proc|sys|dev)(?:\/|$)/.test(path);

/** True when the path lies in one of the roots. A root such as `/` does not cover the kernel's own folders. */
export function isWithinRoots(path: string, roots: readonly string[]): boolean {
  const kernel = /proc|sys|dev/.test(path) ? KERNEL_FOLDERS.find((folder) => isInside(folder, path)) : undefined;
  return roots.some((root) => isInside(root, path) && (kernel === undefined || isInside(kernel, root)));
}

/** True when a glob pattern can match outside the roots, whatever folder it starts from. */
export function climbsOut(pattern: string, roots: readonly string[]): boolean {
  if (pattern.startsWith('~') || /(?:^|[\\/{,(|])\.\.(?:$|[\\/},)|])/.test(pattern)) return true;
  if (!isAbsolute(pattern)) return /[{,(|]\//.test(pattern);
  const literal = /^[^*?[{(!]*/.exec(pattern)?.[0] ?? '';
  return !isWithinRoots(literal === pattern ? literal : dirname(`${literal}x`), roots);
}

/** Files that are protected in any folder. */
export const PROTECTED_NAMES: ReadonlySet<string> = new Set([
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
  '.bash_env',
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
  '.direnvrc',
  '.pam_environment',
  '.xinitrc',
  '.xprofile',
  '.xsessionrc',
  '.hgrc',
  '.vimrc',
  '.exrc',
]);

// Everything below these is protected too: settings, hooks, agents, policy, repository config, editor tasks, keys.
export const PROTECTED_FOLDERS: ReadonlySet<string> = new Set([
  '.claude',
  'managed-settings.d',
  '.git',
  '.husky',
  '.vscode',
  '.idea',
  '.ssh',
]);
const PROTECTED_CONFIG = new Set(['git', 'fish', 'direnv', 'autostart', 'systemd', 'environment.d']);

/** Policy, and what every shell and git of a machine reads. */
const SYSTEM_PLACES =
  /^(?:\/private)?\/etc\/(?:heddle|claude-code|gitconfig|profile|profile\.d|bash\.bashrc|bashrc|zsh|zshenv|zshrc|zprofile|environment)(?:\/|$)|^(?:[a-z]:)?\/(?:library\/application support|program files)\/(?:heddle|claudecode)(?:\/|$)/;

/** A bare repository has its hooks and its configuration in a folder of any name. */
const REPOSITORY_PARTS = new Set(['hooks', 'config', 'config.worktree', 'commondir']);

/** The one file without which a folder is no repository to git; with it the folder's configuration may run programs. */
export const makesRepository = (path: string): boolean => /(?:^|[\\/])head$/.test(foldNames(path));

/** Names that are protected wherever they stand. */
export const PROTECTED: readonly string[] = [...PROTECTED_FOLDERS, ...PROTECTED_NAMES];

/** Letter case does not matter, nor other forms of a letter, because on some disks they do not. */
export const foldNames = (path: string): string => path.normalize('NFKC').toLowerCase();

/**
 * True for files that decide what runs unasked: settings, hooks, policies, shell start-up files. Judged by name alone,
 * so that it holds before they exist. `own` are those of the session, which may be called anything.
 */
export function isProtected(path: string, own: readonly string[] = []): boolean {
  if (own.some((place) => isInside(place, path))) return true;
  const folded = foldNames(path);
  if (SYSTEM_PLACES.test(folded.replaceAll('\\', '/'))) return true;
  const parts = folded.split(/[\\/]+/);
  return parts.some((part, at) => {
    const next = parts[at + 1] ?? '';
    // A worktree is a project of its own, wherever it is kept.
    if (part === '.claude' && next === 'worktrees' && parts.length > at + 3) return false;
    if (part === '.config' && PROTECTED_CONFIG.has(next)) return true;
    if (part.endsWith('.git') && REPOSITORY_PARTS.has(next)) return true;
    return PROTECTED_FOLDERS.has(part) || PROTECTED_NAMES.has(part);
  });
}
