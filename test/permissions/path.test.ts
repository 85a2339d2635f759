import { describe, expect, it } from 'vitest';
import { climbsOut, isInside, isProtected, isWithinRoots } from '../../src/engine/permissions/path.js';

describe('paths', () => {
  it.each([
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/b/c', true],
    ['/a/b', '/a/bc', false],
    ['/a/b', '/a', false],
    ['/a/b', '/a/..b/c', false],
    ['/repo', '/repo/..hidden/c.ts', true],
    ['/repo', '/repo/...', true],
    ['/', '/etc', true],
    ['/a/b', 'b', false],
    ['a', '/a', false],
    ['/a', '/a/\0', false],
  ])('%s holds %j: %s', (root, path, inside) => {
    expect(isInside(root, path)).toBe(inside);
  });

  it.each([
    ['/repo/a', true],
    ['/extra/a', true],
    ['/repo-evil/a', false],
    ['/etc/passwd', false],
  ])('E2 %s is within the roots: %s', (path, within) => {
    expect(isWithinRoots(path, ['/repo', '/extra'])).toBe(within);
  });

  it('E4 a root that holds everything does not open the kernel', () => {
    expect(isWithinRoots('/etc/x', ['/'])).toBe(true);
    expect(isWithinRoots('/proc/self/environ', ['/'])).toBe(false);
    expect(isWithinRoots('/dev/zero', ['/'])).toBe(false);
    expect(isWithinRoots('/dev/shm/x', ['/dev/shm'])).toBe(true);
    expect(isWithinRoots('/a', [])).toBe(false);
  });

  it.each([
    ['**/*.ts', false],
    ['src/**/a..b/*.ts', false],
    ['../**/*.pem', true],
    ['a/../../*', true],
    ['{a,..}/*', true],
    ['{a,/etc}/*', true],
    ['~/x', true],
    ['/repo/src/**', false],
    ['/repo', false],
    ['/etc/*', true],
    ['/rep*/x', true],
    ['/**', true],
  ])('E2 the pattern %s climbs out: %s', (pattern, climbs) => {
    expect(climbsOut(pattern, ['/repo'])).toBe(climbs);
  });

  it.each([
    '/repo/.claude/settings.json',
    '/repo/.claude/settings.local.json',
    '/repo/.claude/hooks/pre.sh',
    '/repo/.claude/agents/a.md',
    '/repo/.Claude/Settings.json',
    '/repo/sub/.claude/settings.json',
    '/repo/.claude/worktrees/x/.claude/settings.json',
    '/repo/.git/hooks/pre-commit',
    '/repo/.git/config',
    '/repo/.git',
    '/repo/.mcp.json',
    '/repo/.envrc',
    '/repo/.husky/pre-commit',
    '/repo/.vscode/tasks.json',
    '/repo/.bashrc',
    '/repo/.zshenv',
    '/repo/.ssh/authorized_keys',
    '/repo/.config/fish/config.fish',
    '/repo/.config/git/config',
    '/repo/managed-settings.json',
    '/repo/managed-settings.d/a.json',
    '/repo/managed-settings.d',
    '/etc/heddle/managed-settings.d/a.json',
    '/etc/claude-code/x',
    '/Library/Application Support/ClaudeCode/x',
    'C:\\Program Files\\ClaudeCode\\x',
    '/etc/gitconfig',
    '/etc/profile.d/x.sh',
    '/repo/foo.git/hooks/pre-commit',
    '/repo/foo.git/config',
    '/repo/.config/systemd/user/a.service',
    '/repo/.\u017fsh/authorized_keys',
    '.claude/settings.json',
  ])('E3 %s is protected, whether or not it exists', (path) => {
    expect(isProtected(path)).toBe(true);
  });

  it.each([
    '/repo/src/a.ts',
    '/repo/.github/workflows/ci.yml',
    '/repo/.gitignore',
    '/repo/claude/settings.json',
    '/repo/settings.json',
    '/repo/git/config',
    '/repo/.config/app.json',
    '/repo/.claude/worktrees/x/src/a.ts',
    '/repo/CLAUDE.md',
    '/repo/foo.git/objects/x',
    '/repo/hooks/pre-commit',
    '/etc/hosts',
    '/repo/etc/heddle/x',
  ])('%s is an ordinary file', (path) => {
    expect(isProtected(path)).toBe(false);
  });

  it.each([
    ['/repo/cfg', true],
    ['/repo/cfg/settings.json', true],
    ['/repo/flags.json', true],
    ['/repo/cfg2/x', false],
    ['/repo', false],
    ['cfg/settings.json', false],
  ])('E3 with settings in cfg and flags.json %s is protected: %s', (path, expected) => {
    expect(isProtected(path, ['/repo/cfg', '/repo/flags.json'])).toBe(expected);
  });
});
