import type { JsonRpcMessage, ParamsOf, ResultOf } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { SdkMcpServer } from './mcp-server.js';
import type { McpServerInstance, McpTransport } from './tool-definition.js';

type Connection = (message: JsonRpcMessage, signal: AbortSignal) => Promise<JsonRpcMessage | undefined>;

/** Takes the engine's messages to the MCP servers that live here. Each query has one, with connections of its own. */
export class McpBridge {
  readonly #instances: Map<string, McpServerInstance>;
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #open = new Map<string, McpTransport>();

  constructor(instances: Readonly<Record<string, McpServerInstance>>) {
    this.#instances = new Map(Object.entries(instances));
  }

  get names(): string[] {
    return [...this.#instances.keys()];
  }

  /** Makes these the servers; a connection to one that stays is kept. */
  replace(instances: Readonly<Record<string, McpServerInstance>>): void {
    for (const [name, instance] of this.#instances) {
      if (instances[name] === instance) continue;
      this.#instances.delete(name);
      this.#connections.delete(name);
      this.#letGo(name);
    }
    for (const [name, instance] of Object.entries(instances)) this.#instances.set(name, instance);
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

  #connect(name: string, instance: McpServerInstance): Promise<Connection> {
    const connection =
      instance instanceof SdkMcpServer
        ? Promise.resolve<Connection>((message, signal) => instance.handle(message, { signal }))
        : this.#connectForeign(name, instance);
    this.#connections.set(name, connection);
    connection.catch(() => this.#connections.delete(name));
    return connection;
  }

  /** Servers of the public packages send answers when they like; they are matched to requests by id. */
  async #connectForeign(name: string, instance: McpServerInstance): Promise<Connection> {
    const waiting = new Map<unknown, (answer: JsonRpcMessage) => void>();
    const transport: McpTransport = {
      start: async () => {},
      send: async (message: JsonRpcMessage) => {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      },
      close: async () => {},
    };
    await instance.connect(transport);
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
}
