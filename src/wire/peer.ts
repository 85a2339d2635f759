/** One side of a Channel: requests, answers, cancellation and messages. Nobody else touches a `request_id`. */
import type {
  Channel,
  Clock,
  ControlRequest,
  ControlResponse,
  EngineRequest,
  HostRequest,
  Logger,
  Message,
  ParamsOf,
  RequestBody,
  RequestSubtype,
  ResultOf,
  UpdateEnvironmentVariables,
} from '../protocol/index.js';
import { AbortError, HeddleError, toHeddleError } from '../protocol/plain.js';
import * as envelope from './envelope.js';
import { fromControlError, toControlError } from './errors.js';
import { Intake } from './intake.js';
import { FrameQueue } from './queue.js';

export type Side = 'host' | 'engine';
/** What a side may ask the other. */
export type SentBy<S extends Side> = S extends 'host' ? HostRequest : EngineRequest;
/** What a side may be asked. */
export type AskedOf<S extends Side> = S extends 'host' ? EngineRequest : HostRequest;

export interface HandlerContext {
  /** Aborts when the other side no longer waits, or the channel closes. What is returned after that does no harm. */
  signal: AbortSignal;
  requestId: string;
}

/** May throw or reject: the message, and the code of a HeddleError, go back as the answer. */
export type Handler<R extends RequestSubtype> = (
  params: ParamsOf<R>,
  context: HandlerContext,
) => ResultOf<R> | Promise<ResultOf<R>>;

export interface PeerOptions<S extends Side> {
  side: S;
  clock: Clock;
  logger?: Logger;
  /** Takes messages as they arrive instead of `messages`, which then stays empty. If it throws, the Peer closes. */
  onMessage?: (message: Message | UpdateEnvironmentVariables) => void;
  /** A frame that is not what it should be. It is dropped and the channel stays open; by default it is logged. */
  onInvalid?: (frame: unknown, error: HeddleError) => void;
}

interface OpenRequest {
  frame: ControlRequest;
  resolve(result: unknown): void;
  reject(error: Error): void;
  /** Stops listening to the signal of the caller. */
  release(): void;
}

type AnyHandler = (params: unknown, context: HandlerContext) => unknown;
type Answer = ControlResponse['response'];

/** Delivery starts in the microtask after construction: handlers registered right away miss nothing. */
export class Peer<S extends Side> {
  readonly channel: Channel;
  /** Whatever is not a control frame, in order. Ends with the input; throws the reason if the channel breaks. */
  readonly messages = new FrameQueue<Message>();
  /** Resolves when nothing can be sent or received any more, with the reason if there was one. Never rejects. */
  readonly closed: Promise<Error | undefined>;
  /** Resolves when the other side sends nothing more. It may still be sent messages and answers. */
  readonly inputEnded: Promise<void>;

  readonly #options: PeerOptions<S>;
  readonly #intake: Intake;
  readonly #handlers = new Map<string, AnyHandler>();
  readonly #open = new Map<string, OpenRequest>();
  readonly #running = new Map<string, AbortController>();
  #resolveClosed: (reason: Error | undefined) => void = () => {};
  #resolveInputEnded: () => void = () => {};
  #stopKeepAlive: () => void = () => {};
  /** Told when every request is answered. */
  readonly #waiting: (() => void)[] = [];
  #hasEnded = false;
  #inputHasEnded = false;
  #closing: { reason: Error | undefined } | undefined;

  constructor(channel: Channel, options: PeerOptions<S>) {
    this.channel = channel;
    this.#options = options;
    this.#intake = new Intake({
      trusted: channel.trusted,
      onFailure: (thrown) => this.close(toHeddleError(thrown)),
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.inputEnded = new Promise((resolve) => {
      this.#resolveInputEnded = resolve;
    });
    queueMicrotask(() => this.#receive());
  }

  /**
   * Asks the other side. Rejects with a HeddleError in its words, with an AbortError when the signal aborts (the other
   * side is told), or with the reason when the channel goes away first.
   */
  request<R extends SentBy<S>>(
    subtype: R,
    params: ParamsOf<R>,
    options: { signal?: AbortSignal } = {},
  ): Promise<ResultOf<R>> {
    const { signal } = options;
    if (this.#closing !== undefined || this.#hasEnded || this.#inputHasEnded) {
      return Promise.reject(this.#closing?.reason ?? unanswered(subtype));
    }
    if (signal?.aborted) return Promise.reject(abortOf(subtype, signal));
    const id = this.#options.clock.uuid();
    const request = { subtype, ...params } as unknown as RequestBody;
    const frame: ControlRequest = { type: 'control_request', request_id: id, request };
    return new Promise<unknown>((resolve, reject) => {
      const cancel = () => {
        this.#settle(id)?.reject(abortOf(subtype, signal));
        this.channel.send({ type: 'control_cancel_request', request_id: id });
      };
      signal?.addEventListener('abort', cancel, { once: true });
      // Known before it is sent, because the answer may come before `send` returns.
      this.#open.set(id, { frame, resolve, reject, release: () => signal?.removeEventListener('abort', cancel) });
      try {
        this.channel.send(frame);
      } catch (thrown) {
        this.#settle(id)?.reject(toHeddleError(thrown));
      }
    }) as Promise<ResultOf<R>>;
  }

  /** Answers requests of one subtype. A subtype without a handler is answered as unsupported. */
  handle<R extends AskedOf<S>>(subtype: R, handler: Handler<R>): void {
    if (this.#handlers.has(subtype)) throw new HeddleError('internal', `${subtype} has a handler already.`);
    this.#handlers.set(subtype, handler as AnyHandler);
  }

  /** Throws `invalid_frame` for what the channel cannot carry. After `end` or `close` it does nothing. */
  send(message: Message | UpdateEnvironmentVariables): void {
    if (this.#canSend()) this.channel.send(message);
  }

  /** As `send` for each, at the price of one: deltas travel in the batches in which they came. */
  sendAll(messages: readonly Message[]): void {
    if (!this.#canSend()) return;
    if (this.channel.sendAll !== undefined) this.channel.sendAll(messages);
    else for (const message of messages) this.channel.send(message);
  }

  /** Sends a sign of life at this interval until `end` or `close`. */
  keepAlive(intervalMs: number): void {
    this.#stopKeepAlive();
    if (!this.#canSend()) return;
    this.#stopKeepAlive = this.#options.clock.after(intervalMs, () => {
      this.channel.send({ type: 'keep_alive' });
      this.keepAlive(intervalMs);
    });
  }

  /** Sends nothing more, answers included. What the other side sends still arrives. */
  end(): void {
    if (!this.#canSend()) return;
    this.#hasEnded = true;
    this.#stopKeepAlive();
    this.channel.end();
    if (this.#inputHasEnded) this.close();
  }

  /** Resolves when no request of the other side is worked on, when the channel is closed, or after this long. */
  answered(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(withinMs, resolve);
      this.#waiting.push(() => {
        cancel();
        resolve();
      });
    });
  }

  close(reason?: Error): void {
    this.#shut(reason);
    this.channel.close(reason);
  }

  #canSend(): boolean {
    return this.#closing === undefined && !this.#hasEnded;
  }

  #receive(): void {
    const receive = (frame: unknown): void => {
      if (this.#intake.isReadyFor(envelope.isObject(frame) ? frame.type : undefined)) this.#take(frame);
      else this.#intake.hold(() => this.#take(frame));
    };
    this.channel.receive({
      frame: receive,
      frames: (frames) => {
        for (const frame of frames) receive(frame);
      },
      end: (error) => this.#intake.inOrder(() => this.#endInput(error)),
      closed: (reason) => this.#intake.inOrder(() => this.#shut(reason)),
      backlog: () => this.messages,
    });
  }

  /** Must not throw: only our own callbacks can, and that closes the Peer. */
  #take(frame: unknown): void {
    if (this.#closing !== undefined) return;
    try {
      this.#dispatch(frame);
    } catch (thrown) {
      this.close(toHeddleError(thrown));
    }
  }

  #dispatch(frame: unknown): void {
    if (!envelope.isObject(frame) || typeof frame.type !== 'string') {
      return this.#reportInvalid(frame, envelope.wrong('frame: type', 'an object with a type'));
    }
    switch (frame.type) {
      case 'control_request':
        return this.#serve(frame);
      case 'control_response':
        return this.#takeAnswer(frame);
      case 'control_cancel_request':
        return this.#cancelHandler(frame);
      case 'keep_alive':
        return;
      default:
        return this.#takeMessage(frame);
    }
  }

  #takeMessage(frame: envelope.Fields): void {
    const { checks } = this.#intake;
    const isChecked = checks !== undefined && frame.type !== 'stream_event';
    const message = isChecked ? this.#read(frame, checks.checkMessage) : (frame as unknown as Message);
    if (message === undefined) return;
    const { onMessage } = this.#options;
    if (onMessage === undefined) this.messages.push(message);
    else onMessage(message);
  }

  #serve(frame: envelope.Fields): void {
    const received = this.#read(frame, envelope.readRequest);
    if (received === undefined) return;
    const { id, subtype, params } = received;
    if (this.#running.has(id)) return this.#log('debug', `Request ${id} is being handled already.`);
    if (subtype === undefined) {
      return this.#answer(toControlError(id, envelope.wrong('control_request: request.subtype', 'string')));
    }
    const handler = this.#handlers.get(subtype);
    if (handler === undefined) return this.#answer(toControlError(id, unsupported(subtype)));

    const controller = new AbortController();
    this.#running.set(id, controller);
    const succeed = (result: unknown): void => {
      const body = result === undefined ? {} : { response: result };
      this.#finish({ subtype: 'success', request_id: id, ...body }, subtype);
    };
    const fail = (thrown: unknown): void => this.#finish(toControlError(id, thrown), subtype);
    let result: unknown;
    try {
      this.#intake.checks?.checkParams(subtype, params);
      result = handler(params, { signal: controller.signal, requestId: id });
    } catch (thrown) {
      return fail(thrown);
    }
    if (isThenable(result)) Promise.resolve(result).then(succeed, fail);
    else succeed(result);
  }

  #finish(answer: Answer, subtype: string): void {
    this.#running.delete(answer.request_id);
    const open = subtype === 'initialize' ? Array.from(this.#open.values(), ({ frame }) => frame) : [];
    this.#answer({ ...answer, ...envelope.listPending(open) } as Answer);
    if (this.#running.size === 0) this.#tellAnswered();
  }

  #tellAnswered(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  #answer(response: Answer): void {
    if (!this.#canSend()) return;
    try {
      this.channel.send({ type: 'control_response', response });
    } catch (thrown) {
      this.channel.send({ type: 'control_response', response: toControlError(response.request_id, thrown) });
    }
  }

  #cancelHandler(frame: envelope.Fields): void {
    const id = this.#read(frame, envelope.readCancelledId);
    if (id === undefined) return;
    this.#running.get(id)?.abort(new AbortError('The other side no longer waits for the answer.'));
  }

  #takeAnswer(frame: envelope.Fields): void {
    const answer = this.#read(frame, envelope.readResponse);
    if (answer === undefined) return;
    const open = this.#settle(answer.request_id);
    if (open === undefined) {
      this.#log('debug', 'An answer came to a request that is not open.', { request_id: answer.request_id });
    } else if (answer.subtype === 'error') {
      open.reject(fromControlError(answer));
    } else {
      this.#resolveChecked(open, answer.response);
    }
    for (const pending of envelope.readPending(answer)) this.#serve(pending);
  }

  #resolveChecked(open: OpenRequest, result: unknown): void {
    try {
      this.#intake.checks?.checkResult(open.frame.request.subtype, result);
    } catch (thrown) {
      return open.reject(toHeddleError(thrown));
    }
    open.resolve(result);
  }

  /** Takes a request off the list, so that it is answered once. */
  #settle(id: string): OpenRequest | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    this.#open.delete(id);
    open.release();
    return open;
  }

  #rejectOpen(reason: Error | undefined): void {
    for (const [id, { frame }] of this.#open) this.#settle(id)?.reject(reason ?? unanswered(frame.request.subtype));
  }

  #endInput(error: Error | undefined): void {
    if (this.#closing !== undefined) return;
    if (error !== undefined) return this.close(error);
    this.#inputHasEnded = true;
    this.#rejectOpen(undefined);
    this.messages.end();
    this.#resolveInputEnded();
    if (this.#hasEnded) this.close();
  }

  #shut(reason: Error | undefined): void {
    if (this.#closing !== undefined) return;
    this.#closing = { reason };
    this.#stopKeepAlive();
    this.#rejectOpen(reason);
    const running = [...this.#running.values()];
    this.#running.clear();
    for (const controller of running) {
      controller.abort(reason ?? new HeddleError('channel_closed', 'The channel was closed.'));
    }
    this.#tellAnswered();
    this.messages.end(reason);
    this.#resolveInputEnded();
    this.#resolveClosed(reason);
  }

  /** Undefined, and reported, when the frame is not what it should be. */
  #read<T>(frame: envelope.Fields, read: (frame: envelope.Fields) => T): T | undefined {
    try {
      return read(frame);
    } catch (thrown) {
      this.#reportInvalid(frame, toHeddleError(thrown));
      return undefined;
    }
  }

  #reportInvalid(frame: unknown, error: HeddleError): void {
    const { onInvalid } = this.#options;
    if (onInvalid === undefined) this.#log('warn', `A frame was dropped. ${error.message}`, { ...error.data });
    else onInvalid(frame, error);
  }

  #log(level: Parameters<Logger>[0], text: string, data?: Record<string, unknown>): void {
    this.#options.logger?.(level, text, data);
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const unanswered = (subtype: string): HeddleError =>
  new HeddleError('channel_closed', `The channel was closed before ${subtype} was answered.`, { data: { subtype } });

const unsupported = (subtype: string): HeddleError =>
  new HeddleError('unsupported_request', `Unsupported control request subtype: ${subtype}`);

const abortOf = (subtype: string, signal: AbortSignal | undefined): AbortError =>
  new AbortError(`${subtype} was aborted before it was answered.`, signal?.reason);
