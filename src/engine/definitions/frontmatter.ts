/** A Markdown file as fields and body. Real files are read as they are; what is wrong is said with its line. */
import type { DefinitionProblem } from './definition.js';
import type { Field, Fields } from './field.js';
import { type Doubt, findDoubt, findInside, guardedKey } from './guarded.js';
import { readPlainYaml } from './plain-yaml.js';
import { isAllTools, readToolList } from './tool-list.js';

export interface Frontmatter {
  /** `none`: the file has none. `broken`: it has one that cannot be read, so that nothing is known of what it restricts. */
  state: 'none' | 'read' | 'broken';
  fields: Fields;
  body: string;
  /** The line in which the body begins. */
  bodyLine: number;
  problems: readonly DefinitionProblem[];
  /** Lines that look like fields which grant or restrict, and could not be read as such. */
  doubts: readonly Doubt[];
}

export interface SplitText {
  /** What stands between the two lines of dashes; undefined when there is no frontmatter. */
  head: string | undefined;
  headLine: number;
  body: string;
  bodyLine: number;
  /** The line that closes it is missing. */
  isOpen: boolean;
}

/** A frontmatter that is longer is not read. */
export const MAX_HEAD_CHARS = 64 * 1024;
/** The time that the YAML package takes can be made to grow faster than the text. */
const MAX_YAML_CHARS = 16 * 1024;

/** How many characters the YAML package may still be given, for all files of a folder together. */
export interface YamlBudget {
  chars: number;
}

const OPENING = /^(?:[ \t]*\n)*---[ \t]*(?:\n|$)/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/m;
const KEY_LINE = /^[A-Za-z_][\w-]*[ \t]*:(?:\s|$)/;

/** Line ends become `\n`; a mark at the start that says UTF-8 goes. */
export function splitFrontmatter(given: string): SplitText {
  const marked = given.startsWith('\ufeff') ? given.slice(1) : given;
  const text = marked.includes('\r') ? marked.replace(/\r\n?/g, '\n') : marked;
  const opening = OPENING.exec(text)?.[0];
  const none = { head: undefined, headLine: 0, body: text, bodyLine: 1, isOpen: false };
  if (opening === undefined) return none;
  const headLine = 1 + countLines(opening);
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing !== null) {
    const head = rest.slice(0, closing.index);
    const body = rest.slice(closing.index + closing[0].length + 1);
    return { head, headLine, body, bodyLine: headLine + countLines(head) + 1, isOpen: false };
  }
  // A file may begin with a ruler.
  if (!KEY_LINE.test(rest)) return none;
  const end = /^(?:[ \t]*|#.*)$/m.exec(rest)?.index ?? rest.length;
  const head = rest.slice(0, end);
  return { head, headLine, body: rest.slice(end), bodyLine: headLine + countLines(head), isOpen: true };
}

const countLines = (text: string): number => text.split('\n').length - 1;

/** Never throws. `file` is the name under which problems are reported. */
export async function parseFrontmatter(text: string, file: string, budget?: YamlBudget): Promise<Frontmatter> {
  const { head, headLine, body, bodyLine, isOpen } = splitFrontmatter(text);
  if (head === undefined) return { state: 'none', fields: new Map(), body, bodyLine, problems: [], doubts: [] };
  const problems: DefinitionProblem[] = [];
  const warn = (line: number, what: string): void =>
    void problems.push({ severity: 'warning', file, line, text: what });
  const broken = (line: number, what: string): Frontmatter => {
    problems.push({ severity: 'error', file, line, text: what });
    return { state: 'broken', fields: new Map(), body, bodyLine, problems, doubts: [] };
  };
  const doubts: Doubt[] = [];
  /** Those of lines within values: what stands at the top level settles them. */
  const within: Doubt[] = [];
  const done = (given: Iterable<readonly [string, Field]>): Frontmatter => {
    const fields = collect(hint === undefined ? given : [...given, hint], warn);
    const lines = head.split('\n');
    for (const [key, { value, line }] of fields) {
      const lineOf = (written: string): number => {
        const at = lines.findIndex((each, index) => index >= line - headLine && each.includes(written));
        return at === -1 ? line : headLine + at;
      };
      for (const doubt of findInside(key, value, lineOf)) (doubt.key === key ? doubts : within).push(doubt);
    }
    const open = within.filter((doubt) => !isSettled(doubt, fields));
    return { state: 'read', fields, body, bodyLine, problems, doubts: [...doubts, ...open] };
  };

  if (!isOpen) doubts.push(...findSecond(body, bodyLine));
  else {
    doubts.push(...findBelow(body, bodyLine));
    warn(
      headLine - 1,
      'the frontmatter is not closed by a line "---"; it was read up to the first empty line or heading',
    );
  }
  if (head.length > MAX_HEAD_CHARS) {
    return broken(headLine, `the frontmatter is longer than ${MAX_HEAD_CHARS / 1024} KB, and was not read`);
  }
  const { hint, rest } = takeHint(head, headLine);
  const plain = readPlainYaml(rest, headLine);
  if (plain !== undefined) return done(plain);
  if (rest.length > MAX_YAML_CHARS) {
    return broken(
      headLine,
      `the frontmatter is longer than ${MAX_YAML_CHARS / 1024} KB and no plain list of fields, and was not read`,
    );
  }
  if (budget !== undefined && budget.chars < rest.length) {
    return broken(
      headLine,
      'the frontmatter was not read: there is too much of them in this folder that is no plain list of fields',
    );
  }
  if (budget !== undefined) budget.chars -= rest.length;
  const { readStrictYaml } = await import('./strict-yaml.js');
  const strict = await readStrictYaml(rest, headLine);
  if (strict.fields !== undefined) {
    for (const { line, text: what } of strict.faults) warn(line, what);
    within.push(...strict.doubts);
    return done(strict.fields);
  }
  const { readLenientYaml } = await import('./lenient-yaml.js');
  const lenient = await readLenientYaml(rest, headLine);
  if (lenient === undefined) return broken(strict.fault.line, `the frontmatter is no YAML: ${strict.fault.text}`);
  for (const { line, text: what } of lenient.notes) warn(line, what);
  within.push(...lenient.doubts);
  return done(lenient.fields);
}

/** Two names of one field. */
const TOOLS: readonly string[] = ['tools', 'allowed-tools'];
/** One adds to another, or one takes more away than another: what may be meant counts. */
const NEVER_SETTLED: ReadonlySet<string> = new Set(['disallowedTools', 'permissionMode']);

/** The field stands at the top level, and is read for sure: a line elsewhere that looks like it is not that field. */
function isSettled({ key }: Doubt, fields: Fields): boolean {
  if (NEVER_SETTLED.has(key)) return false;
  const isTools = TOOLS.includes(key);
  const found = (isTools ? TOOLS : [key]).flatMap((name) => {
    const field = fields.get(name);
    return field === undefined ? [] : [field, ...(field.others ?? [])];
  });
  return (
    found.length > 0 &&
    found.every(({ value, fault }) => {
      if (fault !== undefined || value === null) return false;
      return !isTools || isAllTools(value) || readToolList(value) !== undefined;
    })
  );
}

/** Guarded fields under one name each, with all that was written of them; of others the last counts. */
function collect(
  given: Iterable<readonly [string, Field]>,
  warn: (line: number, text: string) => void,
): Map<string, Field> {
  const fields = new Map<string, Field>();
  for (const [written, field] of given) {
    const guarded = guardedKey(written);
    const key = guarded ?? written;
    const before = fields.get(key);
    if (before !== undefined && guarded === undefined) {
      warn(field.line, `"${key}" is there twice; the last one counts`);
    }
    const others = before === undefined || guarded === undefined ? [] : [...(before.others ?? []), before];
    fields.set(key, others.length === 0 ? field : { ...field, others });
  }
  return fields;
}

/** Where nobody closed the frontmatter, fields may stand below the empty line at which it was taken to end. */
function findBelow(body: string, bodyLine: number): Doubt[] {
  const lines = body.split('\n', 200);
  const end = lines.findIndex((line) => !/^(?:\s|#|$)/.test(line) && !/^[\w-]+\s*[:=]/.test(line));
  return lines.slice(0, end === -1 ? lines.length : end).flatMap((line, at) => findDoubt(line, bodyLine + at));
}

/** A line of dashes too many: what follows looks like fields, up to another one. */
function findSecond(body: string, bodyLine: number): Doubt[] {
  const lines = body.split('\n', 200);
  const end = lines.findIndex((line) => !/^(?:\s|$|- )/.test(line) && !/^[\w-]+\s*[:=]/.test(line));
  return /^---\s*$/.test(lines[end] ?? '') ? findBelow(lines.slice(0, end).join('\n'), bodyLine) : [];
}

const HINT = /^(argument-hint|argumentHint):[ \t]+(\[.*)$/m;

/** `argument-hint: [file] [count]` is meant as text, whatever YAML makes of the brackets. */
function takeHint(head: string, headLine: number): { hint: [string, Field] | undefined; rest: string } {
  const match = HINT.exec(head);
  const next = match === null ? '' : head.slice(match.index + match[0].length + 1);
  if (match === null || /^[ \t]+\S/.test(next)) return { hint: undefined, rest: head };
  const [whole, key = '', value = ''] = match;
  const line = headLine + countLines(head.slice(0, match.index));
  const rest = `${head.slice(0, match.index)}${head.slice(match.index + whole.length)}`;
  return { hint: [key, { value: value.trim(), line }], rest };
}
