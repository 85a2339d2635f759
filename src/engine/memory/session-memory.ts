/** The instructions that a session goes by. Types only. */
import type { MemoryFile } from './reader.js';

export interface SessionMemory {
  /** All that is in force, nested ones too. */
  readonly files: readonly MemoryFile[];
  /** What counts from the start as it is now, without telling anyone of it. Never rejects. */
  look(): Promise<readonly MemoryFile[]>;
  /** Reads what counts from the start. Gives the text for the model; undefined where there is nothing. Never rejects. */
  tellAll(reason: 'session_start' | 'compact', signal: AbortSignal): Promise<string | undefined>;
  /** A tool has read or changed these files, links resolved. Gives what the model is told of their folders. Never rejects. */
  tellNested(paths: readonly string[], signal: AbortSignal): Promise<string[]>;
}
