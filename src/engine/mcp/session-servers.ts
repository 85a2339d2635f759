/** The MCP servers of a session. One that cannot be reached never stops it. */
import type {
  Clock,
  JsonRpcMessage,
  Logger,
  McpServerStatus,
  McpSetServersResult,
  Tool,
} from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { ServerBounds } from './bounds.js';
import { Catalogue, type FoundTools, readSearchChoice } from './catalogue.js';
import { connectHost, type HostLink } from './host-link.js';
import { describeAbsence, KnownServer } from './known-server.js';
import type { LinkParts, McpLink, McpList, McpPromptMessage, McpResource, McpResourceContent } from './link.js';
import { callTool, isPending, type Member, standIn, staysAs } from './member.js';
import { isToolOf, mcpToolName, showName, ToolNames } from './names.js';
import { hashOf, MAX_TOOLS, type Offer, type PromptCommand, readArguments, toOffer } from './offer.js';
import { findRefusals, type Refusal } from './refusal.js';
import { createServerTools, type ServerTools } from './server-tools.js';
import { toToolOutput } from './tool.js';
import { type ConnectServer, isSdkServer, type ServerDefinition } from './server-definition.js';
import { toStatus } from './server-status.js';
import { kindOf } from './server-kind.js';

/** What is new of a server. */
export interface ServerChange {
  server: string;
  what: 'status' | McpList;
}

export interface McpServersParts {
  logger?: Logger;
  /** Reaches servers that are not the host's own; none can be reached when absent. */
  connect?: ConnectServer;
  /** What a server's link is made of; asked for each time one is connected. */
  linkParts?: (server: string) => Promise<Omit<LinkParts, 'signal'>>;
  /** How long a call may take without progress, where the config of its server does not say. */
  callMs?: number;
  /** `true`, `false`, `auto` or `auto:<percent>`: what ENABLE_TOOL_SEARCH or a setting says. */
  toolSearch?: string | undefined;
  /** False where ToolSearch is not among the tools that the session may have. */
  hasSearch?: boolean;
  /** What the main thread may use, when not all. */
  bounds?: Pick<ServerBounds, 'permits' | 'reaches'>;
  /** False for tools that the session may not have. */
  mayHave?: (tool: string) => boolean;
  /** Whether a rule of now forbids everything that is called so. */
  isDenied?: (tool: string) => Promise<boolean>;
  /** Lists that change often are told of together. Must not throw. */
  onChange?: (change: ServerChange) => void;
  /** Those who use them sit elsewhere: what servers of this machine are and why one fails is for its log. */
  isElsewhere?: boolean;
}

const CONNECT_MS = 30_000;
/** Links to other servers keep this time themselves, and say in which phase it was over. */
const LINK_GRACE_MS = 2_000;
/** Changes of lists within this long are one. */
const CHANGE_PAUSE_MS = 100;
const MAX_INSTRUCTIONS = 2_000;
const UNBOUND: ServerBounds = { permits: () => true, reaches: () => true };

export class SessionServers {
  readonly #clock: Clock;
  readonly #parts: McpServersParts;
  readonly #members = new Map<string, Member>();
  readonly #changed = new Map<string, ServerChange>();
  readonly #catalogue: Catalogue;
  readonly #tools: ServerTools;
  /** What servers say of themselves, as far as the model was told. */
  readonly #saidBy = new Map<string, string>();
  #toldPending = false;
  #cancelTelling: (() => void) | undefined;
  #isClosed = false;
  /** Servers that are not the host's own wait for this. */
  #hasBegun = false;
  readonly #held: (() => void)[] = [];

  constructor(clock: Clock, parts: McpServersParts) {
    this.#clock = clock;
    this.#parts = parts;
    this.#catalogue = new Catalogue({
      live: () =>
        [...this.tools, ...(this.hasResources ? this.#tools.resources : [])].filter(
          ({ name }) => this.#mayHave(name) && this.#bounds.permits(name),
        ),
      mayGrow: () => this.mayGrow,
      pending: () => this.pending,
      hasSearch: parts.hasSearch ?? true,
      choice: readSearchChoice(parts.toolSearch),
    });
    this.#tools = createServerTools(this, { ...this.#bounds, isDenied: (server) => this.isDenied(server) });
  }

  /** What requests declare: the same at every call but in a session without ToolSearch. */
  declare(options: { windowTokens: number }): Tool[] {
    const { tools, withSearch } = this.#catalogue.declare(options);
    return withSearch ? [...tools, this.#tools.search] : [...tools];
  }

  takeNews(options: { windowTokens: number }): string | undefined {
    const fresh = this.instructions.filter(({ server, text }) => this.#saidBy.get(server) !== text);
    for (const { server, text } of fresh) this.#saidBy.set(server, text);
    const said = fresh.map(({ server, text }) => `MCP server ${showName(server)} says of its tools:\n${text}`);
    const tools = this.#catalogue.takeNews(options);
    const coming = tools === undefined ? this.#takePending() : undefined;
    const news = [tools, coming, ...said].filter((text) => text !== undefined);
    return news.length === 0 ? undefined : news.join('\n\n');
  }

  retell(): void {
    this.#saidBy.clear();
    this.#toldPending = false;
    this.#catalogue.retell();
  }

  /** Once: whoever is told of tools later knows that there are servers. */
  #takePending(): string | undefined {
    const { pending } = this;
    if (this.#toldPending || pending.length === 0 || !this.#catalogue.hasSearch) return undefined;
    this.#toldPending = true;
    const names = pending.map(showName).join(', ');
    return `These MCP servers are still connecting: ${names}. Look for their tools with ToolSearch, which waits for them.`;
  }

  /** Resolves when the servers are not on their way any more, or those that are there suffice, or the time is over, or nobody waits. */
  async arrived(
    names: readonly string[],
    { signal, withinMs, suffices }: { signal: AbortSignal; withinMs: number; suffices?: () => boolean },
  ): Promise<void> {
    this.begin();
    // Those that have begun just now are on their way in the next moment.
    await Promise.resolve();
    const coming = names.flatMap((name) => this.#members.get(name)?.server ?? []).filter(isPending);
    if (coming.length === 0 || signal.aborted) return;
    const over = Promise.withResolvers<void>();
    const cancel = this.#clock.after(withinMs, over.resolve);
    signal.addEventListener('abort', () => over.resolve(), { once: true });
    const settled = coming.map(async (server) => {
      await server.settled;
      if (suffices?.() === true) over.resolve();
    });
    await Promise.race([Promise.all(settled), over.promise]);
    cancel();
  }

  /** Throws when the command belongs to a server by its name, and that one is not there in time. */
  async promptArrived(name: string, { signal }: { signal: AbortSignal }): Promise<void> {
    const member = this.#memberOf(name);
    if (member === undefined) return;
    await this.arrived([member.server.name], { signal, withinMs: CONNECT_MS });
    if (!signal.aborted) member.server.use();
  }

  /** `arrived` for the server that a tool belongs to by its name. */
  async toolArrived(name: string, options: { signal: AbortSignal; withinMs: number }): Promise<void> {
    const member = this.#memberOf(name);
    if (member !== undefined) await this.arrived([member.server.name], options);
  }

  get status(): McpServerStatus[] {
    const { isElsewhere = false } = this.#parts;
    return [...this.#members.values()].map((member) => toStatus(member, this.#offerOf(member), { isElsewhere }));
  }

  /** The tools of every server that is connected, in no order that means anything. */
  get tools(): Tool[] {
    return this.#offers().flatMap((offer) => [...offer.tools.values()]);
  }

  get prompts(): PromptCommand[] {
    const reached = [...this.#members.values()].filter(({ server }) => this.#bounds.reaches(server.name));
    return reached.flatMap((member) => [...(this.#offerOf(member)?.prompts ?? [])]);
  }

  /** Servers that are on their way. */
  get pending(): string[] {
    return [...this.#members.values()].flatMap(({ server }) => (isPending(server) ? [server.name] : []));
  }

  /** More tools may come without anybody asking for them. */
  get mayGrow(): boolean {
    return [...this.#members.values()].some(
      ({ server, definition }) => server.status === 'pending' || (server.isExpected && !isSdkServer(definition)),
    );
  }

  get instructions(): { server: string; text: string }[] {
    return [...this.#members.values()].filter(this.#isOpen).flatMap(({ server }) => {
      const text = server.link?.instructions?.toWellFormed().trim().slice(0, MAX_INSTRUCTIONS) ?? '';
      return text === '' ? [] : [{ server: server.name, text }];
    });
  }

  get hasResources(): boolean {
    return [...this.#members.values()]
      .filter(this.#isOpen)
      .some(({ server }) => (server.link?.resources.length ?? 0) > 0);
  }

  /** The tool of this name as it is now; a stand-in that says why, where its server is not there or has it no more. */
  find(name: string): Tool | undefined {
    const member = this.#memberOf(name);
    if (member === undefined) return this.#tools.resources.find((tool) => tool.name === name);
    const offer = this.#offerOf(member);
    const tool = offer?.tools.get(name);
    if (tool !== undefined) return tool;
    if (offer !== undefined && !member.toolNames.has(name)) return undefined;
    return standIn(name, () =>
      offer === undefined
        ? describeAbsence(member.server)
        : `MCP server ${showName(member.server.name)} does not offer ${name} any more.`,
    );
  }

  /** Calls a tool for the session itself. Throws when it is not there or does not answer, or answers with an error. */
  async askTool(
    name: string,
    input: Record<string, unknown>,
    { toolUseId, signal }: { toolUseId: string; signal: AbortSignal },
  ): Promise<string> {
    await this.toolArrived(name, { signal, withinMs: CONNECT_MS });
    const member = this.#memberOf(name);
    const offer = member && this.#offerOf(member);
    const given = offer?.definitions.get(name)?.given.name;
    if (member === undefined || given === undefined) {
      const isAway = member !== undefined && offer === undefined;
      throw new HeddleError('request_failed', isAway ? describeAbsence(member.server) : `There is no tool ${name}.`);
    }
    const output = await callTool(member.server, [given, input, { toolUseId, signal }]);
    const { content, isError } = toToolOutput(output);
    const text =
      typeof content === 'string' ? content : content.map((block) => (block.type === 'text' ? block.text : ''));
    const said = [text].flat().join('\n');
    if (isError) throw new HeddleError('request_failed', `${name} failed: ${said}`);
    return said;
  }

  /** Changes when what the server says of the tool does. Undefined for a tool that is not there. */
  definitionOf(name: string): string | undefined {
    const member = this.#memberOf(name);
    const offer = member && this.#offerOf(member);
    return offer && hashOf(offer, name);
  }

  /**
   * Makes these the servers: others go, new and changed ones are connected. What it changes counts at once; resolves when
   * each of the new ones is connected or has failed.
   */
  async set(servers: ReadonlyMap<string, ServerDefinition>): Promise<McpSetServersResult> {
    if (this.#isClosed) return { added: [], removed: [], errors: {} };
    const refusals = findRefusals(servers);
    const stays = (name: string, member: Member): boolean => staysAs(member, servers.get(name), refusals.get(name));
    const removed = [...this.#members].filter(([name, member]) => !stays(name, member)).map(([name]) => name);
    const leaving = removed.flatMap((name) => this.#members.get(name)?.server ?? []);
    for (const name of removed) this.#members.delete(name);
    const added = [...servers.keys()].filter((name) => !this.#members.has(name));
    for (const name of added) {
      const definition = servers.get(name);
      if (definition !== undefined) this.#members.set(name, this.#toMember(name, definition, refusals.get(name)));
    }
    const closing = Promise.all(leaving.map((server) => server.close()));
    const coming = added.flatMap((name) => this.#members.get(name)?.server ?? []);
    await Promise.all(coming.map((server) => this.#inTime(server)));
    await closing;
    const failed = coming.filter(({ status, error }) => status !== 'connected' && error !== undefined);
    return { added, removed, errors: Object.fromEntries(failed.map(({ name, error }) => [name, error ?? ''])) };
  }

  /** From here on servers are connected: one after the other begins, so that nobody notices, and all go on together. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    for (const connect of this.#held.splice(0)) connect();
  }

  /** Connects a server of the host at once, and others when it is time. */
  async #inTime(server: KnownServer): Promise<void> {
    const member = this.#members.get(server.name);
    if (!this.#hasBegun && member?.server === server && !isSdkServer(member.definition)) {
      await new Promise<void>((resolve) => this.#held.push(resolve));
      // It may have gone meanwhile.
      if (this.#isClosed || this.#members.get(server.name)?.server !== server) return;
      // Somebody was faster: it is on its way, or switched off.
      if (!server.isUntouched) return server.settled;
    }
    await server.connect();
  }

  async reconnect(name: string): Promise<void> {
    const { server } = this.#find(name);
    await server.connect();
    if (server.status !== 'connected') throw new HeddleError('request_failed', server.error ?? describeAbsence(server));
  }

  /** Off: its process ends. On: resolves when it is connected or has failed. */
  async toggle(name: string, enabled: boolean): Promise<void> {
    const { server } = this.#find(name);
    if (!enabled) await server.disable();
    else if (!server.isExpected) await server.connect();
  }

  /** Resolves when the servers of the host have been greeted or have failed, or when the time is over. */
  async hostSettled(withinMs: number): Promise<void> {
    const own = [...this.#members.values()].filter(({ definition }) => isSdkServer(definition));
    const over = Promise.withResolvers<void>();
    const cancel = this.#clock.after(withinMs, over.resolve);
    await Promise.race([Promise.all(own.map(({ server }) => server.settled)), over.promise]);
    cancel();
  }

  /** Takes what a server of the host says by itself. Gives the answer, where there is one. */
  async receive(name: string, message: JsonRpcMessage): Promise<JsonRpcMessage | undefined> {
    const link = this.#find(name).server.link as Partial<HostLink> | undefined;
    return link?.receive?.(message);
  }

  search(query: string, max: number, bounds: ServerBounds): FoundTools {
    return this.#catalogue.search(query, max, bounds);
  }

  resources(name?: string): (McpResource & { server: string })[] {
    const members = name === undefined ? [...this.#members.values()].filter(this.#isOpen) : [this.#findByWord(name)];
    return members.flatMap(({ server }) => {
      const { resources = [] } = name === undefined ? (server.link ?? {}) : server.use();
      return resources.map((resource) => ({ ...resource, server: server.name }));
    });
  }

  async isDenied(name: string): Promise<boolean> {
    return (await this.#parts.isDenied?.(mcpToolName(name, ''))) ?? false;
  }

  async readResource(name: string, uri: string, options: { signal: AbortSignal }): Promise<McpResourceContent[]> {
    const { server } = this.#findByWord(name);
    await this.arrived([server.name], { ...options, withinMs: CONNECT_MS });
    return server.use().readResource(uri, options);
  }

  /** What a slash command of a server stands for. `text` is what follows its name. Throws when there is no such command. */
  async expandPrompt(name: string, text: string, options: { signal: AbortSignal }): Promise<McpPromptMessage[]> {
    const command = this.prompts.find((each) => each.name === name);
    if (command === undefined) throw new HeddleError('invalid_config', `There is no command /${name}.`);
    const link = this.#find(command.server).server.use();
    return link.getPrompt(command.prompt.name, readArguments(command.prompt, text), options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.begin();
    this.#cancelTelling?.();
    await Promise.all([...this.#members.values()].map(({ server }) => server.close()));
  }

  #toMember(name: string, definition: ServerDefinition, refusal: Refusal | undefined): Member {
    const member: Member = {
      definition,
      toolNames: new ToolNames(name),
      promptNames: new ToolNames(name),
      refusal,
      server: new KnownServer(name, {
        clock: this.#clock,
        refusal,
        withhold: this.#withholdFor(name, definition),
        connectMs: isSdkServer(definition) ? CONNECT_MS : CONNECT_MS + LINK_GRACE_MS,
        connect: (signal) => this.#connect(name, definition, signal),
        events: {
          status: () => {
            member.offer = undefined;
            this.#tell({ server: name, what: 'status' });
          },
          list: (what) => {
            member.offer = undefined;
            this.#tellSoon({ server: name, what });
          },
        },
      }),
    };
    return member;
  }

  #withholdFor(name: string, definition: ServerDefinition): ((reason: string) => void) | undefined {
    const { isElsewhere = false, logger } = this.#parts;
    if (!isElsewhere || isSdkServer(definition)) return undefined;
    return (reason) => logger?.('warn', `MCP server ${showName(name)} is not there. ${reason}`);
  }

  async #connect(name: string, definition: ServerDefinition, signal: AbortSignal): Promise<McpLink> {
    const { connect, linkParts, callMs } = this.#parts;
    const parts = await linkParts?.(name);
    if (isSdkServer(definition)) {
      const { exchange, manifest, config } = definition;
      const requests = parts?.requests ?? {};
      const own = { exchange, manifest, requests, callMs: config?.timeout ?? callMs };
      return connectHost({ server: name, clock: this.#clock, signal, ...own });
    }
    if (connect === undefined || parts === undefined) {
      const type = kindOf(definition.config);
      throw new HeddleError('not_supported', `MCP servers of type ${type} are not supported here.`);
    }
    return connect(name, definition.config, { ...parts, signal, ...(callMs !== undefined && { callMs }) });
  }

  /** Whose tool it is by its name, whether or not it has such a tool. One that is refused has none. */
  #memberOf(name: string): Member | undefined {
    for (const member of this.#members.values()) {
      if (member.refusal === undefined && isToolOf(member.server.name, name)) return member;
    }
    return undefined;
  }

  #offers(): Offer[] {
    return [...this.#members.values()].flatMap((member) => this.#offerOf(member) ?? []);
  }

  #offerOf(member: Member): Offer | undefined {
    const { server, toolNames, promptNames } = member;
    const { link } = server;
    if (link === undefined) return undefined;
    member.offer ??= toOffer({
      server: server.name,
      link,
      toolNames,
      promptNames,
      call: (...call) => callTool(server, call),
      maxTools: this.#roomFor(member),
    });
    return member.offer;
  }

  get #bounds(): ServerBounds {
    return this.#parts.bounds ?? UNBOUND;
  }

  readonly #mayHave = (tool: string): boolean => this.#parts.mayHave?.(tool) ?? true;

  /** Not one from which everything was taken away. */
  readonly #isOpen = (member: Member): boolean => {
    const tools = [...(this.#offerOf(member)?.tools.keys() ?? [])];
    const { name } = member.server;
    if (!this.#bounds.reaches(name)) return false;
    return this.#mayHave(mcpToolName(name, '')) && (tools.length === 0 || tools.some(this.#mayHave));
  };

  /** What the servers before this one have left of the tools that a session may have. */
  #roomFor(member: Member): number {
    let room = MAX_TOOLS;
    for (const each of this.#members.values()) {
      if (each === member) break;
      room -= each.server.link?.tools.length ?? 0;
    }
    return Math.max(0, room);
  }

  #tell(change: ServerChange): void {
    if (!this.#isClosed) this.#parts.onChange?.(change);
  }

  #tellSoon(change: ServerChange): void {
    this.#changed.set(`${change.what} ${change.server}`, change);
    this.#cancelTelling ??= this.#clock.after(
      CHANGE_PAUSE_MS,
      () => {
        this.#cancelTelling = undefined;
        const changes = [...this.#changed.values()];
        this.#changed.clear();
        for (const each of changes) this.#tell(each);
      },
      { background: true },
    );
  }

  #find(name: string): Member {
    const member = this.#isClosed ? undefined : this.#members.get(name);
    if (member === undefined) throw new HeddleError('invalid_config', `Server not found: ${name}`);
    return member;
  }

  /** As a model names it, which knows it from the names of its tools. */
  #findByWord(name: string): Member {
    const all = [...this.#members].filter(([each]) => this.#bounds.reaches(each));
    const found = all.find(([each]) => each === name || mcpToolName(each, '') === mcpToolName(name, ''))?.[1];
    if (found !== undefined) return found;
    const known = all.map(([each]) => each).join(', ');
    throw new HeddleError('invalid_config', `Server "${name}" not found. Available servers: ${known}`);
  }
}
