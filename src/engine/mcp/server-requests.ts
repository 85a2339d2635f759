/** What a server that lives with a host asks of the session, answered as JSON-RPC. */
import type { JsonRpcMessage } from '../../protocol/index.js';
import type { ServerRequests } from './link.js';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** Never throws: what fails is an error for the server. */
export async function answerServer(message: JsonRpcMessage, requests: ServerRequests): Promise<JsonRpcMessage> {
  const { id = null, method = '' } = message;
  try {
    const result = await resultFor(method, fieldsOf(message.params), requests);
    if (result !== undefined) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: `Method not found: ${method}` } };
  } catch (thrown) {
    const text = thrown instanceof Error ? thrown.message : String(thrown);
    return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: text } };
  }
}

/** Undefined where nobody can do that. */
async function resultFor(
  method: string,
  params: Record<string, unknown>,
  { elicit, sample, roots }: ServerRequests,
): Promise<object | undefined> {
  const { signal } = new AbortController();
  if (method === 'ping') return {};
  if (method === 'roots/list') return roots && { roots: roots() };
  if (method === 'sampling/createMessage') return sample?.(params, { signal });
  if (method !== 'elicitation/create' || elicit === undefined) return undefined;
  const { message, requestedSchema, url, elicitationId } = params;
  return elicit(
    {
      message: typeof message === 'string' ? message : '',
      mode: params.mode === 'url' ? 'url' : 'form',
      ...(typeof requestedSchema === 'object' && requestedSchema !== null && { schema: fieldsOf(requestedSchema) }),
      ...(typeof url === 'string' && { url }),
      ...(typeof elicitationId === 'string' && { id: elicitationId }),
    },
    { signal },
  );
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
