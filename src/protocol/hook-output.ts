/** What hooks answer. An empty object means: go on. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { findMisspelled } from './misspelled.js';
import { jsonObject, type Lazy, type MemberOf, openName, openUnion } from './open-union.js';
import { GivenPermissionUpdate } from './permission.js';
import { type Problem, showPath } from './problem.js';

const event = <E extends string>(name: E) => ({ hookEventName: z.literal(name) });
const context = () => ({
  additionalContext: z.string().optional().describe('Shown to the model beside what it gets anyway.'),
});

const onlyContext = <E extends string>(name: E) => lazy(() => z.object({ ...event(name), ...context() }));

export const HookPermissionDecision = lazy(() =>
  z
    .discriminatedUnion('behavior', [
      z.object({
        behavior: z.literal('allow'),
        updatedInput: jsonObject().optional(),
        updatedPermissions: z.array(GivenPermissionUpdate()).optional(),
      }),
      z.object({ behavior: z.literal('deny'), message: z.string().optional(), interrupt: z.boolean().optional() }),
    ])
    .describe('Who decides by a PermissionRequest hook instead of the person.'),
);
export type HookPermissionDecision = Infer<typeof HookPermissionDecision>;

const elicitation = () => ({
  action: openName('accept', 'decline', 'cancel').optional(),
  content: jsonObject().optional(),
});

/** Event to schema of its own part of the output. */
export const HOOK_SPECIFIC_OUTPUTS = {
  PreToolUse: lazy(() =>
    z.object({
      ...event('PreToolUse'),
      permissionDecision: z.enum(['allow', 'deny', 'ask']).optional(),
      permissionDecisionReason: z.string().optional(),
      updatedInput: jsonObject().optional(),
      ...context(),
    }),
  ),
  PostToolUse: lazy(() =>
    z.object({
      ...event('PostToolUse'),
      ...context(),
      updatedToolOutput: z.unknown().optional(),
      updatedMCPToolOutput: z.unknown().optional(),
    }),
  ),
  PostToolUseFailure: onlyContext('PostToolUseFailure'),
  PostToolBatch: onlyContext('PostToolBatch'),
  PreCompact: onlyContext('PreCompact'),
  PermissionRequest: lazy(() => z.object({ ...event('PermissionRequest'), decision: HookPermissionDecision() })),
  PermissionDenied: lazy(() => z.object({ ...event('PermissionDenied'), retry: z.boolean().optional() })),
  Notification: onlyContext('Notification'),
  UserPromptSubmit: lazy(() =>
    z.object({
      ...event('UserPromptSubmit'),
      ...context(),
      sessionTitle: z.string().optional(),
      suppressOriginalPrompt: z.boolean().optional(),
    }),
  ),
  UserPromptExpansion: lazy(() =>
    z.object({ ...event('UserPromptExpansion'), ...context(), suppressOriginalPrompt: z.boolean().optional() }),
  ),
  SessionStart: lazy(() =>
    z.object({
      ...event('SessionStart'),
      ...context(),
      initialUserMessage: z.string().optional(),
      sessionTitle: z.string().optional(),
      watchPaths: z.array(z.string()).optional(),
      reloadSkills: z.boolean().optional(),
    }),
  ),
  Setup: onlyContext('Setup'),
  Stop: onlyContext('Stop'),
  SubagentStart: onlyContext('SubagentStart'),
  SubagentStop: onlyContext('SubagentStop'),
  CwdChanged: lazy(() => z.object({ ...event('CwdChanged'), watchPaths: z.array(z.string()).optional() })),
  FileChanged: lazy(() => z.object({ ...event('FileChanged'), watchPaths: z.array(z.string()).optional() })),
  WorktreeCreate: lazy(() => z.object({ ...event('WorktreeCreate'), worktreePath: z.string() })),
  Elicitation: lazy(() => z.object({ ...event('Elicitation'), ...elicitation() })),
  ElicitationResult: lazy(() => z.object({ ...event('ElicitationResult'), ...elicitation() })),
} as const;

export type HookSpecificOutput = MemberOf<typeof HOOK_SPECIFIC_OUTPUTS>;
export const HookSpecificOutput: Lazy<HookSpecificOutput> = lazy(() =>
  openUnion('hookEventName', HOOK_SPECIFIC_OUTPUTS),
);

export const SyncHookOutput = lazy(() =>
  z
    .object({
      async: z.literal(false).optional(),
      continue: z.boolean().optional().describe('False ends the turn.'),
      stopReason: z.string().optional().describe('Shown when `continue` is false.'),
      suppressOutput: z.boolean().optional(),
      decision: z.enum(['approve', 'block']).optional(),
      reason: z.string().optional().describe('What the model is told about the decision.'),
      systemMessage: z.string().optional().describe('What the person is told.'),
      hookSpecificOutput: HookSpecificOutput().optional(),
    })
    .describe('The answer of a hook that has decided.'),
);
export type SyncHookOutput = Infer<typeof SyncHookOutput>;

export const AsyncHookOutput = lazy(() =>
  z
    .object({ async: z.literal(true), asyncTimeout: z.number().optional().describe('Milliseconds.') })
    .describe('The answer of a hook that goes on by itself; nobody waits for it.'),
);
export type AsyncHookOutput = Infer<typeof AsyncHookOutput>;

export const HookOutput = lazy(() => z.discriminatedUnion('async', [AsyncHookOutput(), SyncHookOutput()]));
export type HookOutput = Infer<typeof HookOutput>;

/** A field of an answer that would count if it were spelled right: what a hook says must not be lost. */
export function findMisspelledOutput(value: Readonly<Record<string, unknown>>): Problem | undefined {
  const { hookSpecificOutput: specific } = value;
  const name = (specific as { hookEventName?: unknown } | undefined)?.hookEventName;
  const own = Object.hasOwn(HOOK_SPECIFIC_OUTPUTS, String(name))
    ? HOOK_SPECIFIC_OUTPUTS[name as keyof typeof HOOK_SPECIFIC_OUTPUTS]().shape
    : {};
  const decision = (specific as { decision?: unknown } | undefined)?.decision;
  const parts: [PropertyKey[], unknown, readonly string[]][] = [
    [[], value, Object.keys({ ...SyncHookOutput().shape, ...AsyncHookOutput().shape })],
    [['hookSpecificOutput'], specific, Object.keys(own)],
    [['hookSpecificOutput', 'decision'], decision, DECISION_FIELDS],
  ];
  for (const [path, part, known] of parts) {
    const slip = typeof part === 'object' && part !== null ? findMisspelled(part, known) : undefined;
    if (slip === undefined) continue;
    return { path: showPath([...path, slip.key]), problem: `Unknown field; did you mean "${slip.meant}"?` };
  }
  return undefined;
}

const DECISION_FIELDS = ['behavior', 'updatedInput', 'updatedPermissions', 'message', 'interrupt'];
