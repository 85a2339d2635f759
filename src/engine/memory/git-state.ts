/**
 * What the first message says of git. The branch is read from files and costs nothing; what git itself must be asked for
 * (10 to 40 ms and up to 300 tokens, once) is asked only in a folder that somebody vouches for: git runs what its
 * config names.
 */
import { dirname, join, resolve } from 'node:path';
import type { Settings, Workspace } from '../../protocol/index.js';

export interface GitState {
  /** Undefined on a detached HEAD. */
  branch?: string;
  /** As `git status --short` has them; absent when git was not asked or did not answer in time. */
  changes?: { lines: string[]; total: number; isComplete: boolean };
  /** `1a2b3c4 Subject`, the newest first. */
  commits?: string[];
}

export interface GitStateParts {
  cwd: string;
  /** Repositories above it are not looked for. */
  projectRoot: string;
  workspace: Workspace;
  /** Of child processes. */
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Somebody vouches for the folder, and wants more than the branch. */
  mayRun: boolean;
}

const MAX_COMMITS = 5;
const MAX_CHANGES = 10;
const MAX_LINE = 80;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** A repository for which this is not enough is told of by its branch alone. */
const TIMEOUT_MS = 1_000;
const MAX_POINTER_BYTES = 4_096;

/** Undefined where there is no repository. Never rejects. */
export async function readGitState(parts: GitStateParts): Promise<GitState | undefined> {
  const head = await readHead(parts);
  if (head === undefined) return undefined;
  const branch = /^ref: refs\/heads\/([\w./-]{1,200})$/.exec(head)?.[1];
  const state: GitState = branch === undefined ? {} : { branch };
  if (!parts.mayRun) return state;
  const [changes, commits] = await Promise.all([readChanges(parts), readCommits(parts)]);
  return { ...state, ...(changes && { changes }), ...(commits && { commits }) };
}

/** In one line, for what comes after `Git:`. */
export function describeGitState(state: GitState | undefined): string {
  if (state === undefined) return 'not a repository';
  const { branch, changes, commits = [] } = state;
  const parts = [branch === undefined ? 'on a detached HEAD' : `on branch ${branch}`];
  if (changes !== undefined) parts.push(describeChanges(changes));
  if (commits.length > 0) parts.push(`last commits: ${commits.join(' | ')}`);
  return parts.join('; ');
}

function describeChanges({ lines, total, isComplete }: NonNullable<GitState['changes']>): string {
  if (total === 0) return 'nothing changed';
  const rest = total - lines.length;
  const more = rest === 0 ? '' : ` and ${isComplete ? '' : 'at least '}${rest} more`;
  return `changed: ${lines.join(', ')}${more}`;
}

/** Switched off by the setting `includeGitInstructions` or the variable that other programs of this kind know. */
export function wantsGitState(
  settings: Pick<Settings, 'includeGitInstructions'>,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const off = env.CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS ?? '';
  return settings.includeGitInstructions !== false && ['', '0', 'false'].includes(off.toLowerCase());
}

/** A worktree has a file in the place of the folder, which says where its HEAD is. */
async function readHead({ cwd, projectRoot, workspace }: GitStateParts): Promise<string | undefined> {
  const read = async (path: string): Promise<string | undefined> => {
    const bytes = await workspace.readFile(path, { maxBytes: MAX_POINTER_BYTES }).catch(() => undefined);
    return bytes && new TextDecoder().decode(bytes).trim();
  };
  for (let folder = cwd; ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    const head = await read(join(git, 'HEAD'));
    if (head !== undefined) return head;
    const gitDir = /^gitdir: (.+)$/m.exec((await read(git)) ?? '')?.[1];
    if (gitDir !== undefined) return read(join(resolve(folder, gitDir.trim()), 'HEAD'));
    if (folder === projectRoot || folder === dirname(folder)) return undefined;
  }
}

async function readChanges(parts: GitStateParts): Promise<GitState['changes']> {
  const output = await askGit(
    ['status', '--short', '--no-branch', '--untracked-files=normal', '--ignore-submodules=all'],
    parts,
  );
  if (output === undefined) return undefined;
  const lines = toLines(output.text);
  // The last line may be half a line.
  const total = output.isComplete ? lines.length : Math.max(0, lines.length - 1);
  return { lines: lines.slice(0, Math.min(MAX_CHANGES, total)), total, isComplete: output.isComplete };
}

async function readCommits(parts: GitStateParts): Promise<string[] | undefined> {
  const output = await askGit(['log', `-${MAX_COMMITS}`, '--no-show-signature', '--format=%h %s'], parts);
  return output && toLines(output.text).slice(0, MAX_COMMITS);
}

const toLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [toVisible(line)]));

/** Names and subjects are texts of others: one line, no control characters, no tags. */
function toVisible(line: string): string {
  const plain = line
    .trim()
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll('<', '&lt;')
    .toWellFormed();
  return plain.length <= MAX_LINE ? plain : `${plain.slice(0, MAX_LINE).toWellFormed()}...`;
}

/** Without monitors, prompts, locks and colours. Undefined when it fails or takes too long. */
async function askGit(
  args: readonly string[],
  { cwd, workspace, env, signal }: GitStateParts,
): Promise<{ text: string; isComplete: boolean } | undefined> {
  const enough = new AbortController();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const settings = ['core.fsmonitor=false', 'color.ui=false', 'core.quotePath=true', 'core.hooksPath=/dev/null'];
  const exit = await workspace
    .run({
      argv: ['git', '--no-optional-locks', '--no-pager', ...settings.flatMap((setting) => ['-c', setting]), ...args],
      cwd,
      env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C' },
      signal: AbortSignal.any([signal, enough.signal]),
      timeoutMs: TIMEOUT_MS,
      onOutput(chunk, stream) {
        if (stream !== 'stdout' || size > MAX_OUTPUT_BYTES) return;
        chunks.push(Uint8Array.from(chunk));
        size += chunk.length;
        if (size > MAX_OUTPUT_BYTES) enough.abort();
      },
    })
    .catch(() => undefined);
  const isComplete = !enough.signal.aborted;
  if (exit === undefined || (isComplete && exit.code !== 0)) return undefined;
  return { text: Buffer.concat(chunks).toString(), isComplete };
}
