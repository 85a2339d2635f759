import type { RuledCall } from '../hooks/registry.js';
import type { SessionScope } from '../scope.js';
import type { PermissionCall } from './policy.js';
import { placesOf, toPermissionCall } from './session-case.js';

/** Whether a rule is about a call, for hooks that name one. Throws when the rule cannot be used. */
export async function matchesRule(
  scope: SessionScope,
  rule: string,
  { toolName, input, atGate }: RuledCall,
): Promise<boolean> {
  const { guard } = scope;
  // Loaded when a rule is met: the parser of shell lines is large.
  const { compileRules } = await import('./rules/book.js');
  const { isAbout } = await import('./concern.js');
  const { toPolicy } = await import('./session-policy.js');
  const base = guard.settings.files.projectRoot;
  const book = compileRules([{ name: 'session', base, deny: [rule] }], { home: guard.home });
  const [problem] = book.problems;
  if (problem !== undefined) throw new Error(problem.problem);
  const call = await toCall(scope, toolName, input);
  return isAbout(book.deny, call, toPolicy(scope, book), { widely: atGate });
}

async function toCall(scope: SessionScope, toolName: string, input: unknown): Promise<PermissionCall> {
  const tool = scope.state.tools.get(toolName);
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  if (tool !== undefined) {
    const call = { tool, input: given };
    return toPermissionCall(scope, call, { places: await placesOf(scope, call) });
  }
  const command = typeof given.command === 'string' ? { command: given.command } : {};
  return { tool: toolName, input: given, readOnly: false, edits: false, accesses: [], ...command };
}
