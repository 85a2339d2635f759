import type { UserMessage } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { SDKMessage, SDKResultMessage } from './names.js';
import type { Options } from './options.js';
import { openQuery } from './query.js';
import { type QueryHandle, toUserMessage } from './query-handle.js';

/** The options of a session; the model is not a matter of taste here. */
export type SDKSessionOptions = Options & { model: string };

/** A conversation of several turns: send, then read until the result. */
export interface SDKSession {
  /** Known from the first message on; throws before. */
  readonly sessionId: string;
  send(message: string | UserMessage): Promise<void>;
  /** The messages up to the next result. */
  stream(): AsyncGenerator<SDKMessage, void>;
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

class Conversation implements SDKSession {
  readonly #run: QueryHandle;
  #sessionId: string | undefined;

  constructor(options: SDKSessionOptions) {
    this.#sessionId = options.resume;
    this.#run = openQuery(options);
  }

  get sessionId(): string {
    if (this.#sessionId !== undefined) return this.#sessionId;
    throw new HeddleError('invalid_config', 'The session has no id before its first message.', {
      hint: 'Read a message of stream() first.',
    });
  }

  send(message: string | UserMessage): Promise<void> {
    return this.#run.send(typeof message === 'string' ? toUserMessage(message) : message);
  }

  async *stream(): AsyncGenerator<SDKMessage, void> {
    for (;;) {
      const { value, done } = await this.#run.next();
      if (done || value === undefined) return;
      if ('session_id' in value && value.session_id) this.#sessionId = value.session_id;
      yield value;
      if (value.type === 'result') return;
    }
  }

  close(): void {
    this.#run.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

export const unstable_v2_createSession = (options: SDKSessionOptions): SDKSession => new Conversation(options);

export const unstable_v2_resumeSession = (sessionId: string, options: SDKSessionOptions): SDKSession =>
  new Conversation({ ...options, resume: sessionId });

/** One prompt, one result. */
export async function unstable_v2_prompt(message: string, options: SDKSessionOptions): Promise<SDKResultMessage> {
  await using session = unstable_v2_createSession(options);
  await session.send(message);
  for await (const received of session.stream()) if (received.type === 'result') return received;
  throw new HeddleError('channel_closed', 'The session ended without a result.');
}
