import { join } from 'node:path';
import type { GlobInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import { compilePattern, toTypeFilter } from './glob-pattern.js';
import { locate } from './glob-place.js';
import { createNewest } from './newest.js';
import { noteCwd, resolvePath, shortenPath } from './paths.js';
import { runSearch } from './search.js';

const MAX_FILES = 100;
/** The search ends at so many: to look at the age of a file takes five times as long as to find it. */
const MAX_MATCHES = 20_000;

export async function runGlob(input: GlobInput, context: ToolContext): Promise<ToolOutput> {
  const startedAt = context.clock.monotonic();
  const { cwd, workspace } = context;
  if (input.path !== undefined && (await workspace.stat(resolvePath(cwd, input.path)))?.kind !== 'directory') {
    throw new Error(`${resolvePath(cwd, input.path)} is not a folder. ${noteCwd(cwd)}`);
  }
  const { folder, rest } = locate(input, cwd);
  const real = context.judgedPath(folder);
  const exists = (await workspace.stat(real))?.kind === 'directory';
  const found = exists ? await findNewest(context, real, rest) : NOTHING;
  const { total, complete } = found;
  const filenames = found.names.map((name) => shortenPath(cwd, join(folder, name)));
  const truncated = !complete || total > filenames.length;
  return {
    content: describe(filenames, found),
    structured: {
      filenames,
      durationMs: Math.round(context.clock.monotonic() - startedAt),
      numFiles: filenames.length,
      truncated,
      totalMatches: total,
      countIsComplete: complete,
    },
  };
}

interface Found {
  /** The newest. */
  names: string[];
  total: number;
  complete: boolean;
  /** There were too many. */
  isFull: boolean;
}

const NOTHING: Found = { names: [], total: 0, complete: true, isFull: false };

async function findNewest(context: ToolContext, folder: string, pattern: string): Promise<Found> {
  const matches = compilePattern(pattern);
  const newest = createNewest(context, folder);
  let total = 0;
  const end = await runSearch(context, {
    folder,
    args: ['--files', ...toTypeFilter(pattern)],
    onName(name) {
      if (!matches(name)) return true;
      newest.add(name);
      total += 1;
      return total < MAX_MATCHES;
    },
  });
  const names = await newest.take(MAX_FILES);
  // Through a link that was there for a moment ripgrep may have come elsewhere. What is not UTF-8 cannot be asked for.
  const states = end.look(names);
  const there = names.filter((name, i) => states[i] !== 'gone' || name.includes('\ufffd'));
  const { complete } = end;
  return { names: there, total: total - (names.length - there.length), complete, isFull: total >= MAX_MATCHES };
}

function describe(filenames: readonly string[], { total, complete, isFull }: Found): string {
  const parts = [filenames.length === 0 ? 'No files found' : filenames.join('\n')];
  if (isFull) {
    const most = MAX_MATCHES.toLocaleString('en-US');
    parts.push(`(The search stopped at ${most} files: newer ones may be missing. Give a narrower path or pattern.)`);
  } else if (!complete) parts.push('(The search took too long and was not finished. Give a narrower path or pattern.)');
  else if (total > filenames.length)
    parts.push(`(${filenames.length} of ${total} files. Give a narrower path or pattern.)`);
  return parts.join('\n');
}
