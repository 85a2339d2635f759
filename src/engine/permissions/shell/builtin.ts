import { type FlagSpec, readFlags } from '../command-flags.js';
import { assignedIn, isSafeArithmetic, readArithmetic } from './arithmetic.js';
import { HOLE, hasHole, isFree, isOpen, isPattern } from './hole.js';
import type { Setting } from './reading.js';
import type { Scope } from './scope.js';
import { isLiteralWord, type ShellWord } from './word.js';

export interface BuiltinEffect {
  settings: readonly Setting[];
  doubt?: string;
}

const REBINDS = 'it changes what the names of commands mean';
export const EVALUATES = 'it evaluates text that may hold commands';
const NOTHING: BuiltinEffect = { settings: [] };

const MAPFILE: FlagSpec = { short: 't', shortValue: 'dnOsu' };
const DECLARE: FlagSpec = { short: 'aAxgp' };

/**
 * Builtins that take names of variables, and evaluate what stands in their subscripts; with the flags by which they
 * evaluate nothing else. Others call back, change values, or make one name stand for another.
 */
const NAMING: Readonly<Record<string, FlagSpec>> = {
  read: { short: 'ers', shortValue: 'adinNptu' },
  mapfile: MAPFILE,
  readarray: MAPFILE,
  unset: { short: 'v' },
  export: { short: 'fnp' },
  declare: DECLARE,
  typeset: DECLARE,
  local: DECLARE,
  getopts: {},
  printf: { shortValue: 'v' },
  wait: { short: 'fn', shortValue: 'p' },
};

/** The flags of which the value is a name. */
const NAME_FLAGS: Readonly<Record<string, string>> = { read: 'a', printf: 'v', wait: 'p' };

const READING = new Set(['read', 'mapfile', 'readarray']);

/** Builtins after which a name may stand for another program. */
const REBINDING = new Set('alias unalias hash enable bind complete compgen compopt'.split(' '));

/** A function of such a name would make us wrong about what the shell does. */
export const SHELL_NAMES: ReadonlySet<string> = new Set([
  ...Object.keys(NAMING),
  ...REBINDING,
  ...'test [ let readonly jobs fc cd pushd popd eval exec command builtin source . trap set shopt shift return unalias'.split(
    ' ',
  ),
]);

/** What a builtin does to the shell that runs it, where it may read such lines. Changes the scope; gives what else must be known. */
export function applyBuiltin(words: readonly ShellWord[], scope: Scope, lines: readonly string[]): BuiltinEffect {
  const [{ value: name } = { value: '' }, ...args] = words;
  if (REBINDING.has(name)) return isHarmlessRebinding(name, args) ? NOTHING : { settings: [], doubt: REBINDS };
  const spec = Object.hasOwn(NAMING, name) ? NAMING[name] : undefined;
  if (spec !== undefined) return applyNaming(words, spec, { scope, lines });
  switch (name) {
    case 'test':
    case '[':
      return mayEvaluate(args) ? { settings: [], doubt: EVALUATES } : NOTHING;
    case 'let':
      return calculate(args, scope);
    case 'readonly':
      return { settings: setEach(args, scope), doubt: EVALUATES };
    case 'fc':
      return { settings: [], doubt: 'it runs what was run before' };
    case 'cd':
    case 'pushd':
    case 'popd':
      if (name === 'popd') scope.folders = undefined;
      else changeFolder(args, scope);
      scope.unset('PWD');
      scope.unset('OLDPWD');
      return NOTHING;
    case 'source':
    case '.':
      scope.forgetAll();
      scope.folders = undefined;
      return args.some(({ value }) => /^\/(?:dev|proc)\//.test(value))
        ? { settings: [], doubt: 'it runs what it reads' }
        : NOTHING;
    case 'shopt':
      return { settings: [], doubt: 'it changes how the shell reads' };
    case 'set':
      return isHarmlessSet(args) ? NOTHING : { settings: [], doubt: 'it changes how the shell reads' };
    default:
      return NOTHING;
  }
}

function isHarmlessRebinding(name: string, args: readonly ShellWord[]): boolean {
  if (args.length === 0) return true;
  return name === 'hash' && args.every(({ value }) => value === '-r');
}

const isName = (value: string | undefined): boolean => value !== undefined && /^[A-Za-z_]\w*$/.test(value);

function applyNaming(
  words: readonly ShellWord[],
  spec: FlagSpec,
  { scope, lines }: { scope: Scope; lines: readonly string[] },
): BuiltinEffect {
  const [{ value: name } = { value: '' }, ...args] = words;
  const isPrinting = name === 'printf';
  const read = readFlags(
    args.map(({ value }) => value),
    spec,
    { stopsAtOperand: true },
  );
  const given = read?.flags.get(NAME_FLAGS[name] ?? '') ?? [];
  const names = isPrinting || name === 'wait' ? given : [...given, ...(read?.operands ?? [])];
  const before = isPrinting ? args.slice(0, (read?.read ?? 0) + 1) : args;
  const isOdd =
    read === undefined ||
    given.some((target) => !isName(target)) ||
    before.some(({ value, splits }) => splits || isFree(value.charAt(0)) || isPattern(value)) ||
    (!isPrinting && names.some(isOddTarget)) ||
    (name === 'wait' && args.some(({ value }) => isOpen(value)));
  if (isPrinting || name === 'wait') {
    for (const target of given) scope.forget(target);
    const settings = given.map((target) => ({ name: target, exported: false }));
    return { settings, ...(isOdd && { doubt: EVALUATES }) };
  }
  const exported = name === 'export' || (read?.flags.has('x') ?? false);
  const targets = (read === undefined ? args.map(({ value }) => value) : names).map((value) => ({ value }));
  const settings = setEach(targets, scope, { name, exported, lines });
  if (READING.has(name)) {
    const own = name === 'read' ? 'REPLY' : 'MAPFILE';
    if (settings.length === 0) scope.set(own, lines);
  }
  if (name === 'getopts') for (const each of ['OPTARG', 'OPTIND']) scope.forget(each);
  return { settings, ...(isOdd && { doubt: EVALUATES }) };
}

/** More than a name, and what it is set to. */
function isOddTarget(value: string): boolean {
  const equals = value.indexOf('=');
  const target = equals === -1 ? value : value.slice(0, equals);
  return hasHole(target) || /[[\]$`]/.test(target) || /^[-+]/.test(target);
}

const READONLY = { name: 'readonly', exported: false, lines: [HOLE.output] };

/** Sets each name, or forgets what it held. */
function setEach(
  args: readonly { value: string }[],
  scope: Scope,
  { name, exported, lines }: { name: string; exported: boolean; lines: readonly string[] } = READONLY,
): Setting[] {
  const settings: Setting[] = [];
  for (const { value } of args) {
    if (/^[-+]/.test(value)) continue;
    const [, target = '', append, given] = /^([A-Za-z_]\w*)(?:(\+)?=([^]*))?$/.exec(value) ?? [];
    if (target === '') continue;
    const isSet = given !== undefined && append === undefined;
    if (isSet) scope.set(target, [given]);
    // What is read comes from a file or a command that was seen.
    else if (READING.has(name)) scope.set(target, lines);
    else if (name !== 'export' && name !== 'readonly') scope.forget(target);
    else if (given !== undefined) scope.forget(target);
    settings.push({ name: target, exported });
  }
  return settings;
}

/** Each word of `let` is arithmetic. */
function calculate(args: readonly ShellWord[], scope: Scope): BuiltinEffect {
  const expressions = args.map(({ value, splits }) =>
    splits ? undefined : readArithmetic(value.replaceAll(HOLE.number, '0')),
  );
  const known = expressions.filter((each) => each !== undefined);
  const settings = known.flatMap(assignedIn).map((name) => ({ name, exported: false }));
  const isSafe = known.length === args.length && known.every((each) => isSafeArithmetic(each, scope));
  if (isSafe) return { settings };
  for (const name of args.flatMap(({ value }) => value.match(/[A-Za-z_]\w*/g) ?? [])) scope.forget(name);
  return { settings, doubt: EVALUATES };
}

/** True when a word with holes may turn out to be one of these. */
function mayBecome(value: string, words: readonly string[]): boolean {
  if (value.replace(/[\uE000-\uE005]/g, '').length > 2) return false;
  const pattern = value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/[\uE000-\uE005]+/g, '.*');
  return words.some((word) => new RegExp(`^${pattern}$`).test(word));
}

const UNARY = new Set('-b -c -d -e -f -g -h -k -L -n -p -r -s -S -t -u -w -x -z -G -N -O'.split(' '));
const BINARY = new Set('= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef =~'.split(' '));

/** `-v` and `-R` evaluate the subscript of a name. A word that is not known may turn out to be one of them. */
function mayEvaluate(args: readonly ShellWord[]): boolean {
  const words = args.at(-1)?.value === ']' ? args.slice(0, -1) : args;
  const values = words.map(({ value }) => value);
  if (values.some((value, at) => (value === '-v' || value === '-R') && !isName(values[at + 1]))) return true;
  const isLoose = words.some(({ value, splits }) => splits || isPattern(value));
  return words.some(({ value, splits }, at) => {
    if (splits) return true;
    if (!isOpen(value) || !mayBecome(value, ['-v', '-R'])) return false;
    if (isLoose) return true;
    const isAlone = words.length === 1 || (words.length === 2 && values[0] === '!' && at === 1);
    const isOperand = UNARY.has(values[at - 1] ?? '') || BINARY.has(values[at - 1] ?? '');
    return !isAlone && !isOperand && !(BINARY.has(values[at + 1] ?? '') && at + 2 < words.length);
  });
}

function changeFolder(args: readonly ShellWord[], scope: Scope): void {
  const operands = args.filter(({ value }) => !/^-[LPe@n]+$/.test(value) && value !== '--');
  const [folder] = operands;
  if (operands.length > 1 || folder?.splits === true || /^[-+]/.test(folder?.value ?? '')) scope.folders = undefined;
  else scope.enter(folder?.value ?? scope.home ?? HOLE.any);
}

const HARMLESS_OPTIONS = new Set('pipefail errexit nounset xtrace verbose noclobber noglob monitor notify'.split(' '));

function isHarmlessSet(args: readonly ShellWord[]): boolean {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as ShellWord;
    if (word.value === '--' || word.value === '-') return true;
    if (!isLiteralWord(word)) return false;
    if (!/^[-+]/.test(word.value)) return true;
    if (!/^[-+][euxvCbmfo]+$/.test(word.value)) return false;
    if (!word.value.includes('o')) continue;
    at += 1;
    if (!HARMLESS_OPTIONS.has(args[at]?.value ?? '')) return false;
  }
  return true;
}

/** Builtins that change nothing but the shell. */
export const BUILTINS: ReadonlySet<string> = new Set(
  'exit return break continue shift wait jobs dirs popd set local declare typeset export readonly unset read mapfile readarray getopts let trap times logout hash'.split(
    ' ',
  ),
);
