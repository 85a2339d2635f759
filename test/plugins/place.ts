/** A folder for plugins of one test. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DefinitionProblem } from '../../src/engine/definitions/definition.js';
import { type LoadedPlugins, loadPlugins } from '../../src/engine/plugins/load.js';
import type { PluginScope } from '../../src/engine/plugins/plugin.js';
import { scratch } from '../testing/scratch.js';

export const MANIFEST = '.claude-plugin/plugin.json';

export interface PluginPlace {
  root: string;
  /** Objects are written as JSON, one key per line. */
  write(name: string, content: unknown): string;
  link(name: string, target: string): void;
  load(names: readonly string[], scope?: PluginScope): Promise<LoadedPlugins>;
  /** `severity file:line text`, files from the root. */
  show(problems: readonly DefinitionProblem[]): string[];
}

export function createPlace(): PluginPlace {
  const root = scratch();
  return {
    root,
    write(name, content) {
      const file = join(root, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return file;
    },
    link(name, target) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      symlinkSync(target, join(root, name));
    },
    load: (names, scope = 'flag') =>
      loadPlugins(
        names.map((path) => ({ path, scope })),
        { cwd: root, projectRoot: root },
      ),
    show: (problems) =>
      problems.map(({ severity, file, line, text }) =>
        `${severity} ${file}:${line} ${text}`.replaceAll(`${root}/`, '').replaceAll(root, '.'),
      ),
  };
}

export const fixtures = join(import.meta.dirname, '../fixtures/plugins');
