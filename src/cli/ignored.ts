/** What was asked for and does nothing yet. */
import type { SessionConfig } from '../protocol/index.js';
import type { CliOptions } from '../protocol/plain.js';

/** A session that can be had, and what to tell the person who wanted more. */
export function dropIgnored(cli: CliOptions, config: SessionConfig): { config: SessionConfig; notes: string[] } {
  const kept: Record<string, unknown> = { ...config };
  const flags = new Map(cli.later?.map(({ flag, key }) => [flag, key]));
  const notes = [...flags.keys()].flatMap((flag) => describe([flag]));
  for (const key of flags.values()) delete kept[key];
  return { config: kept as unknown as SessionConfig, notes };
}

function describe(names: readonly string[], where = ''): string[] {
  const [is, was] = names.length === 1 ? ['is', 'was'] : ['are', 'were'];
  return [`${where}${names.join(', ')} ${is} not supported yet and ${was} ignored`];
}
