import type { UserMessage } from '../protocol/index.js';
import type { SessionScope } from './scope.js';
import { lostPrompts } from './sessions/resume.js';

type MessageState = 'queued' | 'started' | 'completed' | 'dropped';

/** Messages of the user that wait for their turn. What becomes of each is told by its uuid (G2). */
export class Inbox {
  readonly #scope: SessionScope;
  readonly #messages: UserMessage[] = [];
  /** Those that the log knows to wait: a dead process takes the queue along. */
  readonly #waiting = new Set<string>();
  /** Those that waited when an earlier process died. */
  readonly #lost: string[];

  constructor(scope: SessionScope) {
    this.#scope = scope;
    this.#lost = lostPrompts(scope.recorder.log.entries);
  }

  get length(): number {
    return this.#messages.length;
  }

  get uuids(): string[] {
    return this.#messages.flatMap(({ uuid }) => uuid ?? []);
  }

  /** `waits`: something else has to end first. */
  put(message: UserMessage, { waits }: { waits: boolean }): void {
    this.#messages.push(message);
    const { uuid } = message;
    if (waits && uuid !== undefined) {
      this.#waiting.add(uuid);
      this.#log(uuid, 'queued');
    }
    this.tell(message, 'queued');
  }

  take(): UserMessage | undefined {
    return this.#messages.shift();
  }

  drop(): void {
    for (const message of this.#messages.splice(0)) this.tell(message, 'dropped');
  }

  withdraw(uuid: string): boolean {
    const index = this.#messages.findIndex((message) => message.uuid === uuid);
    for (const message of index === -1 ? [] : this.#messages.splice(index, 1)) this.tell(message, 'dropped');
    return index !== -1;
  }

  tell({ uuid }: UserMessage, state: MessageState): void {
    if (uuid === undefined) return;
    if ((state === 'started' || state === 'dropped') && this.#waiting.delete(uuid)) this.#log(uuid, state);
    this.#emit(uuid, state);
  }

  /** Says once what an earlier process took along. */
  tellLost(): void {
    for (const uuid of this.#lost.splice(0)) {
      this.#log(uuid, 'dropped');
      this.#emit(uuid, 'dropped');
    }
  }

  #log(promptUuid: string, state: Exclude<MessageState, 'completed'>): void {
    void this.#scope.recorder.life({ kind: 'queue', state, promptUuid });
  }

  #emit(command_uuid: string, state: MessageState): void {
    const { clock, recorder, manners, id } = this.#scope;
    if (!manners.tellsLifecycle) return;
    recorder.emit({ type: 'command_lifecycle', command_uuid, state, uuid: clock.uuid(), session_id: id });
  }
}
