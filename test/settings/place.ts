/** A machine for tests of settings: a home, a configuration, a project and folders of policy, all below one scratch folder. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type SettingsFiles, settingsFiles } from '../../src/engine/settings/files.js';
import { type LoadedSettings, type LoadOptions, loadSettings } from '../../src/engine/settings/load.js';
import { describeProblem } from '../../src/engine/settings/problem.js';
import { scratch } from '../testing/scratch.js';

export interface Place {
  root: string;
  home: string;
  config: string;
  project: string;
  managed: string;
  files: SettingsFiles;
  path(name: string): string;
  /** Objects are written as JSON. */
  write(name: string, content: unknown): string;
  text(name: string): string;
  /** All sources, trusted, unless said otherwise. */
  load(options?: Partial<LoadOptions>): Promise<LoadedSettings>;
  options(options?: Partial<LoadOptions>): LoadOptions;
}

export const MANAGED = 'etc/managed-settings.json';
export const USER = 'home/.claude/settings.json';
export const PROJECT = 'home/shop/.claude/settings.json';
export const LOCAL = 'home/shop/.claude/settings.local.json';

export function createPlace(): Place {
  const root = scratch();
  const path = (name: string): string => join(root, name);
  const [home, config, project, managed] = ['home', 'home/.claude', 'home/shop', 'etc'].map(path) as [
    string,
    string,
    string,
    string,
  ];
  mkdirSync(project, { recursive: true });
  const files = settingsFiles({ configDir: config, projectRoot: project, home, managedDir: managed });
  const options = (more: Partial<LoadOptions> = {}): LoadOptions => ({
    files,
    sources: ['user', 'project', 'local'],
    trusted: true,
    ...more,
  });
  return {
    root,
    home,
    config,
    project,
    managed,
    files,
    path,
    write(name, content) {
      const file = path(name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return file;
    },
    text: (name) => readFileSync(path(name), 'utf8'),
    options,
    load: (more) => loadSettings(options(more)),
  };
}

/** Problems as they are printed, paths relative to the scratch folder. */
export const problemsOf = ({ root }: Place, { problems }: Pick<LoadedSettings, 'problems'>): string[] =>
  problems.map(
    (problem) => `${problem.fatal ? 'fatal' : problem.severity} ${describeProblem(problem).replaceAll(`${root}/`, '')}`,
  );
