import { HOLE, isOpen } from '../shell/hole.js';

/**
 * What an awk program does. `prints`: nothing but that. `writes`: also into files. `runs`: it may run programs, open
 * what it likes, or look at the environment. What is not understood is taken for the last.
 */
export type AwkEffect = 'prints' | 'writes' | 'runs';

/** Names by which a program reaches beyond its input. */
const REACHING = new Set(
  'system getline ENVIRON ARGV ARGC ARGIND PROCINFO SYMTAB FUNCTAB close fflush extension'.split(' '),
);
/** Behind these an expression begins, or a statement. */
const KEYWORDS = new Set(
  'if else while for do in print printf return delete exit next nextfile break continue function func switch case default getline BEGIN END BEGINFILE ENDFILE'.split(
    ' ',
  ),
);
/** Functions that need no brackets: some take the slash behind them for a division, some do not. */
const BARE_FUNCTIONS = new Set(['length', 'srand', 'rand', 'getline', 'systime']);

type Kind = 'operand' | 'regex' | 'word' | 'operator' | 'newline' | 'unclear';

interface Token {
  kind: Kind;
  text: string;
}

/** The whole program is cut from left to right, as awk does: a quote inside of a pattern begins no string. */
export function effectOfAwk(program: string): AwkEffect {
  if (isOpen(program)) return 'runs';
  const state: State = { brackets: [], printing: undefined, effect: 'prints' };
  let before: Token = { kind: 'newline', text: '\n' };
  let at = 0;
  while (at < program.length) {
    at += match(/(?:[ \t\r]|#[^\n]*)*/y, program, at)?.length ?? 0;
    if (at >= program.length) break;
    const token = readToken(program, at, before);
    if (token === undefined) return 'runs';
    at += token.text.length;
    if (!note(token, before, state)) return 'runs';
    before = classify(token, state);
  }
  return state.effect;
}

interface State {
  /** For each open bracket: it is the condition of a statement. */
  brackets: boolean[];
  /** How many brackets were open when the statement that prints began. */
  printing: number | undefined;
  effect: AwkEffect;
  /** The bracket that was just closed was the condition of a statement. */
  closedCondition?: boolean;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

const STRING = /"(?:\\[^\n]|[^"\\\n])*"/y;
const NUMBER = new RegExp(`(?:[\\d${HOLE.number}]+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?`, 'y');
const NAME = /[A-Za-z_]\w*/y;
const OPERATOR = /\|\||&&|!~|[-+*/%^=!<>]=|\+\+|--|\*\*=?|>>|[-+*/%^!<>=~?:,;{}()[\]$]/y;
// Inside of brackets some end a pattern at a slash, and some do not.
const REGEX = /\/(?:\\[^\n]|[^/\\[\]\n]|\[(?!\^?\])\^?(?:\[:\w+:\]|[^\][\\/\n])+\])+\//y;

/** The next token; undefined for what is not understood. */
function readToken(program: string, at: number, before: Token): Token | undefined {
  const char = program.charAt(at);
  if (char === '\n') return { kind: 'newline', text: char };
  if (char === '"') return toToken('operand', match(STRING, program, at));
  const number = match(NUMBER, program, at);
  if (number !== undefined) return { kind: 'operand', text: number };
  const name = match(NAME, program, at);
  if (name !== undefined) return { kind: 'word', text: name };
  if (char === '/') {
    const place = slashAfter(before);
    if (place === undefined) return undefined;
    if (place === 'pattern') return toToken('regex', match(REGEX, program, at));
    // To some this assigns, and to some a pattern begins with the equals sign.
    if (program.charAt(at + 1) === '=') return undefined;
  }
  return toToken('operator', match(OPERATOR, program, at));
}

const toToken = (kind: Kind, text: string | undefined): Token | undefined =>
  text === undefined ? undefined : { kind, text };

const BEFORE_PATTERN = new Set(['{', '}', ';', '(', ',', '~', '!~', '!', '&&', '||']);

/** What a slash is there; undefined where that is not certain. */
function slashAfter({ kind, text }: Token): 'pattern' | 'division' | undefined {
  if (kind === 'operand') return 'division';
  if (kind === 'newline') return 'pattern';
  return kind === 'operator' && BEFORE_PATTERN.has(text) ? 'pattern' : undefined;
}

/** Takes in what the token says of the program; false when that is too much. */
function note({ kind, text }: Token, before: Token, state: State): boolean {
  const { brackets } = state;
  if (kind === 'word') {
    if (REACHING.has(text)) return false;
    if (text === 'print' || text === 'printf') state.printing = brackets.length;
  }
  // Whether a statement goes on behind a line in brackets is not certain.
  if (kind === 'newline' && brackets.length > 0) return false;
  if (kind === 'newline' && before.kind === 'operand') state.printing = undefined;
  if (kind !== 'operator') return true;
  if (text === ';' || text === '{' || text === '}') state.printing = undefined;
  if (text === '(') brackets.push(/^(?:if|while|for|switch)$/.test(before.text));
  if (text === ')') state.closedCondition = brackets.pop() ?? true;
  const isRedirection = text.startsWith('>') && state.printing === brackets.length;
  if (text === '>>' || isRedirection) state.effect = 'writes';
  return true;
}

/** What the token is to one that follows: something complete, or not. */
function classify(token: Token, { closedCondition }: State): Token {
  const { kind, text } = token;
  if (kind === 'regex' || text === ']') return { kind: 'operand', text };
  if (kind === 'word') {
    const isOperand = !KEYWORDS.has(text) && !BARE_FUNCTIONS.has(text);
    return { kind: isOperand ? 'operand' : 'unclear', text };
  }
  if (text === ')') return { kind: closedCondition === true ? 'unclear' : 'operand', text };
  if (text === '++' || text === '--') return { kind: 'unclear', text };
  return token;
}
