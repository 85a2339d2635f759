/** Plugins with all that they bring looked at: for people who want to know, not for sessions. */
import type { DefinitionProblem } from '../definitions/definition.js';
import { loadDefinitions } from '../definitions/load.js';
import { isInside } from '../permissions/path.js';
import { type LoadPluginsOptions, loadPlugins } from './load.js';
import type { Marketplace } from './marketplace.js';
import type { Plugin, PluginDir } from './plugin.js';

/** Names of what it brings, as a session knows them. */
export interface PluginContents {
  commands: string[];
  agents: string[];
  skills: string[];
  outputStyles: string[];
  /** Events. */
  hooks: string[];
  mcpServers: string[];
}

export interface ExaminedPlugin {
  plugin: Plugin;
  brings: PluginContents;
  /** Those of its own files. */
  problems: DefinitionProblem[];
}

export interface Examination {
  plugins: ExaminedPlugin[];
  /** Those among the folders that were named. */
  marketplaces: Marketplace[];
  /** All of them, also of folders that are no plugins. */
  problems: DefinitionProblem[];
}

/** As `loadPlugins`, with the definition files read too. Never rejects. */
export async function examinePlugins(dirs: readonly PluginDir[], options: LoadPluginsOptions): Promise<Examination> {
  const loaded = await loadPlugins(dirs, options);
  const examined = await Promise.all(loaded.plugins.map(examine));
  const all = [...loaded.problems, ...examined.flatMap(({ problems }) => problems)].toSorted(
    (one, other) => one.file.localeCompare(other.file) || one.line - other.line,
  );
  const plugins = examined.map(({ plugin, brings }) => ({
    plugin,
    brings,
    problems: all.filter(({ file }) => isInside(plugin.root, file)),
  }));
  return { plugins, marketplaces: loaded.marketplaces, problems: all };
}

async function examine(plugin: Plugin): Promise<ExaminedPlugin> {
  const { agents, commands, skills, styles, problems } = await loadDefinitions(plugin.folders);
  const brings = {
    commands: [...commands.keys()],
    agents: [...agents.keys()],
    skills: [...skills.keys()],
    outputStyles: [...styles.keys()],
    hooks: Object.keys(plugin.hooks),
    mcpServers: Object.keys(plugin.mcpServers),
  };
  return { plugin, brings, problems: [...problems] };
}
