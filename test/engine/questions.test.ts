import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ask, type Question, Questions } from '../../src/engine/questions.js';
import { resultText, type Run, start } from './kit.js';

const QUESTION: Question = { id: 'q1', tool_name: 'Bash', input: {}, tool_use_id: 't1' };

/** Someone who can be asked, and what a test makes of them. */
function asker() {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const asked: { id: string; signal: AbortSignal }[] = [];
  const ask: Ask = ({ id }, { signal }) => {
    asked.push({ id, signal });
    return promise;
  };
  return { ask, asked, answer: resolve, fail: (text: string) => reject(new Error(text)) };
}

function put(questions: Questions, signal = new AbortController().signal) {
  const state = { isSettled: false };
  const reply = questions.ask(QUESTION, { signal }).finally(() => {
    state.isSettled = true;
  });
  return { reply, isSettled: () => new Promise((resolve) => setImmediate(() => resolve(state.isSettled))) };
}

describe('questions', () => {
  it('two are asked: one failing settles nothing while the other may still answer', async () => {
    const questions = new Questions();
    const [gone, there] = [asker(), asker()];
    for (const { ask } of [gone, there]) questions.attach(ask);
    const { reply, isSettled } = put(questions);
    gone.fail('the socket closed');
    expect(await isSettled()).toBe(false);
    expect(questions.pending).toEqual([QUESTION]);
    there.answer({ behavior: 'allow' });
    expect(await reply).toEqual({ kind: 'answer', value: { behavior: 'allow' } });
    expect(questions.pending).toEqual([]);
  });

  it('C3: when the last one fails, the question has failed with its reason', async () => {
    const questions = new Questions();
    const [first, second] = [asker(), asker()];
    for (const { ask } of [first, second]) questions.attach(ask);
    const { reply } = put(questions);
    first.fail('first');
    second.fail('second');
    expect(await reply).toMatchObject({ kind: 'failed', error: { message: 'second' } });
    expect(questions.pending).toEqual([]);
  });

  it('who comes while it is open is asked too, and counts as one who may answer', async () => {
    const questions = new Questions();
    const [early, late] = [asker(), asker()];
    questions.attach(early.ask);
    const { reply, isSettled } = put(questions);
    questions.attach(late.ask);
    expect(late.asked).toMatchObject([{ id: 'q1' }]);
    early.fail('gone');
    expect(await isSettled()).toBe(false);
    late.answer('yes');
    expect(await reply).toEqual({ kind: 'answer', value: 'yes' });
  });

  it('the first answer wins; the others are told, and what they say later changes nothing', async () => {
    const questions = new Questions();
    const [fast, slow] = [asker(), asker()];
    for (const { ask } of [fast, slow]) questions.attach(ask);
    const { reply } = put(questions);
    expect(slow.asked[0]?.signal.aborted).toBe(false);
    fast.answer(1);
    expect(await reply).toEqual({ kind: 'answer', value: 1 });
    expect(slow.asked[0]?.signal.aborted).toBe(true);
    slow.answer(2);
    expect(await reply).toEqual({ kind: 'answer', value: 1 });
  });

  it('abort withdraws it: those who were asked are told, nobody is asked after that', async () => {
    const questions = new Questions();
    const abort = new AbortController();
    const [one, late] = [asker(), asker()];
    questions.attach(one.ask);
    const { reply } = put(questions, abort.signal);
    abort.abort();
    expect(await reply).toMatchObject({ kind: 'failed', error: { message: 'The request was interrupted.' } });
    expect(one.asked[0]?.signal.aborted).toBe(true);
    expect(questions.pending).toEqual([]);
    questions.attach(late.ask);
    expect(late.asked).toEqual([]);
  });

  it('what is aborted before it is asked reaches nobody', async () => {
    const questions = new Questions();
    const one = asker();
    questions.attach(one.ask);
    const { reply } = put(questions, AbortSignal.abort());
    expect(await reply).toMatchObject({ kind: 'failed' });
    expect(one.asked).toEqual([]);
  });

  it('where nobody is, nobody answers', async () => {
    const questions = new Questions();
    expect(questions.canAsk).toBe(false);
    expect(await put(questions).reply).toEqual({ kind: 'nobody' });
    const detach = questions.attach(async () => 'yes');
    expect(await put(questions).reply).toEqual({ kind: 'answer', value: 'yes' });
    detach();
    expect(questions.canAsk).toBe(false);
  });
});

describe('questions of a session', () => {
  const touch = { toolUse: { name: 'Bash', input: { command: 'touch made' }, id: 't1' } };

  it('is written to the log before anyone is asked; where nobody is, nothing is written', async () => {
    const requested = (run: Run) =>
      run.session.scope.recorder.log.entries.filter((entry) => 'state' in entry && entry.state === 'requested');
    let before: unknown[] = [];
    const run: Run = await start([touch, 'ok'], {
      ask: async () => {
        before = requested(run);
        return { behavior: 'deny', message: 'no' };
      },
    });
    await run.ask('go');
    expect(before).toMatchObject([{ kind: 'call', state: 'requested', toolUseId: 't1' }]);
    const lonely = await start([touch, 'ok']);
    await lonely.ask('go');
    expect(requested(lonely)).toEqual([]);
  });

  it('one watcher breaks, the other answers: the call runs', async () => {
    const broken = asker();
    const run = await start([touch, 'ok'], { ask: broken.ask });
    run.session.attach({
      deliver() {},
      ask: async () => {
        broken.fail('gone');
        await new Promise((resolve) => setImmediate(resolve));
        return { behavior: 'allow' };
      },
    });
    expect((await run.ask('go')).permission_denials).toEqual([]);
    expect(existsSync(join(run.cwd, 'made'))).toBe(true);
  });

  it('G1: an interrupt withdraws it from every watcher, and the call is not run', async () => {
    const [one, two] = [asker(), asker()];
    const both = Promise.withResolvers<void>();
    const run = await start([touch], { ask: one.ask });
    run.session.attach({
      deliver() {},
      ask: (question, options) => {
        both.resolve();
        return two.ask(question, options);
      },
    });
    const result = run.ask('go');
    await both.promise;
    run.session.interrupt();
    expect(await result).toMatchObject({
      is_error: false,
      terminal_reason: 'aborted_tools',
      permission_denials: [{ tool_use_id: 't1' }],
    });
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'permission_denied', tool_use_id: 't1' }));
    expect([one, two].map(({ asked }) => asked[0]?.signal.aborted)).toEqual([true, true]);
    expect(resultText(run.messages, 't1')).toMatch(/not run/);
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
  });

  it('who has left is not asked any more', async () => {
    const gone = asker();
    const run = await start([touch, 'ok']);
    run.session.attach({ deliver() {}, ask: gone.ask })();
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(gone.asked).toEqual([]);
  });
});
