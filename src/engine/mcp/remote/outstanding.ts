/** Which requests of ours wait for an answer: progress finds its way to them, and an answer to none of them is noticed. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { McpProgress } from '../link.js';
import type { Note } from './carrier.js';
import { isRecord, toPlainText } from './text.js';

/** Answers to what was cancelled may still be on their way; beyond so many they are nobody's. */
const REMEMBERED = 1_000;
const ID_NOTES = 5;
const PROGRESS_CHARS = 1_024;

export class Outstanding {
  readonly #waiting = new Set<string>();
  readonly #cancelled = new Set<string>();
  readonly #note: Note;
  readonly #watchers = new Map<string, (progress: McpProgress) => void>();
  #strays = 0;
  #tokens = 0;

  constructor(note: Note) {
    this.#note = note;
  }

  /** The id of the request that this message makes or takes back, where it does either. */
  sent(message: JSONRPCMessage): { asks?: string; cancels?: string } {
    if (!('method' in message)) return {};
    if ('id' in message) {
      const id = String(message.id);
      this.#waiting.add(id);
      return { asks: id };
    }
    if (message.method !== 'notifications/cancelled') return {};
    const id = String(message.params?.requestId);
    this.#waiting.delete(id);
    this.#cancelled.add(id);
    const [oldest] = this.#cancelled;
    if (oldest !== undefined && this.#cancelled.size > REMEMBERED) this.#cancelled.delete(oldest);
    return { cancels: id };
  }

  /** Gives a token for the request, and an end to the watching. */
  watch(onProgress: (progress: McpProgress) => void): { progressToken: string; end: () => void } {
    this.#tokens += 1;
    const progressToken = `p${this.#tokens}`;
    this.#watchers.set(progressToken, onProgress);
    return { progressToken, end: () => void this.#watchers.delete(progressToken) };
  }

  /**
   * False for what goes no further: an answer that nobody waits for, and progress. The library would tell that later
   * than it gives an answer which came after it.
   */
  admits(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if (message.method !== 'notifications/progress') return true;
      this.#tell(message.params);
      return false;
    }
    const id = String(message.id);
    if (this.#waiting.delete(id)) return true;
    if (this.#cancelled.delete(id)) return false;
    this.#strays += 1;
    if (this.#strays <= ID_NOTES) {
      this.#note('It answered a request that was not made; the answer was ignored.', {
        id: toPlainText(id, 100),
        count: this.#strays,
      });
    }
    return false;
  }

  #tell(params: unknown): void {
    if (!isRecord(params) || typeof params.progress !== 'number') return;
    const { progress, total, message } = params;
    this.#watchers.get(String(params.progressToken))?.({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: toPlainText(message, PROGRESS_CHARS) }),
    });
  }
}
