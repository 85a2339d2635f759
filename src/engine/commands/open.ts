import type { Clock, Logger, SlashCommand } from '../../protocol/index.js';
import type { DefinitionProblem } from '../definitions/definition.js';
import { describeSkills } from '../definitions/listing.js';
import type { SessionDefinitions } from '../definitions/open.js';
import type { McpServers } from '../mcp/servers.js';
import { type ChosenSkills, isChosen } from './chosen-skills.js';
import type { CommandCall, Commands, CommandsOwn, FoundSkill } from './commands.js';
import {
  callableByModel,
  findCommand,
  findProblem,
  indexCommands,
  strongest,
  toSlashCommand,
} from './index-commands.js';
import { looksLikeCall, parseCall } from './parse-call.js';

export interface CommandsParts {
  definitions: SessionDefinitions;
  /** Asked for when something happens: servers tell of their changes. */
  mcp: () => McpServers;
  /** Slashes mean nothing, and there are no skills. */
  disabled: boolean;
  /** Those that the model may call by itself; absent or `all`: any. */
  chosen?: ChosenSkills;
  own: CommandsOwn;
  clock: Clock;
  logger: Logger;
  /** Tells the host which commands there are now. */
  tell(commands: SlashCommand[]): void;
  /** Tells the host what is wrong with a file that has changed. */
  tellProblem(problem: DefinitionProblem): void;
}

/** A session that is over by then need not look. */
const CATCH_UP_MS = 500;

export function createCommands(parts: CommandsParts): Commands {
  const { definitions, mcp, disabled, chosen, clock, logger } = parts;
  const index = () => indexCommands(definitions, mcp().prompts);
  const list = (): SlashCommand[] => (disabled ? [] : [...index().values()].map(toSlashCommand));
  /** What the host was last told. Without its servers, before anything is said. */
  let told = JSON.stringify(disabled ? [] : [...indexCommands(definitions, []).values()].map(toSlashCommand));
  const learn = (commands: readonly SlashCommand[]): boolean => {
    const text = JSON.stringify(commands);
    const isNew = text !== told;
    told = text;
    return isNew;
  };
  /** Nothing is told before the message that opens a session. */
  let isOpen = false;
  const tellChange = (): void => {
    const commands = list();
    if (isOpen && learn(commands)) parts.tell(commands);
  };

  let watching: 'no' | 'yes' | 'over' = 'no';
  let stopWatch = (): void => {};
  const warn = (text: string): void => logger('warn', text);
  /** What is wrong is told once, and again when it was right in between. */
  let wrong = new Set(definitions.problems.map(keyOf));
  const tellProblems = (): void => {
    const { problems } = definitions;
    for (const problem of problems) if (!wrong.has(keyOf(problem))) parts.tellProblem(problem);
    wrong = new Set(problems.map(keyOf));
  };
  const reload = async (): Promise<void> => {
    try {
      await definitions.reload();
      tellProblems();
      tellChange();
    } catch (thrown) {
      warn(`Commands could not be read again: ${String(thrown)}`);
    }
  };
  const startWatch = async (): Promise<void> => {
    const { watchDefinitions } = await import('../definitions/watch.js');
    if (watching === 'over') return;
    const watched = watchDefinitions(definitions.folders, { clock, onChange: () => void reload(), onProblem: warn });
    // What changed before is not noticed; a session that lives on looks once.
    const cancel = clock.after(CATCH_UP_MS, () => void reload(), { background: true });
    stopWatch = () => {
      watched.close();
      cancel();
    };
  };

  return {
    own: parts.own,
    get list() {
      return list();
    },
    get skillNames() {
      return disabled ? [] : [...definitions.skills.keys()];
    },
    present() {
      isOpen = true;
      tellChange();
    },
    noteChange(what) {
      if (what === 'prompts' || what === 'status') tellChange();
    },
    find: async (text, options) => (disabled ? undefined : findCall(text, parts, options)),
    mayHaveSkills: !disabled && chosen?.length !== 0 && definitions.folders.length > 0,
    findSkill: (name) => findSkill(name, definitions, chosen),
    describeSkills: () =>
      disabled ? '' : describeSkills(callableByModel(definitions).filter((file) => isChosen(chosen, file))),
    reload,
    watch() {
      if (watching !== 'no' || definitions.folders.length === 0) return;
      watching = 'yes';
      startWatch().catch((thrown: unknown) => warn(`Commands are not watched for changes: ${String(thrown)}`));
    },
    close() {
      watching = 'over';
      stopWatch();
    },
  };
}

const keyOf = ({ file, line, text }: DefinitionProblem): string => JSON.stringify([file, line, text]);

async function findCall(
  text: string,
  { definitions, mcp }: CommandsParts,
  options: { signal: AbortSignal },
): Promise<CommandCall | undefined> {
  const call = parseCall(text);
  if (call === undefined) return undefined;
  const { name, args } = call;
  try {
    // A server that is on its way may bring it.
    if (name.startsWith('mcp__')) await mcp().promptArrived(name, options);
  } catch (thrown) {
    return { kind: 'broken', name, reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
  const command = findCommand(indexCommands(definitions, mcp().prompts), name);
  if (command !== undefined) return { kind: 'known', command, args };
  if (!looksLikeCall(name)) return undefined;
  const reason = findProblem(definitions.problems, name);
  return reason === undefined ? { kind: 'unknown', name } : { kind: 'broken', name, reason };
}

const MAX_NAMES = 30;

function findSkill(given: string, definitions: SessionDefinitions, chosen: ChosenSkills): FoundSkill {
  const name = given.trim().replace(/^\//, '');
  const all = strongest(definitions);
  const file = all.find((one) => one.name === name);
  if (file?.modelMayCall === true && isChosen(chosen, file)) return { file };
  if (file?.modelMayCall) return { refusal: `"${name}" is not among the skills of this session.` };
  if (file !== undefined) return { refusal: `Only the user may call "${name}".` };
  const problem = findProblem(definitions.problems, name);
  if (problem !== undefined) return { refusal: `The skill "${name}" cannot be used. ${problem}` };
  const names = all.filter((one) => one.modelMayCall && isChosen(chosen, one)).map((one) => one.name);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  const known = names.length === 0 ? 'There are none.' : `Available: ${names.slice(0, MAX_NAMES).join(', ')}${more}.`;
  return { refusal: `There is no skill "${name}". ${known}` };
}
