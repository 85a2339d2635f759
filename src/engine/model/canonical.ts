/** A model call as it is kept and compared: keys in one order, no secrets, nothing of one machine or one day. Pure. */
import type { ModelEvent, ModelRequest } from '../../protocol/index.js';
import { DEFAULT_MASKS, folderMask, type Mask, maskText } from './mask.js';
import { redactSecrets, redactValue } from './redact.js';

/** Stands for the working directory in what is kept, so that a recording can be replayed in another folder. */
export const CWD_MARK = '<<cwd>>';

export interface Cleaning {
  /** Hidden beside ids, dates and the working directory. */
  mask?: readonly Mask[];
  /** Takes out secrets that the built-in list does not know. */
  redact?: (text: string) => string;
}

/** The working directory that the engine tells the model at the start of a session; undefined when it does not. */
export function cwdOf(request: ModelRequest): string | undefined {
  for (const { role, content } of request.body.messages) {
    if (role !== 'user') continue;
    for (const text of typeof content === 'string' ? [content] : content.map(textOf)) {
      const cwd = SURROUNDINGS.exec(text)?.[1];
      if (cwd !== undefined) return cwd;
    }
  }
  return undefined;
}

const textOf = (block: { type: string }): string =>
  'text' in block && typeof block.text === 'string' ? block.text : '';

const SURROUNDINGS = /^<system-reminder>\nWorking directory: (.+)\n/;
/** Facts of the machine and the day that stand beside it. */
const SURROUNDING_FACTS = /^(Also at hand|Git|Platform|Date): .*$/gm;

export type CanonicalRequest = Record<string, unknown>;

/** Equal for two requests that ask the model the same. Doing it twice changes nothing. */
export function canonicalRequest(request: ModelRequest, cleaning: Cleaning = {}): CanonicalRequest {
  const masks = [...cwdMasks(request), ...DEFAULT_MASKS, ...(cleaning.mask ?? [])];
  const hide = (text: string): string => {
    const general = SURROUNDINGS.test(text) ? text.replace(SURROUNDING_FACTS, '$1: <any>') : text;
    return maskText(general, masks);
  };
  const { body, betas } = request;
  const plain: unknown = JSON.parse(JSON.stringify({ body, betas: [...betas].toSorted() }));
  return mapStrings(sortKeys(redactValue(plain, redactorOf(cleaning))), hide) as CanonicalRequest;
}

/** The events without secrets, the working directory marked. */
export function canonicalEvents(
  events: readonly ModelEvent[],
  { request, ...cleaning }: Cleaning & { request: ModelRequest },
): ModelEvent[] {
  const redact = redactorOf(cleaning);
  const masks = cwdMasks(request);
  const clean = (value: unknown): unknown => mapStrings(redactValue(value, redact), (text) => maskText(text, masks));
  return rewriteEvents(events, clean);
}

/** The reverse for the working directory: the events as the model of this request would have sent them. */
export function localEvents(events: readonly ModelEvent[], cwd: string | undefined): ModelEvent[] {
  if (cwd === undefined) return [...events];
  return rewriteEvents(events, (value) => mapStrings(value, (text) => text.replaceAll(CWD_MARK, () => cwd)));
}

/** The built-in list, and what the caller adds. */
export function redactorOf({ redact }: Cleaning): (text: string) => string {
  return redact === undefined ? redactSecrets : (text) => redactSecrets(redact(text));
}

function cwdMasks(request: ModelRequest): Mask[] {
  const cwd = cwdOf(request);
  return cwd === undefined || cwd === CWD_MARK ? [] : [folderMask(cwd, CWD_MARK)];
}

/** The field of each delta that holds a piece of a text. */
const PIECES: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

interface Piece {
  /** The text that this is a piece of: one per block and kind. */
  whole: string;
  kind: string;
  field: string;
  text: string;
}

function pieceOf(event: ModelEvent): Piece | undefined {
  if (event.type !== 'content_block_delta') return undefined;
  const delta = event.delta as Readonly<Record<string, unknown>>;
  const kind = String(delta['type']);
  const field = PIECES[kind];
  const text = field === undefined ? undefined : delta[field];
  if (field === undefined || typeof text !== 'string') return undefined;
  return { whole: `${event.index} ${kind}`, kind, field, text };
}

/**
 * Rewrites every string. Texts that come in pieces are rewritten whole, for what is looked for may be cut in two: where
 * that changes something, the first piece takes all of the text, and the others go.
 */
function rewriteEvents(events: readonly ModelEvent[], rewrite: (value: unknown) => unknown): ModelEvent[] {
  const wholes = new Map<string, { kind: string; text: string }>();
  for (const event of events) {
    const piece = pieceOf(event);
    if (piece === undefined) continue;
    wholes.set(piece.whole, { kind: piece.kind, text: (wholes.get(piece.whole)?.text ?? '') + piece.text });
  }
  const changed = new Map<string, string>();
  for (const [whole, { kind, text }] of wholes) {
    const rewritten = kind === 'input_json_delta' ? rewriteJson(text, rewrite) : String(rewrite(text));
    if (rewritten !== text) changed.set(whole, rewritten);
  }

  const placed = new Set<string>();
  return events.flatMap((event) => {
    const piece = pieceOf(event);
    if (piece === undefined) return [rewrite(event) as ModelEvent];
    const text = changed.get(piece.whole);
    if (text === undefined) return [event];
    if (placed.has(piece.whole)) return [];
    placed.add(piece.whole);
    return [{ ...event, delta: { type: piece.kind, [piece.field]: text } } as ModelEvent];
  });
}

/** A tool input is rewritten as the value it is, so that escapes hide nothing. One that was cut off is only a text. */
function rewriteJson(json: string, rewrite: (value: unknown) => unknown): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return String(rewrite(json));
  }
  const before = JSON.stringify(value);
  const after = JSON.stringify(rewrite(value));
  return before === after ? json : after;
}

function mapStrings(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((part) => mapStrings(part, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapStrings(part, map)]));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(pairs.map(([key, part]) => [key, sortKeys(part)]));
}
