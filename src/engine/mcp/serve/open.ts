/** A session that has tools and no model: what it runs is asked for from outside. */
import type { Clock, Logger, ModelProvider, SessionConfig } from '../../../protocol/index.js';
import { HeddleError } from '../../../protocol/plain.js';
import { createEngine } from '../../engine.js';
import type { Session } from '../../session.js';

/** The tools that are served. */
export const SERVED_TOOLS = ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write'] as const;

const NO_MODEL: ModelProvider = {
  name: 'none',
  keySource: 'none',
  stream() {
    throw new HeddleError('no_provider', 'A server of tools has no model.');
  },
};

/** Rules, hooks, trust and sandbox count as in any session. What would be asked is denied: there is nobody to ask. */
export function openToolSession(config: SessionConfig, parts: { clock: Clock; logger?: Logger }): Promise<Session> {
  const engine = createEngine({ ...parts, provider: NO_MODEL });
  const wanted = Array.isArray(config.tools) ? config.tools : SERVED_TOOLS;
  const tools = SERVED_TOOLS.filter((name) => wanted.includes(name));
  return engine.open({ ...config, tools, persistSession: false, permissionPrompts: 'none' });
}
