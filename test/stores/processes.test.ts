import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createSqliteStore } from '../../src/engine/stores/sqlite-store.js';
import { scratch } from '../engine/kit.js';
import { createHosts, type Hosts, processChecks } from './processes.js';

let hosts: Hosts;

beforeAll(async () => {
  hosts = await createHosts();
});

afterAll(() => hosts.stop());

describe('processes on one store of files', () => {
  it.each(processChecks.map(({ name, run }) => ({ name, run })))('$name', async ({ run }) => {
    const configDir = scratch();
    await run({ start: () => hosts.start('file', configDir), store: createFileStore({ configDir }), races: 50 });
  });

  it('nothing is left of leases, nor of races for them', async () => {
    const configDir = scratch();
    const start = () => hosts.start('file', configDir);
    const sessionId = crypto.randomUUID();
    const dead = await start();
    await dead.ask('lease', sessionId);
    await dead.kill();
    expect(readdirSync(join(configDir, 'leases'))).toEqual([`${sessionId}.json`]);
    const racers = await Promise.all([start(), start()]);
    await Promise.all(racers.map((racer) => racer.ask('lease', sessionId)));
    for (const racer of racers) await racer.ask('release', sessionId);
    expect(readdirSync(join(configDir, 'leases'))).toEqual([]);
  });
});

describe('processes on one file of SQLite', () => {
  it.each(processChecks.map(({ name, run }) => ({ name, run })))('$name', async ({ run }) => {
    const path = join(scratch(), 'sessions.db');
    const store = createSqliteStore({ path });
    onTestFinished(() => store.close());
    await run({ start: () => hosts.start('sqlite', path), store, races: 50 });
  });
});
