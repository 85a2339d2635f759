/** A process that uses a store as it is told, line by line on its standard input. It answers each with a line of JSON. */
import { createInterface } from 'node:readline';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createPostgresStore } from '../../src/engine/stores/postgres-store.js';
import { createSqliteStore } from '../../src/engine/stores/sqlite-store.js';
import type { Clock, Lease } from '../../src/protocol/index.js';
import { HeddleError, systemClock } from '../../src/protocol/plain.js';

/** Waits for nothing but the heartbeat: whoever loses a race says so at once. */
const hasty: Clock = {
  ...systemClock,
  after: (ms, callback, options) => systemClock.after(options?.background ? ms : 0, callback, options),
};

const [kind = '', place = ''] = process.argv.slice(2);
const STORES = {
  file: () => createFileStore({ configDir: place, clock: hasty }),
  sqlite: () => createSqliteStore({ path: place, clock: hasty }),
  postgres: () => createPostgresStore({ url: place, clock: hasty }),
};
const store = STORES[kind as keyof typeof STORES]();
const leases = new Map<string, Lease>();

const COMMANDS: Record<string, (sessionId: string, argument: string) => unknown> = {
  /** At a given time, so that several begin together. */
  async lease(sessionId, at) {
    while (Date.now() < Number(at));
    leases.set(sessionId, await store.lease({ sessionId, cwd: '/ws' }));
    return 'held';
  },
  async release(sessionId) {
    await leases.get(sessionId)?.release();
    return 'released';
  },
  async append(sessionId, line) {
    await store.append({ sessionId, cwd: '/ws' }, [line], { sync: true });
    return 'written';
  },
  /** Many at once, each line with its number. */
  async fill(sessionId, name) {
    for (let n = 0; n < 200; n += 1) {
      await store.append({ sessionId, cwd: '/ws' }, [JSON.stringify({ name, n, text: 'x'.repeat(n * 20) })]);
    }
    return 'written';
  },
};

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit());
lines.on('line', (line) => {
  const { command, sessionId, argument } = JSON.parse(line) as Record<'command' | 'sessionId' | 'argument', string>;
  void (async () => COMMANDS[command]?.(sessionId, argument))()
    .catch((error: unknown) =>
      error instanceof HeddleError ? { code: error.code, text: error.message } : String(error),
    )
    .then((answer) => console.log(JSON.stringify(answer)));
});
console.log('"ready"');
