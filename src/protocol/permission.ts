/** Permissions on the wire: modes, rules, changes to them, and the answer to a question. */
import { z } from 'zod';
import { firstProblem } from './problem.js';
import { HeddleError } from './error.js';
import { type Infer, lazy } from './lazy.js';
import { PERMISSION_MODES } from './names.js';
import { jsonObject } from './open-union.js';

export const PermissionMode = lazy(() => z.enum(PERMISSION_MODES));
export type PermissionMode = Infer<typeof PermissionMode>;

export const PermissionBehavior = lazy(() => z.enum(['allow', 'deny', 'ask']));
export type PermissionBehavior = Infer<typeof PermissionBehavior>;

export const PermissionRuleValue = lazy(() =>
  z.object({
    toolName: z.string(),
    ruleContent: z.string().optional().describe('What stands in the brackets of `Tool(...)`; absent: any call.'),
  }),
);
export type PermissionRuleValue = Infer<typeof PermissionRuleValue>;

export const PermissionUpdateDestination = lazy(() =>
  z.enum(['userSettings', 'projectSettings', 'localSettings', 'session', 'cliArg']),
);
export type PermissionUpdateDestination = Infer<typeof PermissionUpdateDestination>;

const rules = <T extends string>(type: T) =>
  z.object({
    type: z.literal(type),
    rules: z.array(PermissionRuleValue()),
    behavior: PermissionBehavior(),
    destination: PermissionUpdateDestination(),
  });

const directories = <T extends string>(type: T) =>
  z.object({
    type: z.literal(type),
    directories: z.array(z.string()),
    destination: PermissionUpdateDestination(),
  });

export const PermissionUpdate = lazy(() =>
  z.discriminatedUnion('type', [
    rules('addRules'),
    rules('replaceRules'),
    rules('removeRules'),
    z.object({ type: z.literal('setMode'), mode: PermissionMode(), destination: PermissionUpdateDestination() }),
    directories('addDirectories'),
    directories('removeDirectories'),
  ]),
);
export type PermissionUpdate = Infer<typeof PermissionUpdate>;

export const PermissionAllow = lazy(() =>
  z.object({
    behavior: z.literal('allow'),
    updatedInput: jsonObject().optional().describe('Replaces the input; absent: unchanged.'),
    updatedPermissions: z.array(PermissionUpdate()).optional(),
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
  if (!outcome.success) {
    const { path, problem } = firstProblem(outcome.error.issues);
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
