/** Command line words to options and back, by the table in flags.ts. Pure; texts of errors are what the program prints. */
import type { SessionConfig, ThinkingConfig } from './config.js';
import { editDistance } from './edit-distance.js';
import { HeddleError } from './error.js';
import { type CliOptions, FLAGS, type FlagRow } from './flags.js';

export interface ParsedArgv {
  config: Partial<SessionConfig>;
  cli: CliOptions;
  positionals: string[];
}

type FlatValue = string | number | boolean | string[] | Record<string, unknown>;
type Flat = Record<string, FlatValue>;

const BY_NAME: ReadonlyMap<string, FlagRow> = new Map(FLAGS.flatMap((row) => row.names.map((name) => [name, row])));

/** Throws `invalid_config` with the text to print; the program then exits with 1. */
export function parseArgv(argv: readonly string[]): ParsedArgv {
  const flats = { config: {} as Flat, cli: {} as Flat };
  const later: NonNullable<CliOptions['later']> = [];
  const positionals: string[] = [];

  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (word === '--') {
      positionals.push(...argv.slice(at + 1));
      break;
    }
    if (!isFlag(word)) {
      positionals.push(word);
      continue;
    }
    const { row, inline } = findRow(word);
    const words = inline === undefined ? wordsFor(row, argv, at + 1) : [inline];
    if (inline === undefined) at += words.length;
    const flat = flats[row.part];
    const value = readValue(row, words, flat[row.key]);
    flat[row.key] = value;
    const asksForNothing = Array.isArray(value) && value.length === 0;
    if (row.later !== undefined && !asksForNothing)
      later.push({ flag: row.flag, key: row.key, refused: row.later === 'refused' });
  }

  const cli = flats.cli as CliOptions;
  return { config: fromFlat(flats.config), cli: later.length > 0 ? { ...cli, later } : cli, positionals };
}

/**
 * The flags that say the same as `config`, in the `--flag=value` form. What travels otherwise (cwd, env, the folder
 * of settings, the client) is left out. A preset system prompt needs no flag: it is what the program uses by itself.
 */
export function toArgv(config: Partial<SessionConfig>): string[] {
  const flat = toFlat(config);
  return FLAGS.filter((row) => row.part === 'config').flatMap((row) => {
    const value = flat[row.key];
    return value === undefined ? [] : writeValue(row, value);
  });
}

const isFlag = (word: string): boolean => word.startsWith('-') && word.length > 1;

function findRow(word: string): { row: FlagRow; inline?: string } {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals === -1 ? word : word.slice(0, equals);
  const row = BY_NAME.get(name) ?? BY_NAME.get(toKebab(name));
  if (row === undefined) throw refuse(`error: unknown option '${name}'${suggest(name)}`);
  return equals === -1 ? { row } : { row, inline: word.slice(equals + 1) };
}

const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The words after a flag that belong to it: a required value takes the next word whatever it looks like. */
function wordsFor(row: FlagRow, argv: readonly string[], start: number): string[] {
  if (row.value === undefined) return [];
  const first = argv[start];
  if (row.value.optional) return first === undefined || isFlag(first) ? [] : [first];
  if (first === undefined) throw refuse(`error: option '${row.spec}' argument missing`);
  if (!row.value.variadic) return [first];
  let end = start + 1;
  while (end < argv.length && !isFlag(argv[end] as string)) end += 1;
  return argv.slice(start, end);
}

function readValue(row: FlagRow, words: readonly string[], before: FlatValue | undefined): FlatValue {
  const [word] = words;
  if (row.kind === 'boolean') return readBoolean(row, word);
  if (row.kind === 'list') return [...((before as string[] | undefined) ?? []), ...readList(row, words)];
  if (word === undefined) return true;
  if (row.kind === 'number') return readNumber(row, word);
  if (row.kind === 'json') return readJson(row, word);
  if (row.kind === 'choice') return readChoice(row, word);
  return word;
}

function readBoolean(row: FlagRow, word: string | undefined): boolean {
  const meant = row.sets ?? true;
  if (word === undefined || word === 'true') return meant;
  if (word === 'false') return !meant;
  throw invalid(row, word, 'must be true or false');
}

function readNumber(row: FlagRow, word: string): number {
  const value = word.trim() === '' ? Number.NaN : Number(word);
  if (!Number.isFinite(value)) throw invalid(row, word, 'must be a number');
  if (row.fraction !== true && !Number.isInteger(value)) throw invalid(row, word, 'must be a whole number');
  if (row.fraction === true ? value <= 0 : value < 0) {
    throw invalid(row, word, row.fraction === true ? 'must be greater than 0' : 'must not be negative');
  }
  return value;
}

function readChoice(row: FlagRow, word: string): string {
  const choice = row.choiceAliases?.[word] ?? word;
  if (row.choices?.includes(choice)) return choice;
  throw invalid(row, word, `Allowed choices are ${row.choices?.join(', ')}.`);
}

function readJson(row: FlagRow, word: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(word);
  } catch (error) {
    throw refuse(`Error: ${row.flag} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refuse(`Error: ${row.flag} must be a JSON object`);
}

function readList(row: FlagRow, words: readonly string[]): string[] {
  const items = words.flatMap(splitterOf(row));
  return row.choices === undefined ? items : items.map((item) => readChoice(row, item));
}

const SPLITTERS = {
  whole: (word: string): string[] => [word],
  comma: (word: string): string[] =>
    word
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  rules: splitRules,
} as const;

/** A value that is a JSON list of texts is taken as it is: the one form that can carry any text. */
function splitterOf(row: FlagRow): (word: string) => string[] {
  const split = SPLITTERS[row.split ?? 'comma'];
  return (word) => readTextList(word) ?? split(word);
}

function readTextList(word: string): string[] | undefined {
  if (!word.startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(word);
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Cuts at commas and blanks, but not inside brackets: `Bash(git log:*, x) Edit` is two rules. */
function splitRules(word: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of word) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth <= 0 && (letter === ',' || letter.trim() === '')) {
      parts.push(part);
      part = '';
    } else {
      part += letter;
    }
  }
  return [...parts, part].filter(Boolean);
}

function writeValue(row: FlagRow, value: FlatValue): string[] {
  if (row.kind === 'boolean') return value === (row.sets ?? true) ? [row.flag] : [];
  if (value === false) return [];
  if (Array.isArray(value)) return writeList(row, value);
  if (typeof value === 'object') return [`${row.flag}=${JSON.stringify(value)}`];
  if (value === true && row.value?.optional) return [row.flag];
  return [`${row.flag}=${value}`];
}

function writeList(row: FlagRow, items: readonly string[]): string[] {
  if (items.length === 0) return row.emptyCounts ? [`${row.flag}=`] : [];
  const read = splitterOf(row);
  const words = row.split === 'whole' ? items : [items.join(',')];
  const survives = sameTexts(words.flatMap(read), items);
  return (survives ? words : [JSON.stringify(items)]).map((word) => `${row.flag}=${word}`);
}

const sameTexts = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((text, at) => text === right[at]);

/** From what the flags say to the options they stand for. */
function fromFlat(flat: Flat): Partial<SessionConfig> {
  const { excludeDynamicSections, dangerouslySkipPermissions, thinking, init, maintenance, ...rest } = flat;
  const config: Record<string, unknown> = rest;
  if (sameTexts((flat.tools as string[] | undefined) ?? [], ['default'])) {
    config.tools = { type: 'preset', preset: 'claude_code' };
  }
  if (thinking !== undefined) config.thinking = { type: thinking };
  if (thinking === 'enabled' && flat.maxThinkingTokens !== undefined) {
    config.thinking = { type: 'enabled', budgetTokens: flat.maxThinkingTokens };
    delete config.maxThinkingTokens;
  }
  if (excludeDynamicSections === true && flat.systemPrompt === undefined) {
    config.systemPrompt = { type: 'preset', preset: 'claude_code', excludeDynamicSections: true };
  }
  if (dangerouslySkipPermissions === true) config.permissionMode = 'bypassPermissions';
  // Whoever types the mode means it.
  if (config.permissionMode === 'bypassPermissions') config.allowDangerouslySkipPermissions = true;
  if (init === true && maintenance === true) throw refuse('error: --init and --maintenance exclude each other');
  if (init === true || maintenance === true) config.setup = init === true ? 'init' : 'maintenance';
  if (flat.resume === true) config.resume = '';
  return config;
}

function toFlat(config: Partial<SessionConfig>): Record<string, FlatValue | undefined> {
  const { tools, thinking, systemPrompt, appendSystemPrompt, maxThinkingTokens, setup, ...rest } = config;
  return {
    ...(rest as Flat),
    tools: tools === undefined || Array.isArray(tools) ? tools : ['default'],
    thinking: thinking?.type,
    maxThinkingTokens: budgetOf(thinking) ?? maxThinkingTokens ?? undefined,
    ...(setup !== undefined && { [setup]: true }),
    ...toFlatPrompt(systemPrompt, appendSystemPrompt),
  };
}

const budgetOf = (thinking: ThinkingConfig | undefined): number | undefined =>
  thinking?.type === 'enabled' ? thinking.budgetTokens : undefined;

function toFlatPrompt(
  prompt: SessionConfig['systemPrompt'],
  append: string | undefined,
): Record<string, FlatValue | undefined> {
  if (prompt === undefined || typeof prompt === 'string') return { systemPrompt: prompt, appendSystemPrompt: append };
  if (Array.isArray(prompt)) return { systemPrompt: prompt.join('\n\n'), appendSystemPrompt: append };
  const appended = [prompt.append, append].filter((text) => text !== undefined);
  return {
    appendSystemPrompt: appended.length > 0 ? appended.join('\n\n') : undefined,
    excludeDynamicSections: prompt.excludeDynamicSections,
  };
}

const refuse = (text: string): HeddleError => new HeddleError('invalid_config', text, { hint: 'See heddle --help.' });

const invalid = (row: FlagRow, word: string, why: string): HeddleError =>
  refuse(`error: option '${row.spec}' argument '${word}' is invalid. ${why}`);

/** The second line of an unknown option, when something close to it exists. */
function suggest(name: string): string {
  if (!name.startsWith('--')) return '';
  const wanted = toKebab(name);
  let best: { name: string; distance: number } | undefined;
  for (const row of FLAGS) {
    if (row.hidden) continue;
    for (const known of row.names.filter((each) => each.startsWith('--'))) {
      const distance = editDistance(wanted, known);
      const close = distance <= 3 && distance < (Math.max(wanted.length, known.length) - 2) * 0.6;
      if (close && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name: known, distance };
    }
  }
  return best === undefined ? '' : `\n(Did you mean ${best.name}?)`;
}
