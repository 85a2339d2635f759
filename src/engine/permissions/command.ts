import { resolve } from 'node:path';
import {
  type Command,
  type CommandArgument,
  forEachChild,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import type { ToolAccess } from '../../protocol/index.js';
import { judgeFileChange, judgeReadOnly } from './readonly.js';

/** Longer lines are not read at all. */
export const MAX_COMMAND_LENGTH = 10_000;

/** One word of a command. `value` is what the program gets, as long as nothing in it is expanded. */
export interface ShellWord {
  value: string;
  /** False when an expansion, a glob or a spelling we do not vouch for may turn it into something else. */
  literal: boolean;
}

export interface ShellRedirection {
  operator: string;
  /** Absent for here-documents. */
  target?: ShellWord;
  /** Reads the file `target`. */
  reads: boolean;
  /** May create, change or truncate a file, open a connection, or touch a descriptor that is not a standard one. */
  writes: boolean;
}

export interface SimpleCommand {
  /** The command word first. Empty for a bare assignment or redirection. */
  words: readonly ShellWord[];
  /** Names assigned in front of the command word. */
  assignments: readonly string[];
  redirections: readonly ShellRedirection[];
  /** Some word, redirection or here-document of it is not literal. */
  dynamic: boolean;
}

/** What a shell line really runs. `commands` is complete unless `opaque`. */
export interface ParsedCommand {
  /** Every simple command at any depth, in the order of the text. */
  commands: readonly SimpleCommand[];
  /** Every redirection at any depth, those of loops and groups too. */
  redirections: readonly ShellRedirection[];
  /** Every kind of syntax that occurs. */
  syntax: ReadonlySet<SyntaxNode['type']>;
  dynamic: boolean;
  /** Something is started with `&`. */
  background: boolean;
  opaque: boolean;
  /** Why it is opaque. */
  reason?: string;
}

/** Reads a bash line. Never throws: what cannot be read for certain is opaque. */
export function parseCommand(line: string): ParsedCommand {
  if (line.length > MAX_COMMAND_LENGTH) return unread(`it is longer than ${MAX_COMMAND_LENGTH} characters`);
  const reader = new Reader();
  try {
    reader.visit(parse(line));
  } catch {
    // Deep nesting overflows the stack of the parser.
    return unread('it is nested too deeply');
  }
  if (HIDDEN_CHARACTERS.test(line)) reader.doubt('it holds characters that do not show');
  return reader.result();
}

/** True when nothing the line runs can change anything: every part is known, literal and on the read-only list. */
export function isPlainlyReadOnly(line: string): boolean {
  return readPlainly(line) !== undefined;
}

/** The paths a plainly read-only line names or reads by default, as written; none for any other line. */
export function readTargets(line: string): string[] {
  return readPlainly(line) ?? [];
}

/** The paths that a line of nothing but `mkdir` and `touch` creates, as written; undefined for any other line. */
export function plainFileChange(line: string): string[] | undefined {
  return judgePlainly(line, judgeFileChange);
}

/** The places a line touches, where that is known. Whoever judges them must know that `..` was resolved by text. */
export function commandAccesses(line: string, cwd: string): ToolAccess[] {
  const access = (kind: ToolAccess['access']) => (target: string) => ({ path: resolve(cwd, target), access: kind });
  const written = plainFileChange(line);
  return written === undefined ? readTargets(line).map(access('read')) : written.map(access('write'));
}

// Controls, formatting (zero-width, bidi), lone surrogates, private use and every space that is not a plain one.
const HIDDEN_CHARACTERS = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u;

// A list of what is fine, so that syntax nobody thought of is not. Loops and functions could rebind names.
const PLAIN_SYNTAX: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'Script',
  'Statement',
  'CompoundList',
  'AndOr',
  'Pipeline',
  'Negation',
  'Time',
  'Subshell',
  'BraceGroup',
  'If',
  'Elif',
  'Redirected',
  'Command',
  'Word',
  'Literal',
  'SingleQuoted',
  'DoubleQuoted',
  'AnsiCQuoted',
  'Redirect',
  'FileDescriptor',
  'HereString',
  'HereDoc',
  'HereDocDelimiter',
  'HereDocBody',
]);

function readPlainly(line: string): string[] | undefined {
  return judgePlainly(line, judgeReadOnly);
}

/** Applies `judge` to the words of each command of a line without surprises; undefined when one of them fails. */
function judgePlainly(
  line: string,
  judge: (words: readonly string[]) => readonly string[] | undefined,
): string[] | undefined {
  const parsed = parseCommand(line);
  if (parsed.opaque || parsed.dynamic || parsed.background || parsed.commands.length === 0) return undefined;
  for (const type of parsed.syntax) if (!PLAIN_SYNTAX.has(type)) return undefined;
  const paths: string[] = [];
  for (const command of parsed.commands) {
    if (command.assignments.length > 0) return undefined;
    const named = judge(command.words.map((word) => word.value));
    if (named === undefined) return undefined;
    paths.push(...named);
  }
  for (const { reads, writes, target } of parsed.redirections) {
    if (writes) return undefined;
    if (reads && target !== undefined) paths.push(target.value);
  }
  if (paths.some(climbsBack)) return undefined;
  return [...new Set(paths)].filter((path) => path !== '/dev/null');
}

/** `link/../x` is resolved by the kernel through the link, by us by its text: the two may differ. */
function climbsBack(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const firstName = parts.findIndex((part) => part !== '..');
  return parts.lastIndexOf('..') > firstName && (firstName !== -1 || path.startsWith('/'));
}

const nothing: ParsedCommand = {
  commands: [],
  redirections: [],
  syntax: new Set(),
  dynamic: false,
  background: false,
  opaque: true,
};

const unread = (reason: string): ParsedCommand => ({ ...nothing, reason });

const EXPANSIONS: ReadonlySet<SyntaxNode['type']> = new Set<SyntaxNode['type']>([
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ArithmeticExpansion',
  'ArithmeticCommandExpansion',
  'ProcessSubstitution',
  'ExtendedGlob',
  'Glob',
  'BraceExpansion',
  'LocaleString',
]);

class Reader {
  readonly #commands: SimpleCommand[] = [];
  readonly #redirections: ShellRedirection[] = [];
  readonly #syntax = new Set<SyntaxNode['type']>();
  #dynamic = false;
  #background = false;
  #reason: string | undefined;

  readonly visit = (node: SyntaxNode): void => {
    this.#syntax.add(node.type);
    if (EXPANSIONS.has(node.type)) this.#dynamic = true;
    this.#inspect(node);
    forEachChild(node, this.visit);
  };

  doubt(reason: string): void {
    this.#reason ??= reason;
  }

  result(): ParsedCommand {
    const found = {
      commands: this.#commands,
      redirections: this.#redirections,
      syntax: this.#syntax,
      dynamic: this.#dynamic,
      background: this.#background,
    };
    return this.#reason === undefined ? { ...found, opaque: false } : { ...found, opaque: true, reason: this.#reason };
  }

  #inspect(node: SyntaxNode): void {
    switch (node.type) {
      case 'Script':
        // Scripts inside substitutions carry their own errors.
        if (node.errors !== undefined && node.errors.length > 0) {
          this.doubt(`it is not valid bash (${node.errors[0]?.message ?? 'unknown error'})`);
        }
        return;
      case 'Statement':
        if (node.background === true) this.#background = true;
        return;
      case 'Command':
        this.#addCommand(node);
        return;
      case 'Redirect':
      case 'HereString':
        this.#addRedirection(node);
        return;
      case 'HereDoc':
        this.#addRedirection(node);
        if (node.closing === undefined) this.doubt('a here-document in it does not end');
        return;
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        if (node.script === undefined) this.doubt('a substitution in it could not be read');
        return;
      case 'Unknown':
      case 'Transform':
        // `${v@P}` evaluates the content of a variable.
        this.doubt('an expansion in it could not be read');
        return;
      case 'Word':
        if (!isLiteral(node)) this.#dynamic = true;
        return;
      default:
        return;
    }
  }

  #addCommand(node: Command): void {
    const name = node.name === undefined ? undefined : toShellWord(node.name);
    // Also what the parser makes of `V=<(a) rm`: a command named `<(a)`.
    if (name?.literal === false) this.doubt('the name of a command in it is only known when it runs');
    const redirections = node.redirects.map(toShellRedirection);
    const words = name === undefined ? [] : [name, ...node.args.map(toArgument)];
    const dynamic = !words.every((word) => word.literal) || node.redirects.some(isDynamicRedirection);
    if (dynamic) this.#dynamic = true;
    const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []));
    this.#commands.push({ words, assignments, redirections, dynamic });
  }

  #addRedirection(node: Redirection): void {
    this.#redirections.push(toShellRedirection(node));
    if (isDynamicRedirection(node)) this.#dynamic = true;
  }
}

const toShellWord = (word: Word): ShellWord => ({ value: word.value, literal: isLiteral(word) });

/** Assignments as arguments (`declare a=1`) change variables, so their text alone says nothing. */
const toArgument = (argument: CommandArgument): ShellWord =>
  argument.type === 'Word' ? toShellWord(argument) : { value: argument.text, literal: false };

// bash expands a tilde at the start of a word and inside what looks like an assignment.
const TILDE = /(?:^|[=:])~/;
const SIMPLE_ANSI_C = /^\$'(?:[^\\']|\\[nt\\'"])*'$/;

function isLiteral(word: Word): boolean {
  if (TILDE.test(word.text) || word.text.includes('\\\n')) return false;
  return word.parts === undefined || word.parts.every(isLiteralPart);
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return true;
    case 'DoubleQuoted':
      return part.parts.every((child) => child.type === 'Literal');
    case 'AnsiCQuoted':
      return SIMPLE_ANSI_C.test(part.text);
    default:
      return false;
  }
}

function isDynamicRedirection(node: Redirection): boolean {
  // `{PATH}<file` assigns the number of the descriptor to a variable.
  if (node.descriptor?.type === 'FileDescriptorVariable') return true;
  if (node.type !== 'HereDoc') return node.target === undefined || !isLiteral(node.target);
  return node.delimiter === undefined || (!node.delimiter.quoted && /[$`]/.test(node.body.text));
}

// Only the three standard ones: the shell that runs the line has others open for itself.
const DESCRIPTOR = /^(?:[012]-?|-)$/;
const SOCKET = /^\/+dev\/+(?:tcp|udp)\//;

function toShellRedirection(node: Redirection): ShellRedirection {
  const { operator } = node;
  if (node.type === 'HereDoc') return { operator, reads: false, writes: false };
  const target = node.target === undefined ? { value: '', literal: false } : toShellWord(node.target);
  if (node.type === 'HereString') return { operator, target, reads: false, writes: false };
  if (node.descriptor?.type === 'FileDescriptor' && node.descriptor.value > 2) {
    return { operator, target, reads: operator === '<', writes: true };
  }
  const isDuplicate = (operator === '>&' || operator === '<&') && target.literal && DESCRIPTOR.test(target.value);
  if (isDuplicate) return { operator, target, reads: false, writes: false };
  if (operator === '<') return { operator, target, reads: true, writes: !target.literal || SOCKET.test(target.value) };
  return { operator, target, reads: false, writes: !target.literal || target.value !== '/dev/null' };
}
