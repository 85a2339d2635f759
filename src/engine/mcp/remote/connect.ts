/** Connects to servers that live elsewhere. The client library is loaded here, with the first of them. */
import type { McpHttpServerConfig, McpSSEServerConfig, McpStdioServerConfig } from '../../../protocol/index.js';
import { AbortError, HeddleError } from '../../../protocol/plain.js';
import { HEDDLE_VERSION } from '../../version.js';
import type { LinkParts, McpLink, McpList, ServerRequests } from '../link.js';
import { type Secrets, secretsOf } from '../secrets.js';
import { hasAddress } from '../server-kind.js';
import { createAllowance } from './allowance.js';
import type { Carrier, Note } from './carrier.js';
import { createHttpCarrier } from './http-carrier.js';
import { Outstanding } from './outstanding.js';
import { toPhaseError } from './phase-error.js';
import { ProcessCarrier } from './process-carrier.js';
import { Relisting } from './relisting.js';
import { CALL_TIMEOUT_MS, RemoteLink } from './remote-link.js';
import { answerServer, capabilitiesOf } from './server-requests.js';
import { isRecord } from './text.js';

export type RemoteServerConfig = McpStdioServerConfig | McpHttpServerConfig | McpSSEServerConfig;

export interface RemoteParts extends LinkParts {
  /** Who speaks for the user with servers that ask (an OAuthClientProvider of the client library). */
  auth?: unknown;
}

/** What is offered, first, and accepted. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** Starting it, greeting it and reading its tools take no longer together. */
export const CONNECT_TIMEOUT_MS = 30_000;
/** Prompts and resources may come later than the tools; nobody waits for them longer than this. */
const LATECOMER_MS = 5_000;
const MAX_NOTES = 100;
const LOG_LINES = { burst: 100, perSecond: 20 };

const CHANGES = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
} as const satisfies Record<McpList, string>;

/**
 * Starts or reaches a server, greets it and reads its lists. Throws a HeddleError that names server and phase; its
 * data says `needsAuth` when the server wants to know who asks. An abort of `parts.signal` throws at once.
 */
export async function connectRemote(server: string, config: RemoteServerConfig, given: RemoteParts): Promise<McpLink> {
  const secrets = secretsOf(config);
  const parts = withoutSecrets(given, secrets);
  const { clock, requests, signal } = parts;
  if (signal.aborted) throw new AbortError();
  const note = createNote(server, parts);
  const outstanding = new Outstanding(note);
  const relisting = new Relisting(clock);
  const limit = createLimit(parts);
  let carrier: Carrier | undefined;
  let isGreeted = false;
  try {
    const { Client } = await limit.within(import('@modelcontextprotocol/client'));
    carrier = await limit.within(createCarrier(config, { parts, outstanding, note, secrets }));
    const client = new Client(
      { name: 'heddle', version: HEDDLE_VERSION },
      { capabilities: capabilitiesOf(requests), supportedProtocolVersions: [...PROTOCOL_VERSIONS] },
    );
    client.onerror = (error) => parts.logger('debug', `MCP server ${server}: ${error.message.slice(0, 1_000)}`);
    for (const list of Object.keys(CHANGES) as McpList[]) {
      client.setNotificationHandler(CHANGES[list], () => relisting.changed(list));
    }
    const asking = answerServer(client, requests, createAllowance(clock, LOG_LINES));
    await limit.within(client.connect(carrier, { timeout: 2 * CONNECT_TIMEOUT_MS }));
    isGreeted = true;
    const callTimeoutMs = config.timeout ?? parts.callMs ?? CALL_TIMEOUT_MS;
    const link = new RemoteLink({
      server,
      client,
      carrier,
      clock,
      callTimeoutMs,
      outstanding,
      asking,
      relisting,
      note,
      secrets,
    });
    const has = client.getServerCapabilities() ?? {};
    const others = (['prompts', 'resources'] as const).filter((list) => has[list] !== undefined);
    const late = Promise.all(others.map((list) => loadQuietly(link, list, note)));
    if (has.tools !== undefined) await limit.within(link.load('tools', limit.signal));
    await limit.within(Promise.race([late, limit.pause(LATECOMER_MS)]));
    return link;
  } catch (thrown) {
    carrier?.close().catch(() => undefined);
    const started = carrier?.isStarted === true;
    const phase = !started ? 'start' : isGreeted ? 'list' : 'initialize';
    throw toConnectError(thrown, { server, phase, carrier, secrets });
  } finally {
    limit.end();
  }
}

function createCarrier(
  config: RemoteServerConfig,
  { parts, outstanding, note, secrets }: { parts: RemoteParts; outstanding: Outstanding; note: Note; secrets: Secrets },
): Promise<Carrier> {
  const { workspace, clock, env, cwd, auth } = parts;
  if (hasAddress(config)) return createHttpCarrier({ config, auth, env, clock, outstanding, secrets });
  return Promise.resolve(new ProcessCarrier({ config, workspace, clock, env, cwd, outstanding, note }));
}

async function loadQuietly(link: RemoteLink, list: McpList, note: Note): Promise<void> {
  try {
    await link.load(list);
  } catch (error) {
    note(`Its ${list} could not be read.`, { error });
  }
}

/** The time that connecting may take, and the abort of whoever wants it. */
function createLimit({ clock, signal: outer }: RemoteParts) {
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => undefined);
  const end = (reason: Error): void => {
    ended.reject(reason);
    controller.abort(reason);
  };
  const seconds = CONNECT_TIMEOUT_MS / 1000;
  const timers = [
    clock.after(CONNECT_TIMEOUT_MS, () =>
      end(new HeddleError('request_failed', `it did not answer within ${seconds} s`, { retryable: true })),
    ),
  ];
  const onAbort = (): void => end(new AbortError());
  outer.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    within: <T>(work: Promise<T>): Promise<T> => Promise.race([work, ended.promise]),
    pause: (ms: number) => new Promise<void>((resolve) => timers.push(clock.after(ms, resolve))),
    end(): void {
      for (const cancel of timers) cancel();
      outer.removeEventListener('abort', onAbort);
    },
  };
}

function toConnectError(
  thrown: unknown,
  context: { server: string; phase: 'start' | 'initialize' | 'list'; carrier?: Carrier; secrets: Secrets },
): HeddleError {
  if (thrown instanceof AbortError) return thrown;
  if (thrown instanceof HeddleError && thrown.data.phase !== undefined) return thrown;
  const { server, phase, carrier, secrets } = context;
  const isClosed = isRecord(thrown) && thrown.code === 'CONNECTION_CLOSED';
  const cause = isClosed ? (carrier?.failure ?? thrown) : thrown;
  return toPhaseError(cause, { server, phase, evidence: carrier?.evidence ?? {}, secrets });
}

/** Logs are read by others than whoever configured the server. */
function withoutSecrets(parts: RemoteParts, secrets: Secrets): RemoteParts {
  const { logger, requests } = parts;
  const { log } = requests;
  const hidden: ServerRequests = {
    ...requests,
    ...(log && { log: (entry) => log({ ...entry, data: secrets.hideIn(entry.data) }) }),
  };
  return {
    ...parts,
    logger: (level, text, data) =>
      logger(level, secrets.hide(text), secrets.hideIn(data) as Record<string, unknown> | undefined),
    requests: hidden,
  };
}

function createNote(server: string, { logger }: RemoteParts): Note {
  let notes = 0;
  return (text, data) => {
    notes += 1;
    if (notes <= MAX_NOTES) logger('warn', `MCP server ${server}: ${text}`, data);
    if (notes === MAX_NOTES) logger('warn', `MCP server ${server}: nothing more is noted of it.`);
  };
}
