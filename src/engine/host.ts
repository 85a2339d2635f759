import type {
  Channel,
  Frame,
  HookInput,
  InitializeParams,
  InitializeResult,
  Logger,
  McpServerConfig,
  McpSetServersResult,
  Message,
  ModelInfo,
  ParamsOf,
  ResultMessage,
  SessionConfig,
  UserMessage,
} from '../protocol/index.js';
import { HeddleError, PERMISSION_MODES, type PermissionMode, toHeddleError } from '../protocol/plain.js';
import { Peer } from '../wire/index.js';
import { setTitle } from './choices.js';
import { limitSkills } from './commands/chosen-skills.js';
import type { Preview } from './commands/preview.js';
import { isElsewhere } from './elsewhere.js';
import type { Engine } from './engine.js';
import { exitCodeOf } from './manners.js';
import type { Exchange } from './mcp/connection.js';
import type { ServerDefinition } from './mcp/servers.js';
import { emptyUsage } from './model/usage-sum.js';
import type { Ask, Form } from './questions.js';
import { handleSessionRequests } from './requests/table.js';
import type { Session } from './session.js';
import { FOLLOWED_VERSION, HEDDLE_VERSION } from './version.js';

export interface HostOptions {
  engine: Engine;
  channel: Channel;
  /** What the command line or the caller says; `initialize` may add to it. */
  config: SessionConfig;
  /** All that `initialize` may choose is in `config` already: it brings callbacks and servers, and changes nothing else. */
  isDecided?: boolean;
  logger?: Logger;
  /** Told to the client, which may want to watch the process. */
  pid?: number;
}

const KEEP_ALIVE_MS = 1_000;
/** For requests that are still worked on when all prompts are answered: a server that hangs does not hold up the end. */
const LAST_ANSWERS_MS = 5_000;
const NOT_FOR_CLIENTS = 'Clients of this server can only bring servers of their own process.';
/** Servers of the host answer at once, or are waited for no longer: no server holds up the first model call. */
const HOST_GRACE_MS = 250;

/**
 * The engine's end of a Peer: control requests become methods of a Session, its messages go to the Peer. Resolves with
 * an exit code when input has ended and all of it is answered, or the channel is gone; rejects when input is no protocol.
 */
export async function serveHost(options: HostOptions): Promise<number> {
  const { engine, channel } = options;
  const logger = options.logger ?? (() => {});
  const host = new Host(options);
  const peer = new Peer(channel, {
    side: 'engine',
    clock: engine.clock,
    logger,
    onMessage: (frame) => host.take(frame),
    onInvalid: (frame, error) => host.refuse(frame, error),
  });
  host.serve(peer);
  const answered = peer.inputEnded.then(async () => {
    // A host that died and one that merely has no more to say look alike until we write to it.
    if (!channel.trusted) peer.keepAlive(KEEP_ALIVE_MS);
    await host.drain();
    await peer.answered(LAST_ANSWERS_MS);
  });
  const reason = await Promise.race([answered, peer.closed]);
  await host.close();
  peer.close();
  if (reason instanceof HeddleError && reason.code !== 'channel_closed') throw reason;
  return host.exitCode;
}

class Host {
  readonly #engine: Engine;
  readonly #channel: Channel;
  readonly #logger: Logger;
  readonly #pid: number | undefined;
  readonly #isDecided: boolean;
  #config: SessionConfig;
  #peer: Peer<'engine'> | undefined;
  #session: Promise<Session> | undefined;
  /** MCP servers that live with the client. */
  #servers = new Map<string, ServerDefinition>();
  #detachHooks: () => void = () => {};
  /** Messages are handed over one after the other, behind the opening of the session. */
  #order: Promise<void> = Promise.resolve();
  /** Settles when `initialize` is answered: no turn begins before. The session opens meanwhile. */
  #greeted: Promise<unknown> = Promise.resolve();
  exitCode = 0;

  constructor({ engine, channel, config, isDecided = false, logger, pid }: HostOptions) {
    this.#engine = engine;
    this.#channel = channel;
    this.#config = config;
    this.#isDecided = isDecided || isElsewhere(config);
    this.#logger = logger ?? (() => {});
    this.#pid = pid;
  }

  serve(peer: Peer<'engine'>): void {
    this.#peer = peer;
    peer.handle('initialize', (params) => {
      const answer = this.#initialize(params);
      this.#greeted = answer.catch(() => undefined);
      return answer;
    });
    peer.handle('interrupt', async ({ cancel_queued }) => {
      const session = await this.#session;
      const outcome = session?.interrupt({ cancelQueued: cancel_queued ?? false });
      return { still_queued: outcome?.stillQueued ?? [] };
    });
    peer.handle('set_permission_mode', async ({ mode }) => {
      const session = await this.#open();
      session.setPermissionMode(parseMode(mode));
      return { mode: session.scope.state.mode };
    });
    peer.handle('set_model', async ({ model }) => ({
      model: await (await this.#open()).setModel(model ?? undefined),
    }));
    peer.handle('set_max_thinking_tokens', async ({ max_thinking_tokens }) => {
      if (max_thinking_tokens !== null && !(max_thinking_tokens >= 0)) {
        throw new HeddleError('invalid_config', 'max_thinking_tokens must be 0 or more, or null.');
      }
      (await this.#open()).setMaxThinkingTokens(max_thinking_tokens);
      return undefined;
    });
    peer.handle('mcp_status', async () => {
      const { mcp } = (await this.#open()).scope;
      mcp.begin();
      return { mcpServers: mcp.status };
    });
    peer.handle('mcp_set_servers', ({ servers }) => this.#setServers(servers));
    peer.handle('mcp_reconnect', async ({ serverName }) => {
      await (await this.#open()).scope.mcp.reconnect(serverName);
      return undefined;
    });
    peer.handle('mcp_message', async ({ server_name, message }) => {
      const answer = await (await this.#open()).scope.mcp.receive(server_name, message);
      return answer && { mcp_response: answer };
    });
    peer.handle('mcp_toggle', async ({ serverName, enabled }) => {
      await (await this.#open()).scope.mcp.toggle(serverName, enabled);
      return undefined;
    });
    peer.handle('get_context_usage', async () => {
      const { usageOf } = await import('./context-usage/session-usage.js');
      return usageOf((await this.#open()).scope);
    });
    peer.handle('rewind_files', async ({ user_message_id, dry_run, overwrite_edits }) =>
      (await this.#open()).rewindFiles(user_message_id, {
        dryRun: dry_run ?? false,
        overwriteEdits: overwrite_edits ?? false,
      }),
    );
    peer.handle('continue_turn', async () => ({ continued: (await this.#open()).resumeTurn() }));
    peer.handle('rename_session', async ({ title }) => {
      setTitle((await this.#open()).scope, title);
      return undefined;
    });
    peer.handle('reload_skills', async () => {
      const { commands, definitions } = (await this.#open()).scope;
      await commands.reload();
      return { skills: [...definitions.skills.values()].map(({ name, description }) => ({ name, description })) };
    });
    peer.handle('stop_task', async ({ task_id }) => {
      await (await this.#open()).scope.tasks.stop(task_id, 'host');
      return {};
    });
    peer.handle('end_session', async () => {
      await (await this.#session)?.tellEnd();
      return undefined;
    });
    handleSessionRequests((subtype, handler) => peer.handle(subtype, handler), {
      // What was sent before a request is there when it is answered.
      open: async () => {
        const session = await this.#open();
        await this.#order;
        return session;
      },
      config: () => this.#config,
    });
    // Told by hosts that share a screen; nothing here depends on them.
    peer.handle('set_color', () => undefined);
    peer.handle('set_has_subscribers', () => undefined);
    peer.handle('list_models', () => ({ models: modelInfos(this.#engine) }));
    peer.handle('get_binary_version', () => ({ version: HEDDLE_VERSION }));
    peer.handle('get_session_cost', async () => {
      const session = await this.#open();
      return { text: `Total cost: $${session.scope.spending.totalUsd.toFixed(4)}` };
    });
  }

  take(frame: Frame): void {
    if (frame.type === 'user') {
      const message = frame as UserMessage;
      this.#order = this.#order.then(() => this.#submit(message));
      return;
    }
    if (frame.type === 'update_environment_variables') {
      const { variables } = frame as { variables?: Record<string, string> };
      this.#config = { ...this.#config, env: { ...this.#config.env, ...variables } };
      return;
    }
    this.#logger('debug', 'a frame of an unknown type was ignored', { type: frame.type });
  }

  /** A frame that does not match its schema gets a result, because whoever sent a message waits for one. */
  refuse(frame: unknown, error: HeddleError): void {
    this.#logger('warn', 'a frame was refused', { error: error.message });
    const isPrompt = typeof frame === 'object' && frame !== null && 'type' in frame && frame.type === 'user';
    if (isPrompt) this.#send(this.#toFailure(error));
    else this.#sayRefused(error);
  }

  /** Waits until everything that was sent in is answered. */
  async drain(): Promise<void> {
    await this.#order;
    const session = await this.#session?.catch(() => undefined);
    session?.endInput();
    await session?.finished;
    await session?.tellEnd();
  }

  async close(): Promise<void> {
    await this.#order;
    const session = await this.#session?.catch(() => undefined);
    await session?.close();
    if (session) this.exitCode = exitCodeOf(session.lastResult, session.scope.manners);
  }

  async #submit(message: UserMessage): Promise<void> {
    try {
      const session = await this.#open();
      await this.#greeted;
      session.submit(message);
    } catch (thrown) {
      await this.#greeted;
      this.exitCode = 1;
      this.#send(this.#toFailure(toHeddleError(thrown)));
    }
  }

  #open(): Promise<Session> {
    this.#session ??= this.#engine.open(this.#config, { isHosted: true }).then(async (session) => {
      session.attach({
        deliver: (message) => this.#send(message),
        deliverAll: (messages) => this.#peer?.sendAll(messages),
        backlog: () => ({ size: this.#channel.buffered, belowLimit: (limit) => this.#channel.drained(limit) }),
        ...(this.#config.permissionPromptTool === 'stdio' && { ask: this.#ask }),
        elicit: this.#elicit,
      });
      await this.#attachHooks(session);
      await this.#bringServers(session);
      return session;
    });
    return this.#session;
  }

  /** Those of the host are there when it returns, or come later. */
  async #bringServers({ scope: { mcp } }: Session): Promise<void> {
    void mcp.set(this.#servers);
    await mcp.hostSettled(HOST_GRACE_MS);
  }

  /** Hook callbacks belong to this client, and are asked through its Peer. Those it had before are forgotten. */
  async #attachHooks(session: Session): Promise<void> {
    const { hooks: callbacks } = this.#config;
    this.#detachHooks();
    if (callbacks === undefined) return;
    this.#detachHooks = await session.scope.hooks.attach({
      callbacks,
      askCallback: (callback_id, input, tool_use_id, options) => {
        if (this.#peer === undefined) throw new HeddleError('channel_closed', 'The host of the hook is gone.');
        return this.#peer.request('hook_callback', { callback_id, input: input as HookInput, tool_use_id }, options);
      },
    });
  }

  readonly #ask: Ask = ({ id: _, ...question }, { signal }) => {
    if (this.#peer === undefined) return Promise.reject(new HeddleError('channel_closed', 'There is nobody to ask.'));
    return this.#peer.request('can_use_tool', question, { signal });
  };

  readonly #elicit: Ask<Form> = ({ id: _, ...form }, { signal }) => {
    if (this.#peer === undefined) return Promise.reject(new HeddleError('channel_closed', 'There is nobody to ask.'));
    return this.#peer.request('elicitation', form, { signal });
  };

  async #initialize(params: InitializeParams): Promise<InitializeResult> {
    const { hooks, skills } = params;
    this.#config = {
      ...this.#config,
      ...(!this.#isDecided && choicesOf(params)),
      ...(hooks && { hooks }),
      ...(skills !== undefined && { skills: limitSkills(this.#config.skills, skills) }),
    };
    for (const name of params.sdkMcpServers ?? []) {
      const manifest = params.sdkMcpServerManifests?.[name];
      const definition = this.#toDefinition(name, { type: 'sdk', name });
      this.#servers.set(name, { ...definition, ...(manifest && { manifest }) });
    }
    const session = await this.#session?.catch(() => undefined);
    if (session) await this.#bringServers(session);
    if (session && hooks) await this.#attachHooks(session);
    return {
      ...(await this.#preview(session)),
      models: modelInfos(this.#engine),
      ...(this.#pid !== undefined && { pid: this.#pid }),
      claude_code_version: FOLLOWED_VERSION,
      heddle_version: HEDDLE_VERSION,
      current_permission_mode: session?.scope.state.mode ?? this.#config.permissionMode ?? 'default',
      hook_on_failure_supported: true,
      session_state: session?.busy ? 'running' : 'idle',
    };
  }

  async #preview(session: Session | undefined): Promise<Preview> {
    const { describeOffer, previewSession } = await import('./commands/preview.js');
    const { clock, provider } = this.#engine;
    if (session === undefined) return previewSession(this.#config, { clock, provider });
    const { definitions, config, guard, commands, state } = session.scope;
    const { outputStyle } = guard.settings.value;
    const offer = describeOffer(definitions, { config, outputStyle, keySource: state.keySource });
    return { ...offer, commands: commands.list };
  }

  /** Those of flags and files stay; all others are replaced. */
  async #setServers(servers: ParamsOf<'mcp_set_servers'>['servers']): Promise<McpSetServersResult> {
    const session = await this.#open();
    const named = Object.entries(servers);
    // Whoever may write no settings may not have this machine start programs or reach addresses either.
    const refused = isElsewhere(this.#config) ? named.filter(([, { type }]) => type !== 'sdk') : [];
    const taken = named.filter((each) => !refused.includes(each));
    this.#servers = new Map(taken.map(([name, config]) => [name, this.#toDefinition(name, config)]));
    session.scope.mcp.begin();
    const outcome = await session.scope.mcp.set(this.#servers);
    const errors = Object.fromEntries(refused.map(([name]) => [name, NOT_FOR_CLIENTS]));
    return { ...outcome, errors: { ...outcome.errors, ...errors } };
  }

  /** The way to a server that is known stays the same: it is not greeted again. */
  #toDefinition(name: string, config: McpServerConfig): ServerDefinition {
    if (config.type !== 'sdk') return { config };
    const known = this.#servers.get(name);
    return known && 'exchange' in known ? known : { exchange: this.#exchangeWith(name), config };
  }

  #exchangeWith(server: string): Exchange {
    return async (message, options) => {
      if (this.#peer === undefined)
        throw new HeddleError('channel_closed', `The host of MCP server ${server} is gone.`);
      const answer = await this.#peer.request('mcp_message', { server_name: server, message }, options);
      return answer?.mcp_response;
    };
  }

  /** Nobody waits for an answer to such a frame, but whoever sent it should know. */
  #sayRefused(error: HeddleError): void {
    const { message: content, code: tag } = error;
    const uuid = this.#engine.clock.uuid();
    this.#send({ type: 'system', subtype: 'informational', level: 'error', content, tag, uuid, session_id: '' });
  }

  #send(message: Message): void {
    this.#peer?.send(message);
  }

  /** The result of a message that no session could answer. */
  #toFailure(error: HeddleError): ResultMessage {
    return {
      type: 'result',
      subtype: 'error_during_execution',
      is_error: true,
      errors: [error.message, ...(error.hint === error.message ? [] : [error.hint])],
      error_code: error.code,
      duration_ms: 0,
      duration_api_ms: 0,
      num_turns: 0,
      stop_reason: null,
      session_id: this.#config.resume ?? this.#config.sessionId ?? '',
      total_cost_usd: 0,
      usage: emptyUsage(),
      modelUsage: {},
      permission_denials: [],
      uuid: this.#engine.clock.uuid(),
    };
  }
}

const CHOICES = [
  'systemPrompt',
  'appendSystemPrompt',
  'agents',
  'jsonSchema',
  'planModeInstructions',
  'forwardSubagentText',
] as const;

/** What `initialize` says in the place of the configuration. */
const choicesOf = (params: InitializeParams): Partial<SessionConfig> =>
  Object.fromEntries(CHOICES.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])));

function parseMode(mode: string): PermissionMode {
  if ((PERMISSION_MODES as readonly string[]).includes(mode)) return mode as PermissionMode;
  const text = `Cannot set permission mode: must be one of ${PERMISSION_MODES.join(', ')}`;
  throw new HeddleError('invalid_config', text, { data: { error_code: 'invalid_mode' } });
}

const modelInfos = ({ catalog }: Engine): ModelInfo[] =>
  Object.entries(catalog.aliases).map(([value, resolvedModel]) => ({
    value,
    resolvedModel,
    displayName: value === 'default' ? 'Default (recommended)' : `${value[0]?.toUpperCase()}${value.slice(1)}`,
    description: resolvedModel,
  }));
