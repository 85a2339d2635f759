/** Looking at files for a host: under the rules for Read, and never by asking somebody. */
import type { ToolContext } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isElsewhere } from '../elsewhere.js';
import { judgeRead } from '../permissions/may-read.js';
import type { SessionScope } from '../scope.js';
import { resolvePath } from '../tools/paths.js';
import { mayHave } from '../tools/registry.js';
import { contextParts } from '../tools/context-parts.js';

export interface ReadablePlace {
  /** Absolute, links not resolved. */
  path: string;
  /** Where it leads. */
  real: string;
  /** What a search of it must leave out. */
  exclusions: readonly string[];
}

/** Throws where Read would be denied, or would have to ask. */
export async function findReadable(
  scope: SessionScope,
  given: string,
  kind: 'file' | 'folder' = 'file',
): Promise<ReadablePlace> {
  const { config, state, workspace } = scope;
  if (given === '' || given.includes('\0')) throw new HeddleError('invalid_config', 'The path cannot be used.');
  // A server that gives its clients no Read does not give them files in another way.
  if (isElsewhere(config) && !mayHave('Read', config)) throw refuse(given, 'this session has no Read');
  const path = resolvePath(state.cwd, given);
  const real = await workspace.realPath(path);
  const { verdict, exclusions = [] } = await judgeRead(scope, real, { given: path, kind });
  if (verdict === 'deny') throw refuse(given, 'permission to read it is denied');
  if (verdict === 'ask') throw refuse(given, 'a person would have to be asked, which only Read does');
  return { path, real, exclusions };
}

const refuse = (path: string, why: string): HeddleError =>
  new HeddleError('request_failed', `${path} was not looked at: ${why}.`);

/** What a tool that looks there would get. */
export function readingContext(
  scope: SessionScope,
  { path, real, exclusions }: ReadablePlace,
  signal: AbortSignal,
): ToolContext {
  return {
    ...contextParts(scope, signal),
    toolUseId: 'request',
    setCwd: () => {},
    progress: () => {},
    judgedPath: (asked) => (asked === path ? real : asked),
    exclusions,
  };
}
