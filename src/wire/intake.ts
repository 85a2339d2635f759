/** What a Peer on an untrusted channel does with frames: check them by schema, in the order in which they came. */
import type * as protocol from '../protocol/index.js';

export type Checks = Pick<typeof protocol, 'checkMessage' | 'checkParams' | 'checkResult'>;

/** Deltas and signs of life are not checked, so they never wait for the schemas to load. */
const UNCHECKED = new Set(['stream_event', 'keep_alive', 'control_cancel_request']);

/** Loads the schemas when the first frame needs them; everything after that frame waits behind it. */
export class Intake {
  readonly #trusted: boolean;
  readonly #onFailure: (error: unknown) => void;
  #checks: Checks | undefined;
  #held: (() => void)[] | undefined;

  constructor(options: { trusted: boolean; onFailure: (error: unknown) => void }) {
    this.#trusted = options.trusted;
    this.#onFailure = options.onFailure;
  }

  /** Absent on a trusted channel, where nothing is checked. */
  get checks(): Checks | undefined {
    return this.#checks;
  }

  /** True when something of this type can be handled now. Otherwise it must be given to `hold`. */
  isReadyFor(type: unknown): boolean {
    if (this.#trusted) return true;
    if (this.#held !== undefined) return false;
    return this.#checks !== undefined || (typeof type === 'string' && UNCHECKED.has(type));
  }

  /** Handles it after everything held before. */
  hold(action: () => void): void {
    if (this.#held !== undefined) {
      this.#held.push(action);
      return;
    }
    this.#held = [action];
    this.#load().catch(this.#onFailure);
  }

  /** For what needs no schema, but must not overtake what does. */
  inOrder(action: () => void): void {
    if (this.#held === undefined) action();
    else this.#held.push(action);
  }

  async #load(): Promise<void> {
    this.#checks = await import('../protocol/index.js');
    // An action may lead to more being held, which then belongs to the end of this very list.
    for (const action of this.#held ?? []) action();
    this.#held = undefined;
  }
}
