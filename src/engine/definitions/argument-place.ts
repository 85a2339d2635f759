/** Where in a shell line an argument may stand as text, by a real reading of the line. Pure. */
import {
  type Command,
  type CommandNode,
  forEachChild,
  parse,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { readCommand } from '../permissions/shell/reader.js';
import type { Segment } from '../permissions/shell/reading.js';
import { INTERPRETERS, isOwnProgram } from './argument-role.js';

export type Quote = '' | '"' | "'";

/** A stretch of the line in which quoting holds. */
export interface Place {
  pos: number;
  end: number;
  quote: Quote;
  /** It begins a word. */
  isFirst: boolean;
  /** The program that gets the word takes any text for text, and prints to none that does not. */
  isText: boolean;
}

/** What the shell reads in ways of its own: quotes around a value there protect nothing. */
const OPAQUE: ReadonlySet<string> = new Set([
  'ArithmeticCommand',
  'ArithmeticExpansion',
  'ArithmeticFor',
  'ArrayValue',
  'CommandExpansion',
  'HereDoc',
  'ParameterExpansion',
  'ProcessSubstitution',
  'TestCommand',
]);

/** None where the line cannot be read. */
export function findPlaces(line: string): Place[] {
  const script = parse(line);
  if ((script.errors?.length ?? 0) > 0) return [];
  const texts = new Set<Word>();
  for (const statement of script.commands) collectTexts(statement, true, texts);
  const places: Place[] = [];
  const walk = (node: SyntaxNode): void => {
    if (OPAQUE.has(node.type)) return;
    if (node.type === 'Word') places.push(...placesIn(node, texts.has(node)));
    else forEachChild(node, walk);
  };
  walk(script);
  return places;
}

function placesIn({ parts = [], pos: start }: Word, isText: boolean): Place[] {
  const toPlace = (pos: number, end: number, quote: Quote): Place => {
    const isFirst = pos === start || (quote !== '' && pos === start + 1);
    return { pos, end, quote, isFirst, isText };
  };
  return parts.flatMap((part): Place[] => {
    if (isPlain(part)) return [toPlace(part.pos, part.end, '')];
    if (part.type === 'SingleQuoted') return [toPlace(part.pos + 1, part.end - 1, "'")];
    if (part.type !== 'DoubleQuoted') return [];
    return part.parts.filter(isPlain).map(({ pos, end }) => toPlace(pos, end, '"'));
  });
}

const isPlain = (part: { type: string; operation?: unknown; index?: unknown; prefix?: unknown }): boolean =>
  part.type === 'SimpleExpansion' ||
  (part.type === 'ParameterExpansion' &&
    part.operation === undefined &&
    part.index === undefined &&
    part.prefix === undefined);

/** Those of plain commands, one after the other or in a pipe. `staysText`: what is printed is run by nobody. */
function collectTexts(
  node: Statement | Statement['command'] | CommandNode,
  staysText: boolean,
  found: Set<Word>,
): void {
  switch (node.type) {
    case 'Statement':
      return collectTexts(node.command, staysText, found);
    case 'Command': {
      const words = node.suffix.filter((part): part is Word => part.type === 'Word');
      if (!staysText || words.length !== node.suffix.length) return;
      for (const [index, word] of words.entries()) if (takesText(node, words.slice(0, index))) found.add(word);
      return;
    }
    case 'Pipeline': {
      for (const [index, command] of node.commands.entries()) {
        const isHarmless = node.commands.slice(index + 1).every(isFilter);
        collectTexts(command, staysText && isHarmless, found);
      }
      return;
    }
    case 'AndOr':
      for (const command of node.commands) collectTexts(command, staysText, found);
      return;
    case 'BraceGroup':
    case 'Subshell':
      for (const statement of node.body.commands) collectTexts(statement, staysText, found);
      return;
    default:
  }
}

const listOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** They read text and print it; none of it is run. */
const FILTERS = listOf('cat column cut fmt fold grep egrep fgrep head jq nl rev rg sort tac tail tr uniq wc');
/** Their operands are text or names of files. */
const TEXT_TAKERS = listOf(
  'basename cat cksum column cut diff dirname du echo egrep fgrep file fmt fold grep head ls md5sum nl printf readlink ' +
    'realpath rev rg sha1sum sha256sum stat tac tail tr tree wc',
);
/** Their operands are, behind these first words. */
const SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: listOf(
    'add blame branch cat-file checkout cherry-pick commit describe diff for-each-ref grep log ls-files ls-tree merge-base mv ' +
      'name-rev reflog restore rev-list rev-parse rm shortlog show show-ref stash status switch tag',
  ),
  gh: listOf('issue label pr release repo run search workflow'),
};
function takesText({ name, prefix }: Command, before: readonly Word[]): boolean {
  if (name === undefined || prefix.length > 0) return false;
  const program = name.value;
  if (program.includes('/')) return isOwnProgram(program);
  if (name.parts !== undefined) return false;
  const [first] = before;
  const isLiteral = first !== undefined && first.parts?.every(({ type }) => type !== 'SimpleExpansion') !== false;
  if (INTERPRETERS.test(program)) return isLiteral && /[./]/.test(first.value) && !first.value.startsWith('-');
  // Its option -v calculates with what it is given.
  if (program === 'printf') return isLiteral && !first.value.startsWith('-');
  return TEXT_TAKERS.has(program) || SUBCOMMANDS[program]?.has(first?.value ?? '') === true;
}

const isFilter = (node: CommandNode): boolean =>
  node.type === 'Command' &&
  node.prefix.length === 0 &&
  node.redirects.length === 0 &&
  FILTERS.has(node.name?.text ?? '');

/** What a line runs: the programs alone, and with what they are given. */
export function readPrograms(line: string): { programs: string; segments: readonly Segment[]; isClear: boolean } {
  const { segments, redirections, settings, doubts } = readCommand(line);
  const programs = segments.map(({ role, words }) => [role, words[0]?.value]);
  const opens = redirections.map(({ operator }) => operator);
  const sets = settings.map(({ name }) => name);
  return { programs: JSON.stringify([programs, opens, sets]), segments, isClear: doubts.length === 0 };
}
