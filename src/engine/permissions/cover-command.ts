import { basename, resolve } from 'node:path/posix';
import type { Toucher } from './brought.js';
import { climbsBack, leadsAnywhere, placesOf, rawPaths, rootsIn, throughLinks } from './command.js';
import { readableIn } from './judge-paths.js';
import { leavesLink, type LineContext } from './line-context.js';
import { isProtected, isWithinRoots, makesRepository } from './path.js';
import { hasDangers } from './programs/danger.js';
import { INTERPRETERS, movedTo } from './programs/effects.js';
import { isHarmlessConfig, isQuietOption, readGit } from './programs/git.js';
import { judgeFileChange, type ReadOnlyUse } from './programs/readonly.js';
import { isControllingVariable, isHarmlessVariable } from './programs/variables.js';
import type { CommandGrant, CompiledRule } from './rules/rule-index.js';
import { BUILTINS } from './shell/builtin.js';
import { HOLE, hasHole, isDescriptor, isForeign, isFree, literalStart } from './shell/hole.js';
import { nameOf, type Redirection, type Segment } from './shell/reading.js';
import { isLiteralWord, type ShellWord } from './shell/word.js';

/** Why a part of a line may run unasked, or why it may not. */
export type Cover =
  | { isCovered: true; rule?: CompiledRule /** It changes files, which the mode accepts. */; edits?: boolean }
  | { isCovered: false; reason: string /** The place that is the trouble. */; path?: string; isOutside?: boolean };

export interface CoverContext extends LineContext {
  /** Rules that allow commands do not count: only what is harmless by itself. */
  rulesAside: boolean;
  /** A rule that allows every command. */
  whole: CompiledRule | undefined;
  /** Where links behind patterns lead was looked at. */
  knowsLinks: boolean;
  /** Some rule forbids commands or paths, so that what is hidden matters even where everything is allowed. */
  isWatched: boolean;
}

const no = (reason: string, more: { path?: string; isOutside?: boolean } = {}): Cover => ({
  isCovered: false,
  reason,
  ...more,
});
const FREE: Cover = { isCovered: true };

const VARIABLE = "A variable in this command can't be checked before it runs";
export const APPROVAL = 'This command requires approval';
const OUTSIDE_READ = 'Path is outside allowed working directories';
const NOT_SEEN = 'It may read through links, and could not be looked at everywhere';
const BROUGHT = 'It may go through a link that this line itself puts there';
const UNTRUSTED_PROGRAMS = 'It may run programs that the project names, and the folder is not trusted';
const UNTRUSTED_LINKS = 'It goes through links below folders, and the folder is not trusted';
const OTHER_REPOSITORY = 'It may run programs that the repository there names';
const OUTSIDE_WRITE = 'Path to write is outside allowed working directories';
const OUTSIDE_LINK = 'A link would lead outside allowed working directories';

/** Every part of a line with what covers it: its commands, then the files that the shell opens, then its variables. */
export function* coversOf(context: CoverContext): Generator<{ cover: Cover; segment?: Segment }> {
  for (const segment of context.reading.segments) {
    if (segment.role === 'run') yield { cover: coverSegment(segment, context), segment };
  }
  for (const redirection of context.reading.redirections) yield { cover: coverRedirection(redirection, context) };
  for (const { name, exported } of context.reading.settings) {
    const isFine = exported && context.whole === undefined ? isHarmlessVariable(name) : !isControllingVariable(name);
    yield { cover: isFine ? FREE : no(`It sets ${name}, which may change what runs`) };
  }
}

function coverSegment(segment: Segment, context: CoverContext): Cover {
  const { whole } = context;
  // `IFS= read` cuts what is read, and nothing else.
  const isReading = /^(?:read|mapfile|readarray)$/.test(nameOf(segment));
  const odd = segment.assignments.find(
    (name) =>
      !(name === 'IFS' && isReading) && (whole === undefined ? !isHarmlessVariable(name) : isControllingVariable(name)),
  );
  if (odd !== undefined) return no(`It sets ${odd}, which may change what runs`);
  if (segment.isFunction === true) return FREE;
  if (whole !== undefined) {
    const isHidden = context.isWatched && context.factOf(segment).dangers.length > 0;
    return isHidden ? no('It may run something that does not show') : { isCovered: true, rule: whole };
  }
  const granted = context.rulesAside ? no(APPROVAL) : coverByRule(segment, context);
  if (granted.isCovered) return granted;
  const { use } = context.factOf(segment);
  const free = coverBuiltin(segment, context) ?? (use && coverReading(use, segment, context));
  if (free?.isCovered === true) return free;
  const edit = coverEdit(segment, context);
  if (edit?.isCovered === true) return edit;
  return free ?? edit ?? granted;
}

function coverByRule(segment: Segment, context: CoverContext): Cover {
  const { allow } = context.policy.book;
  let refusal: Cover = no(segment.words.some(({ value }) => isForeign(value)) ? VARIABLE : APPROVAL);
  const plain = withoutOptions(segment);
  for (const given of plain === segment ? [segment] : [segment, plain]) {
    for (const grant of allow.grants(given.words)) {
      const cover = coverByGrant(grant, given, context);
      if (cover.isCovered) return cover;
      refusal = cover;
    }
  }
  const { outer } = segment;
  if (outer === undefined) {
    const exact = segment.words.every(isLiteralWord) ? allow.exactLine(segment.source) : undefined;
    return exact === undefined ? refusal : { isCovered: true, rule: exact };
  }
  // A rule for a wrapper allows what it runs only when it names that, too.
  for (const grant of allow.grants(outer.words)) {
    const reaches = grant.named > outer.at || grant.pattern.kind === 'exact';
    if (reaches && outer.words.every(({ value }) => !isForeign(value))) return { isCovered: true, rule: grant.rule };
  }
  return refusal;
}

/** `git --no-pager log` is `git log`, where the options in front change nothing else. */
function withoutOptions(segment: Segment): Segment {
  if (nameOf(segment) !== 'git') return segment;
  const { words } = segment;
  const { at, options, configs, folders } = readGit(words.slice(1).map(({ value }) => value));
  const isHarmless =
    options.every((option) => isQuietOption(option)) && configs.every(isHarmlessConfig) && folders.length === 0;
  return at === 0 || !isHarmless ? segment : { ...segment, words: [words[0] as ShellWord, ...words.slice(at + 1)] };
}

function coverByGrant({ rule, pattern, named }: CommandGrant, segment: Segment, context: CoverContext): Cover {
  const { words } = segment;
  const open = words.slice(named);
  if (open.some(({ value }) => isForeign(value))) return no(VARIABLE);
  const name = nameOf(segment);
  if (pattern.kind !== 'exact') {
    const { dangers } = context.factOf(segment);
    const danger = dangers.find(
      ({ at, isCode }) => at >= named && !isNamed(pattern.text, words[at], { isCode: isCode === true }),
    );
    if (danger !== undefined) return no(`${words[danger.at]?.value ?? name} is more than the rule ${rule.text} names`);
    const mayTurn =
      hasDangers(name, context.tables.dangers) && words.some((_, at) => at >= named && mayBeFlag(words, at));
    if (mayTurn) return no('A word of it may turn out to be a flag');
  }
  if (
    INTERPRETERS.test(basename(name)) &&
    segment.isPiped &&
    !namesScript(segment) &&
    open.every(({ value }) => value.startsWith('-') || /^\/(?:dev|proc)\//.test(value))
  ) {
    return no('It runs what comes on its standard input');
  }
  const outside = findMovedOut(segment, context);
  if (pattern.kind !== 'exact' && outside !== undefined) return no(OUTSIDE_READ, { path: outside, isOutside: true });
  // Another repository than that of the project names programs of its own.
  if (pattern.kind !== 'exact' && name === 'git' && !runsInProject(segment, context)) return no(OTHER_REPOSITORY);
  const written = coverWrites(segment, context);
  return written ?? { isCovered: true, rule };
}

/** They run what a project says, and may be sent to another one. */
const RUNNERS = /^(?:npm|pnpm|yarn|bun|make|gmake|ninja|just|go|cargo|uv|poetry)$/;

/** Outside of the folders, where a flag sends a runner to. */
function findMovedOut(segment: Segment, { policy, places }: CoverContext): string | undefined {
  if (!RUNNERS.test(basename(nameOf(segment)))) return undefined;
  const values = segment.words.slice(1).map(({ value }) => value);
  return values
    .flatMap((value, at) => movedTo(value, values[at + 1]))
    .flatMap((folder) => placesOf(folder, segment.folders))
    .map((place) => places.get(place) ?? place)
    .find((place) => !isWithinRoots(place, policy.roots));
}

const TAKES_SCRIPT = /^(?:python[\d.]*|node|nodejs|perl|ruby|php|lua|luajit|Rscript|tclsh|tsx|ts-node)$/;

/** It runs a file, and what comes on standard input is what that reads. */
function namesScript({ words: [name, script] }: Segment): boolean {
  if (script === undefined || !TAKES_SCRIPT.test(basename(name?.value ?? '')) || !isLiteralWord(script)) return false;
  return /[./]/.test(script.value) && !/^-|^\/(?:dev|proc)\//.test(script.value);
}

/** The rule says the flag itself. */
const isNamed = (text: string, word: ShellWord | undefined, { isCode }: { isCode: boolean }): boolean => {
  const flag = isCode ? undefined : /^--?[A-Za-z-]+/.exec(word?.value ?? '')?.[0];
  return word !== undefined && text.includes(flag ?? word.value);
};

const TAKES_TEXT = /^(?:-[a-zA-Z]*m|--message|--body|--title|--subject|--notes|--author|--date)$/;

/** A message, whatever it begins with. */
export const isTextOfFlag = (words: readonly ShellWord[], at: number): boolean =>
  words[at]?.splits === false && TAKES_TEXT.test(words[at - 1]?.value ?? '');

/** What a command prints, or a name of a file, may begin with a dash. */
function mayBeFlag(words: readonly ShellWord[], at: number): boolean {
  const { value, splits } = words[at] as ShellWord;
  if (isTextOfFlag(words, at)) return false;
  return splits || (literalStart(value) === '' && hasHole(value) && !value.startsWith(HOLE.number));
}

/** A program that a rule allows may still not write just anywhere. */
function coverWrites(segment: Segment, context: CoverContext): Cover | undefined {
  const values = segment.words.map(({ value }) => value);
  for (const path of context.factOf(segment).written.paths) {
    if (leavesLink(path, segment.folders, context)) return no(OUTSIDE_WRITE, { path, isOutside: true });
    for (const place of placesOf(path, segment.folders)) {
      const real = context.places.get(place) ?? place;
      if (isWithinRoots(real, context.policy.roots) || context.policy.book.allow.edits.find(real) !== undefined)
        continue;
      const isLinked = basename(values[0] ?? '') === 'ln' && path !== values.at(-1);
      return no(isLinked ? OUTSIDE_LINK : OUTSIDE_WRITE, { path: real, isOutside: true });
    }
    const lost = coverWays(path, segment, context);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

/** What builtins set is judged with the variables. */
function coverBuiltin(segment: Segment, context: CoverContext): Cover | undefined {
  const name = nameOf(segment);
  if (name === 'cd' || name === 'pushd') return coverMove(segment, context);
  if (name === 'kill' && endsOwnJobs(segment)) return FREE;
  if (!BUILTINS.has(name) || printsVariables(segment)) return undefined;
  return segment.words.slice(1).some(({ value }) => isForeign(value)) ? no(VARIABLE) : FREE;
}

/** Jobs are what the shell itself has started. */
const endsOwnJobs = ({ words }: Segment): boolean =>
  words.length > 1 && words.slice(1).every(({ value, splits }) => !splits && /^%(?:\d+|[%+-])$/.test(value));

/** Without names these print all variables, and with them what is secret. */
function printsVariables({ words }: Segment): boolean {
  const [name, ...args] = words.map(({ value }) => value);
  if (name === 'set') return args.length === 0;
  if (!/^(?:export|declare|typeset|readonly|local)$/.test(name ?? '')) return false;
  return args.some((arg) => /^-[A-Za-z]*[pfF]/.test(arg)) || !args.some((arg) => !arg.startsWith('-'));
}

function coverMove(segment: Segment, context: CoverContext): Cover {
  const { policy, places } = context;
  const operands = segment.words.slice(1).filter(({ value }) => !/^-[LPe@]+$/.test(value) && value !== '--');
  const target = operands[0]?.value ?? policy.home;
  if (operands.length > 1 || hasHole(target) || target === '-') return no(APPROVAL);
  const found = placesOf(target, segment.folders);
  if (found.length === 0 || found.some(leadsAnywhere)) return no(APPROVAL);
  for (const place of found) {
    const real = places.get(place);
    if (real === undefined || !isWithinRoots(real, policy.roots))
      return no(OUTSIDE_READ, { path: real ?? place, isOutside: true });
  }
  const isLost = (way: string): boolean => isFree(way) || !isWithinRoots(way, policy.roots);
  return context.waysOf({ path: target, access: 'read' }, segment).some(isLost) ? no(BROUGHT, { path: target }) : FREE;
}

function coverReading(use: ReadOnlyUse, segment: Segment, context: CoverContext): Cover {
  const { policy } = context;
  const { words } = segment;
  if (words.some(({ value }) => isForeign(value))) return no(VARIABLE);
  if (use.hasBadFlags && words.some((_, at) => at > 0 && mayBeFlag(words, at)))
    return no('A word of it may turn out to be a flag');
  if (use.needsTrust && !policy.trusted && !knowsAllLinks(use, segment, context))
    return no(use.isForLinks === true ? UNTRUSTED_LINKS : UNTRUSTED_PROGRAMS);
  if (use.needsTrust && nameOf(segment) === 'git' && !runsInProject(segment, context)) {
    return no(OTHER_REPOSITORY);
  }
  if (use.paths.length === 0) return FREE;
  if (use.paths.some((path) => hasHole(path)) && !use.onlyNames && !policy.trusted && !context.knowsLinks)
    return no(APPROVAL);
  for (const path of use.paths) {
    const cover = coverRead({ path, follows: use.follows === true }, segment, context);
    if (!cover.isCovered) return cover;
  }
  return FREE;
}

/** Whatever it opens through links was looked at: those below its folders, and that there are none below files. */
function knowsAllLinks(
  { isForLinks, follows, paths }: ReadOnlyUse,
  { folders }: Segment,
  context: CoverContext,
): boolean {
  if (isForLinks !== true || !context.knowsLinks) return false;
  const isFile = (path: string): boolean => {
    const found = hasHole(path) ? [] : placesOf(path, folders);
    return isDescriptor(path) || (found.length > 0 && found.every((place) => context.kindOf(place) === 'file'));
  };
  return follows === true || paths.every(isFile);
}

/**
 * Below the project there may be folders that look like a repository to git, and are not of its owner's making: elsewhere
 * than at its root git is that of the project only where it was seen that there is none on the way.
 */
export function runsInProject(segment: Segment, context: LineContext): boolean {
  const { folders, words } = segment;
  const { policy, places } = context;
  const moved = readGit(words.slice(1).map(({ value }) => value)).folders;
  const way = moved.join('/');
  if (climbsBack(way) || leavesLink(way, folders, context)) return false;
  const found = folders?.map((folder) => resolve(folder, ...moved)) ?? [];
  const isOwn = (folder: string): boolean => {
    const place = places.get(folder);
    if (policy.roots.includes(place ?? folder)) return true;
    if (place === undefined || !isWithinRoots(place, policy.roots)) return false;
    return context.isAbsent({ how: 'repository', place }, segment);
  };
  return found.length > 0 && found.every(isOwn);
}

function coverRead({ path, follows }: { path: string; follows: boolean }, by: Toucher, context: CoverContext): Cover {
  const { policy, places, linked } = context;
  const { folders } = by;
  if (isFree(path)) return no(APPROVAL);
  // No file is called so, or there is nothing in it.
  if (path === '' || path === '/dev/null' || isDescriptor(path)) return FREE;
  const climbs = climbsBack(path);
  if (climbs && hasHole(path)) return no(OUTSIDE_READ, { path, isOutside: true });
  const found = placesOf(path, folders);
  if (found.length === 0) return no('The folder it runs in is only known when it runs');
  const isOpen = (real: string | undefined): boolean =>
    real !== undefined && (isWithinRoots(real, readableIn(policy)) || policy.book.allow.reads.find(real) !== undefined);
  const raw = rawPaths(path, folders);
  if (raw.some(leadsAnywhere) || leavesLink(path, folders, context)) return no(OUTSIDE_READ, { path, isOutside: true });
  // Behind a link `..` leads elsewhere than its text says: both must be open.
  for (const place of [...found, ...rootsIn(path, folders), ...(climbs ? raw : [])]) {
    const real = places.get(place);
    if (!isOpen(real)) return no(OUTSIDE_READ, { path: real ?? place, isOutside: true });
  }
  const templates = follows ? [...raw, ...raw.map(throughLinks)] : raw;
  for (const real of templates.flatMap((each) => linked.get(each) ?? [])) {
    if (isFree(real)) return no(NOT_SEEN);
    if (!isOpen(real)) return no(OUTSIDE_READ, { path: literalStart(real), isOutside: true });
  }
  for (const way of context.waysOf({ path, access: 'read', follows }, by)) {
    if (isFree(way)) return no(BROUGHT, { path });
    if (!isOpen(way)) return no(OUTSIDE_READ, { path: literalStart(way), isOutside: true });
  }
  return FREE;
}

function coverRedirection(redirection: Redirection, context: CoverContext): Cover {
  const { target, reads, writes, connects } = redirection;
  if (context.whole !== undefined && !(connects && context.isWatched)) return { isCovered: true, rule: context.whole };
  if (connects) return no('It opens a connection');
  if (target === undefined || isForeign(target.value)) return no(VARIABLE);
  if (writes) return coverWrite(target.value, redirection, context);
  return reads ? coverRead({ path: target.value, follows: false }, redirection, context) : FREE;
}

function coverWrite(path: string, by: Toucher, context: CoverContext): Cover {
  const { policy, places } = context;
  const found = placesOf(path, by.folders);
  if (hasHole(path) || climbsBack(path) || found.length === 0 || found.some(leadsAnywhere)) return no(APPROVAL);
  if (leavesLink(path, by.folders, context)) return no(OUTSIDE_WRITE, { path, isOutside: true });
  let rule: CompiledRule | undefined;
  for (const place of found) {
    const real = places.get(place);
    rule = real === undefined ? undefined : policy.book.allow.edits.find(real);
    if (rule !== undefined) continue;
    const isInside = real !== undefined && isWithinRoots(real, policy.roots);
    if (!isInside) return no(OUTSIDE_WRITE, { path: real ?? place, isOutside: true });
    if (policy.mode !== 'acceptEdits' || isProtected(real) || makesRepository(real))
      return no(`Writing to ${real} needs approval`, { path: real });
  }
  const lost = coverWays(path, by, context);
  if (lost !== undefined) return lost;
  return { isCovered: true, edits: true, ...(rule !== undefined && { rule }) };
}

/** A write through what the line itself has put there. */
function coverWays(path: string, by: Toucher, { policy, waysOf }: CoverContext): Cover | undefined {
  for (const way of waysOf({ path, access: 'write' }, by)) {
    if (isFree(way)) return no(BROUGHT, { path });
    if (!isWithinRoots(way, policy.roots)) return no(OUTSIDE_WRITE, { path: literalStart(way), isOutside: true });
    if (isProtected(way)) return no(`Writing to ${way} needs approval`, { path: way });
  }
  return undefined;
}

/** What is written there is nowhere else than what it prints. */
const STREAM = /^\/dev\/(?:null|stdout|stderr)$/;

/** Commands that only make or change files which they name. */
function coverEdit(segment: Segment, context: CoverContext): Cover | undefined {
  const values = segment.words.map(({ value }) => value);
  const isTee = values[0] === 'tee' && values.slice(1).every((value) => !value.startsWith('-') || value === '-a');
  const paths = isTee
    ? values.slice(1).filter((value) => value !== '-a' && !STREAM.test(value))
    : judgeFileChange(values);
  if (paths === undefined || segment.words.some(({ value }) => hasHole(value))) return undefined;
  for (const path of paths) {
    const cover = coverWrite(path, segment, context);
    if (!cover.isCovered) return cover;
  }
  return paths.length === 0 ? FREE : { isCovered: true, edits: true };
}
