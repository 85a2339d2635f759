/** Adds servers to the files of a person and of a project, and takes them out. Everything else in the files stays. */
import { join } from 'node:path';
import { HeddleError } from '../../../protocol/plain.js';
import { type EditOptions, type EditOutcome, editSettings } from '../../settings/edit.js';
import type { SettingsFiles } from '../../settings/files.js';
import { isTable } from '../../settings/table.js';
import { readFile } from './documents.js';

/** Where a person may write servers. */
export type ServerPlace = 'local' | 'project' | 'user';

export interface ServerEdit {
  files: SettingsFiles;
  place: ServerPlace;
  name: string;
  /** The entry; undefined takes it out. */
  entry: unknown;
}

/** `invalid_config` where the name is taken, or not there to be taken out. */
export async function editServer({ files, place, name, entry }: ServerEdit): Promise<EditOutcome> {
  const { file, options } = placeOf(files, place);
  return editSettings(
    file,
    (settings) => {
      const { mcpServers } = settings;
      // A bare table of servers stays one.
      const isBare = place === 'project' && mcpServers === undefined && Object.keys(settings).length > 0;
      const table = isBare ? settings : (mcpServers ?? {});
      if (!isTable(table)) throw refusal(`${file}: "mcpServers" must be an object.`);
      const isThere = Object.hasOwn(table, name);
      if (isThere && entry !== undefined) throw refusal(`${file} has a server "${name}" already.`);
      if (!isThere && entry === undefined) throw refusal(`${file} has no server "${name}".`);
      return [{ path: isBare ? [name] : ['mcpServers', name], value: entry }];
    },
    options,
  );
}

function placeOf(files: SettingsFiles, place: ServerPlace): { file: string; options: EditOptions } {
  const { projectRoot: within } = files;
  if (place === 'user') return { file: files.user, options: {} };
  if (place === 'local') return { file: files.local, options: { within } };
  return { file: join(within, '.mcp.json'), options: { within, shared: true } };
}

const refusal = (text: string): HeddleError => new HeddleError('invalid_config', text);

/** The files that have a server of this name, broken or not. */
export async function listServerPlaces(files: SettingsFiles, name: string): Promise<ServerPlace[]> {
  const places = ['local', 'project', 'user'] as const;
  const found = await Promise.all(
    places.map(async (place) => {
      const table = await readFile(placeOf(files, place).file, place);
      // Only a file of servers may be a bare table of them.
      return table !== undefined && Object.hasOwn(table.entries, name) && (place === 'project' || table.at.length > 0);
    }),
  );
  return places.filter((_, at) => found[at]);
}
