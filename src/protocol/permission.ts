/** Permissions on the wire: modes, rules, changes to them, and the answer to a question. */
import { z } from 'zod';
import { firstProblem, type Problem } from './problem.js';
import { HeddleError } from './error.js';
import { type Infer, lazy } from './lazy.js';
import { PERMISSION_MODES } from './names.js';
import { findMisspelled } from './misspelled.js';
import { jsonObject } from './open-union.js';

export const PermissionMode = lazy(() => z.enum(PERMISSION_MODES));
export type PermissionMode = Infer<typeof PermissionMode>;

export const PermissionBehavior = lazy(() => z.enum(['allow', 'deny', 'ask']));
export type PermissionBehavior = Infer<typeof PermissionBehavior>;

const ruleValue = () => ({
  toolName: z.string(),
  ruleContent: z.string().optional().describe('What stands in the brackets of `Tool(...)`; absent: any call.'),
});

export const PermissionRuleValue = lazy(() => z.object(ruleValue()));
export type PermissionRuleValue = Infer<typeof PermissionRuleValue>;

export const PermissionUpdateDestination = lazy(() =>
  z.enum(['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']),
);
export type PermissionUpdateDestination = Infer<typeof PermissionUpdateDestination>;

const rules = <T extends string, R extends z.ZodType>(type: T, rule: R) => ({
  type: z.literal(type),
  rules: z.array(rule),
  behavior: PermissionBehavior(),
  destination: PermissionUpdateDestination(),
});

const mode = () => ({
  type: z.literal('setMode'),
  mode: PermissionMode(),
  destination: PermissionUpdateDestination(),
});

const directories = <T extends string>(type: T) => ({
  type: z.literal(type),
  directories: z.array(z.string()),
  destination: PermissionUpdateDestination(),
});

export const PermissionUpdate = lazy(() =>
  z.discriminatedUnion('type', [
    z.object(rules('addRules', PermissionRuleValue())),
    z.object(rules('replaceRules', PermissionRuleValue())),
    z.object(rules('removeRules', PermissionRuleValue())),
    z.object(mode()),
    z.object(directories('addDirectories')),
    z.object(directories('removeDirectories')),
  ]),
);
export type PermissionUpdate = Infer<typeof PermissionUpdate>;

/** As answers give it. What is dropped from a rule makes it wider: without `ruleContent` it is about every call. */
export const GivenPermissionUpdate = lazy(() => {
  const rule = z.strictObject(ruleValue());
  return z
    .discriminatedUnion('type', [
      z.strictObject(rules('addRules', rule)),
      z.strictObject(rules('replaceRules', rule)),
      z.strictObject(rules('removeRules', rule)),
      z.strictObject(mode()),
      z.strictObject(directories('addDirectories')),
      z.strictObject(directories('removeDirectories')),
    ])
    .describe('A `PermissionUpdate` in an answer: with no other fields.');
});

export const PermissionAllow = lazy(() =>
  z.object({
    behavior: z.literal('allow'),
    updatedInput: jsonObject().optional().describe('Replaces the input; absent: unchanged.'),
    updatedPermissions: z.array(GivenPermissionUpdate()).optional(),
    toolUseID: z.string().optional(),
  }),
);
export type PermissionAllow = Infer<typeof PermissionAllow>;

export const PermissionDeny = lazy(() =>
  z.object({
    behavior: z.literal('deny'),
    message: z.string().describe('What the model is told.'),
    interrupt: z.boolean().optional().describe('Ends the turn as well.'),
    toolUseID: z.string().optional(),
  }),
);
export type PermissionDeny = Infer<typeof PermissionDeny>;

export const PermissionResult = lazy(() =>
  z.discriminatedUnion('behavior', [PermissionAllow(), PermissionDeny()]).describe('The answer to `can_use_tool`.'),
);
export type PermissionResult = Infer<typeof PermissionResult>;

export const PermissionAlias = lazy(() =>
  z.object({ allowed: z.boolean(), reason: z.string().optional() }).describe('The older shape of the answer.'),
);
export type PermissionAlias = Infer<typeof PermissionAlias>;

export const PermissionDenial = lazy(() =>
  z
    .object({
      tool_name: z.string(),
      tool_use_id: z.string(),
      tool_input: jsonObject(),
      agent_id: z.string().optional().describe('The agent whose call it was; absent for the main thread.'),
    })
    .describe('A refused call, as the result lists it.'),
);
export type PermissionDenial = Infer<typeof PermissionDenial>;

/** Reads the answer of a host, in either shape. Throws `invalid_answer` with the path of the wrong field. */
export function toPermissionResult(value: unknown): PermissionResult {
  const isAlias = typeof value === 'object' && value !== null && 'allowed' in value && !('behavior' in value);
  const outcome = isAlias ? PermissionAlias().safeParse(value) : PermissionResult().safeParse(value);
  const wrong = outcome.success ? findDropped(value as object, isAlias) : firstProblem(outcome.error.issues);
  if (wrong !== undefined) {
    const { path, problem } = wrong;
    throw new HeddleError('invalid_answer', `can_use_tool: ${path}: ${problem}`, {
      hint: 'Answer {behavior: "allow", updatedInput?} or {behavior: "deny", message}.',
      data: { path },
    });
  }
  if (!isAlias) return value as PermissionResult;
  const alias = value as PermissionAlias;
  return alias.allowed
    ? { behavior: 'allow' }
    : { behavior: 'deny', message: alias.reason ?? 'The host refused this call.' };
}

/** Other fields are let be, for newer hosts may send some; not those that would count if they stood there as they should. */
function findDropped(value: object, isAlias: boolean): Problem | undefined {
  const known = Object.keys({ ...PermissionAllow().shape, ...PermissionDeny().shape });
  if (isAlias) {
    const lost = known.find((name) => name in value && name !== 'toolUseID' && name !== 'message');
    if (lost !== undefined) return { path: lost, problem: 'It means nothing beside "allowed"; write "behavior".' };
  }
  const slip = findMisspelled(value, isAlias ? [...known, 'allowed', 'reason'] : known);
  return slip && { path: slip.key, problem: `Unknown field; did you mean "${slip.meant}"?` };
}
