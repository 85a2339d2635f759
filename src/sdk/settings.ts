import { readAmbient } from './ambient.js';
import type { ResolvedSettings } from './in-process.js';
import { type Options, toSessionConfig } from './options.js';

export type { ResolvedSettings } from './in-process.js';

/** The settings that a query with these options would run under, and where each value comes from. */
export async function resolveSettings(
  options: Pick<Options, 'cwd' | 'env' | 'settingSources' | 'settings' | 'sandbox' | 'heddle'> = {},
): Promise<ResolvedSettings> {
  const { resolveInProcess } = await import('./in-process.js');
  return resolveInProcess(toSessionConfig(options, readAmbient()));
}
