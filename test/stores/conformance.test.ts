import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createMemoryStore } from '../../src/engine/stores/memory-store.js';
import { createMirrorStore } from '../../src/engine/stores/mirror-store.js';
import { InMemorySessionStore } from '../../src/sdk/memory-session-store.js';
import { createSqliteStore, type SqliteStore } from '../../src/engine/stores/sqlite-store.js';
import { withPatience } from '../../src/engine/stores/patience.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { storeConformance } from '../../src/testing/store-conformance.js';
import { removeFolder } from '../remove-folder.js';

let root: string;
const sqlite: SqliteStore[] = [];

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'heddle-stores-'));
});

afterAll(() => {
  for (const store of sqlite) store.close();
  removeFolder(root);
});

const folder = () => mkdtempSync(join(root, 'one-'));

const createSqlite = () => {
  const store = createSqliteStore({ path: join(folder(), 'deep', 'sessions.db') });
  sqlite.push(store);
  return store;
};

const STORES: Record<string, () => SessionStore> = {
  file: () => createFileStore({ configDir: folder() }),
  memory: () => createMemoryStore(),
  SQLite: createSqlite,
  'file, watched': () => withPatience(createFileStore({ configDir: folder() })),
  'memory, mirrored': () =>
    createMirrorStore({
      local: createMemoryStore(),
      remote: new InMemorySessionStore(),
      cwd: '/project/one',
      onError(error) {
        throw error;
      },
    }),
};

describe.concurrent.each(Object.entries(STORES))('F2: the store is %s', (_, createStore) => {
  it.each(storeConformance.map(({ name, run }) => ({ name, run })))('$name', ({ run }) => run(createStore));
});
