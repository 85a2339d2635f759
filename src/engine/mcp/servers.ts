import type { Clock, McpServerManifest, McpServerStatus, McpSetServersResult, Tool } from '../../protocol/index.js';
import { HeddleError, toHeddleError } from '../../protocol/plain.js';
import { connectServer, type Exchange, type McpConnection } from './connection.js';
import { toTool } from './tool.js';

/** A server that lives with a host, and how to reach it. */
export interface SdkServer {
  exchange: Exchange;
  manifest?: McpServerManifest;
}

interface Known {
  server: SdkServer;
  enabled: boolean;
  connection?: McpConnection;
  error?: string;
}

/** The MCP servers of a session. One that cannot be reached never stops it. */
export class McpServers {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get status(): McpServerStatus[] {
    return [...this.#known].map(([name, { connection, enabled, error }]) => ({
      name,
      status: !enabled ? 'disabled' : connection ? 'connected' : error === undefined ? 'pending' : 'failed',
      config: { type: 'sdk', name },
      scope: 'dynamic',
      ...(connection?.serverInfo && { serverInfo: connection.serverInfo }),
      ...(error !== undefined && { error }),
      ...(connection && { tools: connection.tools.map(({ name: tool }) => ({ name: tool })) }),
    }));
  }

  /** The tools of every server that is connected and switched on. */
  get tools(): Tool[] {
    return [...this.#known].flatMap(([name, { connection, enabled }]) =>
      connection && enabled ? connection.tools.map((tool) => toTool(name, connection, tool)) : [],
    );
  }

  /** Makes these the servers: others go, new ones are connected. Resolves when each is connected or has failed. */
  async set(servers: ReadonlyMap<string, SdkServer>): Promise<McpSetServersResult> {
    const removed = [...this.#known.keys()].filter((name) => !servers.has(name));
    for (const name of removed) this.#known.delete(name);
    const added = [...servers.keys()].filter((name) => !this.#known.has(name));
    const errors: Record<string, string> = {};
    await Promise.all(
      added.map(async (name) => {
        const known: Known = { server: servers.get(name) as SdkServer, enabled: true };
        this.#known.set(name, known);
        await connect(known, this.#clock);
        if (known.error !== undefined) errors[name] = known.error;
      }),
    );
    return { added, removed, errors };
  }

  async reconnect(name: string): Promise<void> {
    const known = this.#find(name);
    await connect(known, this.#clock);
    if (known.error !== undefined) throw new HeddleError('request_failed', known.error);
  }

  toggle(name: string, enabled: boolean): void {
    this.#find(name).enabled = enabled;
  }

  #find(name: string): Known {
    const known = this.#known.get(name);
    if (known === undefined) throw new HeddleError('invalid_config', `Server not found: ${name}`);
    return known;
  }
}

/** Longer than this nobody waits for a server to say what it has. */
const CONNECT_MS = 30_000;

async function connect(known: Known, clock: Clock): Promise<void> {
  delete known.connection;
  delete known.error;
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(CONNECT_MS, () => {
    late.reject(
      new HeddleError('request_failed', `The MCP server did not answer within ${CONNECT_MS / 1000} s of connecting.`),
    );
  });
  try {
    known.connection = await Promise.race([connectServer(known.server.exchange, known.server.manifest), late.promise]);
  } catch (thrown) {
    known.error = toHeddleError(thrown).message;
  } finally {
    cancel();
  }
}
