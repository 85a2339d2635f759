/** JSON with comments and trailing commas: its value, what is wrong with it, and where each part of it stands. */
import type { Node, ParseError } from 'jsonc-parser';

export interface Place {
  /** Both count from 1. */
  line: number;
  column: number;
}

export interface TextFault extends Place {
  /** `permissions.allow[2]`; `(root)` for the text itself. */
  path: string;
  text: string;
}

export interface ParsedText {
  /** Undefined when the text is no JSON. */
  value: unknown;
  /** The first thing that is no JSON, or keys that could not be taken as they stand. */
  faults: TextFault[];
  /** Where the value of this path stands; where it is missing, the nearest part around it. */
  placeOf(path: string): Place;
}

const WORDS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is no JSON value',
  InvalidNumberFormat: 'this is no number',
  PropertyNameExpected: 'a key in double quotes is expected',
  ValueExpected: 'a value is expected',
  ColonExpected: '":" is expected after a key',
  CommaExpected: '"," is expected',
  CloseBraceExpected: '"}" is expected',
  CloseBracketExpected: '"]" is expected',
  EndOfFileExpected: 'there is more after the end of the value',
  InvalidCommentToken: 'this is no comment',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed',
  UnexpectedEndOfNumber: 'a number is not complete',
  InvalidUnicode: 'this is no unicode escape',
  InvalidEscapeCharacter: 'this is no escape',
  InvalidCharacter: 'a control character stands in a string',
};

export async function parseJsonc(text: string): Promise<ParsedText> {
  const [{ parseTree, printParseErrorCode }, { showPath }] = await Promise.all([
    import('jsonc-parser'),
    import('../../protocol/index.js'),
  ]);
  const place = createPlaces(text);
  const broken = (fault: string, offset = 0): ParsedText => ({
    value: undefined,
    faults: [{ path: '(root)', text: fault, ...place(offset) }],
    placeOf: () => place(offset),
  });
  if (text.trim() === '') return broken('the file is empty; write {} or delete it');
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  try {
    tree = parseTree(text, errors, { allowTrailingComma: true });
  } catch (thrown) {
    if (thrown instanceof RangeError) return broken('it is nested too deeply');
    throw thrown;
  }
  const [first] = errors;
  if (first !== undefined || tree === undefined) {
    const name = first === undefined ? 'ValueExpected' : printParseErrorCode(first.error);
    const words = WORDS[name] ?? 'it is no JSON';
    const { offset, length } = first ?? { offset: text.length, length: 0 };
    // The scanner has come to the end of the text, or is stuck in something that should have ended before it.
    const isCut = offset + length >= text.trimEnd().length && (length === 0 || name.startsWith('UnexpectedEnd'));
    return broken(isCut ? `the file ends too early: ${words}` : words, offset);
  }
  const offsets = new Map<string, number>();
  const faults: TextFault[] = [];
  const read = (node: Node, path: readonly (string | number)[], at = node.offset): unknown => {
    offsets.set(showPath(path), at);
    if (node.type === 'array') return (node.children ?? []).map((child, index) => read(child, [...path, index]));
    if (node.type !== 'object') return node.value;
    const object: Record<string, unknown> = {};
    for (const property of node.children ?? []) {
      const [key, value] = property.children ?? [];
      if (key === undefined || value === undefined) continue;
      const name = String(key.value);
      const inner = [...path, name];
      if (name === '__proto__' || Object.hasOwn(object, name)) {
        const what = name === '__proto__' ? 'is no key that can be used' : 'stands here twice; only one would count';
        faults.push({ path: showPath(inner), text: `"${name}" ${what}`, ...place(key.offset) });
        continue;
      }
      object[name] = read(value, inner, key.offset);
    }
    return object;
  };
  const value = read(tree, []);
  const placeOf = (path: string): Place => {
    let known = path;
    while (known !== '' && !offsets.has(known)) {
      known = known.slice(0, Math.max(known.lastIndexOf('.'), known.lastIndexOf('['), 0));
    }
    return place(offsets.get(known) ?? tree.offset);
  };
  return { value, faults, placeOf };
}

/** Offsets as lines and columns. */
function createPlaces(text: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
