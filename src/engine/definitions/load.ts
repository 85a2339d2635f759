/** Loads what people keep in definition folders. Files that are wrong are reported; the others count. */
import { setImmediate } from 'node:timers/promises';
import { parseAgentFile } from './agent-file.js';
import { parseCommandFile } from './command-file.js';
import {
  DEFINITION_SCOPES,
  type Agent,
  type CommandFile,
  type DefinitionFolder,
  type DefinitionProblem,
  type Definitions,
  type Origin,
  type OutputStyle,
  type SkillFile,
} from './definition.js';
import { explainReadError, readDefinitionText } from './definition-text.js';
import { parseFrontmatter, type YamlBudget } from './frontmatter.js';
import { type FoundFile, scanFolder } from './scan.js';
import { parseSkillFile } from './skill-file.js';
import type { DefinitionSource, Parsed } from './source.js';
import { parseStyleFile } from './style-file.js';

/** After so many files, or one that took the YAML package, others have their turn: a session that loads must not stop its neighbours. */
const FILES_AT_ONCE = 50;
/** What the YAML package is given of one folder: thousands of files that keep it busy must not keep the session busy. */
const MAX_YAML_CHARS = 512 * 1024;
/** More of them from one folder tell nothing new. */
const MAX_PROBLEMS = 100;

interface Tables {
  agents: Map<string, Agent>;
  commands: Map<string, CommandFile>;
  skills: Map<string, SkillFile>;
  styles: Map<string, OutputStyle>;
}

/**
 * Never throws. Of two definitions with one name the stronger scope counts, within a scope the first folder. The folders
 * of a project that is not trusted must not be among the given ones.
 */
export async function loadDefinitions(folders: readonly DefinitionFolder[]): Promise<Definitions> {
  const tables: Tables = { agents: new Map(), commands: new Map(), skills: new Map(), styles: new Map() };
  const problems: DefinitionProblem[] = [];
  const rank = ({ origin }: DefinitionFolder): number => DEFINITION_SCOPES.indexOf(origin.scope);
  for (const folder of folders.toSorted((one, other) => rank(one) - rank(other))) {
    problems.push(...bound(await loadFolder(folder, tables), folder));
  }
  return { ...tables, problems };
}

async function loadFolder(folder: DefinitionFolder, tables: Tables): Promise<DefinitionProblem[]> {
  const { files, problems: found } = scanFolder(folder);
  const problems = [...found];
  const budget: YamlBudget = { chars: MAX_YAML_CHARS };
  let sinceRest = 0;
  for (const file of files) {
    const before = budget.chars;
    try {
      problems.push(...(await loadFile(folder, { file, tables, budget })));
    } catch (error) {
      problems.push({ severity: 'error', file: file.path, line: 0, text: explainReadError(error) });
    }
    sinceRest = budget.chars === before ? sinceRest + 1 : FILES_AT_ONCE;
    if (sinceRest < FILES_AT_ONCE) continue;
    sinceRest = 0;
    await setImmediate();
  }
  return problems;
}

async function loadFile(
  { kind, origin: ofFolder }: DefinitionFolder,
  { file, tables, budget }: { file: FoundFile; tables: Tables; budget: YamlBudget },
): Promise<readonly DefinitionProblem[]> {
  const headOnly = kind === 'skills' || kind === 'commands';
  const matter = await parseFrontmatter(readDefinitionText(file.real, { headOnly }), file.path, budget);
  const origin = { ...ofFolder, file: file.path };
  const source: DefinitionSource = { name: file.name, folders: file.folders, file: file.path, origin, matter };
  switch (kind) {
    case 'agents':
      return keep(tables.agents, await parseAgentFile(source));
    case 'commands':
      return keep(tables.commands, parseCommandFile(source));
    case 'skills':
      return keep(tables.skills, parseSkillFile(source));
    case 'output-styles':
      return keep(tables.styles, parseStyleFile(source));
  }
}

function keep<T extends { name: string; origin: Origin }>(
  table: Map<string, T>,
  { value, problems }: Parsed<T>,
): readonly DefinitionProblem[] {
  if (value === undefined) return problems;
  const stronger = table.get(value.name);
  if (stronger === undefined) {
    table.set(value.name, value);
    return problems;
  }
  // To be stronger is the point of a scope; twice in one is a slip.
  const { file = '' } = value.origin;
  if (stronger.origin.scope !== value.origin.scope || stronger.origin.file === file) return problems;
  const text = `"${value.name}" is there already, in ${stronger.origin.file ?? 'another place'}; this one does not count`;
  return [...problems, { severity: 'warning', file, line: 1, text }];
}

function bound(problems: DefinitionProblem[], { path }: DefinitionFolder): DefinitionProblem[] {
  if (problems.length <= MAX_PROBLEMS) return problems;
  const text = `${problems.length - MAX_PROBLEMS} more problems in this folder are not listed`;
  return [...problems.slice(0, MAX_PROBLEMS), { severity: 'warning', file: path, line: 0, text }];
}
