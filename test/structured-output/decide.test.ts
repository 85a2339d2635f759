import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { stopFeedback } from '../../src/engine/hooks/texts.js';
import {
  endStructured,
  MAX_INVALID_CALLS,
  MAX_REMINDERS,
  readStructured,
  REMINDER,
} from '../../src/engine/structured-output/decide.js';

let ids = 0;

const user = (content: unknown, fields: object = {}): Entry =>
  ({ type: 'user', message: { role: 'user', content }, ...fields }) as unknown as Entry;
const said = (text: string): Entry => user([{ type: 'text', text }], { isMeta: true });
const prompt = user('What is it?');

/** A call and its result. */
function call(input: unknown, result: { error?: string; kept?: unknown; name?: string } = {}): Entry[] {
  const id = `call-${ids++}`;
  const block = { type: 'tool_use', id, name: result.name ?? 'StructuredOutput', input };
  const answer = { type: 'assistant', message: { id: `msg-${id}`, content: [block] } } as unknown as Entry;
  const isError = result.error !== undefined;
  const content = result.error ?? 'Structured output provided successfully';
  const back = { type: 'tool_result', tool_use_id: id, content, ...(isError && { is_error: true }) };
  return [answer, user([back], { toolUseResult: isError ? `Error: ${content}` : (result.kept ?? input) })];
}

const invalid = (count: number): Entry[] =>
  Array.from({ length: count }, (_, index) =>
    call({}, { error: `<tool_use_error>wrong ${index}</tool_use_error>` }),
  ).flat();
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

describe('G5: the answer that a turn owes', () => {
  it('is owed at first, and after other calls', () => {
    expect(readStructured([prompt])).toEqual({ state: 'owed' });
    expect(readStructured([prompt, ...call({ a: 1 }, { name: 'Read' })])).toEqual({ state: 'owed' });
  });

  it('is given by a valid call, also after invalid ones', () => {
    expect(readStructured([prompt, ...call({ a: 1 })])).toEqual({ state: 'given', value: { a: 1 } });
    expect(readStructured([prompt, ...invalid(4), ...call({ a: 2 })])).toEqual({ state: 'given', value: { a: 2 } });
  });

  it('is not given by a call that has no result yet', () => {
    const [asked] = call({ a: 1 });
    expect(readStructured([prompt, asked as Entry])).toEqual({ state: 'owed' });
  });

  it('is what was checked last, not what the model said before a hook changed it', () => {
    expect(readStructured([prompt, ...call({ a: 'secret' }, { kept: { a: 'x' } })])).toMatchObject({
      value: { a: 'x' },
    });
  });

  it('is what the model said, where another program wrote the log', () => {
    const text = 'Structured output provided successfully';
    expect(readStructured([prompt, ...call({ a: 1 }, { kept: text })])).toMatchObject({ value: { a: 1 } });
  });

  it('is the last of several', () => {
    expect(readStructured([prompt, ...call({ a: 1 }), ...call({ a: 2 })])).toMatchObject({ value: { a: 2 } });
  });

  it('fails after so many invalid calls, each counted', () => {
    expect(readStructured([prompt, ...invalid(MAX_INVALID_CALLS - 1)])).toEqual({ state: 'owed' });
    expect(readStructured([prompt, ...invalid(MAX_INVALID_CALLS)])).toEqual({
      state: 'failed',
      limit: {
        subtype: 'error_max_structured_output_retries',
        text: 'No answer was accepted in 5 calls of StructuredOutput. The last one: wrong 4',
        terminalReason: 'structured_output_retry_exhausted',
        alwaysError: true,
      },
    });
  });

  it('is asked for again when a Stop hook does not let the turn end, and stays', () => {
    const back = [prompt, ...call({ a: 1 }), said('A note of a hook.'), said(stopFeedback('Stop', 'Not good enough.'))];
    expect(readStructured(back)).toEqual({ state: 'kept', value: { a: 1 } });
    expect(endStructured(back)).toEqual({ do: 'finish', value: { a: 1 } });
    expect(readStructured([...back, ...call({ a: 2 })])).toEqual({ state: 'given', value: { a: 2 } });
    expect(readStructured([...back, ...invalid(MAX_INVALID_CALLS)])).toEqual({ state: 'given', value: { a: 1 } });
  });

  it('is given although hooks add notes to the call', () => {
    expect(readStructured([prompt, ...call({ a: 1 }), said('A note of a hook.')])).toMatchObject({ state: 'given' });
  });
});

describe('G5: a turn that ends without it', () => {
  it('is reminded a few times, then fails', () => {
    for (let count = 0; count < MAX_REMINDERS; count += 1) {
      expect(endStructured([prompt, ...times(count, said(REMINDER))])).toEqual({ do: 'remind' });
    }
    expect(endStructured([prompt, ...times(MAX_REMINDERS, said(REMINDER))])).toMatchObject({
      do: 'fail',
      limit: { subtype: 'error_max_structured_output_retries', text: expect.stringContaining('told to 3 times') },
    });
  });

  it('is not taken in by a person who says the same', () => {
    expect(endStructured([...times(9, user(REMINDER))])).toEqual({ do: 'remind' });
  });
});
