/** A copy of the fixture project, a home beside it, and readers over them. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findMemory, type MemoryPlaces } from '../../src/engine/memory/find.js';
import { type LoadMemoryOptions, loadMemory } from '../../src/engine/memory/load.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

const FIXTURE = fileURLToPath(new URL('../fixtures/memory/project', import.meta.url));

export interface Desk {
  top: string;
  project: string;
  home: string;
  workspace: ReturnType<typeof createLocalWorkspace>;
  write(path: string, content: string | Uint8Array): string;
  places(more?: Partial<MemoryPlaces>): MemoryPlaces;
  load(more?: Partial<MemoryPlaces & LoadMemoryOptions>): ReturnType<typeof loadMemory>;
  close(): Promise<void>;
}

/** With `empty` there is nothing in the project. */
export function createDesk({ empty = false }: { empty?: boolean } = {}): Desk {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-memory-')));
  const [project, home] = [join(top, 'project'), join(top, 'home')];
  if (empty) mkdirSync(project);
  else cpSync(FIXTURE, project, { recursive: true });
  mkdirSync(join(home, '.claude'), { recursive: true });
  const workspace = createLocalWorkspace({ clock: systemClock });
  const desk: Desk = {
    top,
    project,
    home,
    workspace,
    write(path, content) {
      const full = join(top, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    places: (more) => ({
      workspace,
      cwd: project,
      projectRoot: project,
      configDir: join(home, '.claude'),
      managed: [],
      sources: ['user', 'project', 'local'],
      ...more,
    }),
    load: async (more = {}) =>
      loadMemory(await findMemory(desk.places(more)), { workspace, roots: [project], home, trusted: true, ...more }),
    async close() {
      await workspace.close();
      removeFolder(top);
    },
  };
  return desk;
}
