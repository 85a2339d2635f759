/** What a server asks of us, checked before anybody hears of it. */
import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import type { ServerRequests } from '../link.js';
import { isRecord, jsonLength, toPlainText } from './text.js';

/** More than this at once is no conversation. */
const MAX_AT_ONCE = 16;
const MESSAGE_CHARS = 8_192;
const SCHEMA_CHARS = 65_536;
const LOG_CHARS = 16_384;

/** JSON-RPC: what was asked cannot be meant, or we failed to do it. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** An error for the server. Its code is what the library puts into the answer. */
class AnswerError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** What we say that a server may ask for; for anything else it is told that there is no such method. */
export const capabilitiesOf = ({ elicit, sample, roots }: ServerRequests): ClientCapabilities => ({
  ...(elicit && { elicitation: { form: { applyDefaults: true }, url: {} } }),
  ...(sample && { sampling: {} }),
  ...(roots && { roots: {} }),
});

export interface Asking {
  /** The server waits for us, not we for it. */
  readonly isAsking: boolean;
}

/** Answers the requests of a server. `mayLog` says whether one more line of its log may pass. */
export function answerServer(client: Client, requests: ServerRequests, mayLog: () => boolean): Asking {
  let open = 0;

  const serve = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (open >= MAX_AT_ONCE) throw new AnswerError(INTERNAL_ERROR, 'Too many requests at once.');
    open += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof AnswerError) throw error;
      // Only the words: what else an error of ours carries is none of the server's business.
      throw new AnswerError(INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    } finally {
      open -= 1;
    }
  };

  const { elicit, sample, roots, log } = requests;
  if (elicit) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { signal } }) =>
      serve(async () => {
        const asked = toElicitation(params);
        const { action, content = {} } = await elicit(asked, { signal });
        return action === 'accept' && asked.mode === 'form' ? { action, content: content as Answers } : { action };
      }),
    );
  }
  if (sample) {
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq: { signal } }) =>
      serve(async () => {
        const result = await sample(params, { signal });
        if (typeof result.model !== 'string' || result.role === undefined || result.content === undefined) {
          throw new AnswerError(INTERNAL_ERROR, 'The model gave no message.');
        }
        return result as Sampled;
      }),
    );
  }
  if (roots) client.setRequestHandler('roots/list', () => serve(() => ({ roots: roots() })));
  client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) => {
    if (log === undefined || !mayLog()) return;
    log({
      level,
      ...(logger !== undefined && { logger: toPlainText(logger, 200) }),
      data: boundData(data),
    });
  });
  return {
    get isAsking() {
      return open > 0;
    },
  };
}

type Answers = Record<string, string | number | boolean | string[]>;
type Sampled = { model: string; role: 'assistant'; content: { type: 'text'; text: string } };

type Elicitation = Parameters<NonNullable<ServerRequests['elicit']>>[0];

function toElicitation(params: unknown): Elicitation {
  const { message, mode = 'form', requestedSchema, url, elicitationId } = params as Record<string, unknown>;
  const text = toPlainText(typeof message === 'string' ? message : '', MESSAGE_CHARS);
  if (mode === 'url') {
    return {
      message: text,
      mode,
      url: toWebAddress(url),
      ...(typeof elicitationId === 'string' && { id: elicitationId.slice(0, 200) }),
    };
  }
  if (!isRecord(requestedSchema) || jsonLength(requestedSchema) > SCHEMA_CHARS) {
    throw new AnswerError(INVALID_PARAMS, 'The schema of the form is missing or too large.');
  }
  return { message: text, mode: 'form', schema: requestedSchema };
}

/** Nothing but the web is opened for a server. */
function toWebAddress(value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href;
  throw new AnswerError(INVALID_PARAMS, 'The url is not an http or https address.');
}

function boundData(data: unknown): unknown {
  if (typeof data === 'string') return toPlainText(data, LOG_CHARS);
  return jsonLength(data) <= LOG_CHARS ? data : 'It logged more than can be shown.';
}
