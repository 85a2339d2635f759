/** The calls of a session as they are judged. */
import type { FileStat, ToolAccess, WholeTool } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import { ownPlacesOf } from './own-places.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';

/** What a decision about a call rests on: the folder it starts from, and where the places it touches really are. */
export interface Grounds {
  /** Equal for equal grounds. */
  key: string;
  /** Each place as the tool names it, and with its links resolved. */
  places: ReadonlyMap<string, string>;
}

export interface ToolCall {
  tool: WholeTool;
  input: Record<string, unknown>;
}

export type Place = ToolAccess & { real: string; kind?: FileStat['kind']; matches?: string };

export const groundsOf = async (scope: SessionScope, call: ToolCall): Promise<Grounds> =>
  toGrounds(scope, await placesOf(scope, call));

export const toGrounds = ({ state }: SessionScope, places: readonly Place[]): Grounds => ({
  key: JSON.stringify([state.cwd, places.map(({ path, real, access }) => [path, real, access])]),
  places: new Map(places.map(({ path, real }) => [path, real])),
});

export async function placesOf(scope: SessionScope, call: ToolCall): Promise<Place[]> {
  const [named, linked] = await Promise.all([namedPlaces(scope, call), linkedPlaces(scope, call)]);
  return [...named, ...linked];
}

const namedPlaces = ({ state, workspace }: SessionScope, { tool, input }: ToolCall): Promise<Place[]> =>
  Promise.all(
    (tool.accesses?.(input, { cwd: state.cwd }) ?? []).map(async (access) => {
      const real = await workspace.realPath(access.path);
      const kind = (await workspace.stat(real).catch(() => undefined))?.kind;
      return { ...access, real, ...(kind && { kind }) };
    }),
  );

/** Where links lead that the patterns of a shell line match. */
async function linkedPlaces({ state, guard, workspace }: SessionScope, { tool, input }: ToolCall): Promise<Place[]> {
  if (tool.name !== 'Bash' || typeof input.command !== 'string' || workspace.list === undefined) return [];
  const { findLinked } = await import('./links.js');
  const { list, realPath } = workspace;
  const found = await findLinked(
    input.command,
    { cwd: state.cwd, home: guard.home },
    { list: (folder) => list.call(workspace, folder), realPath: (path) => realPath.call(workspace, path) },
  );
  return found.map((each) => ({ ...each, access: 'read' }));
}

export const toPermissionCall = (
  { state }: SessionScope,
  { tool, input }: ToolCall,
  places: readonly Place[],
): PermissionCall => ({
  tool: tool.name,
  input,
  readOnly: tool.isReadOnly(input, { cwd: state.cwd }),
  edits: tool.edits ?? false,
  accesses: places.map(({ path, real, access, kind, matches }) => ({
    path: real,
    given: path,
    access,
    ...(kind && { kind }),
    ...(matches !== undefined && { matches }),
  })),
  ...(typeof input.command === 'string' && { command: input.command }),
});

export const toPolicy = (
  { state, guard, config, kept }: SessionScope,
  book: PermissionPolicy['book'],
): PermissionPolicy => ({
  mode: state.mode,
  book,
  roots: state.roots,
  ownPlaces: ownPlacesOf(guard.settings, state.roots),
  home: guard.home,
  cwd: state.cwd,
  trusted: guard.trusted,
  privateHosts: (config.env.HEDDLE_WEB_PRIVATE_HOSTS ?? '').split(',').filter((host) => host !== ''),
  ...(kept.folder !== undefined && { ownFolder: kept.folder }),
});
