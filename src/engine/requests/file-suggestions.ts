/** Files that somebody may mean who has typed a part of their path. */
import { basename, join } from 'node:path';
import type { ParamsOf, ResultOf } from '../../protocol/index.js';
import { judgeRead } from '../permissions/may-read.js';
import type { Session } from '../session.js';
import { runSearch } from '../tools/search.js';
import { findReadable, readingContext } from './reading.js';

const MAX_SUGGESTIONS = 20;
/** Looked at, so that a large tree does not hold up whoever types. */
const MAX_FILES = 100_000;
const MAX_MATCHES = 20_000;
/** No path is longer. */
const MAX_QUERY = 4_096;

export async function suggestFiles(
  { scope }: Session,
  { query }: ParamsOf<'file_suggestions'>,
  { signal }: { signal: AbortSignal },
): Promise<ResultOf<'file_suggestions'>> {
  const { cwd } = scope.state;
  const place = await findReadable(scope, cwd, 'folder');
  const wanted = query.slice(0, MAX_QUERY).replace(/^\.\//, '').toLowerCase();
  const found: Match[] = [];
  let looked = 0;
  const end = await runSearch(readingContext(scope, place, signal), {
    folder: place.real,
    args: ['--files'],
    onName(name) {
      looked += 1;
      const rank = rankOf(name.toLowerCase(), wanted);
      if (rank !== undefined) found.push({ name, rank });
      return looked < MAX_FILES && found.length < MAX_MATCHES;
    },
  });
  const best = found.toSorted(compare).slice(0, 2 * MAX_SUGGESTIONS);
  const states = end.look(best.map(({ name }) => name));
  const suggestions: { path: string }[] = [];
  for (const [index, { name }] of best.entries()) {
    if (suggestions.length === MAX_SUGGESTIONS) break;
    if (states[index] === 'gone') continue;
    const { verdict } = await judgeRead(scope, join(place.real, name), { given: join(cwd, name) });
    if (verdict !== 'deny') suggestions.push({ path: name });
  }
  return { suggestions, cwd };
}

interface Match {
  name: string;
  rank: number;
}

/** The smaller the better; undefined: it is not meant. */
function rankOf(name: string, wanted: string): number | undefined {
  const file = basename(name);
  if (file === wanted || name === wanted) return 0;
  if (file.startsWith(wanted)) return 1;
  if (file.includes(wanted)) return 2;
  if (name.includes(wanted)) return 3;
  return hasInOrder(name, wanted) ? 4 : undefined;
}

function hasInOrder(name: string, wanted: string): boolean {
  let at = -1;
  for (const char of wanted) {
    at = name.indexOf(char, at + 1);
    if (at === -1) return false;
  }
  return true;
}

const compare = (one: Match, other: Match): number =>
  one.rank - other.rank || one.name.length - other.name.length || (one.name < other.name ? -1 : 1);
