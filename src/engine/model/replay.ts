/** Answers model calls from a cassette. Never touches the network. */
import type { Clock, ModelEvent, ModelProvider, ModelRequest } from '../../protocol/index.js';
import { AbortError, HeddleError, systemClock } from '../../protocol/plain.js';
import { wait } from '../wait.js';
import { type CanonicalRequest, canonicalRequest, type Cleaning, cwdOf, localEvents } from './canonical.js';
import { type PlacedRecording, readCassette } from './cassette.js';
import { type Difference, distance, findDifference } from './difference.js';

export interface ReplayOptions extends Cleaning {
  /** `order` (the default): requests come in the order of the cassette. `any`: each finds its own recording. */
  match?: 'order' | 'any';
  /** Bounds the wait of a call that was cut off when it was recorded. */
  clock?: Clock;
}

export interface Replay extends ModelProvider {
  /** Throws `replay_miss`: the first miss again if there was one, else the recordings that nobody asked for. */
  assertDone(): void;
}

/** A call that its caller once cut off waits this long to be cut off again. */
const CUT_WAIT_MS = 5_000;

interface Kept extends PlacedRecording {
  /** The request as it is compared, as a value and as a text. */
  canonical: CanonicalRequest;
  text: string;
  used: boolean;
}

/**
 * A provider that answers with what `createRecorder` kept, from a file or from its lines. A request that differs from
 * its recording fails with `replay_miss`. Throws `invalid_config` when the cassette cannot be used.
 */
export function createReplay(source: string | readonly string[], options: ReplayOptions = {}): Replay {
  const { match = 'order', clock = systemClock } = options;
  const { header, recordings } = readCassette(source);
  const name = typeof source === 'string' ? source : 'that was given';
  const tape = recordings.map((recording): Kept => {
    const canonical = canonicalRequest(recording.request as unknown as ModelRequest, options);
    return { ...recording, canonical, text: JSON.stringify(canonical), used: false };
  });
  let calls = 0;
  let firstMiss: HeddleError | undefined;

  const miss = (problem: string, data: Record<string, unknown>): HeddleError => {
    const error = new HeddleError('replay_miss', problem, { data: { cassette: name, ...data } });
    firstMiss ??= error;
    return error;
  };

  /** Takes the recording of a request off the tape, or says why there is none. */
  const claim = (request: ModelRequest): Kept | HeddleError => {
    calls += 1;
    const canonical = canonicalRequest(request, options);
    const text = JSON.stringify(canonical);
    const open = tape.filter((kept) => !kept.used);
    const due = match === 'order' ? open.slice(0, 1) : open;
    const found = due.find((kept) => kept.text === text);
    if (found === undefined) {
      const { problem, data } = explainMiss({ canonical, text, tape, due, call: calls, name });
      return miss(problem, data);
    }
    found.used = true;
    return found;
  };

  async function* play(
    claimed: Kept | HeddleError,
    request: ModelRequest,
    { signal, onResponse }: Parameters<ModelProvider['stream']>[1],
  ): AsyncGenerator<readonly ModelEvent[]> {
    if (signal.aborted) throw new AbortError();
    if (claimed instanceof HeddleError) throw claimed;
    const { requestId, events, error, cut } = claimed;
    if (requestId !== undefined) onResponse?.({ requestId });
    for (const event of localEvents(events, cwdOf(request))) {
      yield [event];
      if (signal.aborted) throw new AbortError();
    }
    if (error !== undefined) throw new HeddleError(error.code, error.message, error);
    if (cut === undefined) return;
    if ((await wait(clock, CUT_WAIT_MS, signal)) === 'aborted') throw new AbortError();
    throw miss(
      `Call ${claimed.call} of the cassette ${name} (line ${claimed.line}) was cut off by its caller when it was ` +
        'recorded. This time the caller waits for more.',
      { call: claimed.call, line: claimed.line },
    );
  }

  return {
    name: header.provider,
    keySource: header.keySource,
    ...(header.searchesWeb && { searchesWeb: true }),
    stream(request, streamOptions) {
      const copy = structuredClone(request);
      return play(claim(copy), copy, streamOptions);
    },
    assertDone() {
      if (firstMiss !== undefined) throw firstMiss;
      const left = tape.filter((kept) => !kept.used);
      if (left.length === 0) return;
      const lines = left.slice(0, MOST_LISTED).map((kept) => `\n  ${place(kept)}: ${lastWords(kept.canonical)}`);
      const more = left.length > MOST_LISTED ? `\n  and ${left.length - MOST_LISTED} more` : '';
      throw new HeddleError(
        'replay_miss',
        `${left.length} of ${tape.length} recordings of the cassette ${name} were not asked for:${lines.join('')}${more}`,
        { data: { cassette: name, lines: left.map(({ line }) => line) } },
      );
    },
  };
}

const MOST_LISTED = 5;
const LONGEST_WORDS = 100;

const place = ({ call, line }: Kept): string => `call ${call} (line ${line})`;

/** What a person recognises a request by. */
function lastWords({ body }: CanonicalRequest): string {
  const text = JSON.stringify((body as ModelRequest['body']).messages.at(-1) ?? null);
  return text.length > LONGEST_WORDS ? `${text.slice(0, LONGEST_WORDS)}…` : text;
}

interface Miss {
  canonical: CanonicalRequest;
  text: string;
  tape: readonly Kept[];
  /** The recordings that could have been meant. */
  due: readonly Kept[];
  call: number;
  name: string;
}

function explainMiss(miss: Miss): { problem: string; data: Record<string, unknown> } {
  const { canonical, text, tape, due, call, name } = miss;
  const lines = [
    due.length > 0
      ? `Call ${call} asks for something else than the cassette ${name} holds.`
      : `Call ${call} is one more than the cassette ${name} holds: ${tape.length} recordings, all used.`,
  ];
  const same = tape.find((kept) => kept.text === text);
  if (same !== undefined)
    lines.push(`The same request is ${place(same)}, ${same.used ? 'used already' : 'not due yet'}.`);
  const near = nearest(due, canonical) ?? nearest(tape, canonical);
  const difference = near && findDifference(near.canonical, canonical);
  if (near === undefined || difference === undefined) return { problem: lines.join('\n'), data: { call } };
  lines.push(`${due.length === 1 ? 'Due' : 'Nearest'} is ${place(near)}. ${describe(difference)}`);
  // What is due in order may be a wholly different request; then the one that was meant says more.
  const nearer = nearest(tape, canonical);
  if (nearer !== undefined && nearer !== near && nearer !== same) {
    const other = findDifference(nearer.canonical, canonical);
    if (other !== undefined) lines.push(`Nearer is ${place(nearer)}. ${describe(other)}`);
  }
  return { problem: lines.join('\n'), data: { call, line: near.line, ...difference } };
}

function describe({ path, recorded, asked, count }: Difference): string {
  const where = count === 1 ? 'It differs' : `It differs in ${count} places, first`;
  return `${where} at ${path}:\n  recorded: ${recorded}\n  asked:    ${asked}`;
}

/** The first of the recordings that differ least. */
function nearest(recordings: readonly Kept[], canonical: CanonicalRequest): Kept | undefined {
  let best: { kept: Kept; apart: number } | undefined;
  for (const kept of recordings) {
    const apart = distance(kept.canonical, canonical);
    if (best === undefined || apart < best.apart) best = { kept, apart };
  }
  return best?.kept;
}
