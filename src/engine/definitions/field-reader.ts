/** Fields as what they are meant to be: a string or a list, yes or no, a number. Wrong kinds are told with their line. */
import type { DefinitionProblem } from './definition.js';
import type { Field, Fields } from './field.js';

export interface FieldReader {
  /** The first of these names that has a value, or should have one. */
  find(...names: string[]): Field | undefined;
  /** All that is written under these names. */
  all(...names: string[]): readonly Field[];
  /** Text in one piece, trimmed; undefined when there is none. Numbers and yes/no are taken as they are written. */
  text(...names: string[]): string | undefined;
  /** A list, or a text with commas (or blanks) between the items, but not within brackets: `Read, Bash(git add:*, x)`. */
  names(...names: string[]): readonly string[] | undefined;
  /** `yes`, `on`, `true`, `1` and their opposites. `whenWrong` is what counts where it is neither. */
  flag(name: string, options: { whenWrong: boolean }): boolean | undefined;
  number(...names: string[]): number | undefined;
  /** Text without blanks. */
  word(name: string): string | undefined;
  warn(line: number, text: string): void;
  fail(line: number, text: string): void;
  readonly problems: readonly DefinitionProblem[];
}

const YES = new Set(['true', 'yes', 'on', '1']);
const NO = new Set(['false', 'no', 'off', '0']);

export function createFieldReader(fields: Fields, file: string): FieldReader {
  const problems: DefinitionProblem[] = [];
  const warn = (line: number, text: string): void => void problems.push({ severity: 'warning', file, line, text });
  const fail = (line: number, text: string): void => void problems.push({ severity: 'error', file, line, text });

  const allNamed = (names: readonly string[]): (Field & { name: string })[] =>
    names.flatMap((name) => {
      const field = fields.get(name);
      const given = field === undefined ? [] : [field, ...(field.others ?? [])];
      return given.filter(says).map((each) => ({ ...each, name }));
    });
  const findNamed = (names: readonly string[]): (Field & { name: string }) | undefined => allNamed(names)[0];

  return {
    find: (...names) => findNamed(names),
    all: (...names) => allNamed(names),
    text(...names) {
      const field = findNamed(names);
      if (field === undefined) return undefined;
      const text = toText(field.value);
      if (text === undefined) warn(field.line, `"${field.name}" must be text; it is left out`);
      return text === '' ? undefined : text;
    },
    names(...names) {
      const field = findNamed(names);
      if (field === undefined) return undefined;
      const { value, line, name } = field;
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.flatMap((item) => {
        const text = toText(item);
        if (text === undefined) warn(line, `"${name}" must be a list of names; ${show(item)} in it is left out`);
        return text === undefined ? [] : splitNames(text);
      });
    },
    flag(name, { whenWrong }) {
      const flags = allNamed([name]).map(({ value, line }) => {
        const word = toText(value)?.toLowerCase() ?? '';
        if (YES.has(word) || NO.has(word)) return YES.has(word);
        warn(line, `"${name}" must be true or false; it is taken as ${whenWrong}`);
        return whenWrong;
      });
      return flags.find((flag) => flag === whenWrong) ?? flags[0];
    },
    number(...names) {
      const field = findNamed(names);
      if (field === undefined) return undefined;
      const text = toText(field.value);
      const number = text === undefined || text === '' ? Number.NaN : Number(text);
      if (Number.isFinite(number)) return number;
      warn(field.line, `"${field.name}" must be a number; it is left out`);
      return undefined;
    },
    word(name) {
      const text = this.text(name);
      if (text === undefined || !/\s/.test(text)) return text;
      warn(findNamed([name])?.line ?? 1, `"${name}" must be one word; it is left out`);
      return undefined;
    },
    warn,
    fail,
    problems,
  };
}

const says = ({ value, fault }: Field): boolean => fault !== undefined || (value !== null && value !== undefined);

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const show = (value: unknown): string => {
  if (value === null) return 'an empty item';
  return Array.isArray(value) ? 'a list' : 'a table';
};

/** Splits at commas and blanks outside of brackets. */
export function splitNames(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let name = '';
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth = Math.max(0, depth - 1);
    if (depth === 0 && /[,\s]/.test(char)) {
      names.push(name);
      name = '';
    } else name += char;
  }
  return [...names, name].filter((each) => each !== '');
}

/** The first line of a body that says something, as a description where none is given. */
export function firstWords(body: string): string {
  for (const line of body.split('\n', 50)) {
    const text = line.replace(/^[#>*\s-]+/, '').trim();
    if (text !== '') return text.length > 200 ? `${text.slice(0, 199)}…` : text;
  }
  return '';
}
