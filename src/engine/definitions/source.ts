/** One file on its way to a definition. */
import type { Frontmatter } from './frontmatter.js';
import type { DefinitionProblem, Origin } from './definition.js';

export interface DefinitionSource {
  /** The name that its place gives it: of the file, or of the folder of a skill. */
  name: string;
  /** The folders between the one that is loaded and the file. */
  folders: readonly string[];
  file: string;
  origin: Origin;
  /** Of a skill and a command only the head of the body is here. */
  matter: Frontmatter;
}

export interface Parsed<T> {
  /** Undefined: the file makes none. */
  value: T | undefined;
  problems: readonly DefinitionProblem[];
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
const MAX_NAME = 100;

/** A name that can be shown in one line and called. */
export const isName = (name: string): boolean => name !== '' && name.length <= MAX_NAME && !CONTROL.test(name);

/** What stands after a slash: no blanks. */
export const isCallName = (name: string): boolean => isName(name) && !/[\s/\\<>"'`]/.test(name);

/** What belongs to a plugin is called by its name too. */
export const withNamespace = ({ plugin }: Origin, name: string): string =>
  plugin === undefined || name.startsWith(`${plugin}:`) ? name : `${plugin}:${name}`;
