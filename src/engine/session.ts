import type {
  Clock,
  Logger,
  ModelProvider,
  PermissionMode,
  PermissionUpdate,
  ReadLedger,
  ResultMessage,
  SessionConfig,
  UserMessage,
  Workspace,
} from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { toInit } from './init.js';
import type { Manners } from './manners.js';
import type { Catalog } from './model/catalog.js';
import { emptyUsage } from './model/usage-sum.js';
import { nextAction, openCalls } from './next-action.js';
import type { Watcher } from './outbox.js';
import { type Ending, toResult } from './outcome.js';
import { describeSurroundings } from './prompt.js';
import { type Ask, Questions } from './questions.js';
import type { Recorder } from './recorder.js';
import type { SessionScope, SessionState, TurnTally } from './scope.js';
import type { Spending } from './spending.js';
import { settleCalls } from './tools/batch.js';
import type { ToolSet } from './tools/registry.js';
import { turn } from './turn.js';

/** What a Session is made of; `engine.ts` picks the parts. */
export interface SessionParts {
  config: SessionConfig;
  state: SessionState;
  clock: Clock;
  logger: Logger;
  provider: ModelProvider;
  catalog: Catalog;
  workspace: Workspace;
  tools: ToolSet;
  recorder: Recorder;
  ledger: ReadLedger;
  spending: Spending;
  manners: Manners;
  childEnv: Readonly<Record<string, string>>;
  keep: (name: string, text: string) => Promise<string>;
  /** Called once, when the session is closed. */
  release: () => Promise<void>;
}

/** One watcher, and whether it can be asked. */
export interface Attachment extends Watcher {
  ask?: Ask;
}

/** Who owns a conversation. It outlives everyone who watches it, and knows no channels. */
export class Session implements SessionScope {
  readonly id: string;
  readonly config: SessionConfig;
  readonly state: SessionState;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly provider: ModelProvider;
  readonly catalog: Catalog;
  readonly workspace: Workspace;
  readonly tools: ToolSet;
  readonly recorder: Recorder;
  readonly questions = new Questions();
  readonly ledger: ReadLedger;
  readonly spending: Spending;
  readonly manners: Manners;
  readonly childEnv: Readonly<Record<string, string>>;
  readonly keep: (name: string, text: string) => Promise<string>;
  readonly #release: () => Promise<void>;
  readonly #inbox: UserMessage[] = [];
  readonly #finished = Promise.withResolvers<void>();
  #running: { abort: AbortController; over: Promise<void> } | undefined;
  #inputEnded = false;
  #closed = false;
  #results = 0;
  #lastResult: ResultMessage | undefined;

  constructor(parts: SessionParts) {
    this.id = parts.recorder.log.key.sessionId;
    this.config = parts.config;
    this.state = parts.state;
    this.clock = parts.clock;
    this.logger = parts.logger;
    this.provider = parts.provider;
    this.catalog = parts.catalog;
    this.workspace = parts.workspace;
    this.tools = parts.tools;
    this.recorder = parts.recorder;
    this.ledger = parts.ledger;
    this.spending = parts.spending;
    this.manners = parts.manners;
    this.childEnv = parts.childEnv;
    this.keep = parts.keep;
    this.#release = parts.release;
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
    const detachOutbox = this.recorder.outbox.attach(attachment, options);
    const detachAsk = attachment.ask && this.questions.attach(attachment.ask);
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
    if (this.busy || this.#closed || nextAction(this.recorder.log.entries).do === 'idle') return;
    this.recorder.begin();
    this.#start((signal) => this.#runTurn(signal));
  }

  /** Tells the running turn to end; its result says when it has. Queued messages stay unless they are cancelled too. */
  interrupt(options: { cancelQueued?: boolean } = {}): { stillQueued: string[] } {
    if (options.cancelQueued) this.#dropQueued();
    this.#running?.abort.abort();
    return { stillQueued: this.#inbox.flatMap((message) => message.uuid ?? []) };
  }

  /** Nothing more will be submitted. */
  endInput(): void {
    this.#inputEnded = true;
    if (!this.busy && this.#inbox.length === 0) this.#finished.resolve();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#dropQueued();
    const running = this.#running;
    running?.abort.abort();
    await running?.over;
    await this.#release();
    this.#finished.resolve();
  }

  setPermissionMode(mode: PermissionMode): void {
    if (mode === 'bypassPermissions' && !this.#mayBypass()) {
      const text =
        'Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions';
      throw new HeddleError('invalid_config', text, { data: { error_code: 'bypass_not_launched' } });
    }
    this.state.mode = mode;
    void this.recorder.life({ kind: 'set', mode });
    this.recorder.emit({ ...this.#system('status'), status: null, permissionMode: mode });
  }

  setModel(name = 'default'): string {
    this.state.model = this.catalog.resolveModel(name);
    void this.recorder.life({ kind: 'set', model: name });
    return this.state.model.model;
  }

  /** From the next turn on. Null: no thinking; undefined: as configured. */
  setMaxThinkingTokens(tokens: number | null | undefined): void {
    this.state.maxThinkingTokens = tokens;
    void this.recorder.life({ kind: 'set', maxThinkingTokens: tokens ?? null });
  }

  applyPermissions(updates: readonly PermissionUpdate[]): void {
    for (const update of updates) {
      if (update.type === 'setMode') this.setPermissionMode(update.mode);
      else if (update.type === 'addDirectories') this.state.roots.push(...update.directories);
      else if (update.type === 'addRules' && update.behavior === 'allow') {
        this.state.allowed.push(
          ...update.rules.map((rule) => (rule.ruleContent ? `${rule.toolName}(${rule.ruleContent})` : rule.toolName)),
        );
      }
    }
  }

  #wake(): void {
    const next = this.busy ? undefined : this.#inbox.shift();
    if (next !== undefined) this.#start((signal) => this.#answer(next, signal));
    else if (!this.busy && this.#inputEnded) this.#finished.resolve();
  }

  #start(run: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    const over = run(abort.signal)
      .catch((thrown: unknown) => this.#fail(toHeddleError(thrown)))
      .then(() => {
        this.#running = undefined;
        if (!this.#closed) this.#wake();
      });
    this.#running = { abort, over };
  }

  /** A turn: from the message of a user to its result. */
  async #answer(message: UserMessage, signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    this.#tellLife(message, 'started');
    this.#tellState('running');
    this.recorder.emit(toInit(this));
    this.#settleOldTurn();
    const uuid = message.uuid ?? this.clock.uuid();
    const isFirst = !this.recorder.log.entries.some((entry) => entry.type === 'user');
    void this.recorder.life({ kind: 'turn', state: 'started', promptUuid: uuid });
    if (isFirst) await this.#recordSurroundings();
    const show = this.config.replayUserMessages ? { isReplay: true } : false;
    this.recorder.user({ content: message.message.content, uuid, show });
    await this.#runTurn(signal);
    this.#tellLife(message, 'completed');
  }

  async #runTurn(signal: AbortSignal): Promise<void> {
    const tally = this.#startTally();
    let ending: Ending;
    try {
      ending = await turn(this, tally, signal);
    } catch (thrown) {
      const error = toHeddleError(thrown);
      this.logger('error', 'the turn failed', { error: error.stack ?? error.message });
      ending = { kind: 'failed', errors: [error.message], code: error.code };
    }
    const result = toResult(this, tally, ending, { index: this.#results, queued: this.#inbox.length });
    this.#finishTurn(result);
  }

  #finishTurn(result: ResultMessage): void {
    this.#results += 1;
    this.#lastResult = result;
    const written = this.recorder.life({ kind: 'turn', state: 'ended', subtype: result.subtype });
    this.recorder.outbox.emitDurable(result, written);
    this.#tellState('idle');
  }

  /** What the engine did not foresee still ends in a result: no consumer waits for ever. */
  #fail(error: HeddleError): void {
    this.logger('error', 'the session failed', { error: error.stack ?? error.message });
    const ending: Ending = { kind: 'failed', errors: [error.message], code: error.code };
    this.#finishTurn(toResult(this, this.#startTally(), ending, { index: this.#results, queued: this.#inbox.length }));
  }

  /** A turn that a dead process left open ends here, because the user says something new. */
  #settleOldTurn(): void {
    this.recorder.begin();
    const { entries } = this.recorder.log;
    const calls = openCalls(entries);
    if (calls.length > 0) settleCalls(this, calls, this.#startTally());
    if (nextAction(entries).do !== 'idle')
      void this.recorder.life({ kind: 'turn', state: 'ended', subtype: 'interrupted' });
  }

  async #recordSurroundings(): Promise<void> {
    const { workspace, clock, config } = this;
    const text = await describeSurroundings(config, { workspace, now: clock.now(), platform: process.platform });
    this.recorder.user({ content: [{ type: 'text', text }], isMeta: true, show: false });
  }

  #startTally(): TurnTally {
    return {
      startedAt: this.clock.monotonic(),
      model: this.state.model,
      maxThinkingTokens: this.state.maxThinkingTokens,
      usage: emptyUsage(),
      apiMs: 0,
      rounds: 0,
      ttftMs: undefined,
      stopReason: null,
      lastText: '',
      denials: [],
    };
  }

  #dropQueued(): void {
    for (const message of this.#inbox.splice(0)) this.#tellLife(message, 'dropped');
  }

  #mayBypass(): boolean {
    return this.config.allowDangerouslySkipPermissions === true || this.config.permissionMode === 'bypassPermissions';
  }

  #tellLife(message: UserMessage, state: 'queued' | 'started' | 'completed' | 'dropped'): void {
    if (message.uuid === undefined || !this.manners.tellsLifecycle) return;
    const { uuid: command_uuid } = message;
    this.recorder.emit({
      type: 'command_lifecycle',
      command_uuid,
      state,
      uuid: this.clock.uuid(),
      session_id: this.id,
    });
  }

  #tellState(state: 'running' | 'idle'): void {
    if (this.config.env.CLAUDE_CODE_SDK_READS_SESSION_STATE !== '1') return;
    this.recorder.emit({ ...this.#system('session_state_changed'), state, sdk_host_only: true });
  }

  #system<S extends string>(subtype: S) {
    return { type: 'system' as const, subtype, uuid: this.clock.uuid(), session_id: this.id };
  }
}
