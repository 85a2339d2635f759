/** Runs ripgrep for the tools that search. */
import { dirname, join } from 'node:path';
import type { ProcessExit, ToolContext } from '../../protocol/index.js';
import { createRecordReader, type RecordTaker } from './search-records.js';

const TIMEOUT_MS = 60_000;
const MAX_ERROR_TEXT = 4_000;

/** The searched place is the one that permission was given for: a link that was put in the way since leads nowhere. */
type Place = { folder: string } | { file: string };

export type Search = Place & RecordTaker & { args: readonly string[] };

export interface SearchEnd {
  /** False when time ran out, or enough was found. */
  complete: boolean;
  /**
   * What became of found files while the folder was searched, by their names. ripgrep follows no links, but opens what
   * it has seen a moment before: only what `stayed` is surely inside.
   */
  look: NonNullable<ProcessExit['look']>;
}

/**
 * .gitignore counts also where there is no repository, so that a folder means the same with and without `.git`;
 * hidden files are searched, repositories' own files are not. The user's ripgrep settings are not ours.
 */
const COMMON_ARGS = [
  '--no-config',
  '--no-messages',
  '--color=never',
  '--null',
  '--hidden',
  '--no-require-git',
  '--glob=!.git',
];

/** Throws the words of ripgrep when it cannot search at all (bad pattern, unknown type). */
export async function runSearch(context: ToolContext, search: Search): Promise<SearchEnd> {
  const stop = new AbortController();
  const reader = createRecordReader(search);
  const errors = new TextDecoder();
  let enough = false;
  let problem = '';
  const exit = await start(context, search, {
    signal: AbortSignal.any([context.signal, stop.signal]),
    onOutput(chunk, stream) {
      if (enough) return;
      if (stream === 'stderr') {
        if (problem.length < MAX_ERROR_TEXT) problem += errors.decode(chunk, { stream: true });
        return;
      }
      enough = !reader.add(chunk);
      if (enough) stop.abort();
    },
  });
  if (context.signal.aborted) throw new Error('The search was interrupted.');
  // 1 means no match. With 2 and no words only some files could not be read.
  if (!enough && !exit.timedOut && exit.code !== 0 && exit.code !== 1 && problem !== '') {
    throw new Error(problem.replace(/^rg: /, '').trimEnd());
  }
  if (!enough) reader.end();
  return { complete: !enough && !exit.timedOut, look: exit.look ?? ((names) => names.map(() => 'stayed')) };
}

/** Files by which a folder names what is left out below it; in `.git` is one too. */
const IGNORE_FILES = ['.git', '.gitignore', '.ignore', '.rgignore'];

const listAbove = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [] : [parent, ...listAbove(parent)];
};

/** To ask the folders above about each file costs ripgrep a quarter of its time, and mostly they have nothing to say. */
async function skipAbove({ workspace }: ToolContext, folder: string): Promise<string[]> {
  const files = listAbove(folder).flatMap((above) => IGNORE_FILES.map((name) => join(above, name)));
  const stats = await Promise.all(files.map((file) => workspace.stat(file).catch(() => null)));
  return stats.every((stat) => stat === undefined) ? ['--no-ignore-parent'] : [];
}

type Output = Pick<Parameters<ToolContext['workspace']['run']>[0], 'signal' | 'onOutput'>;

async function start(context: ToolContext, search: Search, output: Output): Promise<ProcessExit> {
  const { workspace, env } = context;
  const args = [...COMMON_ARGS, ...search.args];
  const program = await workspace.ripgrep();
  const common = { exact: true, env, timeoutMs: TIMEOUT_MS, ...output };
  try {
    if ('folder' in search) {
      const { folder } = search;
      const excluded = toExcluded(context.exclusions, folder);
      const argv = [program, ...args, ...(await skipAbove(context, folder)), ...excluded, '--', './'] as const;
      return await workspace.run({ ...common, argv, cwd: folder });
    }
    // By its name it could be a link by the time ripgrep opens it, and links that are named are followed.
    const { file } = search;
    return await workspace.run({ ...common, argv: [program, ...args, '--', '-'], cwd: dirname(file), inputFile: file });
  } catch (thrown) {
    if (!(thrown instanceof Error) || (thrown as NodeJS.ErrnoException).code !== 'ELOOP') throw thrown;
    const path = 'folder' in search ? search.folder : search.file;
    throw new Error(`${path} is reached through a link that appeared since it was checked; nothing was searched.`, {
      cause: thrown,
    });
  }
}

/** What must be left out, as ripgrep reads it: from the folder in which it starts. Of two globs the last one counts. */
const toExcluded = (exclusions: readonly string[], folder: string): string[] =>
  exclusions.map((pattern) => {
    const above = folder === '/' ? '/' : `${folder}/`;
    if (pattern.startsWith(above)) return `--glob=!/${pattern.slice(above.length)}`;
    // It starts above: what follows may be anywhere below.
    const any = pattern.lastIndexOf('/**/');
    return `--glob=!${any === -1 ? pattern : pattern.slice(any + 1)}`;
  });
