import type { SessionKey } from '../../protocol/index.js';

/** What waited for the same log, to be written at once. */
export interface Batch {
  key: SessionKey;
  lines: string[];
}

interface Waiting {
  key: SessionKey;
  lines: readonly string[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

const MAX_LINES = 1_000;
const MAX_CHARS = 8 * 1024 * 1024;

/** Keeps the lines of each session in order while a write takes its time; what comes meanwhile goes together. */
export function createAppendQueue(write: (batch: Batch) => Promise<void>) {
  const queues = new Map<string, { waiting: Waiting[]; drained: Promise<void> }>();

  const drain = async (sessionId: string, waiting: Waiting[]): Promise<void> => {
    for (let taken = takeBatch(waiting); taken.length > 0; taken = takeBatch(waiting)) {
      const [first] = taken;
      if (first === undefined) break;
      try {
        await write({ key: first.key, lines: taken.flatMap(({ lines }) => lines) });
        for (const { resolve } of taken) resolve();
      } catch (error) {
        for (const { reject } of taken) reject(error);
      }
    }
    queues.delete(sessionId);
  };

  return {
    add(key: SessionKey, lines: readonly string[]): Promise<void> {
      return new Promise((resolve, reject) => {
        const one: Waiting = { key, lines, resolve, reject };
        const queue = queues.get(key.sessionId);
        if (queue) {
          queue.waiting.push(one);
          return;
        }
        const waiting = [one];
        // Begun in the next turn, so that what is said in this one goes together.
        const drained = Promise.resolve().then(() => drain(key.sessionId, waiting));
        queues.set(key.sessionId, { waiting, drained });
      });
    },
    /** Resolves when everything of the session is written or has failed. */
    async drained(sessionId: string): Promise<void> {
      await queues.get(sessionId)?.drained;
    },
  };
}

/** The next ones that are for the same log, as many as fit. */
function takeBatch(waiting: Waiting[]): Waiting[] {
  const agentId = waiting[0]?.key.agentId;
  let lines = 0;
  let chars = 0;
  const end = waiting.findIndex((one, place) => {
    lines += one.lines.length;
    chars += one.lines.reduce((sum, line) => sum + line.length, 0);
    return one.key.agentId !== agentId || (place > 0 && (lines > MAX_LINES || chars > MAX_CHARS));
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}
