/** Plugins, from the folders that someone named to what they bring. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../permissions/path.js';
import { isMissing } from '../workspace/system-error.js';
import { describeUnreadable } from './inside.js';
import { MANIFEST_FOLDER } from './manifest.js';
import { foldName } from './names.js';
import type { LoadedPlugins, Plugin, PluginDir, PluginServer } from './plugin.js';
import { type PluginRead, type ReadPlugin, readPlugin } from './read-plugin.js';

export interface LoadPluginsOptions {
  /** Where relative paths start. */
  cwd: string;
  /** Where those of the project start, and what they may not leave. Without it there are none. */
  projectRoot?: string;
}

/**
 * In the order in which they are named; of two with one name the first counts. Never rejects for what is in a folder: that
 * is a problem, and the rest loads. Trust is the caller's: plugins of a project that nobody trusts are not given to it.
 */
export async function loadPlugins(dirs: readonly PluginDir[], options: LoadPluginsOptions): Promise<LoadedPlugins> {
  const all = dirs.map((dir) => findRoot(dir, options));
  // A folder that is named twice says nothing new.
  const distinct = all.filter(
    ({ root }, at) => root === undefined || all.findIndex((each) => each.root === root) === at,
  );
  const loaded: LoadedPlugins = { plugins: [], problems: [] };
  const servers = new Set<string>();
  for (const { plugin, problems } of await Promise.all(distinct.map(readRoot))) {
    loaded.problems.push(...problems);
    if (plugin === undefined) continue;
    const other = loaded.plugins.find(({ name }) => foldName(name) === foldName(plugin.name));
    if (other === undefined) {
      loaded.plugins.push(takeServers(plugin, { servers, problems: loaded.problems }));
      continue;
    }
    const text = `there is a plugin "${other.name}" already, in ${other.root}; this one is not used`;
    loaded.problems.push({ severity: 'error', file: plugin.root, line: 0, text });
  }
  return loaded;
}

/** `servers` are the names that are given away. */
function takeServers(
  { servers: own, ...plugin }: ReadPlugin,
  { servers, problems }: { servers: Set<string>; problems: LoadedPlugins['problems'] },
): Plugin {
  const mcpServers: Record<string, PluginServer> = {};
  for (const { name, written, config, file, line } of own) {
    if (servers.has(name)) {
      const text = `"${written}": there is a server "${name}" already; this one is not used, give it another name`;
      problems.push({ severity: 'error', file, line, text });
    } else mcpServers[name] = config;
    servers.add(name);
  }
  return { ...plugin, mcpServers };
}

interface FoundRoot {
  /** Absolute, as it was named. */
  path: string;
  scope: PluginDir['scope'];
  /** Links resolved. Absent when there is no plugin. */
  root?: string;
  fault?: string;
}

async function readRoot({ path, root, scope, fault = '' }: FoundRoot): Promise<PluginRead> {
  const refuse = (text: string): PluginRead => ({ problems: [{ severity: 'error', file: path, line: 0, text }] });
  if (root === undefined) return refuse(fault);
  try {
    return await readPlugin({ root, folderName: basename(path), source: scope });
  } catch (thrown) {
    return refuse(describeUnreadable(thrown));
  }
}

function findRoot({ path: written, scope }: PluginDir, { cwd, projectRoot }: LoadPluginsOptions): FoundRoot {
  const base = scope === 'project' ? (projectRoot ?? cwd) : cwd;
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

/** The folder of the manifest, or the manifest. */
const isPartOfPlugin = (path: string): boolean =>
  basename(path) === 'plugin.json'
    ? basename(dirname(path)) === MANIFEST_FOLDER
    : basename(path) === MANIFEST_FOLDER && existsSync(join(path, 'plugin.json'));
