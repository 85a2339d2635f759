/** A server that lives with a host, over whatever carries single messages there and back. */
import type { Clock, JsonRpcMessage, McpServerManifest } from '../../protocol/index.js';
import { AbortError, HeddleError } from '../../protocol/plain.js';
import { HEDDLE_VERSION } from '../version.js';
import type { Exchange, McpCallResult, McpTool } from './connection.js';
import type {
  McpLink,
  McpList,
  McpProgress,
  McpPrompt,
  McpPromptMessage,
  McpResource,
  McpResourceContent,
  ServerRequests,
} from './link.js';
import { MAX_LIST_CHARS } from './remote/lists.js';
import { createPatience } from './remote/patience.js';
import { type Phase, toPhaseError } from './remote/phase-error.js';
import { finiteLength } from './remote/text.js';
import { answerServer } from './server-requests.js';

const PROTOCOL_VERSION = '2025-11-25';
const MAX_LISTED = 10_000;
const MAX_PAGES = 100;

type Fields = Record<string, unknown>;

export interface HostLinkOptions {
  server: string;
  exchange: Exchange;
  clock: Clock;
  /** What is said here is not asked. */
  manifest?: McpServerManifest | undefined;
  requests?: ServerRequests;
  /** How long a call may take without progress. */
  callMs?: number | undefined;
  signal: AbortSignal;
}

/** A link whose server may also speak first; the host brings what it says. */
export interface HostLink extends McpLink {
  /** Gives the answer, where there is one. Never throws. */
  receive(message: JsonRpcMessage): Promise<JsonRpcMessage | undefined>;
}

/** Greets a server and asks what it has. Throws an error that names server and phase. */
export async function connectHost(options: HostLinkOptions): Promise<HostLink> {
  const link = new ExchangeLink(options);
  await link.greet(options);
  return link;
}

class ExchangeLink implements HostLink {
  readonly #server: string;
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  readonly #requests: ServerRequests;
  readonly #callMs: number | undefined;
  readonly #progress = new Map<unknown, (progress: McpProgress) => void>();
  readonly #changed: ((list: McpList) => void)[] = [];
  readonly #lost: ((reason: Error) => void)[] = [];
  /** What the server says it has, beside tools. */
  #capabilities: Fields = {};
  #id = 0;
  #isOver = false;
  serverInfo: McpLink['serverInfo'];
  protocolVersion: string | undefined;
  instructions: string | undefined;
  tools: readonly McpTool[] = [];
  prompts: readonly McpPrompt[] = [];
  resources: readonly McpResource[] = [];

  constructor({ server, exchange, clock, requests = {}, callMs }: HostLinkOptions) {
    this.#server = server;
    this.#exchange = exchange;
    this.#clock = clock;
    this.#requests = requests;
    this.#callMs = callMs;
  }

  async greet({ manifest = {}, signal }: Pick<HostLinkOptions, 'manifest' | 'signal'>): Promise<void> {
    const greeting = manifest.initializeResult ?? (await this.#sayHello(signal));
    const { serverInfo, protocolVersion, instructions, capabilities } = greeting;
    this.serverInfo = toServerInfo(serverInfo);
    this.protocolVersion = typeof protocolVersion === 'string' ? protocolVersion : undefined;
    this.instructions = typeof instructions === 'string' ? instructions : undefined;
    this.#capabilities = toFields(capabilities);
    const listed = manifest.toolsListResult?.tools;
    this.tools = Array.isArray(listed) ? (listed.slice(0, MAX_LISTED) as McpTool[]) : [];
    if (manifest.toolsListResult === undefined) await this.#read('tools', signal);
    for (const list of ['prompts', 'resources'] as const) {
      if (this.#capabilities[list] !== undefined) await this.#read(list, signal);
    }
  }

  async call(
    name: string,
    input: Fields,
    {
      toolUseId,
      signal,
      onProgress,
    }: { toolUseId: string; signal: AbortSignal; onProgress?: (p: McpProgress) => void },
  ): Promise<McpCallResult> {
    const token = this.#id;
    const limit = this.#limitCall();
    this.#progress.set(token, (progress) => {
      limit?.patience.renew();
      onProgress?.(progress);
    });
    const params = { name, arguments: input, _meta: { 'claudecode/toolUseId': toolUseId, progressToken: token } };
    try {
      return await this.#request('tools/call', params, { signal, about: name, ...(limit && { late: limit.late }) });
    } finally {
      limit?.patience.stop();
      this.#progress.delete(token);
    }
  }

  async readResource(uri: string, { signal }: { signal: AbortSignal }): Promise<McpResourceContent[]> {
    const { contents } = await this.#request('resources/read', { uri }, { signal, about: uri });
    return Array.isArray(contents) ? (contents as McpResourceContent[]) : [];
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    { signal }: { signal: AbortSignal },
  ): Promise<McpPromptMessage[]> {
    const { messages } = await this.#request('prompts/get', { name, arguments: args }, { signal, about: name });
    return Array.isArray(messages) ? (messages as McpPromptMessage[]) : [];
  }

  onChange(listener: (list: McpList) => void): void {
    this.#changed.push(listener);
  }

  onLost(listener: (reason: Error) => void): void {
    this.#lost.push(listener);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#progress.clear();
  }

  async receive(message: JsonRpcMessage): Promise<JsonRpcMessage | undefined> {
    if (this.#isOver) return undefined;
    if (message.id !== undefined && message.id !== null) return answerServer(message, this.#requests);
    const params = toFields(message.params);
    if (message.method === 'notifications/progress') {
      this.#progress.get(params.progressToken)?.(params as unknown as McpProgress);
    } else if (message.method === 'notifications/message') {
      const { level, logger, data } = params;
      this.#requests.log?.({ level: String(level), ...(typeof logger === 'string' && { logger }), data });
    }
    const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(message.method ?? '')?.[1];
    if (list !== undefined) await this.#readAgain(list as McpList);
    return undefined;
  }

  /** A list that cannot be read stays as it was. */
  async #readAgain(list: McpList): Promise<void> {
    try {
      await this.#read(list, new AbortController().signal);
    } catch {
      return;
    }
    if (!this.#isOver) for (const listener of this.#changed) listener(list);
  }

  async #sayHello(signal: AbortSignal): Promise<Fields> {
    const greeting = await this.#request(
      'initialize',
      {
        protocolVersion: PROTOCOL_VERSION,
        capabilities: {
          ...(this.#requests.elicit && { elicitation: { form: {}, url: {} } }),
          ...(this.#requests.sample && { sampling: {} }),
          ...(this.#requests.roots && { roots: {} }),
        },
        clientInfo: { name: 'heddle', version: HEDDLE_VERSION },
      },
      { signal },
    );
    await this.#exchange({ jsonrpc: '2.0', method: 'notifications/initialized' }, { signal });
    return greeting;
  }

  /** Page by page, up to a bound: what is beyond it is left out. */
  async #read(list: McpList, signal: AbortSignal): Promise<void> {
    const items: unknown[] = [];
    let cursor: unknown;
    let chars = 0;
    for (let page = 0; page < MAX_PAGES && items.length < MAX_LISTED; page += 1) {
      const result = await this.#request(`${list}/list`, cursor === undefined ? undefined : { cursor }, { signal });
      const listed: unknown[] = Array.isArray(result[list]) ? result[list] : [];
      for (const item of listed.slice(0, MAX_LISTED - items.length)) {
        chars += finiteLength(item);
        if (chars <= MAX_LIST_CHARS) items.push(item);
      }
      if (chars > MAX_LIST_CHARS) break;
      cursor = result.nextCursor;
      if (typeof cursor !== 'string' || cursor === '') break;
    }
    if (list === 'tools') this.tools = items as McpTool[];
    else if (list === 'prompts') this.prompts = items as McpPrompt[];
    else this.resources = items as McpResource[];
  }

  /** Rejects when the server has been silent for too long. */
  #limitCall() {
    const ms = this.#callMs;
    if (ms === undefined) return undefined;
    const late = Promise.withResolvers<never>();
    const onEnd = () => late.reject(new LateError(ms));
    const patience = createPatience({ clock: this.#clock, ms, capMs: Number.POSITIVE_INFINITY, onEnd });
    return { late: late.promise, patience };
  }

  async #request(
    method: string,
    params: Fields | undefined,
    { signal, about, late }: { signal: AbortSignal; about?: string; late?: Promise<never> },
  ): Promise<Fields> {
    const id = this.#id++;
    const message: JsonRpcMessage = { jsonrpc: '2.0', id, method, ...(params && { params }) };
    try {
      return resultOf(await unlessStopped(this.#exchange(message, { signal }), { signal, late }));
    } catch (thrown) {
      if ((signal.aborted || thrown instanceof LateError) && method !== 'initialize') this.#tellCancelled(id);
      const phase = PHASES[method] ?? 'list';
      const error = toPhaseError(thrown, {
        server: this.#server,
        phase,
        evidence: {},
        ...(about !== undefined && { about }),
      });
      if (error.code === 'channel_closed') this.#tellLost(error);
      throw error;
    }
  }

  #tellCancelled(requestId: number): void {
    const params = { requestId, reason: 'The call was stopped.' };
    this.#exchange({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, {}).catch(() => {});
  }

  #tellLost(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const listener of this.#lost) listener(reason);
  }
}

const PHASES: Readonly<Record<string, Phase>> = {
  initialize: 'initialize',
  'tools/call': 'call',
  'resources/read': 'read',
  'prompts/get': 'prompt',
};

class LateError extends HeddleError {
  constructor(ms: number) {
    super('request_failed', `there was no answer and no progress for ${ms / 1000} s`, {
      hint: 'Set `timeout` (milliseconds) of the server if it needs longer.',
    });
  }
}

/** An abort is heard at once, whether or not the other side hears it. */
function unlessStopped<T>(
  running: Promise<T>,
  { signal, late }: { signal: AbortSignal; late?: Promise<never> | undefined },
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(new AbortError('The call was cancelled.'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    late?.catch(reject);
  });
}

function resultOf(answer: JsonRpcMessage | undefined): Fields {
  const { error, result } = answer ?? {};
  if (error) throw Object.assign(new Error(error.message), { code: error.code });
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result as Fields;
  throw new HeddleError('invalid_answer', 'it gave no result.');
}

const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

function toServerInfo(given: unknown): McpLink['serverInfo'] {
  const { name, version } = toFields(given);
  return typeof name === 'string' ? { name, version: typeof version === 'string' ? version : '' } : undefined;
}
