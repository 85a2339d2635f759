import { namedRule, SEARCHERS, toCase } from './decide.js';
import { findHidden } from './hidden.js';
import { findHit } from './judge-command.js';
import { accessesOf, findPathHit } from './judge-paths.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import type { RuleIndex } from './rules/rule-index.js';

/** Whether rules are about a call, or may be. `widely`: also about what cannot be known before it runs. */
export function isAbout(
  rules: RuleIndex,
  given: PermissionCall,
  policy: PermissionPolicy,
  { widely }: { widely: boolean },
): boolean {
  const { call, line, web } = toCase(given, policy);
  if (rules.tool(call.tool) !== undefined || namedRule(rules, call) !== undefined) return true;
  if (web.some(({ host }) => rules.host(host) !== undefined)) return true;
  if (line !== undefined) {
    if (findHit(rules, line) !== undefined) return true;
    return widely && (rules.judgesCommands || rules.judgesPaths) && findHidden(line, { atGate: true }) !== undefined;
  }
  if (findPathHit(rules, call, policy) !== undefined) return true;
  const searches = widely && SEARCHERS.has(call.tool);
  return searches && accessesOf(call, policy).some(({ path }) => rules.reads.below(path).length > 0);
}
