import { basename } from 'node:path/posix';
import type { ShellWord } from '../shell/word.js';
import type { DangerSpec } from './danger-table.js';
import { isHarmlessConfig, readGit } from './git.js';
import { listed } from './listed.js';
import { isPrintingSed } from './sed.js';

/** An argument that does more than the name of the program tells. */
export interface Danger {
  /** Which of the words it is. */
  at: number;
  /** What it would run, where that is a command line. */
  script?: string;
}

type Dangers = Readonly<Record<string, DangerSpec>>;

/** All arguments of a command that a rule for the program does not cover by itself. */
export function findDangers(words: readonly ShellWord[], table: Dangers): Danger[] {
  const values = words.map(({ value }) => value);
  const name = basename(values[0] ?? '');
  const found = specsOf(name, values, table).flatMap((spec) => dangersOf(values, spec));
  if (name === 'git') found.push(...gitDangers(values));
  if (name === 'sed') found.push(...sedDangers(values));
  if (/^[gmn]?awk$/.test(name)) found.push(...awkDangers(values));
  return found;
}

/** True when a word that turns into a flag could do harm. */
export const hasDangers = (name: string, table: Dangers): boolean =>
  Object.hasOwn(table, basename(name)) || /^(?:sed|[gmn]?awk|git)$/.test(basename(name));

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
  return found;
}

interface Flag {
  /** What is attached to it. */
  value: string | undefined;
}

/** GNU programs take any beginning of a name that is not ambiguous. */
function longFlag(word: string, longs: readonly string[]): Flag | undefined {
  if (!word.startsWith('--') || word.length < 4) return undefined;
  const equals = word.indexOf('=');
  const name = word.slice(2, equals === -1 ? undefined : equals);
  const isThis = longs.some((long) => long === name || (name.length > 1 && long.startsWith(name)));
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
  const operands = call.args.filter((arg) => !arg.startsWith('-'));
  const isSetting = call.subcommand === 'config' && operands.length > 1;
  if (isSetting && !isHarmlessConfig(`${operands[0] === 'set' ? operands[1] : operands[0]}=`)) {
    found.push({ at: values.length - 1 });
  }
  return found;
}

/** A script with commands that run or write; one in a file is not looked at. */
function sedDangers(values: readonly string[]): Danger[] {
  const found: Danger[] = [];
  const isGiven = values.some(
    (value) => /^(?:-[a-zA-Z]*[ef]|--expression|--file)/.test(value) && !value.startsWith('-i'),
  );
  let hasScript = false;
  for (const [at, value] of values.entries()) {
    if (at === 0) continue;
    const before = values[at - 1] ?? '';
    const attached = /^--expression=([^]*)$/.exec(value)?.[1];
    const isScript =
      attached !== undefined ||
      (isGiven ? /^-[nErsuz]*e$/.test(before) || before === '--expression' : !hasScript && !value.startsWith('-'));
    if (!isScript) continue;
    hasScript = true;
    if (!isPrintingSed(attached ?? value)) found.push({ at });
  }
  return found;
}

function awkDangers(values: readonly string[]): Danger[] {
  const at = values.findIndex(
    (value, index) => index > 0 && /\b(?:system|getline)\b|\|\s*"|"\s*\||>+\s*"|@(?:load|include)/.test(value),
  );
  return at === -1 ? [] : [{ at, ...systemCall(values[at] ?? '') }];
}

function systemCall(program: string): { script?: string } {
  const script = /system\(\s*"((?:\\.|[^"\\])*)"/.exec(program)?.[1];
  return script === undefined ? {} : { script };
}
