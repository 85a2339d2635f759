/** Just enough of TypeScript's lexical grammar to tell code from comments, strings, templates and regular expressions. */

export interface Token {
  kind: 'word' | 'string' | 'template' | 'regex' | 'number' | 'mark';
  /** The content without quotes for strings and templates, the source for everything else. */
  text: string;
  line: number;
}

const WORD_START = /[A-Za-z_$#\u0080-\uffff]/;
const WORD = /[\w$#\u0080-\uffff]*/y;
const NUMBER = /[\w.]*/y;
const SPACE = /\s/;

/** After these words a slash begins a regular expression. */
const BEFORE_EXPRESSION = new Set(
  'return typeof case in of do else void delete throw new instanceof await yield default extends'.split(' '),
);
/** The closing parenthesis of these is followed by a statement, so a slash there begins a regular expression too. */
const CONDITION = new Set(['if', 'while', 'for', 'with']);

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  /** For every open parenthesis: whether it belongs to `if (...)` and the like. */
  const parens: boolean[] = [];
  /** For every open template: how many braces are open inside its current `${...}`. */
  const templates: number[] = [];
  let at = 0;
  let line = 1;
  let afterCondition = false;

  const push = (kind: Token['kind'], content: string): void => {
    tokens.push({ kind, text: content, line });
  };

  const countLines = (from: number, to: number): void => {
    for (let i = from; i < to; i += 1) if (text[i] === '\n') line += 1;
  };

  const sliceBy = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? '';
  };

  const expectsExpression = (): boolean => {
    const last = tokens.at(-1);
    if (last === undefined) return true;
    if (last.kind === 'word') return BEFORE_EXPRESSION.has(last.text);
    if (last.kind !== 'mark') return false;
    if (last.text === ')') return afterCondition;
    return last.text !== ']';
  };

  const readString = (quote: string): void => {
    const start = at + 1;
    let end = start;
    while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
    push('string', text.slice(start, end));
    countLines(start, end);
    at = text[end] === quote ? end + 1 : end;
  };

  /** Reads from just behind the backtick, or behind the brace that ends a substitution, to the next one. */
  const readTemplate = (start: number): void => {
    let end = start;
    while (end < text.length && text[end] !== '`' && !(text[end] === '$' && text[end + 1] === '{')) {
      end += text[end] === '\\' ? 2 : 1;
    }
    push('template', text.slice(start, end));
    countLines(start, end);
    if (text[end] === '$') templates.push(0);
    at = text[end] === '$' ? end + 2 : end + 1;
  };

  const readRegex = (): boolean => {
    let end = at + 1;
    let inClass = false;
    for (; text[end] !== '/' || inClass; end += 1) {
      if (end >= text.length || text[end] === '\n') return false;
      if (text[end] === '\\') end += 1;
      else if (text[end] === '[') inClass = true;
      else if (text[end] === ']') inClass = false;
    }
    push('regex', text.slice(at, end + 1));
    at = end + 1;
    at += sliceBy(WORD).length;
    return true;
  };

  const readMark = (mark: string): void => {
    const open = templates.length - 1;
    if (mark === '}' && templates[open] === 0) {
      templates.pop();
      readTemplate(at + 1);
      return;
    }
    if (mark === '{' && open >= 0) templates[open] = (templates[open] ?? 0) + 1;
    if (mark === '}' && open >= 0) templates[open] = (templates[open] ?? 0) - 1;
    if (mark === '(') {
      const last = tokens.at(-1);
      parens.push(last?.kind === 'word' && CONDITION.has(last.text));
    }
    if (mark === ')') afterCondition = parens.pop() ?? false;
    push('mark', mark);
    at += 1;
  };

  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '\n') {
      line += 1;
      at += 1;
    } else if (SPACE.test(char)) {
      at += 1;
    } else if (text.startsWith('//', at) || (at === 0 && text.startsWith('#!'))) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    } else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2);
      const end = close === -1 ? text.length : close + 2;
      countLines(at, end);
      at = end;
    } else if (char === '"' || char === "'") {
      readString(char);
    } else if (char === '`') {
      readTemplate(at + 1);
    } else if (char === '/' && expectsExpression() && readRegex()) {
      // Read whole.
    } else if (WORD_START.test(char)) {
      const word = sliceBy(WORD);
      push('word', word);
      at += word.length;
    } else if (/\d/.test(char)) {
      const number = sliceBy(NUMBER);
      push('number', number);
      at += number.length;
    } else {
      readMark(char);
    }
  }
  return tokens;
}
