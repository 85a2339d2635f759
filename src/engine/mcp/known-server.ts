/** The life of one server in a session: connecting, being there, being lost, coming back. */
import type { Clock, McpConnectionState } from '../../protocol/index.js';
import { HeddleError, toHeddleError } from '../../protocol/plain.js';
import type { McpLink, McpList } from './link.js';
import { showName } from './names.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const MAX_RETRIES = 5;
/** A connection that has stood for so long, or has answered a call, was a success: what comes after it counts anew. */
const STEADY_MS = 60_000;
const CLOSE_MS = 5_000;

export interface ServerEvents {
  /** Its status is another. */
  status(): void;
  /** One of its lists is another. */
  list(list: McpList): void;
}

export interface KnownServerParts {
  clock: Clock;
  /** Longer than this nobody waits for it to say what it has. */
  connectMs: number;
  /** Greets it. The signal aborts when nobody waits for it any longer. */
  connect(signal: AbortSignal): Promise<McpLink>;
  events: ServerEvents;
  /** Why it must never be connected, and what it is then. */
  refusal?: { status: 'failed' | 'disabled'; reason: string } | undefined;
  /** Takes why it is not there, where that is not for those who use it. */
  withhold?: ((reason: string) => void) | undefined;
}

export class KnownServer {
  readonly name: string;
  readonly #parts: KnownServerParts;
  #status: McpConnectionState = 'pending';
  #error: string | undefined;
  #link: McpLink | undefined;
  #connectedAt = 0;
  /** Connections that were lost in a row, without a success between them. */
  #losses = 0;
  /** Ends what is under way: an attempt, or the pause before one. */
  #stop: () => void = () => {};
  #attempt: Promise<void> = Promise.resolve();
  #isUntouched = true;

  constructor(name: string, parts: KnownServerParts) {
    this.name = name;
    this.#parts = parts;
    const { refusal } = parts;
    if (refusal === undefined) return;
    this.#status = refusal.status;
    this.#error = this.#tellable(refusal.reason);
  }

  get status(): McpConnectionState {
    return this.#status;
  }

  /** Why it is not there, or why it was not. */
  get error(): string | undefined {
    return this.#error;
  }

  get link(): McpLink | undefined {
    return this.#link;
  }

  /** It is there, or may come by itself. */
  get isExpected(): boolean {
    return this.#status === 'connected' || this.#status === 'pending';
  }

  /** Nobody has connected it or switched it off yet. */
  get isUntouched(): boolean {
    return this.#isUntouched;
  }

  /** Resolves when what is under way now has come to an end. */
  get settled(): Promise<void> {
    return this.#attempt;
  }

  /** Connects, anew if it is connected. Resolves when it is there or has failed; the status says which. */
  connect(): Promise<void> {
    if (this.#parts.refusal !== undefined) return Promise.resolve();
    const closing = this.#leave();
    this.#losses = 0;
    this.#error = undefined;
    this.#attempt = this.#try(closing);
    return this.#attempt;
  }

  /** Ends the connection; it stays known. */
  disable(): Promise<void> {
    const closing = this.#leave();
    if (this.#parts.refusal === undefined) {
      this.#error = undefined;
      this.#become('disabled');
    }
    return closing;
  }

  close(): Promise<void> {
    return this.#leave();
  }

  /** Throws an error that says why it cannot be used now. */
  use(): McpLink {
    if (this.#link !== undefined) return this.#link;
    throw new HeddleError('request_failed', describeAbsence(this), { data: { server: this.name, phase: 'connect' } });
  }

  /** A call was answered: the server works. */
  noteSuccess(): void {
    this.#losses = 0;
  }

  /** Ends whatever is under way. Resolves when the old connection is gone, or does not go. */
  #leave(): Promise<void> {
    this.#isUntouched = false;
    this.#stop();
    this.#stop = () => {};
    const link = this.#link;
    this.#link = undefined;
    return link === undefined ? Promise.resolve() : closeWithin(this.#parts.clock, link);
  }

  /** One attempt, bounded in time. Never throws. */
  async #try(closing: Promise<void> = Promise.resolve()): Promise<void> {
    const { clock, connect, connectMs } = this.#parts;
    const abort = new AbortController();
    const over = Promise.withResolvers<'left' | 'late'>();
    const cancel = clock.after(connectMs, () => over.resolve('late'));
    let isLeft = false;
    this.#stop = () => {
      isLeft = true;
      over.resolve('left');
    };
    this.#become('pending');
    // Two processes of one server may want the same file or port.
    const making = closing.then(() => connect(abort.signal));
    try {
      const made = await Promise.race([making, over.promise]);
      if (typeof made === 'object' && !isLeft) return this.#welcome(made);
      abort.abort();
      making.then(
        (link) => closeWithin(clock, link),
        () => {},
      );
      if (!isLeft) this.#fail(lateError(this.name, connectMs));
    } catch (thrown) {
      if (!isLeft) this.#fail(toHeddleError(thrown));
    } finally {
      cancel();
    }
  }

  #welcome(link: McpLink): void {
    this.#link = link;
    this.#connectedAt = this.#parts.clock.monotonic();
    this.#error = undefined;
    this.#stop = () => {};
    link.onChange((list) => {
      if (this.#link === link) this.#parts.events.list(list);
    });
    link.onLost((reason) => {
      if (this.#link === link) this.#lose(reason);
    });
    this.#become('connected');
  }

  #lose(reason: Error): void {
    this.#link = undefined;
    if (this.#parts.clock.monotonic() - this.#connectedAt >= STEADY_MS) this.#losses = 0;
    if (isAuthWanted(reason)) this.#wantAuth(reason);
    else this.#retry(reason.message);
  }

  #fail(error: HeddleError): void {
    if (isAuthWanted(error)) return this.#wantAuth(error);
    // One that has never been there is not tried again: it is misspelt, or not installed.
    if (this.#losses > 0) return this.#retry(error.message);
    this.#error = this.#tellable(error.message);
    this.#become('failed');
  }

  #wantAuth({ message }: Error): void {
    this.#error = this.#tellable(message);
    this.#become('needs-auth');
  }

  #retry(why: string): void {
    const reason = this.#tellable(why);
    this.#losses += 1;
    // The end of its stderr stands on lines of its own.
    const gap = reason.includes('\n') ? '\n' : ' ';
    if (this.#losses > MAX_RETRIES) {
      this.#error = `${reason}${gap}It was tried again ${MAX_RETRIES} times.`;
      return this.#become('failed');
    }
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (this.#losses - 1), LONGEST_PAUSE_MS);
    this.#error = `${reason}${gap}It is tried again ${pause / 1000} s later (${this.#losses} of ${MAX_RETRIES}).`;
    const again = () => {
      this.#attempt = this.#try();
    };
    this.#stop = this.#parts.clock.after(pause, again, { background: true });
    this.#become('pending');
  }

  #tellable(reason: string): string {
    const { withhold } = this.#parts;
    withhold?.(reason);
    return withhold === undefined ? reason : WITHHELD;
  }

  #become(status: McpConnectionState): void {
    this.#status = status;
    this.#parts.events.status();
  }
}

const WITHHELD = 'The log of the machine that it belongs to says why.';

const isAuthWanted = (error: Error): boolean => error instanceof HeddleError && error.data.needsAuth === true;

const lateError = (server: string, ms: number): HeddleError =>
  new HeddleError(
    'request_failed',
    `MCP server ${showName(server)} failed in connect: it did not say what it has within ${ms / 1000} s.`,
    { data: { server, phase: 'connect' } },
  );

/** In words why a call cannot reach a server. */
export function describeAbsence({ name, status, error }: Pick<KnownServer, 'name' | 'status' | 'error'>): string {
  const states: Readonly<Record<string, string>> = {
    pending: error === undefined ? 'is still connecting' : 'is connecting again',
    disabled: 'is switched off',
    'needs-auth': 'wants someone to sign in',
    failed: 'is not connected',
  };
  const text = `MCP server ${showName(name)} ${states[status] ?? 'is not connected'}.`;
  return error === undefined ? text : `${text} ${error}`;
}

/** A server that does not go is left behind. */
function closeWithin(clock: Clock, link: McpLink): Promise<void> {
  const over = Promise.withResolvers<void>();
  const cancel = clock.after(CLOSE_MS, over.resolve, { background: true });
  link
    .close()
    .catch(() => {})
    .finally(() => {
      cancel();
      over.resolve();
    });
  return over.promise;
}
