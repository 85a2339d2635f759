import type { PermissionMode, ResultMessage, TextBlock, Tool, UserMessage } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { setMaxThinkingTokens, setMode, setModel } from './choices.js';
import { openPrompt } from './hooks/around-turn.js';
import { CLOSE_GRACE_MS, graceLeft } from './hooks/grace.js';
import type { LateOutput } from './hooks/registry.js';
import { toInit } from './init.js';
import { emptyUsage } from './model/usage-sum.js';
import { currentTurn, lastFallback, nextAction, openCalls } from './next-action.js';
import type { Watcher } from './outbox.js';
import { type Ending, toResult } from './outcome.js';
import { describeSurroundings } from './prompt.js';
import type { Ask } from './questions.js';
import type { SessionScope, TurnTally } from './scope.js';
import type { EndedTask, TaskNotice } from './tasks.js';
import { settleCalls } from './tools/batch.js';
import { selectTools } from './tools/registry.js';
import { turn } from './turn.js';

/** One watcher, and whether it can be asked. */
export interface Attachment extends Watcher {
  ask?: Ask;
}

/** Something the model should know that is no prompt; of a task, when it has an id. */
type Notice = Pick<TaskNotice, 'text'> & Partial<TaskNotice>;

/** Who owns a conversation. It outlives everyone who watches it, and knows no channels. */
export class Session {
  readonly scope: SessionScope;
  readonly #tools: readonly Tool[];
  readonly #release: () => Promise<void>;
  readonly #inbox: UserMessage[] = [];
  /** Ends of background tasks that the model does not know of yet, and what hooks have found out late. */
  #notices: Notice[] = [];
  /** The like that is no reason for a turn, and told with the next one. */
  #quietNotices: Notice[];
  readonly #finished = Promise.withResolvers<void>();
  #running: { abort: AbortController; over: Promise<void> } | undefined;
  #inputEnded = false;
  /** The hooks know of the session. */
  #hasStarted = false;
  /** Resolves when they know of its end, as far as they were told. */
  #tellingEnd: Promise<void> = Promise.resolve();
  /** Aborted when the session cannot wait for that any longer. */
  readonly #endPatience = new AbortController();
  #closed = false;
  /** Cancels the wait for tasks at the end of input. */
  #grace: (() => void) | undefined;
  #results = 0;
  #lastResult: ResultMessage | undefined;

  /** `tools` are offered beside those of MCP servers; `release` is called once, when the session is closed. */
  constructor(
    scope: SessionScope,
    parts: { tools: readonly Tool[]; release: () => Promise<void>; notices: readonly TaskNotice[] },
  ) {
    this.scope = scope;
    this.#tools = parts.tools;
    this.#release = parts.release;
    this.#quietNotices = [...parts.notices];
    scope.tasks.listen({ onEnd: (end) => this.#takeEnd(end), onShown: (taskId) => this.#takeShown(taskId) });
    scope.hooks.listen((late) => this.#takeLate(late));
  }

  get id(): string {
    return this.scope.id;
  }

  /** Resolves when input has ended and all of it is answered, or when the session is closed. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  get lastResult(): ResultMessage | undefined {
    return this.#lastResult;
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  attach(attachment: Attachment, options: { after?: number } = {}): () => void {
    const detachOutbox = this.scope.recorder.outbox.attach(attachment, options);
    const detachAsk = attachment.ask && this.scope.questions.attach(attachment.ask);
    return () => {
      detachOutbox();
      detachAsk?.();
    };
  }

  /** Takes a message of the user. While a turn runs it waits; each message gets a turn of its own. */
  submit(message: UserMessage): void {
    if (this.#closed) throw new HeddleError('channel_closed', 'The session is closed.');
    this.#inbox.push(message);
    this.#tellLife(message, 'queued');
    this.#wake();
  }

  /** Goes on with a turn that the log says is unfinished. Does nothing when there is none. */
  resumeTurn(): void {
    if (this.busy || this.#closed || nextAction(this.scope.recorder.log.entries).do === 'idle') return;
    this.scope.recorder.begin();
    this.scope.guard.tellNews();
    this.#start((signal) => this.#runTurn(signal));
  }

  /** Tells the running turn to end; its result says when it has. Queued messages stay unless they are cancelled too. */
  interrupt(options: { cancelQueued?: boolean } = {}): { stillQueued: string[] } {
    if (options.cancelQueued) this.#dropQueued();
    // Whoever says stop does not want the next turn to begin by itself.
    if (this.busy) this.#quietNotices.push(...this.#notices.splice(0));
    this.#stopTurn();
    return { stillQueued: this.#inbox.flatMap((message) => message.uuid ?? []) };
  }

  /** Nothing more will be submitted. */
  endInput(): void {
    this.#inputEnded = true;
    this.#wake();
  }

  /** Tells the hooks that the session ends, once; closing does it too, but then their host may be gone. */
  tellEnd(): Promise<void> {
    if (!this.#hasStarted) return this.#tellingEnd;
    this.#hasStarted = false;
    const { signal } = this.#endPatience;
    this.#tellingEnd = this.scope.hooks.fire('SessionEnd', { reason: 'other' }, { signal }).then(() => undefined);
    return this.#tellingEnd;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#dropQueued();
    this.#grace?.();
    const running = this.#running;
    const { clock } = this.scope;
    const since = clock.monotonic();
    running?.abort.abort();
    await running?.over;
    const ms = graceLeft(clock, { ms: CLOSE_GRACE_MS, since });
    const cancel = clock.after(ms, () => this.#endPatience.abort());
    await this.tellEnd();
    cancel();
    await this.#release();
    this.#finished.resolve();
  }

  setPermissionMode(mode: PermissionMode): void {
    setMode(this.scope, mode);
  }

  setModel(name?: string): Promise<string> {
    return setModel(this.scope, name);
  }

  setMaxThinkingTokens(tokens: number | null): void {
    setMaxThinkingTokens(this.scope, tokens);
  }

  #wake(): void {
    if (this.busy || this.#closed) return;
    const next = this.#inbox.shift();
    if (next !== undefined) this.#start((signal) => this.#answer(next, signal));
    else if (this.#notices.length > 0) this.#start((signal) => this.#answerNotices(signal));
    else if (this.#inputEnded) this.#finishOrWait();
  }

  /** Nothing more will come in. Tasks get a while to end, and with it a turn that tells of it; then they are stopped. */
  #finishOrWait(): void {
    const { tasks, clock, config } = this.scope;
    if (tasks.running.length === 0) this.#finished.resolve();
    else this.#grace ??= clock.after(graceOf(config), () => void tasks.stopAll());
  }

  /** A task is over. One that ended by itself is told in a turn that starts by itself; what others ended can wait. */
  #takeEnd({ notice, stoppedBy }: EndedTask): void {
    if (stoppedBy === undefined) this.#notices.push(notice);
    else if (stoppedBy === 'host') this.#quietNotices.push(notice);
    this.#wake();
  }

  /** A hook that nobody waited for is over: what it has for the model comes with the next turn, or starts one. */
  #takeLate({ texts, rewake }: LateOutput): void {
    (rewake ? this.#notices : this.#quietNotices).push(...texts.map((text) => ({ text })));
    this.#wake();
  }

  /** The model has seen the end of a task: clients of the older line get a turn about it all the same. */
  #takeShown(taskId: string): void {
    if (this.scope.manners.tellsShownTasks) return;
    this.#notices = this.#notices.filter((notice) => notice.taskId !== taskId);
    void this.scope.recorder.life({ kind: 'task', state: 'told', taskId });
  }

  #start(run: (signal: AbortSignal) => Promise<void>): void {
    this.#grace?.();
    this.#grace = undefined;
    const abort = new AbortController();
    this.scope.hooks.follow(abort.signal);
    const over = run(abort.signal)
      .catch((thrown: unknown) => this.#fail(toHeddleError(thrown)))
      .then(() => {
        this.#running = undefined;
        this.scope.hooks.follow(undefined);
        this.#wake();
      });
    this.#running = { abort, over };
  }

  /** That a turn was interrupted is logged first: whatever is lost after it, no call of that turn runs any more. */
  #stopTurn(): void {
    if (this.#running === undefined || this.#running.abort.signal.aborted) return;
    if (currentTurn(this.scope.recorder.log.entries))
      void this.scope.recorder.life({ kind: 'turn', state: 'interrupted' });
    this.#running.abort.abort();
  }

  /** A turn: from the message of a user to its result. */
  async #answer(message: UserMessage, signal: AbortSignal): Promise<void> {
    const { recorder, config, clock } = this.scope;
    await Promise.resolve();
    this.#tellLife(message, 'started');
    const uuid = message.uuid ?? clock.uuid();
    const isFirst = !recorder.log.entries.some((entry) => entry.type === 'user');
    const source = this.#hasStarted ? undefined : isFirst ? 'startup' : 'resume';
    this.#hasStarted = true;
    await this.scope.guard.refresh();
    const opening = await openPrompt(this.scope, { message, ...(source && { source }) }, signal);
    this.#openTurn(uuid);
    if (isFirst) await this.#recordSurroundings();
    this.#recordMeta(opening.before);
    this.#recordNotices({ isMeta: true });
    if (opening.blocked !== undefined) {
      this.#finishTurn({ kind: 'blocked', text: opening.blocked }, this.#startTally());
    } else {
      const content = opening.replaced ? toTexts(opening.after) : message.message.content;
      const show = config.replayUserMessages ? { isReplay: true } : false;
      // A prompt that hooks have not judged does not get into the conversation.
      if (!opening.interrupted) recorder.user({ content, uuid, show });
      if (!opening.replaced) this.#recordMeta(opening.after);
      await this.#runTurn(signal);
    }
    this.#tellLife(message, 'completed');
  }

  #recordMeta(texts: readonly string[]): void {
    if (texts.length > 0) this.scope.recorder.user({ content: toTexts(texts), isMeta: true, show: false });
  }

  /** A turn that nobody asked for: it tells the model which tasks are over. */
  async #answerNotices(signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    const uuid = this.scope.clock.uuid();
    this.#openTurn(uuid);
    this.#recordNotices({ uuid });
    await this.#runTurn(signal, { kind: 'task-notification' });
  }

  #openTurn(promptUuid: string): void {
    const { recorder, state, mcp, config } = this.scope;
    this.#tellState('running');
    const { canAsk } = this.scope.questions;
    state.tools = selectTools([...this.#tools, ...mcp.tools], config, { canAsk });
    recorder.emit(toInit(this.scope));
    this.scope.guard.tellNews();
    this.scope.hooks.tellProblems();
    this.#settleOldTurn();
    void recorder.life({ kind: 'turn', state: 'started', promptUuid });
  }

  #recordNotices(fields: { isMeta: true } | { uuid: string }): void {
    const notices = [...this.#quietNotices, ...this.#notices];
    if (notices.length === 0) return;
    this.#quietNotices = [];
    this.#notices = [];
    const text = notices.map((notice) => notice.text).join('\n');
    const toldTasks = notices.flatMap((notice) => notice.taskId ?? []);
    this.scope.recorder.user({ content: [{ type: 'text', text }], toldTasks, show: false, ...fields });
  }

  async #runTurn(signal: AbortSignal, origin?: ResultMessage['origin']): Promise<void> {
    const tally = this.#startTally();
    let ending: Ending;
    try {
      ending = await turn(this.scope, tally, signal);
    } catch (thrown) {
      const error = toHeddleError(thrown);
      this.scope.logger('error', 'the turn failed', { error: error.stack ?? error.message });
      ending = { kind: 'failed', errors: [error.message], code: error.code };
    }
    if (ending.kind === 'api-error') {
      const { error, text: error_details } = ending;
      const said = tally.text.last && { last_assistant_message: tally.text.last };
      await this.scope.hooks.fire('StopFailure', { error, error_details, ...said }, { signal });
    }
    this.#finishTurn(ending, tally, origin);
  }

  #finishTurn(ending: Ending, tally: TurnTally, origin?: ResultMessage['origin']): void {
    const { recorder } = this.scope;
    const result = toResult(this.scope, tally, ending, {
      index: this.#results,
      queued: this.#inbox.length,
      ...(origin && { origin }),
    });
    this.#results += 1;
    this.#lastResult = result;
    const dropped = isRefused(ending) && { dropped: true as const };
    const written = recorder.life({ kind: 'turn', state: 'ended', subtype: result.subtype, ...dropped });
    recorder.outbox.emitDurable(result, written);
    this.#tellState('idle');
  }

  /** What the engine did not foresee still ends in a result: no consumer waits for ever. */
  #fail(error: HeddleError): void {
    this.scope.logger('error', 'the session failed', { error: error.stack ?? error.message });
    this.#finishTurn({ kind: 'failed', errors: [error.message], code: error.code }, this.#startTally());
  }

  /** A turn that a dead process left open ends here, because the user says something new. */
  #settleOldTurn(): void {
    const { recorder } = this.scope;
    recorder.begin();
    const calls = openCalls(recorder.log.entries);
    if (calls.length > 0) settleCalls(this.scope, calls, this.#startTally());
    if (currentTurn(recorder.log.entries)) void recorder.life({ kind: 'turn', state: 'ended', subtype: 'interrupted' });
  }

  async #recordSurroundings(): Promise<void> {
    const { workspace, clock, config, recorder } = this.scope;
    const text = await describeSurroundings(config, { workspace, now: clock.now(), platform: process.platform });
    recorder.user({ content: [{ type: 'text', text }], isMeta: true, show: false });
  }

  #startTally(): TurnTally {
    const { clock, state, catalog, recorder } = this.scope;
    const fallback = lastFallback(recorder.log.entries);
    return {
      startedAt: clock.monotonic(),
      model: fallback === undefined ? state.model : catalog.resolveModel(fallback),
      failed: new Set(),
      maxThinkingTokens: state.maxThinkingTokens,
      usage: emptyUsage(),
      apiMs: 0,
      rounds: 0,
      ttftMs: undefined,
      stopReason: null,
      text: { joined: '', last: '' },
      denials: [],
      stopsBlocked: 0,
    };
  }

  #dropQueued(): void {
    for (const message of this.#inbox.splice(0)) this.#tellLife(message, 'dropped');
  }

  #tellLife(message: UserMessage, state: 'queued' | 'started' | 'completed' | 'dropped'): void {
    const { clock, recorder, manners, id } = this.scope;
    if (message.uuid === undefined || !manners.tellsLifecycle) return;
    const { uuid: command_uuid } = message;
    recorder.emit({ type: 'command_lifecycle', command_uuid, state, uuid: clock.uuid(), session_id: id });
  }

  #tellState(state: 'running' | 'idle'): void {
    const { clock, recorder, config, id } = this.scope;
    if (config.env.CLAUDE_CODE_SDK_READS_SESSION_STATE !== '1') return;
    recorder.emit({
      type: 'system',
      subtype: 'session_state_changed',
      state,
      sdk_host_only: true,
      uuid: clock.uuid(),
      session_id: id,
    });
  }
}

const toTexts = (texts: readonly string[]): TextBlock[] => texts.map((text) => ({ type: 'text', text }));

const REFUSALS = new Set(['model_bad_request', 'model_request_too_large', 'model_prompt_too_long']);

/** What the API refuses once it refuses again: such a turn leaves the context, so that the next one can work. */
const isRefused = (ending: Ending): boolean => ending.kind === 'api-error' && REFUSALS.has(ending.code);

const TASK_GRACE_MS = 5_000;

/** How long tasks may go on when nothing more will come in. */
function graceOf({ env }: SessionScope['config']): number {
  const chosen = Number(env.HEDDLE_TASK_GRACE_MS);
  return env.HEDDLE_TASK_GRACE_MS && chosen >= 0 ? chosen : TASK_GRACE_MS;
}
