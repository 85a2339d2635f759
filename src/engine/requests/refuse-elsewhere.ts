import type { SessionConfig } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isElsewhere } from '../elsewhere.js';

/** Throws for clients of a server, who are told nothing of the settings of its machine. */
export function refuseElsewhere(config: Pick<SessionConfig, 'settingsWrites'>, what: string): void {
  if (!isElsewhere(config)) return;
  throw new HeddleError('not_supported', `Clients of this server may not ask for ${what}: it is about its settings.`, {
    hint: 'The server can give clients more with settingsWrites in its config.',
  });
}
