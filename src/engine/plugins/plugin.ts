/** What a plugin is, once it is loaded. Types only. */
import type { HookMatcherSettings } from '../../protocol/index.js';
import type { DefinitionFolder } from '../definitions/definition.js';

/** Who named it: the person, for this run (`flag`), or the settings of a layer. */
export type PluginScope = 'managed' | 'flag' | 'local' | 'project' | 'user';

/**
 * A folder that someone named as a plugin. Nothing here asks about trust: whoever calls leaves out those of a project that
 * nobody trusts.
 */
export interface PluginDir {
  /** A relative one starts at `cwd`; of scope `project`, at the project, which it may not leave. */
  path: string;
  scope: PluginScope;
}

export interface PluginAuthor {
  name: string;
  email?: string;
  url?: string;
}

/** What a manifest says that nothing here depends on. */
export interface PluginFacts {
  version?: string;
  description?: string;
  author?: PluginAuthor;
  homepage?: string;
  repository?: string;
  license?: string;
  keywords?: readonly string[];
}

export interface Plugin extends PluginFacts {
  name: string;
  /** Its folder, links resolved: what `${CLAUDE_PLUGIN_ROOT}` stands for. */
  root: string;
  source: PluginScope;
  /** The name of the marketplace that offers it. */
  marketplace?: string;
  /** For `loadDefinitions`. A path may also be a single `.md` file, or the folder of a single skill. */
  folders: readonly DefinitionFolder[];
  /** Event to matchers, as in settings. Only what is well-formed. */
  hooks: PluginHooks;
  /** By the name that a session knows them under: `plugin_<plugin>_<server>`. */
  mcpServers: Readonly<Record<string, PluginServer>>;
}

export type PluginHooks = Readonly<Record<string, readonly HookMatcherSettings[]>>;

/** As it was written, but for `${CLAUDE_PLUGIN_ROOT}`; it has passed the schema of servers. */
export type PluginServer = Readonly<Record<string, unknown>>;
