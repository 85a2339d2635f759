/** Fits requests into a budget, and tells it how they ended. */
import type { ContentBlock, ContentBlockParam, MessagesBody } from '../../protocol/index.js';
import type { Answer } from '../assemble.js';
import type { Catalog } from '../model/catalog.js';
import type { Budget, Reservation } from './budget.js';
import type { CallEnd } from './call.js';
import type { Limit } from './limit.js';

/** Bytes of JSON per token, low enough not to underrate a prompt. */
const BYTES_PER_TOKEN = 3;
/** No model counts more for an image, however many bytes it has. */
const IMAGE_TOKENS = 5_000;

/** What the API reads for one search that it makes by itself: its results, and once more all that it had read before. */
const SEARCH_TOKENS = 60_000;

export interface FittedBody {
  /** With `max_tokens` and the number of searches cut down to what is paid for. */
  body: MessagesBody;
  reservation: Reservation;
}

export interface FitOptions {
  catalog: Catalog;
  /** A whole answer to it is a turn of the conversation. */
  isTurn?: boolean;
}

/** Reserves what a request may cost. A limit where the budget does not pay for it. */
export function fitBody(budget: Budget, body: MessagesBody, options: FitOptions): FittedBody | Limit {
  for (let most = mostUses(body); most > 1; most = Math.floor(most / 2)) {
    const fitted = fitWhole(budget, withUses(body, most), options);
    if ('subtype' in fitted) continue;
    if (fitted.body.max_tokens === body.max_tokens) return fitted;
    // Fewer searches are better than half an answer.
    fitted.reservation.settle({});
  }
  return fitWhole(budget, withUses(body, 1), options);
}

function fitWhole(budget: Budget, body: MessagesBody, { catalog, isTurn }: FitOptions): FittedBody | Limit {
  const searches = searchesIn(body);
  const reservation = budget.reserve({
    inputTokens: budget.weighs ? mostInputTokens(body) + searches * SEARCH_TOKENS : 0,
    maxOutputTokens: body.max_tokens,
    price: (usage) => catalog.microCentsOf(body.model, usage),
    ...(isTurn !== undefined && { isTurn }),
    searches,
  });
  if ('subtype' in reservation) return reservation;
  const { maxOutputTokens } = reservation;
  return { body: maxOutputTokens === body.max_tokens ? body : { ...body, max_tokens: maxOutputTokens }, reservation };
}

const usesOf = (tool: object): number => ('max_uses' in tool && typeof tool.max_uses === 'number' ? tool.max_uses : 0);

/** Searches that the API may make by itself. */
const searchesIn = ({ tools = [] }: MessagesBody): number => tools.reduce((sum, tool) => sum + usesOf(tool), 0);

const mostUses = ({ tools = [] }: MessagesBody): number => Math.max(0, ...tools.map(usesOf));

const withUses = (body: MessagesBody, most: number): MessagesBody =>
  mostUses(body) <= most
    ? body
    : {
        ...body,
        tools: (body.tools ?? []).map((tool) => (usesOf(tool) > most ? { ...tool, max_uses: most } : tool)),
      };

/** More tokens than a request will be counted with. */
export function mostInputTokens(body: MessagesBody): number {
  let images = 0;
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (!isImage(value)) return value;
    images += 1;
    return null;
  });
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + images * IMAGE_TOKENS;
}

function isImage(value: unknown): boolean {
  const { type, source } = (value ?? {}) as { type?: unknown; source?: unknown };
  return type === 'image' && typeof source === 'object' && source !== null;
}

/** How a call ended, from what arrived of its answer. Before its first event nothing was used. */
export function endOf(answer: Answer, blocks: readonly ContentBlock[]): CallEnd {
  const { message, usage, stopped } = answer;
  if (message === undefined) return {};
  if (stopped) return { usage };
  return { usage, isCut: true, seenTokens: seenTokens(answer, blocks) };
}

function seenTokens({ open }: Answer, blocks: readonly ContentBlockParam[]): number {
  let bytes = blocks.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(blocks));
  for (const { text, json, signature } of open.values()) bytes += Buffer.byteLength(text + json + signature);
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
