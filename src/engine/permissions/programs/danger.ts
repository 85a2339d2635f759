import { basename } from 'node:path/posix';
import { type FlagSpec, readFlags } from '../command-flags.js';
import type { ShellWord } from '../shell/word.js';
import { effectOfAwk } from './awk.js';
import type { DangerSpec } from './danger-table.js';
import { isHarmlessConfig, readGit } from './git.js';
import { readConfig } from './git-config.js';
import { listed } from './listed.js';
import { isPrintingSed } from './sed.js';

/** An argument that does more than the name of the program tells. */
export interface Danger {
  /** Which of the words it is. */
  at: number;
  /** What it would run, where that is a command line. */
  script?: string;
  /** The word is code, so that a rule must name all of it. */
  isCode?: boolean;
}

type Dangers = Readonly<Record<string, DangerSpec>>;

/** All arguments of a command that a rule for the program does not cover by itself. */
export function findDangers(words: readonly ShellWord[], table: Dangers): Danger[] {
  const values = words.map(({ value }) => value);
  const name = basename(values[0] ?? '');
  const found = specsOf(name, values, table).flatMap((spec) => dangersOf(values, spec));
  if (name === 'git') found.push(...gitDangers(values));
  if (SED.test(name)) found.push(...sedDangers(values));
  if (AWK.test(name)) found.push(...awkDangers(values));
  return found;
}

const SED = /^[gs]?sed$/;
const AWK = /^(?:[gmn]?awk|original-awk|goawk)$/;

/** True when a word that turns into a flag could do harm. */
export function hasDangers(path: string, table: Dangers): boolean {
  const name = basename(path);
  return Object.hasOwn(table, name) || name === 'git' || SED.test(name) || AWK.test(name);
}

function specsOf(name: string, values: readonly string[], table: Dangers): DangerSpec[] {
  const keys = name === 'git' ? [name, `git ${readGit(values.slice(1)).subcommand ?? ''}`] : [name];
  return keys.flatMap((key) => (Object.hasOwn(table, key) ? [table[key] as DangerSpec] : []));
}

function dangersOf(values: readonly string[], spec: DangerSpec): Danger[] {
  const found: Danger[] = [];
  const words = listed(spec.words);
  const starts = listed(spec.starts);
  const holds = listed(spec.holds);
  const longs = listed(spec.long);
  for (const [at, value] of values.entries()) {
    if (at === 0) continue;
    const isListed =
      words.includes(value) ||
      starts.some((start) => value.startsWith(start)) ||
      holds.some((part) => value.includes(part));
    const flag = isListed
      ? { value: undefined }
      : (longFlag(value, longs) ?? shortFlag(value, { spec, isFirst: at === 1 }));
    if (flag === undefined) continue;
    const given = flag.value ?? values[at + 1];
    found.push({ at, ...(spec.runs === true && given !== undefined && { script: given.replace(/^exec=/, '') }) });
  }
  const other = spec.harmless === undefined ? -1 : findOther(values, spec);
  return other === -1 ? found : [...found, { at: other }];
}

/** The first word that is not known to be harmless, or one that begins another command. */
function findOther(values: readonly string[], spec: DangerSpec): number {
  let at = 1;
  while (/^-[A-Za-z]$/.test(values[at] ?? '') && spec.values?.includes(values[at]?.charAt(1) ?? '') === true) at += 2;
  if (at >= values.length) return -1;
  return listed(spec.harmless).includes(values[at] ?? '') ? values.findIndex((value) => value.endsWith(';')) : at;
}

interface Flag {
  /** What is attached to it. */
  value: string | undefined;
}

/** GNU programs take any beginning of a name that is not ambiguous. */
function longFlag(word: string, longs: readonly string[]): Flag | undefined {
  if (!word.startsWith('--') || word.length < 3) return undefined;
  const equals = word.indexOf('=');
  const name = word.slice(2, equals === -1 ? undefined : equals);
  const isThis = name !== '' && longs.some((long) => long.startsWith(name));
  return isThis ? { value: equals === -1 ? undefined : word.slice(equals + 1) } : undefined;
}

function shortFlag(word: string, { spec, isFirst }: { spec: DangerSpec; isFirst: boolean }): Flag | undefined {
  const isBundle = spec.bundles === true && isFirst && /^[A-Za-z]+$/.test(word);
  const isShort = word.startsWith('-') && !word.startsWith('--');
  if (spec.short === undefined || (!isBundle && !isShort)) return undefined;
  for (let at = isBundle ? 0 : 1; at < word.length; at += 1) {
    const letter = word.charAt(at);
    if (spec.short.includes(letter)) return { value: word.slice(at + 1) || undefined };
    if (!isBundle && spec.values?.includes(letter)) return undefined;
  }
  return undefined;
}

function gitDangers(values: readonly string[]): Danger[] {
  const call = readGit(values.slice(1));
  const found: Danger[] = [];
  for (const config of call.configs) {
    if (isHarmlessConfig(config)) continue;
    const script = /=!?([^]*)$/.exec(config)?.[1];
    found.push({ at: values.indexOf(config), ...(script !== undefined && { script }) });
  }
  if (call.options.some((option) => /^(?:-p|--paginate|--git-dir|--work-tree)/.test(option))) {
    found.push({ at: values.findIndex((value) => /^(?:-p|--paginate|--git-dir|--work-tree)/.test(value)) });
  }
  const change = call.subcommand === 'config' ? changeOf(call.args) : undefined;
  if (change !== undefined && !isHarmlessConfig(change)) found.push({ at: values.length - 1 });
  return found;
}

/** `key=value` of a change to the config that may run something. */
function changeOf(args: readonly string[]): string | undefined {
  const { kind, key, value } = readConfig(args);
  if (kind === 'unclear' || args.some((arg) => /^(?:edit|-e|--edit)$/.test(arg))) return 'edit';
  const takesAway = args.some((arg) => /^(?:--)?(?:unset(?:-all)?|remove-section|rename-section)$/.test(arg));
  return kind === 'reads' || takesAway ? undefined : `${key}=${value}`;
}

/** A script with commands that run or write, or that is not understood; one in a file is not seen. */
function sedDangers(values: readonly string[]): Danger[] {
  const found: Danger[] = [];
  const operands: number[] = [];
  let isGiven = false;
  const look = (at: number, script: string | undefined): void => {
    isGiven = true;
    if (script === undefined) found.push({ at });
    else if (!isPrintingSed(script)) found.push({ at, isCode: true });
  };
  for (let at = 1; at < values.length; at += 1) {
    const value = values[at] ?? '';
    if (value === '--') {
      if (at + 1 < values.length) operands.push(at + 1);
      break;
    }
    const [, letters, attached] = /^-([nErsuzb]*)[ef]([^]*)$/.exec(value) ?? [];
    const long = /^--([a-z-]+)(?:=([^]*))?$/.exec(value);
    if (letters !== undefined) {
      if (value.charAt(letters.length + 1) === 'f') look(at, undefined);
      else look(attached === '' ? at + 1 : at, attached === '' ? values[at + 1] : attached);
      if (attached === '') at += 1;
    } else if (long !== null && isBeginning(long[1], 'expression')) {
      if (long[2] === undefined) at += 1;
      look(at, long[2] ?? values[at]);
    } else if (long !== null && isBeginning(long[1], 'file')) {
      look(at, undefined);
      if (long[2] === undefined) at += 1;
    } else if (
      /^-[nErsuzb]*l$/.test(value) ||
      (long !== null && long[2] === undefined && isBeginning(long[1], 'line-length'))
    ) {
      at += 1;
    } else if (!value.startsWith('-') || value === '-') operands.push(at);
  }
  // Of `-i ''` some take the second word for a suffix, and some for the script.
  const scripts = values[operands[0] ?? 0] === '' ? operands.slice(0, 2) : operands.slice(0, 1);
  if (!isGiven) for (const at of scripts) look(at, values[at]);
  return found;
}

const isBeginning = (name: string | undefined, long: string): boolean =>
  name !== undefined && name !== '' && long.startsWith(name);

const AWK_FLAGS: FlagSpec = {
  shortValue: 'Fv',
  long: 'field-separator= assign= posix traditional sandbox re-interval csv',
};
/** What a word that is a program looks like. */
const LIKE_PROGRAM = /[\s{}()|<>"@;]|getline|system/;

/** A program that may run or write, or that is not understood. */
function awkDangers(values: readonly string[]): Danger[] {
  const read = readFlags(values.slice(1), AWK_FLAGS, { stopsAtOperand: true });
  const at =
    read === undefined
      ? values.findIndex((value, index) => index > 0 && LIKE_PROGRAM.test(value) && effectOfAwk(value) !== 'prints')
      : read.read + 1;
  const program = at === -1 ? undefined : values[at];
  if (program === undefined || effectOfAwk(program) === 'prints') return [];
  return [{ at, isCode: true, ...systemCall(program) }];
}

function systemCall(program: string): { script?: string } {
  const script = /system\(\s*"((?:\\.|[^"\\])*)"/.exec(program)?.[1];
  return script === undefined ? {} : { script };
}
