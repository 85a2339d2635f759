/**
 * Patterns for names: what people write of regular expressions, run in time linear in the name. All alternatives are
 * followed at once, so no pattern can explode; what cannot be run this way (back references, looking around) is refused.
 */

export interface Pattern {
  /** Whether it occurs anywhere in the text, as `RegExp.test` would say. */
  test(text: string): boolean;
}

export interface PatternOptions {
  /** Characters that a text can contain. A pattern that asks for another one can never match as it is meant. */
  possible?: (char: string) => boolean;
}

/** The message says what is wrong with the pattern, and where. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const MAX_LENGTH = 1_000;
const MAX_REPEAT = 1_000;
/** Steps of a program, and work done to make it. */
const MAX_STEPS = 5_000;

type Test = (char: string) => boolean;
type Assertion = 'start' | 'end' | 'boundary' | 'no-boundary';

type Node =
  | { kind: 'empty' }
  | { kind: 'test'; test: Test }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; items: Node[] }
  | { kind: 'choice'; items: Node[] }
  | { kind: 'repeat'; item: Node; min: number; max: number };

type Step =
  | { op: 'test'; test: Test }
  | { op: 'assert'; assertion: Assertion }
  | { op: 'fork'; to: number[] }
  | { op: 'match' };

export function compilePattern(source: string, options: PatternOptions = {}): Pattern {
  if (source.length > MAX_LENGTH) throw new PatternError(`it is longer than ${MAX_LENGTH} characters`);
  const steps = emit(parse(source, options));
  return { test: (text) => run(steps, Array.from(text)) };
}

const isDigit: Test = (char) => char >= '0' && char <= '9';
const isWord: Test = (char) => /^[A-Za-z0-9_]$/.test(char);
const isSpace: Test = (char) => /^\s$/.test(char);
const not =
  (test: Test): Test =>
  (char) =>
    !test(char);

const CLASSES: Readonly<Record<string, Test>> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
const CONTROLS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };

function parse(source: string, { possible }: PatternOptions): Node {
  const chars = Array.from(source);
  let at = 0;

  const fail = (problem: string): never => {
    throw new PatternError(`${problem} (at character ${Math.min(at + 1, chars.length)})`);
  };
  const take = (expected: string): boolean => {
    if (chars[at] !== expected) return false;
    at += 1;
    return true;
  };
  const literal = (char: string): Node => {
    if (possible?.(char) === false) fail(`no name can contain ${JSON.stringify(char)}`);
    return { kind: 'test', test: (other) => other === char };
  };

  /** Behind a backslash: a class of characters, or one character. */
  const readEscape = (): Test | string => {
    const char = chars[at] ?? fail('it ends in a backslash');
    at += 1;
    const known = Object.hasOwn(CLASSES, char) ? CLASSES[char] : undefined;
    if (known !== undefined) return known;
    if (Object.hasOwn(CONTROLS, char)) return CONTROLS[char] ?? char;
    if (/[A-Za-z0-9]/.test(char)) {
      at -= 1;
      fail(isDigit(char) ? 'references back are not supported' : `\\${char} is not supported`);
    }
    return char;
  };

  const readMember = (): Test | string => {
    const char = chars[at] ?? fail('[ is not closed');
    at += 1;
    return char === '\\' ? readEscape() : char;
  };

  const readSet = (): Node => {
    const negated = take('^');
    const tests: Test[] = [];
    while (!take(']')) {
      const from = readMember();
      const isRange = chars[at] === '-' && at + 1 < chars.length && chars[at + 1] !== ']';
      if (!isRange) {
        tests.push(typeof from === 'string' ? (char) => char === from : from);
        continue;
      }
      at += 1;
      const to = readMember();
      if (typeof from !== 'string' || typeof to !== 'string' || order(from) > order(to))
        return fail('a bad range in [ ]');
      const [low, high] = [order(from), order(to)];
      tests.push((char) => order(char) >= low && order(char) <= high);
    }
    if (tests.length === 0) fail('[ ] is empty');
    const any: Test = (char) => tests.some((test) => test(char));
    return { kind: 'test', test: negated ? not(any) : any };
  };

  const readGroup = (): Node => {
    if (take('?') && !take(':')) fail('(? is not supported, but for (?:');
    const inner = readChoice();
    if (!take(')')) fail('( is not closed');
    return inner;
  };

  const readAtom = (): Node => {
    const char = chars[at] ?? '';
    at += 1;
    switch (char) {
      case '^':
        return { kind: 'assert', assertion: 'start' };
      case '$':
        return { kind: 'assert', assertion: 'end' };
      case '.':
        return { kind: 'test', test: (other) => other !== '\n' && other !== '\r' };
      case '[':
        return readSet();
      case '(':
        return readGroup();
      case '\\': {
        if (take('b')) return { kind: 'assert', assertion: 'boundary' };
        if (take('B')) return { kind: 'assert', assertion: 'no-boundary' };
        const escaped = readEscape();
        return typeof escaped === 'string' ? literal(escaped) : { kind: 'test', test: escaped };
      }
      case '*':
      case '+':
      case '?':
      case '{':
        at -= 1;
        return fail(`there is nothing that ${char} could repeat`);
      case ']':
      case '}':
        at -= 1;
        return fail(`${char} was not opened`);
      default:
        return literal(char);
    }
  };

  const readNumber = (): number | undefined => {
    let digits = '';
    while (isDigit(chars[at] ?? '')) digits += chars[at++];
    if (Number(digits) > MAX_REPEAT) fail(`more than ${MAX_REPEAT} repetitions`);
    return digits === '' ? undefined : Number(digits);
  };

  const readCount = (): { min: number; max: number } | undefined => {
    if (take('*')) return { min: 0, max: Infinity };
    if (take('+')) return { min: 1, max: Infinity };
    if (take('?')) return { min: 0, max: 1 };
    if (!take('{')) return undefined;
    const min = readNumber() ?? fail('a number is missing in { }');
    const max = take(',') ? (readNumber() ?? Infinity) : min;
    if (!take('}')) fail('{ is not closed');
    if (max < min) fail('the numbers in { } are out of order');
    return { min, max };
  };

  const readRepeated = (): Node => {
    const item = readAtom();
    const count = readCount();
    if (count === undefined) return item;
    if (item.kind === 'assert') fail('a place cannot be repeated');
    // Whether as much or as little as possible is taken makes no difference to whether it matches.
    take('?');
    if (['*', '+', '?', '{'].includes(chars[at] ?? '')) fail('a repetition is repeated');
    return { kind: 'repeat', item, ...count };
  };

  const readSequence = (): Node => {
    const items: Node[] = [];
    while (at < chars.length && chars[at] !== '|' && chars[at] !== ')') items.push(readRepeated());
    return items.length === 0 ? { kind: 'empty' } : { kind: 'sequence', items };
  };

  const readChoice = (): Node => {
    const items = [readSequence()];
    while (take('|')) items.push(readSequence());
    return { kind: 'choice', items };
  };

  const whole = readChoice();
  if (at < chars.length) fail(') was not opened');
  return whole;
}

const order = (char: string): number => char.codePointAt(0) ?? 0;

function emit(whole: Node): Step[] {
  const steps: Step[] = [];
  let work = 0;

  const spend = (): void => {
    work += 1;
    if (work > MAX_STEPS) throw new PatternError('it repeats too much');
  };
  const push = <S extends Step>(step: S): S => {
    spend();
    steps.push(step);
    return step;
  };
  const fork = (): { op: 'fork'; to: number[] } => push({ op: 'fork', to: [] });

  const write = (node: Node): void => {
    spend();
    switch (node.kind) {
      case 'empty':
        return;
      case 'test':
        push({ op: 'test', test: node.test });
        return;
      case 'assert':
        push({ op: 'assert', assertion: node.assertion });
        return;
      case 'sequence':
        for (const item of node.items) write(item);
        return;
      case 'choice': {
        const first = fork();
        const ends = node.items.map((item) => {
          first.to.push(steps.length);
          write(item);
          return fork();
        });
        for (const end of ends) end.to.push(steps.length);
        return;
      }
      case 'repeat':
        writeRepeat(node);
    }
  };

  const writeRepeat = ({ item, min, max }: Extract<Node, { kind: 'repeat' }>): void => {
    for (let i = 0; i < min; i += 1) write(item);
    if (max === Infinity) {
      const loop = steps.length;
      const head = fork();
      head.to.push(steps.length);
      write(item);
      push({ op: 'fork', to: [loop] });
      head.to.push(steps.length);
      return;
    }
    const exits: { to: number[] }[] = [];
    for (let i = min; i < max; i += 1) {
      const head = fork();
      head.to.push(steps.length);
      exits.push(head);
      write(item);
    }
    for (const exit of exits) exit.to.push(steps.length);
  };

  write(whole);
  steps.push({ op: 'match' });
  return steps;
}

/** Follows every thread at once; a place in the program is visited at most once for each character. */
function run(steps: readonly Step[], chars: readonly string[]): boolean {
  const seenAt = new Int32Array(steps.length).fill(-1);
  let current: number[] = [];
  let next: number[] = [];

  /** True when the end of the program is reached. */
  const follow = (start: number, position: number, list: number[]): boolean => {
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seenAt[at] === position) continue;
      seenAt[at] = position;
      const step = steps[at];
      if (step === undefined || step.op === 'match') return true;
      if (step.op === 'test') list.push(at);
      else if (step.op === 'fork') open.push(...step.to);
      else if (holds(step.assertion, chars, position)) open.push(at + 1);
    }
    return false;
  };

  for (let position = 0; position <= chars.length; position += 1) {
    // What was reached by the last character was followed to here already.
    if (follow(0, position, current)) return true;
    const char = chars[position];
    if (char === undefined) return false;
    next = [];
    for (const at of current) {
      const step = steps[at];
      if (step?.op === 'test' && step.test(char) && follow(at + 1, position + 1, next)) return true;
    }
    current = next;
  }
  return false;
}

function holds(assertion: Assertion, chars: readonly string[], position: number): boolean {
  if (assertion === 'start') return position === 0;
  if (assertion === 'end') return position === chars.length;
  const isBoundary = isWord(chars[position - 1] ?? '') !== isWord(chars[position] ?? '');
  return assertion === 'boundary' ? isBoundary : !isBoundary;
}
