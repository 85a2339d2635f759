import { basename, dirname, join } from 'node:path';
import type { GrepInput, Tool, ToolContext, ToolOutput } from '../../protocol/index.js';
import { boundText } from './bound.js';
import { splitPattern } from './glob-pattern.js';
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
  /** Where ripgrep starts. */
  folder: string;
  /** What it searches there. */
  target: string;
  /** Arguments that narrow the search to `glob` and `type`. */
  filters: string[];
}

/**
 * A glob of names becomes a file type, since ripgrep lets `--glob` overrule .gitignore. Plain folders in front of it
 * become the folder to search. Only patterns with wildcards in their folders are left to `--glob`.
 */
function narrow(input: GrepInput): { folder: string; filters: string[] } {
  const filters = input.type === undefined ? [] : [`--type=${input.type}`];
  if (input.glob === undefined || input.glob === '') return { folder: '.', filters };
  if (input.glob.startsWith('!')) return { folder: '.', filters: [...filters, `--glob=${input.glob}`] };
  const split = splitPattern(input.glob);
  const folder = split.folder === '' ? '.' : split.folder;
  const body = split.rest.replace(/^\//, '');
  const name = body.replace(/^(\*\*\/)+/, '');
  const atAnyDepth = !split.rest.startsWith('/') || name !== body || name === '**';
  if (!atAnyDepth || name.includes('/')) return { folder, filters: [...filters, `--glob=${split.rest}`] };
  if (name === '*' || name === '**') return { folder, filters };
  if (input.type !== undefined) return { folder, filters: [...filters, `--glob=${name}`] };
  return { folder, filters: [`--type-add=heddle:${name}`, '--type=heddle'] };
}

async function locate(input: GrepInput, context: ToolContext): Promise<Place> {
  const path = resolvePath(context.cwd, input.path ?? '.');
  const stat = await context.workspace.stat(path);
  if (stat === undefined) throw new Error(`Path does not exist: ${path}. ${noteCwd(context.cwd)}`);
  if (stat.kind === 'other')
    throw new Error(`${path} is a device, pipe or socket. Only files and folders are searched.`);
  if (stat.kind === 'file') return { folder: dirname(path), target: `./${basename(path)}`, filters: [] };
  const { folder, filters } = narrow(input);
  return { folder: resolvePath(path, folder), target: './', filters };
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

export const grepTool: Tool<GrepInput> = {
  name: 'Grep',
  description:
    'Searches file contents with a ripgrep regular expression. What .gitignore names is left out, hidden files are not.',
  inputSchema: inputSchemaOf('Grep'),
  parse: (input) => parseToolInput('Grep', input),
  isReadOnly: () => true,
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

/** The part that was asked for, and words for what is left out. */
function page<T>(items: readonly T[], input: GrepInput, end: SearchEnd): { shown: T[]; note: string } {
  const offset = input.offset ?? 0;
  const limit = input.head_limit ?? DEFAULT_LIMIT;
  const shown = items.slice(offset, limit === 0 ? undefined : offset + limit);
  const notes: string[] = [];
  if (shown.length < items.length) {
    const last = offset + shown.length;
    notes.push(
      shown.length === 0 ? `(There are only ${items.length}.)` : `(${offset + 1} to ${last} of ${items.length})`,
    );
  }
  if (!end.complete) notes.push('(The search was not finished: there is too much. Narrow the pattern or the path.)');
  return { shown, note: notes.join('\n') };
}

const args = (input: GrepInput, place: Place, mode: readonly string[]): string[] => [
  ...optionsOf(input),
  ...place.filters,
  ...mode,
  '--null',
  '--with-filename',
  `--regexp=${input.pattern}`,
  '--',
  place.target,
];

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

async function grepFiles(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const paths: string[] = [];
  const end = await runSearch(context, {
    folder: place.folder,
    args: args(input, place, ['--files-with-matches']),
    separator: '\0',
    onRecord: (path) => paths.push(join(place.folder, path)) < MAX_FILES,
  });
  if (paths.length === 0 && end.complete) return nothingFound(input);
  const { shown, note } = page(await sortByAge(context, paths), input, end);
  const filenames = shown.map((path) => shortenPath(context.cwd, path));
  const text = [`Found ${plural(paths.length, 'file')}`, ...filenames, ...(note === '' ? [] : [note])].join('\n');
  return {
    content: await boundText(text, { max: MAX_TEXT }),
    structured: { mode: 'files_with_matches', filenames, numFiles: filenames.length, totalFiles: paths.length },
  };
}

/** What was printed for each file, in the order of their names: ripgrep works on many at once and prints as it goes. */
async function collect(search: {
  input: GrepInput;
  place: Place;
  context: ToolContext;
  mode: readonly string[];
}): Promise<{ byFile: [string, string[]][]; end: SearchEnd }> {
  const { input, place, context, mode } = search;
  const byFile = new Map<string, string[]>();
  let current: string[] = [];
  let collected = 0;
  const end = await runSearch(context, {
    folder: place.folder,
    args: args(input, place, mode),
    separator: '\n',
    onRecord(record) {
      const nul = record.indexOf('\0');
      collected += record.length;
      if (nul === -1) {
        current.push(record);
        return true;
      }
      const path = record.slice(0, nul);
      current = byFile.get(path) ?? [];
      byFile.set(path, current);
      current.push(record.slice(nul + 1));
      return collected < MAX_COLLECTED;
    },
  });
  const named = [...byFile].map(([path, lines]): [string, string[]] => [
    shortenPath(context.cwd, join(place.folder, path)),
    lines,
  ]);
  return { byFile: named.toSorted(([a], [b]) => (a < b ? -1 : 1)), end };
}

async function grepContent(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { byFile, end } = await collect({ input, place, context, mode: contentOptions(input) });
  if (byFile.length === 0 && end.complete) return nothingFound(input);
  const rows = byFile.flatMap(([path, lines]) => toRows(path, lines, input['-n'] !== false));
  const { shown, note } = page(rows, input, end);
  const filenames = [...new Set(shown.flatMap((row) => (row.path === undefined ? [] : [row.path])))];
  const content = await boundText(shown.map((row) => row.text).join('\n'), { max: MAX_TEXT });
  return {
    content: note === '' ? content : `${content}\n\n${note}`,
    structured: { mode: 'content', numFiles: filenames.length, filenames, content, numLines: shown.length },
  };
}

/** `12:text` is a match, `12-text` its context, `--` the gap between two groups. */
function toRows(path: string, lines: readonly string[], numbered: boolean): { path?: string; text: string }[] {
  return lines.map((line) => {
    const [, number, mark = ':', text = ''] = /^(\d+)([:-])([^]*)$/.exec(line) ?? [];
    if (number === undefined) return { text: line };
    return { path, text: numbered ? `${path}${mark}${number}${mark}${text}` : `${path}${mark}${text}` };
  });
}

async function grepCount(input: GrepInput, place: Place, context: ToolContext): Promise<ToolOutput> {
  const { byFile, end } = await collect({ input, place, context, mode: ['--count-matches'] });
  if (byFile.length === 0 && end.complete) return nothingFound(input);
  const counts = byFile.map(([path, lines]) => ({ path, count: Number(lines[0]) }));
  const numMatches = counts.reduce((sum, { count }) => sum + count, 0);
  const { shown, note } = page(counts, input, end);
  const content = await boundText(shown.map(({ path, count }) => `${path}:${count}`).join('\n'), { max: MAX_TEXT });
  const total = `Found ${plural(numMatches, 'total occurrence')} across ${plural(counts.length, 'file')}.`;
  return {
    content: [content, '', total, ...(note === '' ? [] : [note])].join('\n'),
    structured: {
      mode: 'count',
      numFiles: counts.length,
      filenames: shown.map(({ path }) => path),
      content,
      numMatches,
    },
  };
}
