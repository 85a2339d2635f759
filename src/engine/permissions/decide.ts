import { canonicalToolName } from '../../protocol/plain.js';
import { mcpToolName } from '../mcp/names.js';
import { askToChange, withSuggestions } from './ask.js';
import { allow, ask, because, by, type Case, isPlainEdit } from './case.js';
import { showCommand, showReason } from './show.js';
import { guardLine, judgeLine, showSegments } from './decide-command.js';
import { findHit } from './judge-command.js';
import {
  accessesOf,
  exclusionsOf,
  findPathGrant,
  findPathHit,
  findUnusable,
  isGuarded,
  outsideOf,
  readableIn,
} from './judge-paths.js';
import { climbsOut, isKernelPath, makesRepository } from './path.js';
import { isShare } from './platform.js';
import { type Decision, isSilent, type PermissionCall, type PermissionPolicy } from './policy.js';
import { type CompiledRule, EDIT_TOOLS, READ_TOOLS, type RuleIndex } from './rules/rule-index.js';
import { suggestForCommand, suggestForRead } from './suggest.js';
import { readWebTarget, type WebTarget } from './web.js';

export type { Decision, JudgedAccess, PermissionCall, PermissionPolicy } from './policy.js';

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

export const SEARCHERS: ReadonlySet<string> = new Set(['Grep', 'Glob', 'LS']);

/** Only a person has the answer, or whoever speaks in the name of one. */
export const isInteraction = (tool: string): boolean => INTERACTIONS.has(canonicalToolName(tool));

/** Allow, deny or ask, from the call and the policy alone. What is not known to be harmless is asked. */
export function decidePermission(given: PermissionCall, policy: PermissionPolicy): Decision {
  const subject = toCase(given, policy);
  const { line } = subject;
  const decision = judge(subject);
  const shown = {
    ...decision,
    reason: showReason(decision.reason),
    ...(decision.verdict !== 'deny' && exclusions(subject)),
    ...(line && { segments: showSegments(line.reading) }),
  };
  if (decision.verdict !== 'ask' || !isSilent(policy) || INTERACTIONS.has(subject.call.tool)) return shown;
  const { suggestions: _, ...known } = shown;
  const reason = `Permission to use ${canonicalToolName(given.tool)} has been denied because Heddle is running in don't ask mode`;
  return { ...known, verdict: 'deny', reason: `${reason} (${shown.reason}).`, reasonType: 'mode' };
}

/** A call with all that is found out about it once. */
export function toCase(given: PermissionCall, policy: PermissionPolicy): Case {
  const tool = canonicalToolName(given.tool);
  // A server may call its tool `Bash`; rules and modes for built-in tools are not about that one.
  const isOurs = given.mcp !== true || tool.startsWith('mcp__');
  const call = {
    ...given,
    tool: isOurs ? tool : `mcp__?__${tool}`,
    command: tool === 'Bash' && isOurs ? given.command : undefined,
  };
  const line = call.command === undefined ? undefined : judgeLine(call.command, call, policy);
  return { call, policy, ...(line && { line }), web: webOf(call, policy) };
}

function judge(subject: Case): Decision {
  const { call, policy } = subject;
  return (
    forbid(subject) ??
    (INTERACTIONS.has(call.tool) ? ask(`${call.tool} needs an answer from a person`) : undefined) ??
    delegate(subject) ??
    demand(subject) ??
    (SESSION_TOOLS.has(call.tool) ? allow('It changes nothing but the session', 'other') : undefined) ??
    guard(subject) ??
    (policy.mode === 'bypassPermissions' ? allow('Every call is allowed in this mode', 'mode') : undefined) ??
    (policy.mode === 'plan' ? plan(subject) : undefined) ??
    grant(subject) ??
    judgeRead(subject) ??
    acceptEdit(subject) ??
    askToChange(subject)
  );
}

/** What a rule of any layer denies, and what cannot be done at all. */
function forbid(subject: Case): Decision | undefined {
  const { call, policy, line, web } = subject;
  const { deny } = policy.book;
  const denied = deny.tool(call.tool) ?? namedRule(deny, call) ?? serverRule(deny, call);
  if (denied !== undefined) return denyBy(denied, `Permission to use ${call.tool} has been denied.`);
  if (line !== undefined) {
    const hit = line.denied();
    if (hit?.isCertain === true) {
      const blocked = hit.path === undefined ? {} : { blockedPath: hit.path };
      return {
        ...denyBy(hit.rule, `Permission to use Bash with command ${showCommand(line.reading.line)} has been denied.`),
        ...blocked,
      };
    }
  } else {
    const unusable = findUnusable(call, policy);
    if (unusable !== undefined && (READ_TOOLS.has(call.tool) || call.edits || unusable.includes('NUL'))) {
      return { verdict: 'deny', reason: `${unusable}.`, reasonType: 'other' };
    }
    const hit = findPathHit(deny, call, policy);
    if (hit !== undefined) {
      const text = `Permission to use ${call.tool} on ${hit.path} has been denied: it is in a place that your permission settings deny.`;
      return { ...denyBy(hit.rule, text), blockedPath: hit.path };
    }
  }
  for (const target of web) {
    if (target.refusal !== undefined) return { verdict: 'deny', reason: `${target.refusal}.`, reasonType: 'other' };
    const rule = deny.host(target.host);
    if (rule !== undefined) return denyBy(rule, `Permission to fetch from ${target.host} has been denied.`);
  }
  return undefined;
}

const denyBy = (rule: CompiledRule, text: string): Decision => ({
  verdict: 'deny',
  reason: `${text.replace(/\.$/, '')}${because(rule)}.`,
  ...by(rule),
});

/** A rule about an agent, a skill, a setting, a server, by its name. */
export function namedRule(rules: RuleIndex, { tool, input }: PermissionCall): CompiledRule | undefined {
  for (const field of ['subagent_type', 'skill', 'command', 'setting', 'uri', 'server']) {
    const value = input[field];
    const rule = typeof value === 'string' ? rules.name(tool, value.replace(/^\//, '')) : undefined;
    if (rule !== undefined) return rule;
  }
  return tool === 'Task' && input.subagent_type === undefined ? rules.name(tool, 'general-purpose') : undefined;
}

/** Tools of ours that do something with a server, which their input names. */
const SERVER_TOOLS: ReadonlySet<string> = new Set(['ListMcpResourcesTool', 'ReadMcpResourceTool', 'McpSampling']);

/** A rule that forbids everything of a server forbids what is had of it by other ways than its tools. */
function serverRule(rules: RuleIndex, { tool, input: { server } }: PermissionCall): CompiledRule | undefined {
  return SERVER_TOOLS.has(tool) && typeof server === 'string' ? rules.tool(mcpToolName(server, '')) : undefined;
}

/** What a rule asks about, and what a rule that denies may be about. */
function demand(subject: Case): Decision | undefined {
  const { call, policy, line, web } = subject;
  const { deny, ask: asking } = policy.book;
  const askBy = (rule: CompiledRule, text: string): Decision => ({
    verdict: 'ask',
    reason: `${text}${because(rule)}`,
    ...by(rule),
  });
  const broken = [...deny.broken, ...asking.broken].find((rule) => mayConcern(rule, subject));
  if (broken !== undefined)
    return askBy(broken, `The rule ${broken.text} cannot be read, so every call it may be about needs approval`);
  if (line !== undefined) {
    const possible = line.denied();
    if (possible !== undefined)
      return askBy(
        possible.rule,
        `The rule ${possible.rule.text} may be about ${showShort(possible.about)}, which is only known when it runs`,
      );
    const hit = findHit(asking, line);
    if (hit !== undefined)
      return {
        ...askBy(hit.rule, `The rule ${hit.rule.text} asks about this`),
        ...(hit.path !== undefined && { blockedPath: hit.path }),
      };
    const hidden = isWatched(policy) && policy.mode === 'bypassPermissions' ? line.hidden() : undefined;
    if (hidden !== undefined)
      return ask(`There are rules about commands, and this one can't be checked before it runs: ${hidden}`);
  }
  const asked = asking.tool(call.tool) ?? namedRule(asking, call) ?? serverRule(asking, call);
  if (asked !== undefined) return askBy(asked, `The rule ${asked.text} asks about every call`);
  const hit = line === undefined ? findPathHit(asking, call, policy) : undefined;
  if (hit !== undefined)
    return { ...askBy(hit.rule, `The rule ${hit.rule.text} asks about this place`), blockedPath: hit.path };
  if (SEARCHERS.has(call.tool) && asking.judgesPaths) {
    const below = accessesOf(call, policy).flatMap(({ path }) => asking.reads.below(path))[0];
    if (below !== undefined) return askBy(below.rule, `The rule ${below.rule.text} asks about a place in there`);
  }
  for (const { host } of web) {
    const rule = asking.host(host);
    if (rule !== undefined) return askBy(rule, `The rule ${rule.text} asks about ${host}`);
  }
  return undefined;
}

const showShort = (text: string): string =>
  (text.length > 80 ? `${text.slice(0, 79)}\u2026` : text).replace(/[\uE000-\uE005]/g, '\u2026');

/** A path rule binds whatever touches files: a shell reads what Read may not, and an edit begins with reading. */
function mayConcern(rule: CompiledRule, { call, policy, line }: Case): boolean {
  if (rule.tool === '*' || rule.tool === call.tool) return true;
  const touches = accessesOf(call, policy);
  if (READ_TOOLS.has(rule.tool)) return line !== undefined || touches.length > 0 || READ_TOOLS.has(call.tool);
  if (!EDIT_TOOLS.has(rule.tool)) return false;
  return (
    call.edits ||
    touches.some(({ access }) => access === 'write') ||
    (line !== undefined && !isReadOnlyCall({ call, policy, line, web: [] }))
  );
}

/** What needs a person in every mode. */
function guard({ call, policy, line, web }: Case): Decision | undefined {
  const disables = call.tool === 'Bash' && call.input.dangerouslyDisableSandbox === true;
  if (disables && (policy.sandboxed !== undefined || policy.mode !== 'bypassPermissions'))
    return ask('It would run outside of the sandbox');
  for (const { doubt, host } of web) if (doubt !== undefined) return ask(`${doubt} (${host})`);
  const unknown = call.accesses.find(({ isUnknown }) => isUnknown === true)?.path;
  if (unknown !== undefined) {
    return {
      ...ask(`The links of ${unknown} cannot be followed, so where it leads is not known`),
      blockedPath: unknown,
    };
  }
  if (line !== undefined) {
    const found = guardLine(line);
    if (found === undefined || policy.mode === 'plan') return undefined;
    return { ...ask(found.reason), ...(found.path !== undefined && { blockedPath: found.path }) };
  }
  if (policy.mode === 'plan') return undefined;
  const written = accessesOf(call, policy).filter(({ access }) => access === 'write');
  const path = written
    .flatMap(({ path: real, given }) => [real, given ?? real])
    .find((each) => isGuarded(each, policy));
  if (path === undefined) return undefined;
  return { ...ask(`${path} decides what may run, so changing it needs approval`), blockedPath: path };
}

/** Before any rule that asks: an approval would open what this mode closes. */
function delegate({ call, policy }: Case): Decision | undefined {
  if (policy.mode !== 'delegate' || call.tool === 'EnterPlanMode' || SESSION_TOOLS.has(call.tool)) return undefined;
  const reason = `Cannot use ${call.tool} while in delegate mode: only planning, asking and agents are open.`;
  return { verdict: 'deny', reason, reasonType: 'mode' };
}

/** Reading goes on; the rest is put to a person, who may approve one call. */
function plan(subject: Case): Decision {
  const { call, policy, line } = subject;
  if (call.tool === 'EnterPlanMode') return allow('It is on already', 'mode');
  if (isPlanEdit(subject)) return allow('It changes the file of the plan, and nothing else', 'mode');
  const read = judgeRead(subject);
  if (read !== undefined) return read;
  const path = accessesOf(call, policy).find(({ access }) => access === 'write')?.path;
  const what =
    line !== undefined
      ? 'run this command'
      : call.edits && path !== undefined
        ? `write to ${path}`
        : `use ${call.tool}`;
  return { ...askToChange(subject), reason: `Cannot ${what} while in plan mode.`, reasonType: 'mode' };
}

/** Under whatever name: what counts is where it really is. */
function isPlanEdit(subject: Case): boolean {
  const { call, policy } = subject;
  if (policy.plan?.isOwn !== true || !isPlainEdit(subject)) return false;
  return accessesOf(call, policy).every(({ path }) => path === policy.plan?.file);
}

/** What a rule allows. */
export function grant(subject: Case): Decision | undefined {
  const { call, policy, line, web } = subject;
  const { allow: rules } = policy.book;
  if (call.changed === true) return undefined;
  const allowedBy = (rule: CompiledRule): Decision => ({
    verdict: 'allow',
    reason: `Allowed by ${rule.text}`,
    ...by(rule),
  });
  if (line !== undefined) {
    const outcome = line.outcome();
    if (outcome.refusal === undefined && outcome.rule !== undefined) return allowedBy(outcome.rule);
    if (policy.sandboxed?.autoAllow === true && (!isWatched(policy) || line.hidden() === undefined)) {
      return allow('It runs in the sandbox', 'other');
    }
    return undefined;
  }
  const named = namedRule(rules, call);
  if (named !== undefined) return allowedBy(named);
  if (call.tool === 'WebFetch') return grantFetch(web, rules, allowedBy);
  const places = accessesOf(call, policy);
  const whole = rules.tool(call.tool);
  if (whole !== undefined && call.tool !== 'Bash' && !places.some(({ path }) => isKernelPath(path)))
    return allowedBy(whole);
  const isFileTool = READ_TOOLS.has(call.tool) || EDIT_TOOLS.has(call.tool) || call.edits;
  const placed = isFileTool && places.length > 0 && !climbs(subject) ? findPathGrant(call, policy) : undefined;
  return placed === undefined ? undefined : allowedBy(placed);
}

const isWatched = ({ book: { deny, ask: asking } }: PermissionPolicy): boolean =>
  [deny, asking].some((rules) => rules.judgesCommands || rules.judgesPaths);

/** Every host on the way must be allowed; a number is no host that a rule for all of them means. */
function grantFetch(
  web: readonly WebTarget[],
  rules: RuleIndex,
  allowedBy: (rule: CompiledRule) => Decision,
): Decision | undefined {
  const whole = rules.tool('WebFetch');
  let decided: CompiledRule | undefined;
  for (const { host, isAddress } of web) {
    const rule = rules.host(host) ?? (isAddress ? undefined : whole);
    if (rule === undefined) return undefined;
    decided ??= rule;
  }
  return decided === undefined ? undefined : allowedBy(decided);
}

function webOf({ tool, input }: PermissionCall, { privateHosts }: PermissionPolicy): WebTarget[] {
  if (tool !== 'WebFetch') return [];
  const hops = Array.isArray(input.redirects) ? input.redirects.map(String) : [];
  const urls = [String(input.url)];
  // Each starts from the one before it.
  for (const hop of hops) urls.push(URL.canParse(hop, urls.at(-1)) ? new URL(hop, urls.at(-1)).href : hop);
  return urls.map((url) => readWebTarget(url, privateHosts));
}

const isMcp = (call: PermissionCall): boolean => call.mcp === true || call.tool.startsWith('mcp__');

/** Not what an MCP server says of itself. */
function isReadOnlyCall({ call, policy, line }: Case): boolean {
  if (isMcp(call) || OUTREACH.has(call.tool)) return false;
  if (line === undefined)
    return call.readOnly && call.tool !== 'Bash' && !accessesOf(call, policy).some(({ access }) => access === 'write');
  const outcome = line.harmless();
  return outcome.refusal === undefined && outcome.isReadOnly;
}

const climbs = ({ call, policy }: Case): boolean => {
  const { pattern } = call.input;
  return call.tool === 'Glob' && typeof pattern === 'string' && climbsOut(pattern, readableIn(policy));
};

/** Reading inside of the working directories runs unasked; outside it is asked about. Undefined for what is no reading. */
function judgeRead(subject: Case): Decision | undefined {
  const { call, policy, line } = subject;
  if (line !== undefined) {
    const { refusal, open } = policy.mode === 'plan' ? line.harmless() : line.outcome();
    if (refusal === undefined)
      return isReadOnlyCall(subject) ? allow('It only reads, inside the working directories', 'workingDir') : undefined;
    if (refusal.isOutside !== true || !refusal.reason.startsWith('Path is')) return undefined;
    return {
      verdict: 'ask',
      reason: refusal.reason,
      reasonType: 'workingDir',
      ...(refusal.path !== undefined && { blockedPath: refusal.path }),
      ...withSuggestions(suggestForCommand(line.reading, open)),
    };
  }
  if (!isReadOnlyCall(subject)) return undefined;
  const outside = outsideOf(call, policy, readableIn(policy));
  const share = accessesOf(call, policy).find(
    ({ path, given }) => isShare(given ?? path) && policy.platform === 'win32',
  );
  if (outside === undefined && share === undefined && !climbs(subject)) {
    return allow('It only reads, inside the working directories', 'workingDir');
  }
  // A rule may open places outside, for some modes that do not look at rules otherwise.
  const granted = policy.mode === 'plan' && !climbs(subject) ? findPathGrant(call, policy) : undefined;
  if (granted !== undefined) return { verdict: 'allow', reason: `Allowed by ${granted.text}`, ...by(granted) };
  return {
    verdict: 'ask',
    reason: 'Path is outside allowed working directories',
    reasonType: 'workingDir',
    ...withSuggestions(suggestForRead(call.tool, outside)),
  };
}

/** What a search must not look into, whoever lets it run. */
function exclusions({ call, policy }: Case): { exclusions?: readonly string[] } {
  if (!SEARCHERS.has(call.tool)) return {};
  const found = exclusionsOf(call, policy);
  return found.length === 0 ? {} : { exclusions: found };
}

/** Edits whose every place is known and inside. Protected places were asked about before. */
function acceptEdit(subject: Case): Decision | undefined {
  const { call, policy, line } = subject;
  if (policy.mode !== 'acceptEdits' || call.accesses.some(({ path }) => makesRepository(path))) return undefined;
  const isAccepted =
    line === undefined
      ? isPlainEdit(subject) && outsideOf(call, policy, policy.roots) === undefined
      : line.outcome().refusal === undefined;
  return isAccepted ? allow('Edits in the working directories are accepted in this mode', 'mode') : undefined;
}
