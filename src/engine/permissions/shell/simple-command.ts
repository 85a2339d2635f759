import type { Assignment, Command, Redirection, Word } from 'unbash';
import { isHarmlessAssignment } from '../programs/variables.js';
import { applyBuiltin, EVALUATES } from './builtin.js';
import type { Frame, Notes } from './frame.js';
import { HOLE, hasHole, isForeign, isFree } from './hole.js';
import { inspect } from './inspect.js';
import { linesOfInput, listedBy } from './lister.js';
import { toRedirection } from './redirection.js';
import { isEvaluatedName, type Scope, summarise } from './scope.js';
import { type Inner, type Unwrapped, unwrap } from './unwrap.js';
import { writtenBySetting, writtenByVariable } from './variable-file.js';
import { expandText, expandWhole, expandWord, type ShellWord, type WordView } from './word.js';

const MAX_DEPTH = 12;
const MAX_WORLDS = 8;
const WORD_COST = 8;
const NO_WORLD: ReadonlyMap<string, string> = new Map();

/** Notes what one simple command runs, and what it does to the shell. */
export function readSimple(node: Command, given: Frame, notes: Notes): void {
  if (!notes.spend(node.end - node.pos)) return;
  const { variables } = inspect(node, given, notes);
  const { scope } = given;
  const plain = viewOf(scope, notes);
  const views = variables.size === 0 ? [plain] : worldsOf(variables, { scope, notes });
  for (const redirect of node.redirects) {
    const targets = new Set<string>();
    for (const view of views) {
      const redirection = toRedirection(redirect, view, scope.folders);
      const key = `${redirection?.target?.value} ${redirection?.text}`;
      if (redirection === undefined || targets.has(key)) continue;
      targets.add(key);
      notes.redirection(redirection);
    }
    if (isForeign(textOf(redirect, plain) ?? '')) notes.mark('foreign');
  }
  const frame = withInput(node, given, plain);
  const prefix = node.prefix.filter((part): part is Assignment => part.type === 'Assignment');
  noteFiles(
    prefix.map((assignment) => asWord(assignment, plain)),
    { scope, notes },
  );
  if (node.name === undefined) {
    for (const assignment of prefix) {
      notes.setting({ name: assignment.name, exported: false });
      assign(assignment, { scope, notes, variables });
    }
    return;
  }
  if (
    given.source.includes('(') &&
    [node.name, ...node.suffix].some(({ end }) => BEFORE_BRACKET.test(given.source.slice(end, end + 99)))
  )
    notes.doubt("it is not valid bash (unexpected token '(')");
  const source = given.source.slice(node.pos, node.end);
  const assignments = prefix.flatMap(({ name, value, append }) =>
    append !== true && value.type === 'Word' && isHarmlessAssignment(name, value.text) ? [] : [name],
  );
  if (assignments.some(isEvaluatedName)) notes.doubt(EVALUATES);
  const written = [node.name, ...node.args];
  for (const view of views) {
    const words = expandAll(written, view, notes);
    if (words === undefined) return;
    const run: Run = { frame, notes, source, assignments, sameShell: true, callsFunctions: true };
    runWords(words, run);
    for (const path of openlyListed(written)) {
      const guess = words.map((word) => (isFree(word.value) ? { value: path, splits: word.splits } : word));
      const inside: Frame = { ...frame, role: frame.role === 'run' ? 'guess' : frame.role, scope: scope.clone() };
      if (words[0] === guess[0]) runWords(guess, { ...run, frame: inside, sameShell: false });
    }
  }
}

/** The parser passes over it; bash does not. */
const BEFORE_BRACKET = /^(?:[ \t]|\\\n)*\(/;

/** What `$(find ... | sed ...)` may stand for, among others. */
function openlyListed(written: readonly (Word | Assignment)[]): readonly string[] {
  const found = new Set<string>();
  for (const each of written) {
    const listed = each.type === 'Word' ? listedBy(each) : undefined;
    if (listed?.isExact === false) for (const path of listed.paths) found.add(path);
  }
  // Of too many nothing is known but that they are listed.
  return found.size > MAX_WORLDS ? [`/${HOLE.below}`] : [...found];
}

/** What is written because a variable says so. */
function noteFiles(words: readonly ShellWord[], { scope, notes }: Pick<Frame, 'scope'> & { notes: Notes }): void {
  for (const word of words) {
    const written = writtenByVariable(word, scope.folders);
    if (written !== undefined) notes.redirection(written);
  }
}

/** The words of a command; undefined when they would be too many to look at. */
export function expandAll(
  written: readonly (Word | Assignment)[],
  view: WordView,
  notes: Pick<Notes, 'spend' | 'mark'>,
): ShellWord[] | undefined {
  const words: ShellWord[] = [];
  for (const each of written) {
    const found = each.type === 'Word' ? listedBy(each) : undefined;
    const listed = found?.isExact === true ? found.paths.map((value) => ({ value, splits: true })) : undefined;
    if (listed !== undefined) notes.mark('splits');
    const more = listed ?? (each.type === 'Word' ? expandWord(each, view) : [asWord(each, view)]);
    if (!notes.spend(lengthOf(more))) return undefined;
    for (const word of more) words.push(word);
  }
  return words;
}

/** Of many short words, each costs more than its letters. */
const lengthOf = (words: readonly ShellWord[]): number =>
  words.reduce((length, { value }) => length + value.length + WORD_COST, 0);

/** The value that the variables in it allow for. */
function assign(
  assignment: Assignment,
  { scope, notes, variables }: { scope: Scope; notes: Notes; variables: Set<string> },
) {
  const { name, value, append, index } = assignment;
  if (value.type !== 'Word' || append === true || index !== undefined) return scope.forget(name);
  scope.set(
    name,
    worldsOf(variables, { scope, notes }).map((view) => expandWhole(value, view)),
  );
}

const asWord = ({ name, append, value }: Assignment, view: WordView): ShellWord => ({
  value: `${name}${append === true ? '+' : ''}=${value.type === 'Word' ? expandWhole(value, view) : HOLE.any}`,
  splits: false,
});

/** The text of a here-document or here-string, with holes; undefined for other redirections. */
export function textOf(redirect: Redirection, view: WordView): string | undefined {
  if (redirect.type === 'HereString') return redirect.target === undefined ? '' : expandWhole(redirect.target, view);
  if (redirect.type !== 'HereDoc') return undefined;
  const { body, delimiter } = redirect;
  // Without quotes the shell takes some backslashes off, and not others.
  const isRaw = delimiter?.quoted === true || (body.parts === undefined && !body.text.includes('\\'));
  if (isRaw) return body.text;
  const text = expandText(body.parts ?? [], view);
  return body.text.includes('\\') ? `${HOLE.output}${isForeign(text) ? HOLE.any : ''}` : text;
}

function withInput(node: Command, frame: Frame, view: WordView): Frame {
  const input = node.redirects.findLast(
    (redirect) => redirect.operator.startsWith('<') && redirect.descriptor === undefined,
  );
  if (input === undefined) return frame;
  const inputText = textOf(input, view);
  // From a file, or from a descriptor: what it holds is not known, unless a lister prints it.
  return { ...frame, isPiped: inputText === undefined, inputText, inputPaths: linesOfInput(input) };
}

export function viewOf(
  scope: Scope,
  notes: Pick<Notes, 'doubt'>,
  world: ReadonlyMap<string, string> = NO_WORLD,
): WordView {
  return {
    variable: (name) => {
      const values = world.has(name) ? [world.get(name) as string] : scope.valuesOf(name);
      return values === undefined ? undefined : values.length === 1 ? values[0] : summarise(values);
    },
    home: scope.home,
    cwd: scope.folders?.length === 1 ? scope.folders[0] : undefined,
    doubt: notes.doubt,
  };
}

/** One view for each way in which the variables of a command may be set, or one for all of them. */
function worldsOf(variables: ReadonlySet<string>, { scope, notes }: { scope: Scope; notes: Notes }): WordView[] {
  let worlds: Map<string, string>[] = [new Map()];
  for (const name of variables) {
    const values = scope.valuesOf(name) ?? [];
    if (values.length < 2) continue;
    if (values.length * worlds.length > MAX_WORLDS) return [viewOf(scope, notes)];
    worlds = worlds.flatMap((world) => values.map((value) => new Map([...world, [name, value]])));
  }
  return worlds.map((world) => viewOf(scope, notes, world));
}

interface Run {
  frame: Frame;
  notes: Notes;
  source: string;
  assignments: readonly string[];
  /** It runs in the shell itself, so that builtins change it. */
  sameShell: boolean;
  /** A function of that name would be called. */
  callsFunctions: boolean;
}

const DYNAMIC = 'the name of a command in it is only known when it runs';

/** False when it is nested so deeply that the rest is not looked at. */
function isWithinDepth({ depth }: Frame, notes: Notes): boolean {
  if (depth <= MAX_DEPTH) return true;
  notes.doubt('it is nested too deeply');
  notes.mark('cut');
  return false;
}

function runWords(words: readonly ShellWord[], run: Run): void {
  const { frame, notes, source, assignments } = run;
  const [name, ...args] = words;
  if (name === undefined || !isWithinDepth(frame, notes)) return;
  const { scope, role, isPiped, inputText, outer } = frame;
  const add = (own: readonly ShellWord[], more: { role?: Frame['role']; isFunction?: boolean } = {}): void =>
    notes.segment({
      words: own,
      source,
      folders: scope.folders,
      assignments,
      role,
      isPiped,
      inputText,
      outer,
      ...more,
    });
  if (hasHole(name.value) || name.splits) {
    notes.doubt(DYNAMIC);
    add(words, { role: 'guess' });
    // It may be nothing at all, and then the next word is the name.
    if (name.splits) runWords(args, { ...run, frame: { ...frame, role: 'guess', depth: frame.depth + 1 } });
    return;
  }
  const isFunction = run.callsFunctions && scope.functions.has(name.value);
  const unwrapped = unwrap(words, notes.wrappers, frame.inputPaths);
  if (unwrapped === undefined) add(words, { isFunction });
  else {
    if (unwrapped.own !== words) add(words, { role: role === 'run' ? 'wrapper' : role });
    if (unwrapped.own !== undefined) add(unwrapped.own, { isFunction });
  }
  if (isFunction) {
    scope.forgetAll();
    if (notes.moves) scope.folders = undefined;
  }
  if (unwrapped !== undefined) return runInner(words, unwrapped, run);
  const lines = linesRead(words, run);
  const own = run.sameShell ? scope : scope.clone();
  const effect = applyBuiltin(words, own, lines);
  for (const setting of effect.settings) {
    notes.setting(setting);
    for (const file of writtenBySetting(setting.name, own.valuesOf(setting.name), scope.folders))
      notes.redirection(file);
  }
  if (effect.doubt !== undefined) notes.doubt(effect.doubt);
}

/** What `read` may read, where that is listed. Only a line as it is, in one variable, is a name as it was listed. */
function linesRead(words: readonly ShellWord[], { frame, notes, source }: Run): readonly string[] {
  const { inputPaths } = frame;
  if (inputPaths === undefined || words[0]?.value !== 'read') return [HOLE.output];
  notes.mark('splits');
  const isWhole = /^(?:IFS= )?read -r (?:-d ?(?:''|\$'\\0') )?[A-Za-z_]\w*$/.test(source);
  // Where no line is left it is nothing.
  return ['', ...(isWhole ? [] : [HOLE.output]), ...inputPaths];
}

/** These run what they are given in the shell itself. */
const SAME_SHELL = new Set(['eval', 'command', 'builtin', 'exec']);

function runInner(words: readonly ShellWord[], unwrapped: Unwrapped, run: Run): void {
  const { frame } = run;
  const notes = unwrapped.trust === 'remote' ? toRemote(run.notes) : run.notes;
  const name = words[0]?.value ?? '';
  if (unwrapped.doubt !== undefined) notes.doubt(unwrapped.doubt);
  if (unwrapped.cut === true) run.notes.mark('cut');
  if (frame.inputPaths !== undefined && !words.some(({ value }) => /^-[a-zA-Z]*0|^--nul/.test(value)))
    notes.mark('splits');
  const sameShell = run.sameShell && SAME_SHELL.has(name);
  const callsFunctions = run.callsFunctions && name === 'eval';
  const start = (inner: Inner, given: Frame['role']): void => {
    const role = frame.role === 'run' ? given : frame.role;
    if (role !== 'run' && !notes.isNewGuess(keyOf(inner, role))) return;
    if (!notes.spend(inner.words === undefined ? (inner.script?.value.length ?? 0) : lengthOf(inner.words))) return;
    const scope = sameShell ? frame.scope : frame.scope.clone();
    // What a trap runs, it runs at another time; another shell does not know what this one holds.
    if (name === 'trap') scope.forgetAll();
    else if (!sameShell) scope.leaveShell();
    if (name === 'trap' && notes.moves) scope.folders = undefined;
    if (inner.folder !== undefined) {
      if (unwrapped.trust === 'clear' && unwrapped.own === undefined) noteMove(inner.folder, { ...run, notes, role });
      if (inner.folder.value === '' || inner.folder.splits) scope.folders = undefined;
      else scope.enter(inner.folder.value);
    }
    noteFiles(words.slice(1, inner.at), { scope, notes });
    const next: Frame = {
      ...frame,
      scope,
      role,
      depth: frame.depth + 1,
      outer: reach(words, { frame, inner }),
    };
    const assignments = [...run.assignments, ...(inner.assignments ?? [])];
    if (inner.words !== undefined)
      runWords(inner.words, { ...run, notes, frame: next, assignments, sameShell, callsFunctions });
    else if (inner.script !== undefined)
      runScript(inner, { ...run, notes, frame: next, assignments, sameShell, callsFunctions });
  };
  if (name === 'trap' && run.sameShell) frame.scope.forgetAll();
  // Most wrappers run it once, but `xargs`, `find -exec` and `watch` do not, and `trap` does at the end.
  run.notes.repeated(name === 'trap' ? 'end' : 'itself', () => {
    for (const inner of unwrapped.inner) start(inner, unwrapped.trust === 'remote' ? 'remote' : 'run');
    for (const inner of unwrapped.guesses ?? []) start(inner, unwrapped.trust === 'remote' ? 'remote' : 'guess');
  });
  if (unwrapped.runsInput !== true) return;
  const { inputText } = frame;
  if (inputText === undefined) return notes.doubt('it runs what comes on its standard input');
  const scope = frame.scope.clone();
  scope.leaveShell();
  runScript({ script: { value: inputText, splits: false }, at: words.length }, { ...run, frame: { ...frame, scope } });
}

/** `env -C x` goes where `cd x` goes, and needs no less. */
function noteMove({ value, splits }: ShellWord, { frame, notes, source, role }: Run & { role: Frame['role'] }): void {
  const words = [
    { value: 'cd', splits: false },
    { value: value === '' ? HOLE.any : value, splits },
  ];
  notes.segment({ words, source, folders: frame.scope.folders, assignments: [], role, isPiped: false });
}

function keyOf({ words, script, folder, assignments }: Inner, role: Frame['role']): string {
  const text = words?.map(({ value, splits }) => `${value}${splits ? '\0~' : ''}`).join('\0') ?? `\0${script?.value}`;
  return `${role} ${folder?.value ?? ''} ${assignments?.join() ?? ''}\0${text}`;
}

/** The outermost wrapper, and where in it this command begins; nowhere when its words do not stand there as such. */
function reach(words: readonly ShellWord[], { frame, inner }: { frame: Frame; inner: Inner }): Frame['outer'] {
  const at = inner.words === undefined ? Infinity : inner.at;
  return frame.outer === undefined ? { words, at } : { words: frame.outer.words, at: frame.outer.at + at };
}

/** What runs elsewhere changes nothing here; only its commands are noted. */
const toRemote = (notes: Notes): Notes => ({
  ...notes,
  doubt: () => {},
  redirection: () => {},
  setting: () => {},
  mark: (what) => (what === 'cut' ? notes.mark(what) : undefined),
});

function runScript(inner: Inner, run: Run): void {
  const { script = { value: '', splits: false }, foreign } = inner;
  const { frame, notes } = run;
  if (!isWithinDepth(frame, notes)) return;
  if (frame.role === 'run' && foreign === true) notes.doubt('it runs a script that is not written for bash');
  if (frame.role === 'run' && (script.splits || hasHole(script.value.replaceAll(HOLE.number, '')))) {
    notes.doubt('it runs a text that is only known when it runs');
  }
  // Names set for the shell are set for all that it runs.
  for (const name of run.assignments) notes.setting({ name, exported: true });
  notes.text(script.value, { ...frame, inputText: undefined, inputPaths: undefined, depth: frame.depth + 1 }, notes);
}
