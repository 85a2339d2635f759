/** Runs ripgrep for the tools that search. */
import type { ToolContext } from '../../protocol/index.js';

const TIMEOUT_MS = 60_000;
const MAX_ERROR_TEXT = 4_000;
const MAX_STATS_AT_ONCE = 32;

export interface Search {
  folder: string;
  args: readonly string[];
  /** What ends each record. */
  separator: '\0' | '\n';
  /** Called for each record. False ends the search. */
  onRecord(record: string): boolean;
}

export interface SearchEnd {
  /** False when time ran out, or a record ended the search. */
  complete: boolean;
  timedOut: boolean;
}

/**
 * .gitignore counts also where there is no repository, so that a folder means the same with and without `.git`;
 * hidden files are searched, repositories' own files are not. The user's ripgrep settings are not ours.
 */
const COMMON_ARGS = ['--no-config', '--no-messages', '--color=never', '--hidden', '--no-require-git', '--glob=!.git'];

/** Throws the words of ripgrep when it cannot search at all (bad pattern, unknown type). */
export async function runSearch(context: ToolContext, search: Search): Promise<SearchEnd> {
  const program = await context.workspace.ripgrep();
  const stop = new AbortController();
  const decoder = new TextDecoder();
  let rest = '';
  let enough = false;
  let problem = '';

  const exit = await context.workspace.run({
    argv: [program, ...COMMON_ARGS, ...search.args],
    cwd: search.folder,
    env: context.env,
    signal: AbortSignal.any([context.signal, stop.signal]),
    timeoutMs: TIMEOUT_MS,
    onOutput(chunk, stream) {
      if (enough) return;
      if (stream === 'stderr') {
        if (problem.length < MAX_ERROR_TEXT) problem += new TextDecoder().decode(chunk);
        return;
      }
      const records = (rest + decoder.decode(chunk, { stream: true })).split(search.separator);
      rest = records.pop() ?? '';
      enough = records.some((record) => !search.onRecord(record));
      if (enough) stop.abort();
    },
  });
  if (context.signal.aborted) throw new Error('The search was interrupted.');
  // 1 means no match. With 2 and no words only some files could not be read.
  if (!enough && !exit.timedOut && exit.code !== 0 && exit.code !== 1 && problem !== '') {
    throw new Error(problem.replace(/^rg: /, '').trimEnd());
  }
  if (rest !== '' && !enough) search.onRecord(rest);
  return { complete: !enough && !exit.timedOut, timedOut: exit.timedOut };
}

/** Newest first, equals by name. Paths that are gone come last. */
export async function sortByAge(context: ToolContext, paths: readonly string[]): Promise<string[]> {
  const times = new Map<string, number>();
  for (let i = 0; i < paths.length; i += MAX_STATS_AT_ONCE) {
    await Promise.all(
      paths.slice(i, i + MAX_STATS_AT_ONCE).map(async (path) => {
        const stat = await context.workspace.stat(path).catch(() => undefined);
        times.set(path, stat?.mtimeMs ?? 0);
      }),
    );
  }
  return paths.toSorted((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0) || (a < b ? -1 : 1));
}
