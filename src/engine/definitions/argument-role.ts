/**
 * What an argument is to the program that gets it: a word, or what makes the program run another one. Judged by the line
 * with blanks in the place of arguments, beside the line with them. Pure.
 */
import type { Segment } from '../permissions/shell/reading.js';
import { isEverydayOption } from './everyday-options.js';

/** Stands for an argument in the line that is compared with. */
export const BLANK = 'heddleword';

const A_BLANK = new RegExp(`${BLANK}\\d+\\.`);

type Words = readonly string[];

const listOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** A program of the caller's own: what it does with its arguments is its own matter. */
export const isOwnProgram = (program: string): boolean =>
  program.includes('/') && !/^\/(?:usr\/|opt\/|snap\/)?(?:local\/)?s?bin\//.test(program);

/** The same programs, with the words that they would be given. True when an argument is an option, or a program. */
export function steers(blanks: readonly Segment[], filled: readonly Segment[]): boolean {
  return blanks.some(({ words, role }, index) => {
    const given = filled[index]?.words ?? [];
    if (words.length !== given.length) return true;
    if (role === 'guess') return false;
    const before = words.map(({ value }) => value);
    return given.some(({ value }, at) => at > 0 && value !== before[at] && steersAt(before, value, at));
  });
}

function steersAt(words: Words, given: string, at: number): boolean {
  const word = words[at] ?? '';
  const [prefix = '', suffix = ''] = word.split(A_BLANK);
  const program = baseOf(words[0] ?? '');
  const isKnown = INTERPRETERS.test(program) || BUILDERS.has(program) || COMMANDED.has(program);
  if (isOwnProgram(words[0] ?? '') && !isKnown) return false;
  if (/^-*$/.test(prefix) && isOption(given) && !mayBeOption({ program, words, at, given })) return true;
  return isProgram({ program, words, at, prefix, suffix, given });
}

/** `-3` is how many. */
export const isOption = (word: string): boolean => word.startsWith('-') && !/^-\d*$/.test(word);

interface Spot {
  program: string;
  words: Words;
  at: number;
  given: string;
}

function mayBeOption({ program, words, at, given }: Spot): boolean {
  const before = words.slice(1, at);
  if (program === 'echo') return true;
  if (program === 'printf') return before[0] !== undefined && isLiteral(before[0]);
  if (isEverydayOption(program, operandsOf(before), given)) return true;
  if (INTERPRETERS.test(program)) return isBehindScript(program, words, at);
  // It opens nothing: what comes behind it is judged on its own.
  if (given === '--') return !COMMANDED.has(program) || /^(?:git|gh|npm|pnpm|yarn)$/.test(program);
  // The words of an expression have no end of options.
  // An option before it that has a value would take it for that.
  const end = before.indexOf('--');
  const isSure = end !== -1 && !before.slice(0, end).some((word) => word.includes(BLANK));
  return isSure && !/^(?:g?find|test|\[|expr)$/.test(program);
}

/** With a file of the caller's own they do what that does. */
export const INTERPRETERS =
  /^(?:(?:ba|da|k|z|c|tc|fi)?sh|pwsh|i?python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|ruby[\d.]*|php[\d.]*|perl[\d.]*|lua[\d.]*|luajit|tsx|ts-node|java|Rscript|osascript|tclsh|wish|expect|julia|runghc|swift|groovy|scala|kotlin|elixir|escript|racket|guile|sbcl|wasmtime)$/;
const SHELLS = /^(?:ba|da|k|z)?sh$/;
/** Options before a script that have no value of their own. */
const BARE_OPTION: readonly (readonly [RegExp, RegExp])[] = [
  [SHELLS, /^(?:-[euvx]+|--(?:norc|noprofile|posix))$/],
  [/python|pypy/, /^-[Buv]+$/],
  [/^(?:node|tsx)$/, /^--(?:no-[\w-]+|experimental-(?:strip|transform)-types|enable-source-maps)$/],
];

/** The script is in the line itself, before the argument. */
function isBehindScript(program: string, words: Words, at: number): boolean {
  const isBare = (word: string): boolean =>
    BARE_OPTION.some(([interpreter, option]) => interpreter.test(program) && option.test(word));
  const first = words.findIndex((word, index) => index > 0 && !isBare(word));
  const isModule = words[first] === '-m' && /python|pypy/.test(program);
  const script = isModule ? first + 1 : first;
  return first > 0 && script < at && isLiteral(words[script] ?? '-');
}

/** Their first operand is a program, or what they do. */
const COMMANDED = listOf(
  'apt apt-get ar brew bun bundle bunx cargo composer conda deno docker dotnet flask gh git go helm hg hub kubectl npm npx pip pip3 pipenv ' +
    'pipx pnpm pnpx poetry podman rails service svn systemctl tar uv uvx yarn',
);
/** Behind these words comes a program. */
const RUNNING = listOf('dlx eval exec foreach run run-script');
const CREATING = listOf('create init x');
/** Every operand says what is to be run. */
const BUILDERS = listOf('ant bazel gmake gradle gradlew inv invoke just make mvn mvnw ninja nox rake task tox');
const EDITORS = /^(?:g?sed|[gmn]?awk)$/;
/** Options whose value is run. */
const RUNNING_OPTION =
  /^--?(?:checkpoint-action|command|compress-program|editor|eval|exec|exec-batch|exec-path|execdir|extcmd|ext-diff|import|info-script|init-file|interpreter|makefile|ok|okdir|open-files-in-pager|pager|pre|program|rcfile|receive-pack|require|rsh|rsh-command|run|shell|to-command|upload-pack|use-compress-program)=?$/;

function isProgram({ program, words, at, prefix, suffix, given }: Spot & { prefix: string; suffix: string }): boolean {
  const before = words.slice(1, at);
  const last = before.at(-1) ?? '';
  if (RUNNING_OPTION.test(prefix === '' ? last : prefix)) return true;
  if (program === 'source' || program === '.') return at === 1;
  // The reader has read such a line itself.
  if (SHELLS.test(program) && /^-[a-z]*c$/.test(last)) return false;
  if (INTERPRETERS.test(program) && !COMMANDED.has(program)) return !isBehindScript(program, words, at);
  if (BUILDERS.has(program)) return !prefix.includes('=');
  if (EDITORS.test(program)) {
    const isScript = !before.some(isLiteral) || /^(?:-[a-z]*e|--expression)$/.test(last);
    const value = given.slice(prefix.length, given.length - suffix.length);
    return isScript && (prefix === '' || (program.endsWith('sed') && editsOtherwise(value, suffix)));
  }
  if (!COMMANDED.has(program)) return false;
  const operands = operandsOf(before);
  const verb = operands.at(-1);
  if (verb === undefined) return true;
  // In `npx vitest run`, it is another program that runs something.
  const isOwnVerb = operands.length === 1 || /^(?:docker|git|podman|uv)$/.test(program);
  return (isOwnVerb && RUNNING.has(verb)) || (CREATING.has(verb) && /^(?:npm|pnpm|yarn|bun)$/.test(program));
}

/** A slash ends what it stands in; behind the last one `e` runs what was made, and `w` writes it. */
const editsOtherwise = (value: string, suffix: string): boolean =>
  value.includes('/') || /\/[^/]*[ew][^/]*$/.test(suffix);

const BARE_FLAG = /^(?:-[Pqsv]|--(?:no-[\w-]+|paginate|quiet|silent|verbose|[\w-]+=.*))$/;

/** The words that are no options, from the first on that cannot be the value of one. */
function operandsOf(words: Words): Words {
  const first = words.findIndex((word, at) => {
    const before = words[at - 1] ?? '';
    return isLiteral(word) && (!before.startsWith('-') || BARE_FLAG.test(before));
  });
  return first === -1 ? [] : words.slice(first).filter(isLiteral);
}

const isLiteral = (word: string): boolean => !word.startsWith('-') && !word.includes(BLANK);

const baseOf = (program: string): string => program.slice(program.lastIndexOf('/') + 1);

/** Variables by which programs choose what they run. */
const RUNNING_NAME =
  /(?:^|[\s;&|(])(?:PATH|LD_\w+|DYLD_\w+|ENV|BASH_\w+|SHELL|IFS|PS\d|GIT_\w+|NODE_PATH|PYTHON\w*|PERL\w*|RUBY\w*|\w*(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|COMMAND|HOME|OPTIONS|OPTS|FLAGS))\+?=(?:"[^"]*|'[^']*|[^\s;&|"'])*$/;

/** An argument there decides what a program runs. `before`: the line up to it. */
export const setsRunning = (before: string): boolean => RUNNING_NAME.test(before);
