/** The servers beside `.mcp.json` and settings that a person is asked about: those of plugins, and of agents of the project. */
import { openDefinitions } from '../definitions/open.js';
import { type BroughtServers, toBrought } from '../mcp/sources/brought.js';
import type { LoadedSettings } from '../settings/load.js';

export async function findBroughtServers(
  settings: LoadedSettings,
  place: { cwd: string; configDir: string },
): Promise<BroughtServers[]> {
  const { bringerOf } = await import('./own-servers.js');
  const { plugins, agents } = await openDefinitions({ ...place, settingSources: ['project'] }, settings);
  // Servers of other agents are there for these alone, and nobody is asked about them.
  const ofProject = [...agents.values()].map(bringerOf).filter(({ source }) => source === 'project');
  return toBrought([...plugins, ...ofProject]);
}
