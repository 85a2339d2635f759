/** One table of all commands. Pure. */
import type { SlashCommand } from '../../protocol/index.js';
import {
  type CommandFile,
  DEFINITION_SCOPES,
  type DefinitionProblem,
  type Definitions,
  type SkillFile,
} from '../definitions/definition.js';
import type { PromptCommand } from '../mcp/servers.js';
import { BUILTIN_PROMPTS } from './builtin-prompts.js';
import type { KnownCommand, TextCommand } from './commands.js';
import { LOCAL_COMMANDS } from './local-table.js';

type Files = Pick<Definitions, 'commands' | 'skills'>;

/**
 * By name, in the order in which they are shown. Of several with one name the first of these counts: local commands, files and
 * skills by their scope (a skill before a command of the same scope), prompts of servers, built-in prompts.
 */
export function indexCommands(files: Files, prompts: readonly PromptCommand[]): Map<string, KnownCommand> {
  const all: KnownCommand[] = [
    ...LOCAL_COMMANDS,
    ...strongest(files)
      .filter(({ userMayCall }) => userMayCall)
      .map(toText),
    ...prompts.map(({ name, description, argumentHint }) => ({
      kind: 'server' as const,
      name,
      description,
      argumentHint,
    })),
    ...BUILTIN_PROMPTS,
  ];
  const index = new Map<string, KnownCommand>();
  for (const command of all) if (!index.has(command.name)) index.set(command.name, command);
  return index;
}

/** By name; other names count where nothing has them as its own. */
export function findCommand(index: ReadonlyMap<string, KnownCommand>, name: string): KnownCommand | undefined {
  return index.get(name) ?? [...index.values()].find(({ aliases }) => aliases?.includes(name) === true);
}

/** What the model may call by the Skill tool. Names of local commands and of people's own commands are not in the way. */
export const callableByModel = (files: Files): (CommandFile | SkillFile)[] =>
  strongest(files).filter(({ modelMayCall }) => modelMayCall);

/** Commands and skills, one of each name. */
export function strongest({ commands, skills }: Files): (CommandFile | SkillFile)[] {
  const all = new Map<string, CommandFile | SkillFile>(skills);
  for (const [name, command] of commands) {
    const skill = skills.get(name);
    if (skill === undefined || rankOf(command) < rankOf(skill)) all.set(name, command);
  }
  return [...all.values()];
}

const rankOf = ({ origin }: CommandFile): number => DEFINITION_SCOPES.indexOf(origin.scope);

const toText = (file: CommandFile | SkillFile): TextCommand => ({
  kind: 'text',
  name: file.name,
  description: file.description,
  argumentHint: file.argumentHint,
  file,
});

export const toSlashCommand = ({ name, description, argumentHint, aliases, builtin }: KnownCommand): SlashCommand => ({
  name,
  description,
  argumentHint,
  ...(aliases && { aliases }),
  ...(builtin === true && { builtin }),
});

/** Why the file of this name is not among the commands, if there is one. */
export function findProblem(problems: readonly DefinitionProblem[], name: string): string | undefined {
  const path = `/${name.split(':').at(-1) ?? name}`;
  const found = problems.find(
    ({ severity, file }) =>
      severity === 'error' &&
      (file.endsWith(`${path}.md`) || file.toLowerCase().endsWith(`${path}/skill.md`.toLowerCase())) &&
      !isOther(file),
  );
  return found && `${found.file}${found.line > 0 ? `:${found.line}` : ''}: ${found.text}.`;
}

/** Agents and output styles are not called. */
const isOther = (file: string): boolean => /[\\/](?:agents|output-styles)[\\/]/.test(file);
