/** Finds the files of a definition folder: a walk with an end, which no link leads out of. */
import { type Dirent, lstatSync, opendirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import type { DefinitionFolder, DefinitionProblem } from './definition.js';
import { explainReadError } from './definition-text.js';

export interface FoundFile {
  /** The name that its place gives it. */
  name: string;
  folders: readonly string[];
  /** As it is reported. */
  path: string;
  /** Without links, as it is read. */
  real: string;
}

export interface Scan {
  files: readonly FoundFile[];
  problems: readonly DefinitionProblem[];
}

export const MAX_FILES = 5_000;
/** Names that are looked at, of whatever kind. */
const MAX_NAMES = 20_000;
const MAX_DEPTH = 8;
const MARKDOWN = /\.md$/i;
const SKILL = /^skill\.md$/i;
/** As people write it where letter case counts. */
const SKILL_NAMES = ['SKILL.md', 'skill.md', 'Skill.md', 'SKILL.MD'];

interface Walk {
  root: string;
  files: FoundFile[];
  problems: DefinitionProblem[];
  /** Real paths of the folders that were walked through. */
  visited: Set<string>;
  names: number;
  isFull: boolean;
}

interface Place {
  path: string;
  real: string;
  folders: readonly string[];
}

/** Never throws. A folder that does not exist has no files. Its path may also name one file. */
export function scanFolder({ kind, path }: DefinitionFolder): Scan {
  const walk: Walk = { root: '', files: [], problems: [], visited: new Set(), names: 0, isFull: false };
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    walk.root = stats.isDirectory() ? real : dirname(real);
    if (!stats.isDirectory()) addSingle(walk, { kind, path, real });
    else if (kind === 'skills') scanSkills(walk, { path, real, folders: [] });
    else scanMarkdown(walk, { path, real, folders: [] });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') report(walk, path, explainReadError(error));
  }
  if (walk.isFull) {
    report(walk, path, `there are too many files; only ${MAX_FILES} files and ${MAX_NAMES} names are looked at`);
  }
  return walk;
}

const report = ({ problems }: Walk, file: string, text: string): void =>
  void problems.push({ severity: 'warning', file, line: 0, text });

function addSingle(walk: Walk, { kind, path, real }: Pick<DefinitionFolder, 'kind' | 'path'> & { real: string }): void {
  const file = basename(path);
  if (kind === 'skills') {
    if (SKILL.test(file)) add(walk, { name: basename(dirname(real)), folders: [], path: real, real });
  } else if (MARKDOWN.test(file)) add(walk, { name: file.replace(MARKDOWN, ''), folders: [], path: real, real });
}

function add(walk: Walk, file: FoundFile): void {
  if (walk.files.length < MAX_FILES) walk.files.push(file);
  else walk.isFull = true;
}

/** Folders in folders; links between them come last, so that a folder is named by its own place. */
function scanMarkdown(walk: Walk, first: Place): void {
  const places: Place[] = [first];
  const linked: Place[] = [];
  for (let place = places.shift() ?? linked.shift(); place !== undefined; place = places.shift() ?? linked.shift()) {
    if (walk.visited.has(place.real) || walk.isFull) continue;
    walk.visited.add(place.real);
    if (place.folders.length > MAX_DEPTH) {
      report(walk, place.path, `folders are looked at to a depth of ${MAX_DEPTH}; this one is not`);
      continue;
    }
    for (const entry of listFolder(walk, place)) {
      const target = follow(walk, place, entry);
      if (target?.isDirectory === true) {
        const list = entry.isSymbolicLink() ? linked : places;
        list.push({ ...target, folders: [...place.folders, entry.name] });
      } else if (target !== undefined && MARKDOWN.test(entry.name)) {
        add(walk, { ...target, name: entry.name.replace(MARKDOWN, ''), folders: place.folders });
      }
    }
  }
}

/** One folder each, with a SKILL.md; the folder itself may be one. */
function scanSkills(walk: Walk, place: Place): void {
  if (addSkill(walk, place, basename(place.path))) return;
  for (const entry of listFolder(walk, place)) {
    if (entry.isFile()) continue;
    const target = follow(walk, place, entry);
    if (target?.isDirectory === true) addSkill(walk, { ...target, folders: [] }, entry.name);
  }
}

function addSkill(walk: Walk, place: Place, name: string): boolean {
  const found = findSkillFile(walk, place);
  if (found !== undefined) add(walk, { ...found, name, folders: [] });
  return found !== undefined;
}

function findSkillFile(walk: Walk, { path, real }: Place): Pick<FoundFile, 'path' | 'real'> | undefined {
  for (const name of SKILL_NAMES) {
    const file = { path: join(path, name), real: join(real, name) };
    try {
      const stats = lstatSync(file.real, { throwIfNoEntry: false });
      if (stats === undefined) continue;
      if (!stats.isSymbolicLink()) return file;
      const target = resolveInside(walk, file);
      return target === undefined ? undefined : { path: target.real, real: target.real };
    } catch (error) {
      report(walk, file.path, explainReadError(error));
      return undefined;
    }
  }
  return undefined;
}

/** In the order of their names. Hidden ones are left out. */
function listFolder(walk: Walk, { path, real }: Place): Dirent[] {
  const entries: Dirent[] = [];
  try {
    const folder = opendirSync(real, { bufferSize: 256 });
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        walk.names += 1;
        if (walk.names > MAX_NAMES) {
          walk.isFull = true;
          break;
        }
        if (!entry.name.startsWith('.') && entry.name !== 'node_modules') entries.push(entry);
      }
    } finally {
      folder.closeSync();
    }
  } catch (error) {
    report(walk, path, explainReadError(error));
  }
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

interface Target {
  path: string;
  real: string;
  isDirectory: boolean;
}

/** Where an entry leads; undefined for what is neither file nor folder, and for links that lead out. */
function follow(walk: Walk, { path, real }: Place, entry: Dirent): Target | undefined {
  const own = { path: join(path, entry.name), real: join(real, entry.name) };
  if (entry.isDirectory()) return { ...own, isDirectory: true };
  if (entry.isFile()) return { ...own, isDirectory: false };
  if (!entry.isSymbolicLink()) {
    if (MARKDOWN.test(entry.name))
      report(walk, own.path, 'it is a pipe, socket or device; an ordinary file is expected');
    return undefined;
  }
  try {
    const target = resolveInside(walk, own);
    const stats = target === undefined ? undefined : statSync(target.real);
    if (target === undefined || stats === undefined || !(stats.isFile() || stats.isDirectory())) return undefined;
    // A file is known by where it is: whoever reads it later follows no link.
    return stats.isDirectory()
      ? { ...target, isDirectory: true }
      : { ...target, path: target.real, isDirectory: false };
  } catch (error) {
    report(walk, own.path, `the link leads nowhere: ${explainReadError(error)}`);
    return undefined;
  }
}

/** Throws for a link that leads nowhere. */
function resolveInside(
  walk: Walk,
  { path, real }: { path: string; real: string },
): { path: string; real: string } | undefined {
  const target = realpathSync(real);
  if (target === walk.root || target.startsWith(walk.root + sep)) return { path, real: target };
  report(walk, path, 'the link leads out of the folder, and is not followed; put the file itself here');
  return undefined;
}
