import { isDeepStrictEqual } from 'node:util';
import type {
  HookPermissionDecision,
  PermissionResult,
  SessionConfig,
  ToolUseBlock,
  WholeTool,
} from '../../protocol/index.js';
import { applyPermissions } from '../choices.js';
import { notify } from '../hooks/around-call.js';
import type { OpenCall } from '../next-action.js';
import { findPlanFile } from '../plan/plan-file.js';
import type { Question, Reply } from '../questions.js';
import type { SessionScope } from '../scope.js';
import type { HookOpinion } from './decide-hooked.js';
import type { Decision, PermissionPolicy } from './policy.js';
import {
  type Grounds,
  groundsOfAnswer,
  markOfGrounds,
  placesOf,
  rulesOf,
  seenBy,
  toGrounds,
  toPermissionCall,
} from './session-case.js';

/** What became of asking: the input to run with, or why not. */
export type Permission =
  /** `judgedOn`: what the decision rests on; when that has changed until the call runs, it must be judged again. */
  /** `exclusions`: what a search must leave out. */
  | { kind: 'allow'; input: Record<string, unknown>; judgedOn: Grounds; exclusions?: readonly string[] }
  /** `input`: what was judged. */
  | { kind: 'deny'; message: string; interrupt: boolean; input: Record<string, unknown> };

export interface JudgedCall {
  call: OpenCall;
  tool: WholeTool;
  input: Record<string, unknown>;
  /** What PreToolUse hooks want to be done about it. */
  hook?: HookOpinion;
  /** The input is what they made of it. */
  isRewritten?: boolean;
}

interface Judgement {
  decision: Decision;
  judgedOn: Grounds;
}

/** A call that someone is asked about, and what the question rests on. */
type AskedCall = JudgedCall & Judgement;

/**
 * Decides about a call and, where the decision is to ask, asks. The only place that does. What is denied, for whatever
 * reason, is in the next result. Never throws.
 */
export async function resolvePermission(
  scope: SessionScope,
  judged: JudgedCall,
  signal: AbortSignal,
): Promise<Permission> {
  const permission = await resolve(scope, judged, signal);
  if (permission.kind === 'deny') {
    const { block } = judged.call;
    const isAsGiven = judged.isRewritten !== true && isDeepStrictEqual(permission.input, judged.input);
    scope.denials.push({
      tool_name: judged.tool.name,
      tool_use_id: block.id,
      tool_input: isAsGiven ? block.input : permission.input,
      ...(scope.agent && { agent_id: scope.agent.id }),
    });
  }
  return permission;
}

async function resolve(scope: SessionScope, judged: JudgedCall, signal: AbortSignal): Promise<Permission> {
  let judgement: Judgement;
  try {
    const known = await fromLog(scope, judged, signal);
    if (known !== undefined) return known;
    judgement = await judge(scope, judged);
  } catch (thrown) {
    const reason = `The call could not be judged: ${messageOf(thrown)}`;
    return denyAloud(scope, judged, toDenial(reason), signal);
  }
  const { decision, judgedOn } = judgement;
  if (decision.verdict === 'allow') return { kind: 'allow', input: judged.input, judgedOn, ...exclusionsOf(decision) };
  if (decision.verdict === 'deny') return denyAloud(scope, judged, decision, signal);
  const heard = await askHooks(scope, { ...judged, ...judgement }, signal);
  if ('kind' in heard) return heard;
  if (!scope.questions.canAsk) return denyAloud(scope, heard, heard.decision, signal);
  return ask(scope, heard, signal);
}

/** Where an answer may write no settings, what is suggested lasts for the session. */
function withoutWrites(decision: Decision, { settingsWrites }: SessionConfig): Decision {
  if (settingsWrites !== 'none' || decision.suggestions === undefined) return decision;
  return { ...decision, suggestions: decision.suggestions.map((update) => ({ ...update, destination: 'session' })) };
}

/** A search that is approved still leaves out what is denied. */
const exclusionsOf = ({ exclusions }: Decision): { exclusions?: readonly string[] } =>
  exclusions ? { exclusions } : {};

/** PermissionRequest hooks may answer in the place of a person. Gives what is left to be asked about when they do not. */
async function askHooks(scope: SessionScope, asked: AskedCall, signal: AbortSignal): Promise<Permission | AskedCall> {
  if (!scope.hooks.has('PermissionRequest')) return asked;
  const { tool, input, call, decision } = asked;
  const { suggestions } = decision;
  const fields = {
    tool_name: tool.name,
    tool_input: input,
    ...(suggestions && { permission_suggestions: suggestions }),
  };
  const { permission } = await scope.hooks.fire('PermissionRequest', fields, { signal, toolUseId: call.block.id });
  if (permission === undefined || signal.aborted) return asked;
  if (permission.behavior === 'deny') {
    const { message: reason = 'A hook denied this call.', interrupt = false } = permission;
    const denial = toDenial(reason, 'hook');
    return answered(scope, call.block, { ...(await denyAloud(scope, asked, denial, signal)), interrupt });
  }
  try {
    return await takeApproval(scope, asked, permission, signal);
  } catch (thrown) {
    // As wherever a gate fails: it is put to the person.
    sayAloud(scope, `The answer of a PermissionRequest hook for ${tool.name} cannot be used: ${messageOf(thrown)}`);
    return asked;
  }
}

/** What a hook allows counts where a hook may allow it; else the person is asked about what the hook made of it. */
async function takeApproval(
  scope: SessionScope,
  asked: AskedCall,
  { updatedInput, updatedPermissions = [] }: Extract<HookPermissionDecision, { behavior: 'allow' }>,
  signal: AbortSignal,
): Promise<Permission | AskedCall> {
  const { tool, call, decision: before } = asked;
  const input = updatedInput === undefined ? asked.input : await tool.parse(updatedInput);
  // A PreToolUse hook that asks, or has failed, wants a person.
  const hook = asked.hook?.verdict === 'ask' ? asked.hook : REQUEST_ALLOWED;
  const next = { ...asked, input, ...(await judge(scope, { ...asked, input, hook })) };
  const { decision } = next;
  const judgedOn = shownGrounds(asked, next);
  if (decision.verdict === 'deny') return answered(scope, call.block, await denyAloud(scope, next, decision, signal));
  if (decision.verdict === 'ask') return next;
  await applyPermissions(scope, updatedPermissions, { suggested: before.suggestions ?? [], shown: shownIn(asked) });
  return answered(scope, call.block, { kind: 'allow', input, judgedOn, ...exclusionsOf(decision) });
}

const REQUEST_ALLOWED: HookOpinion = { verdict: 'allow', reason: 'A PermissionRequest hook allowed it' };

async function judge(scope: SessionScope, { tool, input, hook }: JudgedCall): Promise<Judgement> {
  const places = await placesOf(scope, { tool, input });
  const book = await rulesOf(scope);
  const seen = await seenBy(scope, { tool, input }, { places, book });
  // Loaded with the first call that is judged: the parser of shell lines is large.
  const { decideWithHook } = await import('./decide-hooked.js');
  const { toPolicy } = await import('./session-policy.js');
  const call = toPermissionCall(scope, { tool, input }, { places, seen });
  const policy = { ...toPolicy(scope, book), ...(await planOf(scope)), ...sandboxedOf(scope, input) };
  const judgedOn = toGrounds(scope, { tool, input }, { places, seen });
  let decision = decideWithHook(call, policy, hook);
  if (!(await isStillMeant(scope, decision, { tool, judgedOn }))) {
    decision = decideWithHook({ ...call, changed: true }, policy, hook);
  }
  const outside = scope.within && (await (await import('./keep-within.js')).findOutside(scope, call, policy));
  if (outside !== undefined) decision = toDenial(outside, 'rule');
  return { decision: withoutWrites(decision, scope.config), judgedOn };
}

const KEPT_LAYERS: ReadonlySet<string> = new Set(['local', 'project', 'user']);

/** A rule that allows a tool of a server means the tool that it was given for. */
async function isStillMeant(
  scope: SessionScope,
  { verdict, rule, layer }: Decision,
  { tool, judgedOn: { definition: hash } }: { tool: WholeTool; judgedOn: Grounds },
): Promise<boolean> {
  if (verdict !== 'allow' || rule === undefined || hash === undefined) return true;
  const approvals = await scope.toolApprovals();
  return approvals.stillHolds({ name: tool.name, hash }, { kept: KEPT_LAYERS.has(layer ?? '') });
}

/** Only a command that really runs in the sandbox may be allowed because of it; one that would leave it is asked about. */
function sandboxedOf(
  { sandbox, state }: SessionScope,
  { command, dangerouslyDisableSandbox }: Record<string, unknown>,
): Pick<PermissionPolicy, 'sandboxed'> {
  if (sandbox === undefined || sandbox.unavailable !== undefined || typeof command !== 'string') return {};
  if (dangerouslyDisableSandbox === true) return { sandboxed: { autoAllow: false } };
  return sandbox.covers(command, state) ? { sandboxed: { autoAllow: sandbox.autoAllows } } : {};
}

/** An agent may look at the plan of its session. */
async function planOf(scope: SessionScope): Promise<Pick<PermissionPolicy, 'plan'>> {
  const file = await findPlanFile(scope);
  return file === undefined ? {} : { plan: { file, isOwn: scope.agent === undefined } };
}

async function ask(scope: SessionScope, asked: AskedCall, signal: AbortSignal): Promise<Permission> {
  const { call, tool, decision } = asked;
  const message = `Heddle needs your permission to use ${tool.name}`;
  void notify(scope, { message, notification_type: 'permission_prompt' }, signal);
  const question = await toQuestion(scope, asked);
  void scope.recorder.life({
    kind: 'call',
    state: 'requested',
    toolUseId: question.tool_use_id,
    questionId: question.id,
    grounds: markOfGrounds(asked.judgedOn),
    ...(asked.judgedOn.definition !== undefined && { definition: asked.judgedOn.definition }),
    ...(question.explanation !== undefined && { explanation: question.explanation }),
  });
  const reply = await waitForAnswer(scope, question, signal);
  if (signal.aborted) {
    const denial = await denyAloud(scope, asked, toDenial('The request was interrupted.'), signal);
    return { ...denial, interrupt: true };
  }
  if (reply.kind === 'nobody') return denyAloud(scope, asked, decision, signal);
  try {
    if (reply.kind === 'failed') throw reply.error;
    const { toPermissionResult } = await import('../../protocol/index.js');
    return await accept(scope, asked, toPermissionResult(reply.value), signal);
  } catch (thrown) {
    const text = `Tool permission request failed: ${messageOf(thrown)}`;
    sayAloud(scope, text);
    return answered(scope, call.block, await denyAloud(scope, asked, toDenial(text), signal));
  }
}

/** What a timer can count. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** No answer in time is none: C3. Nobody is asked for longer than the session was told to wait. */
async function waitForAnswer(scope: SessionScope, question: Question, signal: AbortSignal): Promise<Reply> {
  const { maxQuestionSeconds: seconds } = scope.config;
  const late = new AbortController();
  const either = AbortSignal.any([signal, late.signal]);
  const cancel =
    seconds === undefined ? () => {} : scope.clock.after(Math.min(seconds * 1000, MAX_TIMER_MS), () => late.abort());
  try {
    // Whoever is asked has seen the call, also where it takes time to write it.
    await scope.recorder.outbox.shown(either);
    const reply = await scope.questions.ask(question, { signal: either });
    if (!late.signal.aborted || reply.kind === 'answer') return reply;
    return { kind: 'failed', error: new Error(`Nobody answered within ${seconds} s.`) };
  } finally {
    cancel();
  }
}

/** An answer that cannot be used is the host's to mend: it must not be known to the model alone. */
function sayAloud(scope: SessionScope, content: string): void {
  scope.logger('warn', content);
  const { clock, id, recorder } = scope;
  const uuid = clock.uuid();
  recorder.emit({ type: 'system', subtype: 'informational', level: 'error', content, uuid, session_id: id });
}

/** Takes the answer of a host. What it allows is judged again: a denial holds for a changed input, and one that came meanwhile. */
async function accept(
  scope: SessionScope,
  asked: AskedCall,
  result: PermissionResult,
  signal: AbortSignal,
): Promise<Permission> {
  const { call, tool, decision: before } = asked;
  const { block } = call;
  if (result.behavior === 'deny') {
    const { message, interrupt = false } = result;
    return answered(scope, block, deny(message, { input: asked.input, interrupt }));
  }
  const input = result.updatedInput === undefined ? asked.input : await tool.parse(result.updatedInput);
  const { decision, judgedOn: now } = await judge(scope, { call, tool, input });
  if (decision.verdict === 'deny')
    return answered(scope, block, await denyAloud(scope, { ...asked, input }, decision, signal));
  const judgedOn = shownGrounds(asked, { input, judgedOn: now });
  const suggested = before.suggestions ?? [];
  await applyPermissions(scope, result.updatedPermissions ?? [], { suggested, shown: shownIn(asked) });
  return answered(scope, block, { kind: 'allow', input, judgedOn, ...exclusionsOf(decision) });
}

/**
 * What was approved is what was shown, whether or not the answer repeats the input: when a link, the folder or the tool is
 * another since, the pipeline finds that the grounds differ.
 */
const shownGrounds = (asked: AskedCall, { input, judgedOn }: Pick<AskedCall, 'input' | 'judgedOn'>): Grounds =>
  isDeepStrictEqual(input, asked.input) ? asked.judgedOn : groundsOfAnswer(asked.judgedOn, judgedOn);

/** The tool as whoever answered has seen it. */
const shownIn = ({ tool, judgedOn: { definition } }: AskedCall): { name: string; hash: string | undefined } => ({
  name: tool.name,
  hash: definition,
});

/** An answer is on the disk before it has effects. */
async function answered(scope: SessionScope, block: ToolUseBlock, permission: Permission): Promise<Permission> {
  const outcome =
    permission.kind === 'allow'
      ? { behavior: 'allow' as const, updatedInput: permission.input, grounds: markOfGrounds(permission.judgedOn) }
      : { behavior: 'deny' as const, message: permission.message };
  await scope.recorder.life({ kind: 'call', state: 'answered', toolUseId: block.id, ...outcome }, { sync: true });
  return permission;
}

/** The answer of an earlier process; undefined when there is none that counts. */
async function fromLog(scope: SessionScope, judged: JudgedCall, signal: AbortSignal): Promise<Permission | undefined> {
  const { answer } = judged.call;
  if (answer === undefined) return undefined;
  if (answer.behavior === 'deny') return deny(answer.message ?? 'The call was denied.', { input: judged.input });
  const input = answer.updatedInput ?? judged.input;
  // Hooks make something else of the call now, which nobody has approved.
  if (judged.isRewritten === true && !isDeepStrictEqual(input, judged.input)) return undefined;
  // What was approved then may have been denied since, by a rule or by a hook.
  const { decision, judgedOn } = await judge(scope, { ...judged, input });
  if (decision.verdict === 'deny') return denyAloud(scope, { ...judged, input }, decision, signal);
  if (!isAsShown(judged, { input, judgedOn })) return undefined;
  return { kind: 'allow', input, judgedOn, ...exclusionsOf(decision) };
}

/** What was approved then is still what it was. Who answers elsewhere was shown what was asked about. */
function isAsShown(
  { call, input: asked }: JudgedCall,
  { input, judgedOn }: Pick<AskedCall, 'input' | 'judgedOn'>,
): boolean {
  const { answer, shown } = call;
  const mark = answer?.grounds ?? (isDeepStrictEqual(input, asked) ? shown?.grounds : undefined);
  if (mark !== undefined) return mark === markOfGrounds(judgedOn);
  return shown?.definition === undefined || shown.definition === judgedOn.definition;
}

/** A denial that does not come from a person is shown, so that it is not known to the model alone. */
async function denyAloud(
  scope: SessionScope,
  { call, tool, input }: JudgedCall,
  decision: Decision,
  signal: AbortSignal,
): Promise<Extract<Permission, { kind: 'deny' }>> {
  const message =
    decision.verdict === 'ask'
      ? `${decision.reason.replace(/\.$/, '')}. There is nobody here who can be asked for approval, so the call was not run.`
      : decision.reason;
  scope.recorder.emit({
    type: 'system',
    subtype: 'permission_denied',
    tool_name: tool.name,
    tool_use_id: call.block.id,
    message,
    decision_reason: decision.reason,
    decision_reason_type: decision.reasonType,
    uuid: scope.clock.uuid(),
    session_id: scope.id,
  });
  if (!scope.hooks.has('PermissionDenied')) return deny(message, { input });
  const fields = { tool_name: tool.name, tool_input: input, tool_use_id: call.block.id, reason: message };
  const { retry } = await scope.hooks.fire('PermissionDenied', fields, { signal, toolUseId: call.block.id });
  return deny(retry ? `${message} A hook says that it may be tried again.` : message, { input });
}

async function toQuestion(scope: SessionScope, asked: AskedCall): Promise<Question> {
  const { call, tool, input, decision, hook } = asked;
  const { describeCall, explainDecision } = await import('./explain.js');
  const { isInteraction } = await import('./decide.js');
  const description = describeCall({ tool: tool.name, input, places: asked.judgedOn.touched, cwd: scope.state.cwd });
  return {
    id: scope.clock.uuid(),
    tool_name: tool.name,
    display_name: tool.name,
    input,
    tool_use_id: call.block.id,
    ...(description !== undefined && { description }),
    ...(decision.suggestions && { permission_suggestions: decision.suggestions }),
    ...(decision.blockedPath !== undefined && { blocked_path: decision.blockedPath }),
    decision_reason: decision.reason,
    decision_reason_type: decision.reasonType,
    ...(decision.layer !== undefined && { decision_reason_rule_source: decision.layer }),
    // No other hook makes a call one that is asked about.
    ...(decision.reasonType === 'hook' && { decision_reason_hook_event: 'PreToolUse' }),
    ...(decision.reasonType === 'hook' && hook?.source && { decision_reason_hook_source: hook.source }),
    ...(isInteraction(tool.name) && { requires_user_interaction: true }),
    explanation: explainDecision(decision),
    cwd: scope.state.cwd,
    ...(scope.agent && { agent_id: scope.agent.id, parent_tool_use_id: scope.agent.toolUseId }),
  };
}

const toDenial = (reason: string, reasonType: Decision['reasonType'] = 'other'): Decision => ({
  verdict: 'deny',
  reason,
  reasonType,
});

const deny = (
  message: string,
  { input, interrupt = false }: { input: Record<string, unknown>; interrupt?: boolean },
): Extract<Permission, { kind: 'deny' }> => ({ kind: 'deny', message, interrupt, input });

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
