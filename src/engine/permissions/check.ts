import { win32 } from 'node:path';
import { isAbsolute, resolve } from 'node:path/posix';
import type { PermissionMode } from '../../protocol/index.js';
import { canonicalToolName, PERMISSION_MODES, TOOL_SCHEMAS } from '../../protocol/plain.js';
import { isToolOf } from '../agents/agent-tools.js';
import { asSentence } from '../settings/near-name.js';
import { findListFaults } from '../settings/rule-text.js';
import { findCaseFault } from './check-shape.js';
import { type CaseFiles, type CaseSetup, type LayerRules, readFiles, readLayers } from './check-setup.js';
import { commandAccesses, isPlainlyReadOnly } from './command.js';
import {
  type Decision,
  decidePermission,
  type JudgedAccess,
  type PermissionCall,
  type PermissionPolicy,
} from './decide.js';
import { lookAround } from './disk-look.js';
import { followPatterns, templatesOf } from './links.js';
import type { RuleLayer } from './layers.js';
import { toPosixPath } from './platform.js';
import { compileRules } from './rules/book.js';
import { EDIT_TOOLS, READ_TOOLS } from './rules/rule-index.js';
import { lookupsOf } from './seek.js';
import type { Seen } from './seen.js';

/** One case of `permissions check`: rules, files, and the call to judge. */
export interface PermissionCase {
  id?: unknown;
  setup?: CaseSetup;
  input?: Record<string, unknown>;
}

/** One line of its output. */
export interface CaseVerdict {
  id: unknown;
  verdict: Decision['verdict'] | 'error';
  rule: string | null;
  layer: string | null;
  segments: readonly string[];
  reason: string;
}

const STAGED = 'staged: an event, which a test must make happen';
const DEFAULT_HOME = '/home/user';

/** Judges a case as a session would, where nobody is there to be asked about plans. */
export function judgeCase(wanted: PermissionCase): CaseVerdict {
  const { id = null } = wanted;
  const fault = findCaseFault({ ...wanted });
  if (fault !== undefined) return { id, verdict: 'error', rule: null, layer: null, segments: [], reason: fault };
  const setup = atHome(withoutNull(wanted.setup));
  const input = withoutNull(wanted.input);
  const given = (input.then ?? input) as Record<string, unknown>;
  const tool = typeof given.tool === 'string' ? given.tool : undefined;
  const isStaged = tool === undefined || ['event', 'hook', 'sequence'].some((key) => key in given);
  if (isStaged) return { id, verdict: 'ask', rule: null, layer: null, segments: [], reason: STAGED };
  const project = (input.project_settings as { permissions?: LayerRules } | undefined)?.permissions;
  const files = readFiles(setup.fs, setup);
  const decision = decideCase({ tool: canonicalToolName(tool), given, setup, files, ...(project && { project }) });
  const doubt = findDoubt(files, { layers: readLayers(setup, project), tool });
  return {
    id,
    // What could not be read may have forbidden it.
    verdict: doubt !== undefined && decision.verdict === 'allow' ? 'ask' : decision.verdict,
    rule: decision.rule ?? null,
    layer: decision.layer ?? null,
    segments: decision.segments ?? [],
    reason: doubt === undefined ? decision.reason : `${asSentence(decision.reason)} But ${doubt}`,
  };
}

/** What a settings file would be refused for, and what is said of files in words that are not understood. */
function findDoubt(files: CaseFiles, { layers, tool }: { layers: RuleLayer[]; tool: string }): string | undefined {
  const [fact] = files.unread;
  if (fact !== undefined) return `setup.fs holds ${JSON.stringify(fact)}, which is not understood.`;
  for (const layer of layers) {
    for (const behavior of ['deny', 'ask'] as const) {
      for (const fault of findListFaults(layer[behavior] ?? [], behavior, [tool]).values()) {
        if (fault.severity === 'error') return `a rule under ${behavior} cannot be used: ${asSentence(fault.text)}`;
      }
    }
  }
  return undefined;
}

/** `~/repo` is a folder like others. */
function atHome({ home = DEFAULT_HOME, ...setup }: CaseSetup): CaseSetup {
  const expand = (path: string): string => path.replace(/^~(?=\/|$)/, home);
  const { cwd, settingsDir } = setup;
  return {
    ...setup,
    home,
    ...(cwd !== undefined && { cwd: expand(cwd) }),
    ...(settingsDir !== undefined && { settingsDir: expand(settingsDir) }),
  };
}

/** Null says nothing. */
const withoutNull = <T extends object>(table: T | null = null): T =>
  Object.fromEntries(Object.entries(table ?? {}).filter(([, value]) => value !== null)) as T;

interface Given {
  tool: string;
  given: Record<string, unknown>;
  setup: CaseSetup;
  files: CaseFiles;
  project?: LayerRules;
}

function decideCase({ tool, given, setup, files, project }: Given): Decision {
  const input = (given.input ?? given) as Record<string, unknown>;
  const policy = toPolicy(setup, { files, ...(project && { project }) });
  const stray = given.input === undefined ? undefined : strayField(tool, input);
  if (stray !== undefined)
    return refuse(`${tool} has no field ${stray}: what an input says of permissions counts for nothing`, 'ask');
  const left = toolsOf(given.agent);
  if (left !== undefined && !isToolOf({ tools: left })(tool)) return refuse(`The agent has no tool ${tool}`, 'deny');
  const place = { cwd: policy.cwd, home: policy.home, files, platform: policy.platform };
  const { command } = input;
  const approved = setup.approved?.[tool];
  const call: PermissionCall = {
    tool,
    input,
    readOnly: READ_TOOLS.has(tool) || (typeof command === 'string' && isPlainlyReadOnly(command)),
    edits: EDIT_TOOLS.has(tool),
    accesses: accessesOf(tool, input, place),
    ...(typeof command === 'string' && { command }),
    ...(approved !== undefined && given.definition !== undefined && approved !== given.definition && { changed: true }),
  };
  const decision = decidePermission(tool === 'Bash' ? { ...call, seen: seenBy(call, policy, files) } : call, policy);
  if (decision.verdict === 'allow' && files.swapped !== undefined && (READ_TOOLS.has(tool) || EDIT_TOOLS.has(tool))) {
    return refuse('The file is not the one that was judged: a link was put in its place', 'deny');
  }
  // While a plan is made, what changes something is put to a person; here there is none.
  const isPlan = policy.mode === 'plan' && decision.verdict === 'ask' && decision.reasonType === 'mode';
  return isPlan ? { ...decision, verdict: 'deny' } : decision;
}

const refuse = (reason: string, verdict: 'ask' | 'deny'): Decision => ({ verdict, reason, reasonType: 'other' });

function toPolicy(setup: CaseSetup, { files, project }: { files: CaseFiles; project?: LayerRules }): PermissionPolicy {
  const { cwd = '/', home = DEFAULT_HOME, trusted = true, additionalDirectories = [], platform, privateHosts } = setup;
  const mode = PERMISSION_MODES.find((each) => each === setup.mode) ?? ('default' satisfies PermissionMode);
  const options = { home, ...(platform !== undefined && { platform }) };
  const layers = readLayers(setup, project);
  // Once to learn where rules begin, once more with where these places really are.
  const { folders } = compileRules(layers, options);
  const links = new Map(folders.map((folder) => [folder, files.realPath(folder)]));
  return {
    mode,
    book: compileRules(layers, { ...options, links }),
    roots: [cwd, ...additionalDirectories].map((folder) =>
      files.realPath(toPosixPath(resolveFrom(cwd, folder.replace(/^~(?=\/|$)/, home)))),
    ),
    home,
    cwd,
    trusted,
    ...(platform !== undefined && { platform }),
    ...(privateHosts !== undefined && { privateHosts }),
  };
}

const resolveFrom = (cwd: string, path: string): string => (/^[A-Za-z]:|^\\/.test(path) ? path : resolve(cwd, path));

/** A field that the tool does not have. */
function strayField(tool: string, input: Record<string, unknown>): string | undefined {
  const schemas: Readonly<Record<string, { properties?: Record<string, unknown> }>> = TOOL_SCHEMAS;
  const known = schemas[tool]?.properties;
  return known && Object.keys(input).find((key) => !Object.hasOwn(known, key));
}

/** `reviewer tools:[Read,Grep]`: an agent may have fewer tools than the session. */
function toolsOf(agent: unknown): string[] | undefined {
  const list = typeof agent === 'string' ? /\btools:\s*\[([^\]]*)\]/.exec(agent)?.[1] : undefined;
  return list?.split(',');
}

interface Place {
  cwd: string;
  home: string;
  files: CaseFiles;
  platform: string | undefined;
}

function accessesOf(tool: string, input: Record<string, unknown>, place: Place): JudgedAccess[] {
  const { cwd, home, files } = place;
  if (tool === 'Bash') {
    if (typeof input.command !== 'string') return [];
    const named = commandAccesses(input.command, cwd, home).map(({ path, access }) => ({
      path: files.realPath(path),
      given: path,
      access,
      ...(!files.isMissing(path) && { kind: 'file' as const }),
    }));
    return [...named, ...linkedBy(input.command, place)];
  }
  const text = (field: string): string | undefined => (typeof input[field] === 'string' ? input[field] : undefined);
  if (tool === 'Glob') return toAccesses(folderOf(text('pattern') ?? '', text('path')), { ...place, access: 'read' });
  if (READ_TOOLS.has(tool) || EDIT_TOOLS.has(tool)) {
    const path =
      text('file_path') ??
      text('notebook_path') ??
      text('path') ??
      (tool === 'Grep' || tool === 'LS' ? '.' : undefined);
    const access = EDIT_TOOLS.has(tool) ? 'write' : 'read';
    // Plain folders in front of a glob are the folder that Grep searches.
    const glob = tool === 'Grep' ? text('glob') : undefined;
    const inner = glob === undefined || glob.startsWith('!') ? [] : [folderOf(glob, path)];
    return path === undefined ? [] : [path, ...inner].flatMap((each) => toAccesses(each, { ...place, access }));
  }
  return [];
}

/** Where the links of a case lead that the patterns of a line match. */
function linkedBy(command: string, { cwd, home, files }: Place): JudgedAccess[] {
  const walk = followPatterns(templatesOf(command, { cwd, home }));
  const tracked = { entries: files.tracked.map((name) => ({ name, kind: 'file' as const })) };
  let step = walk.next();
  while (!step.done) {
    const { folders, links } = step.value;
    step = walk.next({ entries: folders.map(files.list), reals: links.map(files.realPath), tracked });
  }
  return step.value.map(({ path, real, matches }) => ({ path: real, given: path, access: 'read', matches }));
}

/** A repository that no fact names is not there; of other files a case says too little. */
function seenBy(call: PermissionCall, policy: PermissionPolicy, files: CaseFiles): Seen[] {
  const lookups = lookupsOf(call, policy).filter(({ how }) => how === 'repository');
  const walk = lookAround(lookups, policy.roots);
  let step = walk.next();
  while (!step.done) step = walk.next({ entries: step.value.folders.map(files.list), reals: [] });
  return step.value;
}

/** The folder that a pattern of names starts in. */
function folderOf(pattern: string, path = '.'): string {
  const literal = /^[^*?[{]*/.exec(pattern)?.[0] ?? '';
  const folder = literal === pattern ? pattern : literal.slice(0, literal.lastIndexOf('/') + 1);
  return isAbsolute(folder) ? folder : `${path}/${folder}`;
}

/** Where a path leads: by its text, as tools take it, and as the system would follow it. */
function toAccesses(
  path: string,
  { cwd, home, files, platform, access }: Place & { access: 'read' | 'write' },
): JudgedAccess[] {
  if (platform === 'win32') return [{ path: win32.resolve(cwd, path.replace(/^~(?=[\\/]|$)/, home)), access }];
  const written = path.startsWith('~/') ? home + path.slice(1) : path.replace(/^file:\/\/(?:localhost)?(?=\/)/, '');
  const raw = isAbsolute(written) ? written : `${cwd}/${written}`;
  const given = resolve(raw);
  const places = new Set([files.realPath(given), files.realPath(raw)]);
  const names = [...places].flatMap((place) => [place, ...files.otherNames(place)]);
  const kind = files.kind(given);
  return names.map((name) => ({ path: name, given, access, ...(kind !== undefined && { kind }) }));
}
