import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { createPlace, entriesIn, functions, LogMaker } from './functions-kit.js';

const { answerApproval, pendingApprovals } = functions;

/** A turn that was killed while it asked about these calls. */
const asking = (...ids: string[]) => {
  const maker = new LogMaker().turn('before', 'yes').life({ kind: 'turn', state: 'started' }).prompt('do it');
  maker.answer(...ids.map((id) => ({ type: 'tool_use', id, name: 'Bash', input: { command: `echo ${id}` } })));
  for (const id of ids)
    maker.life({ kind: 'call', toolUseId: id, state: 'requested', questionId: `q-${id}`, explanation: 'no rule' });
  return maker;
};

describe('approval that outlives the process (C6)', () => {
  it('lists what waits, with all that a person must see', async () => {
    const place = createPlace();
    const maker = asking('t1', 't2').life({ kind: 'set', cwd: '/home/user/shop/sub' });
    const sessionId = place.write(maker);
    expect(await pendingApprovals(place.parts, sessionId)).toEqual([
      {
        toolUseId: 't1',
        toolName: 'Bash',
        input: { command: 'echo t1' },
        cwd: '/home/user/shop/sub',
        explanation: 'no rule',
        requestedAt: expect.any(Number),
      },
      expect.objectContaining({ toolUseId: 't2' }),
    ]);
  });

  it('an answer is one line, after which nothing waits', async () => {
    const place = createPlace();
    const maker = asking('t1');
    const sessionId = place.write(maker);
    const before = place.read(maker);
    const answered = await answerApproval(place.parts, { sessionId, answer: { behavior: 'allow' } });
    expect(answered).toMatchObject({
      toolUseId: 't1',
      behavior: 'allow',
      pending: [],
      next: expect.stringMatching(/runs once/),
    });
    expect(entriesIn(place.read(maker).slice(before.length))).toMatchObject([
      { type: 'heddle', kind: 'call', state: 'answered', toolUseId: 't1', behavior: 'allow', sessionId },
    ]);
    expect(await pendingApprovals(place.parts, sessionId)).toEqual([]);
    await expect(answerApproval(place.parts, { sessionId, answer: { behavior: 'deny' } })).rejects.toMatchObject({
      code: 'invalid_config',
      hint: expect.stringMatching(/answered already/),
    });
  });

  it('several: each by its id; a denial has its reason', async () => {
    const place = createPlace();
    const maker = asking('t1', 't2');
    const sessionId = place.write(maker);
    const answer = (fields: object) =>
      answerApproval(place.parts, { sessionId, answer: { behavior: 'deny', ...fields } });
    await expect(answer({})).rejects.toMatchObject({ code: 'invalid_config', message: /t1 \(Bash\), t2 \(Bash\)/ });
    await expect(answer({ toolUseId: 't9' })).rejects.toMatchObject({ code: 'invalid_config', message: /No call t9/ });
    await expect(answer({ behavior: 'maybe' })).rejects.toMatchObject({ code: 'invalid_config' });
    expect((await answer({ toolUseId: 't2', message: 'not today' })).pending).toMatchObject([{ toolUseId: 't1' }]);
    await answer({});
    expect(entriesIn(place.read(maker)).slice(-2)).toMatchObject([
      { toolUseId: 't2', behavior: 'deny', message: 'not today' },
      { toolUseId: 't1', behavior: 'deny', message: 'The person refused this call.' },
    ]);
  });

  it.each([
    ['null', null],
    ['a list', []],
    ['a message that is a number', { behavior: 'deny', message: 5 }],
    ['an id that is a number', { behavior: 'allow', toolUseId: 5 }],
    ['an input that is a list', { behavior: 'allow', updatedInput: [] }],
    ['an input that is a text', { behavior: 'allow', updatedInput: 'x' }],
  ])('%s is no answer, and nothing is written', async (_, odd) => {
    const place = createPlace();
    const maker = asking('t1');
    const sessionId = place.write(maker);
    const before = place.read(maker);
    const answer = odd as unknown as Parameters<typeof answerApproval>[1]['answer'];
    await expect(answerApproval(place.parts, { sessionId, answer })).rejects.toMatchObject({ code: 'invalid_config' });
    expect(place.read(maker)).toBe(before);
  });

  it('while the session runs, it is answered there (F6)', async () => {
    const place = createPlace();
    const maker = asking('t1');
    const { sessionId, cwd } = maker;
    place.write(maker);
    const before = place.read(maker);
    const lease = await createFileStore({ configDir: place.configDir }).lease({ sessionId, cwd });
    await expect(answerApproval(place.parts, { sessionId, answer: { behavior: 'allow' } })).rejects.toMatchObject({
      code: 'session_locked',
      hint: expect.stringMatching(/answer there/),
    });
    await lease.release();
    expect(place.read(maker)).toBe(before);
  });

  it('nothing waits in a turn that is over, was started, or never asked', async () => {
    const place = createPlace();
    const none = async (maker: LogMaker) => pendingApprovals(place.parts, place.write(maker));
    expect(await none(new LogMaker().turn('one', 'first'))).toEqual([]);
    expect(await none(asking('t1').life({ kind: 'call', toolUseId: 't1', state: 'started' }))).toEqual([]);
    expect(await none(asking('t1').life({ kind: 'turn', state: 'interrupted' }))).toEqual([]);
    expect(await none(asking('t1').result('t1', 'done'))).toEqual([]);
    const idle = place.write(new LogMaker().turn('one', 'first'));
    await expect(answerApproval(place.parts, { sessionId: idle, answer: { behavior: 'allow' } })).rejects.toMatchObject(
      {
        message: expect.stringMatching(/Nothing waits/),
      },
    );
  });
});
