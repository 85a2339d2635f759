/** A model that says what a test has written down, and complains loudly about anything else. */
import type { ModelEvent, ModelProvider, ModelRequest } from '../../protocol/index.js';
import { AbortError, HeddleError } from '../../protocol/plain.js';
import {
  createStepIds,
  eventsBeforeError,
  pauseIndex,
  readStep,
  type ScriptAnswer,
  type ScriptStep,
  stepEvents,
} from './script-step.js';

export interface ScriptedModelOptions {
  /** Characters per delta; whole texts when absent. A step's `deltas` is stronger. */
  deltaSize?: number;
  name?: string;
  keySource?: string;
}

export interface ScriptedModel extends ModelProvider {
  /** Every request so far, frozen as it was. */
  readonly requests: readonly ModelRequest[];
  /** Throws `script_exhausted` when steps are left over, or when it was asked for more than there were. */
  assertDone(): void;
}

export function createScriptedModel(steps: readonly ScriptStep[], options: ScriptedModelOptions = {}): ScriptedModel {
  const requests: ModelRequest[] = [];
  const ids = createStepIds();

  async function* play(
    index: number,
    request: ModelRequest,
    { signal, onResponse }: Parameters<ModelProvider['stream']>[1],
  ): AsyncGenerator<readonly ModelEvent[]> {
    if (signal.aborted) throw new AbortError();
    const written = steps[index];
    if (written === undefined) throw exhausted(index, steps.length, request);
    const step: ScriptAnswer = await unlessAborted(readStep(written, request, index), signal);
    onResponse?.({ requestId: `req_${index + 1}` });
    const all = stepEvents(step, { ids, model: request.body.model, deltaSize: options.deltaSize });
    const events = step.error === undefined ? all : eventsBeforeError(all);
    const pause = pauseIndex(events, step);
    const size = step.batches === undefined ? 1 : Math.ceil(events.length / step.batches);
    let batch: ModelEvent[] = [];
    for (let position = 0; position <= events.length; position++) {
      const event = events[position];
      if (batch.length > 0 && (batch.length === size || position === pause || event === undefined)) {
        yield batch;
        batch = [];
        if (signal.aborted) throw new AbortError();
      }
      if (position === pause) await unlessAborted(step.waitFor, signal);
      if (event !== undefined) batch.push(event);
    }
    if (step.error !== undefined) throw step.error;
  }

  return {
    name: options.name ?? 'scripted',
    keySource: options.keySource ?? 'none',
    requests,
    stream(request, streamOptions) {
      const index = requests.length;
      requests.push(deepFreeze(structuredClone(request)));
      return play(index, requests[index] ?? request, streamOptions);
    },
    assertDone() {
      if (requests.length === steps.length) return;
      const what = requests.length < steps.length ? 'steps were left over' : 'more was asked for';
      throw new HeddleError(
        'script_exhausted',
        `The script has ${steps.length} steps, the model was called ${requests.length} times: ${what}.`,
      );
    },
  };
}

function exhausted(index: number, length: number, request: ModelRequest): HeddleError {
  const last = JSON.stringify(request.body.messages.at(-1) ?? null);
  return new HeddleError(
    'script_exhausted',
    `The scripted model was called ${index + 1} times, its script has ${length} steps. The last message was ${last.slice(0, 500)}`,
  );
}

/** The value, or an AbortError as soon as the signal says so. */
async function unlessAborted<T>(pending: T | Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new AbortError());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([pending, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
