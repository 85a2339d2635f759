import type { Clock, JsonRpcMessage, McpServerStatus, McpSetServersResult, Tool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { ServerBounds } from './bounds.js';
import type { FoundTools } from './catalogue.js';
import type { McpPromptMessage, McpResource, McpResourceContent } from './link.js';
import { isLikeName, isToolOf, mcpToolName } from './names.js';
import type { PromptCommand } from './offer.js';
import { findRefusals } from './refusal.js';
import {
  isSdkServer,
  type RemoteConfig,
  type RemoteServer,
  type SdkServer,
  type ServerDefinition,
} from './server-definition.js';
import type { McpServersParts, ServerChange, SessionServers } from './session-servers.js';
import { createSha256 } from '../workspace/sha256.js';

/** What the session's servers need; those that are configured stay, whatever else is set. */
export interface McpParts extends McpServersParts {
  configured?: ReadonlyMap<string, ServerDefinition>;
  /** Others whose tools can be called as well. */
  beside?: McpServers;
  /** What stands in the way of servers that are named while the session runs. Must not throw. */
  admission?: Admission;
  /** Servers that are not the host's own are connected when `begin` is called, not before. */
  waits?: boolean;
}

export interface Admission {
  /** A server that the engine would start or reach, as it is taken. */
  admit(name: string, config: RemoteConfig): Promise<Pick<RemoteServer, 'config' | 'blocked'>>;
  /** Why a server of the host may not be used. */
  deny(name: string): string | undefined;
}

export type { McpServersParts, PromptCommand, SdkServer, ServerChange, ServerDefinition };

type NamedServer = [name: string, definition: ServerDefinition];

const KEPT_BY_POLICY = 'Policy has a server of this name, which stays.';

/**
 * The MCP servers of a session. Whoever has none loads nothing for them: what does the work comes with the first server.
 * What is said here of the methods holds for `SessionServers` too.
 */
export class McpServers {
  readonly #clock: Clock;
  readonly #parts: McpParts;
  #loading: Promise<SessionServers> | undefined;
  #live: SessionServers | undefined;
  #hasBegun: boolean;
  #configured: ReadonlyMap<string, ServerDefinition>;
  /** Those that were set last. */
  #named: ReadonlyMap<string, ServerDefinition> = new Map();
  /** Those that are named are looked at one set after the other. */
  #admitting: Promise<unknown> | undefined;
  /** Named, and not connecting yet. */
  #awaited: ReadonlyMap<string, ServerDefinition> = new Map();

  constructor(clock: Clock, parts: McpParts = {}) {
    this.#clock = clock;
    this.#parts = parts;
    this.#hasBegun = parts.waits !== true;
    this.#configured = parts.configured ?? new Map();
    this.#awaited = this.#configured;
  }

  get status(): McpServerStatus[] {
    return this.#live?.status ?? this.#foretell();
  }

  /** Whatever was configured or named, connected or not. */
  get known(): ReadonlyMap<string, ServerDefinition> {
    return this.#named.size === 0 ? this.#configured : new Map([...this.#configured, ...this.#named]);
  }

  /** The tools of every server that is connected. */
  get tools(): Tool[] {
    return [...(this.#live?.tools ?? []), ...(this.#parts.beside?.tools ?? [])];
  }

  /** Whether a server is called so, or one beside these is; whatever it does. */
  has(word: string): boolean {
    const isMeant = ({ name }: { name: string }): boolean => mcpToolName(name, '') === mcpToolName(word, '');
    return this.status.some(isMeant) || this.#parts.beside?.has(word) === true;
  }

  /** Whether tools of a server of this name could be taken for those of one here or beside; see `isLikeName`. */
  hasLike(word: string): boolean {
    return this.status.some(({ name }) => isLikeName(name, word)) || this.#parts.beside?.hasLike(word) === true;
  }

  /** The prompts of every server that is connected, as slash commands. */
  get prompts(): PromptCommand[] {
    return this.#live?.prompts ?? [];
  }

  /** Servers that are on their way. */
  get pending(): string[] {
    return this.#live?.pending ?? this.#foretell().flatMap(({ name, status }) => (status === 'pending' ? [name] : []));
  }

  /** More tools may come without anybody asking for them. */
  get mayGrow(): boolean {
    return this.#live?.mayGrow ?? this.pending.length > 0;
  }

  /** What servers say a model should know of them; cut where it is long. */
  get instructions(): { server: string; text: string }[] {
    return this.#live?.instructions ?? [];
  }

  get hasResources(): boolean {
    return this.#live?.hasResources ?? false;
  }

  /**
   * What requests declare of the servers' tools, ToolSearch and the tools for resources among them. The same at every call
   * from the first on, so that the prompt cache holds; only a session without ToolSearch, which has no other way to them,
   * takes up what has come since. To be called at the start of a turn, once `hostSettled` has resolved.
   */
  declare(options: { windowTokens: number }): Tool[] {
    return this.#live?.declare(options) ?? [];
  }

  /** For the next message to the model: tools that it can find and was not told of, that have changed or gone; what servers say. */
  takeNews(options: { windowTokens: number }): string | undefined {
    return this.#live?.takeNews(options);
  }

  /** The conversation was summed up, and with it what the model was told of tools: the next news begin anew. */
  retell(): void {
    this.#live?.retell();
  }

  /** The tool of this name as it is now; a stand-in that says why, where its server is not there or has it no more. */
  find(name: string): Tool | undefined {
    return this.#live?.find(name) ?? this.#parts.beside?.find(name);
  }

  /** Changes when what the server says of the tool does. Undefined for a tool that is not there. */
  definitionOf(name: string): string | undefined {
    const { beside } = this.#parts;
    const own = this.#live?.definitionOf(name);
    if (own === undefined || beside === undefined) return own ?? beside?.definitionOf(name);
    // Agents may bring different servers of one name: what was granted to one of them is granted to that entry.
    const [server, definition] = [...this.#configured].find(([each]) => isToolOf(each, name)) ?? [];
    const entry = definition && !isSdkServer(definition) ? (definition.written ?? definition.config) : undefined;
    return createSha256()
      .update(JSON.stringify([own, server, entry]))
      .digest('hex');
  }

  /**
   * Makes these the servers, beside those that are configured: others go, new and changed ones are connected. Their status
   * counts as soon as they have been looked at; resolves when each of the new ones is connected or has failed. Nobody has to wait for that. Never rejects.
   */
  async set(named: ReadonlyMap<string, ServerDefinition>): Promise<McpSetServersResult> {
    this.#named = named;
    const configured = this.#configured;
    const isPolicys = (name: string): boolean => configured.get(name)?.scope === 'managed';
    // Servers of the host alone are not waited for: they are greeted before the first model call.
    const isLooked = this.#admitting !== undefined || [...named.values()].some((each) => !isSdkServer(each));
    const admitted = isLooked ? await this.#admitInOrder(named) : [...named].map((entry) => this.#denied(entry));
    const others = admitted.filter(([name]) => !isPolicys(name));
    const result = await this.#make(new Map([...configured, ...others]));
    const kept = [...named.keys()].filter(isPolicys).map((name) => [name, KEPT_BY_POLICY]);
    return { ...result, errors: { ...result.errors, ...Object.fromEntries(kept) } };
  }

  get configured(): ReadonlyMap<string, ServerDefinition> {
    return this.#configured;
  }

  /** Others are configured from now on; those that were set stay. As `set`. */
  configure(configured: ReadonlyMap<string, ServerDefinition>): Promise<McpSetServersResult> {
    this.#configured = configured;
    return this.set(this.#named);
  }

  /** A set that is looked at for longer does not undo one that came after it. */
  async #admitInOrder(named: ReadonlyMap<string, ServerDefinition>): Promise<NamedServer[]> {
    const before = this.#admitting ?? Promise.resolve();
    const looking = before.then(() => Promise.all([...named].map((entry) => this.#admit(entry))));
    this.#admitting = looking;
    const admitted = await looking;
    if (this.#admitting === looking) this.#admitting = undefined;
    return admitted;
  }

  async #admit([name, definition]: NamedServer): Promise<NamedServer> {
    const { admission } = this.#parts;
    if (admission === undefined || isSdkServer(definition)) return this.#denied([name, definition]);
    return [name, { ...definition, ...(await admission.admit(name, definition.config)) }];
  }

  #denied([name, definition]: NamedServer): NamedServer {
    const blocked = isSdkServer(definition) ? this.#parts.admission?.deny(name) : undefined;
    return [name, blocked === undefined ? definition : { ...definition, blocked }];
  }

  async #make(servers: ReadonlyMap<string, ServerDefinition>): Promise<McpSetServersResult> {
    if (this.#live === undefined) {
      this.#awaited = servers;
      if (servers.size === 0 && this.#loading === undefined) return { added: [], removed: [], errors: {} };
    }
    return (this.#live ?? (await this.#load())).set(servers);
  }

  /** It is time to connect servers that are not the host's own: the first answer is on its way, or somebody wants them. */
  begin(): void {
    this.#hasBegun = true;
    this.#live?.begin();
  }

  /** Throws with the reason when it does not work. */
  async reconnect(name: string): Promise<void> {
    await (await this.#known(name)).reconnect(name);
  }

  /** Off: its process ends. On: resolves when it is connected or has failed. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    await (await this.#known(name)).toggle(name, enabled);
  }

  /** Resolves when the servers of the host have been greeted or have failed, or when the time is over. */
  async hostSettled(withinMs: number): Promise<void> {
    await this.#admitting;
    await (await this.#loading)?.hostSettled(withinMs);
  }

  /** Resolves when the server of the tool is not on its way any more, or the time is over, or nobody waits. */
  async toolArrived(name: string, options: { signal: AbortSignal; withinMs: number }): Promise<void> {
    await (await this.#loading)?.toolArrived(name, options);
    await this.#parts.beside?.toolArrived(name, options);
  }

  /** Waits for the server of a slash command, where it is on its way. Throws when that one does not come. */
  async promptArrived(name: string, options: { signal: AbortSignal }): Promise<void> {
    await (await this.#loading)?.promptArrived(name, options);
  }

  /** Calls a tool for the session itself. Throws when it is not there or does not answer, or answers with an error. */
  async askTool(
    name: string,
    input: Record<string, unknown>,
    options: { toolUseId: string; signal: AbortSignal },
  ): Promise<string> {
    return (await this.#known(name)).askTool(name, input, options);
  }

  /** Takes what a server of the host says by itself. Gives the answer, where there is one. */
  async receive(name: string, message: JsonRpcMessage): Promise<JsonRpcMessage | undefined> {
    return (await this.#known(name)).receive(name, message);
  }

  /** Of one server or of all. Throws for a server that is not known or not there. */
  resources(server?: string): (McpResource & { server: string })[] {
    const { beside } = this.#parts;
    if (server !== undefined) return this.#besideHas(server)?.resources(server) ?? this.#live?.resources(server) ?? [];
    return [...(this.#live?.resources() ?? []), ...(beside?.resources() ?? [])];
  }

  /** As ToolSearch finds them. */
  search(query: string, max: number, bounds: ServerBounds): FoundTools {
    return this.#live?.search(query, max, bounds) ?? { tools: [], missing: [], hidden: 0, pending: [] };
  }

  /** Resolves when the servers are not on their way any more, or those that are there suffice, or the time is over, or nobody waits. */
  async arrived(names: readonly string[], options: Parameters<SessionServers['arrived']>[1]): Promise<void> {
    await (await this.#loading)?.arrived(names, options);
  }

  async readResource(server: string, uri: string, options: { signal: AbortSignal }): Promise<McpResourceContent[]> {
    const servers = this.#besideHas(server) ?? (await this.#known(server));
    return servers.readResource(server, uri, options);
  }

  /** What a slash command of a server stands for. `text` is what follows its name. */
  async expandPrompt(name: string, text: string, options: { signal: AbortSignal }): Promise<McpPromptMessage[]> {
    return (await this.#known(name)).expandPrompt(name, text, options);
  }

  /** Ends every connection, and the processes behind them. */
  async close(): Promise<void> {
    await (await this.#loading)?.close();
  }

  /** Those beside these, when a server of this name is there and not here. */
  #besideHas(word: string): McpServers | undefined {
    const { beside } = this.#parts;
    return beside?.has(word) && !this.status.some((each) => each.name === word) ? beside : undefined;
  }

  async #known(name: string): Promise<SessionServers> {
    const live = await this.#loading;
    if (live === undefined) throw new HeddleError('invalid_config', `Server not found: ${name}`);
    return live;
  }

  /** What will be said of servers that nothing was done about yet. */
  #foretell(): McpServerStatus[] {
    const refusals = findRefusals(this.#awaited);
    return [...this.#awaited].map(([name, { scope = 'dynamic' }]) => {
      const { status, reason } = refusals.get(name) ?? {};
      if (this.#parts.isElsewhere) return { name, status: status ?? 'pending' };
      return { name, status: status ?? 'pending', scope, ...(reason !== undefined && { error: reason }) };
    });
  }

  #load(): Promise<SessionServers> {
    this.#loading ??= import('./session-servers.js').then(({ SessionServers: Live }) => {
      this.#live = new Live(this.#clock, this.#parts);
      if (this.#hasBegun) this.#live.begin();
      return this.#live;
    });
    return this.#loading;
  }
}
