import type { HookInput, HookMatcherConfig, HookOutput, ParamsOf } from '../protocol/index.js';
import { HeddleError, type HookEvent } from '../protocol/plain.js';

/** Runs when its event happens. A gate that throws or never answers does not open. */
export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookOutput>;

export interface HookCallbackMatcher {
  /** A pattern for tool names; absent: every one. */
  matcher?: string;
  hooks: HookCallback[];
  /** Seconds. */
  timeout?: number;
}

export type Hooks = Partial<Record<HookEvent, HookCallbackMatcher[]>>;

/** The engine knows hook callbacks by id; here is who they are. */
export interface HookBridge {
  /** For `initialize`. Undefined when there are none. */
  readonly config: Record<string, HookMatcherConfig[]> | undefined;
  answer(params: ParamsOf<'hook_callback'>, signal: AbortSignal): Promise<HookOutput>;
}

export function createHookBridge(hooks: Hooks = {}): HookBridge {
  const callbacks = new Map<string, HookCallback>();
  const config: Record<string, HookMatcherConfig[]> = {};
  for (const [event, matchers] of Object.entries(hooks)) {
    if (matchers.length === 0) continue;
    config[event] = matchers.map(({ matcher, hooks: list, timeout }) => ({
      hookCallbackIds: list.map((callback) => {
        const id = `hook_${callbacks.size}`;
        callbacks.set(id, callback);
        return id;
      }),
      ...(matcher !== undefined && { matcher }),
      ...(timeout !== undefined && { timeout }),
    }));
  }
  return {
    config: callbacks.size > 0 ? config : undefined,
    answer({ callback_id, input, tool_use_id }, signal) {
      const callback = callbacks.get(callback_id);
      if (callback === undefined) throw new HeddleError('invalid_frame', `There is no hook callback ${callback_id}.`);
      return callback(input, tool_use_id ?? undefined, { signal });
    },
  };
}
