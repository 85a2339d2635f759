import type { Run } from '../engine/kit.js';
import { createMemoryStore } from '../../src/engine/index.js';
import type { SessionStore } from '../../src/protocol/index.js';

/** The lines of a session as they are kept now. */
export const linesOf = async ({ store, session }: Pick<Run, 'store' | 'session'>): Promise<string[]> =>
  (await store.load(session.id))?.lines ?? [];

/** A store that holds these lines, as if the process that wrote them had died right after. */
export async function storeWith(
  key: { sessionId: string; cwd: string },
  lines: readonly string[],
): Promise<SessionStore> {
  const store = createMemoryStore();
  await store.append(key, lines);
  return store;
}

/** The bodies of all requests, byte for byte. */
export const bodiesOf = ({ model }: Pick<Run, 'model'>): string[] =>
  model.requests.map(({ body }) => JSON.stringify(body));
