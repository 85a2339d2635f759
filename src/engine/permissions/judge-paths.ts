import { resolve } from 'node:path';
import { isKernelPath, isProtected, isWithinRoots } from './path.js';
import { isWindowsDevice, SHORT_NAME, toPosixPath, toWindowsName } from './platform.js';
import type { JudgedAccess, PermissionCall, PermissionPolicy } from './policy.js';
import type { PathIndex } from './rules/path-index.js';
import { globsBelow } from './rules/path-pattern.js';
import { type CompiledRule, EDIT_TOOLS, READ_TOOLS, type RuleIndex } from './rules/rule-index.js';
import { HOLE } from './shell/hole.js';

/** The path rule of one behaviour that a call of a file tool falls under, and where. */
export interface PathHit {
  rule: CompiledRule;
  path: string;
}

/** Input fields by which tools that we do not know name files. */
const PATH_FIELDS = ['file_path', 'notebook_path', 'path'];

/** Every place that may be read without asking. */
export const readableIn = ({ roots, readable = [], plan }: PermissionPolicy): readonly string[] => [
  ...roots,
  ...readable,
  ...(plan === undefined ? [] : [plan.file]),
];

/** What a call touches; of a tool that does not say so itself, what its input names. */
export function accessesOf(call: PermissionCall, policy: PermissionPolicy): readonly JudgedAccess[] {
  if (call.accesses.length > 0 || call.command !== undefined || call.tool.startsWith('mcp__')) return call.accesses;
  const access = call.readOnly ? 'read' : 'write';
  return PATH_FIELDS.flatMap((field) => {
    const value = call.input[field];
    if (typeof value !== 'string' || value === '') return [];
    const path = value.startsWith('~/') ? policy.home + value.slice(1) : value;
    return [{ path: policy.platform === 'win32' ? path : resolve(policy.cwd, path), access }];
  });
}

/** A deny of reading covers every use of a file, one of editing only changes. */
export function findPathHit(rules: RuleIndex, call: PermissionCall, policy: PermissionPolicy): PathHit | undefined {
  const own = rules.ownPaths(call.tool);
  if (!rules.judgesPaths && own === undefined) return undefined;
  const isReader = READ_TOOLS.has(call.tool);
  for (const access of accessesOf(call, policy)) {
    const whole = rules.wholeRead ?? (access.access === 'write' && !isReader ? rules.wholeEdit : undefined);
    if (whole !== undefined) return { rule: whole, path: access.given ?? access.path };
    const indexes = [
      rules.reads,
      ...(access.access === 'write' && !isReader ? [rules.edits] : []),
      ...(own === undefined ? [] : [own]),
    ];
    for (const form of formsOf(access, policy)) {
      for (const index of indexes) {
        const rule = look(index, form);
        if (rule !== undefined) return { rule, path: access.given ?? access.path };
      }
    }
  }
  return undefined;
}

const look = (index: PathIndex<CompiledRule>, form: string): CompiledRule | undefined =>
  form.includes(HOLE.star) ? index.findPossible(form) : index.find(form);

/** A path as rules may know it: as it was given and where links lead; on Windows under every name it has. */
function formsOf({ path, given }: JudgedAccess, { platform }: PermissionPolicy): string[] {
  const both = given === undefined || given === path ? [path] : [path, given];
  if (platform === 'win32') return [...new Set(both.flatMap(windowsForms))];
  return platform === 'darwin' ? both.map((each) => each.normalize('NFC').toLowerCase()) : both;
}

function windowsForms(path: string): string[] {
  const posix = toPosixPath(path).toLowerCase();
  const plain = toWindowsName(posix);
  const names = plain.split('/');
  if (!names.some((name) => SHORT_NAME.test(name))) return [posix, plain];
  const widen = (dot: string): string =>
    names.map((name) => name.replace(SHORT_NAME, `${dot}$1${HOLE.star}`)).join('/');
  return [posix, plain, widen(''), widen('.')];
}

/** True for what decides what may run; on Windows also for a short name, which may be that of such a file. */
export const isGuarded = (path: string, policy: PermissionPolicy): boolean =>
  isProtected(toComparable(path, policy), ownPlacesOf(policy)) ||
  (policy.platform === 'win32' &&
    toPosixPath(path)
      .split('/')
      .some((name) => SHORT_NAME.test(name)));

/** Where the session's settings are, as paths are compared. */
export function ownPlacesOf(policy: PermissionPolicy): readonly string[] {
  const { ownPlaces = [], platform } = policy;
  if (platform === 'win32') return ownPlaces.map((place) => toComparable(place, policy));
  return platform === 'darwin' ? ownPlaces.map((place) => place.toLowerCase()) : ownPlaces;
}

export const toComparable = (path: string, { platform }: PermissionPolicy): string =>
  platform === 'win32' ? toWindowsName(toPosixPath(path)).toLowerCase() : path;

/** Why a path cannot be opened at all. */
export function findUnusable(call: PermissionCall, policy: PermissionPolicy): string | undefined {
  for (const access of accessesOf(call, policy)) {
    for (const path of [access.path, access.given ?? access.path]) {
      if (path.includes('\0')) return 'The path holds a NUL character';
      if (isDevice(path, policy)) return `${path} is a device, not a file`;
    }
    if (access.kind === 'other') return `${access.given ?? access.path} is a device, pipe or socket, not a file`;
  }
  return undefined;
}

function isDevice(path: string, { platform }: PermissionPolicy): boolean {
  if (platform === 'win32') return isWindowsDevice(toPosixPath(path));
  return (
    /^\/dev\/(?!shm\/|null$)/.test(path) ||
    /^\/proc\/(?:self|\d+|thread-self)\/(?:fd\/|mem$)|^\/proc\/(?:kcore|kmsg|sysrq-trigger)$/.test(path)
  );
}

/** Whoever writes so does not mean a folder of that name. */
const MEANS_ELSEWHERE = /^~|^\$[A-Za-z_{]|^%[A-Za-z_]+%|^file:/;

/** The first place outside of the folders. */
export function outsideOf(
  call: PermissionCall,
  policy: PermissionPolicy,
  roots: readonly string[],
): string | undefined {
  const open = roots.map((root) => toComparable(root, policy));
  const meant = PATH_FIELDS.map((field) => call.input[field]).find(
    (value) => typeof value === 'string' && MEANS_ELSEWHERE.test(value),
  );
  if (typeof meant === 'string') return meant;
  return accessesOf(call, policy).find(({ path }) => !isWithinRoots(toComparable(path, policy), open))?.path;
}

/** The rule that allows every place of a call; undefined when one is left. */
export function findPathGrant(call: PermissionCall, policy: PermissionPolicy): CompiledRule | undefined {
  const { allow } = policy.book;
  const own = allow.ownPaths(call.tool);
  let found: CompiledRule | undefined;
  for (const access of accessesOf(call, policy)) {
    const isWrite = access.access === 'write' || EDIT_TOOLS.has(call.tool);
    // Only where it really is: a link must not lead out of what was allowed.
    const form = toComparable(access.path, policy);
    found = (isWrite ? allow.edits : allow.reads).find(form) ?? own?.find(form);
    // A rule for everything does not mean the kernel.
    if (found === undefined || (isKernelPath(form) && !/\/(?:proc|sys|dev)\b/.test(found.text))) return undefined;
  }
  return found;
}

/** What a search below its folders must leave out. */
export function exclusionsOf(call: PermissionCall, policy: PermissionPolicy): string[] {
  const indexes = [policy.book.deny.reads, policy.book.deny.ownPaths(call.tool)];
  const found = new Set<string>();
  for (const access of accessesOf(call, policy)) {
    for (const form of formsOf(access, policy)) {
      const patterns = indexes.flatMap((index) => index?.below(form) ?? []);
      for (const { pattern } of patterns) for (const glob of globsBelow(pattern, form, access.path)) found.add(glob);
    }
  }
  return [...found];
}
