/** The slash commands of a session, as the rest of it sees them. Types only. */
import type { SessionStore, SlashCommand } from '../../protocol/index.js';
import type { CommandFile, SkillFile } from '../definitions/definition.js';
import type { Lists } from '../lists.js';
import type { ServerChange } from '../mcp/servers.js';

/** What is answered here, without a turn of the model. */
export interface LocalCommand extends SlashCommand {
  kind: 'local';
}

/** A text for the model: of a file, a skill, or built in. */
export interface TextCommand extends SlashCommand {
  kind: 'text';
  file: CommandFile | SkillFile;
  /** The text, where it stands in no file. */
  body?: string;
  /** A program that it cannot do without. */
  needs?: string;
}

/** A prompt of an MCP server. */
export interface ServerCommand extends SlashCommand {
  kind: 'server';
}

export type KnownCommand = LocalCommand | TextCommand | ServerCommand;

/** What a prompt that begins with a slash calls for. */
export type CommandCall =
  | { kind: 'known'; command: KnownCommand; args: string }
  /** A file of this name is there, and cannot be used. */
  | { kind: 'broken'; name: string; reason: string }
  /** Nothing is called like this. */
  | { kind: 'unknown'; name: string };

/** A local command that is called. */
export interface LocalCall {
  command: LocalCommand;
  args: string;
  /** Of the message that calls it. */
  uuid: string | undefined;
}

/** What the model asks for by name: it, or why it may not have it. */
export type FoundSkill = { file: CommandFile | SkillFile } | { refusal: string };

/** What local commands work on beside the scope. */
export interface CommandsOwn {
  lists: Lists;
  /** Where sessions are kept; nowhere when absent. */
  store: SessionStore | undefined;
}

export interface Commands {
  readonly own: CommandsOwn;
  /** What a person may call. */
  readonly list: SlashCommand[];
  /** The names of the skills among them. */
  readonly skillNames: string[];
  /** The host has heard of the session, and of commands by their names: from here on it is told what changes. */
  present(): void;
  /** Tells the host which commands there are, when these are others than it knows. */
  noteChange(what: ServerChange['what']): void;
  /** Undefined for a prompt that is no command. */
  find(text: string, options: { signal: AbortSignal }): Promise<CommandCall | undefined>;
  /** Whether there is a place that skills could come from. */
  readonly mayHaveSkills: boolean;
  findSkill(name: string): FoundSkill;
  /** The skills that the model may call, for the model. Empty when there are none. */
  describeSkills(): string;
  /** Reads the files again. Never rejects. */
  reload(): Promise<void>;
  /** From now on changes of files are noticed. A second call does nothing. */
  watch(): void;
  close(): void;
}
