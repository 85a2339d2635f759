import type { JsonRpcMessage, ParamsOf, ResultOf } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { SdkMcpServer, type ServerVoice } from './mcp-server.js';
import type { McpServerSource, McpTransport } from './tool-definition.js';

const INTERNAL_ERROR = -32603;

/** Brings the engine what a server says by itself. Gives its answer, where there is one. */
export type Say = (params: ParamsOf<'mcp_message'>) => Promise<ResultOf<'mcp_message'>>;

type Connection = (message: JsonRpcMessage, signal: AbortSignal) => Promise<JsonRpcMessage | undefined>;

/** Takes the engine's messages to the MCP servers that live here. Each query has one, with connections of its own. */
export class McpBridge {
  readonly #instances: Map<string, McpServerSource>;
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #open = new Map<string, McpTransport>();
  #requests = 0;
  #say: Say = () => Promise.reject(new HeddleError('channel_closed', 'The engine is not connected.'));

  constructor(instances: Readonly<Record<string, McpServerSource>>) {
    this.#instances = new Map(Object.entries(instances));
  }

  get names(): string[] {
    return [...this.#instances.keys()];
  }

  /** From here on servers may speak first. */
  attach(say: Say): void {
    this.#say = say;
  }

  /** Makes these the servers; a connection to one that stays is kept. Gives the names that another one has now. */
  replace(instances: Readonly<Record<string, McpServerSource>>): string[] {
    const gone = [...this.#instances].filter(([name, instance]) => instances[name] !== instance).map(([name]) => name);
    for (const name of gone) {
      this.#instances.delete(name);
      this.#connections.delete(name);
      this.#letGo(name);
    }
    for (const [name, instance] of Object.entries(instances)) this.#instances.set(name, instance);
    return gone.filter((name) => this.#instances.has(name));
  }

  async answer(
    { server_name, message }: ParamsOf<'mcp_message'>,
    signal: AbortSignal,
  ): Promise<ResultOf<'mcp_message'>> {
    const instance = this.#instances.get(server_name);
    if (instance === undefined) throw new HeddleError('invalid_config', `SDK MCP server not found: ${server_name}`);
    const connection = this.#connections.get(server_name) ?? this.#connect(server_name, instance);
    const answer = await (await connection)(message, signal);
    return { mcp_response: answer ?? { jsonrpc: '2.0', id: 0, result: {} } };
  }

  close(): void {
    for (const name of this.#open.keys()) this.#letGo(name);
  }

  /** Tells a server of the public packages that its connection is over: it refuses a second one otherwise. */
  #letGo(name: string): void {
    this.#open.get(name)?.onclose?.();
    this.#open.delete(name);
  }

  #connect(name: string, instance: McpServerSource): Promise<Connection> {
    const connection =
      instance instanceof SdkMcpServer
        ? Promise.resolve<Connection>((message, signal) => instance.handle(message, { signal, ...this.#voiceOf(name) }))
        : this.#connectForeign(name, instance);
    this.#connections.set(name, connection);
    connection.catch(() => this.#connections.delete(name));
    return connection;
  }

  /** Servers of the public packages send answers when they like; they are matched to requests by id. */
  async #connectForeign(name: string, instance: McpServerSource): Promise<Connection> {
    const waiting = new Map<unknown, (answer: JsonRpcMessage) => void>();
    const transport: McpTransport = {
      start: async () => {},
      send: async (message: JsonRpcMessage) => {
        if (message.method !== undefined) return this.#pass(name, message, transport);
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      },
      close: async () => {},
    };
    const server = typeof instance === 'function' ? await instance() : instance;
    await server.connect(transport);
    this.#open.set(name, transport);
    return (message, signal) => {
      if (message.id === undefined || message.id === null) {
        transport.onmessage?.(message as never);
        return Promise.resolve(undefined);
      }
      return new Promise((resolve, reject) => {
        waiting.set(message.id, resolve);
        const cancel = (): void => {
          waiting.delete(message.id);
          reject(new HeddleError('aborted', 'The call was cancelled.'));
        };
        signal.addEventListener('abort', cancel, { once: true });
        transport.onmessage?.(message as never);
      });
    };
  }

  /** A server's own request or notification goes to the engine, and the answer back to it. */
  #pass(name: string, message: JsonRpcMessage, transport: McpTransport): void {
    const { id = null } = message;
    const give = (answer: JsonRpcMessage | undefined): void => {
      if (id !== null && answer !== undefined) transport.onmessage?.(answer as never);
    };
    this.#say({ server_name: name, message }).then(
      (result) => give(result?.mcp_response),
      (thrown: unknown) => {
        const text = thrown instanceof Error ? thrown.message : String(thrown);
        give({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: text } });
      },
    );
  }

  /** What a handler of our own may say and ask while it works. */
  #voiceOf(name: string): ServerVoice {
    return {
      sendNotification: async (notification) => {
        await this.#say({ server_name: name, message: { jsonrpc: '2.0', ...notification } });
      },
      sendRequest: async (request) => {
        this.#requests += 1;
        const id = `heddle-${this.#requests}`;
        const answer = (await this.#say({ server_name: name, message: { jsonrpc: '2.0', id, ...request } }))
          ?.mcp_response;
        if (answer?.error) throw new Error(answer.error.message);
        return answer?.result;
      },
    };
  }
}
