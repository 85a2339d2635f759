/** The calls of a session as they are judged. */
import type { FileStat, PermissionMode, ToolAccess, WholeTool } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import { createSha256 } from '../workspace/sha256.js';
import type { JudgedAccess, PermissionCall } from './policy.js';

/** What a decision about a call rests on: the folder it starts from, and where the places it touches really are. */
export interface Grounds {
  /** Equal for equal grounds. */
  key: string;
  cwd: string;
  /** What is done with each place. */
  touched: readonly Touched[];
  /** Each place as the tool names it, and with its links resolved. */
  places: ReadonlyMap<string, string>;
  mode: PermissionMode;
  /** What a tool of a server is. */
  definition?: string;
}

type Touched = Pick<Place, 'path' | 'real' | 'access'>;

export interface ToolCall {
  tool: WholeTool;
  input: Record<string, unknown>;
}

export type Place = ToolAccess &
  Pick<JudgedAccess, 'isUnknown' | 'matches'> & { real: string; kind?: FileStat['kind'] };

export const groundsOf = async (scope: SessionScope, call: ToolCall): Promise<Grounds> =>
  toGrounds(scope, call, await placesOf(scope, call));

export const toGrounds = ({ state, mcp }: SessionScope, { tool }: ToolCall, places: readonly Place[]): Grounds => {
  const touched = places.map(({ path, real, access }) => ({ path, real, access }));
  return ground({ cwd: state.cwd, mode: state.mode, touched, definition: mcp.definitionOf(tool.name) });
};

const ground = ({
  cwd,
  mode,
  touched,
  definition,
}: Pick<Grounds, 'cwd' | 'mode' | 'touched'> & { definition: string | undefined }): Grounds => ({
  key: JSON.stringify([cwd, touched.map(({ path, real, access }) => [path, real, access]), definition]),
  cwd,
  mode,
  touched,
  places: new Map(touched.map(({ path, real }) => [path, real])),
  ...(definition !== undefined && { definition }),
});

/**
 * The grounds of an answer that changes the input: whatever whoever answered was shown is as it was then, and only what the
 * new input brings with it is as it is now.
 */
export const groundsOfAnswer = (shown: Grounds, now: Grounds): Grounds =>
  ground({
    cwd: shown.cwd,
    mode: shown.mode,
    touched: now.touched.map(({ path, real, access }) => ({ path, real: shown.places.get(path) ?? real, access })),
    definition: shown.definition,
  });

/** As a log keeps them. */
export const markOfGrounds = ({ key }: Grounds): string => createSha256().update(key).digest('base64url');

export async function placesOf(scope: SessionScope, call: ToolCall): Promise<Place[]> {
  const [named, linked] = await Promise.all([namedPlaces(scope, call), linkedPlaces(scope, call)]);
  return [...named, ...linked];
}

const namedPlaces = ({ state, workspace }: SessionScope, { tool, input }: ToolCall): Promise<Place[]> =>
  Promise.all(
    (tool.accesses?.(input, { cwd: state.cwd }) ?? []).map(async (access) => {
      const real = await workspace.realPath(access.path).catch(() => undefined);
      if (real === undefined) return { ...access, real: access.path, isUnknown: true as const };
      const kind = (await workspace.stat(real).catch(() => undefined))?.kind;
      return { ...access, real, ...(kind && { kind }) };
    }),
  );

/** Where links lead that the patterns of a shell line match. */
async function linkedPlaces({ state, guard, workspace }: SessionScope, { tool, input }: ToolCall): Promise<Place[]> {
  if (tool.name !== 'Bash' || typeof input.command !== 'string' || workspace.list === undefined) return [];
  const { findLinked } = await import('./links.js');
  const { list, realPath, readFile } = workspace;
  const found = await findLinked(
    input.command,
    { cwd: state.cwd, home: guard.home },
    {
      list: (folder) => list.call(workspace, folder),
      realPath: (path) => realPath.call(workspace, path),
      readFile: (path, options) => readFile.call(workspace, path, options),
    },
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
  accesses: places.map(({ path, real, ...more }) => ({ ...more, path: real, given: path })),
  ...(typeof input.command === 'string' && { command: input.command }),
});
