import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';
import type { DefinitionFolder, DefinitionProblem, DefinitionScope } from '../../src/engine/definitions/definition.js';
import { removeFolder } from '../remove-folder.js';

export const FIXTURES = fileURLToPath(new URL('../fixtures/definitions', import.meta.url));

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder);
});

export interface Place {
  root: string;
  path(name: string): string;
  write(name: string, text: string | Uint8Array): string;
}

/** A folder that is gone after the test. */
export function createPlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-definitions-')));
  folders.push(root);
  const path = (name: string): string => join(root, name);
  return {
    root,
    path,
    write(name, text) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
      return path(name);
    },
  };
}

export const folderOf = (
  kind: DefinitionFolder['kind'],
  path: string,
  scope: DefinitionScope = 'project',
): DefinitionFolder => ({ kind, path, origin: { scope } });

/** Problems as `name:line: text`, without the folder they are in. */
export const show = (problems: readonly DefinitionProblem[], root: string): string[] =>
  problems.map(({ severity, file, line, text }) => `${severity} ${file.replace(`${root}/`, '')}:${line}: ${text}`);
