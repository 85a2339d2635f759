import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message, ModelProvider } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { type Options, query } from '../../src/sdk/index.js';
import {
  collect,
  createApiProvider,
  createFakeClock,
  createMemoryStore,
  createRecorder,
  createReplay,
  createScriptedModel,
  lastResult,
  startFakeApi,
  toolResults,
  transcript,
} from '../../src/testing/index.js';
import { answer, ask, ENV, scratch, thrownBy } from './scratch.js';

const run = (provider: ModelProvider, options: Options & { prompt?: string } = {}): Promise<Message[]> => {
  const { prompt = 'Note the milk.', ...others } = options;
  return collect(
    query({
      prompt,
      options: {
        cwd: scratch(),
        env: ENV,
        model: 'sonnet',
        permissionMode: 'acceptEdits',
        includePartialMessages: true,
        ...others,
        heddle: { provider, store: createMemoryStore(), ...others.heddle },
      },
    }),
  );
};

/** The lines of a cassette of these answers, each to the request of the same place. */
async function record(answers: Parameters<typeof createScriptedModel>[0], prompts: readonly string[]) {
  const lines: string[] = [];
  const recorder = createRecorder(createScriptedModel(answers), { sink: (line) => void lines.push(line) });
  for (const prompt of prompts) await answer(recorder, ask(prompt)).catch(() => {});
  return lines;
}

describe('record and replay (H4)', () => {
  it('gives an equal transcript, deltas included, with the API gone', async () => {
    const file = join(scratch(), 'cassettes', 'milk.jsonl');
    const api = await startFakeApi([
      {
        text: 'I write it down.',
        toolUse: { name: 'Write', input: { file_path: 'list.txt', content: 'milk\n' } },
        deltas: 9,
      },
      { toolUse: { name: 'Read', input: { file_path: 'list.txt' } } },
      { thinking: 'hm', text: 'It is in the list.', deltas: 7 },
    ]);
    const live = await createApiProvider({ env: { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: api.url } });
    const recorded = await run(createRecorder(live, { file }));
    api.assertDone();
    await api.close();
    await expect(answer(live, ask('x'))).rejects.toMatchObject({ code: 'model_connection' });

    const replay = createReplay(file);
    const clock = createFakeClock(Date.UTC(2031, 5, 6));
    const replayed = await run(replay, { heddle: { clock } });
    replay.assertDone();
    expect(transcript(recorded)).toContain('stream content_block_delta');
    expect(transcript(replayed)).toBe(transcript(recorded));
    expect(lastResult(replayed)).toMatchObject({ result: 'It is in the list.', is_error: false });
    const init = (messages: Message[]) => messages.find((message) => 'apiKeySource' in message);
    expect(init(replayed)).toMatchObject({ apiKeySource: 'ANTHROPIC_API_KEY' });
    const texts = (messages: Message[]) =>
      messages.flatMap((message) => (message.type === 'stream_event' ? [message.event] : []));
    expect(texts(replayed)).toEqual(texts(recorded));
  });

  it('works in another folder: absolute paths in answers follow the working directory', async () => {
    const [here, there] = [scratch(), scratch()];
    const file = join(scratch(), 'a.jsonl');
    const path = join(here, 'list.txt');
    const model = createScriptedModel(
      [
        { toolUse: { name: 'Write', input: { file_path: path, content: 'milk\n' } } },
        { toolUse: { name: 'Read', input: { file_path: path } } },
        `It is in ${path}.`,
      ],
      { deltaSize: 5 },
    );
    await run(createRecorder(model, { file }), { cwd: here });
    model.assertDone();
    expect(readFileSync(file, 'utf8')).not.toContain(here);

    const replay = createReplay(file);
    const messages = await run(replay, { cwd: there });
    replay.assertDone();
    expect(toolResults(messages).map(({ text }) => text)).toEqual([expect.stringContaining(there), '1\tmilk']);
    expect(lastResult(messages)).toMatchObject({ result: `It is in ${join(there, 'list.txt')}.` });
  });

  it('misses loudly when the prompt has changed, with the place and both values', async () => {
    const file = join(scratch(), 'a.jsonl');
    await run(createRecorder(createScriptedModel(['Noted.']), { file }));
    const replay = createReplay(file);
    const messages = await run(replay, { prompt: 'Note the bread.' });
    const result = lastResult(messages);
    expect(result).toMatchObject({ is_error: true, error_code: 'replay_miss' });
    const miss = thrownBy(() => replay.assertDone()) as HeddleError;
    expect(miss).toBeInstanceOf(HeddleError);
    expect(miss.message).toBe(
      [
        `Call 1 asks for something else than the cassette ${file} holds.`,
        'Due is call 1 (line 2). It differs at body.messages[0].content[1].text:',
        '  recorded: "Note the milk."',
        '  asked:    "Note the bread."',
      ].join('\n'),
    );
    expect(miss.data).toMatchObject({ line: 2, path: 'body.messages[0].content[1].text', count: 1 });
    expect('result' in result && result.result).toContain(miss.message);
  });

  it('shows only the part of long texts where they differ, and counts the places', async () => {
    const long = 'word '.repeat(500);
    const lines = await record(['1'], [`${long}milk${long}`]);
    const replay = createReplay(lines);
    const request = ask(`${long}bread${long}`, { max_tokens: 11 });
    const miss = await answer(replay, request).then(String, (error: HeddleError) => error.message);
    expect(miss).toContain('differs in 2 places, first at body.max_tokens:\n  recorded: 10\n  asked:    11');
    const other = await answer(createReplay(lines), ask(`${long}bread${long}`)).then(String, (e: Error) => e.message);
    expect(other).toMatch(/recorded: …"word word .*milkword/);
    expect(other.length).toBeLessThan(600);
  });

  it('matches in order; in any order when told to', async () => {
    const lines = await record(['one', 'two', 'two again'], ['1', '2', '2']);
    const ordered = createReplay(lines);
    await expect(answer(ordered, ask('2'))).rejects.toMatchObject({
      code: 'replay_miss',
      message: expect.stringContaining('The same request is call 2 (line 3), not due yet.'),
    });
    expect(await answer(ordered, ask('1'))).toBe('one');
    expect(await answer(ordered, ask('2'))).toBe('two');

    const any = createReplay(lines, { match: 'any' });
    expect(await answer(any, ask('2'))).toBe('two');
    expect(await answer(any, ask('1'))).toBe('one');
    expect(() => any.assertDone()).toThrow(/1 of 3 recordings .* were not asked for:\n {2}call 3 \(line 4\): .*"2"/);
    expect(await answer(any, ask('2'))).toBe('two again');
    any.assertDone();
    await expect(answer(any, ask('2'))).rejects.toThrow(
      'one more than the cassette that was given holds: 3 recordings',
    );
    expect(() => any.assertDone()).toThrow('one more');
  });

  it('names the nearest of several recordings', async () => {
    const lines: string[] = [];
    const recorder = createRecorder(createScriptedModel(['1', '2']), { sink: (line) => void lines.push(line) });
    await answer(recorder, ask('weather', { temperature: 0, stop_sequences: ['a', 'b'] }));
    await answer(recorder, ask('news', { temperature: 1, max_tokens: 99 }));
    const request = ask('old news', { temperature: 1, max_tokens: 99 });
    await expect(answer(createReplay(lines, { match: 'any' }), request)).rejects.toThrow(
      /Nearest is call 2 \(line 3\)\. It differs at body\.messages\[0\]\.content:\n {2}recorded: "news"/,
    );
    await expect(answer(createReplay(lines), request)).rejects.toThrow(
      /Due is call 1 \(line 2\)[\s\S]*Nearer is call 2 \(line 3\)/,
    );
  });

  it('does not care about the order of keys, ids, dates, and what a mask hides', async () => {
    const lines: string[] = [];
    const mask = [[/port \d+/, '<port>']] as const;
    const recorder = createRecorder(createScriptedModel(['ok']), { sink: (line) => void lines.push(line), mask });
    await answer(recorder, ask('5f0c1a9e-0000-4000-8000-0123456789ab at 2025-01-01T10:00:00Z on port 8080'));
    const text = '99999999-1111-4222-8333-444444444444 at 2026-12-31T23:59:59.123Z on port 9';
    const body = {
      stream: true as const,
      messages: [{ content: text, role: 'user' as const }],
      max_tokens: 10,
      model: 'm',
    };
    expect(await answer(createReplay(lines, { mask }), { betas: [], body })).toBe('ok');
    await expect(answer(createReplay(lines), { betas: [], body })).rejects.toThrow('<port>');
  });

  it('records failures and replays them, before and inside an answer', async () => {
    const refused = new HeddleError('model_rate_limited', 'Slow down.', {
      retryable: true,
      data: { status: 429, retryAfterMs: 5 },
    });
    const broken = new HeddleError('model_stream', 'It broke off.', { retryable: true });
    const model = createScriptedModel([{ error: refused }, { text: 'half an answ', error: broken }, 'whole']);
    const file = join(scratch(), 'a.jsonl');
    const clock = { ...createFakeClock(), after: (_: number, call: () => void) => (queueMicrotask(call), () => {}) };
    const recorded = await run(createRecorder(model, { file }), { heddle: { clock } });
    model.assertDone();
    const replay = createReplay(file);
    const replayed = await run(replay, { heddle: { clock } });
    replay.assertDone();
    expect(transcript(replayed)).toBe(transcript(recorded));
    expect(replayed.filter((message) => message.type === 'system' && message.subtype === 'api_retry')).toMatchObject([
      { error_code: 'model_rate_limited', error_message: 'Slow down.', error_status: 429, retry_delay_ms: 5 },
      { error_code: 'model_stream' },
    ]);
    const error = await answer(createReplay(file, { match: 'any' }), model.requests[0] ?? ask('')).catch((e) => e);
    expect(error).toMatchObject({
      code: 'model_rate_limited',
      retryable: true,
      hint: refused.hint,
      data: refused.data,
    });
  });

  it('keeps calls that overlap in the order in which they began', async () => {
    const slow = Promise.withResolvers<void>();
    const model = createScriptedModel([{ text: 'first', waitFor: slow.promise }, 'second']);
    const lines: string[] = [];
    const recorder = createRecorder(model, { sink: (line) => void lines.push(line) });
    const first = answer(recorder, ask('1'));
    await answer(recorder, ask('2'));
    slow.resolve();
    await first;
    expect(lines.map((line) => (JSON.parse(line) as { call?: number }).call)).toEqual([undefined, 2, 1]);
    const replay = createReplay(lines);
    expect([await answer(replay, ask('1')), await answer(replay, ask('2'))]).toEqual(['first', 'second']);
  });

  it('replays a call that was interrupted, and says so when it is not interrupted again', async () => {
    const lines: string[] = [];
    const model = createScriptedModel([
      { text: 'a b', deltas: 2, pauseAfterDeltas: 1, waitFor: new Promise(() => {}) },
    ]);
    const interrupted = async (provider: ModelProvider): Promise<string> => {
      const stop = new AbortController();
      const seen: string[] = [];
      try {
        for await (const [event] of provider.stream(ask('x'), { signal: stop.signal })) {
          seen.push(event?.type ?? '');
          if (event?.type === 'content_block_delta') setImmediate(() => stop.abort());
        }
      } catch (error) {
        seen.push((error as HeddleError).code);
      }
      return seen.join(' ');
    };
    const before = await interrupted(createRecorder(model, { sink: (line) => void lines.push(line) }));
    expect(before).toBe('message_start content_block_start content_block_delta aborted');
    const replay = createReplay(lines);
    expect(await interrupted(replay)).toBe(before);
    replay.assertDone();

    const clock = createFakeClock();
    const patient = createReplay(lines, { clock });
    const whole = expect(answer(patient, ask('x'))).rejects.toThrow(/call 1 .* cut off by its caller/i);
    await clock.armed();
    clock.advance(5_000);
    await whole;
  });

  it('records a caller that takes no more', async () => {
    const lines: string[] = [];
    const recorder = createRecorder(createScriptedModel(['abc']), { sink: (line) => void lines.push(line) });
    const { signal } = new AbortController();
    for await (const _ of recorder.stream(ask('x'), { signal })) break;
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ cut: true, events: [{ type: 'message_start' }] });
    for await (const batch of createReplay(lines).stream(ask('x'), { signal })) {
      expect(batch).toMatchObject([{ type: 'message_start' }]);
      break;
    }
  });

  it('says who was recorded, and replaces an old cassette only when the first call ends', async () => {
    const file = join(scratch(), 'a.jsonl');
    writeFileSync(file, 'old');
    const recorder = createRecorder(createScriptedModel(['1'], { name: 'mine', keySource: 'config' }), { file });
    expect(readFileSync(file, 'utf8')).toBe('old');
    await answer(recorder, ask('1'));
    expect(createReplay(file)).toMatchObject({ name: 'mine', keySource: 'config' });
  });

  it('fails the call when the cassette cannot be written', async () => {
    const file = join(scratch(), 'file', 'a.jsonl');
    writeFileSync(join(file, '..'), '');
    await expect(answer(createRecorder(createScriptedModel(['1']), { file }), ask('1'))).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining(file),
    });
  });
});

describe('a cassette that cannot be used', () => {
  const header = '{"cassette":1,"provider":"p","keySource":"none"}';
  const good = '{"call":1,"request":{"body":{"messages":[]},"betas":[]},"events":[]}';
  it.each([
    ['', /line 1 is empty/],
    ['hello', /line 1 is not JSON/],
    ['{"type":"user","message":{}}', /line 1 does not say that this is a cassette/],
    ['{"cassette":7}', /line 1 says format 7, and this version reads format 1/],
    [`${header}\n${good}\n{"call":2,"requ`, /line 3 is not JSON/],
    [`${header}\n\n[1]`, /line 3 is not a JSON object/],
    [`${header}\n{"call":1,"events":[]}`, /line 2 has no `request`/],
    [`${header}\n{"call":1,"request":{"body":{"messages":[]}},"events":[]}`, /line 2 has no list `request.betas`/],
    [`${header}\n${good.replace('"events":[]', '"events":[{"type":"ping"},5]')}`, /`events\[1\]`/],
    [`${header}\n${good.replace('"events":[]', '"events":[],"error":{"code":"nope"}')}`, /unknown error code "nope"/],
  ])('%j', (text, problem) => {
    const file = join(scratch(), 'bad.jsonl');
    writeFileSync(file, text);
    const error = thrownBy(() => createReplay(file)) as HeddleError;
    expect(error).toMatchObject({ code: 'invalid_config', data: { file } });
    expect(error.message).toMatch(problem);
    expect(error.message).toContain(file);
  });

  it('does not exist, or is a folder', () => {
    const folder = scratch();
    expect(thrownBy(() => createReplay(join(folder, 'none.jsonl')))).toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('none.jsonl does not exist'),
      hint: expect.stringContaining('createRecorder'),
    });
    expect(() => createReplay(folder)).toThrow(/cannot be read/);
  });
});
