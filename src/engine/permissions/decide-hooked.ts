import { decidePermission, isInteraction } from './decide.js';
import { type Decision, isSilent, type PermissionCall, type PermissionPolicy } from './policy.js';

/** What hooks want to be done about a call. */
export interface HookOpinion {
  verdict: 'allow' | 'ask' | 'deny';
  reason: string;
  /** Which hook it was: its command, address or prompt, or `callback`. */
  source?: string;
}

/**
 * A hook may forbid, and may ask, whatever the mode. Its allow opens what the mode that allows everything would open,
 * and nothing else: what is denied stays denied, and what needs a person in every mode is for a person to allow. So is
 * whatever changes something while a plan is made.
 */
export function decideWithHook(
  call: PermissionCall,
  policy: PermissionPolicy,
  hook: HookOpinion | undefined,
): Decision {
  if (hook?.verdict === 'deny') return { verdict: 'deny', reason: hook.reason, reasonType: 'hook' };
  const decision = decidePermission(call, policy);
  if (hook === undefined) return decision;
  return hook.verdict === 'ask' ? askFor(hook, decision, { call, policy }) : allowFor(hook, decision, { call, policy });
}

interface Judged {
  call: PermissionCall;
  policy: PermissionPolicy;
}

function askFor({ reason }: HookOpinion, decision: Decision, { call, policy }: Judged): Decision {
  if (decision.verdict === 'deny') return decision;
  if (!isSilent(policy)) return { ...decision, verdict: 'ask', reason, reasonType: 'hook' };
  const why = `Permission to use ${call.tool} has been denied because a hook asks, and Heddle is running in don't ask mode`;
  return { verdict: 'deny', reason: `${why} (${reason}).`, reasonType: 'hook' };
}

function allowFor({ reason }: HookOpinion, decision: Decision, { call, policy }: Judged): Decision {
  // What delegate mode denies is closed to everybody.
  if (decision.verdict === 'allow' || policy.mode === 'delegate') return decision;
  if (isInteraction(call.tool)) {
    const isAnswer = decision.verdict === 'ask' && hasAnswers(call.input);
    return isAnswer ? { ...decision, verdict: 'allow', reason, reasonType: 'hook' } : decision;
  }
  if (policy.mode === 'plan') return closeTo(decision, decision);
  const free = decidePermission(call, { ...policy, mode: 'bypassPermissions' });
  if (free.verdict === 'allow') return { ...free, reason, reasonType: 'hook' };
  return closeTo(decision, free);
}

/** What is asked stays asked, for the reason that no hook can take away. */
const closeTo = (decision: Decision, { reason, reasonType }: Decision): Decision =>
  decision.verdict === 'deny'
    ? decision
    : { ...decision, reason: `${reason.replace(/\.$/, '')}; a hook cannot allow this`, reasonType };

/** Some question has an answer that says something. */
function hasAnswers({ answers }: PermissionCall['input']): boolean {
  if (typeof answers !== 'object' || answers === null) return false;
  return Object.values(answers).some((answer) => String(answer).trim() !== '');
}
