/** The instructions that a session goes by. Types only. */
import type { MemoryFile } from './reader.js';

export interface SessionMemory {
  /** What counts from the start. */
  readonly files: readonly MemoryFile[];
  /** What counts from the start as it is now, without telling anyone of it. Never rejects. */
  look(): Promise<readonly MemoryFile[]>;
  /** What was told since, of folders that were touched. */
  readonly nested: readonly MemoryFile[];
  /** The conversation begins anew: what was told of folders is not in it. */
  forget(): void;
  /** Reads what counts from the start. Gives the text for the model; undefined where there is nothing. Never rejects. */
  tellAll(reason: 'session_start' | 'compact', signal: AbortSignal): Promise<string | undefined>;
  /** A tool has read or changed these files, links resolved. Gives what the model is told of their folders. Never rejects. */
  tellNested(paths: readonly string[], signal: AbortSignal): Promise<string[]>;
}
