import { describe, expect, it } from 'vitest';
import { toContext } from '../../src/engine/context.js';
import { createEngine, createMemoryStore, exitCodeOf, nextAction, systemClock } from '../../src/engine/index.js';
import { mannersFor } from '../../src/engine/manners.js';
import { toChain } from '../../src/engine/sessions/chain.js';
import { type Entry, parseEntry } from '../../src/engine/sessions/entry.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { PATH_ENV, scratch, start } from './kit.js';

let ids = 0;
const chain = () => ({
  uuid: `u${++ids}`,
  parentUuid: null,
  sessionId: 's',
  timestamp: '',
  cwd: '/',
  version: '1',
  userType: 'external' as const,
  isSidechain: false,
  writer: 'heddle' as const,
});
const said = (content: string | object[], extra: object = {}): Entry =>
  ({ ...chain(), type: 'user', message: { role: 'user', content }, ...extra }) as Entry;
const answered = (id: string, ...content: object[]): Entry => {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id, type: 'message', role: 'assistant', model: 'm', content, stop_reason: null, usage };
  return { ...chain(), type: 'assistant', message } as Entry;
};
const life = (fields: object): Entry => ({ type: 'heddle', sessionId: 's', timestamp: '', ...fields }) as Entry;
const started = life({ kind: 'turn', state: 'started' });
const stepped = (messageId: string, stopReason: string) =>
  life({ kind: 'step', messageId, stopReason, usage: { input_tokens: 1, output_tokens: 1 } });
const use = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
const text = (value: string) => ({ type: 'text', text: value });

describe('the context', () => {
  it('has results first, in the order of their calls, whatever came when', () => {
    const entries = [
      said('go'),
      answered('m1', use('a'), use('b')),
      said([text('said meanwhile')]),
      said([result('b')]),
      said([result('a')]),
      said('next'),
    ];
    expect(toContext(entries)[2]).toEqual({
      role: 'user',
      content: [result('a'), result('b'), text('said meanwhile'), text('next')],
    });
  });

  it('does not change what the log holds', () => {
    const entries = [said([text('one')]), answered('m1', text('x')), answered('m1', use('a')), said([result('a')])];
    const before = JSON.stringify(entries);
    const first = JSON.stringify(toContext(entries));
    expect(JSON.stringify(toContext(entries))).toBe(first);
    expect(JSON.stringify(entries)).toBe(before);
  });

  it('G10: a first turn that the API refused leaves the surroundings', async () => {
    const error = new HeddleError('model_bad_request', 'bad', { data: { status: 400, message: 'bad image' } });
    const run = await start([{ error }, 'fine']);
    await run.ask('poison');
    await run.ask('hi');
    const sent = JSON.stringify(run.model.requests[1]?.body.messages);
    expect(sent).toMatch(/Working directory.*hi/s);
    expect(sent).not.toContain('poison');
  });

  it('G10: only what cannot work again is left out: a failure that passes keeps the prompt', async () => {
    const error = new HeddleError('model_auth', 'no', { data: { status: 401, message: 'no' } });
    const run = await start([{ error }, 'fine']);
    await run.ask('keep me');
    await run.ask('hi');
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).toMatch(/keep me.*hi/s);
  });
});

describe('what comes next', () => {
  it('nothing, as long as only the surroundings are there', () => {
    expect(nextAction([started, said('<system-reminder>', { isMeta: true })])).toEqual({ do: 'idle' });
    expect(nextAction([started, said('x', { isMeta: true }), said('go')])).toEqual({ do: 'call-model' });
  });

  it('a refusal without a word is not asked again', async () => {
    const run = await start([{ stopReason: 'refusal' }, 'never']);
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_during_execution', terminal_reason: 'refusal' });
    expect(run.model.requests).toHaveLength(1);
  });

  it('calls of an answer that was given up are not open', () => {
    const aborted = life({ kind: 'aborted', messageId: 'm1', usage: { input_tokens: 1, output_tokens: 1 } });
    const entries = [started, said('go'), answered('m1', use('a')), aborted, answered('m2', use('b'))];
    expect(nextAction([...entries, stepped('m2', 'tool_use')])).toMatchObject({
      do: 'run-tools',
      calls: [{ block: { id: 'b' }, life: 'new' }],
    });
  });

  it('how far a call came is the last that was written about it', () => {
    const call = (state: string, extra: object = {}) => life({ kind: 'call', state, toolUseId: 'a', ...extra });
    const open = [started, said('go'), answered('m1', use('a')), stepped('m1', 'tool_use')];
    const lifeOf = (...entries: Entry[]) => {
      const action = nextAction([...open, ...entries]);
      return action.do === 'run-tools' ? action.calls[0]?.life : action.do;
    };
    expect(lifeOf()).toBe('new');
    expect(lifeOf(call('requested'))).toBe('requested');
    expect(lifeOf(call('requested'), call('answered', { behavior: 'allow' }))).toBe('answered');
    expect(lifeOf(call('answered', { behavior: 'allow' }), call('started'))).toBe('started');
    expect(lifeOf(call('started'), said([result('a')]))).toBe('call-model');
  });
});

describe('reading a log', () => {
  const line = (uuid: string, parentUuid: string | null, extra: object = {}) =>
    JSON.stringify({ ...chain(), uuid, parentUuid, type: 'user', message: { role: 'user', content: uuid }, ...extra });
  const uuids = (lines: string[]) =>
    toChain(lines.map(parseEntry).filter((entry): entry is Entry => entry !== undefined)).map((entry) =>
      'uuid' in entry ? entry.uuid : '',
    );

  it('what agents said among themselves is not part of the conversation, nor its end', () => {
    const lines = [line('a', null), line('b', 'a'), line('side', 'b', { isSidechain: true })];
    expect(uuids(lines)).toEqual(['a', 'b']);
  });

  it('parents that lead in a circle end', () => {
    expect(uuids([line('a', 'b'), line('b', 'a')])).toEqual(['a', 'b']);
  });
});

describe('small things that hold much', () => {
  it('a memory store lists the newest first and gives copies away', async () => {
    let now = 0;
    const store = createMemoryStore({ now: () => ++now });
    for (const sessionId of ['a', 'b', 'a', 'c']) await store.append({ sessionId, cwd: '/ws' }, ['{}']);
    await store.append({ sessionId: 'd', cwd: '/other' }, ['{}']);
    expect((await store.list({ cwd: '/ws' })).map(({ sessionId }) => sessionId)).toEqual(['c', 'a', 'b']);
    expect(await store.list()).toHaveLength(4);
    (await store.load('a'))?.lines.push('not mine');
    expect((await store.load('a'))?.lines).toEqual(['{}', '{}']);
    await store.delete('a');
    expect(await store.load('a')).toBeUndefined();
  });

  it('manners follow the version of an SDK, not of another program; a run without a result is fine', () => {
    expect(mannersFor({ entrypoint: 'cli', version: '0.2.9' }).limitsAreErrors).toBe(true);
    expect(mannersFor({ entrypoint: 'sdk-py', version: '0.1.9' }).limitsAreErrors).toBe(false);
    expect(mannersFor({ entrypoint: 'sdk-ts' }).limitsAreErrors).toBe(true);
    expect(mannersFor(undefined).tellsLifecycle).toBe(true);
    expect(exitCodeOf(undefined, mannersFor(undefined))).toBe(0);
  });

  it('where the key came from follows the model', async () => {
    const cwd = scratch();
    const engine = createEngine({ clock: systemClock });
    const env = { ...PATH_ENV, ANTHROPIC_API_KEY: 'k' };
    const session = await engine.open({ cwd, env, configDir: cwd, model: 'embedded' });
    const before = session.scope.state.keySource;
    expect(await session.setModel('haiku')).toMatch(/haiku/);
    expect(session.scope.state.keySource).toBe('ANTHROPIC_API_KEY');
    expect(session.scope.state.keySource).not.toBe(before);
    await session.setModel('embedded');
    expect(session.scope.state.keySource).toBe(before);
    await session.close();
  });
});
