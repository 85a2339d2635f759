/** Tells a wait that takes too long from one that only looks so. */
import type { Clock } from '../../protocol/index.js';

export interface Watchdog {
  /** A wait begins. */
  begin(): void;
  /** It is over. A pause between waits (a consumer that sleeps) never counts. */
  end(): void;
  /** No timer is left behind, and `onStall` is not called any more. */
  stop(): void;
}

/**
 * Calls `onStall` when one wait lasts `ms`. There is at most one timer, moved on only when it fires, so a wait costs a
 * look at the clock. A process that was suspended, or a clock that jumped, finds its timer due before it has looked
 * at its sockets: so a due timer first lets the event loop read what is there, and only then calls the wait a stall.
 */
export function createWatchdog(options: { clock: Clock; ms: number; onStall: () => void }): Watchdog {
  const { clock, ms, onStall } = options;
  let since: number | undefined;
  let wait = 0;
  let cancel: (() => void) | undefined;

  const arm = (left: number): void => {
    cancel = clock.after(left, look);
  };

  const look = (): void => {
    cancel = undefined;
    if (since === undefined) return;
    const left = since + ms - clock.monotonic();
    if (left > 0) return arm(left);
    const suspect = wait;
    afterTwoTurns(() => {
      if (since !== undefined && wait === suspect) onStall();
    });
  };

  return {
    begin() {
      since = clock.monotonic();
      wait += 1;
      if (cancel === undefined) arm(ms);
    },
    end() {
      since = undefined;
    },
    stop() {
      since = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}

/** The second turn has been through a whole poll for I/O, wherever in the loop the first one began. */
function afterTwoTurns(callback: () => void): void {
  setImmediate(() => setImmediate(callback));
}
