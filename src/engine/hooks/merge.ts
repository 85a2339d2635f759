/** Many hooks, one verdict. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { HookPermissionDecision, SyncHookOutput } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { ANSWERS_LATER, type Gate, HOOK_TRIGGERS, OWN_FIELDS } from './events.js';
import type { FailureEffect, HookLayer, HookOutcome } from './outcome.js';
import { cutText, failureText, misplaced, NO_REASON } from './texts.js';
import { emptyVerdict, type HookDecision, type HookObjection, type HookVerdict } from './verdict.js';

/** One hook that ran, in declared order. */
export interface HookRun {
  /** `PreToolUse:Bash`. */
  hookName: string;
  source: string;
  layer: HookLayer;
  onFailure: FailureEffect;
  outcome: HookOutcome;
}

export interface MergeOptions {
  /** A Stop hook has already kept this turn going, so one that fails must not do it again. */
  stopActive?: boolean;
}

/** Deny over ask over allow. A hook that failed is no reason to allow anything. */
export function mergeRuns(event: HookEvent, runs: readonly HookRun[], options: MergeOptions = {}): HookVerdict {
  const verdict = collectRuns(runs);
  const { gate, cannotStop } = HOOK_TRIGGERS[event];
  if (cannotStop) ignoreStops(verdict, runs, (reason) => `${event} cannot end the turn${reason}`);
  if (event === 'PermissionRequest') decidePermission(verdict, runs);
  else if (gate === 'call') decideCall(verdict, runs);
  else decideBlock(verdict, runs, { event, gate, stopActive: options.stopActive ?? false });
  if (verdict.suppressOriginalPrompt && verdict.additionalContext.length === 0) {
    verdict.suppressOriginalPrompt = false;
    verdict.warnings.push('a hook suppressed the prompt without giving a context in its place; the prompt stays');
  }
  return verdict;
}

/** What a hook says when everybody has gone on: it can still tell something, and has nothing left to decide. */
export function mergeLate(run: HookRun): { verdict: HookVerdict; objection: HookObjection | undefined } {
  // That it failed is told as a failure, and blocks nothing any more.
  const objection = objectionOf({ ...run, onFailure: 'allow' }, { gate: false, stopActive: false });
  const verdict = collectRuns([run]);
  ignoreStops(verdict, [run], (reason) => `it is too late to end the turn${reason}`);
  return { verdict, objection };
}

/** Whoever wants the turn to end where that changes nothing is told so. */
function ignoreStops(verdict: HookVerdict, runs: readonly HookRun[], toText: (reason: string) => string): void {
  for (const { outcome, source } of runs) {
    if (outcome.kind !== 'output' || outcome.output.continue !== false) continue;
    const { reason } = toStop(outcome.output.stopReason);
    verdict.warnings.push(`[${source}] ${toText(reason === undefined ? '' : `: ${reason}`)}`);
  }
  delete verdict.stop;
}

/** Fields that are merely added up. */
function collectRuns(runs: readonly HookRun[]): HookVerdict {
  const verdict = { ...emptyVerdict(), ran: runs.length };
  for (const run of runs) collect(verdict, run);
  return verdict;
}

function collect(verdict: HookVerdict, run: HookRun): void {
  const { outcome, hookName, source, layer } = run;
  switch (outcome.kind) {
    case 'context':
      verdict.additionalContext.push(cutText(outcome.text));
      return;
    case 'warning':
      verdict.warnings.push(`[${source}] ${outcome.text}`);
      return;
    case 'failed':
      verdict.failures.push({ hookName, source, layer, ...outcome.failure });
      return;
    case 'cancelled':
      verdict.cancelled = true;
      return;
    case 'output':
      collectOutput(verdict, outcome.output, source);
      return;
    case 'block':
    case 'nothing':
      return;
  }
}

type Specific = Record<string, unknown>;
const specificOf = (output: SyncHookOutput): Specific => output.hookSpecificOutput ?? {};
const inputOf = (output: SyncHookOutput): Record<string, unknown> | undefined =>
  specificOf(output).updatedInput as Record<string, unknown> | undefined;
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? cutText(value) : undefined;

function collectOutput(verdict: HookVerdict, output: SyncHookOutput, source: string): void {
  const specific = specificOf(output);
  const context = textOf(specific.additionalContext);
  if (context !== undefined) verdict.additionalContext.push(context);
  const message = textOf(output.systemMessage);
  if (message !== undefined) verdict.systemMessages.push(message);
  if (output.continue === false) verdict.stop ??= toStop(output.stopReason);
  if (specific.retry === true) verdict.retry = true;
  if (typeof specific.worktreePath === 'string') verdict.worktreePath = specific.worktreePath;
  if (specific.suppressOriginalPrompt === true) verdict.suppressOriginalPrompt = true;
  replaceOutput(verdict, specific, 'updatedToolOutput');
  replaceOutput(verdict, specific, 'updatedMCPToolOutput');
  for (const field of OWN_FIELDS) {
    if (field in output) verdict.warnings.push(`[${source}] ${misplaced(field)}`);
  }
  for (const field of ANSWERS_LATER) {
    if (specific[field] !== undefined) {
      verdict.warnings.push(`[${source}] its answer has ${field}, which this version does not support`);
    }
  }
}

const toStop = (reason: string | undefined): { reason?: string } => {
  const text = textOf(reason);
  return text === undefined ? {} : { reason: text };
};

function replaceOutput(
  verdict: HookVerdict,
  specific: Specific,
  field: 'updatedToolOutput' | 'updatedMCPToolOutput',
): void {
  if (specific[field] === undefined) return;
  const before = verdict[field];
  if (before !== undefined && !isDeepStrictEqual(before.value, specific[field])) {
    verdict.warnings.push('two hooks replaced the output in different ways; the last one counts');
  }
  verdict[field] = { value: specific[field] };
}

const toObjection = ({ source }: HookRun, reason: string | undefined, byExit = false): HookObjection => ({
  reason: textOf(reason) ?? NO_REASON,
  source,
  byExit,
});

const failureReason = (run: HookRun): string =>
  run.outcome.kind === 'failed'
    ? failureText({ ...run, message: run.outcome.failure.message })
    : `The ${run.hookName} hook was cancelled.`;

interface Opinion {
  decision: HookDecision;
  by: HookObjection;
  updatedInput?: Record<string, unknown>;
}

/** What one PreToolUse hook says; undefined when it leaves the call alone. */
function opinionOf(run: HookRun): Opinion | undefined {
  const { outcome } = run;
  switch (outcome.kind) {
    case 'block':
      return { decision: 'deny', by: toObjection(run, outcome.reason, outcome.byExit) };
    case 'cancelled':
      return { decision: 'ask', by: toObjection(run, failureReason(run)) };
    case 'failed':
      return run.onFailure === 'allow'
        ? undefined
        : { decision: run.onFailure, by: toObjection(run, failureReason(run)) };
    case 'output':
      return opinionOfOutput(run, outcome.output);
    default:
      return undefined;
  }
}

function opinionOfOutput(run: HookRun, output: SyncHookOutput): Opinion | undefined {
  const specific = specificOf(output);
  if (output.continue === false) {
    return { decision: 'deny', by: toObjection(run, output.stopReason ?? output.reason ?? 'A hook ended the turn.') };
  }
  // The older form beside the newer one: the stricter of both.
  const legacy = output.decision === 'block' ? 'deny' : output.decision === 'approve' ? 'allow' : undefined;
  const decision = strictest([legacy, specific.permissionDecision as HookDecision | undefined]);
  const reason = (specific.permissionDecisionReason as string | undefined) ?? output.reason;
  const updatedInput = inputOf(output);
  if (decision === undefined) return undefined;
  return { decision, by: toObjection(run, reason), ...(updatedInput && { updatedInput }) };
}

const strictest = (decisions: readonly (HookDecision | undefined)[]): HookDecision | undefined =>
  (['deny', 'ask', 'allow'] as const).find((decision) => decisions.includes(decision));

function decideCall(verdict: HookVerdict, runs: readonly HookRun[]): void {
  const opinions = runs.flatMap((run) => opinionOf(run) ?? []);
  const rewrites = runs
    .map(({ outcome }) => (outcome.kind === 'output' ? inputOf(outcome.output) : undefined))
    .filter((input) => input !== undefined);
  const input = rewrites.at(-1);
  if (rewrites.some((other) => !isDeepStrictEqual(other, input))) {
    verdict.warnings.push('two hooks rewrote the input in different ways; the last one counts');
  }
  // An allow holds for the input its hook had in view, not for what another one made of it.
  const counted = opinions.filter(
    ({ decision, updatedInput }) =>
      decision !== 'allow' || input === undefined || isDeepStrictEqual(updatedInput, input),
  );
  const decision = strictest(counted.map((opinion) => opinion.decision));
  if (input !== undefined && decision !== 'deny') verdict.updatedInput = input;
  if (decision === undefined) return;
  verdict.decision = decision;
  verdict.by = counted.find((opinion) => opinion.decision === decision)?.by;
}

/** What one PermissionRequest hook says; without `permission` it wants the person to be asked. */
interface Vote {
  by: HookObjection;
  permission?: HookPermissionDecision;
}

function decidePermission(verdict: HookVerdict, runs: readonly HookRun[]): void {
  const votes = runs.flatMap((run) => voteOf(run) ?? []);
  const of = (behavior: HookPermissionDecision['behavior']): Vote[] =>
    votes.filter(({ permission }) => permission?.behavior === behavior);
  const approvals = of('allow');
  const approval = approvals.at(-1);
  if (approvals.some(({ permission }) => !isDeepStrictEqual(permission, approval?.permission))) {
    verdict.warnings.push('two hooks allowed the call in different ways; the last one counts');
  }
  const denials = of('deny');
  const chosen = denials[0] ?? votes.find(({ permission }) => permission === undefined) ?? approval;
  if (chosen === undefined) return;
  verdict.by = chosen.by;
  verdict.decision = chosen.permission?.behavior ?? 'ask';
  if (chosen.permission === undefined) return;
  const interrupts = denials.some(({ permission }) => permission?.behavior === 'deny' && permission.interrupt === true);
  verdict.permission = { ...chosen.permission, ...(interrupts && { interrupt: true }) };
}

function voteOf(run: HookRun): Vote | undefined {
  const { outcome } = run;
  if (outcome.kind === 'output') {
    const permission = permissionOf(outcome.output);
    if (permission === undefined) return undefined;
    const reason = permission.behavior === 'deny' ? permission.message : outcome.output.reason;
    return { by: toObjection(run, reason), permission };
  }
  const opinion = opinionOf(run);
  if (opinion === undefined || opinion.decision === 'ask') return opinion && { by: opinion.by };
  return { by: opinion.by, permission: { behavior: 'deny', message: opinion.by.reason } };
}

function permissionOf(output: SyncHookOutput): HookPermissionDecision | undefined {
  if (output.continue === false) {
    const message = output.stopReason ?? output.reason ?? 'A hook ended the turn.';
    return { behavior: 'deny', message, interrupt: true };
  }
  const said = specificOf(output).decision as HookPermissionDecision | undefined;
  if (output.decision === 'block' && said?.behavior !== 'deny') {
    return { behavior: 'deny', message: output.reason ?? NO_REASON };
  }
  return said ?? (output.decision === 'approve' ? { behavior: 'allow' } : undefined);
}

function decideBlock(
  verdict: HookVerdict,
  runs: readonly HookRun[],
  options: { event: HookEvent; gate: Gate | false; stopActive: boolean },
): void {
  const { gate, event } = options;
  const all = runs.flatMap((run) => objectionOf(run, options) ?? []);
  if (all.length === 0) return;
  if (gate === false && HOOK_TRIGGERS[event].block === undefined) {
    for (const { source, reason } of all) {
      verdict.warnings.push(`[${source}] ${event} cannot be blocked, so this changes nothing: ${reason}`);
    }
    return;
  }
  // Ending the turn outranks keeping it going.
  if (gate === 'stop' && verdict.stop !== undefined) return;
  verdict.block = { reason: all.map(({ reason }) => reason).join('\n'), all };
}

function objectionOf(
  run: HookRun,
  { gate, stopActive }: { gate: Gate | false; stopActive: boolean },
): HookObjection | undefined {
  const { outcome, onFailure } = run;
  switch (outcome.kind) {
    case 'block':
      return toObjection(run, outcome.reason, outcome.byExit);
    case 'output': {
      const { output } = outcome;
      if (output.decision === 'block') return toObjection(run, output.reason);
      if (output.continue !== false || gate !== 'prompt') return undefined;
      return toObjection(run, output.stopReason ?? output.reason ?? 'A hook ended the turn.');
    }
    case 'failed':
      if (onFailure === 'allow' || (gate === 'stop' && stopActive)) return undefined;
      if (gate === false && onFailure !== 'deny') return undefined;
      return toObjection(run, failureReason(run));
    case 'cancelled':
      return gate === 'prompt' ? toObjection(run, failureReason(run)) : undefined;
    default:
      return undefined;
  }
}
