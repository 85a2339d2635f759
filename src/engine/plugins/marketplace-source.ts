/** Where a marketplace says that a plugin is. Nothing is fetched: what is not a folder of the marketplace is elsewhere. */
import { join } from 'node:path';
import { isTable } from '../settings/table.js';
import { isAddress, showAddress } from './address.js';
import { findInside, type InsidePath } from './inside.js';

export type FoundSource =
  | { kind: 'folder' /** Links resolved. */; root: string }
  | { kind: 'elsewhere' /** In words for people. */; where: string }
  | { kind: 'refused'; text: string };

export interface SourcePlace {
  /** Of the marketplace, links resolved. */
  root: string;
  /** `metadata.pluginRoot`: where sources are looked for first. */
  pluginRoot: string | undefined;
}

const ADVICE = 'write the path of its folder, such as "./plugins/my-plugin"';
export function findSource(source: unknown, place: SourcePlace): FoundSource {
  if (source === undefined) return { kind: 'refused', text: `"source" is missing; ${ADVICE}` };
  if (isTable(source)) {
    const where = describeRemote(source);
    if (where !== undefined) return { kind: 'elsewhere', where };
  }
  if (typeof source !== 'string') return { kind: 'refused', text: `this is no source of a plugin; ${ADVICE}` };
  if (isAddress(source)) return { kind: 'elsewhere', where: showAddress(source.trim()) };
  const found = findFolder(source, place);
  const refuse = (text: string): FoundSource => ({
    kind: 'refused',
    text: `${JSON.stringify(showAddress(source))}: ${text}`,
  });
  if (found.kind === 'folder') return { kind: 'folder', root: found.path };
  if (found.kind === 'refused') return refuse(found.text);
  return refuse(found.kind === 'missing' ? 'there is no such folder' : 'it is a file; name the folder of the plugin');
}

function findFolder(source: string, { root, pluginRoot }: SourcePlace): InsidePath {
  const inRoot = findInside(root, source, { what: 'marketplace' });
  const isRoot = /^\.?\/?$/.test(source.trim());
  if (pluginRoot === undefined || isRoot || inRoot.kind === 'refused') return inRoot;
  const below = findInside(root, join(pluginRoot, source), { what: 'marketplace' });
  return below.kind === 'missing' ? inRoot : below;
}

/** `{ source: 'github', repo }`, `{ source: 'url', url }`, `{ source: 'git-subdir', url, path }`, `{ source: 'npm', package }`. */
export function describeRemote(source: Readonly<Record<string, unknown>>): string | undefined {
  const text = (key: string): string | undefined => {
    const value = source[key];
    return typeof value === 'string' && value.trim() !== '' ? showAddress(value) : undefined;
  };
  const kind = text('source');
  const what = text('repo') ?? text('url') ?? text('package');
  if (what === undefined) return undefined;
  const path = text('path');
  return [kind, what, path && `folder ${path}`].filter((part) => part !== undefined).join(' ');
}
