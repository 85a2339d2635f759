import { basename, join } from 'node:path/posix';
import { placesOf } from './command.js';
import { ownPlacesOf } from './judge-paths.js';
import type { LineContext, LineTouch } from './line-context.js';
import { foldNames, isInside, isProtected, PROTECTED, PROTECTED_FOLDERS, PROTECTED_NAMES } from './path.js';
import type { PermissionPolicy } from './policy.js';
import { readGit } from './programs/git.js';
import { type GlobToken, mayMatchGlob, parseGlob } from './rules/glob.js';
import { HOLE, hasHole, isFree, showHoles, tailOf } from './shell/hole.js';
import { nameOf, type Segment } from './shell/reading.js';

/** The first path that a line writes, or may write, and by which it would change what may run. */
export function findProtectedWrite(line: LineContext): string | undefined {
  const own = ownPlacesOf(line.policy);
  const moves = movesOf(line.reading.segments);
  const all = line.touched();
  for (const touched of all) {
    const found = protectedForm(touched, line, { own, moves });
    if (found !== undefined) return showHoles(found);
  }
  // What a line packs it may unpack.
  if (all.some(({ touch }) => touch.below === 'unpacked')) {
    const words = line.reading.segments.flatMap((segment) => segment.words.map(({ value }) => value));
    const packed = words.find((word) => isProtected(word));
    if (packed !== undefined) return showHoles(packed);
  }
  const named = findNamed(line) ?? findPassedOn(line);
  if (named !== undefined) return showHoles(named);
  const { cut, doubts, line: text } = line.reading;
  // What could not be read may write whatever it names.
  return cut || doubts.length > 0 ? text.split(BREAKS).find((word) => isProtected(word)) : undefined;
}

const BREAKS = /[\s'"`()[\]{};,=:@<>|&\\+$]+/;

function protectedForm(
  { touch, folders, forms, isLost }: LineTouch,
  { places, policy }: LineContext,
  { own, moves }: { own: readonly string[]; moves: readonly string[] },
): string | undefined {
  const { path, access, below, isInText = false } = touch;
  // Inside of a program it may be what is written.
  const isText = isInText && (access === 'text' || access === 'mention');
  if (access !== 'write' && !isText) return undefined;
  const written = [widen(path.replace(/^~(?=\/|$)/, '')), ...placesOf(path, folders)];
  const shown = (form: string): string => (form === written[0] ? path : form);
  const names = [
    ...written.flatMap((form) => [form, places.get(form) ?? form]),
    ...forms.map((form) => widen(form.path)),
  ];
  // A folder alone is a word like others; code that names such a file may well write it.
  const isNamed = access === 'write' || path.includes('/') || (access === 'mention' && PROTECTED_NAMES.has(path));
  const found = names.find(
    (form) => own.some((place) => mayBeAt(form, place)) || (isNamed && (isProtected(form) || mayBeProtected(form))),
  );
  if (found !== undefined) return shown(found);
  const searched = access === 'write' ? names.find((form) => mayBeFound(form, policy)) : undefined;
  if (searched !== undefined) return shown(searched);
  if (access === 'write' && mayLieInProtected(path, { isAnywhere: folders === undefined, moves })) return path;
  if (access === 'write' && (isLost === 'link' || (isLost === 'tree' && endsAsProtected(path.split('/'))))) return path;
  if (below === undefined || below === 'patched') return undefined;
  return names.map((form) => changedBelow(form, { below, own, policy })).find((each) => each !== undefined);
}

/** A whole name that was found says nothing of the folder that it is in. */
const widen = (form: string): string =>
  form.includes(HOLE.below.repeat(2)) ? form.slice(0, form.indexOf(HOLE.below) + 1) : form;

/** Names that files of protected folders have there. */
const NAMES_INSIDE = new Set(
  'settings.json settings.local.json hooks agents commands skills config authorized_keys tasks.json launch.json'.split(
    ' ',
  ),
);

/** Where a line moves to, as it is written. */
const movesOf = (segments: readonly Segment[]): string[] =>
  segments
    .filter((segment) => /^(?:cd|pushd)$/.test(nameOf(segment)))
    .flatMap(({ words }) => words.slice(1).map(({ value }) => value));

/** How files are called that programs obey, in a protected folder or as such. */
const OBEYED = [
  ...PROTECTED,
  ...NAMES_INSIDE,
  ...'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg'.split(
    ' ',
  ),
  ...'post-commit pre-rebase post-checkout post-merge pre-push post-rewrite pre-receive update post-update'.split(' '),
  // Agents, commands and skills, and what hooks are written in most of the time.
  'skill.md',
  'hook.sh',
];

/** What is found below a folder that programs start from may be such a file, unless its name ends otherwise. */
function mayBeFound(form: string, { roots, cwd, home }: PermissionPolicy): boolean {
  const at = form.indexOf(HOLE.below);
  if (at === -1 || !form.startsWith('/')) return false;
  const folder = form.slice(0, at).replace(/(?<=.)\/+$/, '');
  if (![...roots, cwd, home].some((start) => isInside(folder, start))) return false;
  const end = foldNames(tailOf(form));
  return end.includes('/') ? endsAsProtected(end.split('/')) : OBEYED.some((name) => name.endsWith(end));
}

const GIT_HOOK = /^(?:(?:pre|post)-[a-z-]+|applypatch-msg|prepare-commit-msg|commit-msg|update|fsmonitor-watchman)$/;

/** The last names are those of a file that is read in a protected folder; other folders have files called `hooks` or `config`, too. */
function endsAsProtected(names: readonly string[]): boolean {
  const [name = '', folder = '', above = ''] = names.map(foldNames).toReversed();
  return (
    /^(?:settings(?:\.local)?\.json|authorized_keys)$/.test(name) ||
    (folder === 'hooks' && GIT_HOOK.test(name)) ||
    (/^(?:agents|commands)$/.test(folder) && name.endsWith('.md')) ||
    (above === 'skills' && name === 'skill.md')
  );
}

/** `$X` with the end of such a name behind it: `${X}ude/a`. A letter is one of too many names, and so is what kind of file it is. */
function mayEndAsProtected(name: string, at: number, names: readonly string[]): boolean {
  const [, given = ''] = /[\uE000\uE001]([^\uE000-\uE005]+)$/.exec(name) ?? [];
  const end = foldNames(given);
  const isFolder = at < names.length - 1;
  if (end.startsWith('.')) return end !== '.git' && PROTECTED.includes(end);
  if (end === '' || (!isFolder && end.length < 2)) return false;
  return isFolder
    ? [...PROTECTED_FOLDERS].some((each) => each.endsWith(end))
    : PROTECTED.some((each) => each.endsWith(end));
}

/** A path that starts in a folder which is not known, and may be a protected one. */
function mayLieInProtected(
  path: string,
  { isAnywhere, moves }: { isAnywhere: boolean; moves: readonly string[] },
): boolean {
  const names = path.replace(/^(?:\.\/+)+/, '').split('/');
  // `$D/settings.json`, `.cl$D/hooks/pre-commit`.
  const open = names.findIndex(isFree);
  if (open !== -1 && (endsAsProtected(names.slice(open + 1)) || names.some(mayEndAsProtected))) return true;
  const [first = ''] = names;
  if (/^[/~]/.test(path) || open === 0 || !isAnywhere || first === '..') return false;
  return NAMES_INSIDE.has(foldNames(first)) || moves.some((move) => isProtected(move) || mayBeProtected(move));
}

interface Ground {
  below: LineTouch['touch']['below'];
  own: readonly string[];
  policy: PermissionPolicy;
}

/** Whatever is copied into a folder that programs start from may bring files that they obey. */
function changedBelow(form: string, { below, own, policy }: Ground): string | undefined {
  // Git in the folder of the project is just git.
  if (below === 'tree' && [...policy.roots, policy.cwd].includes(form)) return undefined;
  const place = own.find((each) => isInside(form, each));
  if (place !== undefined || (below !== 'copied' && below !== 'tree')) return place;
  const isStart = [...policy.roots, policy.cwd, policy.home].some((start) => isInside(form, start));
  return isStart ? join(form, '.claude') : undefined;
}

/** These do nothing to files that they are told, or nothing but what was found out about them otherwise. */
const LISTED_READERS = new Set(
  (
    'cd pushd popd source . type which whereis export declare typeset local readonly unset set shift return exit trap hash ' +
    'ssh ssh-add ssh-copy-id bash sh dash zsh less more bat batcat most view eza exa lsd dust ncdu tokei cloc scc code cursor ' +
    'shellcheck shfmt gitleaks trufflehog xdg-open open pbcopy md5 sha256 jsonlint yamllint delta difft gh glab hg'
  ).split(' '),
);
/** Of git, what only takes files up or tells of them; the others are known to write. */
const GIT_READERS = new Set(
  'add commit diff show log blame stash status ls-files ls-tree check-ignore rev-parse cat-file grep push reset update-index'.split(
    ' ',
  ),
);
const LEFT_OUT = /^--?[\w-]*(?:exclude|ignore|skip|prune|omit)[\w-]*$/;

/** No flag, no text of several words, no address. */
const PLAIN = /^(?!-|(?:https?|ssh|git):\/\/)\S+$/;

/** A plain argument, of a program that may do anything with it. */
function findNamed({ reading, factOf }: LineContext): string | undefined {
  for (const segment of reading.segments) {
    if (segment.role === 'wrapper' || segment.role === 'remote') continue;
    const values = segment.words.map(({ value }) => value);
    const fact = factOf(segment);
    if (fact.use !== undefined || isReader(values)) continue;
    const { written } = fact;
    const found = values.slice(1).flatMap((value, at) => {
      if (LEFT_OUT.test(values[at] ?? '') || isLeftOut(value)) return [];
      const isFlag = value.startsWith('-');
      const paths = isFlag ? gluedTo(value) : [value];
      // Of a program that is known only what it may take with a flag is not.
      const isTold = written.isKnown && (!isFlag || written.takesScripts || basename(values[0] ?? '') === 'git');
      return isTold ? [] : paths.filter((path) => PLAIN.test(path));
    });
    const named = found.find((path) => isProtected(path));
    if (named !== undefined) return named;
  }
  return undefined;
}

/** `--out=a`, `-oa`, `-coverprofile=a`, `-Wl,-Map,a`. */
const gluedTo = (value: string): string[] =>
  /[./]/.test(value) ? [...value.split(/[=,]/).slice(1), ...(/^-[A-Za-z]/.test(value) ? [value.slice(2)] : [])] : [];

const isLeftOut = (value: string): boolean => LEFT_OUT.test(/^(-[^=]*)=/.exec(value)?.[1] ?? '');

function isReader(values: readonly string[]): boolean {
  const [path = '', ...args] = values;
  const name = basename(path);
  if (LISTED_READERS.has(name)) return true;
  if (name === 'git') return GIT_READERS.has(readGit(args).subcommand ?? '');
  return /^python[\d.]*$/.test(name) && args[0] === '-m' && args[1] === 'json.tool' && args.length === 3;
}

/** A write to a place that is only known when it runs, in a line that has such a name at hand for it. */
function findPassedOn(line: LineContext): string | undefined {
  if (!line.touched().some(({ touch }) => touch.access === 'write' && isFree(touch.path))) return undefined;
  const { segments, line: text } = line.reading;
  // Names that are arguments of programs which read those files are there for that.
  const used = new Set(
    segments
      .filter((segment) => line.factOf(segment).use?.onlyNames !== true && nameOf(segment) !== 'set')
      .flatMap(({ words }) => words.flatMap(({ value }) => value.split(BREAKS))),
  );
  const named = text.split(BREAKS).find((word) => isProtected(word) && !used.has(word));
  if (named !== undefined) return named;
  // `find . -exec sh -c 'echo > $1' _ {} +`: what was found is at hand, too.
  return segments
    .filter((segment) => SHELLS.test(basename(nameOf(segment))))
    .flatMap(({ words }) => words.map(({ value }) => value))
    .find((word) => word.includes(HOLE.below) && mayBeProtected(widen(word)));
}

const SHELLS = /^(?:r?bash|sh|dash|ash|m?ksh|zsh)$/;

const toTokens = (name: string): GlobToken[] => parseGlob(name.replace(/[\\*?[]/g, '\\$&'));

/** The place, or something in it. A star stands for names, and for nothing else. */
function mayBeAt(form: string, place: string): boolean {
  if (!hasHole(form)) return isInside(place, form);
  if (isFree(form)) return false;
  const names = form.split('/');
  return place.split('/').every((name, at) => {
    const given = names[at];
    return given !== undefined && (hasHole(given) ? mayMatchGlob(toTokens(name), given) : given === name);
  });
}

let hidden: readonly GlobToken[][] | undefined;

/** `.claude/set*` and `.bash?c`: what begins with a star is no hidden name. */
function mayBeProtected(path: string): boolean {
  if (!hasHole(path)) return false;
  hidden ??= PROTECTED.map(toTokens);
  const names = hidden;
  return foldNames(path)
    .split('/')
    .some((part) => hasHole(part) && !hasHole(part.charAt(0)) && names.some((tokens) => mayMatchGlob(tokens, part)));
}
