/** A server at the other end of a carrier, once it has been greeted. */
import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Clock } from '../../../protocol/index.js';
import { AbortError, HeddleError } from '../../../protocol/plain.js';
import type { McpCallResult } from '../connection.js';
import type { McpLink, McpList, McpProgress, McpPromptMessage, McpResourceContent } from '../link.js';
import type { Secrets } from '../secrets.js';
import { createAllowance } from './allowance.js';
import type { Carrier, Note } from './carrier.js';
import { type Lists, readList } from './lists.js';
import type { Outstanding } from './outstanding.js';
import { createPatience } from './patience.js';
import { type Phase, toPhaseError } from './phase-error.js';
import type { Relisting } from './relisting.js';
import type { Asking } from './server-requests.js';
import { isRecord, toPlainText } from './text.js';

/** One call may take so long without a sign of life, unless the configuration of its server says otherwise. */
export const CALL_TIMEOUT_MS = 60_000;
/** However lively it is. */
const CALL_CAP_MS = 3_600_000;
/** A page of a list, and whatever else is no call of a tool. */
const ERRAND_MS = 30_000;
const PROGRESS = { burst: 20, perSecond: 10 };
const INSTRUCTION_CHARS = 16_384;
const INFO_CHARS = 200;
/** The library has a timer of its own, on a clock of its own. */
const NEVER_MS = 2 ** 31 - 1;
/** What asks for a visit to a page before the call can be made. */
const URL_ELICITATION_REQUIRED = -32_042;

export interface RemoteLinkParts {
  server: string;
  client: Client;
  carrier: Carrier;
  clock: Clock;
  callTimeoutMs: number;
  outstanding: Outstanding;
  asking: Asking;
  relisting: Relisting;
  note: Note;
  secrets: Secrets;
}

interface Errand {
  phase: Phase;
  about?: string;
  signal?: AbortSignal;
  timeoutMs: number;
  onProgress?: (progress: McpProgress) => void;
  meta?: Record<string, unknown>;
}

/** Results are looked at by whoever asked: one bad entry must not cost all others. */
const ANY_OBJECT: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': {
    version: 1,
    vendor: 'heddle',
    validate: (value) => (isRecord(value) ? { value } : { issues: [{ message: 'it is not an object' }] }),
  },
};

export class RemoteLink implements McpLink {
  readonly #parts: RemoteLinkParts;
  #leftOut: readonly string[] = [];
  readonly #lists: Lists = { tools: [], prompts: [], resources: [] };
  readonly #changeListeners = new Set<(list: McpList) => void>();
  readonly #lostListeners = new Set<(reason: Error) => void>();
  #lost: HeddleError | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(parts: RemoteLinkParts) {
    this.#parts = parts;
    const { client, relisting } = parts;
    client.onclose = () => this.#noteLoss();
    relisting.start((list) => this.#readAnew(list));
  }

  get serverInfo(): McpLink['serverInfo'] {
    const info = this.#parts.client.getServerVersion();
    return info && { name: toPlainText(info.name, INFO_CHARS), version: toPlainText(info.version, INFO_CHARS) };
  }

  get protocolVersion(): string | undefined {
    return this.#parts.client.getNegotiatedProtocolVersion();
  }

  get instructions(): string | undefined {
    const text = this.#parts.client.getInstructions();
    return text === undefined ? undefined : toPlainText(text, INSTRUCTION_CHARS);
  }

  get tools(): Lists['tools'] {
    return this.#lists.tools;
  }

  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  get prompts(): Lists['prompts'] {
    return this.#lists.prompts;
  }

  get resources(): Lists['resources'] {
    return this.#lists.resources;
  }

  async call(
    tool: string,
    input: Record<string, unknown>,
    options: Parameters<McpLink['call']>[2],
  ): Promise<McpCallResult> {
    const { toolUseId, signal, onProgress } = options;
    const errand: Errand = {
      phase: 'call',
      about: tool,
      signal,
      timeoutMs: this.#parts.callTimeoutMs,
      onProgress,
      meta: { 'claudecode/toolUseId': toolUseId },
    };
    const result = await this.#request('tools/call', { name: tool, arguments: input }, errand);
    return this.#parse(errand, () => toCallResult(result));
  }

  async readResource(uri: string, { signal }: { signal: AbortSignal }): Promise<McpResourceContent[]> {
    const errand: Errand = { phase: 'read', about: uri, signal, timeoutMs: this.#parts.callTimeoutMs };
    const { contents } = await this.#request('resources/read', { uri }, errand);
    return this.#parse(errand, () => toArray(contents, 'contents').map(toContent));
  }

  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    { signal }: { signal: AbortSignal },
  ): Promise<McpPromptMessage[]> {
    const errand: Errand = { phase: 'prompt', about: name, signal, timeoutMs: this.#parts.callTimeoutMs };
    const { messages } = await this.#request('prompts/get', { name, arguments: args }, errand);
    return this.#parse(errand, () => toArray(messages, 'messages').map(toPromptMessage));
  }

  /** Reads a list and makes it the one that is shown. Throws. */
  async load(list: McpList, signal?: AbortSignal): Promise<void> {
    const errand: Errand = { phase: 'list', about: list, timeoutMs: ERRAND_MS, ...(signal && { signal }) };
    const read = (method: string, params: Record<string, unknown>) => this.#request(method, params, errand);
    const { entries, leftOut } = await readList(list, read, this.#parts.note);
    Object.assign(this.#lists, { [list]: entries });
    if (list === 'tools') this.#leftOut = leftOut;
    for (const listener of this.#changeListeners) listener(list);
  }

  onChange(listener: (list: McpList) => void): void {
    this.#changeListeners.add(listener);
  }

  onLost(listener: (reason: Error) => void): void {
    if (this.#lost === undefined) this.#lostListeners.add(listener);
    else listener(this.#lost);
  }

  close(): Promise<void> {
    this.#closing ??= this.#leave();
    return this.#closing;
  }

  async #leave(): Promise<void> {
    this.#isClosed = true;
    this.#parts.relisting.stop();
    // The carrier and not the client: that would forget what it waits for only after the farewell.
    await this.#parts.carrier.close().catch(() => undefined);
  }

  #noteLoss(): void {
    this.#parts.relisting.stop();
    if (this.#isClosed || this.#lost !== undefined) return;
    const { carrier } = this.#parts;
    this.#lost = this.#toError(carrier.failure ?? closedError(), { phase: 'run' });
    for (const listener of this.#lostListeners) listener(this.#lost);
    this.#lostListeners.clear();
  }

  async #readAnew(list: McpList): Promise<void> {
    try {
      await this.load(list);
    } catch (error) {
      this.#parts.note(`Its ${list} have changed but could not be read; those of before are kept.`, { error });
    }
  }

  async #request(method: string, params: Record<string, unknown>, errand: Errand): Promise<Record<string, unknown>> {
    const { client, clock, asking, outstanding } = this.#parts;
    const { signal, timeoutMs, onProgress } = errand;
    if (isAborted(signal)) throw new AbortError();
    if (this.#isClosed || this.#lost !== undefined) throw this.#toError(closedError(), errand);
    const stop = new AbortController();
    let late: HeddleError | undefined;
    const patience = createPatience({
      clock,
      ms: timeoutMs,
      capMs: Math.max(CALL_CAP_MS, timeoutMs),
      isHeld: () => asking.isAsking,
      onEnd: (reason) => {
        late = lateError(reason === 'silent' ? timeoutMs : Math.max(CALL_CAP_MS, timeoutMs), reason);
        stop.abort('It took too long.');
      },
    });
    const onAbort = (): void => stop.abort('The call was cancelled.');
    signal?.addEventListener('abort', onAbort, { once: true });
    const mayTell = createAllowance(clock, PROGRESS);
    const { progressToken, end } = outstanding.watch((progress) => {
      patience.renew();
      if (mayTell()) onProgress?.(progress);
    });
    try {
      const withToken = { ...params, _meta: { ...errand.meta, progressToken } };
      return await client.request({ method, params: withToken }, ANY_OBJECT, {
        signal: stop.signal,
        timeout: NEVER_MS,
      });
    } catch (thrown) {
      if (isAborted(signal)) throw new AbortError();
      throw this.#toError(late ?? explainUrls(thrown) ?? thrown, errand);
    } finally {
      end();
      patience.stop();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #parse<T>(errand: Errand, parse: () => T): T {
    try {
      return parse();
    } catch (thrown) {
      throw this.#toError(thrown, errand);
    }
  }

  #toError(thrown: unknown, { phase, about }: Pick<Errand, 'phase' | 'about'>): HeddleError {
    const { server, carrier, secrets } = this.#parts;
    const isClosed = isRecord(thrown) && (thrown.code === 'CONNECTION_CLOSED' || thrown.code === 'channel_closed');
    const cause = isClosed ? (carrier.failure ?? thrown) : thrown;
    const evidence = this.#isClosed ? {} : carrier.evidence;
    return toPhaseError(cause, { server, phase, about, evidence, secrets });
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;

const closedError = (): HeddleError =>
  new HeddleError('channel_closed', 'the connection is closed', { retryable: true });

const lateError = (ms: number, reason: 'silent' | 'capped'): HeddleError =>
  new HeddleError(
    'request_failed',
    reason === 'silent'
      ? `it gave neither an answer nor progress for ${ms / 1000} s`
      : `it gave no answer within ${ms / 1000} s`,
    { hint: 'Set `timeout` (milliseconds) of the server if it needs longer.', data: { timeoutMs: ms } },
  );

/** A call that needs a page to be visited first, told with the addresses. */
function explainUrls(thrown: unknown): HeddleError | undefined {
  if (!isRecord(thrown) || thrown.code !== URL_ELICITATION_REQUIRED || !isRecord(thrown.data)) return undefined;
  const { elicitations } = thrown.data;
  const urls = (Array.isArray(elicitations) ? elicitations : [])
    .flatMap((each) => (isRecord(each) && typeof each.url === 'string' ? [each.url.slice(0, 500)] : []))
    .slice(0, 5);
  const words = 'it wants the user to visit a page first, and then to be called again';
  return new HeddleError('request_failed', urls.length === 0 ? words : `${words}: ${urls.join(' ')}`, {
    data: { rpcCode: URL_ELICITATION_REQUIRED, urls },
  });
}

const wrong = (words: string): HeddleError =>
  new HeddleError('invalid_answer', `its answer is not what it must be: ${words}`);

function toArray(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw wrong(`${name} is not a list`);
}

function toCallResult(result: Record<string, unknown>): McpCallResult {
  const { content, structuredContent, isError } = result;
  if (content === undefined && structuredContent === undefined) throw wrong('it has no content');
  return {
    ...(content !== undefined && { content: toArray(content, 'content').map(toBlock) }),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(isError === true && { isError }),
  };
}

function toBlock(value: unknown): { type: string } & Record<string, unknown> {
  if (!isRecord(value) || typeof value.type !== 'string') throw wrong('a block of its content has no type');
  const needed = { text: ['text'], image: ['data', 'mimeType'], audio: ['data', 'mimeType'] }[value.type] ?? [];
  const missing = needed.find((field) => typeof value[field] !== 'string');
  if (missing !== undefined) throw wrong(`a block of type ${value.type} has no ${missing}`);
  return value as { type: string } & Record<string, unknown>;
}

function toContent(value: unknown): McpResourceContent {
  if (!isRecord(value) || typeof value.uri !== 'string') throw wrong('a part of the resource has no uri');
  const { uri, mimeType, text, blob } = value;
  return {
    uri,
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof text === 'string' && { text }),
    ...(typeof blob === 'string' && { blob }),
  };
}

function toPromptMessage(value: unknown): McpPromptMessage {
  if (!isRecord(value) || (value.role !== 'user' && value.role !== 'assistant')) throw wrong('a message has no role');
  return { role: value.role, content: toBlock(value.content) };
}
