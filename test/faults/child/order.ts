/** What a process of ours is told to do, and what it tells. */
import type { MessageParam } from '../../../src/protocol/index.js';

export interface AgentOrder {
  configDir: string;
  cwd: string;
  sessionId: string;
  /** `new` when absent. */
  open?: 'new' | 'resume' | 'fork';
  /** Absent: it goes on with the turn that was left unfinished. */
  prompt?: string;
  /** What is said when there is no such turn. */
  orPrompt?: string;
  /** What the person says who is asked; absent: nobody can be asked. */
  answer?: 'allow' | 'deny' | 'never';
  /** What the model wants: one call of Count, many calls that write files, or one command. */
  plan: 'count' | 'files' | { command: string };
  /** The point at which the process stands still until it is killed. */
  stopAt?: string;
  env?: Record<string, string>;
  /** A file that fills the disk of the configuration before the first call, and is gone before the second prompt. */
  ballast?: string;
}

export type Said =
  | { at: string }
  | { asked: string }
  | { request: MessageParam[] }
  | { message: { type: string; subtype?: string; [field: string]: unknown } }
  | { continued: boolean }
  | { error: { code: string; message: string; hint: string } }
  | { end: true };
