/** What files, plugins and the caller define for a session: agents, commands, skills, output styles. */
import { join } from 'node:path';
import type { AgentDefinition, SessionConfig } from '../../protocol/index.js';
import { AGENT_COLORS } from '../../protocol/plain.js';
import { BUILTIN_AGENTS } from '../agents/builtin.js';
import { LOCAL_COMMANDS } from '../commands/local-table.js';
import { follow } from '../plugins/inside.js';
import type { Plugin } from '../plugins/plugin.js';
import type { LoadedSettings } from '../settings/load.js';
import type { SettingsNotice } from '../settings/notice.js';
import { type Agent, type DefinitionFolder, type DefinitionProblem, type Definitions } from './definition.js';
import { hasDefinitions } from './present.js';

export interface SessionDefinitions extends Omit<Definitions, 'problems'> {
  readonly plugins: readonly Plugin[];
  /** What was wrong when it was last read. */
  readonly problems: readonly DefinitionProblem[];
  /** The folders that are looked into, also those that are not there yet. */
  readonly folders: readonly DefinitionFolder[];
  /** Reads everything anew, but for which plugins there are. */
  reload(): Promise<void>;
  /** Reads the plugins themselves anew. What they define counts with the next `reload`. */
  reloadPlugins(): Promise<void>;
}

type DefinitionConfig = Pick<SessionConfig, 'agents' | 'pluginDirs' | 'settingSources' | 'cwd' | 'configDir'>;

const KINDS = ['agents', 'commands', 'skills', 'output-styles'] as const;

/** Never throws for what is wrong in a file: that is a problem, and the rest counts. */
export async function openDefinitions(config: DefinitionConfig, settings: LoadedSettings): Promise<SessionDefinitions> {
  const called = config.agents ? await (await import('./called.js')).readCalled(config.agents) : {};
  let { plugins, problems: ofPlugins } = await readPlugins(config, settings);
  const foldersNow = () => [...foldersOf(config, settings), ...plugins.flatMap(foldersOfPlugin)];
  let folders = foldersNow();
  let current: Definitions = NONE;
  const read = async (): Promise<void> => {
    const usable = folders.filter(isInPlace);
    const found = hasDefinitions(usable) ? await (await import('./load.js')).loadDefinitions(usable) : NONE;
    const problems = [...found.problems, ...findHidden(found)];
    current = { ...found, problems, agents: withColors(allAgents(called, found.agents)) };
  };
  await read();
  return {
    get plugins() {
      return plugins;
    },
    get folders() {
      return folders;
    },
    get agents() {
      return current.agents;
    },
    get commands() {
      return current.commands;
    },
    get skills() {
      return current.skills;
    },
    get styles() {
      return current.styles;
    },
    get problems() {
      return [...ofPlugins, ...current.problems];
    },
    reload: read,
    async reloadPlugins() {
      ({ plugins, problems: ofPlugins } = await readPlugins(config, settings));
      folders = foldersNow();
    },
  };
}

export const toNotice = ({ severity, file, line, text }: DefinitionProblem): SettingsNotice => ({
  level: severity,
  content: `${file}${line > 0 ? `:${line}` : ''}: ${text}`,
});

/** Files whose command nobody can type, because it has the name of one that is built in. */
function findHidden({ commands, skills }: Definitions): DefinitionProblem[] {
  return [...commands.values(), ...skills.values()].flatMap(({ name, userMayCall, origin: { file } }) =>
    userMayCall && file !== undefined && LOCAL_COMMANDS.some((command) => command.name === name)
      ? [{ severity: 'warning', file, line: 0, text: `/${name} is built in, and not this file: give it another name` }]
      : [],
  );
}

/** Those that are there, and the usual ones that may come while the session runs. */
function foldersOfPlugin({ name: plugin, root: pluginRoot, source: enabledBy, folders }: Plugin): DefinitionFolder[] {
  const origin = { scope: 'plugin', plugin, pluginRoot, enabledBy } as const;
  const usual = KINDS.map((kind) => ({ kind, path: join(pluginRoot, kind), origin }));
  const present = folders.map((folder) => ({ ...folder, origin: { ...folder.origin, enabledBy } }));
  return [...present, ...usual.filter(({ path }) => follow(pluginRoot, path).kind === 'missing')];
}

/** A folder of a plugin may have become a link out of it. */
function isInPlace({ path, origin }: DefinitionFolder): boolean {
  return origin.pluginRoot === undefined || follow(origin.pluginRoot, path).kind !== 'refused';
}

const NONE: Definitions = {
  agents: new Map(),
  commands: new Map(),
  skills: new Map(),
  styles: new Map(),
  problems: [],
};

/** Files of a folder that nobody trusts are not read. */
function foldersOf(
  { settingSources = [], configDir }: DefinitionConfig,
  { trusted, files }: LoadedSettings,
): DefinitionFolder[] {
  const places = [
    ...(settingSources.includes('project') && trusted
      ? [{ scope: 'project' as const, base: join(files.projectRoot, '.claude') }]
      : []),
    ...(settingSources.includes('user') ? [{ scope: 'user' as const, base: configDir }] : []),
  ];
  return places.flatMap(({ scope, base }) =>
    KINDS.map((kind) => ({ kind, path: join(base, kind), origin: { scope } })),
  );
}

/** Of the settings only what counts: nothing of a folder that nobody trusts is among their values. */
async function readPlugins({ pluginDirs = [], cwd }: DefinitionConfig, settings: LoadedSettings) {
  const { enabledPlugins, extraKnownMarketplaces } = settings.value;
  if (pluginDirs.length === 0 && !enabledPlugins && !extraKnownMarketplaces) return { plugins: [], problems: [] };
  const { openPlugins } = await import('../plugins/open.js');
  const dirs = pluginDirs.map((path) => ({ path, scope: 'flag' as const }));
  return openPlugins(dirs, { cwd, projectRoot: settings.files.projectRoot, settings });
}

/** What the caller defines counts before files, and files before what is built in. */
function allAgents(
  called: Readonly<Record<string, AgentDefinition>>,
  ofFiles: ReadonlyMap<string, Agent>,
): Map<string, Agent> {
  const all = new Map(BUILTIN_AGENTS.map((agent) => [agent.name, agent]));
  for (const [name, agent] of ofFiles) all.set(name, agent);
  for (const [name, agent] of Object.entries(called)) all.set(name, { ...agent, name, origin: { scope: 'flag' } });
  return all;
}

/** Colours in turn for those that name none. */
function withColors(agents: ReadonlyMap<string, Agent>): Map<string, Agent> {
  let next = 0;
  return new Map(
    [...agents].map(([name, agent]) => {
      if (agent.color !== undefined) return [name, agent];
      const color = AGENT_COLORS[next % AGENT_COLORS.length];
      next += 1;
      return [name, { ...agent, ...(color && { color }) }];
    }),
  );
}
