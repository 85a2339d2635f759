/** The hooks of a session. What runs them is loaded when something is declared: most sessions have none. */
import type { HookEvent } from '../../protocol/plain.js';
import type { CallbackSource, LoadedHookSource } from './definition.js';
import { emptyVerdict, type HookVerdict } from './verdict.js';
import type { FireOptions, HookFields, Hooks } from './registry.js';

export interface SessionHooks {
  has(event: HookEvent): boolean;
  /** Runs the hooks that the event calls for, and says what they come to. Never rejects. */
  fire<E extends HookEvent>(event: E, fields: HookFields<E>, options: FireOptions): Promise<HookVerdict>;
  /** Adds the callbacks of one more host; the returned function takes them away again. */
  attach(source: CallbackSource): Promise<() => void>;
  replaceSettings(sources: readonly LoadedHookSource[]): Promise<void>;
  close(): void;
}

/** `open` is called once, when the first hook is declared. */
export function createSessionHooks(open: () => Promise<Hooks>): SessionHooks {
  let loading: Promise<Hooks> | undefined;
  let loaded: Hooks | undefined;
  const load = async (): Promise<Hooks> => {
    loading ??= open();
    loaded = await loading;
    return loaded;
  };
  return {
    has: (event) => loaded?.has(event) ?? false,
    fire: (event, fields, fireOptions) => loaded?.fire(event, fields, fireOptions) ?? Promise.resolve(emptyVerdict()),
    attach: async (source) => (await load()).attach(source),
    async replaceSettings(sources) {
      if (loaded !== undefined || sources.length > 0) (await load()).replaceSettings(sources);
    },
    close: () => loaded?.close(),
  };
}
