import { basename, relative, resolve } from 'node:path/posix';
import { type Brought, findBrought, type Goal, madeBefore, type Toucher, Ways } from './brought.js';
import {
  climbsBack,
  leadsAnywhere,
  placesOf,
  rawPaths,
  readLine,
  resolveFrom,
  rootsIn,
  throughLinks,
  withSlash,
} from './command.js';
import type { JudgedAccess, PermissionPolicy } from './policy.js';
import { INTERPRETERS, type Touch } from './programs/effects.js';
import { type PathKey, toPathKey } from './rules/path-index.js';
import type { Lookup, WasAbsent } from './seen.js';
import { factsOf, type SegmentFact } from './segment-fact.js';
import { findRestless, isSettled, listsOnlyTracked } from './settled.js';
import { HOLE, hasHole, isDescriptor, isFree, mayBeParent } from './shell/hole.js';
import { type CommandReading, nameOf, type Segment } from './shell/reading.js';
import { COMMAND_TABLES, type CommandTables } from './tables.js';

/** A path that a line touches, under every name that rules may know it by. */
export interface LineTouch {
  touch: Touch;
  folders: readonly string[] | undefined;
  forms: readonly PathForm[];
  /** The command or redirection that touches it. */
  by: Toucher;
  /** It may lead anywhere, through what the line itself has put there; `link`: through a link that it makes. */
  isLost?: 'link' | 'tree';
}

export interface PathForm {
  path: string;
  /** Absent for a path with holes. */
  key: PathKey | undefined;
  /** Not in every shell, or not certainly. */
  isPossible?: boolean;
}

/** A shell line with what is known of the place it runs in. */
export interface LineContext {
  reading: CommandReading;
  policy: PermissionPolicy;
  tables: CommandTables;
  /** Where paths, as the line names them, really are. */
  places: ReadonlyMap<string, string>;
  /** Whether a place, as the line names it, is known to be there. */
  isThere(place: string): boolean;
  /** What is known to be there. */
  kindOf(place: string): JudgedAccess['kind'];
  /** Where links lead that its patterns match, by the whole pattern. */
  linked: ReadonlyMap<string, readonly string[]>;
  cwd: string;
  home: string;
  factOf(segment: Segment): SegmentFact;
  /** Where a path may lead through what the line has put there before. */
  waysOf(touch: Goal, by: Toucher): readonly string[];
  /** It was looked for, nothing is there, and nothing comes there before the command runs. */
  isAbsent(lookup: Lookup, by: Toucher): boolean;
  /** What the line lists are names that git has taken up. */
  listsTracked(): boolean;
  /** Found out when it is first asked for. */
  touched(): readonly LineTouch[];
}

export function toLineContext(
  command: string,
  accesses: readonly JudgedAccess[],
  policy: PermissionPolicy,
  wasAbsent: WasAbsent = NEVER,
): LineContext {
  const { cwd, home, tables = COMMAND_TABLES } = policy;
  const reading = readLine(command, { cwd, home, tables });
  const places = new Map(accesses.map(({ given, path }) => [given ?? path, path]));
  let touched: readonly LineTouch[] | undefined;
  let ways: Ways | undefined;
  let brought: readonly Brought[] | undefined;
  let tracked: boolean | undefined;
  let restless: ReturnType<typeof findRestless> | undefined;
  const kindOf = (place: string): JudgedAccess['kind'] =>
    accesses.find(({ given, path, kind }) => kind !== undefined && (given ?? path) === place)?.kind;
  const factOf = factsOf(reading, tables);
  const context = {
    reading,
    policy,
    tables,
    places,
    kindOf,
    isThere: (place: string) => kindOf(place) !== undefined,
    linked: linkedOf(accesses),
    cwd,
    home,
    factOf,
    brought(): readonly Brought[] {
      brought ??= findBrought(reading, factOf);
      return brought;
    },
    restless() {
      restless ??= findRestless(reading, factOf);
      return restless;
    },
    listsTracked(): boolean {
      tracked ??= listsOnlyTracked(reading, factOf);
      return tracked;
    },
    isAbsent: (lookup: Lookup, by: Toucher) => wasAbsent(lookup, () => isSettled(lookup, by, context)),
    ways(): Ways {
      ways ??= new Ways(context.brought(), context, madeBefore(reading, factOf));
      return ways;
    },
    waysOf: (touch: Goal, by: Toucher) => context.ways().of(touch, by),
    touched() {
      touched ??= findTouches(context);
      return touched;
    },
  };
  return context;
}

const NEVER = (): boolean => false;

const NO_LINKS: ReadonlyMap<string, readonly string[]> = new Map();

function linkedOf(accesses: readonly JudgedAccess[]): ReadonlyMap<string, readonly string[]> {
  if (!accesses.some(({ matches }) => matches !== undefined)) return NO_LINKS;
  const linked = new Map<string, string[]>();
  for (const { path, matches } of accesses) {
    if (matches !== undefined) linked.set(matches, [...(linked.get(matches) ?? []), path]);
  }
  return linked;
}

type Ground = Omit<LineContext, 'touched'> & { ways(): Ways };

function findTouches(context: Ground): LineTouch[] {
  const { reading, factOf, policy } = context;
  const found: LineTouch[] = [];
  const isProject = (place: string): boolean => place === policy.cwd || policy.roots.includes(place);
  const add = (touch: Touch, by: Toucher): void => {
    const { folders } = by;
    const forms = formsOf(touch, folders, context);
    const ways = context.waysOf(touch, by);
    if (leavesLink(touch.path, folders, context)) return void found.push({ touch, folders, forms, by, isLost: 'link' });
    if (ways.length === 0) return void found.push({ touch, folders, forms, by });
    const isLost = !ways.some(isFree) ? undefined : context.ways().isThroughOwn(touch, by) ? 'link' : 'tree';
    const more = ways.map((way) => toPossible(way, context.policy));
    found.push({ touch, folders, forms: [...forms, ...more], by, ...(isLost && { isLost }) });
  };
  for (const redirection of reading.redirections) {
    const { target, text, writes, reads, below } = redirection;
    const path = target?.value ?? HOLE.any;
    if (writes && text !== undefined) add({ path: text, access: 'write' }, redirection);
    if (reads) add({ path, access: 'read' }, redirection);
    if (writes) add({ path, access: 'write', ...(below && { below }) }, redirection);
  }
  for (const segment of reading.segments) {
    if (segment.role === 'remote' || segment.role === 'wrapper') continue;
    for (const touch of treesOfVariables(segment, reading)) add(touch, segment);
    const isCode = INTERPRETERS.test(basename(nameOf(segment)));
    for (const touch of factOf(segment).touches) {
      if (touch.ifThere === true && !placesOf(touch.path, segment.folders).some(context.isThere)) continue;
      if (touch.tree !== undefined && placesOf(touch.tree, segment.folders).every(isProject)) continue;
      // A path inside of a program is one that it opens; inside of other texts it may be just a word.
      const isMention = touch.access === 'text' && isCode;
      const plain = isDescriptor(touch.path) ? { path: touch.path, access: touch.access } : touch;
      add(isMention ? { ...touch, access: 'mention' } : plain, segment);
    }
  }
  return found;
}

/** `cd link && cat ../x`: the kernel goes up from where the link leads, and not from where it is. */
export const leavesLink = (
  path: string,
  folders: readonly string[] | undefined,
  { places, cwd, policy }: Pick<LineContext, 'places' | 'cwd' | 'policy'>,
): boolean => {
  if (!path.startsWith('.') || !/^(?:\.\/+)*\.\.(?![^/\uE005])/.test(path)) return false;
  // The folder that the session works in may be called by the name of a link itself.
  const isPlain = (folder: string): boolean =>
    [folder, ...policy.roots.map((root) => resolve(root, relative(cwd, folder)))].includes(places.get(folder) ?? '');
  return folders?.some((folder) => folder !== cwd && !isPlain(folder)) === true;
};

const TREE = /^GIT_(?:WORK_TREE|DIR|COMMON_DIR)$/;

/** Where git is told by variables what to take for its own: here, or wherever the line says in its own ways. */
function treesOfVariables(segment: Segment, { settings }: CommandReading): Touch[] {
  if (basename(nameOf(segment)) !== 'git') return [];
  const isSet = settings.some(({ name }) => TREE.test(name));
  if (!isSet && !segment.assignments.some((name) => TREE.test(name))) return [];
  const here: Touch = { path: '.', access: 'write', below: 'tree' };
  return isSet ? [here, { path: HOLE.any, access: 'write', isPossible: true }] : [here];
}

const foldsNames = ({ platform }: PermissionPolicy): boolean => platform === 'darwin' || platform === 'win32';

function toPossible(path: string, policy: PermissionPolicy): PathForm {
  const form = foldsNames(policy) ? path.toLowerCase() : path;
  return { path: form, key: hasHole(form) ? undefined : toPathKey(form), isPossible: true };
}

/** From each folder it may start in, as it is written and where links lead. */
function formsOf(
  { path, follows }: Touch,
  folders: readonly string[] | undefined,
  { places, linked, cwd, home, policy }: Pick<LineContext, 'places' | 'linked' | 'cwd' | 'home' | 'policy'>,
): PathForm[] {
  if (path === '' || path.length > 1_000) return [];
  if (/^[\uE000\uE001]/.test(path)) return [{ path: HOLE.any, key: undefined }];
  const written = path === '~' || path.startsWith('~/') ? home + path.slice(1) : withSlash(path);
  const absolute = written.startsWith('/')
    ? [resolveFrom('/', written)]
    : (folders?.map((folder) => resolveFrom(folder, written)) ?? [`${HOLE.any}/${written}`]);
  const forms: PathForm[] = [];
  const add = (form: string): void => void forms.push({ path: form, key: hasHole(form) ? undefined : toPathKey(form) });
  const folds = foldsNames(policy);
  const isPlain = !hasHole(written) && !written.includes('..');
  for (const each of isPlain ? [] : rawPaths(written, folders)) {
    const roots = rootsIn(each, undefined).flatMap((root) =>
      places.get(root) === root ? [] : (places.get(root) ?? []),
    );
    const reals = [...(linked.get(each) ?? []), ...roots, ...(climbsBack(each) ? [places.get(each) ?? ''] : [])];
    for (const real of reals) if (real !== '') add(folds ? real.toLowerCase() : real);
    if (each.split('/').some(mayBeParent)) {
      const climbed = resolve(
        each
          .split('/')
          .map((part) => (mayBeParent(part) ? '..' : part))
          .join('/'),
      );
      forms.push({ path: climbed, key: hasHole(climbed) ? undefined : toPathKey(climbed), isPossible: true });
    }
  }
  for (const each of follows === true ? rawPaths(path, folders) : []) {
    for (const real of linked.get(throughLinks(each)) ?? []) forms.push(toPossible(real, policy));
  }
  const isOpen =
    absolute.some(leadsAnywhere) ||
    (!isPlain &&
      (rawPaths(written, folders).some(leadsAnywhere) || leavesLink(written, folders, { places, cwd, policy })));
  if (isOpen) add(HOLE.any);
  for (const form of absolute) {
    const real = realForm(form, places);
    for (const each of real === undefined || real === form ? [form] : [form, real]) {
      add(folds ? each.toLowerCase() : each);
    }
  }
  return forms;
}

/** Of a path with a hole, when a link leads its folder elsewhere. */
function realForm(form: string, places: ReadonlyMap<string, string>): string | undefined {
  if (!hasHole(form)) return places.get(form);
  const [folder] = placesOf(form, undefined);
  const real = folder === undefined ? undefined : places.get(folder);
  return real === undefined || folder === undefined ? undefined : real + form.slice(folder === '/' ? 0 : folder.length);
}
