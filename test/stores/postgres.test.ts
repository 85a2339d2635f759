import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore, type PostgresStore } from '../../src/engine/stores/postgres-store.js';
import { createFakeClock } from '../../src/testing/index.js';
import { storeConformance } from '../../src/testing/store-conformance.js';
import { createHosts, type Hosts, processChecks } from './processes.js';

let server: ChildProcess;
let url: string;
let sql: postgres.Sql;
let hosts: Hosts;

beforeAll(async () => {
  server = spawn(process.execPath, [join(import.meta.dirname, 'serve-postgres.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const started = Promise.race([once(server.stdout as NodeJS.ReadableStream, 'data'), once(server, 'exit')]);
  [hosts, [url]] = await Promise.all([createHosts(), started.then(([data]) => [String(data).trim()] as [string])]);
  expect(url).toMatch(/^postgres:/);
  sql = postgres(url, { onnotice: () => {}, max: 10 });
}, 60_000);

afterAll(async () => {
  await hosts.stop();
  await sql.end();
  const gone = once(server, 'exit');
  server.stdin?.end();
  await gone;
});

/** A database of its own. */
async function createDatabase(): Promise<string> {
  const name = `db_${crypto.randomUUID().replaceAll('-', '')}`;
  await sql.unsafe(`CREATE DATABASE ${name}`);
  return url.replace(/postgres$/, name);
}

async function withStore<T>(act: (store: PostgresStore, place: string) => Promise<T>): Promise<T> {
  const place = await createDatabase();
  const store = createPostgresStore({ url: place });
  try {
    return await act(store, place);
  } finally {
    await store.close();
  }
}

const key = () => ({ sessionId: crypto.randomUUID(), cwd: '/ws' });

describe('F2: the store is PostgreSQL', () => {
  it.concurrent.each(storeConformance.map(({ name, run }) => ({ name, run })))('$name', ({ run }) =>
    withStore((store) => run(() => store)),
  );
});

describe('processes on one PostgreSQL', () => {
  it.each(processChecks.map(({ name, run }) => ({ name, run })))('$name', ({ run }) =>
    withStore((store, place) => run({ start: () => hosts.start('postgres', place), store, races: 50 })),
  );
});

describe('the tables', () => {
  it('are made once by those who come first together, and are found by those who come later', async () => {
    const place = await createDatabase();
    const stores = Array.from({ length: 6 }, () => createPostgresStore({ url: place }));
    const keys = stores.map(key);
    await Promise.all(stores.map(async (store, n) => store.append(keys[n] ?? key(), ['{}'])));
    expect(await stores[0]?.list()).toHaveLength(6);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('of a newer version are refused, and left as they are', async () => {
    await withStore(async (store, place) => {
      await store.list();
      const own = postgres(place);
      await own.unsafe('UPDATE heddle_meta SET version = 99');
      const later = createPostgresStore({ sql: own });
      await expect(later.append(key(), ['{}'])).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('newer version of Heddle (99)'),
      });
      // The client is the caller's, so it stays open.
      await later.close();
      expect(await own.unsafe('SELECT count(*)::int AS count FROM heddle_lines')).toMatchObject([{ count: 0 }]);
      await own.end();
    });
  });

  it('can be used by a role that may not make any', async () => {
    await withStore(async (store, place) => {
      const one = key();
      await store.append(one, ['{"n":1}']);
      const own = postgres(place, { onnotice: () => {} });
      const role = `role_${one.sessionId.slice(0, 8)}`;
      await own.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
      await own.unsafe(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
      const other = createPostgresStore({ url: place.replace('heddle:heddle', `${role}:x`) });
      const lease = await other.lease(one);
      await other.append(one, ['{"n":2}']);
      await lease.release();
      expect((await other.load(one.sessionId))?.lines).toEqual(['{"n":1}', '{"n":2}']);
      await other.close();
      await own.end();
    });
  });
});

describe('the lease', () => {
  const expiresIn = async (own: postgres.Sql) => {
    const [row] = await own`SELECT extract(epoch FROM expires - clock_timestamp())::float8 AS left FROM heddle_leases`;
    return Number(row?.left);
  };

  it('lasts 15 s and is renewed every 5 s', async () => {
    const place = await createDatabase();
    const clock = createFakeClock();
    const store = createPostgresStore({ url: place, clock });
    const own = postgres(place);
    const lease = await store.lease(key());
    expect(await expiresIn(own)).toBeGreaterThan(10);
    await own`UPDATE heddle_leases SET expires = clock_timestamp() + interval '1 second'`;
    expect(clock.pending).toEqual([5_000]);
    clock.advance(5_000);
    while ((await expiresIn(own)) < 10);
    await lease.release();
    expect(clock.pending).toEqual([]);
    expect(await own`SELECT * FROM heddle_leases`).toEqual([]);
    await store.close();
    await own.end();
  });

  it('of a holder that is out of sight is free when it has expired; then the old one writes nothing more', async () => {
    await withStore(async (store, place) => {
      const one = key();
      const own = postgres(place);
      const old = createPostgresStore({ sql: own });
      const lease = await old.lease(one);
      await old.append(one, ['{"n":1}']);
      await own`UPDATE heddle_leases SET host = 'elsewhere', expires = clock_timestamp() - interval '1 second'`;
      const taken = await store.lease(one);
      await store.append(one, ['{"n":2}']);
      await expect(old.append(one, ['{"n":3}'])).rejects.toMatchObject({
        code: 'session_locked',
        message: expect.stringContaining(`process ${process.pid}`),
      });
      await lease.release();
      await store.append(one, ['{"n":4}']);
      await taken.release();
      expect((await store.load(one.sessionId))?.lines).toEqual(['{"n":1}', '{"n":2}', '{"n":4}']);
      await own.end();
    });
  });

  it('cannot be taken in the midst of a write', async () => {
    await withStore(async (store, place) => {
      const one = key();
      const own = postgres(place, { max: 3 });
      const old = createPostgresStore({ sql: own });
      await old.lease(one);
      await old.append(one, ['{"n":1}']);
      // Another transaction holds the row of the log, so that the write waits with the lease in its hands.
      const blocker = await own.reserve();
      await blocker`BEGIN`;
      await blocker`SELECT * FROM heddle_logs FOR UPDATE`;
      const writing = old.append(one, ['{"n":2}']);
      const name = place.replace(/.*\//, '');
      const waits = async () =>
        (await sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = ${name}`).length;
      while ((await waits()) < 1);
      const taking = own`UPDATE heddle_leases SET token = 'else' WHERE true`.execute();
      while ((await waits()) < 2);
      await blocker`COMMIT`;
      blocker.release();
      await writing;
      await taking;
      await expect(old.append(one, ['{"n":3}'])).rejects.toMatchObject({ code: 'session_locked' });
      expect((await store.load(one.sessionId))?.lines).toEqual(['{"n":1}', '{"n":2}']);
      await own.end();
    });
  });
});

describe('what goes wrong', () => {
  it('a write that fails leaves nothing behind, is typed, and the next one works', async () => {
    await withStore(async (store) => {
      const one = key();
      await store.append(one, ['{"n":1}']);
      await expect(store.append(one, ['{"n":2}', 'a \u0000 b'])).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining('PostgreSQL failed at "append"'),
        hint: expect.stringContaining('safe'),
      });
      await store.append(one, ['{"n":3}']);
      expect((await store.load(one.sessionId))?.lines).toEqual(['{"n":1}', '{"n":3}']);
    });
  });

  it('a server that is not there', async () => {
    const store = createPostgresStore({ url: 'postgres://heddle@127.0.0.1:1/none' });
    for (const act of [() => store.load('x'), () => store.append(key(), ['{}']), () => store.lease(key())]) {
      await expect((async () => act())()).rejects.toMatchObject({
        code: 'store_failed',
        retryable: true,
        data: { code: 'ECONNREFUSED' },
      });
    }
    await store.close();
  });

  it('a connection that is cut: the write is refused, the next one works', async () => {
    await withStore(async (store, place) => {
      const one = key();
      await store.append(one, ['{"n":1}']);
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${place.replace(/.*\//, '')}`;
      const first = await Promise.resolve(store.append(one, ['{"n":2}'])).catch((error: unknown) => error);
      if (first !== undefined) expect(first).toMatchObject({ code: 'store_failed', retryable: true });
      await store.append(one, ['{"n":3}']);
      const expected = first === undefined ? ['{"n":1}', '{"n":2}', '{"n":3}'] : ['{"n":1}', '{"n":3}'];
      expect((await store.load(one.sessionId))?.lines).toEqual(expected);
    });
  });

  it('the package is not installed: an error that says what to do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heddle-bare-'));
    await build({
      stdin: {
        contents: `
          import { createPostgresStore } from './postgres-store.js';
          createPostgresStore({ url: 'postgres://x' }).list().catch(({ code, message, hint }) =>
            console.log(JSON.stringify({ code, message, hint })));`,
        resolveDir: join(import.meta.dirname, '../../src/engine/stores'),
      },
      outfile: join(folder, 'bare.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['postgres'],
    });
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'bare.mjs')]);
    rmSync(folder, { recursive: true });
    expect(JSON.parse(stdout)).toEqual({
      code: 'store_failed',
      message: 'The package "postgres" is needed to keep sessions in PostgreSQL.',
      hint: 'Nothing was written. Add it to the program: npm install postgres',
    });
  });
});
