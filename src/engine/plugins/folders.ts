/** Where the agents, commands, skills and output styles of a plugin are. */
import { basename, dirname, join } from 'node:path';
import type { DefinitionFolder, DefinitionProblem } from '../definitions/definition.js';
import { isInside } from '../permissions/path.js';
import { showAddress } from './address.js';
import { findInside, follow, type InsidePath } from './inside.js';
import type { Manifest } from './manifest.js';

type Kind = DefinitionFolder['kind'];
const KINDS = ['agents', 'commands', 'skills', 'output-styles'] as const satisfies readonly Kind[];

const NOTHING: InsidePath = { kind: 'missing' };

export interface FoundFolders {
  folders: DefinitionFolder[];
  problems: DefinitionProblem[];
}

interface PluginPlace {
  root: string;
  manifest: Pick<Manifest, 'name' | 'paths' | 'isWhole'>;
}

/**
 * The default folders that are there, then what the manifest names; nothing twice. What is in them is for `loadDefinitions`
 * to find: it stops at too many files, and follows no link out of a folder.
 */
export function findFolders({ root, manifest }: PluginPlace): FoundFolders {
  const found: FoundFolders = { folders: [], problems: [] };
  const origin = { scope: 'plugin', plugin: manifest.name, pluginRoot: root } as const;
  for (const kind of KINDS) {
    const taken: string[] = [];
    const take = (path: string): void => {
      if (taken.some((other) => isCovered(kind, { path, other }))) return;
      taken.push(path);
      found.folders.push({ kind, path, origin });
    };
    const standard = join(root, kind);
    const place = manifest.isWhole ? NOTHING : follow(root, standard);
    if (place.kind === 'folder') take(place.path);
    else if (place.kind !== 'missing') {
      const text = place.kind === 'refused' ? place.text : 'it is a file; a folder is expected';
      found.problems.push({ severity: 'error', file: standard, line: 0, text });
    }
    for (const { written, ...at } of manifest.paths[kind]) {
      const named = toUsable(kind, findInside(root, written));
      if ('path' in named) take(named.path);
      else
        found.problems.push({
          severity: 'error',
          ...at,
          text: `${JSON.stringify(showAddress(written))}: ${named.text}`,
        });
    }
  }
  return found;
}

/** One file is enough, where a definition is one; a skill is a folder. */
function toUsable(kind: Kind, place: InsidePath): { path: string } | { text: string } {
  if (place.kind === 'refused') return { text: place.text };
  if (place.kind === 'missing') return { text: 'there is nothing at this path; correct it or take it out' };
  if (place.kind === 'folder') return { path: place.path };
  if (kind === 'skills') {
    return /^skill\.md$/i.test(basename(place.path))
      ? { path: dirname(place.path) }
      : { text: 'it is a file; name a folder of skills, or the folder with SKILL.md' };
  }
  return place.path.endsWith('.md') ? { path: place.path } : { text: 'it is a file, and none that ends in .md' };
}

/** What is found through a folder that is looked into anyway is not looked for again. Of skills only the next level is. */
function isCovered(kind: Kind, { path, other }: { path: string; other: string }): boolean {
  if (path === other) return true;
  if (kind === 'skills') return dirname(path) === other && follow(path, join(path, 'SKILL.md')).kind === 'file';
  return isInside(other, path);
}
