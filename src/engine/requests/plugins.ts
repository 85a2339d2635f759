/** Plugins, read again. */
import type { PluginsReport } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Session } from '../session.js';

export async function reloadPlugins({ scope }: Session): Promise<PluginsReport> {
  const { definitions, config, commands, mcp, state } = scope;
  if (scope.reloadPlugins === undefined) throw new HeddleError('not_supported', 'An agent has no plugins of its own.');
  await scope.reloadPlugins();
  // As whoever opens a session does: a second way to it would make one more file of it.
  const { describeOffer } = await import('../commands/preview.js');
  return {
    commands: commands.list,
    agents: describeOffer(definitions, { config, outputStyle: undefined, keySource: state.keySource }).agents,
    plugins: definitions.plugins.map(({ name, root, source }) => ({ name, path: root, source })),
    mcpServers: mcp.status,
    error_count: definitions.problems.filter(({ severity }) => severity === 'error').length,
  };
}
