/** What hooks hear, and say, of the start of a session and of its end. */
import type { HookEvent } from '../../protocol/plain.js';
import type { SessionScope } from '../scope.js';
import { type SessionOpening, stopReasonOf, toContexts } from './around-turn.js';
import type { HookVerdict } from './verdict.js';

/** Tells each start and each end once, whatever the session is used for in between. */
export class SessionSpan {
  readonly #scope: SessionScope;
  /** The hooks know of the session. */
  #hasStarted = false;
  /** They were told that the conversation ended, and not yet that another one begins. */
  #wasCleared = false;
  /** Resolves when they know of its end, as far as they were told. */
  #tellingEnd: Promise<void> = Promise.resolve();

  constructor(scope: SessionScope) {
    this.#scope = scope;
  }

  /** A message is about to be answered. A folder is set up before a session in it starts. */
  async open(signal: AbortSignal): Promise<SessionOpening> {
    const { hooks, state, config, recorder } = this.#scope;
    const opening: SessionOpening = { before: [] };
    if (this.#hasStarted) return opening;
    const isNew = !recorder.log.entries.some((entry) => entry.type === 'user');
    const source = this.#wasCleared ? 'clear' : isNew ? 'startup' : 'resume';
    this.#hasStarted = true;
    this.#wasCleared = false;
    const take = (event: HookEvent, verdict: HookVerdict): void => {
      opening.before.push(...toContexts(event, verdict));
      const reason = stopReasonOf(verdict);
      if (reason !== undefined) opening.stopped ??= { event, reason };
    };
    const { setup: trigger } = config;
    if (trigger !== undefined && source !== 'clear' && hooks.has('Setup'))
      take('Setup', await hooks.fire('Setup', { trigger }, { signal }));
    if (hooks.has('SessionStart')) {
      take('SessionStart', await hooks.fire('SessionStart', { source, model: state.model.model }, { signal }));
    }
    return opening;
  }

  /** The conversation ends; another one begins with the next message. */
  async clear(signal: AbortSignal): Promise<void> {
    await this.#scope.hooks.fire('SessionEnd', { reason: 'clear' }, { signal });
    this.#wasCleared = true;
    this.#hasStarted = false;
  }

  end(signal: AbortSignal): Promise<void> {
    if (!this.#hasStarted) return this.#tellingEnd;
    this.#hasStarted = false;
    this.#tellingEnd = this.#scope.hooks.fire('SessionEnd', { reason: 'other' }, { signal }).then(() => undefined);
    return this.#tellingEnd;
  }
}
