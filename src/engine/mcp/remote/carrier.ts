import type { Transport } from '@modelcontextprotocol/client';
import type { Evidence } from './phase-error.js';

/** Says what went wrong without ending anything. Bounded: a server cannot fill a log with it. */
export type Note = (text: string, data?: Record<string, unknown>) => void;

/** What carries the messages of one server. */
export interface Carrier extends Transport {
  /** Something at the other end has answered or at least been started. */
  readonly isStarted: boolean;
  /** Why it is gone, where it went by itself. */
  readonly failure: Error | undefined;
  readonly evidence: Evidence;
}
