/** The door to plugins. Without a folder that someone named, nothing of them is loaded. */
import type { LoadPluginsOptions } from './load.js';
import type { LoadedPlugins, PluginDir } from './plugin.js';

export async function openPlugins(dirs: readonly PluginDir[], options: LoadPluginsOptions): Promise<LoadedPlugins> {
  if (dirs.length === 0) return { plugins: [], problems: [] };
  return (await import('./load.js')).loadPlugins(dirs, options);
}

export type PluginFunctions = typeof import('./examine.js');

/** For commands that only look. */
export const loadPluginFunctions = (): Promise<PluginFunctions> => import('./examine.js');
