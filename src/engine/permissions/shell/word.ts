import type {
  Command,
  CommandExpansionPart,
  CommandNode,
  DoubleQuotedChild,
  ParameterExpansionPart,
  Redirection,
  Word,
  WordPart,
} from 'unbash';
import { expandBraces } from './brace.js';
import { HOLE, hasHole, isForeign, isFree } from './hole.js';

/** One word as a program gets it. What is only known when it runs is a hole. */
export interface ShellWord {
  value: string;
  /** It may become no word, or several. */
  splits: boolean;
}

/** What a word may refer to. */
export interface WordView {
  /** What the variable holds, with holes; undefined when nothing in sight sets it. */
  variable(name: string): string | undefined;
  home: string | undefined;
  cwd: string | undefined;
  doubt(reason: string): void;
}

export const isLiteralWord = ({ value, splits }: ShellWord): boolean => !splits && !hasHole(value);

/** The words that one word of a line becomes. Nested commands are not looked at here. */
export function expandWord(word: Word, view: WordView): ShellWord[] {
  if (word.parts === undefined && !word.text.includes('~')) return [{ value: word.value, splits: false }];
  const builder = new WordBuilder();
  const parts = partsOf(word, view);
  for (const [index, part] of parts.entries())
    addPart(builder, part, { view, next: parts[index + 1], isFirst: index === 0 });
  return builder.finish();
}

/** The text of a word that the shell does not split: a value, a redirection, a here-document. */
export function expandText(parts: readonly WordPart[], view: WordView): string {
  const builder = new WordBuilder();
  for (const part of parts) addPart(builder, part, { view, whole: true });
  return builder.finish()[0]?.value ?? '';
}

export const expandWhole = (word: Word, view: WordView): string => expandText(partsOf(word, view), view);

/** The tildes that bash certainly expands: at the start of a word, and right after `name=`. */
const TILDE = /^([A-Za-z_]\w*=)?(~\+?)(?=\/|$)/;
/** Where it may, depending on what stands around. */
const MAYBE_TILDE = /^~|^[^-].*[=:]~/;

function partsOf(word: Word, { home, variable }: WordView): readonly WordPart[] {
  const parts = word.parts ?? [literal(word.value)];
  if (!word.text.includes('~')) return parts;
  const [first, ...rest] = parts;
  const [whole = '', before = '', tilde] = TILDE.exec(word.text) ?? [];
  if (tilde === undefined || first?.type !== 'Literal' || !first.value.startsWith(whole)) {
    return MAYBE_TILDE.test(word.text) ? [literal(HOLE.any)] : parts;
  }
  const after = first.value.slice(whole.length);
  if (before !== '' && /[:~]/.test(word.text.slice(whole.length))) return [literal(HOLE.any)];
  // `~+` is what the variable holds, and a line may set that.
  return [literal(before + ((tilde === '~' ? home : variable('PWD')) ?? HOLE.any) + after), ...rest];
}

const literal = (value: string): WordPart => ({ type: 'Literal', pos: 0, end: 0, value, text: value });

/** The escapes that we read as bash does. */
const PLAIN_ANSI_C = /^\$'(?:[^\\']|\\(?:[abeEfnrtv\\'"?]|x[0-9a-fA-F]{2}|[0-7]{3}))*'$/;

interface PartContext {
  view: WordView;
  next?: WordPart | undefined;
  /** It begins the word. */
  isFirst?: boolean;
  /** Nothing is split, and nothing is matched against names. */
  whole?: boolean;
}

function addPart(builder: WordBuilder, part: WordPart, context: PartContext): void {
  const { view, next, whole = false } = context;
  const add = (value: string): void => (whole ? builder.add(value) : builder.split(value));
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      builder.add(part.value);
      return;
    case 'AnsiCQuoted':
      if (!PLAIN_ANSI_C.test(part.text) || /[\0\uE000-\uF8FF]/.test(part.value)) view.doubt('it holds odd quoting');
      builder.add(part.value);
      return;
    case 'LocaleString':
      view.doubt('it holds text that is translated');
      for (const child of part.parts) addQuoted(builder, child, view);
      return;
    case 'DoubleQuoted':
      builder.add('');
      for (const child of part.parts) addQuoted(builder, child, view);
      return;
    case 'Glob':
      builder.add(whole ? part.value : part.kind === 'star' ? HOLE.star : HOLE.one);
      return;
    case 'ExtendedGlob':
      view.doubt('it holds an extended pattern');
      builder.add(HOLE.star);
      return;
    case 'BraceExpansion': {
      if (whole) return builder.add(part.text);
      const items = expandBraces(part.text);
      if (items === undefined) return builder.split(HOLE.any);
      builder.branch(items.map((item) => afterBraces(item, context)));
      return;
    }
    case 'SimpleExpansion':
      // `$x{a,b}` means `$xa $xb`.
      if (next?.type === 'BraceExpansion') return builder.split(HOLE.any);
      if (part.text === '$@' || part.text === '$*') return builder.split(HOLE.any);
      add(variableValue(part.text.slice(1), view));
      return;
    case 'ParameterExpansion':
      if (isList(part)) return builder.split(HOLE.any);
      add(parameterValue(part, view));
      return;
    case 'CommandExpansion':
      add(outputOf(part, view));
      return;
    case 'ArithmeticExpansion':
      builder.add(HOLE.number);
      return;
    case 'ProcessSubstitution':
      builder.add(`/dev/fd/${HOLE.number}`);
      return;
  }
}

/** Braces come first: what stands in them may be a pattern, or begin with a tilde. */
function afterBraces(item: string, { view, isFirst = false }: PartContext): string {
  if (!item.startsWith('~')) return toPattern(item);
  return isFirst && /^~(?:\/|$)/.test(item) ? toPattern((view.home ?? HOLE.any) + item.slice(1)) : HOLE.any;
}

function addQuoted(builder: WordBuilder, part: DoubleQuotedChild, view: WordView): void {
  // `"$@"` and `"${a[@]}"` are as many words as there are items.
  if (part.type === 'SimpleExpansion' && part.text === '$@') return builder.split(HOLE.any);
  if (part.type === 'ParameterExpansion' && isList(part)) return builder.split(HOLE.any);
  addPart(builder, part, { view, whole: true });
}

const isList = ({ index, parameter, prefix }: ParameterExpansionPart): boolean =>
  prefix !== '#' && (index?.value === '@' || index?.value === '*' || parameter === '@' || parameter === '*');

function variableValue(name: string, view: WordView): string {
  if (/^[?#$!]$/.test(name)) return HOLE.number;
  return view.variable(name) ?? HOLE.any;
}

function parameterValue(part: ParameterExpansionPart, view: WordView): string {
  const { parameter, prefix, index, operation } = part;
  if (prefix === '#') return HOLE.number;
  if (prefix === '!' || index !== undefined) return HOLE.any;
  const value = variableValue(parameter, view);
  if (operation === undefined) return value;
  const isDefault = operation.type === 'Default' && !operation.operator.endsWith('+');
  if (isDefault && value !== '' && !isFree(value)) return value;
  return isForeign(value) ? HOLE.any : HOLE.output;
}

/** Commands that print nothing but a number, with the words behind their name. */
const COUNTS = new Map([
  ['nproc', /^$/],
  // With the name of a file it would print that, too.
  ['wc', /^-[lwcm]$/],
  ['date', /^\+%s$/],
  ['id', /^-u$/],
]);

/** The commands of which what they print is known; no function may have such a name. */
export const KNOWN_PRINTERS: ReadonlySet<string> = new Set(
  'cat pwd find git grep egrep fgrep rg head tail sort uniq'.split(' ').concat([...COUNTS.keys()]),
);

/** `a | b | wc -l`: what the others print goes nowhere else. */
function isCount(commands: readonly CommandNode[]): boolean {
  const last = commands.at(-1);
  const isPlain = commands.every((command) => command.type === 'Command' && command.redirects.every(isQuiet));
  if (!isPlain || last?.type !== 'Command' || last.prefix.length > 0) return false;
  return COUNTS.get(last.name?.text ?? '')?.test(last.args.map(({ text }) => text).join(' ')) === true;
}

/** It takes errors away, or gives an input. */
export function isQuiet(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect' || redirect.operator === '<') return redirect.descriptor === undefined;
  const number = redirect.descriptor?.type === 'FileDescriptor' ? redirect.descriptor.value : 1;
  return number === 2 && redirect.operator === '>' && redirect.target?.text === '/dev/null';
}

/** What `$(cat <<'E' ...)` and `$(pwd)` print is known; of other commands it is not. */
function outputOf({ script }: CommandExpansionPart, view: WordView): string {
  const statement = script?.commands.length === 1 ? script.commands[0] : undefined;
  const command = statement?.command;
  if (statement?.background === true || command === undefined) return HOLE.output;
  if (command.type === 'Pipeline') return isCount(command.commands) ? HOLE.number : HOLE.output;
  if (command.type !== 'Command') return HOLE.output;
  if (isCount([command])) return HOLE.number;
  const { name, prefix, suffix } = command;
  if (prefix.length > 0 || name === undefined) return HOLE.output;
  if (name.text === 'pwd' && suffix.length === 0) return view.cwd ?? HOLE.output;
  return textOfCat(command)?.replace(/\n+$/, '') ?? HOLE.output;
}

/** The text of `cat <<'E'`, where nothing is filled in. */
export function textOfCat({ name, prefix, suffix }: Command): string | undefined {
  const [only] = suffix;
  if (name?.text !== 'cat' || prefix.length > 0 || suffix.length !== 1 || only?.type !== 'HereDoc') return undefined;
  if (only.descriptor !== undefined || only.operator !== '<<' || only.closing === undefined) return undefined;
  return only.delimiter?.quoted !== true && /[$`\\]/.test(only.body.text) ? undefined : only.body.text;
}

/** A value as the shell matches it against names. */
function toPattern(text: string): string {
  const starred = text.replaceAll('*', HOLE.star).replaceAll('?', HOLE.one);
  let pattern = '';
  let at = 0;
  for (let open = starred.indexOf('['); open !== -1; open = starred.indexOf('[', at)) {
    const close = starred.indexOf(']', open);
    if (close === -1) break;
    pattern += starred.slice(at, open) + HOLE.one;
    at = close + 1;
  }
  return pattern + starred.slice(at);
}

interface Row {
  done: ShellWord[];
  text: string | undefined;
  splits: boolean;
}

/** A few variables could stand for more text than there is memory. */
const MAX_TEXT = 20_000;

function shorten(row: Row): void {
  if ((row.text?.length ?? 0) > MAX_TEXT || row.done.length > MAX_TEXT)
    Object.assign(row, { done: [], text: HOLE.any, splits: true });
}

/** Collects words as parts come in. After braces there are several unfinished ones, and parts go to each of them. */
class WordBuilder {
  #rows: Row[] = [{ done: [], text: undefined, splits: false }];

  /** Text that stays as it is. */
  add(text: string): void {
    for (const row of this.#rows) {
      row.text = (row.text ?? '') + text;
      shorten(row);
    }
  }

  /** Text that the shell splits at spaces and matches against names. */
  split(value: string): void {
    const pieces = value.split(/[ \t\n]+/);
    for (const row of this.#rows) {
      for (const [index, piece] of pieces.entries()) {
        if (index > 0 && row.text !== undefined) {
          row.done.push({ value: row.text, splits: row.splits });
          Object.assign(row, { text: undefined, splits: false });
        }
        if (piece === '') continue;
        row.text = (row.text ?? '') + toPattern(piece);
        if (isFree(piece)) row.splits = true;
      }
      shorten(row);
    }
  }

  branch(items: readonly string[]): void {
    this.#rows = this.#rows.flatMap((row) =>
      items.map((item, index) => ({
        done: index === 0 ? row.done : [],
        text: item === '' && row.text === undefined ? undefined : (row.text ?? '') + item,
        splits: row.splits,
      })),
    );
    if (this.#rows.length > 256) this.#rows = [{ done: [], text: HOLE.any, splits: true }];
  }

  finish(): ShellWord[] {
    return this.#rows.flatMap(({ done, text, splits }) =>
      text === undefined ? done : [...done, { value: text, splits }],
    );
  }
}
