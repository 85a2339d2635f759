/** The hooks of plugins as a session takes them. */
import type { HookMatcherSettings } from '../../protocol/index.js';
import type { Plugin, PluginScope } from './plugin.js';

export interface PluginHookSource {
  /** That of whoever named the plugin: a plugin may do what its settings may. */
  layer: PluginScope;
  hooks: Record<string, HookMatcherSettings[]>;
  /** What its commands find in their environment. */
  env: { CLAUDE_PLUGIN_ROOT: string };
}

/** In the order of the plugins. Whether policy lets them count is for the caller to ask. */
export const toHookSources = (plugins: readonly Plugin[]): PluginHookSource[] =>
  plugins
    .filter(({ hooks }) => Object.keys(hooks).length > 0)
    .map(({ hooks, source, root }) => ({
      layer: source,
      hooks: Object.fromEntries(Object.entries(hooks).map(([event, matchers]) => [event, [...matchers]])),
      env: { CLAUDE_PLUGIN_ROOT: root },
    }));
