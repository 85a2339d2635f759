/** The tools of a session as an MCP server: every call goes the way of any other, with nobody to ask. */
import type { JsonRpcMessage, ToolResultContent, WholeTool } from '../../../protocol/index.js';
import { isTable } from '../../settings/table.js';
import type { Session } from '../../session.js';
import { runCall } from '../../tools/pipeline.js';
import { HEDDLE_VERSION } from '../../version.js';

/** Versions of the protocol that are spoken, the newest first. */
export const SERVED_PROTOCOLS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

export const RPC_ERRORS = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internal: -32_603,
} as const;

type RpcId = string | number;

export interface ToolServer {
  /** Takes one message, or several where the protocol has batches, and sends the answer, if there is one. Never throws. */
  take(message: unknown): Promise<void>;
  /** Stops the calls that run. */
  close(): void;
}

const MAX_CALLS = 1_000;
/** The one version of the protocol that has batches. */
const BATCHED = '2025-03-26';

/** `send` must not throw. */
export function createToolServer(
  session: Session,
  send: (message: JsonRpcMessage | JsonRpcMessage[]) => void,
): ToolServer {
  const { scope } = session;
  const running = new Map<RpcId, AbortController>();
  const gate = createGate();
  /** What was agreed on. */
  let version: string | undefined;

  const call = async (id: RpcId, params: Record<string, unknown>): Promise<object | undefined> => {
    const { name, arguments: input = {}, _meta: meta } = params;
    if (typeof name !== 'string' || !scope.state.tools.get(name))
      throw invalid(`There is no tool ${JSON.stringify(name)}.`);
    if (!isTable(input)) throw invalid('"arguments" must be an object.');
    if (input.run_in_background === true) throw invalid('Nothing runs in the background here.');
    if (running.has(id)) throw invalid('A request with this id is running.');
    if (running.size >= MAX_CALLS) throw invalid(`More than ${MAX_CALLS} calls at once are not taken.`);
    const abort = new AbortController();
    running.set(id, abort);
    const block = { type: 'tool_use' as const, id: `toolu_${scope.clock.uuid().replaceAll('-', '')}`, name, input };
    const stopTelling = tellProgress(session, { toolUseId: block.id, token: tokenOf(meta), send });
    const done = Promise.withResolvers<void>();
    try {
      const outcome = await runCall(
        scope,
        { block, life: 'new' },
        {
          signal: abort.signal,
          mayRun: (kind) => gate(kind, done.promise),
        },
      );
      // Whoever cancelled it waits for nothing.
      if (abort.signal.aborted) return undefined;
      return { content: toContent(outcome.content), ...(outcome.isError && { isError: true }) };
    } finally {
      done.resolve();
      stopTelling();
      // There is no result that would tell of them.
      scope.denials.length = 0;
      running.delete(id);
    }
  };

  const methods: Readonly<Record<string, (params: Record<string, unknown>, id: RpcId) => unknown>> = {
    initialize: ({ protocolVersion: asked }) => {
      version = SERVED_PROTOCOLS.find((each) => each === asked) ?? SERVED_PROTOCOLS[0];
      return {
        protocolVersion: version,
        capabilities: { tools: {} },
        serverInfo: { name: 'heddle', version: HEDDLE_VERSION },
      };
    },
    ping: () => ({}),
    'tools/list': () => ({ tools: describeTools(session) }),
    'tools/call': (params, id) => call(id, params),
  };

  /** The answer to one message, where there is one. */
  const answer = async (message: unknown, isBatched: boolean): Promise<JsonRpcMessage | undefined> => {
    if (!isTable(message) || message.jsonrpc !== '2.0')
      return failure(null, RPC_ERRORS.invalidRequest, 'Invalid request');
    const { id, method, params = {} } = message;
    if (method === 'notifications/cancelled' && isTable(params)) running.get(params.requestId as RpcId)?.abort();
    // Notifications, and answers to what we never ask.
    if (typeof method !== 'string' || id === undefined) return undefined;
    if (typeof id !== 'string' && typeof id !== 'number') return failure(null, RPC_ERRORS.invalidRequest, 'Invalid id');
    if (isBatched && method === 'initialize')
      return failure(id, RPC_ERRORS.invalidRequest, 'initialize must not be part of a batch');
    if (!Object.hasOwn(methods, method))
      return failure(id, RPC_ERRORS.methodNotFound, `Method not found: ${method.slice(0, 200)}`);
    if (!isTable(params)) return failure(id, RPC_ERRORS.invalidParams, '"params" must be an object.');
    try {
      const result = await methods[method]?.(params, id);
      return result === undefined ? undefined : { jsonrpc: '2.0', id, result };
    } catch (thrown) {
      const { message: text, code = RPC_ERRORS.internal } = thrown as Error & { code?: number };
      return failure(id, code, text);
    }
  };

  return {
    async take(message) {
      if (Array.isArray(message) && version === BATCHED && message.length > 0 && message.length <= MAX_CALLS) {
        const answers = await Promise.all(message.map((each) => answer(each, true)));
        const given = answers.filter((each) => each !== undefined);
        if (given.length > 0) send(given);
        return;
      }
      const given = await answer(message, false);
      if (given !== undefined) send(given);
    },
    close() {
      for (const abort of running.values()) abort.abort();
    },
  };
}

const failure = (id: RpcId | null, code: number, message: string): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

const invalid = (text: string): Error => Object.assign(new Error(text), { code: RPC_ERRORS.invalidParams });

function describeTools({ scope: { state } }: Session): object[] {
  return state.tools.names.flatMap((name) => {
    const tool = state.tools.get(name);
    if (tool === undefined) return [];
    const { inputSchema } = tool;
    // Sentences about the background are not about this.
    const description = tool.description.replace(/ ?[^.]*\brun_in_background\b[^.]*\./g, '');
    return [
      {
        name,
        description,
        inputSchema: withoutBackground(inputSchema),
        ...(READ_ONLY.has(name) && { annotations: { readOnlyHint: true } }),
      },
    ];
  });
}

/** What runs in the background is told of later, and looked at with a tool that is not served. */
function withoutBackground(schema: WholeTool['inputSchema']): object {
  if (!isTable(schema.properties)) return schema;
  const { run_in_background: _, ...properties } = schema.properties;
  return { ...schema, properties };
}

const READ_ONLY: ReadonlySet<string> = new Set(['Glob', 'Grep', 'Read']);

/** Calls that only read run together; any other waits for those before it, and those after wait for it. */
function createGate(): (kind: { readOnly: boolean }, done: Promise<void>) => Promise<void> {
  let lastWriter: Promise<unknown> = Promise.resolve();
  let readers: Promise<unknown>[] = [];
  return async ({ readOnly }, done) => {
    if (readOnly) {
      readers.push(done);
      const own = readers;
      void done.then(() => own.splice(own.indexOf(done), 1));
      await lastWriter;
      return;
    }
    const before = [lastWriter, ...readers];
    lastWriter = done;
    readers = [];
    await Promise.all(before);
  };
}

const tokenOf = (meta: unknown): RpcId | undefined => {
  const token = isTable(meta) ? meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
};

interface Telling {
  toolUseId: string;
  token: RpcId | undefined;
  send: (message: JsonRpcMessage) => void;
}

/** Says that a long call is alive, to a client that wants to know. */
function tellProgress(session: Session, { toolUseId, token, send }: Telling): () => void {
  if (token === undefined) return () => {};
  return session.attach({
    deliver(message) {
      if (message.type !== 'tool_progress' || message.tool_use_id !== toolUseId) return;
      const params = { progressToken: token, progress: message.elapsed_time_seconds };
      send({ jsonrpc: '2.0', method: 'notifications/progress', params });
    },
  });
}

function toContent(content: ToolResultContent): object[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    if (block.type === 'image' && block.source.type === 'base64') {
      return { type: 'image', data: block.source.data, mimeType: block.source.media_type };
    }
    return { type: 'text', text: JSON.stringify(block) };
  });
}
