import { basename, dirname, join } from 'node:path';
import type { GrepInput, WholeTool, ToolContext, ToolOutput } from '../../protocol/index.js';
import { compilePattern, splitPattern, toTypeFilter } from './glob-pattern.js';
import { noteCwd, resolvePath, shortenPath } from './paths.js';
import { runSearch, type SearchEnd, sortByAge } from './search.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const DEFAULT_LIMIT = 250;
const MAX_TEXT = 30_000;
const MAX_COLUMNS = 500;
const MAX_FILES = 10_000;
/** More than this is not collected; the search ends there. */
const MAX_COLLECTED = 16 * 1024 * 1024;

interface Place {
  /** Where permission found the folder, or the one file, to be. */
  judged: string;
  /** Where ripgrep starts. */
  folder: string;
  /** What it searches there. */
  target: string;
  filters: Filters;
  /** The path for the model of what ripgrep found. */
  show(found: string): string;
}

interface Filters {
  /** Arguments for ripgrep. They leave out no file that `matches` takes. */
  args: string[];
  /** Which of the found files count; absent when all do. */
  matches?: (name: string) => boolean;
}

/** Plain folders in front of a glob become the folder to search. */
function narrow(input: GrepInput): { folder: string; filters: Filters } {
  const { glob = '' } = input;
  const type = input.type === undefined ? [] : [`--type=${input.type}`];
  if (glob === '') return { folder: '.', filters: { args: type } };
  if (glob.startsWith('!')) return { folder: '.', filters: { args: [...type, `--glob=${glob}`] } };
  const { folder, rest } = splitPattern(glob);
  const args = type.length > 0 ? type : toTypeFilter(rest);
  return { folder: folder === '' ? '.' : folder, filters: { args, matches: compilePattern(rest) } };
}

async function locate(input: GrepInput, context: ToolContext): Promise<Place> {
  const { cwd, workspace } = context;
  const path = resolvePath(cwd, input.path ?? '.');
  const real = context.judgedPath(path);
  const stat = await workspace.stat(real);
  if (stat === undefined) throw new Error(`Path does not exist: ${path}. ${noteCwd(cwd)}`);
  if (stat.kind === 'other')
    throw new Error(`${path} is a device, pipe or socket. Only files and folders are searched.`);
  if (stat.kind === 'file') {
    const shown = shortenPath(cwd, path);
    return {
      judged: real,
      folder: dirname(real),
      target: `./${basename(real)}`,
      filters: { args: [] },
      show: () => shown,
    };
  }
  const { folder, filters } = narrow(input);
  const start = resolvePath(path, folder);
  const judged = context.judgedPath(start);
  return {
    judged,
    folder: judged,
    target: './',
    filters,
    show: (found) => shortenPath(cwd, join(start, found)),
  };
}

function optionsOf(input: GrepInput): string[] {
  const options: string[] = [];
  if (input['-i'] === true) options.push('--ignore-case');
  if (input.multiline === true) options.push('--multiline', '--multiline-dotall');
  return options;
}

function contentOptions(input: GrepInput): string[] {
  const around = input.context ?? input['-C'] ?? 0;
  const options = [`--after-context=${input['-A'] ?? around}`, `--before-context=${input['-B'] ?? around}`];
  if (input['-o'] === true) options.push('--only-matching');
  return [...options, '--line-number', `--max-columns=${MAX_COLUMNS}`, '--max-columns-preview'];
}

export const grepTool: WholeTool<GrepInput> = {
  name: 'Grep',
  description:
    'Searches file contents with a ripgrep regular expression. What .gitignore names is left out, hidden files are not.',
  inputSchema: inputSchemaOf('Grep'),
  parse: (input) => parseToolInput('Grep', input),
  isReadOnly: () => true,
  limits: { text: MAX_TEXT, field: MAX_TEXT },
  accesses: (input, { cwd }) => {
    const path = resolvePath(cwd, input.path ?? '.');
    const start = resolvePath(path, narrow(input).folder);
    return [...new Set([path, start])].map((touched) => ({ path: touched, access: 'read' }));
  },
  async run(input, context) {
    const place = await locate(input, context);
    if ((await context.workspace.stat(place.folder))?.kind !== 'directory') return nothingFound(input);
    if (input.output_mode === 'content') return grepContent(input, place, context);
    if (input.output_mode === 'count') return grepCount(input, place, context);
    return grepFiles(input, place, context);
  },
};

function nothingFound(input: GrepInput): ToolOutput {
  const mode = input.output_mode ?? 'files_with_matches';
  const structured = { mode, numFiles: 0, filenames: [] };
  if (mode === 'files_with_matches') return { content: 'No files found', structured: { ...structured, totalFiles: 0 } };
  const counts = mode === 'content' ? { content: '', numLines: 0 } : { content: '', numMatches: 0 };
  return { content: 'No matches found', structured: { ...structured, ...counts } };
}

interface Page<T> {
  shown: T[];
  /** The text for the model around the shown part: what it must know first stands before it, since the end may be cut. */
  frame(text: string): string;
}

const UNFINISHED = '(The search was not finished: there is too much. Narrow the pattern or the path.)';

/** The part that was asked for, and words for what is left out. */
function page<T>(items: readonly T[], input: GrepInput, end: SearchEnd): Page<T> {
  const offset = input.offset ?? 0;
  const limit = input.head_limit ?? DEFAULT_LIMIT;
  const shown = items.slice(offset, limit === 0 ? undefined : offset + limit);
  const before = end.complete ? [] : [UNFINISHED];
  const last = offset + shown.length;
  const rest =
    shown.length === 0 ? `(There are only ${items.length}.)` : `(${offset + 1} to ${last} of ${items.length})`;
  const after = shown.length < items.length ? [rest] : [];
  return { shown, frame: (text) => [...before, ...(text === '' ? [] : [text]), ...after].join('\n') };
}

const args = (input: GrepInput, place: Place, mode: readonly string[]): string[] => [
  ...optionsOf(input),
  ...place.filters.args,
  ...mode,
  '--null',
  '--with-filename',
  `--regexp=${input.pattern}`,
  '--',
  place.target,
];

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

async function grepFiles(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { folder, filters, show } = place;
  const found: string[] = [];
  const end = await runSearch(context, {
    folder,
    args: args(input, place, ['--files-with-matches']),
    separator: '\0',
    judged: place.judged,
    onRecord(record) {
      const name = record.slice(2);
      if (filters.matches?.(name) !== false) found.push(name);
      return found.length < MAX_FILES;
    },
  });
  if (found.length === 0 && end.complete) return nothingFound(input);
  const { shown, frame } = page(await sortByAge(context, folder, found), input, end);
  const filenames = shown.map(show);
  return {
    content: frame([`Found ${plural(found.length, 'file')}`, ...filenames].join('\n')),
    structured: { mode: 'files_with_matches', filenames, numFiles: filenames.length, totalFiles: found.length },
  };
}

interface FileLines {
  path: string;
  lines: string[];
}

/** What was printed for each file, in the order of their names: ripgrep works on many at once and prints as it goes. */
async function collect(search: {
  input: GrepInput;
  place: Place;
  context: ToolContext;
  mode: readonly string[];
}): Promise<{ files: FileLines[]; end: SearchEnd }> {
  const { input, place, context, mode } = search;
  const { matches } = place.filters;
  const files: FileLines[] = [];
  let current = '';
  let lines: string[] | undefined;
  let collected = 0;
  const start = (found: string): void => {
    current = found;
    const name = found.slice(2);
    lines = matches?.(name) === false ? undefined : [];
    if (lines !== undefined) files.push({ path: place.show(name), lines });
  };
  // Of a binary file ripgrep prints a remark, without the name in front of it.
  const isSingle = place.target !== './';
  const end = await runSearch(context, {
    folder: place.folder,
    args: args(input, place, mode),
    separator: '\n',
    judged: place.judged,
    onRecord(record) {
      const nul = record.indexOf('\0');
      if (nul === -1 && current === '' && isSingle) start(place.target);
      else if (nul !== -1 && !(nul === current.length && record.startsWith(current))) start(record.slice(0, nul));
      if (lines === undefined) return true;
      lines.push(nul === -1 ? record : record.slice(nul + 1));
      collected += record.length;
      return collected < MAX_COLLECTED;
    },
  });
  return { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)), end };
}

async function grepContent(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { files, end } = await collect({ input, place, context, mode: contentOptions(input) });
  if (files.length === 0 && end.complete) return nothingFound(input);
  const rows = files.flatMap(({ path, lines }) => lines.map((line) => ({ path, line })));
  const { shown, frame } = page(rows, input, end);
  const filenames = [...new Set(shown.flatMap(({ path, line }) => (line === '--' ? [] : [path])))];
  const content = shown.map((row) => showRow(row, input['-n'] !== false)).join('\n');
  return {
    content: frame(content),
    structured: { mode: 'content', numFiles: filenames.length, filenames, content, numLines: shown.length },
  };
}

/** `12:text` is a match, `12-text` its context, `--` the gap between two groups. */
function showRow({ path, line }: { path: string; line: string }, numbered: boolean): string {
  const [, number, mark = ':', text = ''] = /^(\d+)([:-])([^]*)$/.exec(line) ?? [];
  if (number !== undefined) return numbered ? `${path}${mark}${number}${mark}${text}` : `${path}${mark}${text}`;
  const [, remark] = /: (binary file matches .*)$/.exec(line) ?? [];
  return remark === undefined ? line : `${path}: ${remark}`;
}

async function grepCount(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { files, end } = await collect({ input, place, context, mode: ['--count-matches'] });
  if (files.length === 0 && end.complete) return nothingFound(input);
  const counts = files.map(({ path, lines }) => ({ path, count: Number(lines[0]) }));
  const numMatches = counts.reduce((sum, { count }) => sum + count, 0);
  const { shown, frame } = page(counts, input, end);
  const content = shown.map(({ path, count }) => `${path}:${count}`).join('\n');
  const total = `Found ${plural(numMatches, 'total occurrence')} across ${plural(counts.length, 'file')}.`;
  return {
    content: frame([content, '', total].join('\n')),
    structured: {
      mode: 'count',
      numFiles: counts.length,
      filenames: shown.map(({ path }) => path),
      content,
      numMatches,
    },
  };
}
