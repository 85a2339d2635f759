/** What the calls of a session are judged by. Loaded with the first of them. */
import type { SessionScope } from '../scope.js';
import { ownPlacesOf } from './own-places.js';
import type { PermissionPolicy } from './policy.js';
import { readablePlacesOf } from './readable-places.js';

export const toPolicy = (scope: SessionScope, book: PermissionPolicy['book']): PermissionPolicy => {
  const { state, guard, config, definitions } = scope;
  return {
    mode: state.mode,
    ...(state.asksNobody && { asksNobody: true }),
    book,
    roots: state.roots,
    ownPlaces: ownPlacesOf(guard.settings, { roots: state.roots, plugins: definitions.plugins, call: config }),
    home: guard.home,
    cwd: state.cwd,
    trusted: guard.trusted,
    privateHosts: (config.env.HEDDLE_WEB_PRIVATE_HOSTS ?? '').split(',').filter((host) => host !== ''),
    readable: readablePlacesOf(scope),
  };
};
