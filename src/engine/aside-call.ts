import type { ContentBlock, MessagesBody } from '../protocol/index.js';

export interface AsideCall {
  /** For the log: what the call is for. */
  purpose: string;
  system: string;
  prompt: string;
  maxTokens: number;
  /** The small model when absent. */
  model?: string;
  /** Server tools, as the model API takes them. */
  tools?: MessagesBody['tools'];
  signal: AbortSignal;
}

/** Gives the blocks of the answer. Throws a HeddleError; honours the signal. */
export type CallAside = (call: AsideCall) => Promise<ContentBlock[]>;
