/** What the calls of a session are judged by. Loaded with the first of them. */
import type { SessionScope } from '../scope.js';
import { ownPlacesOf } from './own-places.js';
import type { PermissionPolicy } from './policy.js';
import { readablePlacesOf } from './readable-places.js';

export const toPolicy = (scope: SessionScope, book: PermissionPolicy['book']): PermissionPolicy => {
  const { state, guard, config, definitions, mcp } = scope;
  const { plugins, agents } = definitions;
  const { roots, cwd } = state;
  return {
    mode: state.mode,
    ...(state.asksNobody && { asksNobody: true }),
    book,
    roots,
    ownPlaces: ownPlacesOf(guard.settings, { roots, plugins, call: config, cwd, agents, servers: mcp.known }),
    home: guard.home,
    cwd,
    trusted: guard.trusted,
    platform: process.platform,
    privateHosts: (config.env.HEDDLE_WEB_PRIVATE_HOSTS ?? '').split(',').filter((host) => host !== ''),
    readable: readablePlacesOf(scope),
  };
};
