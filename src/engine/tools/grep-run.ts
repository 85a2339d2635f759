import { join } from 'node:path';
import type { GrepInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import { findPlace, type GrepPlace } from './grep-place.js';
import { createNewest } from './newest.js';
import { runSearch, type SearchEnd } from './search.js';
import { type FoundLine, isCut, MAX_LINE } from './search-records.js';

const DEFAULT_LIMIT = 250;
const MAX_FILES = 10_000;
/** More than this is not collected; the search ends there. Each line counts for what it takes beyond its text, too. */
const MAX_COLLECTED = 16 * 1024 * 1024;
const LINE_SIZE = 50;
/** So many files that changed meanwhile, or have long lines, are searched again one by one. */
const MAX_AGAIN = 500;
/** In larger files only the start of a long line is shown: to find the match, ripgrep needs many times the memory. */
const MAX_LONG = 8 * 1024 * 1024;
const MAX_AT_ONCE = 250;

interface Asked {
  input: GrepInput;
  place: GrepPlace;
  context: ToolContext;
  /** Long lines are to be shown around the match. That takes longer. */
  hasColumns?: boolean;
}

/** A file with matches, and what was printed for it. */
interface FoundFile {
  /** Below the searched folder. */
  name: string;
  lines: FoundLine[];
}

interface Finding {
  files: FoundFile[];
  end: SearchEnd;
}

export async function runGrep(input: GrepInput, context: ToolContext): Promise<ToolOutput> {
  const place = await findPlace(input, context);
  if (place === undefined) return nothingFound(input);
  const asked = { input, place, context };
  if (input.output_mode === 'content') return grepContent(asked);
  return input.output_mode === 'count' ? grepCount(asked) : grepFiles(asked);
}

function modeOf({ input, hasColumns = false }: Asked): string[] {
  if (input.output_mode === 'count') return ['--count-matches'];
  if (input.output_mode !== 'content') return ['--files-with-matches'];
  const { before, after } = contextOf(input);
  const options = ['--line-number', `--after-context=${after}`, `--before-context=${before}`, '--no-context-separator'];
  if (input['-o'] === true) options.push('--only-matching');
  return [...options, ...(hasColumns ? ['--column'] : [`--max-columns=${MAX_LINE}`, '--max-columns-preview'])];
}

function contextOf(input: GrepInput): { before: number; after: number } {
  const around = input.context ?? input['-C'] ?? 0;
  return { before: input['-B'] ?? around, after: input['-A'] ?? around };
}

function nothingFound(input: GrepInput): ToolOutput {
  const mode = input.output_mode ?? 'files_with_matches';
  const structured = { mode, numFiles: 0, filenames: [] };
  if (mode === 'files_with_matches') return { content: 'No files found', structured: { ...structured, totalFiles: 0 } };
  const counts = mode === 'content' ? { content: '', numLines: 0 } : { content: '', numMatches: 0 };
  return { content: 'No matches found', structured: { ...structured, ...counts } };
}

function argsOf(asked: Asked): string[] {
  const { input, place } = asked;
  const args = [...place.filters.args, ...modeOf(asked), '--with-filename', `--regexp=${input.pattern}`];
  if (input['-i'] === true) args.push('--ignore-case');
  if (input.multiline === true) args.push('--multiline', '--multiline-dotall');
  return args;
}

const find = (asked: Asked): Promise<Finding> =>
  (asked.input.output_mode ?? 'files_with_matches') === 'files_with_matches' ? findNames(asked) : findLines(asked);

/** Files without lines, newest first. */
async function findNames(asked: Asked): Promise<Finding> {
  const { place, context } = asked;
  const { where, filters } = place;
  const newest = 'folder' in where ? createNewest(context, where.folder) : undefined;
  const names: string[] = [];
  const end = await runSearch(context, {
    ...where,
    args: argsOf(asked),
    onName(name) {
      if (filters.matches?.(name) === false) return true;
      names.push(name);
      newest?.add(name);
      return names.length < MAX_FILES;
    },
  });
  const sorted = (await newest?.take(names.length)) ?? names;
  return { files: sorted.map((name) => ({ name, lines: [] })), end };
}

/** Files with their lines, in the order of their names: ripgrep works on many at once and prints as it goes. */
async function findLines(asked: Asked): Promise<Finding> {
  const { input, place, context, hasColumns } = asked;
  const { matches } = place.filters;
  const files: FoundFile[] = [];
  let name: string | undefined;
  let lines: FoundLine[] | undefined;
  let collected = 0;
  const end = await runSearch(context, {
    ...place.where,
    args: argsOf(asked),
    hasColumns,
    isMultiline: input.multiline === true,
    onLine(found, line) {
      if (found !== name) {
        name = found;
        lines = matches?.(found) === false ? undefined : [];
        if (lines !== undefined) files.push({ name, lines });
      }
      if (lines === undefined) return true;
      lines.push(line);
      collected += LINE_SIZE + line.text.length;
      return collected < MAX_COLLECTED;
    },
  });
  return { files: files.toSorted((a, b) => (a.name < b.name ? -1 : 1)), end };
}

type State = ReturnType<SearchEnd['look']>[number];

interface Confirmed {
  files: FoundFile[];
  complete: boolean;
  /** How many could be neither confirmed nor searched again. */
  lost: number;
}

/** The files, of which the first are looked at once more, as many as are shown; the others are only counted. */
async function search(asked: Asked, sizeOf: (file: FoundFile) => number = () => 1): Promise<Confirmed> {
  const { where } = asked.place;
  const { files, end } = await find(asked);
  const { offset, limit } = pageOf(asked.input);
  const sure: FoundFile[] = [];
  let [at, shown, again, lost] = [0, 0, 0, 0];
  const pathOf = ({ name }: FoundFile): string => ('file' in where ? where.file : join(where.folder, name));

  /** What may have been a link for a moment, while ripgrep opened it, is searched again: from a handle, not by name. */
  const confirm = async (file: FoundFile, state: State | undefined): Promise<FoundFile | undefined> => {
    if (state === 'stayed') return file;
    if (state === 'changed' && again < MAX_AGAIN) {
      again += 1;
      const found = await searchAgain(asked, pathOf(file));
      return found && { ...found, name: file.name };
    }
    if (state === 'changed' || file.name.includes('\ufffd')) lost += 1;
    return undefined;
  };
  const sharpen = async (file: FoundFile): Promise<FoundFile> => {
    if (!file.lines.some(isCut) || again >= MAX_AGAIN) return file;
    again += 1;
    const found = await searchLong(asked, pathOf(file));
    return found === undefined ? file : { ...found, name: file.name };
  };

  while (at < files.length && shown < offset + limit) {
    const some = files.slice(at, at + MAX_AT_ONCE);
    at += some.length;
    const states = 'file' in where ? (['stayed'] as const) : end.look(some.map(({ name }) => name));
    for (const [i, file] of some.entries()) {
      const found = await confirm(file, states[i]);
      if (found === undefined) continue;
      sure.push(await sharpen(found));
      shown += sizeOf(found);
    }
  }
  return { files: [...sure, ...files.slice(at)], complete: end.complete, lost };
}

/** One file. Undefined when it is no longer there, or matches no more. */
async function searchAgain(asked: Asked, file: string): Promise<FoundFile | undefined> {
  try {
    const { files } = await find({ ...asked, place: { ...asked.place, where: { file }, filters: { args: [] } } });
    return files[0];
  } catch (thrown) {
    if (asked.context.signal.aborted) throw thrown;
    return undefined;
  }
}

/** The same with long lines around their matches, where that can be done. */
async function searchLong(asked: Asked, file: string): Promise<FoundFile | undefined> {
  if (asked.input['-o'] === true) return undefined;
  const stat = await asked.context.workspace.stat(file).catch(() => undefined);
  return (stat?.size ?? 0) > MAX_LONG ? undefined : searchAgain({ ...asked, hasColumns: true }, file);
}

const pageOf = ({ offset = 0, head_limit: limit = DEFAULT_LIMIT }: GrepInput): { offset: number; limit: number } => ({
  offset,
  limit: limit === 0 ? Number.POSITIVE_INFINITY : limit,
});

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const UNFINISHED = '(The search was not finished: there is too much. Narrow the pattern or the path.)';

/** The text for the model: what it must know first stands before what is shown, since the end may be cut. */
function frame(
  text: string,
  { input }: Asked,
  extent: Omit<Confirmed, 'files'> & { shown: number; total: number },
): string {
  const { shown, total, complete, lost } = extent;
  const { offset } = pageOf(input);
  const parts = [...(complete ? [] : [UNFINISHED]), ...(text === '' ? [] : [text])];
  if (shown > 0 && shown < total) parts.push(`(${offset + 1} to ${offset + shown} of ${total})`);
  else if (shown < total) parts.push(`(There are only ${total}.)`);
  if (lost > 0)
    parts.push(`(${plural(lost, 'file')} left out: changed while searched, or with a name that is not UTF-8.)`);
  return parts.join('\n');
}

const isNothing = ({ files, complete, lost }: Confirmed): boolean => files.length === 0 && complete && lost === 0;

async function grepFiles(asked: Asked): Promise<ToolOutput> {
  const found = await search(asked);
  if (isNothing(found)) return nothingFound(asked.input);
  const total = found.files.length;
  const { offset, limit } = pageOf(asked.input);
  const filenames = found.files.slice(offset, offset + limit).map(({ name }) => asked.place.show(name));
  const text = [`Found ${plural(total, 'file')}`, ...filenames].join('\n');
  return {
    content: frame(text, asked, { ...found, shown: filenames.length, total }),
    structured: { mode: 'files_with_matches', filenames, numFiles: filenames.length, totalFiles: total },
  };
}

type Row = FoundLine & { path: string };

async function grepContent(asked: Asked): Promise<ToolOutput> {
  const { input, place } = asked;
  const found = await search(asked, ({ lines }) => lines.length);
  if (isNothing(found)) return nothingFound(input);
  const { offset, limit } = pageOf(input);
  const rows: Row[] = [];
  let total = 0;
  for (const { name, lines } of found.files) {
    const path = place.show(name);
    const some = lines.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total));
    for (const line of some) rows.push({ ...line, path });
    total += lines.length;
  }
  const filenames = [...new Set(rows.map(({ path }) => path))];
  const content = showRows(rows, input).join('\n');
  return {
    content: frame(content, asked, { ...found, shown: rows.length, total }),
    structured: { mode: 'content', numFiles: filenames.length, filenames, content, numLines: rows.length },
  };
}

/** `path:12:text` is a match, `path-12-text` its context, `--` a gap between two groups. */
function showRows(rows: readonly Row[], input: GrepInput): string[] {
  const { before, after } = contextOf(input);
  const hasGroups = before > 0 || after > 0;
  return rows.flatMap(({ path, number, isMatch, text }, i) => {
    const last = rows[i - 1];
    const follows = last === undefined || (last.path === path && (number ?? 0) <= (last.number ?? 0) + 1);
    const mark = isMatch ? ':' : '-';
    const place = input['-n'] === false ? '' : `${number}${mark}`;
    const shown = number === undefined ? `${path}: ${text}` : `${path}${mark}${place}${text}`;
    return hasGroups && !follows ? ['--', shown] : [shown];
  });
}

async function grepCount(asked: Asked): Promise<ToolOutput> {
  const found = await search(asked);
  if (isNothing(found)) return nothingFound(asked.input);
  const counts = found.files.map(({ name, lines }) => ({ name, count: Number(lines[0]?.text) }));
  const numMatches = counts.reduce((sum, { count }) => sum + count, 0);
  const { offset, limit } = pageOf(asked.input);
  const shown = counts
    .slice(offset, offset + limit)
    .map(({ name, count }) => ({ path: asked.place.show(name), count }));
  const content = shown.map(({ path, count }) => `${path}:${count}`).join('\n');
  const total = `Found ${plural(numMatches, 'total occurrence')} across ${plural(counts.length, 'file')}.`;
  return {
    content: frame([content, '', total].join('\n'), asked, { ...found, shown: shown.length, total: counts.length }),
    structured: {
      mode: 'count',
      numFiles: counts.length,
      filenames: shown.map(({ path }) => path),
      content,
      numMatches,
    },
  };
}
