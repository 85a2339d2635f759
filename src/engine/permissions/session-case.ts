/** The calls of a session as they are judged. */
import type { FileStat, PermissionMode, ToolAccess, WholeTool } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import { createSha256 } from '../workspace/sha256.js';
import type { JudgedAccess, PermissionCall } from './policy.js';
import type { RuleBook } from './rules/book.js';
import type { Seen } from './seen.js';

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
  /** What was looked for on the disk, and where it was found. */
  seen: readonly string[];
  /** What a tool of a server is. */
  definition?: string;
}

type Touched = Pick<Place, 'path' | 'real' | 'access'>;

export interface ToolCall {
  tool: WholeTool;
  input: Record<string, unknown>;
}

/** What is known of a call before it is looked for more. */
export interface Known {
  places: readonly Place[];
  book: RuleBook;
}

export type Place = ToolAccess &
  Pick<JudgedAccess, 'isUnknown' | 'matches'> & { real: string; kind?: FileStat['kind'] };

export const groundsOf = async (scope: SessionScope, call: ToolCall): Promise<Grounds> => {
  const places = await placesOf(scope, call);
  return toGrounds(scope, call, { places, seen: await seenBy(scope, call, { places, book: await rulesOf(scope) }) });
};

export const toGrounds = (
  { state, mcp }: SessionScope,
  { tool }: ToolCall,
  { places, seen }: { places: readonly Place[]; seen: readonly Seen[] },
): Grounds => {
  const touched = places.map(({ path, real, access }) => ({ path, real, access }));
  const found = seen.map(({ at, pattern: _, ...lookup }) => JSON.stringify([lookup, at]));
  return ground({ cwd: state.cwd, mode: state.mode, touched, seen: found, definition: mcp.definitionOf(tool.name) });
};

const ground = ({
  cwd,
  mode,
  touched,
  seen,
  definition,
}: Pick<Grounds, 'cwd' | 'mode' | 'touched' | 'seen'> & { definition: string | undefined }): Grounds => ({
  key: JSON.stringify([
    cwd,
    touched.map(({ path, real, access }) => [path, real, access]),
    definition,
    ...(seen.length > 0 ? [seen] : []),
  ]),
  cwd,
  mode,
  touched,
  seen,
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
    seen: now.seen,
    definition: shown.definition,
  });

/** As a log keeps them. */
export const markOfGrounds = ({ key }: Grounds): string => createSha256().update(key).digest('base64url');

export async function placesOf(scope: SessionScope, call: ToolCall): Promise<Place[]> {
  if (!looksAround(scope, call)) return namedPlaces(scope, call);
  const { findLinks } = await import('./session-disk.js');
  const links = findLinks(scope, call.input.command as string);
  const [named, linked] = await Promise.all([namedPlaces(scope, call), links]);
  return [...named, ...linked.map((each) => ({ ...each, access: 'read' as const }))];
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

/** What of a shell line was looked for on the disk, to know whether the rules are about it. */
export async function seenBy(scope: SessionScope, call: ToolCall, { places, book }: Known): Promise<readonly Seen[]> {
  if (!looksAround(scope, call)) return [];
  const { findSeenBy } = await import('./session-disk.js');
  return findSeenBy(scope, toPermissionCall(scope, call, { places }), book);
}

export const rulesOf = ({ guard, state, config }: SessionScope): Promise<RuleBook> =>
  guard.rules({ turn: state.turnRules, deny: config.disallowedTools });

const looksAround = ({ workspace }: SessionScope, { tool, input }: ToolCall): boolean =>
  tool.name === 'Bash' && typeof input.command === 'string' && workspace.list !== undefined;

export const toPermissionCall = (
  scope: SessionScope,
  { tool, input }: ToolCall,
  { places, seen = [] }: { places: readonly Place[]; seen?: readonly Seen[] },
): PermissionCall => ({
  tool: tool.name,
  input,
  readOnly: tool.isReadOnly(input, { cwd: scope.state.cwd }),
  edits: tool.edits ?? false,
  accesses: places.map(({ path, real, ...more }) => ({ ...more, path: real, given: path })),
  ...(looksAround(scope, { tool, input }) && { seen, knowsLinks: true }),
  ...(typeof input.command === 'string' && { command: input.command }),
});
