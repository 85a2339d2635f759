import { resolve } from 'node:path/posix';
import { HOLE, hasHole, isForeign, isNumeric } from './hole.js';

const MAX_VALUES = 8;
const MAX_FOLDERS = 4;

/** They are known to be numbers, or say nothing that is worth hiding. */
const NUMBERS = new Set(
  'RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS SHLVL COLUMNS LINES'.split(' '),
);
const OPEN = new Set(
  'USER LOGNAME HOSTNAME SHELL LANG TERM OSTYPE MACHTYPE PATH TMPDIR OLDPWD BASH_VERSION CI'.split(' '),
);

/** The shell puts texts into these by itself, whatever the line sets them to. */
const SELF_SET = new Set(
  '_ BASH_REMATCH BASH_COMMAND BASH_EXECUTION_STRING BASH_ARGV BASH_ARGV0 BASH_SOURCE FUNCNAME DIRSTACK'.split(' '),
);
/** These may hold texts that builtins have read. */
const READ = new Set('REPLY MAPFILE OPTARG COMP_LINE COMP_WORDS READLINE_LINE'.split(' '));
/** What they are set to is evaluated as arithmetic, and with it any command in a subscript. */
const EVALUATED = new Set('RANDOM SRANDOM SECONDS LINENO OPTIND HISTCMD EPOCHSECONDS BASHPID'.split(' '));

export const isEvaluatedName = (name: string): boolean => EVALUATED.has(name);

/** With more variables than these nothing is known of any. */
const MAX_NAMES = 500;
/** Longer values are not kept; otherwise a few words could stand for more text than there is memory. */
const MAX_VALUE = 10_000;

const NO_VALUES: ReadonlyMap<string, readonly string[]> = new Map();
const NO_FUNCTIONS: ReadonlySet<string> = new Set();

/** What is known at one point of a line: the values of variables, the folder, the functions. */
export class Scope {
  /** Each variable set in sight, with all it may hold. Replaced when it changes, so that copies share it. */
  #values: ReadonlyMap<string, readonly string[]>;
  /** Whatever was ever set, in this scope or in one that came from it or before it. */
  readonly #log: Change[];
  /** Those that are surely defined. Replaced when it changes. */
  functions: ReadonlySet<string>;
  readonly home: string | undefined;
  /** The folders it may run in; undefined: anywhere. */
  #folders: readonly string[] | undefined;
  /** Nothing is known of variables. */
  #blind: boolean;

  constructor(start: { folders: readonly string[] | undefined; home: string | undefined; from?: Scope }) {
    const { from } = start;
    this.#values = from === undefined ? NO_VALUES : from.#values;
    this.functions = from?.functions ?? NO_FUNCTIONS;
    this.home = start.home;
    this.#log = from === undefined ? [] : from.#log;
    this.#folders = start.folders;
    this.#blind = from !== undefined && from.#blind;
  }

  clone(): Scope {
    return new Scope({ folders: this.folders, home: this.home, from: this });
  }

  get folders(): readonly string[] | undefined {
    return this.#folders;
  }

  set folders(folders: readonly string[] | undefined) {
    this.#folders = folders;
    this.#log.push({ folders });
  }

  /** All that the variable may hold. Undefined when nothing in sight sets it. */
  valuesOf(name: string): readonly string[] | undefined {
    if (this.#blind) return [HOLE.any];
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    if (name === 'HOME' && this.home !== undefined) return [this.home];
    if (name === 'PWD') return this.folders ?? [HOLE.output];
    if (NUMBERS.has(name)) return [HOLE.number];
    return OPEN.has(name) ? [HOLE.output] : undefined;
  }

  set(name: string, values: readonly string[]): void {
    const isKnown = !SELF_SET.has(name) && values.every((value) => value.length <= MAX_VALUE);
    const all = isKnown ? union(values, []) : [HOLE.any];
    if (this.#values.size >= MAX_NAMES && !this.#values.has(name)) return this.forgetAll();
    this.#values = new Map(this.#values).set(name, all);
    this.#log.push({ name, values: all });
  }

  forget(name: string): void {
    this.set(name, [HOLE.any]);
  }

  /** As if the line had never set it. */
  unset(name: string): void {
    if (this.#values.has(name)) this.#values = new Map([...this.#values].filter(([each]) => each !== name));
  }

  /** From here on the name stands for a function. */
  define(name: string): void {
    this.functions = new Set([...this.functions, name]);
  }

  /** As in a shell that was just started: nothing of this one is known there. */
  leaveShell(): void {
    this.forgetAll();
    this.functions = NO_FUNCTIONS;
  }

  /** Where the log stands; for `allowForJumps`. */
  get mark(): number {
    return this.#log.length;
  }

  /** What was set since then may hold, even where it was set anew: a `break` may have left in between. */
  allowForJumps(mark: number): void {
    // Nothing is noted twice: the log would double with every loop around it.
    for (const change of this.#log.slice(mark)) {
      if ('name' in change) {
        const held = this.#values.get(change.name);
        const all = union(held ?? [HOLE.any], change.values);
        if (held === undefined || !isSame(held, all)) this.set(change.name, all);
      } else {
        const folders = joinFolders(this.folders, change.folders);
        if (!isSame(this.folders ?? [], folders ?? [])) this.folders = folders;
      }
    }
  }

  forgetAll(): void {
    this.#blind = true;
  }

  /** A value that arithmetic may evaluate: a number, or a variable that the line does not set. */
  isCountable(name: string): boolean {
    if (this.#blind || SELF_SET.has(name) || READ.has(name)) return false;
    return this.#values.get(name)?.every(isNumeric) ?? true;
  }

  enter(folder: string): void {
    const isKnown = !hasHole(folder);
    this.folders = isKnown ? cap(this.folders?.map((from) => resolve(from, folder))) : undefined;
    if (isKnown && folder.startsWith('/')) this.folders = [resolve(folder)];
  }

  /** What holds whichever of the others was reached. */
  become(others: readonly Scope[]): void {
    const [first, ...rest] = others;
    if (first === undefined) return;
    if (rest.some((other) => other.#values !== first.#values)) {
      const names = new Set(others.flatMap((other) => [...other.#values.keys()]));
      const values = new Map<string, readonly string[]>();
      for (const name of names) {
        const held = others.map((other) => other.#values.get(name) ?? [HOLE.any]);
        values.set(
          name,
          held.reduce((all, more) => union(all, more)),
        );
      }
      this.#values = values;
    } else this.#values = first.#values;
    this.#blind = others.some((other) => other.#blind);
    const folders = others.map((other) => other.folders).reduce(joinFolders);
    if (folders !== this.#folders) this.folders = folders;
    const isSame = rest.every((other) => other.functions === first.functions);
    this.functions = isSame
      ? first.functions
      : new Set([...first.functions].filter((name) => rest.every((other) => other.functions.has(name))));
  }

  equals(other: Scope): boolean {
    return this.#print() === other.#print();
  }

  #print(): string {
    return JSON.stringify([[...this.#values].toSorted(([a], [b]) => (a < b ? -1 : 1)), this.folders, this.#blind]);
  }
}

type Change = { name: string; values: readonly string[] } | { folders: readonly string[] | undefined };

export function joinFolders(
  some: readonly string[] | undefined,
  more: readonly string[] | undefined,
): readonly string[] | undefined {
  if (some === more) return some;
  return some === undefined || more === undefined ? undefined : cap([...some, ...more]);
}

function cap(folders: readonly string[] | undefined): readonly string[] | undefined {
  const all = [...new Set(folders)];
  return folders === undefined || all.length > MAX_FOLDERS ? undefined : all;
}

const isSame = (some: readonly string[], more: readonly string[]): boolean =>
  some.length === more.length && some.every((each, at) => each === more[at]);

function union(some: readonly string[], more: readonly string[]): readonly string[] {
  const all = [...new Set([...some, ...more])];
  return all.length > MAX_VALUES ? [summarise(all)] : all;
}

/** One text with holes for many. */
export function summarise(values: readonly string[]): string {
  if (values.every(isNumeric)) return HOLE.number;
  return values.some(isForeign) ? HOLE.any : HOLE.output;
}
