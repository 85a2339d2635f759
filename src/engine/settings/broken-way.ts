/** Why there is no settings file where somebody meant one to be. */
import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** The link, or that of its folder, leads nowhere. */
export function describeWay(path: string): string {
  const folder = dirname(path);
  const target = linkAt(path);
  if (target !== undefined) return `it is a link to ${target}, which is not there`;
  return `${folder} is a link to ${linkAt(folder) ?? 'a place'}, which is not there`;
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
