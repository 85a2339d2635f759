import type { PermissionMode, PermissionUpdate, ToolAccess } from '../../protocol/index.js';
import { canonicalToolName } from '../../protocol/plain.js';
import { isPlainlyReadOnly, parseCommand, plainFileChange, readTargets } from './command.js';
import { climbsOut, isProtected, isWithinRoots } from './path.js';
import { allowsTool, deniesTool, parseRule, type Rule } from './rule.js';
import { suggestForCommand, suggestForEdit, suggestForRead, suggestForTool } from './suggest.js';

/** A call as it is judged: its input is parsed and the links in its paths are resolved. */
export interface PermissionCall {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** What the tool says of this very call. */
  readOnly: boolean;
  /** The tool changes files through the workspace. */
  edits: boolean;
  /** Every path the call touches; for a shell line those of `commandAccesses`. */
  accesses: readonly ToolAccess[];
  /** The shell line of a Bash call; of other tools it is not looked at. */
  command?: string;
  /** The tool belongs to an MCP server. */
  mcp?: boolean;
}

export interface PermissionPolicy {
  mode: PermissionMode;
  allowedTools: readonly string[];
  disallowedTools: readonly string[];
  /** Tools whose every call is asked about. */
  askedTools?: readonly string[];
  /** Folders that may be used without asking, links resolved. */
  roots: readonly string[];
  /** Where the session keeps output that is too long to show: its calls may read there. */
  ownFolder?: string;
}

export interface Decision {
  verdict: 'allow' | 'deny' | 'ask';
  /** For the person who is asked, and for the model when nobody can be. */
  reason: string;
  reasonType: 'mode' | 'rule' | 'workingDir' | 'hook' | 'other';
  /** The entry that decided. */
  rule?: string;
  blockedPath?: string;
  /** What an answer may carry so that the same is not asked again. */
  suggestions?: PermissionUpdate[];
}

/** They are questions to a person; no mode and no rule can answer them. */
const INTERACTIONS = new Set(['AskUserQuestion', 'ExitPlanMode']);

/** They change nothing but the session; what an agent does is judged call by call. */
const SESSION_TOOLS = new Set([
  'Task',
  'TaskOutput',
  'TaskStop',
  'TaskCreate',
  'TaskUpdate',
  'TaskList',
  'TaskGet',
  'TodoWrite',
  'ToolSearch',
  'StructuredOutput',
]);

/** They change nothing here, but what they ask for leaves the machine. */
const OUTREACH = new Set(['WebFetch', 'WebSearch']);

const FILE_READERS = new Set(['Read', 'Grep', 'Glob']);
const FILE_EDITORS = new Set(['Edit', 'Write', 'NotebookEdit', 'MultiEdit']);

/** Allow, deny or ask, from the call and the policy alone. What is not known to be harmless is asked. */
export function decidePermission(given: PermissionCall, policy: PermissionPolicy): Decision {
  const tool = canonicalToolName(given.tool);
  const call = { ...given, tool, command: tool === 'Bash' ? given.command : undefined };
  const decision = judge(call, policy);
  if (decision.verdict !== 'ask' || policy.mode !== 'dontAsk' || INTERACTIONS.has(tool)) return decision;
  const { suggestions: _, ...known } = decision;
  const reason = `Permission to use ${tool} has been denied because Heddle is running in don't ask mode`;
  return { ...known, verdict: 'deny', reason: `${reason} (${decision.reason}).`, reasonType: 'mode' };
}

function judge(call: PermissionCall, policy: PermissionPolicy): Decision {
  const denying = policy.disallowedTools.map(parseRule);
  const denied = denying.find((rule) => rule.specifier === undefined && deniesTool(rule, call.tool));
  if (denied) return { verdict: 'deny', reason: `Permission to use ${call.tool} has been denied.`, ...by(denied) };
  if (INTERACTIONS.has(call.tool)) return ask(`${call.tool} needs an answer from a person`);
  const asking = (policy.askedTools ?? []).map(parseRule);
  const unjudged = [...denying, ...asking].find((rule) => rule.specifier !== undefined && mayConcern(rule, call));
  if (unjudged) {
    const reason = `The rule ${unjudged.text} cannot be judged yet, so every call it may be about needs approval`;
    return { verdict: 'ask', reason, ...by(unjudged) };
  }
  const asked = asking.find((rule) => deniesTool(rule, call.tool));
  if (asked) return { verdict: 'ask', reason: `The rule ${asked.text} asks about every call`, ...by(asked) };
  const guarded = protectedWrite(call);
  if (policy.mode === 'bypassPermissions' && guarded === undefined) {
    return allow('Every call is allowed in this mode', 'mode');
  }
  if (!isMcp(call) && SESSION_TOOLS.has(call.tool)) return allow('It changes nothing but the session', 'other');
  if (policy.mode === 'delegate' && call.tool !== 'EnterPlanMode') {
    const reason = `Cannot use ${call.tool} while in delegate mode: only planning, asking and agents are open.`;
    return { verdict: 'deny', reason, reasonType: 'mode' };
  }
  const allowing = policy.allowedTools.map(parseRule);
  if (policy.mode === 'plan') {
    return isReadOnlyCall(call) ? judgeRead(call, policy, allowing) : askInPlanMode(call, policy);
  }
  if (guarded !== undefined) {
    const reason = `${guarded} decides what may run, so changing it needs approval`;
    return { ...ask(reason), blockedPath: guarded };
  }
  const allowed = allowing.find((rule) => allowsCall(rule, call));
  if (allowed) return { verdict: 'allow', reason: `Allowed by ${allowed.text}`, ...by(allowed) };
  if (isReadOnlyCall(call)) return judgeRead(call, policy, allowing);
  if (policy.mode === 'acceptEdits' && isPlainEdit(call) && outsideOf(call, policy.roots) === undefined) {
    return allow('Edits in the working directories are accepted in this mode', 'mode');
  }
  return askToChange(call, policy);
}

const allow = (reason: string, reasonType: Decision['reasonType']): Decision => ({
  verdict: 'allow',
  reason,
  reasonType,
});

const ask = (reason: string): Decision => ({ verdict: 'ask', reason, reasonType: 'other' });

const by = (rule: Rule) => ({ reasonType: 'rule' as const, rule: rule.text });

const isMcp = (call: PermissionCall): boolean => call.mcp === true || call.tool.startsWith('mcp__');

const isWrite = ({ access }: ToolAccess): boolean => access === 'write';

/** A path rule binds whatever touches files: a shell reads what Read may not, and an edit begins with reading. */
function mayConcern(rule: Rule, call: PermissionCall): boolean {
  if (deniesTool(rule, call.tool)) return true;
  const runsCommand = call.command !== undefined;
  if (FILE_READERS.has(rule.tool)) return runsCommand || call.accesses.length > 0 || FILE_READERS.has(call.tool);
  if (!FILE_EDITORS.has(rule.tool)) return false;
  return call.edits || call.accesses.some(isWrite) || (runsCommand && !isReadOnlyCall(call));
}

/** Beyond whole tools only the exact command is understood; a prefix or a pattern allows nothing yet. */
function allowsCall(rule: Rule, call: PermissionCall): boolean {
  // A server may call its tool `Bash`; rules for built-in tools are not about that one.
  if (call.mcp === true && !call.tool.startsWith('mcp__')) return false;
  if (rule.specifier === undefined) return allowsTool(rule, call.tool);
  const isExact = !rule.specifier.includes('*') && rule.specifier !== '';
  return isExact && rule.tool === 'Bash' && call.tool === 'Bash' && call.command === rule.specifier;
}

/** Not what an MCP server says of itself, nor a shell line whose paths we were not given. */
function isReadOnlyCall(call: PermissionCall): boolean {
  if (!call.readOnly || isMcp(call) || OUTREACH.has(call.tool) || call.accesses.some(isWrite)) return false;
  if (call.command === undefined) return call.tool !== 'Bash';
  return isPlainlyReadOnly(call.command) && call.accesses.length >= readTargets(call.command).length;
}

function judgeRead(call: PermissionCall, policy: PermissionPolicy, allowing: readonly Rule[]): Decision {
  const own = policy.ownFolder === undefined ? [] : [policy.ownFolder];
  const roots = [...policy.roots, ...own, ...allowing.flatMap(readableFolder)];
  const outside = outsideOf(call, roots);
  const { pattern } = call.input;
  const isClimbing = call.tool === 'Glob' && typeof pattern === 'string' && climbsOut(pattern, roots);
  if (outside === undefined && !isClimbing) return allow('It only reads, inside the working directories', 'workingDir');
  return {
    verdict: 'ask',
    reason: 'Path is outside allowed working directories',
    reasonType: 'workingDir',
    ...(call.command !== undefined && outside !== undefined && { blockedPath: outside }),
    ...withSuggestions(
      call.command !== undefined ? suggestForCommand(call.command) : suggestForRead(call.tool, outside),
    ),
  };
}

/** The folder of a rule `Read(//folder/**)`, the one form with a path that is understood: we suggest it. */
function readableFolder({ tool, specifier }: Rule): string[] {
  const folder = /^\/(\/[^*?[\]{}!\\]+)\/\*\*$/.exec(specifier ?? '')?.[1];
  return tool === 'Read' && folder !== undefined && !folder.split('/').includes('..') ? [folder] : [];
}

const outsideOf = (call: PermissionCall, roots: readonly string[]): string | undefined =>
  call.accesses.find(({ path }) => !isWithinRoots(path, roots))?.path;

function protectedWrite(call: PermissionCall): string | undefined {
  const written = call.accesses.filter(isWrite).map(({ path }) => path);
  const redirected =
    call.command === undefined
      ? []
      : parseCommand(call.command).redirections.flatMap(({ writes, target }) => (writes && target ? target.value : []));
  return [...written, ...redirected].find(isProtected);
}

/** An edit whose every place is known. Protected places were asked about before. */
function isPlainEdit(call: PermissionCall): boolean {
  const writes = call.accesses.filter(isWrite);
  if (call.command === undefined) return call.edits && writes.length > 0;
  const changed = plainFileChange(call.command);
  return changed !== undefined && writes.length >= changed.length;
}

function askInPlanMode(call: PermissionCall, policy: PermissionPolicy): Decision {
  const path = call.accesses.find(isWrite)?.path;
  const what =
    call.command !== undefined
      ? 'run this command'
      : call.edits && path !== undefined
        ? `write to ${path}`
        : `use ${call.tool}`;
  return { ...askToChange(call, policy), reason: `Cannot ${what} while in plan mode.`, reasonType: 'mode' };
}

function askToChange(call: PermissionCall, { mode, roots }: PermissionPolicy): Decision {
  const path = call.accesses.find(isWrite)?.path;
  const outside = outsideOf(call, roots);
  if (isPlainEdit(call) && path !== undefined) {
    const place = outside ?? path;
    const isCommand = call.command !== undefined;
    return {
      verdict: 'ask',
      reason: outside === undefined ? `Writing to ${place} needs approval` : OUTSIDE_WRITE,
      reasonType: outside === undefined ? 'other' : 'workingDir',
      ...((isCommand || outside !== undefined) && { blockedPath: place }),
      ...withSuggestions(suggestForEdit({ mode, path: place, addsDirectory: isCommand || outside !== undefined })),
    };
  }
  if (call.command !== undefined) {
    return { ...ask(reasonForCommand(call.command)), ...withSuggestions(suggestForCommand(call.command)) };
  }
  return { ...ask(`${call.tool} requires approval`), ...withSuggestions(suggestForTool(call.tool)) };
}

const OUTSIDE_WRITE = 'Path to write is outside allowed working directories';

function reasonForCommand(command: string): string {
  const { opaque, reason, syntax } = parseCommand(command);
  if (opaque) return `This command can't be checked before it runs: ${reason ?? 'it could not be read'}`;
  const hasVariable = syntax.has('SimpleExpansion') || syntax.has('ParameterExpansion');
  return hasVariable ? "A variable in this command can't be checked before it runs" : 'This command requires approval';
}

const withSuggestions = (suggestions: PermissionUpdate[]): { suggestions?: PermissionUpdate[] } =>
  suggestions.length === 0 ? {} : { suggestions };
