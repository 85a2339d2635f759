/** Runs ripgrep for the tools that search. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolContext } from '../../protocol/index.js';

const TIMEOUT_MS = 60_000;
const MAX_ERROR_TEXT = 4_000;
const MAX_STATS_AT_ONCE = 512;

export interface Search {
  folder: string;
  args: readonly string[];
  /** What ends each record. */
  separator: '\0' | '\n';
  /** Called for each record. False ends the search. */
  onRecord(record: string): boolean;
  /**
   * Where permission found the folder, or the one file, to be: a link that was put in the way since must not lead
   * elsewhere. It is looked at before and after; who swaps it there and back in between is not noticed.
   */
  judged?: string;
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

  await checkPlace(context, search);
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
  await checkPlace(context, search);
  // 1 means no match. With 2 and no words only some files could not be read.
  if (!enough && !exit.timedOut && exit.code !== 0 && exit.code !== 1 && problem !== '') {
    throw new Error(problem.replace(/^rg: /, '').trimEnd());
  }
  if (rest !== '' && !enough) search.onRecord(rest);
  return { complete: !enough && !exit.timedOut, timedOut: exit.timedOut };
}

async function checkPlace({ workspace }: ToolContext, { judged }: Search): Promise<void> {
  if (judged === undefined || (await workspace.realPath(judged)) === judged) return;
  throw new Error(`${judged} is reached through a link that appeared since it was checked; nothing was searched.`);
}

/** The names of files in a folder, newest first, equals by name. What is gone comes last. */
export async function sortByAge(context: ToolContext, folder: string, names: readonly string[]): Promise<string[]> {
  const aged: { name: string; time: number }[] = [];
  for (let i = 0; i < names.length; i += MAX_STATS_AT_ONCE) {
    if (i > 0) await nextTurn();
    if (context.signal.aborted) throw new Error('The search was interrupted.');
    const some = names.slice(i, i + MAX_STATS_AT_ONCE);
    const stats = await Promise.all(
      some.map((name) => context.workspace.stat(`${folder}/${name}`).catch(() => undefined)),
    );
    for (const [at, name] of some.entries()) aged.push({ name, time: stats[at]?.mtimeMs ?? 0 });
  }
  return aged.toSorted((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}
