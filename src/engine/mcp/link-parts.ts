/** What a session gives to its servers: where they run, and answers to what they ask. */
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SessionScope } from '../scope.js';
import { elicit } from './elicit.js';
import type { LinkParts } from './link.js';

/** Parts without the signal, which belongs to one attempt. */
export function toLinkParts(
  session: SessionScope,
  { name, scope }: { name: string; scope: string | undefined },
): Omit<LinkParts, 'signal'> {
  const { clock, logger, workspace, childEnv, config, guard, state } = session;
  // Few servers take back what they have asked when the call that they asked it for is stopped.
  const within = (signal: AbortSignal): AbortSignal => (state.turn ? AbortSignal.any([signal, state.turn]) : signal);
  return {
    clock,
    logger,
    workspace,
    env: childEnv,
    // Paths in a file of the project start where the file is.
    cwd: scope === 'project' ? guard.settings.files.projectRoot : config.cwd,
    requests: {
      elicit: (request, { signal }) => elicit(session, { server: name, ...request }, { signal: within(signal) }),
      sample: async (params, { signal }) =>
        (await import('./sample.js')).sample(session, { server: name, params }, { signal: within(signal) }),
      roots: () =>
        [config.cwd, ...guard.directories].map((path) => ({ uri: pathToFileURL(path).href, name: basename(path) })),
      log: ({ level, logger: from, data }) =>
        logger(toLevel(level), `MCP server ${name}${from === undefined ? '' : ` (${from})`}`, { data }),
    },
  };
}

const toLevel = (level: string): 'debug' | 'info' | 'warn' | 'error' => {
  if (level === 'debug' || level === 'info') return level;
  return level === 'notice' ? 'info' : level === 'warning' ? 'warn' : 'error';
};
