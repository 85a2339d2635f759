/**
 * Tells afterwards what was at a path while a process ran in a folder. A process that walks through folders by name
 * steps through a link that is put there for a moment; this finds out without a look at each of its steps.
 *
 * The system notes by itself when the entries of a folder changed and when a file or folder was moved (ctime; nobody
 * can set it back). An entry whose folder is older than the start, or that is itself older, has been in its place all
 * along. That holds for file systems that note moves and go by the clock of this machine, as local ones on Linux do.
 */
import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ProcessExit } from '../../protocol/index.js';
import { type ExactFolder, openFolder } from './exact-folder.js';

export type Witness = NonNullable<ProcessExit['look']>;
type State = ReturnType<Witness>[number];

/** Times are those of the system's last tick, 10 ms ago at most. */
const TICK_MS = 20;

/** `folder` is the one at `path`, open; `since` the time before the process starts. */
export function createWitness(folder: ExactFolder, { path, since }: { path: string; since: number }): Witness {
  const start = statSync(folder.at('.'));
  const isOld = (stats: Stats | undefined): boolean => stats !== undefined && stats.ctimeMs < since - TICK_MS;
  return (names) => {
    const seen = examine(path, names);
    const root = seen.get('.');
    const states = new Map<string, State>([['.', isSame(root, start) ? 'stayed' : 'gone']]);

    const judge = (name: string): State => {
      const above = stateOf(dirname(name));
      const [parent, entry] = [seen.get(dirname(name)), seen.get(name)];
      // A name that is not UTF-8 cannot be asked for; then only its folder can tell.
      if (entry === undefined) return isOld(parent) && name.includes('\ufffd') ? above : 'gone';
      if (entry.isSymbolicLink() || above === 'gone') return 'gone';
      return isOld(parent) || isOld(entry) ? above : 'changed';
    };
    const stateOf = (name: string): State => {
      const state = states.get(name) ?? judge(name);
      states.set(name, state);
      return state;
    };
    return names.map(stateOf);
  };
}

const isSame = (a: Stats | undefined, b: Stats): boolean => a?.dev === b.dev && a.ino === b.ino;

/** What is at these names and in the folders on the way to them, now. Nothing when the folder cannot be opened. */
function examine(path: string, names: readonly string[]): Map<string, Stats | undefined> {
  const all = new Set(names);
  for (const name of all) all.add(dirname(name));
  const seen = new Map<string, Stats | undefined>();
  const folder = open(path);
  if (folder === undefined) return seen;
  try {
    // Deepest first: what is in its place afterwards was so when its entries were looked at.
    for (const name of [...all].toSorted((a, b) => b.length - a.length)) seen.set(name, lookAt(folder.at(name)));
    seen.set('.', lookAt(folder.at('.')));
  } finally {
    folder.close();
  }
  return seen;
}

const open = (path: string): ExactFolder | undefined => {
  try {
    return openFolder(path);
  } catch {
    return undefined;
  }
};

const lookAt = (place: string): Stats | undefined => {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
};
