import type {
  PermissionMode,
  ResultMessage,
  RewindFilesResult,
  TextBlock,
  Tool,
  UserMessage,
} from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { tellKeptFiles } from './checkpoints/kept-files.js';
import { setMaxThinkingTokens, setMode, setModel, setTitle } from './choices.js';
import { answerLocally, refuseUnknown } from './commands/answer.js';
import type { CommandCall, LocalCall } from './commands/commands.js';
import { tellSkills } from './commands/skill-news.js';
import { knownSkills } from './commands/skills.js';
import { toPrompt } from './commands/to-prompt.js';
import { SessionSpan } from './hooks/around-session.js';
import { blockedBy, openPrompt, type SessionOpening, textOf } from './hooks/around-turn.js';
import { CLOSE_GRACE_MS, graceLeft } from './hooks/grace.js';
import { Inbox } from './inbox.js';
import { toInit } from './init.js';
import { currentTurn, lastPrompt, nextAction } from './next-action.js';
import { Notices } from './notices.js';
import { settleOldTurn } from './old-turn.js';
import type { Watcher } from './outbox.js';
import { type Ending, isRefused, toResult } from './outcome.js';
import { gitBranch } from './prompt.js';
import { planNotes } from './plan/turn-notes.js';
import type { Ask, Form } from './questions.js';
import { toReminder } from './reminder.js';
import type { SessionScope, TurnTally } from './scope.js';
import { emptyTally, startTally } from './tally.js';
import { isChainEntry } from './sessions/entry.js';
import { surroundingsOf } from './surroundings.js';
import { graceOf, type TaskNotice } from './tasks.js';
import { selectTools } from './tools/registry.js';
import { turn } from './turn.js';

/** One watcher, and whether it can be asked. */
export interface Attachment extends Watcher {
  ask?: Ask;
  /** Puts what an MCP server wants to know to the person. */
  elicit?: Ask<Form>;
}

interface TurnOptions {
  origin?: ResultMessage['origin'];
  /** It is over already: a command has answered. */
  ending?: Ending | undefined;
}

interface Answering {
  call: CommandCall | undefined;
  start: SessionOpening;
  signal: AbortSignal;
}

/** Who owns a conversation. It outlives everyone who watches it, and knows no channels. */
export class Session {
  readonly scope: SessionScope;
  readonly #tools: readonly Tool[];
  readonly #release: () => Promise<void>;
  readonly #inbox: Inbox;
  readonly #notices: Notices;
  /** A title that is still to be given. */
  #title: string | undefined;
  readonly #finished = Promise.withResolvers<void>();
  #running: { abort: AbortController; over: Promise<void> } | undefined;
  #inputEnded = false;
  readonly #span: SessionSpan;
  /** Aborted when the session cannot wait any longer for what hooks do at its end. */
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
    this.#inbox = new Inbox(scope);
    this.#span = new SessionSpan(scope);
    this.#title = scope.config.title;
    this.#notices = new Notices(scope, { known: parts.notices, onNews: () => this.#wake() });
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
    const detachForms = attachment.elicit && this.scope.forms.attach(attachment.elicit);
    return () => {
      detachOutbox();
      detachAsk?.();
      detachForms?.();
    };
  }

  /** Takes a message of the user. While a turn runs it waits; each message gets a turn of its own. */
  submit(message: UserMessage): void {
    if (this.#closed) throw new HeddleError('channel_closed', 'The session is closed.');
    this.#inbox.put(message, { waits: this.busy });
    this.#wake();
  }

  /** Goes on with a turn that the log says is unfinished. False when there is none. */
  resumeTurn(): boolean {
    const { recorder } = this.scope;
    if (this.busy || this.#closed || currentTurn(recorder.log.entries) === undefined) return false;
    recorder.begin();
    if (nextAction(recorder.log.entries).do === 'idle') return false;
    this.#start(async (signal) => {
      await Promise.resolve();
      const { before, stopped } = await this.#span.open(signal);
      this.scope.hooks.tellLater(before);
      if (stopped) this.#stopTurn();
      this.#present();
      const promptUuid = lastPrompt(recorder.log.entries);
      if (promptUuid !== undefined) this.scope.checkpoints?.begin(promptUuid);
      await this.#runTurn(startTally(this.scope), signal);
    });
    return true;
  }

  /** Tells the running turn to end; its result says when it has. Queued messages stay unless they are cancelled too. */
  interrupt(options: { cancelQueued?: boolean } = {}): { stillQueued: string[] } {
    if (options.cancelQueued) this.#inbox.drop();
    // Whoever says stop does not want the next turn to begin by itself.
    if (this.busy) this.#notices.hush();
    this.#stopTurn();
    return { stillQueued: this.#inbox.uuids };
  }

  /** Takes back a message that waits for its turn. False: none of this uuid does. */
  withdraw(uuid: string): boolean {
    return this.#inbox.withdraw(uuid);
  }

  /** Nothing more will be submitted. */
  endInput(): void {
    this.#inputEnded = true;
    this.#wake();
  }

  /** Tells the hooks that the session ends, once; closing does it too, but then their host may be gone. */
  tellEnd(): Promise<void> {
    return this.#span.end(this.#endPatience.signal);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.drop();
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

  /** Puts files back to how they were before a prompt. */
  async rewindFiles(
    promptUuid: string,
    options: { dryRun?: boolean; overwriteEdits?: boolean },
  ): Promise<RewindFilesResult> {
    const { checkpoints, recorder } = this.scope;
    if (checkpoints === undefined) throw new HeddleError('not_supported', 'File rewinding is not enabled.');
    // A turn that a dead process left open does not run.
    if (this.#running && currentTurn(recorder.log.entries)) {
      throw new HeddleError('request_failed', 'A turn is running. Interrupt it, or wait for its result.');
    }
    await this.#running?.over;
    return checkpoints.rewind(promptUuid, options);
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
    const next = this.#inbox.take();
    if (next !== undefined) this.#start((signal) => this.#answer(next, signal));
    else if (this.#notices.callForTurn) this.#start((signal) => this.#answerNotices(signal));
    else if (this.#inputEnded) this.#finishOrWait();
  }

  /**
   * Nothing more will come in. Agents in the background are waited for, since they end by themselves; commands get a while
   * to end, and with it a turn that tells of it; then they are stopped.
   */
  #finishOrWait(): void {
    const { tasks, clock, config } = this.scope;
    if (tasks.running.length === 0) this.#finished.resolve();
    else if (tasks.running.every(({ type }) => type !== 'local_agent')) {
      this.#grace ??= clock.after(graceOf(config.env), () => void tasks.stopAll());
    }
  }

  #start(run: (signal: AbortSignal) => Promise<void>): void {
    this.#grace?.();
    this.#grace = undefined;
    const abort = new AbortController();
    this.scope.hooks.follow(abort.signal);
    this.scope.state.turn = abort.signal;
    const over = run(abort.signal)
      .catch((thrown: unknown) => this.#fail(toHeddleError(thrown)))
      .then(() => {
        this.#running = undefined;
        this.scope.hooks.follow(undefined);
        this.scope.state.turn = undefined;
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
    const { commands, state, manners } = this.scope;
    await Promise.resolve();
    this.#inbox.tell(message, 'started');
    const call = await commands.find(textOf(message), { signal });
    await this.scope.guard.refresh();
    const start = await this.#span.open(signal);
    const isLocal = call?.kind === 'known' && call.command.kind === 'local';
    const isUnknown = call?.kind === 'unknown' && !manners.passesUnknownCommands;
    try {
      if (isLocal || isUnknown) await this.#answerAlone(message, { call, start, signal });
      else await this.#converse(message, { call, start, signal });
    } finally {
      state.turnRules = undefined;
      commands.watch();
    }
    this.#inbox.tell(message, 'completed');
  }

  /** Without a turn of the model, which reads with its first prompt what hooks said to the start. */
  async #answerAlone(message: UserMessage, { call, start, signal }: Answering): Promise<void> {
    this.scope.hooks.tellLater(start.before);
    const blocked = blockedBy(start, message);
    if (blocked !== undefined) this.#sayAlone({ kind: 'blocked', text: blocked });
    else if (call?.kind === 'unknown') this.#sayAlone(refuseUnknown(call.name));
    else if (call?.kind === 'known' && call.command.kind === 'local')
      await this.#runLocal({ command: call.command, args: call.args, uuid: message.uuid }, signal);
  }

  /** A command that needs no turn of the model. */
  async #runLocal(call: LocalCall, signal: AbortSignal): Promise<void> {
    const { name } = call.command;
    if (name === 'compact') return this.#compact(call.args, signal);
    const tally = startTally(this.scope);
    this.#introduce();
    if (name === 'clear') {
      await settleOldTurn(this.scope, tally, signal);
      await this.#span.clear(signal);
    }
    this.#sayResult(await answerLocally(this.scope, call), tally);
  }

  /** A turn of the model. */
  async #converse(message: UserMessage, { call, start, signal }: Answering) {
    const { recorder, config } = this.scope;
    const uuid = this.#freshUuid(message);
    const isFirst = !recorder.log.entries.some((entry) => entry.type === 'user');
    const opening = await openPrompt(this.scope, { message, start }, signal);
    const tally = await this.#openTurn(uuid, signal);
    if (isFirst) await this.#recordSurroundings(signal);
    const tools = this.scope.mcp.takeNews(this.#window);
    const plan = await planNotes(this.scope);
    const news = [tools && toReminder(tools), tellSkills(this.scope)].filter((text) => text !== undefined);
    this.#recordMeta([...news, ...plan, ...opening.before]);
    this.#notices.record({ isMeta: true });
    const prompt = await toPrompt(this.scope, { message, call, opening, tally }, signal);
    if ('kind' in prompt) {
      this.#finishTurn(prompt, tally);
      return;
    }
    const { content, before = [], after, ending } = prompt;
    const show = config.replayUserMessages ? { isReplay: true } : false;
    if (before.length > 0) recorder.user({ content: before, isMeta: true, show: false });
    if (content !== undefined) recorder.user({ content, uuid, show });
    this.#recordMeta(after);
    await this.#runTurn(tally, signal, { ending });
  }

  /** Two entries with one uuid would be one to whoever follows them. */
  #freshUuid({ uuid }: UserMessage): string {
    const { recorder, clock } = this.scope;
    const isKnown = recorder.log.entries.some((entry) => isChainEntry(entry) && entry.uuid === uuid);
    return uuid === undefined || isKnown ? clock.uuid() : uuid;
  }

  #recordMeta(texts: readonly string[]): void {
    if (texts.length > 0) this.scope.recorder.user({ content: toTexts(texts), isMeta: true, show: false });
  }

  /** A turn that nobody asked for: it tells the model which tasks are over. */
  async #answerNotices(signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    const uuid = this.scope.clock.uuid();
    const tally = await this.#openTurn(uuid, signal);
    this.#recordMeta(await planNotes(this.scope));
    this.#notices.record({ uuid });
    await this.#runTurn(tally, signal, { origin: { kind: 'task-notification' } });
  }

  async #openTurn(promptUuid: string, signal: AbortSignal): Promise<TurnTally> {
    const { recorder, config, workspace } = this.scope;
    recorder.branch = await gitBranch(config.cwd, workspace);
    this.#present();
    const tally = startTally(this.scope);
    await settleOldTurn(this.scope, tally, signal);
    void recorder.life({ kind: 'turn', state: 'started', promptUuid });
    this.scope.checkpoints?.begin(promptUuid);
    return tally;
  }

  /** Sums up the conversation so far, because the user says so. */
  async #compact(instructions: string, signal: AbortSignal): Promise<void> {
    this.#prepare();
    const tally = startTally(this.scope);
    await settleOldTurn(this.scope, tally, signal);
    const { runCompactCommand, toEnding } = await import('./compaction/command.js');
    this.#finishTurn(toEnding(await runCompactCommand(this.scope, { instructions, signal, tally })), tally);
  }

  /** Chooses the tools, which stay as they are until the turn is over. */
  #prepare(): void {
    const { state, mcp, config, questions, agents } = this.scope;
    this.#tellState('running');
    const all = [...this.#tools, ...mcp.declare(this.#window)].filter(({ name }) => agents.permits(name));
    state.tools = selectTools(all, config, {
      canAsk: questions.canAsk,
      findMore: (name) => (agents.permits(name) ? mcp.find(name) : undefined),
    });
  }

  get #window(): { windowTokens: number } {
    const { catalog, state } = this.scope;
    return { windowTokens: catalog.contextWindow(state.model.model, state.model.betas) };
  }

  /** Says what the session is made of. */
  #introduce(): void {
    const { recorder, guard, hooks, commands } = this.scope;
    this.#prepare();
    recorder.emit(toInit(this.scope));
    commands.present();
    guard.tellNews();
    hooks.tellProblems();
  }

  /** The same, for what is kept. */
  #present(): void {
    this.#introduce();
    this.scope.recorder.begin();
    if (this.#title !== undefined) setTitle(this.scope, this.#title);
    this.#title = undefined;
    this.#inbox.tellLost();
  }

  async #runTurn(tally: TurnTally, signal: AbortSignal, { origin, ending: known }: TurnOptions = {}): Promise<void> {
    let ending: Ending;
    try {
      ending = known ?? (await turn(this.scope, tally, signal));
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
    await tellKeptFiles(this.scope);
    await this.scope.recorder.restateMarks();
    this.#finishTurn(ending, tally, origin);
  }

  #finishTurn(ending: Ending, tally: TurnTally, origin?: ResultMessage['origin']): void {
    const { recorder } = this.scope;
    const result = this.#toResult(ending, tally, origin);
    const dropped = isRefused(ending) && { dropped: true as const };
    const written = recorder.life({ kind: 'turn', state: 'ended', subtype: result.subtype, ...dropped });
    recorder.outbox.emitDurable(result, written);
    this.#tellState('idle');
  }

  #sayAlone(ending: Ending): void {
    this.#introduce();
    this.#sayResult(ending, startTally(this.scope));
  }

  /** The result of what is no turn: the log knows nothing of it. */
  #sayResult(ending: Ending, tally: TurnTally): void {
    this.scope.recorder.emit(this.#toResult(ending, tally));
    this.#tellState('idle');
  }

  #toResult(ending: Ending, tally: TurnTally, origin?: ResultMessage['origin']): ResultMessage {
    const queued = this.#inbox.length + (this.#notices.callForTurn ? 1 : 0);
    const counters = { index: this.#results, queued, ...(origin && { origin }) };
    this.#results += 1;
    this.#lastResult = toResult(this.scope, tally, ending, counters);
    return this.#lastResult;
  }

  /** What the engine did not foresee still ends in a result: no consumer waits for ever. Never throws. */
  #fail(error: HeddleError): void {
    const { logger } = this.scope;
    logger('error', 'the session failed', { error: error.stack ?? error.message });
    try {
      this.#finishTurn({ kind: 'failed', errors: [error.message], code: error.code }, emptyTally(this.scope));
    } catch (thrown) {
      logger('error', 'the failure could not be told', { error: toHeddleError(thrown).message });
    }
  }

  /** The place and the day, then the instructions that hold there. */
  async #recordSurroundings(signal: AbortSignal): Promise<void> {
    const { memory, opening = [], mainAgent: agent } = this.scope;
    const instructions = await memory.tellAll('session_start', signal);
    const known = agent && (await knownSkills(this.scope, agent, signal));
    if (known?.interrupt) this.#stopTurn();
    const skills = known?.texts ?? [];
    const texts = [await surroundingsOf(this.scope, signal), instructions, ...skills, ...opening.map(toReminder)];
    this.#recordMeta(texts.filter((text) => text !== undefined));
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
