/** Why there is no settings file where somebody meant one to be. */
import { existsSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** The link, or that of its folder, leads nowhere; or what should be its folder is none. */
export function describeWay(path: string): string {
  const folder = dirname(path);
  const target = linkAt(path);
  if (target !== undefined) return `it is a link to ${target}, which is not there`;
  const above = existsSync(folder) ? undefined : linkAt(folder);
  return above === undefined ? `${folder} is no folder` : `${folder} is a link to ${above}, which is not there`;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
