/** The folders that someone named, as plugins or marketplaces. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../permissions/path.js';
import { isMissing } from '../workspace/system-error.js';
import { isUrl, showAddress } from './address.js';
import { describeUnreadable } from './inside.js';
import { MANIFEST_FOLDER } from './manifest.js';
import type { PluginDir } from './plugin.js';

export interface RootOptions {
  /** Where relative paths start. */
  cwd: string;
  /** Where those of the project start, and what they may not leave. Without it there are none. */
  projectRoot?: string;
}

export interface FoundRoot {
  /** Absolute, as it was named. */
  path: string;
  scope: PluginDir['scope'];
  /** Links resolved. Absent when there is no plugin. */
  root?: string;
  fault?: string;
}

export function findRoot({ path: written, scope }: PluginDir, { cwd, projectRoot }: RootOptions): FoundRoot {
  const base = scope === 'project' ? (projectRoot ?? cwd) : cwd;
  if (isUrl(written)) {
    const fault = 'this is an address, and nothing is fetched; get it, and name its folder';
    return { path: showAddress(written), scope, fault };
  }
  const isPath = written.trim() !== '' && !written.includes('\0');
  const path = isPath ? resolve(base, written) : base;
  const refuse = (fault: string): FoundRoot => ({ path, scope, fault });
  if (!isPath) return refuse(`${JSON.stringify(written)} is no path of a plugin`);
  try {
    const root = realpathSync.native(path);
    if (scope === 'project' && (projectRoot === undefined || !isInside(realpathSync.native(projectRoot), root))) {
      return refuse('it is not inside the project, whose settings may name only what is; use --plugin-dir');
    }
    if (isPartOfPlugin(root))
      return refuse(`this is a part of a plugin; name the folder that holds ${MANIFEST_FOLDER}`);
    return statSync(root).isDirectory() ? { path, scope, root } : refuse('it is a file; name the folder of the plugin');
  } catch (thrown) {
    return refuse(isMissing(thrown) ? 'there is no such folder; correct the path' : describeUnreadable(thrown));
  }
}

const FILES = ['plugin.json', 'marketplace.json'];

/** The folder of the manifest, or the manifest. */
const isPartOfPlugin = (path: string): boolean =>
  FILES.includes(basename(path))
    ? basename(dirname(path)) === MANIFEST_FOLDER
    : basename(path) === MANIFEST_FOLDER && FILES.some((name) => existsSync(join(path, name)));
