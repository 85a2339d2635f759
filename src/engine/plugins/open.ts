/** The door to plugins. Where nobody names or enables one, nothing of them is loaded. */
import type { DefinitionProblem } from '../definitions/definition.js';
import type { LoadPluginsOptions } from './load.js';
import type { Plugin, PluginDir } from './plugin.js';

export interface OpenedPlugins {
  plugins: Plugin[];
  problems: DefinitionProblem[];
}

export async function openPlugins(dirs: readonly PluginDir[], options: LoadPluginsOptions): Promise<OpenedPlugins> {
  const { enabledPlugins = {}, extraKnownMarketplaces = {} } = options.settings?.value ?? {};
  const count = dirs.length + Object.keys(enabledPlugins).length + Object.keys(extraKnownMarketplaces).length;
  if (count === 0) return { plugins: [], problems: [] };
  const [{ loadPlugins }, { toElsewhereProblem }] = await Promise.all([
    import('./load.js'),
    import('./marketplace.js'),
  ]);
  const { plugins, marketplaces, problems } = await loadPlugins(dirs, options);
  const elsewhere = marketplaces.flatMap((marketplace) => marketplace.elsewhere.map(toElsewhereProblem));
  return { plugins, problems: [...problems, ...elsewhere] };
}

export type PluginFunctions = typeof import('./examine.js');

/** For commands that only look. */
export const loadPluginFunctions = (): Promise<PluginFunctions> => import('./examine.js');
