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
  /** What happens when a callback throws or does not answer in time. Absent: gates ask, others go on. */
  onFailure?: 'allow' | 'ask' | 'deny';
}

export type Hooks = Partial<Record<HookEvent, HookCallbackMatcher[]>>;

/** The engine knows hook callbacks by id; here is who they are. */
export interface HookBridge {
  /** For `initialize`. Undefined when there are none. */
  readonly config: Record<string, HookMatcherConfig[]> | undefined;
  answer(params: ParamsOf<'hook_callback'>, signal: AbortSignal): Promise<HookOutput>;
}

/** Throws `invalid_config` for what is no table of callbacks. */
export function createHookBridge(hooks: Hooks = {}): HookBridge {
  checkHooks(hooks);
  const callbacks = new Map<string, HookCallback>();
  const config: Record<string, HookMatcherConfig[]> = {};
  for (const [event, matchers] of Object.entries(hooks)) {
    if (matchers === undefined || matchers.length === 0) continue;
    config[event] = matchers.map(({ hooks: list, matcher, timeout, onFailure }) => ({
      hookCallbackIds: list.map((callback) => {
        const id = `hook_${callbacks.size}`;
        callbacks.set(id, callback);
        return id;
      }),
      ...(matcher !== undefined && { matcher }),
      ...(timeout !== undefined && { timeout }),
      ...(onFailure !== undefined && { onFailure }),
    }));
  }
  return {
    config: callbacks.size > 0 ? config : undefined,
    answer({ callback_id, input, tool_use_id }, signal) {
      const callback = callbacks.get(callback_id);
      if (callback === undefined) throw new HeddleError('invalid_frame', `There is no hook callback ${callback_id}.`);
      return Promise.resolve(callback(input, tool_use_id ?? undefined, { signal })).then(toPlain);
    },
  };
}

/** A copy. What JSON would lose without a word, such as the entries of a Map, may have been a refusal. */
const toPlain = (answer: HookOutput): HookOutput => {
  const json = JSON.stringify(answer, (_key, value: unknown) => {
    if (!isPlain(value))
      throw new HeddleError('invalid_answer', `The answer of a hook must be plain data, and has ${nameOf(value)}.`);
    return value;
  });
  return json === undefined ? answer : (JSON.parse(json) as HookOutput);
};

function isPlain(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const nameOf = (value: unknown): string =>
  typeof value === 'object' ? `an object of the class ${value?.constructor?.name}` : `a ${typeof value}`;

const EFFECTS: readonly unknown[] = ['allow', 'ask', 'deny', undefined];

function checkHooks(hooks: Hooks): void {
  if (!isTable(hooks)) throw invalid('hooks', 'a table of events');
  for (const [event, matchers] of Object.entries(hooks)) {
    if (matchers === undefined) continue;
    if (!Array.isArray(matchers)) throw invalid(`hooks.${event}`, 'a list of { matcher?, hooks }');
    for (const [at, matcher] of matchers.entries()) {
      const path = `hooks.${event}[${at}]`;
      if (!isTable(matcher)) throw invalid(path, '{ matcher?, hooks }');
      const { hooks: list, onFailure, matcher: names, timeout }: Record<string, unknown> = { ...matcher };
      if (!Array.isArray(list) || list.some((hook) => typeof hook !== 'function')) {
        throw invalid(`${path}.hooks`, 'a list of functions');
      }
      if (!isTextOrNothing(names)) throw invalid(`${path}.matcher`, 'a string');
      if (timeout !== undefined && timeout !== null && typeof timeout !== 'number') {
        throw invalid(`${path}.timeout`, 'a number of seconds');
      }
      if (!EFFECTS.includes(onFailure)) throw invalid(`${path}.onFailure`, 'allow, ask or deny');
    }
  }
}

const isTextOrNothing = (value: unknown): boolean => value === undefined || value === null || typeof value === 'string';

const isTable = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const invalid = (path: string, expected: string): HeddleError =>
  new HeddleError('invalid_config', `${path} must be ${expected}.`, {
    hint: `Correct ${path}, or leave it out.`,
    data: { path },
  });
