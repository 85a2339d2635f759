import { resolve } from 'node:path/posix';

const DRIVE = /^[A-Za-z]:(?:[\\/]|$)/;

/** Windows paths as those of other systems: `C:\a` becomes `/C:/a`, `\\host\share` becomes `//host/share`. */
export function toPosixPath(path: string): string {
  const bare = path.replace(/^\\\\[?.]\\(?:UNC\\)?/i, (prefix) => (/UNC/i.test(prefix) ? '\\\\' : ''));
  if (DRIVE.test(bare)) return resolve(`/${bare.replaceAll('\\', '/')}`);
  if (bare.startsWith('\\\\')) return `/${resolve(bare.replaceAll('\\', '/'))}`;
  return path;
}

export const isShare = (path: string): boolean => path.startsWith('\\\\') && !/^\\\\[?.]\\[A-Za-z]:/.test(path);

/** Names that Windows takes for the same file: `a.`, `a `, `a::$DATA`, whatever their case. */
export function toWindowsName(path: string): string {
  return path
    .split('/')
    .map((name, index) =>
      index === 1 && /^[A-Za-z]:$/.test(name) ? name : name.replace(/:.*$/, '').replace(/[. ]+$/, '') || name,
    )
    .join('/');
}

/** Devices that Windows finds in every folder. */
export const isWindowsDevice = (path: string): boolean =>
  /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i.test(
    path
      .split('/')
      .at(-1)
      ?.replace(/[. ]+$/, '') ?? '',
  );

/** `SECRET~1` may be the short name of anything that begins so. */
export const SHORT_NAME = /^([^~.]{1,6})~\d+(?:\.[^.]{0,3})?$/;
