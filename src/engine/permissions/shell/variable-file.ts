/** Files and folders that git writes because a variable names them. */
import { isHere, toTree } from '../programs/git.js';
import { HOLE } from './hole.js';
import type { Redirection } from './reading.js';
import type { ShellWord } from './word.js';

const FILE = /^GIT_(?:TRACE\w*|INDEX_FILE|CONFIG|CONFIG_GLOBAL|CONFIG_SYSTEM|REDIRECT_STD(?:OUT|ERR)|SHALLOW_FILE)$/;
const FOLDER = /^GIT_(?:WORK_TREE|DIR|COMMON_DIR|OBJECT_DIRECTORY)$/;
/** They switch it on or off, or name a stream that is open. */
const SWITCH = /^(?:\d*|true|false|yes|no|on|off)$/i;

/** However it is set: by `read`, by a loop, by `${GIT_TRACE:=file}`. */
export const writtenBySetting = (
  name: string,
  values: readonly string[] | undefined,
  folders: Redirection['folders'],
): Redirection[] =>
  (values ?? [HOLE.any]).flatMap((value) => writtenByVariable({ value: `${name}=${value}` }, folders) ?? []);

/** `GIT_TRACE=file`: whoever sets it has the file written. */
export function writtenByVariable(
  { value }: Pick<ShellWord, 'value'>,
  folders: Redirection['folders'],
): Redirection | undefined {
  const [, name = '', given = ''] = /^(GIT_\w+)\+?=([^]*)$/.exec(value) ?? [];
  const isFolder = FOLDER.test(name);
  if (!isFolder && !FILE.test(name)) return undefined;
  const path = isFolder ? toTree(given, name !== 'GIT_WORK_TREE') : given.replace(/^af_unix:(?:stream:|dgram:)?/, '');
  if (SWITCH.test(path) || (isFolder && isHere(path))) return undefined;
  return {
    operator: '>',
    target: { value: path, splits: false },
    reads: false,
    writes: true,
    connects: false,
    folders,
    ...(isFolder && { below: 'tree' }),
  };
}
