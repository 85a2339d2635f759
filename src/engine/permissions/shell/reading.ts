import type { ShellWord } from './word.js';

/** When something runs, counted in the order of the line: from first to last, for it may run again. */
export interface Moment {
  first: number;
  last: number;
}

/** One simple command that a line runs, with wrappers taken off. */
export interface Segment {
  /** The command word first; never empty. */
  words: readonly ShellWord[];
  /** As it stands in the line, or in the text it came from. */
  source: string;
  /** The folders it may run in; undefined: not known. */
  folders: readonly string[] | undefined;
  /** Names set in its environment alone. */
  assignments: readonly string[];
  /**
   * `run`: it may run here. `wrapper`: it runs another segment and does nothing else. `remote`: it runs on another
   * machine. `guess`: it may be what runs. Only the first kind must be allowed; forbidding looks at all.
   */
  role: 'run' | 'wrapper' | 'remote' | 'guess';
  /** The wrapper it came out of, and how many of its words stand in front. */
  outer?: { words: readonly ShellWord[]; at: number };
  /** It calls a function that the line defines, and whose commands are among the segments. */
  isFunction?: boolean;
  /** It reads from a pipe, or from what surrounds it. */
  isPiped: boolean;
  /** The text of its here-document or here-string, where one is given. */
  inputText?: string;
  when?: Moment;
}

/** A file that the shell itself opens. */
export interface Redirection {
  operator: string;
  /** Undefined when it could be several, or none. */
  target: ShellWord | undefined;
  /** What is known of it then. */
  text?: string;
  reads: boolean;
  writes: boolean;
  /** It opens a connection. */
  connects: boolean;
  folders: readonly string[] | undefined;
  when?: Moment;
  /** What is below it may be written: it is a folder. */
  below?: 'tree';
}

/** A variable that the line sets for what follows. */
export interface Setting {
  name: string;
  /** Programs see it. */
  exported: boolean;
}

/** What a shell line really runs. Complete unless there are doubts. */
export interface CommandReading {
  line: string;
  /** In the order of the text, at any depth. */
  segments: readonly Segment[];
  redirections: readonly Redirection[];
  settings: readonly Setting[];
  /** Why not all of it can be known before it runs. */
  doubts: readonly string[];
  /** Some of it was not looked at. */
  cut: boolean;
  background: boolean;
  /** It tests or calculates something, by words of the shell that are no command. */
  tests: boolean;
  /** A here-document or here-string holds what is not set in the line. */
  hasForeignText: boolean;
  /** Names of files that were listed are cut at spaces, or matched against names once more. */
  splitsNames: boolean;
}

export const nameOf = ({ words }: Segment): string => words[0]?.value ?? '';
