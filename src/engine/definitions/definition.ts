/** What people write in files: agents, commands, skills, output styles. Types only. */
import type { AgentDefinition } from '../../protocol/index.js';

/** Where a definition comes from, the strongest first: of two with the same name the stronger one counts. */
export const DEFINITION_SCOPES = ['managed', 'flag', 'project', 'user', 'plugin', 'builtin'] as const;
export type DefinitionScope = (typeof DEFINITION_SCOPES)[number];

export interface Origin {
  scope: DefinitionScope;
  /** Absent for what is built in or given by the caller. */
  file?: string;
  /** The plugin it belongs to. */
  plugin?: string;
  /** Who has enabled that plugin: the person for this run, or the settings of a layer. */
  enabledBy?: 'managed' | 'flag' | 'local' | 'project' | 'user';
  /** What `${CLAUDE_PLUGIN_ROOT}` stands for in its text. */
  pluginRoot?: string;
}

/** Something in a file that is not as it must be. The other files load all the same. */
export interface DefinitionProblem {
  severity: 'error' | 'warning';
  file: string;
  /** Counts from 1; 0 when the file could not even be read. */
  line: number;
  text: string;
}

/** An agent that can be started by name. */
export interface Agent extends AgentDefinition {
  name: string;
  /** `forked`: it starts with what its parent knows; `isolated` (the default): with its prompt alone. */
  context?: 'isolated' | 'forked';
  isolation?: 'worktree';
  origin: Origin;
}

/** A slash command that stands in a file. Its body is read when it is called. */
export interface CommandFile {
  /** Without the slash; `folder:name` for one in a folder, `plugin:name` for one of a plugin. */
  name: string;
  description: string;
  argumentHint: string;
  /** Rules that hold for the turn that it starts. */
  allowedTools: readonly string[];
  model?: string;
  /** False: only a person may call it. */
  modelMayCall: boolean;
  /** False: it is not shown to people, and only the model calls it. */
  userMayCall: boolean;
  origin: Origin;
}

/** A skill: its name and description are known to the model, its text comes when it is called. */
export interface SkillFile extends CommandFile {
  /** The folder with `SKILL.md` and the files that come with it. */
  folder: string;
  /** It runs in an agent of its own: the one of this name, or the default one. */
  fork?: { agent?: string };
}

export interface OutputStyle {
  name: string;
  description: string;
  prompt: string;
  /** The default prompt stays, and this comes after it. */
  keepsDefault: boolean;
  origin: Origin;
}

/** A folder to look into, with what is found in it. */
export interface DefinitionFolder {
  kind: 'agents' | 'commands' | 'skills' | 'output-styles';
  path: string;
  origin: Omit<Origin, 'file'>;
}

export interface Definitions {
  agents: ReadonlyMap<string, Agent>;
  commands: ReadonlyMap<string, CommandFile>;
  skills: ReadonlyMap<string, SkillFile>;
  styles: ReadonlyMap<string, OutputStyle>;
  problems: readonly DefinitionProblem[];
}
