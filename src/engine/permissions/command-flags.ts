import { isPattern } from './shell/hole.js';

/** The flags of a program that are known to be harmless. Anything else makes the call unknown. */
export interface FlagSpec {
  /** Letters that stand alone and may be combined: `-la`. */
  short?: string;
  /** Letters with a value, attached or in the next word: `-n5`, `-n 5`. */
  shortValue?: string;
  /** Letters with an optional value, attached only: `-M90%`. */
  shortOptional?: string;
  /** Names parted by spaces: `all` stands alone, `sort=` takes a value, `color[=]` may have one attached. */
  long?: string;
  /** A number alone is a flag: `-20`. */
  number?: boolean;
  /** A dash alone is a flag. */
  dash?: boolean;
  /**
   * How short flags share a word, for programs that do not do as others do. `apart`: letters may, but values come in
   * words of their own. `alone`: one letter to a word, with nothing but a number behind it.
   */
  words?: 'apart' | 'alone';
  /** Its flags end at the first operand: what looks like one behind it is a file, and may be one that it writes. */
  endsFlags?: boolean;
}

export interface ReadFlags {
  /** Each flag given, without its dashes, with its values. */
  flags: ReadonlyMap<string, readonly string[]>;
  /** Their names in the order of the words, each as often as it was given. */
  given: readonly string[];
  operands: readonly string[];
  /** Values in words of their own behind an operand: where that ends the flags, they are operands too. */
  late: readonly string[];
  /** How many of the arguments were read: all of them, or those before the first operand. */
  read: number;
}

export interface ReadOptions {
  /** The first operand ends the flags. */
  stopsAtOperand?: boolean;
}

/** Splits arguments into known flags and operands; undefined when one flag is not known. Abbreviations are not known. */
export function readFlags(args: readonly string[], spec: FlagSpec, options: ReadOptions = {}): ReadFlags | undefined {
  const flags = new Map<string, string[]>();
  const given: string[] = [];
  const operands: string[] = [];
  const late: string[] = [];
  const note = (name: string, value?: string): void => {
    if (value === undefined) given.push(name);
    const values = flags.get(name) ?? [];
    flags.set(name, value === undefined ? values : [...values, value]);
  };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (spec.endsFlags === true && operands.length > 0 && arg.startsWith('-') && arg !== '-') return undefined;
    if (arg === '--') return { flags, given, operands: [...operands, ...args.slice(at + 1)], late, read: at + 1 };
    if (arg === '-' && spec.dash === true) continue;
    if (!arg.startsWith('-') || arg === '-') {
      if (options.stopsAtOperand === true) return { flags, given, operands: args.slice(at), late, read: at };
      operands.push(arg);
      continue;
    }
    if (spec.number === true && /^-\d+$/.test(arg)) continue;
    const flag = arg.startsWith('--') ? readLong(arg.slice(2), spec) : readShort(arg.slice(1), spec);
    if (flag === undefined) return undefined;
    for (const name of flag.names) note(name);
    if (flag.value !== undefined) note(flag.name, flag.value);
    if (!flag.wantsNext) continue;
    at += 1;
    const value = args[at];
    if (value === undefined || !isSeparateValue(value)) return undefined;
    note(flag.name, value);
    if (operands.length > 0) late.push(value);
  }
  return { flags, given, operands, late, read: args.length };
}

interface ReadFlag {
  names: readonly string[];
  /** The last of them, to which a value belongs. */
  name: string;
  value?: string;
  wantsNext: boolean;
}

/**
 * Were our list wrong about a flag, a value that looks like one would be a flag to the program. A pattern may become
 * several words, of which only the first is the value.
 */
const isSeparateValue = (value: string): boolean =>
  (!value.startsWith('-') || /^-\d*$/.test(value)) && !isPattern(value);

const KNOWN = new WeakMap<FlagSpec, ReadonlySet<string>>();

function knownLong(spec: FlagSpec): ReadonlySet<string> {
  let known = KNOWN.get(spec);
  if (known === undefined) {
    known = new Set((spec.long ?? '').split(' '));
    KNOWN.set(spec, known);
  }
  return known;
}

function readLong(text: string, spec: FlagSpec): ReadFlag | undefined {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const known = knownLong(spec);
  if (name === '' || /[=[\]]/.test(name)) return undefined;
  if (equals === -1) {
    if (known.has(name) || known.has(`${name}[=]`)) return { names: [name], name, wantsNext: false };
    return known.has(`${name}=`) ? { names: [name], name, wantsNext: true } : undefined;
  }
  const takesValue = known.has(`${name}=`) || known.has(`${name}[=]`);
  return takesValue ? { names: [name], name, value: text.slice(equals + 1), wantsNext: false } : undefined;
}

function readShort(letters: string, spec: FlagSpec): ReadFlag | undefined {
  const names: string[] = [];
  if (spec.words === 'alone' && !/^.(?:[+-]?\d+)?$/.test(letters)) return undefined;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters.charAt(at);
    const rest = letters.slice(at + 1);
    names.push(letter);
    if (spec.shortOptional?.includes(letter)) {
      return { names, name: letter, ...(rest !== '' && { value: rest }), wantsNext: false };
    }
    if (spec.shortValue?.includes(letter)) {
      if (spec.words === 'apart' && rest !== '') return undefined;
      return rest === ''
        ? { names, name: letter, wantsNext: true }
        : { names, name: letter, value: rest, wantsNext: false };
    }
    if (!spec.short?.includes(letter)) return undefined;
  }
  return { names, name: names.at(-1) ?? '', wantsNext: false };
}
