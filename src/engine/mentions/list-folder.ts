/** What is in a mentioned folder: its files, and its folders with the number of files below them. */
import type { ToolContext } from '../../protocol/index.js';
import { runSearch } from '../tools/search.js';

const MAX_FILES = 20_000;
const MAX_SHOWN = 200;

/** `folder` with links resolved. What rules deny (`exclusions`) and .gitignore names is left out. Throws like a search. */
export async function listFolder(folder: string, context: ToolContext): Promise<string> {
  const files: string[] = [];
  const folders = new Map<string, number>();
  let count = 0;
  const { complete } = await runSearch(context, {
    folder,
    args: ['--files'],
    onName(name) {
      const slash = name.indexOf('/');
      if (slash === -1) files.push(name);
      else folders.set(name.slice(0, slash), (folders.get(name.slice(0, slash)) ?? 0) + 1);
      count += 1;
      return count < MAX_FILES;
    },
  });
  if (count === 0) return '(no files, or none that .gitignore and the rules leave)';
  const more = complete ? '' : 'at least ';
  const lines = [
    ...[...folders].toSorted(byName).map(([name, below]) => `${showName(name)}/ (${more}${countFiles(below)})`),
    ...files.toSorted().map(showName),
  ];
  const notes = [
    ...(lines.length > MAX_SHOWN ? [`${lines.length - MAX_SHOWN} more are not shown.`] : []),
    ...(complete ? [] : [`There is too much in it: the search stopped after ${countFiles(count)}.`]),
  ];
  const shown = lines.slice(0, MAX_SHOWN).join('\n');
  return notes.length === 0 ? shown : `${shown}\n\n[${notes.join(' ')} Use Glob to find more.]`;
}

const byName = ([one]: [string, number], [other]: [string, number]): number => (one < other ? -1 : 1);

const countFiles = (count: number): string => (count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`);

/** A name with line ends in it must not look like several. */
const showName = (name: string): string => (/[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name);
