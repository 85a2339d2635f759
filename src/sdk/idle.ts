import type { Message } from '../protocol/index.js';

/**
 * Knows from the messages of an engine whether it has anything left to do by itself: background tasks that run, and the
 * turn that follows the end of one. Input stays open until then, because such a turn may have questions.
 */
export class Idle {
  #background = new Set<string>();
  /** A task ended, and the turn that tells of it has not begun. */
  #owesTurn = false;
  #inTurn = false;

  take(message: Message): void {
    if (message.type === 'result') {
      this.#inTurn = false;
      // The model may have seen the end of the task in the turn itself.
      if (message.queued_turn_count === 0) this.#owesTurn = false;
    }
    if (message.type !== 'system') return;
    if (message.subtype === 'init') {
      this.#inTurn = true;
      this.#owesTurn = false;
    }
    if (message.subtype === 'background_tasks_changed') {
      this.#background = new Set(message.tasks.map((task) => task.task_id));
    }
    if (message.subtype === 'task_notification' && this.#background.has(message.task_id)) {
      this.#owesTurn ||= message.status !== 'stopped';
    }
  }

  /** Only tasks, or a turn about them that some engines never begin, keep it from being idle. */
  get waitsForTasks(): boolean {
    return !this.#inTurn && (this.#owesTurn || this.#background.size > 0);
  }

  get isIdle(): boolean {
    return !this.#inTurn && !this.#owesTurn && this.#background.size === 0;
  }
}
