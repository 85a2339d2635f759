import type { Scope } from './scope.js';
import { HOLE, hasHole } from './hole.js';
import type { Setting } from './reading.js';
import { isLiteralWord, type ShellWord } from './word.js';

export interface BuiltinEffect {
  settings: readonly Setting[];
  doubt?: string;
}

const REBINDS = 'it changes what the names of commands mean';
const EVALUATES = 'it evaluates text that may hold commands';
const NOTHING: BuiltinEffect = { settings: [] };

/** Builtins that take names of variables, and evaluate what stands in their subscripts. */
const NAMING = new Set(
  'read mapfile readarray unset let declare typeset local export readonly getopts printf wait test ['.split(' '),
);

const READING = new Set(['read', 'mapfile', 'readarray']);

/** Builtins after which a name may stand for another program. */
const REBINDING = new Set('alias unalias hash enable bind complete compgen compopt'.split(' '));

/** A function of such a name would make us wrong about what the shell does. */
export const SHELL_NAMES: ReadonlySet<string> = new Set([
  ...NAMING,
  ...REBINDING,
  ...'cd pushd popd eval exec command builtin source . trap set shopt shift return unalias'.split(' '),
]);

/** What a builtin does to the shell that runs it. Changes the scope; gives what else must be known. */
export function applyBuiltin(words: readonly ShellWord[], scope: Scope): BuiltinEffect {
  const [{ value: name } = { value: '' }, ...args] = words;
  if (REBINDING.has(name)) return isHarmlessRebinding(name, args) ? NOTHING : { settings: [], doubt: REBINDS };
  if (NAMING.has(name) && isEvaluated(name, args)) {
    return { settings: settingsOf(name, args, scope).settings, doubt: EVALUATES };
  }
  switch (name) {
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
      return NAMING.has(name) ? settingsOf(name, args, scope) : NOTHING;
  }
}

function isHarmlessRebinding(name: string, args: readonly ShellWord[]): boolean {
  if (args.length === 0) return true;
  return name === 'hash' && args.every(({ value }) => value === '-r');
}

function isEvaluated(name: string, args: readonly ShellWord[]): boolean {
  const isTest = name === 'test' || name === '[';
  if (isTest) return args.some(({ value }, at) => (value === '-v' || value === '-R') && !isName(args[at + 1]));
  if (name === 'printf' || name === 'wait') {
    const at = args.findIndex(({ value }) => /^-[a-z]*[vp]$/.test(value));
    if (args.some(({ value }) => /^-[vp]./.test(value))) return true;
    return (at !== -1 && !isName(args[at + 1])) || (name === 'printf' && hasHole(args[0]?.value.charAt(0) ?? ''));
  }
  if (name === 'let') return args.some((arg) => !isLiteralWord(arg) || /[[$`]/.test(arg.value));
  // A callback of mapfile, attributes by which a value is evaluated or a name stands for another.
  const isDeclaring = name === 'declare' || name === 'typeset' || name === 'local';
  if (name === 'mapfile' || name === 'readarray') if (args.some(({ value }) => value.startsWith('-C'))) return true;
  // Some attributes change values, evaluate them, or keep them from being set.
  if (isDeclaring && args.some(({ value }) => /^[-+]/.test(value) && !/^-[aAxgp]+$/.test(value))) return true;
  if (name === 'readonly') return true;
  if (name === 'unset' && args.some(({ value }) => /^-[a-z]*[fn]/.test(value))) return true;
  return args.some(({ value, splits }) => {
    const equals = value.indexOf('=');
    const target = equals === -1 ? value : value.slice(0, equals);
    return splits || hasHole(target) || /[[\]$`]/.test(target);
  });
}

const isName = (word: ShellWord | undefined): boolean => word !== undefined && /^[A-Za-z_]\w*$/.test(word.value);

function settingsOf(name: string, args: readonly ShellWord[], scope: Scope): BuiltinEffect {
  if (name === 'test' || name === '[') return NOTHING;
  if (name === 'let') {
    const names = args.flatMap(({ value }) => /^([A-Za-z_]\w*)\s*(?:[-+*/%&|^]|<<|>>)?=/.exec(value)?.[1] ?? []);
    for (const each of args.flatMap(({ value }) => value.match(/[A-Za-z_]\w*/g) ?? [])) scope.forget(each);
    return { settings: names.map((each) => ({ name: each, exported: false })) };
  }
  if (name === 'printf' || name === 'wait') {
    const at = args.findIndex(({ value }) => /^-[a-z]*[vp]$/.test(value));
    const target = at === -1 ? undefined : args[at + 1]?.value;
    if (target === undefined) return NOTHING;
    scope.forget(target);
    return { settings: [{ name: target, exported: false }] };
  }
  const exported = name === 'export' || (name !== 'readonly' && args.some(({ value }) => /^-[A-Za-z]*x/.test(value)));
  const settings: Setting[] = [];
  for (const { value } of args) {
    if (/^[-+]/.test(value)) continue;
    const [, target = '', append, given] = /^([A-Za-z_]\w*)(?:(\+)?=([^]*))?$/.exec(value) ?? [];
    if (target === '') continue;
    const isSet = given !== undefined && append === undefined;
    if (isSet) scope.set(target, [given]);
    // What is read comes from a file or a command that was seen.
    else if (READING.has(name)) scope.set(target, [HOLE.output]);
    else if (name !== 'export' && name !== 'readonly') scope.forget(target);
    else if (given !== undefined) scope.forget(target);
    settings.push({ name: target, exported });
  }
  if (name === 'getopts') for (const each of ['OPTARG', 'OPTIND']) scope.forget(each);
  if (name === 'read' && settings.length === 0) scope.set('REPLY', [HOLE.output]);
  return { settings };
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
