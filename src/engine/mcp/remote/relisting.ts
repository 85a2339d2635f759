/** Reads lists anew after a server said that they changed: soon, once for many such words, and never in a storm. */
import type { Clock } from '../../../protocol/index.js';
import type { McpList } from '../link.js';

const SETTLE_MS = 200;
/** A list that changes again so soon is read less and less often. */
const RESTLESS_MS = 5_000;
const MAX_SETTLE_MS = 10_000;

export class Relisting {
  readonly #clock: Clock;
  readonly #pending = new Map<McpList, () => void>();
  readonly #history = new Map<McpList, { at: number; wait: number }>();
  #read: ((list: McpList) => Promise<void>) | undefined;
  readonly #early = new Set<McpList>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** May come before anybody can read. */
  changed(list: McpList): void {
    if (this.#read === undefined) this.#early.add(list);
    else if (!this.#pending.has(list))
      this.#pending.set(
        list,
        this.#clock.after(this.#waitFor(list), () => this.#go(list)),
      );
  }

  /** `read` never throws. */
  start(read: (list: McpList) => Promise<void>): void {
    this.#read = read;
    for (const list of this.#early) this.changed(list);
  }

  stop(): void {
    for (const cancel of this.#pending.values()) cancel();
    this.#pending.clear();
    this.#read = async () => undefined;
  }

  #waitFor(list: McpList): number {
    const before = this.#history.get(list);
    const isRestless = before !== undefined && this.#clock.monotonic() - before.at < RESTLESS_MS;
    return isRestless ? Math.min(2 * before.wait, MAX_SETTLE_MS) : SETTLE_MS;
  }

  #go(list: McpList): void {
    const wait = this.#waitFor(list);
    this.#pending.delete(list);
    void this.#read?.(list).finally(() => this.#history.set(list, { at: this.#clock.monotonic(), wait }));
  }
}
