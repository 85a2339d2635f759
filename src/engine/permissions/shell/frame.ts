import type { ParsedScript } from 'unbash';
import type { Redirection, Segment, Setting } from './reading.js';
import type { Scope } from './scope.js';
import type { WrapperSpec } from './wrapper-table.js';

/** Where a reader stands: what surrounds the text it reads. */
export interface Frame {
  scope: Scope;
  /** The text that positions count in. */
  source: string;
  role: Segment['role'];
  /** How many texts lie around this one: `bash -c "bash -c ..."`. */
  depth: number;
  isPiped: boolean;
  /** What comes on the standard input, where that is known. */
  inputText?: string;
  /** The paths that come on the standard input, with holes. */
  inputPaths?: readonly string[];
  outer?: Segment['outer'];
}

/** What the parts of the reader share. */
export interface Notes {
  readonly wrappers: Readonly<Record<string, WrapperSpec>>;
  /** The line moves to other folders somewhere. */
  readonly moves: boolean;
  /** Something in the line takes what comes on its standard input for names. */
  readonly takesNames: boolean;
  /** The line leaves loops in the middle somewhere. */
  readonly jumps: boolean;
  /** False when loops have been gone through so often that it must come to an end. */
  spendRound(): boolean;
  /** To be called before so many characters are looked at. False when it must come to an end: what is left is cut. */
  spend(characters: number): boolean;
  /** False when a guess was followed before: a wrapper in a wrapper leads to the same ones again and again. */
  isNewGuess(key: string): boolean;
  doubt(reason: string): void;
  segment(segment: Segment): void;
  redirection(redirection: Redirection): void;
  setting(setting: Setting): void;
  mark(what: 'background' | 'foreign' | 'cut' | 'tests' | 'splits'): void;
  /** What is noted in it may run again as long as it goes on; of what runs at any later time, until the end of the line. */
  repeated(until: 'itself' | 'end', read: () => void): void;
  /** Reads a script that stands inside of the line, into these notes or others. */
  script(script: ParsedScript, frame: Frame, notes: Notes): void;
  /** Reads a text that is given to a shell. */
  text(line: string, frame: Frame, notes: Notes): void;
}
