import type { Ending } from '../outcome.js';
import type { SessionScope } from '../scope.js';
import type { LocalCall } from './commands.js';

/** Runs a local command and shows what it says. Never throws. */
export async function answerLocally(scope: SessionScope, call: LocalCall): Promise<Ending> {
  const [{ runLocal }, { showLocal }] = await Promise.all([import('./run-local.js'), import('./show-local.js')]);
  const answer = await runLocal(scope, call);
  showLocal(scope, answer);
  return { kind: 'local', ...answer };
}

/** Older clients expect this for a slash that calls nothing. */
export const refuseUnknown = (name: string): Ending => ({
  kind: 'local',
  name,
  text: `Unknown skill: ${name}`,
  isUnknown: true,
});
