import type { ParamsOf } from '../protocol/index.js';

/** What can be asked about. */
export interface Asked {
  id: string;
}

/** Something a Session waits to be told before a call may run. The fields are those of `can_use_tool`. */
export interface Question extends Asked, ParamsOf<'can_use_tool'> {}

/** Something that an MCP server wants to know of the person. */
export interface Form extends Asked, ParamsOf<'elicitation'> {}

/** Puts a question to someone. Rejects when no answer will come; honours the signal, which aborts when another answered. */
export type Ask<Q = Question> = (question: Q, options: { signal: AbortSignal }) => Promise<unknown>;

export type Reply = { kind: 'answer'; value: unknown } | { kind: 'nobody' } | { kind: 'failed'; error: Error };

interface Open<Q> {
  question: Q;
  settle(reply: Reply): void;
  done: AbortController;
  /** How many have been asked and have not failed yet. */
  asked: number;
}

/**
 * The open questions of a session. They belong to the session, not to whoever is asked: the first answer wins, who
 * attaches later is asked too, and a question whose last listener is gone for good is answered by nobody.
 */
export class Questions<Q extends Asked = Question> {
  readonly #askers = new Set<Ask<Q>>();
  readonly #open = new Map<string, Open<Q>>();

  /** Whether anyone can be asked at all. */
  get canAsk(): boolean {
    return this.#askers.size > 0;
  }

  get pending(): Q[] {
    return [...this.#open.values()].map((open) => open.question);
  }

  attach(ask: Ask<Q>): () => void {
    this.#askers.add(ask);
    for (const open of this.#open.values()) this.#put(open, ask);
    return () => {
      this.#askers.delete(ask);
    };
  }

  /** Asks everyone who is there. Resolves with the first answer; never rejects. */
  ask(question: Q, options: { signal: AbortSignal }): Promise<Reply> {
    if (!this.canAsk) return Promise.resolve({ kind: 'nobody' });
    return new Promise((resolve) => {
      const done = new AbortController();
      const abort = () => settle({ kind: 'failed', error: new Error('The request was interrupted.') });
      const settle = (reply: Reply) => {
        if (!this.#open.delete(question.id)) return;
        options.signal.removeEventListener('abort', abort);
        done.abort();
        resolve(reply);
      };
      const open: Open<Q> = { question, settle, done, asked: 0 };
      this.#open.set(question.id, open);
      options.signal.addEventListener('abort', abort, { once: true });
      if (options.signal.aborted) {
        abort();
        return;
      }
      for (const ask of this.#askers) this.#put(open, ask);
    });
  }

  #put(open: Open<Q>, ask: Ask<Q>): void {
    open.asked += 1;
    ask(open.question, { signal: open.done.signal }).then(
      (value) => open.settle({ kind: 'answer', value }),
      (thrown: unknown) => {
        open.asked -= 1;
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        if (open.asked === 0) open.settle({ kind: 'failed', error });
      },
    );
  }
}
