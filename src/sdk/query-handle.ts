import type {
  AccountInfo,
  AgentInfo,
  ContextUsage,
  InitializeResult,
  McpServerStatus,
  McpSetServersResult,
  Message,
  ModelInfo,
  ParamsOf,
  PermissionMode,
  PluginsReport,
  ResultMessage,
  ResultOf,
  RewindFilesResult,
  Settings,
  SlashCommand,
  UserMessage,
} from '../protocol/index.js';
import { AbortError, ERROR_CODES, type ErrorCode, HeddleError, systemClock } from '../protocol/plain.js';
import type { Peer, SentBy } from '../wire/index.js';
import { Idle } from './idle.js';
import type { McpBridge } from './mcp-bridge.js';
import type { SDKInitializeResult, SDKMessage } from './names.js';
import type { McpServerConfig } from './options.js';
import type { McpServerSource } from './tool-definition.js';

export interface RewindOptions {
  /** Only say what would change. */
  dryRun?: boolean;
  /** Restore also files that someone else changed later. */
  overwriteEdits?: boolean;
}

export interface ReadFileOptions {
  /** 1 MB when absent; 16 MB at most. */
  maxBytes?: number;
  encoding?: 'utf-8' | 'base64';
}

/** Settings for a run that is on its way; null takes back what was given so before. */
export type FlagSettings = { [K in keyof Settings]?: Settings[K] | null };

/** The consumer's handle on one run: the messages, and ways to steer it. */
export interface Query extends AsyncGenerator<SDKMessage, void> {
  /** Ends the running turn. Its result follows. */
  interrupt(): Promise<void>;
  setPermissionMode(mode: PermissionMode): Promise<void>;
  setModel(model?: string): Promise<void>;
  setMaxThinkingTokens(tokens: number | null): Promise<void>;
  /** Sends more user messages; resolves when all are sent. */
  streamInput(stream: AsyncIterable<UserMessage>): Promise<void>;
  initializationResult(): Promise<SDKInitializeResult>;
  supportedCommands(): Promise<SlashCommand[]>;
  supportedModels(): Promise<ModelInfo[]>;
  accountInfo(): Promise<AccountInfo>;
  supportedAgents(): Promise<AgentInfo[]>;
  mcpServerStatus(): Promise<McpServerStatus[]>;
  reconnectMcpServer(serverName: string): Promise<void>;
  toggleMcpServer(serverName: string, enabled: boolean): Promise<void>;
  /** What the next model call is made of, in tokens. */
  getContextUsage(): Promise<ContextUsage>;
  /** Replaces the MCP servers. Servers that live in this process may be among them. */
  setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult>;
  /** Puts files back to how they were before a user message. */
  rewindFiles(userMessageId: string, options?: RewindOptions): Promise<RewindFilesResult>;
  /** Settings as if given with `settings`, key by key: rules, folders, hooks and the model count from now on. */
  applyFlagSettings(settings: FlagSettings): Promise<void>;
  /** A file that Read may read unasked. */
  readFile(path: string, options?: ReadFileOptions): Promise<ResultOf<'read_file'>>;
  /** The model knows the file as it was at that time, in milliseconds since 1970: it need not read it to change it. */
  seedReadState(path: string, mtime: number): Promise<void>;
  /** Reads the plugins of the session again, with all that they bring. */
  reloadPlugins(): Promise<PluginsReport>;
  /** Goes on with a turn that a dead process left unfinished. False when there is none. */
  continueTurn(): Promise<boolean>;
  stopTask(taskId: string): Promise<void>;
  /** Ends everything that belongs to this run. */
  close(): void;
}

export interface QueryParts {
  /** Connects to an engine. Called once; the signal aborts when the run is over. */
  connect(signal: AbortSignal, onMessage: (message: Message) => void): Promise<Peer<'host'>>;
  initialize: ParamsOf<'initialize'>;
  servers: McpBridge;
  signal: AbortSignal | undefined;
  /** Why a structured answer is none after all, by the schema that the caller has. */
  findFault?(value: unknown): Promise<string | undefined>;
}

const DONE: IteratorReturnResult<undefined> = { value: undefined, done: true };

/** Only this is pulled; the engine runs on by itself. */
export class QueryHandle implements Query {
  readonly #peer: Promise<Peer<'host'>>;
  readonly #initialized: Promise<InitializeResult>;
  readonly #signal: AbortSignal | undefined;
  readonly #servers: McpBridge;
  readonly #over = new AbortController();
  /** Messages sent that have no result yet, and whether more may be sent. */
  #unanswered = 0;
  readonly #idle = new Idle();
  #cancelHold: (() => void) | undefined;
  readonly #tellsEnd: boolean;
  readonly #findFault: QueryParts['findFault'];
  /** As the engine told them last. */
  #commands: SlashCommand[] | undefined;
  #inputOpen = true;
  #closed = false;
  /** The messages of the peer, once it is there. */
  #messages: Peer<'host'>['messages'] | undefined;
  #failure: Error | undefined;
  #lastResult: ResultMessage | undefined;

  constructor(parts: QueryParts) {
    this.#signal = parts.signal;
    this.#servers = parts.servers;
    this.#findFault = parts.findFault;
    this.#tellsEnd = parts.initialize.hooks?.SessionEnd !== undefined;
    this.#peer = parts.connect(this.#over.signal, (message) => this.#take(message));
    this.#peer.catch((thrown: unknown) => this.fail(thrown));
    this.#initialized = this.#peer.then((peer) => peer.request('initialize', parts.initialize));
    this.#initialized.catch((thrown: unknown) => {
      // Without what it carries, hooks above all, nothing may run. Other failures end the run by themselves.
      const carries = Object.values(parts.initialize).some((part) => part !== '');
      if (carries && thrown instanceof HeddleError && REFUSALS.has(thrown.code)) this.fail(thrown);
    });
    parts.signal?.addEventListener('abort', this.#abort, { once: true });
    if (parts.signal?.aborted) this.#abort();
  }

  /** Says what the run is about. Called once. */
  feed(prompt: string | AsyncIterable<UserMessage>): void {
    this.#feed(prompt).catch((thrown: unknown) => this.fail(thrown));
  }

  /** A message that is there already costs one promise, and no wait. */
  next(): Promise<IteratorResult<SDKMessage, void>> {
    const message = this.#closed || this.#findFault !== undefined ? undefined : this.#messages?.shift();
    return message === undefined ? this.#nextLater() : Promise.resolve({ value: message as SDKMessage, done: false });
  }

  async #nextLater(): Promise<IteratorResult<SDKMessage, void>> {
    if (this.#closed) return this.#finish();
    try {
      this.#messages ??= (await this.#peer).messages;
      const item = await this.#messages.next();
      if (!item.done) return { value: (await this.#judge(item.value)) as SDKMessage, done: false };
      if (!this.#closed && this.#unanswered > 0) this.#failure ??= endedEarly();
      return this.#finish();
    } catch (thrown) {
      if (!this.#isKnown(thrown)) this.#failure ??= thrown as Error;
      return this.#finish();
    }
  }

  /** A result whose value the caller's own schema refuses is no success. */
  async #judge(message: Message): Promise<Message> {
    if (message.type !== 'result' || message.subtype !== 'success' || message.structured_output === undefined)
      return message;
    const fault = await this.#findFault?.(message.structured_output);
    if (fault === undefined) return message;
    const { structured_output: _, result: _text, ...rest } = message;
    const errors = [`The answer does not match outputFormat.schema: ${fault}`];
    const terminal_reason = 'structured_output_retry_exhausted';
    return { ...rest, subtype: 'error_max_structured_output_retries', is_error: true, errors, terminal_reason };
  }

  async return(): Promise<IteratorResult<SDKMessage, void>> {
    this.close();
    return DONE;
  }

  async throw(error: unknown): Promise<IteratorResult<SDKMessage, void>> {
    this.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** Sends one message and leaves input open: whoever sends says when it is over, by closing. */
  async send(message: UserMessage): Promise<void> {
    if (this.#closed) throw new HeddleError('channel_closed', 'The session is closed.');
    const { checkMessage } = await import('../protocol/index.js');
    const type: unknown = (message as { type?: unknown } | null | undefined)?.type;
    if (type !== 'user')
      throw new HeddleError('invalid_frame', `A prompt must be of type "user", not ${JSON.stringify(type)}.`);
    checkMessage(message);
    await this.#sendUser(message);
  }

  async interrupt(): Promise<void> {
    await this.#request('interrupt', {});
  }

  async setPermissionMode(mode: PermissionMode): Promise<void> {
    await this.#request('set_permission_mode', { mode });
  }

  async setModel(model?: string): Promise<void> {
    await this.#request('set_model', { ...(model !== undefined && { model }) });
  }

  async setMaxThinkingTokens(tokens: number | null): Promise<void> {
    await this.#request('set_max_thinking_tokens', { max_thinking_tokens: tokens });
  }

  async streamInput(stream: AsyncIterable<UserMessage>): Promise<void> {
    for await (const message of stream) await this.send(message);
  }

  /** What an engine leaves out is empty. */
  async initializationResult(): Promise<SDKInitializeResult> {
    const empty = {
      commands: [],
      models: [],
      account: {},
      output_style: 'default',
      available_output_styles: ['default'],
    };
    return { ...empty, ...(await this.#initialized) };
  }

  async supportedCommands(): Promise<SlashCommand[]> {
    const { commands = [] } = await this.#initialized;
    return this.#commands ?? commands;
  }

  async supportedModels(): Promise<ModelInfo[]> {
    return (await this.#initialized).models ?? [];
  }

  async accountInfo(): Promise<AccountInfo> {
    return (await this.#initialized).account ?? {};
  }

  async supportedAgents(): Promise<AgentInfo[]> {
    return (await this.#initialized).agents ?? [];
  }

  async mcpServerStatus(): Promise<McpServerStatus[]> {
    return (await this.#request('mcp_status', {})).mcpServers;
  }

  async reconnectMcpServer(serverName: string): Promise<void> {
    await this.#request('mcp_reconnect', { serverName });
  }

  async toggleMcpServer(serverName: string, enabled: boolean): Promise<void> {
    await this.#request('mcp_toggle', { serverName, enabled });
  }

  async setMcpServers(servers: Record<string, McpServerConfig>): Promise<McpSetServersResult> {
    const instances: Record<string, McpServerSource> = {};
    const plain: ParamsOf<'mcp_set_servers'>['servers'] = {};
    for (const [name, server] of Object.entries(servers)) {
      if (server.type === 'sdk') instances[name] = server.instance;
      plain[name] = server.type === 'sdk' ? { type: 'sdk', name } : server;
    }
    const replaced = this.#servers.replace(instances);
    const { added, removed, errors } = await this.#request('mcp_set_servers', { servers: plain });
    // To the engine a server of this process is its name: it must be told that another one has it.
    const greeted = replaced.map(async (name): Promise<[string, string] | undefined> => {
      try {
        await this.#request('mcp_reconnect', { serverName: name });
        return undefined;
      } catch (thrown) {
        return [name, thrown instanceof Error ? thrown.message : String(thrown)];
      }
    });
    const failed = (await Promise.all(greeted)).filter((each) => each !== undefined);
    return {
      added: [...added, ...replaced],
      removed: [...removed, ...replaced],
      errors: { ...errors, ...Object.fromEntries(failed) },
    };
  }

  getContextUsage(): Promise<ContextUsage> {
    return this.#request('get_context_usage', {});
  }

  rewindFiles(userMessageId: string, options: RewindOptions = {}): Promise<RewindFilesResult> {
    const { dryRun, overwriteEdits } = options;
    return this.#request('rewind_files', {
      user_message_id: userMessageId,
      ...(dryRun !== undefined && { dry_run: dryRun }),
      ...(overwriteEdits !== undefined && { overwrite_edits: overwriteEdits }),
    });
  }

  async applyFlagSettings(settings: FlagSettings): Promise<void> {
    await this.#request('apply_flag_settings', { settings });
  }

  readFile(path: string, { maxBytes, encoding }: ReadFileOptions = {}): Promise<ResultOf<'read_file'>> {
    return this.#request('read_file', {
      path,
      ...(maxBytes !== undefined && { max_bytes: maxBytes }),
      ...(encoding !== undefined && { encoding }),
    });
  }

  async seedReadState(path: string, mtime: number): Promise<void> {
    await this.#request('seed_read_state', { path, mtime });
  }

  reloadPlugins(): Promise<PluginsReport> {
    return this.#request('reload_plugins', {});
  }

  async continueTurn(): Promise<boolean> {
    return (await this.#request('continue_turn', {})).continued;
  }

  async stopTask(taskId: string): Promise<void> {
    await this.#request('stop_task', { task_id: taskId });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#servers.close();
    this.#dropHold();
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#peer.then(
      (peer) => {
        void peer.messages.return();
        peer.close();
        this.#over.abort();
      },
      () => this.#over.abort(),
    );
  }

  readonly #abort = (): void => {
    this.fail(new AbortError('The query was aborted by its caller.', this.#signal?.reason));
  };

  /** Ends the run with an error, which the consumer gets. */
  fail(thrown: unknown): void {
    this.#failure ??= thrown instanceof Error ? thrown : new Error(String(thrown));
    this.close();
  }

  /** The error that ended the run is thrown once; after that the generator is simply done. */
  #finish(): IteratorReturnResult<undefined> {
    this.close();
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return DONE;
  }

  async #feed(prompt: string | AsyncIterable<UserMessage>): Promise<void> {
    if (typeof prompt === 'string') await this.#sendUser(toUserMessage(prompt));
    else await this.streamInput(prompt);
    this.#inputOpen = false;
    await this.#endWhenIdle();
  }

  async #sendUser(message: UserMessage): Promise<void> {
    const peer = await this.#peer;
    this.#unanswered += 1;
    peer.send(message);
  }

  #take(message: Message): void {
    this.#idle.take(message);
    if (message.type === 'system' && message.subtype === 'commands_changed') this.#commands = message.commands;
    if (message.type === 'result') {
      this.#lastResult = message;
      // A turn that the engine began by itself answers none of ours.
      if (message.origin?.kind !== 'task-notification') this.#unanswered = Math.max(0, this.#unanswered - 1);
      this.#failure ??= startFailure(message);
    } else if (message.type !== 'system') return;
    this.#endWhenIdle().catch((thrown: unknown) => this.fail(thrown));
  }

  /** Input ends when nothing is left to do: an earlier end would leave questions of the engine unanswered. */
  async #endWhenIdle(): Promise<void> {
    if (this.#inputOpen || this.#unanswered > 0 || this.#closed) return;
    if (this.#idle.isIdle) return this.#endPolitely();
    if (this.#idle.waitsForTasks) this.#cancelHold ??= systemClock.after(MAX_HOLD_MS, () => this.#endInput());
    else this.#dropHold();
  }

  /** SessionEnd hooks must be answered, and after the end of input nothing can be. */
  async #endPolitely(): Promise<void> {
    const peer = await this.#peer;
    if (this.#tellsEnd) await peer.request('end_session', {}).catch(() => undefined);
    peer.end();
  }

  #dropHold(): void {
    this.#cancelHold?.();
    this.#cancelHold = undefined;
  }

  #endInput(): void {
    this.#peer.then(
      (peer) => peer.end(),
      () => undefined,
    );
  }

  /** A process that exits with an error after it has told its result says nothing new. */
  #isKnown(thrown: unknown): boolean {
    const isExit = thrown instanceof HeddleError && thrown.code === 'process_failed';
    return isExit && this.#lastResult?.is_error === true;
  }

  async #request<S extends SentBy<'host'>>(subtype: S, params: ParamsOf<S>): Promise<ResultOf<S>> {
    const peer = await this.#peer;
    return peer.request(subtype, params);
  }
}

/** How an engine refuses a request as a whole. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>(['invalid_frame', 'request_failed']);

/** Tasks in the background keep input open for this long at most; the engine stops what runs after the end of input. */
const MAX_HOLD_MS = 600_000;

export const toUserMessage = (text: string): UserMessage => ({
  type: 'user',
  session_id: '',
  message: { role: 'user', content: [{ type: 'text', text }] },
  parent_tool_use_id: null,
});

const endedEarly = (): HeddleError =>
  new HeddleError('channel_closed', 'The engine ended before it gave a result.', {
    hint: 'What it wrote to stderr or to its debug file may say why. The session can be resumed.',
  });

/** A session that could not be opened is the programmer's to know: it is thrown after its result was seen. */
function startFailure(result: ResultMessage): HeddleError | undefined {
  if (result.subtype === 'success' || !result.is_error || result.num_turns > 0) return undefined;
  const code = result.error_code;
  if (code === undefined || !Object.hasOwn(ERROR_CODES, code)) return undefined;
  const [message = 'The session could not be opened.', hint] = result.errors ?? [];
  return new HeddleError(code as ErrorCode, message, hint === undefined ? {} : { hint });
}
