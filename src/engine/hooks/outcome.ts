/** How one hook ended. */
import type { SyncHookOutput } from '../../protocol/index.js';
import type { RuleLayerName } from '../permissions/layers.js';

/** Who declared a hook. */
export type HookLayer = RuleLayerName | 'callback';

export type FailureKind =
  | 'timeout'
  /** A callback threw, or whoever owns it is gone. */
  | 'error'
  /** A command could not be started. */
  | 'start'
  /** A command was killed by a signal. */
  | 'signal'
  /** The answer has not the shape it must have. */
  | 'invalid'
  | 'http'
  | 'model'
  /** A tool of an MCP server could not be called, or failed. */
  | 'tool'
  | 'unsupported';

export interface HookFailure {
  /** `PreToolUse:Bash`. */
  hookName: string;
  /** "callback", the command, the address. */
  source: string;
  layer: HookLayer;
  kind: FailureKind;
  /** One sentence: what went wrong. */
  message: string;
}

export type HookOutcome =
  | { kind: 'output'; output: SyncHookOutput }
  /** Plain text that is context for the model. */
  | { kind: 'context'; text: string }
  /** Says no without an answer in JSON. `byExit`: with exit code 2. */
  | { kind: 'block'; reason: string; byExit: boolean }
  | { kind: 'nothing' }
  /** Something the person should know; it changes nothing. */
  | { kind: 'warning'; text: string }
  | { kind: 'failed'; failure: Pick<HookFailure, 'kind' | 'message'> }
  /** It was told to stop before it had answered. */
  | { kind: 'cancelled' };

/** What a hook that fails does, from loose to strict. */
export const FAILURE_EFFECTS = ['allow', 'ask', 'deny'] as const;
export type FailureEffect = (typeof FAILURE_EFFECTS)[number];

export const failed = (kind: FailureKind, message: string): HookOutcome => ({
  kind: 'failed',
  failure: { kind, message },
});
