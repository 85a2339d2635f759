/** Commands that list files: what they print are paths below the folders that they look into. */
import { basename } from 'node:path/posix';
import { type Command, forEachChild, type Redirection, type SyntaxNode, type Word } from 'unbash';
import { readFlags } from '../command-flags.js';
import { judgeReadOnly } from '../programs/readonly.js';
import { READ_ONLY } from '../programs/readonly-table.js';
import { HOLE, hasHole } from './hole.js';
import { pathsFound } from './unwrap.js';
import { isQuiet } from './word.js';

/** What a lister prints. */
export interface Listed {
  paths: readonly string[];
  /** Each line is one of them; otherwise something else has a hand in what comes out. */
  isExact: boolean;
}

const MAX_PATHS = 8;
/** Of too many lists nothing is known but that they list. */
const ANYWHERE: Listed = { paths: [`/${HOLE.below}`], isExact: false };

/** What comes out at the end of a pipe: what a lister in it prints, as it is or changed by what comes behind. */
export function listedByPipe(commands: readonly SyntaxNode[]): Listed | undefined {
  const last = commands.findLastIndex((command) => passedOn(command) === undefined);
  const ends = commands.slice(last + 1).flatMap((command) => passedOn(command) ?? []);
  const exact = last === -1 ? undefined : exactlyListed(commands[last] as SyntaxNode);
  const found = exact ?? [...new Set(commands.flatMap(listersIn))];
  const isCut = (path: string): boolean => ends.length > 0 && path.endsWith(HOLE.below);
  const paths = found.flatMap((path) => (isCut(path) ? ends.map((end) => path + end) : [path]));
  if (paths.length > MAX_PATHS) return ANYWHERE;
  return paths.length === 0 ? undefined : { paths, isExact: exact !== undefined };
}

/** What each line of it may be. */
export const linesOf = ({ paths, isExact }: Listed): readonly string[] => (isExact ? paths : [HOLE.output, ...paths]);

/** Those of a compound command, and of what a word of one stands for, as well. */
function listersIn(node: SyntaxNode): string[] {
  const found = node.type === 'Command' ? [...(exactlyListed(node) ?? roughlyListed(node))] : [];
  forEachChild(node, (child) => void found.push(...listersIn(child)));
  return found;
}

/** What a plain `find`, `grep -l`, `rg -l`, `git ls-files` or `git diff --name-only` prints. */
function exactlyListed(node: SyntaxNode): readonly string[] | undefined {
  if (node.type !== 'Command' || node.prefix.length > 0 || !node.redirects.every(isQuiet)) return undefined;
  if (listsFiles(node)) return namedByGit(node);
  const name = node.name?.text ?? '';
  const isSearch = SEARCHES.test(name);
  if (name !== 'find' && !isSearch) return undefined;
  if (!node.args.every((part) => part.type === 'Word' && !/[$`{~]/.test(part.text))) return undefined;
  const words = wordsOf(node);
  if (isSearch) return namedBySearch(name, words);
  return words.some((word) => /^-(?:printf|fprint|exec|ok|ls)/.test(word)) ? undefined : foundBy(words);
}

const foundBy = (words: readonly string[]): string[] =>
  pathsFound(['find', ...words].map((value) => ({ value, splits: false })));

const wordsOf = ({ args }: Command): string[] => args.map((word) => (word.type === 'Word' ? withHoles(word) : ''));

/** Without quotes the shell matches it against names first. */
const withHoles = ({ text, value }: { text: string; value: string }): string =>
  text === value ? value.replace(/\*|\[.*\]/g, HOLE.star).replaceAll('?', HOLE.one) : value;

const SEARCHES = /^(?:[ef]?grep|rg)$/;
const NAMES_ONLY = 'l files-with-matches files-without-match files'.split(' ');
/** They print more than names, or something around them. */
const ADDS = 'c count count-matches color colour colors json stats passthru vimgrep replace type-list label'.split(' ');

/** The files of a search that prints nothing but their names. */
function namedBySearch(name: string, words: readonly string[]): string[] | undefined {
  const use = judgeReadOnly([name, ...words]);
  const isRipgrep = name === 'rg';
  const read = readFlags(words, READ_ONLY[isRipgrep ? name : 'grep'] ?? {});
  if (use === undefined || read === undefined || !NAMES_ONLY.some((flag) => read.flags.has(flag))) return undefined;
  if (ADDS.some((flag) => read.flags.has(flag)) || (isRipgrep && read.flags.has('r'))) return undefined;
  // A folder that a pattern matches may be a link, and would be gone into.
  if (!use.recurses || use.paths.some(hasHole))
    return use.recurses || read.operands.length < 2 ? undefined : [...use.paths];
  const ends = use.includes?.map((include) => /^\*(\.[\w.-]+)$/.exec(include)?.[1]) ?? [];
  const known = ends.length > 0 && ends.every((end) => end !== undefined) ? ends : [''];
  return use.paths.flatMap((path) => known.map((end) => path + HOLE.below + end));
}

const SEARCHERS = /^(?:[efrz]?grep|rg|ag|ack)$/;
const LISTERS = /^(?:bfs|du|tree|locate)$/;
const GIT_LISTS = /^(?:ls-files|ls-tree|status|grep)$|^--name-/;
/** They leave hidden files out, unless they are told otherwise. */
const SPARING = /^(?:g?ls|v?dir|fd|fdfind|eza|exa|lsd)$/;
const WITH_HIDDEN = /^-[A-Za-z]*[aAfHu]|^--(?:al|hidden|unrestricted)/;
const PRINTERS = /^(?:echo|printf|stat|realpath|readlink|basename)$/;
/** A pattern for hidden names. */
const HIDDEN = /^(?:\.\/+)*\.[^/]*[\uE002\uE003]/;

/** Names that it prints among other things, or in a way that is not understood. */
function roughlyListed(node: Command): string[] {
  const name = basename(node.name?.value ?? '');
  const words = wordsOf(node).map((word) => (word === '~' ? '~/' : word));
  if (name === 'find' || name === 'gfind') return foundBy(words);
  const below = (roots: readonly string[]): string[] => roots.map((root) => root + HOLE.below);
  const operands = words.filter((word) => !word.startsWith('-'));
  if (SEARCHERS.test(name)) return below(judgeReadOnly([name, ...words])?.paths ?? ['.', ...operands]);
  if (name === 'git') return words.some((word) => GIT_LISTS.test(word)) ? namedByGit(node) : [];
  if (LISTERS.test(name)) return below(['.', ...operands]);
  // They print names without the folders that these are in.
  if (SPARING.test(name) && words.some((word) => WITH_HIDDEN.test(word))) return below(['.']);
  return SPARING.test(name) || PRINTERS.test(name) ? words.filter((word) => HIDDEN.test(word)) : [];
}

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
function namedByGit({ args }: Command): string[] {
  const given = args.slice(1).flatMap(({ text }) => (text.startsWith('-') ? [] : [text]));
  const ends = given.map((text) => /^(['"])\*([\w.-]+)\1$/.exec(text)?.[2]);
  const isEnding = ends.length > 0 && ends.length <= MAX_PATHS && ends.every((end) => end !== undefined);
  return (isEnding ? ends : ['']).map((end) => `.${HOLE.below}${end}`);
}

/** They pass on some of the lines, as they are. */
const PASSES = /^(?:head|tail|sort|uniq)(?: -(?:\d+|n ?\d+|[ru]))*$/;
const FILTERS = /^grep(?: -[EFivwx]+)* (?:(?!-)[\w./-]+|'(?!-)[^']*'|"(?!-)[^"$`\\]*")$/;
/** `'\.ts$'`, `'\.(js|ts)$'`: how the lines end that are left. */
const LEAVES = /^grep(?: -E)? '[\w/.*^]*\\\.(?:(\w+)|\((\w+(?:\|\w+)*)\))\$'$/;

/** How the lines end that it passes on, where that is known; undefined where it does something else with them. */
function passedOn(node: SyntaxNode): readonly string[] | undefined {
  if (node.type !== 'Command' || node.prefix.length > 0 || node.redirects.length > 0) return undefined;
  const text = [node.name, ...node.args].map((word) => word?.text ?? '').join(' ');
  const [, one, several] = LEAVES.exec(text) ?? [];
  // Without `-E` brackets and bars stand for themselves.
  const ends = one ?? (text.startsWith('grep -E') ? several : undefined);
  if (ends !== undefined) return ends.split('|').map((end) => `.${end}`);
  return PASSES.test(text) || FILTERS.test(text) ? [] : undefined;
}

/**
 * What a lone `$(find ...)` stands for: each word is a path below a folder, and where it prints nothing there is none.
 * With other text around it that would not be so: `$(find ...)/x` may be `/x`.
 */
export function listedBy({ parts }: Word): Listed | undefined {
  const [only] = parts ?? [];
  if (only === undefined) return undefined;
  const inner = only.type === 'DoubleQuoted' && only.parts.length === 1 ? only.parts[0] : only;
  if (inner?.type !== 'CommandExpansion' && inner?.type !== 'ProcessSubstitution') return undefined;
  const [statement, ...more] = inner.script?.commands ?? [];
  if (parts?.length !== 1 || statement === undefined) return undefined;
  const { command } = statement;
  const commands = command.type === 'Pipeline' ? command.commands : [command];
  const listed = listedByPipe(commands);
  const isAlone = more.length === 0 && statement.background !== true;
  return listed === undefined || isAlone ? listed : { ...listed, isExact: false };
}

/** Of `< <(find ...)` and `<<< "$(find ...)"`. */
export function linesOfInput(redirect: Redirection): readonly string[] | undefined {
  const listed = redirect.type === 'HereDoc' || redirect.target === undefined ? undefined : listedBy(redirect.target);
  return listed && linesOf(listed);
}
