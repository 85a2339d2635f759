/** Writes down what a provider is asked and what it answers. */
import type { ModelEvent, ModelProvider, ModelRequest } from '../../protocol/index.js';
import { toHeddleError } from '../../protocol/plain.js';
import { canonicalEvents, canonicalRequest, type Cleaning, redactorOf } from './canonical.js';
import {
  CASSETTE_FORMAT,
  type CassetteHeader,
  type CassetteSink,
  createFileSink,
  type RecordedError,
  type Recording,
} from './cassette.js';
import { redactValue } from './redact.js';

/** Where the lines go: a file, whose folder is made and whose old content the first call replaces, or a function. */
export type RecorderOptions = Cleaning & ({ file: string } | { sink: CassetteSink });

/** What a call came to, as it grows. */
interface Take {
  call: number;
  request: ModelRequest;
  requestId?: string;
  events: ModelEvent[];
}

/**
 * A provider that answers as `provider` does and keeps every call for `createReplay`, failed ones too. Secrets are left
 * out. The line of a call is written when it ends, before the caller learns of the end; throws when it cannot be.
 */
export function createRecorder(provider: ModelProvider, options: RecorderOptions): ModelProvider {
  const write = createLineWriter('file' in options ? createFileSink(options.file) : options.sink, {
    cassette: CASSETTE_FORMAT,
    provider: provider.name,
    keySource: provider.keySource,
    ...(provider.searchesWeb && { searchesWeb: true }),
  });
  let calls = 0;

  async function* record(
    take: Take,
    { signal, onResponse }: Parameters<ModelProvider['stream']>[1],
  ): AsyncGenerator<readonly ModelEvent[]> {
    const keep = (end: Pick<Recording, 'error' | 'cut'>): Promise<void> => write(toRecording(take, end, options));
    let isOver = false;
    try {
      const batches = provider.stream(take.request, {
        signal,
        onResponse(info) {
          if (info.requestId !== undefined) take.requestId = info.requestId;
          onResponse?.(info);
        },
      });
      for await (const batch of batches) {
        for (const event of batch) take.events.push(event);
        yield batch;
      }
      isOver = true;
    } catch (thrown) {
      isOver = true;
      await keep(signal.aborted ? { cut: true } : { error: toRecordedError(thrown, options) });
      throw thrown;
    } finally {
      // A caller that takes no more has ended the call at the `yield`.
      if (!isOver) await keep({ cut: true });
    }
    await keep({});
  }

  return {
    name: provider.name,
    keySource: provider.keySource,
    ...(provider.searchesWeb && { searchesWeb: true }),
    stream(request, streamOptions) {
      calls += 1;
      return record({ call: calls, request: structuredClone(request), events: [] }, streamOptions);
    },
  };
}

function toRecording(take: Take, end: Pick<Recording, 'error' | 'cut'>, cleaning: Cleaning): Recording {
  const { call, request, requestId, events } = take;
  return {
    call,
    request: canonicalRequest(request, cleaning),
    ...(requestId !== undefined && { requestId: redactorOf(cleaning)(requestId) }),
    events: canonicalEvents(events, { ...cleaning, request }),
    ...end,
  };
}

function toRecordedError(thrown: unknown, cleaning: Cleaning): RecordedError {
  const { code, message, retryable, hint, data } = toHeddleError(thrown);
  const plain: unknown = JSON.parse(JSON.stringify({ code, message, retryable, hint, data }));
  return redactValue(plain, redactorOf(cleaning)) as RecordedError;
}

/** Hands the lines over one after the other, the header before the first: a sink may take its time. */
function createLineWriter(sink: CassetteSink, header: CassetteHeader): (recording: Recording) => Promise<void> {
  let last: Promise<void> | undefined;
  const hand = async (lines: readonly string[], before: Promise<void> | undefined): Promise<void> => {
    // What failed before was told to its own call.
    await before?.catch(() => {});
    for (const line of lines) await sink(line);
  };
  return (recording) => {
    const line = JSON.stringify(recording);
    last = hand(last === undefined ? [JSON.stringify(header), line] : [line], last);
    return last;
  };
}
