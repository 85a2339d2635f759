/** The hooks of a session. What runs them is loaded when something is declared: most sessions have none. */
import type { HookEvent } from '../../protocol/plain.js';
import type { CallbackSource, HookDefinition, LoadedHookSource } from './definition.js';
import { emptyVerdict, type HookVerdict } from './verdict.js';
import type { FireOptions, HookFields, Hooks, LateOutput } from './registry.js';

export interface SessionHooks {
  /** In an agent, when one is named. */
  has(event: HookEvent, agentId?: string): boolean;
  /** Runs the hooks that the event calls for, and says what they come to. Never rejects. */
  fire<E extends HookEvent>(event: E, fields: HookFields<E>, options: FireOptions): Promise<HookVerdict>;
  /** A turn begins: what happens until the next call belongs to it. Undefined: no turn runs. */
  follow(turn: AbortSignal | undefined): void;
  /** The signal of the turn that runs, for what is not told which one that is. */
  readonly turnSignal: AbortSignal;
  /** Adds the callbacks of one more host; the returned function takes them away again. */
  attach(source: CallbackSource): Promise<() => void>;
  /** Adds hooks that count for what happens in one agent; the returned function takes them away again. */
  adopt(agentId: string, source: LoadedHookSource): Promise<() => void>;
  replaceSettings(sources: readonly LoadedHookSource[]): Promise<void>;
  /** Those that count for the session, agents' own not among them. */
  readonly list: readonly HookDefinition[];
  /** Tells the person what is wrong with callbacks, each thing once. */
  tellProblems(): void;
  /** What the model should read with the next prompt: its moment has passed. */
  tellLater(texts: readonly string[]): void;
  /** Calls back with what comes late, and when a hook that nobody waited for is over. */
  listen(onLate: (late: LateOutput) => void): void;
  close(): void;
}

/** `open` is called once, when the first hook is declared. */
export function createSessionHooks(open: (onLate: (late: LateOutput) => void) => Promise<Hooks>): SessionHooks {
  let listener: (late: LateOutput) => void = () => {};
  let loading: Promise<Hooks> | undefined;
  let loaded: Hooks | undefined;
  let turn: AbortSignal | undefined;
  const load = async (): Promise<Hooks> => {
    loading ??= open((late) => listener(late));
    loaded = await loading;
    return loaded;
  };
  return {
    has: (event, agentId) => loaded?.has(event, agentId) ?? false,
    fire: (event, fields, fireOptions) => loaded?.fire(event, fields, fireOptions) ?? Promise.resolve(emptyVerdict()),
    follow(signal) {
      turn = signal;
    },
    get turnSignal() {
      return turn ?? new AbortController().signal;
    },
    attach: async (source) => (await load()).attach(source),
    adopt: async (agentId, source) => (await load()).adopt(agentId, source),
    async replaceSettings(sources) {
      if (loaded !== undefined || sources.length > 0) (await load()).replaceSettings(sources);
    },
    get list() {
      return loaded?.list ?? [];
    },
    tellProblems: () => loaded?.tellProblems(),
    tellLater: (texts) => listener({ texts: [...texts], rewake: false }),
    listen(onLate) {
      listener = onLate;
    },
    close: () => loaded?.close(),
  };
}
