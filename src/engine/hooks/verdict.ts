/** What the hooks of an event come to. */
import type { HookPermissionDecision } from '../../protocol/index.js';
import type { HookFailure } from './outcome.js';

export type HookDecision = 'allow' | 'deny' | 'ask';

export interface HookObjection {
  reason: string;
  /** "callback", the command, the address. */
  source: string;
  /** It was said by exit code 2 rather than in an answer. */
  byExit: boolean;
}

export interface HookVerdict {
  /** How many hooks ran. */
  ran: number;
  /** About a call: PreToolUse and PermissionRequest. The strictest wins; undefined: the hooks leave it open. */
  decision?: HookDecision;
  /** Who made that decision, and why. */
  by?: HookObjection;
  /** What the call shall be run with instead. It has not been judged. */
  updatedInput?: Record<string, unknown>;
  /** The answer of PermissionRequest hooks in the place of the person's. Undefined: the person is asked. */
  permission?: HookPermissionDecision;
  /** What must not go on: the prompt, the end of the turn ... `reason` joins those of `all`. */
  block?: { reason: string; all: HookObjection[] };
  /** A hook wants the turn to end (`continue: false`). */
  stop?: { reason?: string };
  /** For the model. */
  additionalContext: string[];
  /** For the person. */
  systemMessages: string[];
  /** For the person: what an answer wanted and cannot have, conflicts, exit codes. */
  warnings: string[];
  /** Present when a hook replaced the output; the value may be anything. */
  updatedToolOutput?: { value: unknown };
  updatedMCPToolOutput?: { value: unknown };
  /** The model may try a call again that was denied. */
  retry: boolean;
  /** The additional context takes the place of the prompt. Only set when there is some. */
  suppressOriginalPrompt: boolean;
  /** Where a hook has made a worktree. */
  worktreePath?: string;
  failures: HookFailure[];
  /** The signal aborted before all had answered. */
  cancelled: boolean;
}

/** What happens when no hook is there. */
export const emptyVerdict = (): HookVerdict => ({
  ran: 0,
  additionalContext: [],
  systemMessages: [],
  warnings: [],
  retry: false,
  suppressOriginalPrompt: false,
  failures: [],
  cancelled: false,
});
