import type { LateOutput } from './hooks/registry.js';
import type { SessionScope } from './scope.js';
import type { EndedTask, TaskNotice } from './tasks.js';

/** Something the model should know that is no prompt; of a task, when it has an id. */
type Notice = Pick<TaskNotice, 'text'> & Partial<TaskNotice>;

/** What the model does not know yet: ends of background tasks, and what hooks have found out late. */
export class Notices {
  readonly #scope: SessionScope;
  /** Reason enough for a turn. */
  #loud: Notice[] = [];
  /** Told with the next turn. */
  #quiet: Notice[];

  /** `onNews` is called when there may be a reason for a turn. */
  constructor(scope: SessionScope, options: { known: readonly TaskNotice[]; onNews: () => void }) {
    this.#scope = scope;
    this.#quiet = [...options.known];
    const then = <T>(take: (news: T) => void) => {
      return (news: T) => {
        take(news);
        options.onNews();
      };
    };
    scope.tasks.listen({
      onEnd: then((end) => this.#takeEnd(end)),
      onShown: (taskId) => this.#takeShown(taskId),
    });
    scope.hooks.listen(then((late) => this.#takeLate(late)));
  }

  get callForTurn(): boolean {
    return this.#loud.length > 0;
  }

  /** Nothing of it is a reason for a turn any more. */
  hush(): void {
    for (const notice of this.#loud.splice(0)) this.#quiet.push(notice);
  }

  /** Tells the model all of it. */
  record(fields: { isMeta: true } | { uuid: string }): void {
    const notices = [...this.#quiet.splice(0), ...this.#loud.splice(0)];
    if (notices.length === 0) return;
    const text = notices.map((notice) => notice.text).join('\n');
    const toldTasks = notices.flatMap((notice) => notice.taskId ?? []);
    this.#scope.recorder.user({ content: [{ type: 'text', text }], toldTasks, show: false, ...fields });
  }

  /** A task is over. One that ended by itself is told in a turn that starts by itself; what others ended can wait. */
  #takeEnd({ notice, stoppedBy }: EndedTask): void {
    if (stoppedBy === undefined) this.#loud.push(notice);
    else if (stoppedBy === 'host') this.#quiet.push(notice);
  }

  /** A hook that nobody waited for is over: what it has for the model comes with the next turn, or starts one. */
  #takeLate({ texts, rewake }: LateOutput): void {
    for (const text of texts) (rewake ? this.#loud : this.#quiet).push({ text });
  }

  /** The model has seen the end of a task: clients of the older line get a turn about it all the same. */
  #takeShown(taskId: string): void {
    if (this.#scope.manners.tellsShownTasks) return;
    this.#loud = this.#loud.filter((notice) => notice.taskId !== taskId);
    void this.#scope.recorder.life({ kind: 'task', state: 'told', taskId });
  }
}
