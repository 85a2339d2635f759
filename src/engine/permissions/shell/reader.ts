import {
  type Case,
  type CommandNode,
  type CompoundList,
  type For,
  parse,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  type Select,
  type Statement,
  type SyntaxNode,
  type TestExpression,
  type Word,
} from 'unbash';
import { UNSEEN } from '../../../protocol/plain.js';
import { isSafeArithmetic, isSafeNumber } from './arithmetic.js';
import { EVALUATES, SHELL_NAMES } from './builtin.js';
import type { Frame, Notes } from './frame.js';
import { HOLE, isForeign, isNumeric } from './hole.js';
import { ARITHMETIC, inspect, noteAssigned } from './inspect.js';
import type { CommandReading, Redirection, Segment, Setting } from './reading.js';
import { toRedirection } from './redirection.js';
import { LineClock } from './line-clock.js';
import { isEvaluatedName, joinFolders, Scope } from './scope.js';
import { runsWhatItWrites } from './own-file.js';
import { expandAll, readSimple, textOf, viewOf } from './simple-command.js';
import { linesOf, linesOfInput, listedBy, listedByPipe } from './lister.js';
import { writtenBySetting } from './variable-file.js';
import { KNOWN_PRINTERS, textOfCat } from './word.js';
import { WRAPPERS, type WrapperSpec } from './wrapper-table.js';

/** Longer lines are asked about, whatever they hold. */
export const MAX_COMMAND_LENGTH = 10_000;
/** Still longer ones are not even parsed. */
const MAX_PARSED_LENGTH = 200_000;
const MAX_SEGMENTS = 400;
/** How many characters are looked at, over and over, before what is left is cut. */
const MAX_WORK = 500_000;
/** The parser looks for the end of each of these: so many of them, times the characters behind. */
const MAX_SEARCH = 50_000_000;

export interface ReadOptions {
  /** Where the line starts; undefined when that does not matter. */
  cwd?: string;
  home?: string;
  wrappers?: Readonly<Record<string, WrapperSpec>>;
  /** How many characters may be looked at; what is left of them stands in it afterwards. */
  budget?: { left: number };
}

/** Reads a bash line. Never throws: what cannot be known for certain is a doubt. */
export function readCommand(line: string, options: ReadOptions = {}): CommandReading {
  const { cwd, home, wrappers = WRAPPERS, budget = { left: MAX_WORK } } = options;
  const segments = new Map<string, Segment>();
  const redirections: Redirection[] = [];
  const settings: Setting[] = [];
  const doubts = new Set<string>();
  const marks = new Set<string>();
  const guesses = new Set<string>();
  const clock = new LineClock();
  let rounds = 0;
  const notes: Notes = {
    wrappers,
    moves: /\b(?:cd|pushd|popd|source)\b|(?:^|\s)\.\s/.test(line),
    takesNames: /\b(?:xargs|read|mapfile|readarray|parallel)\b/.test(line),
    jumps: /\b(?:break|continue|return)\b/.test(line),
    spendRound() {
      rounds += 1;
      return rounds <= MAX_ALL_ROUNDS;
    },
    spend(characters) {
      const isEnough = characters <= budget.left;
      if (isEnough) budget.left -= characters;
      else marks.add('cut');
      return isEnough;
    },
    isNewGuess(key) {
      const { size } = guesses;
      return guesses.add(key).size > size;
    },
    doubt: (reason) => void doubts.add(reason),
    segment(segment) {
      const key = keyOf(segment);
      const known = segments.get(key);
      if (known?.when !== undefined) return clock.again(known.when);
      if (segments.size >= MAX_SEGMENTS) return void marks.add('cut');
      segment.when = clock.next();
      segments.set(key, segment);
    },
    redirection(redirection) {
      redirection.when = clock.next();
      redirections.push(redirection);
    },
    setting(setting) {
      settings.push(setting);
      if (isEvaluatedName(setting.name)) doubts.add(EVALUATES);
    },
    mark: (what) => void marks.add(what),
    repeated: (until, reading) => clock.repeated(until, reading),
    script: readScript,
    text: readText,
  };
  if (line.length > MAX_COMMAND_LENGTH) notes.doubt(`it is longer than ${MAX_COMMAND_LENGTH} characters`);
  if (UNSEEN.test(line)) notes.doubt('it holds characters that do not show');
  const scope = new Scope({ folders: cwd === undefined ? undefined : [cwd], home });
  const frame: Frame = { scope, source: line, role: 'run', depth: 0, isPiped: false };
  try {
    readText(line, frame, notes);
  } catch {
    // Deep nesting overflows the stack of the parser.
    notes.doubt('it is nested too deeply');
    notes.mark('cut');
  }
  const cut = marks.has('cut');
  if (cut) notes.doubt('it is too long to be read');
  if (runsWhatItWrites([...segments.values()], redirections)) notes.doubt('it runs a file that it writes itself');
  return {
    line,
    segments: [...segments.values()],
    redirections,
    settings,
    doubts: [...doubts],
    cut,
    background: marks.has('background'),
    tests: marks.has('tests'),
    hasForeignText: marks.has('foreign'),
    splitsNames: marks.has('splits'),
  };
}

/** Equal for segments that are judged alike. */
function keyOf({ words, folders, role, assignments, isFunction, outer, isPiped }: Segment): string {
  const values = words.map(({ value, splits }) => (splits ? `${value}\0~` : value)).join('\0');
  return `${role} ${outer?.at ?? ''} ${isFunction === true} ${isPiped} ${assignments.join()} ${folders?.join() ?? '?'}\0${values}`;
}

/** bash takes the bracket of a pattern for the end of the substitution when `time` stands before `case` in it. */
function isMisread(line: string): boolean {
  if (!line.includes('case')) return false;
  let at = 0;
  return [/[$<>]\(/g, /\btime\b/g, /\bcase\b/g].every((part) => {
    part.lastIndex = at;
    const isThere = part.test(line);
    at = part.lastIndex;
    return isThere;
  });
}

const isTooLong = (line: string): boolean =>
  line.length > MAX_PARSED_LENGTH || (line.match(/\{|\$\[/g)?.length ?? 0) * line.length > MAX_SEARCH;

function readText(line: string, frame: Frame, notes: Notes): void {
  if (isTooLong(line)) return notes.mark('cut');
  if (isMisread(line)) notes.doubt('it holds a construct that bash does not read as it is written');
  readScript(parse(line), { ...frame, source: line }, notes);
}

function readScript(script: ParsedScript, frame: Frame, notes: Notes): void {
  const [error] = script.errors ?? [];
  if (error !== undefined) notes.doubt(`it is not valid bash (${error.message})`);
  // The parser leaves out what is below its limit, and bash does not.
  if (script.errors?.some(({ message }) => /nesting depth/.test(message))) notes.mark('cut');
  const source = script.source ?? frame.source;
  for (const statement of script.commands) readStatement(statement, { ...frame, source }, notes);
}

const readList = (list: CompoundList, frame: Frame, notes: Notes): void => {
  for (const statement of list.commands) readStatement(statement, frame, notes);
};

function readStatement({ command, background }: Statement, frame: Frame, notes: Notes): void {
  const { scope } = frame;
  if (background === true) {
    notes.mark('background');
    return notes.repeated('end', () => read(command, { ...frame, scope: scope.clone() }, notes));
  }
  const { folders } = scope;
  read(command, frame, notes);
  // A change of folder may fail, and the line goes on.
  if (command.type !== 'AndOr' && scope.folders !== folders) scope.folders = joinFolders(folders, scope.folders);
}

function read(node: Statement['command'] | CommandNode | CompoundList, frame: Frame, notes: Notes): void {
  const { scope } = frame;
  const inside = (list: CompoundList, more: Partial<Frame> = {}): void => readList(list, { ...frame, ...more }, notes);
  switch (node.type) {
    case 'Command':
      return readSimple(node, frame, notes);
    case 'Pipeline':
      return readPipeline(node, frame, notes);
    case 'AndOr':
      return readAndOr(node, frame, notes);
    case 'Redirected': {
      let { isPiped } = frame;
      let inputPaths: Frame['inputPaths'];
      for (const redirect of node.redirects) {
        inspect(redirect, frame, notes);
        const redirection = toRedirection(redirect, viewOf(scope, notes), scope.folders);
        if (redirection !== undefined) notes.redirection(redirection);
        if (redirect.operator.startsWith('<')) {
          isPiped = true;
          inputPaths = redirect.descriptor === undefined ? linesOfInput(redirect) : undefined;
        }
        if (isForeign(textOf(redirect, viewOf(scope, notes)) ?? '')) notes.mark('foreign');
      }
      return read(node.command, { ...frame, isPiped, inputText: undefined, inputPaths }, notes);
    }
    case 'CompoundList':
      return inside(node);
    case 'BraceGroup':
      return inside(node.body);
    case 'Subshell':
      return inside(node.body, { scope: scope.clone() });
    case 'Coproc':
      notes.setting({ name: node.name?.value ?? 'COPROC', exported: false });
      return notes.repeated('end', () =>
        read(
          node.body,
          { ...frame, scope: scope.clone(), isPiped: true, inputText: undefined, inputPaths: undefined },
          notes,
        ),
      );
    case 'If': {
      readList(node.clause, frame, notes);
      const ends: Scope[] = [];
      const branch = (list: CompoundList | undefined): void => {
        const copy = scope.clone();
        if (list !== undefined) inside(list, { scope: copy });
        ends.push(copy);
      };
      branch(node.then);
      for (const elif of node.elif) {
        readList(elif.clause, frame, notes);
        branch(elif.then);
      }
      branch(node.else);
      return scope.become(ends);
    }
    case 'While':
      return readLoop(frame, notes, (copy) => {
        readList(node.clause, { ...frame, scope: copy }, notes);
        inside(node.body, { scope: copy });
      });
    case 'For':
    case 'Select':
      return readFor(node, frame, notes);
    case 'ArithmeticFor':
      return readLoop(frame, notes, (copy) => {
        for (const part of [node.initialize, node.test, node.update]) {
          if (part === undefined) continue;
          inspect(part, { ...frame, scope: copy }, notes);
          noteAssigned(part, notes);
          if (!isSafeArithmetic(part, copy)) notes.doubt(ARITHMETIC);
        }
        inside(node.body, { scope: copy });
      });
    case 'Case':
      return readCase(node, frame, notes);
    case 'Function':
      return readFunction(node.name, node.body, frame, notes);
    case 'TestCommand':
      notes.mark('tests');
      inspect(node, frame, notes);
      return readTest(node.expression, frame, notes);
    case 'ArithmeticCommand':
      notes.mark('tests');
      inspect(node, frame, notes);
      noteAssigned(node.expression, notes);
      if (node.expression === undefined ? node.body.trim() !== '' : !isSafeArithmetic(node.expression, scope)) {
        notes.doubt(ARITHMETIC);
      }
      return;
  }
}

function readPipeline({ commands, operators }: Pipeline, frame: Frame, notes: Notes): void {
  if (commands.length === 1 && commands[0] !== undefined) return read(commands[0], frame, notes);
  // They run side by side.
  notes.repeated('itself', () => {
    for (const [index, command] of commands.entries()) {
      const before = commands[index - 1];
      const listed = before && notes.takesNames ? listedByPipe(commands.slice(0, index)) : undefined;
      // `|&` brings messages along.
      const isExact = listed?.isExact === true && !operators.includes('|&');
      const inputPaths = listed && linesOf({ ...listed, isExact });
      const piped = before === undefined ? {} : { isPiped: true, inputText: printedBy(before), inputPaths };
      read(command, { ...frame, scope: frame.scope.clone(), ...piped }, notes);
    }
  });
}

/** What a plain `echo`, or `cat` of a text, prints into a pipe. */
function printedBy(node: CommandNode): string | undefined {
  const text = node.type === 'Command' ? textOfCat(node) : undefined;
  if (text !== undefined) return text;
  if (node.type !== 'Command' || node.name?.text !== 'echo' || node.prefix.length > 0) return undefined;
  const isPlain = node.suffix.every(
    (part) => part.type === 'Word' && !/[\\$`*?[{~]/.test(part.text) && !/^-[neE]/.test(part.text),
  );
  return isPlain ? node.args.map((word) => (word.type === 'Word' ? word.value : '')).join(' ') : undefined;
}

function readAndOr(
  { commands, operators }: { commands: readonly PipelineNode[]; operators: readonly string[] },
  frame: Frame,
  notes: Notes,
): void {
  const { scope } = frame;
  // The ways in which the list may end; the first of them is that its first command fails.
  let ends: Scope[] = [];
  let here = scope.clone();
  for (const [index, command] of commands.entries()) {
    if (operators[index - 1] === '||') {
      here = scope.clone();
      here.become(ends);
    }
    ends.push(here.clone());
    read(command, { ...frame, scope: here }, notes);
    ends.push(here.clone());
    if (ends.length > MAX_ENDS) ends = [ends[0] as Scope, merged(ends.slice(1))];
  }
  scope.become(ends.length > 1 && isCertain(commands[0]) ? ends.slice(1) : ends);
}

const MAX_ENDS = 40;

function merged(scopes: readonly Scope[]): Scope {
  const one = (scopes[0] as Scope).clone();
  one.become(scopes);
  return one;
}

/** An assignment cannot fail, so that what comes before it is no way to end. */
const isCertain = (node: PipelineNode | undefined): boolean => node?.type === 'Command' && node.name === undefined;

const MAX_ROUNDS = 3;
const MAX_ALL_ROUNDS = 200;

/** The body is read until it changes nothing more: what it sets holds in the next round. */
const readLoop = (frame: Frame, notes: Notes, round: (scope: Scope) => void): void =>
  notes.repeated('itself', () => readRounds(frame, notes, round));

function readRounds(frame: Frame, notes: Notes, round: (scope: Scope) => void): void {
  const { scope } = frame;
  const { mark } = scope;
  for (let count = 0; count < MAX_ROUNDS && notes.spendRound(); count += 1) {
    const before = scope.clone();
    const copy = scope.clone();
    round(copy);
    if (notes.jumps) copy.allowForJumps(mark);
    scope.become([before, copy]);
    if (scope.equals(before)) return;
  }
  scope.forgetAll();
  if (notes.moves) scope.folders = undefined;
  round(scope);
}

function readFor(node: For | Select, frame: Frame, notes: Notes): void {
  const { scope } = frame;
  const view = viewOf(scope, notes);
  for (const word of node.wordlist ?? []) inspect(word, frame, notes);
  const counted = node.wordlist?.filter(isCounting) ?? [];
  const others = node.wordlist?.filter((word) => !isCounting(word));
  const words = others && expandAll(others, view, notes);
  const more = others?.flatMap((word) => listedBy(word)?.paths ?? []) ?? [];
  const values = words && [...counted.map(() => HOLE.number), ...words.map(({ value }) => value), ...more];
  const name = node.name.value;
  notes.setting({ name, exported: false });
  const unknown = node.type === 'Select' || values === undefined;
  for (const file of writtenBySetting(name, unknown ? undefined : values, scope.folders)) notes.redirection(file);
  readLoop(frame, notes, (copy) => {
    copy.set(name, unknown ? [HOLE.any] : values.length === 0 ? [''] : values);
    if (node.type === 'Select') copy.forget('REPLY');
    readList(node.body, { ...frame, scope: copy }, notes);
  });
}

/** `$(seq 1 5)` counts. */
function isCounting(word: Word): boolean {
  const [part] = word.parts ?? [];
  if (word.parts?.length !== 1 || part?.type !== 'CommandExpansion') return false;
  const command = part.script?.commands.length === 1 ? part.script.commands[0]?.command : undefined;
  return (
    command?.type === 'Command' &&
    command.name?.text === 'seq' &&
    command.suffix.every((arg) => arg.type === 'Word' && isNumeric(arg.text))
  );
}

function readCase(node: Case, frame: Frame, notes: Notes): void {
  const { scope } = frame;
  inspect(node.word, frame, notes);
  for (const item of node.items) {
    for (const pattern of item.pattern) inspect(pattern, frame, notes);
    // One item may go on into the next.
    const copy = scope.clone();
    readList(item.body, { ...frame, scope: copy }, notes);
    scope.become([scope.clone(), copy]);
  }
}

function readFunction(name: Word, body: SyntaxNode, frame: Frame, notes: Notes): void {
  const { scope } = frame;
  if (SHELL_NAMES.has(name.value) || KNOWN_PRINTERS.has(name.value) || name.parts !== undefined)
    notes.doubt('it changes what the names of commands mean');
  const inner = scope.clone();
  inner.forgetAll();
  if (notes.moves) inner.folders = undefined;
  inner.define(name.value);
  notes.repeated('end', () =>
    read(
      body as CommandNode,
      { ...frame, scope: inner, isPiped: true, inputText: undefined, inputPaths: undefined },
      notes,
    ),
  );
  scope.define(name.value);
}

/** `[[ -f x ]]` tells what `test -f x` tells. */
function noteTested(tested: readonly Word[], { scope, role }: Frame, notes: Notes): void {
  for (const { text, value } of tested) {
    if (text !== value || !/^\/|\.\./.test(value)) continue;
    const words = ['test', '-e', value].map((each) => ({ value: each, splits: false }));
    notes.segment({ words, source: text, folders: scope.folders, assignments: [], role, isPiped: false });
  }
}

const COMPARISONS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

function readTest(test: TestExpression, frame: Frame, notes: Notes): void {
  switch (test.type) {
    case 'TestUnary':
      if ((test.operator === '-v' || test.operator === '-R') && !/^[A-Za-z_]\w*$/.test(test.operand.text))
        notes.doubt(ARITHMETIC);
      return noteTested([test.operand], frame, notes);
    case 'TestBinary':
      if (/^-(?:nt|ot|ef)$/.test(test.operator)) noteTested([test.left, test.right], frame, notes);
      if (!COMPARISONS.has(test.operator)) return;
      if (!isSafeNumber(test.left, frame.scope) || !isSafeNumber(test.right, frame.scope)) notes.doubt(ARITHMETIC);
      return;
    case 'TestLogical':
      for (const operand of test.operands) readTest(operand, frame, notes);
      return;
    case 'TestNot':
      return readTest(test.operand, frame, notes);
    case 'TestGroup':
      return readTest(test.expression, frame, notes);
  }
}
