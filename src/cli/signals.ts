/** What signals do: the first SIGINT asks politely, TERM and HUP clean up within a bound, and a second one ends at once. */

export const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_CODES;

export interface SignalPlan {
  /** The first SIGINT. Must not throw. */
  onInterrupt: () => void;
  /** The first SIGTERM or SIGHUP; the program ends when it settles, or after `closeWithinMs`. */
  close: () => Promise<void>;
  closeWithinMs?: number;
}

export interface SignalWatch {
  /** The exit code a signal asked for. */
  readonly exitCode: number | undefined;
  /** As if SIGINT had come: a terminal in raw mode sends none. */
  interrupt(): void;
  /** From here on another plan counts. To stop and watch anew would lose a signal that is on its way. */
  follow(plan: SignalPlan): void;
  /** A new turn: the next SIGINT is a first one again. */
  rearm(): void;
  stop(): void;
}

const CLOSE_WITHIN_MS = 6_000;

export function watchSignals(first: SignalPlan): SignalWatch {
  let plan = first;
  let seen: Signal | undefined;

  const onSignal = (signal: NodeJS.Signals): void => {
    const name = signal as Signal;
    // TERM after INT still gets its chance to clean up; the same or a weaker signal again means "now".
    if (seen !== undefined && (seen === name || seen !== 'SIGINT')) process.exit(EXIT_CODES[name]);
    seen = name;
    if (name === 'SIGINT') {
      plan.onInterrupt();
      return;
    }
    const leave = (): never => process.exit(EXIT_CODES[name]);
    setTimeout(leave, plan.closeWithinMs ?? CLOSE_WITHIN_MS).unref();
    plan.close().then(leave, leave);
  };

  const signals = Object.keys(EXIT_CODES) as Signal[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    get exitCode() {
      return seen === undefined ? undefined : EXIT_CODES[seen];
    },
    follow(next) {
      plan = next;
    },
    interrupt: () => onSignal('SIGINT'),
    rearm() {
      if (seen === 'SIGINT') seen = undefined;
    },
    stop() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
