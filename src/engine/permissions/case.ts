import type { JudgedLine } from './decide-command.js';
import { accessesOf } from './judge-paths.js';
import type { Decision, PermissionCall, PermissionPolicy } from './policy.js';
import type { CompiledRule } from './rules/rule-index.js';
import type { WebTarget } from './web.js';

/** A call with all that is found out about it once. */
export interface Case {
  call: PermissionCall;
  policy: PermissionPolicy;
  line?: JudgedLine;
  /** Every address of a fetch: the first one, and where it was sent on to. */
  web: readonly WebTarget[];
}

export const allow = (reason: string, reasonType: Decision['reasonType']): Decision => ({
  verdict: 'allow',
  reason,
  reasonType,
});

export const ask = (reason: string): Decision => ({ verdict: 'ask', reason, reasonType: 'other' });

/** The rule that decided. */
export const by = ({ text, layer }: CompiledRule) => ({ reasonType: 'rule' as const, rule: text, layer });

/** What the rule's author says of it. */
export const because = ({ reason }: CompiledRule): string => (reason === undefined ? '' : ` (${reason})`);

/** The tool changes files, and says which. */
export function isPlainEdit({ call, policy }: Case): boolean {
  return call.edits && accessesOf(call, policy).some(({ access }) => access === 'write');
}
