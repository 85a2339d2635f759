import type { GlobInput } from '../../protocol/index.js';
import { splitPattern } from './glob-pattern.js';
import { resolvePath } from './paths.js';

/** The folder to walk and the pattern for what is in it. A folder means all that is in it. */
export function locate(input: GlobInput, cwd: string): { folder: string; rest: string } {
  const { folder, rest } = splitPattern(input.pattern.replace(/\/$/, '/**'));
  return { folder: resolvePath(resolvePath(cwd, input.path ?? '.'), folder === '' ? '.' : folder), rest };
}
