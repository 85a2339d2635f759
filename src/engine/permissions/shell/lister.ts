/** Commands that list files: what they print are paths below the folders that they look into. */
import type { Command, CommandNode, Word } from 'unbash';
import { HOLE } from './hole.js';
import { pathsFound } from './unwrap.js';
import { isQuiet, type ShellWord } from './word.js';

/** What a plain `find`, `git ls-files` or `git diff --name-only` prints. */
export function foundBy(node: CommandNode): string[] | undefined {
  if (node.type !== 'Command' || node.prefix.length > 0 || !node.redirects.every(isQuiet)) return undefined;
  if (listsFiles(node)) return pathsFound(['find', '.', ...endOf(node)].map((value) => ({ value, splits: false })));
  if (node.name?.text !== 'find') return undefined;
  const words = node.args.map((word) => (word.type === 'Word' ? withHoles(word) : ''));
  const isPlain = node.args.every((part) => part.type === 'Word' && !/[$`{~]/.test(part.text));
  if (!isPlain || words.some((word) => /^-(?:printf|fprint|exec|ok|ls)/.test(word))) return undefined;
  return pathsFound(['find', ...words].map((value) => ({ value, splits: false })));
}

/** Without quotes the shell matches it against names first. */
const withHoles = ({ text, value }: { text: string; value: string }): string =>
  text === value ? value.replace(/\*|\[.*\]/g, HOLE.star).replaceAll('?', HOLE.one) : value;

/** Nothing in it is filled in, so that either kind of quotes is as good. */
const PATTERN = `(['"]?)[\\w*][\\w./*-]*\\1`;
const LISTS: Readonly<Record<string, RegExp>> = {
  'ls-files': new RegExp(`^(?:-[cmoz]|--(?:cached|modified|others|exclude-standard)|${PATTERN})$`),
  // Of other commits it would list files that are not there, and nobody has looked at their names.
  diff: /^(?:--name-only|--cached|--staged|--diff-filter=[A-Za-z]+|-z|HEAD)$/,
};

/** Paths below the folder it runs in, unless a word says otherwise. */
function listsFiles({ name, args: written }: Command): boolean {
  if (name?.text !== 'git') return false;
  const [subcommand = '', ...args] = written.map((part) => (part.type === 'Word' ? part.text : ' '));
  const known = Object.hasOwn(LISTS, subcommand) ? LISTS[subcommand] : undefined;
  if (known === undefined || (subcommand === 'diff' && !args.includes('--name-only'))) return false;
  // What was taken out of the index is listed as well, by a name that is only in a commit.
  const isOfCommit = subcommand === 'diff' && args.some((arg) => /^(?:--cached|--staged|HEAD)$/.test(arg));
  if (isOfCommit && !args.some((arg) => WITHOUT_DELETED.test(arg))) return false;
  return args.every((arg) => known.test(arg) && !arg.includes('..'));
}

const WITHOUT_DELETED = /^--diff-filter=(?:[ABCMRTUX]+|[a-z]*d[a-z]*)$/;

/** `git ls-files '*.ts'` lists names that end so; without the quotes it may be a folder that is called so. */
function endOf({ args }: Command): readonly string[] {
  const [only, ...more] = args.slice(1).filter(({ text }) => !text.startsWith('-'));
  return more.length === 0 && /^(['"])\*[\w.-]+\1$/.test(only?.text ?? '')
    ? ['-name', only?.text.slice(1, -1) ?? '']
    : [];
}

/** They pass on some of the lines, as they are. */
const PASSES = /^(?:head|tail|sort|uniq)(?: -(?:\d+|n ?\d+|[ru]))*$/;

/**
 * The words that a lone `$(find ...)` stands for: each is a path below a folder, and where it prints nothing there is none.
 * With other text around it that would not be so: `$(find ...)/x` may be `/x`.
 */
export function listedBy({ parts }: Word): ShellWord[] | undefined {
  const [only] = parts ?? [];
  if (parts?.length !== 1 || only === undefined) return undefined;
  const inner = only.type === 'DoubleQuoted' && only.parts.length === 1 ? only.parts[0] : only;
  if (inner?.type !== 'CommandExpansion' || inner.script?.commands.length !== 1) return undefined;
  const [statement] = inner.script.commands;
  if (statement === undefined || statement.background === true) return undefined;
  const { command } = statement;
  const commands = command.type === 'Pipeline' ? command.commands : command.type === 'Command' ? [command] : [];
  const [first, ...rest] = commands;
  if (first === undefined || !rest.every(passesOn)) return undefined;
  return foundBy(first)?.map((value) => ({ value, splits: true }));
}

const passesOn = (node: CommandNode): boolean =>
  node.type === 'Command' &&
  node.prefix.length === 0 &&
  node.redirects.length === 0 &&
  PASSES.test([node.name, ...node.args].map((word) => word?.text ?? '').join(' '));
