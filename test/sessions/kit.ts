import { join } from 'node:path';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { type Run, start } from '../engine/kit.js';

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

export const CALL: ScriptStep = { id: 'm1', toolUse: { id: 't1', name: 'Bash', input: { command: 'echo x >> made' } } };

/** What is left of a session whose process died while someone was asked about the call `t1`. */
export async function diedWhileAsked() {
  const asked = Promise.withResolvers<void>();
  const run = await start([CALL], {
    ask: () => {
      asked.resolve();
      return new Promise(() => {});
    },
  });
  void run.ask('go');
  await asked.promise;
  const lines = await linesOf(run);
  await run.session.close();
  const key = { sessionId: run.session.id, cwd: run.cwd };
  return { lines, key, made: join(run.cwd, 'made'), store: await storeWith(key, lines) };
}

/** The bodies of all requests, byte for byte. */
export const bodiesOf = ({ model }: Pick<Run, 'model'>): string[] =>
  model.requests.map(({ body }) => JSON.stringify(body));
