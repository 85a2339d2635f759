import { describe, expect, it } from 'vitest';
import type { ScriptAnswer, ScriptStep } from '../../src/engine/model/script-step.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { PATH_ENV, start } from '../engine/kit.js';
import {
  asksForSummary,
  chainOf,
  compactBy,
  contents,
  hookInto,
  kinds,
  linesOf,
  pairsAreWhole,
  sentIn,
} from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const SUMMARY = '<summary>THE-SUMMARY</summary>';
const FULL = { input_tokens: 170_000 };
const tooLong = new HeddleError('model_prompt_too_long', 'prompt is too long', { data: { status: 400 } });

const bash = (id: string, command: string, extra: ScriptAnswer = {}): ScriptStep => ({
  id: `m-${id}`,
  toolUse: { id, name: 'Bash', input: { command } },
  ...extra,
});
/** So many characters, of which the end is `mark`. */
const printing = (mark: string, length: number) => `printf 'x%.0s' $(seq ${length}); echo ${mark}`;

describe('G3: a context that becomes too large', () => {
  it('is summed up in the middle of a turn, and the turn goes on', async () => {
    const run = await start([bash('t1', 'echo LAST-RESULT', { usage: FULL }), SUMMARY, 'done', 'next'], {
      config: bypass,
    });
    const told = await hookInto(run, { PreCompact: () => ({}), SessionStart: () => ({}) });
    const done = await run.ask('DO-THIS with care');
    expect(done).toMatchObject({ subtype: 'success', result: 'done', num_turns: 2 });

    const shown = kinds(run.messages);
    expect(shown.filter((kind) => kind === 'system/init')).toHaveLength(1);
    expect(shown.slice(shown.indexOf('system/status'))).toEqual([
      'system/status',
      'system/status',
      'system/compact_boundary',
      'user',
      'assistant',
      'result/success',
    ]);
    expect(contents(run.messages, 'status')).toMatch(/about 170,\d\d\d tokens; from 167,000 on/);
    expect(told.map(({ hook_event_name, trigger, source }) => [hook_event_name, trigger ?? source])).toEqual([
      ['SessionStart', 'startup'],
      ['PreCompact', 'auto'],
      ['SessionStart', 'compact'],
    ]);
    expect(sentIn(run.model.requests[1])).toMatch(/DO-THIS.*LAST-RESULT.*detailed summary/s);
    const [message, ...others] = run.model.requests[2]?.body.messages ?? [];
    expect(others).toEqual([]);
    expect(JSON.stringify(message)).toMatch(
      /Working directory.*THE-SUMMARY.*DO-THIS with care.*echo LAST-RESULT.*gave:\\nLAST-RESULT.*Go on with the work/s,
    );
    await run.ask('and now');
    expect(sentIn(run.model.requests[3])).toMatch(/THE-SUMMARY.*done.*and now/s);
  });

  it('before the first answer of a turn: the new prompt is not summed up but kept, images too', async () => {
    const run = await start([{ text: 'one', usage: FULL }, SUMMARY, 'two']);
    await run.ask('OLD-PROMPT');
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } } as const;
    const content = [{ type: 'text' as const, text: 'NEW-PROMPT' }, image];
    expect(await run.ask('', { message: { role: 'user', content } })).toMatchObject({ result: 'two' });
    expect(sentIn(run.model.requests[1])).toMatch(/OLD-PROMPT/);
    expect(sentIn(run.model.requests[1])).not.toMatch(/NEW-PROMPT/);
    const sent = sentIn(run.model.requests[2]);
    expect(sent).toMatch(/THE-SUMMARY.*NEW-PROMPT.*image\/png/s);
    expect(sent).not.toMatch(/OLD-PROMPT|Go on with the work/);
  });

  it('a prompt that is large itself is kept at both ends', async () => {
    const run = await start([{ text: 'one', usage: { input_tokens: 100_000 } }, SUMMARY, 'two']);
    await run.ask('hello');
    await run.ask(`HEAD ${'x'.repeat(400_000)} TAIL`);
    const sent = sentIn(run.model.requests[2]);
    expect(sent).toMatch(/HEAD x.*characters are left out here.*x TAIL/s);
    expect(sent.length).toBeLessThan(250_000);
  });

  it('two in one turn: the second keeps the prompt as it was, and nothing is summed up twice for one answer', async () => {
    const script = [
      bash('t1', 'echo 1', { usage: FULL }),
      '<summary>FIRST-SUM</summary>',
      bash('t2', 'echo 2', { usage: FULL }),
      '<summary>SECOND-SUM</summary>',
      bash('t3', 'echo 3'),
      'done',
    ];
    const run = await start(script, { config: bypass });
    await run.ask('THE-PROMPT');
    run.model.assertDone();
    expect(run.model.requests.map(asksForSummary)).toEqual([false, true, false, true, false, false]);
    expect(sentIn(run.model.requests[3])).toMatch(/FIRST-SUM/);
    const sent = sentIn(run.model.requests[5]);
    expect(sent).toMatch(/SECOND-SUM.*THE-PROMPT/s);
    expect(sent).not.toMatch(/FIRST-SUM/);
    expect(sent.split('THE-PROMPT')).toHaveLength(2);
    const log = JSON.stringify(chainOf(await linesOf(run)));
    expect(log).toMatch(/THE-PROMPT.*echo 1.*FIRST-SUM.*echo 2.*SECOND-SUM.*echo 3/s);
  });

  it.each([
    ['the environment', { env: { PATH: process.env.PATH ?? '', DISABLE_AUTO_COMPACT: '1' } }],
    ['settings', { settings: '{"autoCompactEnabled": false}' }],
  ])('off by %s means off: no summary, and overflow stays a typed error', async (_, config) => {
    const run = await start([{ text: 'one', usage: FULL }, 'two', { error: tooLong }], { config });
    await run.ask('a');
    await run.ask('b');
    expect(run.model.requests.some(asksForSummary)).toBe(false);
    expect(await run.ask('c')).toMatchObject({
      is_error: true,
      error_code: 'model_prompt_too_long',
      terminal_reason: 'prompt_too_long',
    });
    expect((await compactBy(run)).outcome.kind).toBe('failed');
  });

  it('one that a hook blocks, or that fails, is told and does not end the turn', async () => {
    const run = await start([bash('t1', 'true', { usage: FULL }), bash('t2', 'true', { usage: FULL }), 'done'], {
      config: bypass,
    });
    const told = await hookInto(run, { PreCompact: () => ({ continue: false, stopReason: 'not now' }) });
    expect(await run.ask('go')).toMatchObject({ result: 'done' });
    expect(told).toHaveLength(2);
    expect(contents(run.messages, 'informational')).toMatch(/not now.*not now/);

    const error = new HeddleError('model_auth', 'no key');
    const steps = [1, 2, 3, 4].flatMap((n) => [bash(`t${n}`, 'true', { usage: FULL }), ...(n < 4 ? [{ error }] : [])]);
    const failing = await start([...steps, 'done'], { config: bypass });
    expect(await failing.ask('go')).toMatchObject({ result: 'done' });
    failing.model.assertDone();
    expect(contents(failing.messages, 'informational').match(/no key/g)).toHaveLength(3);
  });

  it('G7: what the budget does not pay for ends the turn', async () => {
    const run = await start([bash('t1', 'true', { usage: FULL }), 'never'], {
      config: { ...bypass, maxBudgetUsd: 0.52 },
    });
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_budget_usd' });
    expect(run.model.requests).toHaveLength(1);
  });

  it('G1: an interrupt ends it, and the next prompt works', async () => {
    const run = await start([
      { text: 'one', usage: FULL },
      { text: SUMMARY, waitFor: new Promise(() => {}) },
      SUMMARY,
      'three',
    ]);
    await run.ask('a');
    const result = run.ask('b');
    await run.seen((message) => message.type === 'system' && message.subtype === 'status');
    run.session.interrupt();
    expect(await result).toMatchObject({ is_error: false, terminal_reason: 'aborted_streaming' });
    expect(await run.ask('c')).toMatchObject({ result: 'three' });
  });
});

describe('G3: an overflow that the API reports', () => {
  it('is summed up once, and the call is made again', async () => {
    const run = await start(['one', { error: tooLong }, SUMMARY, 'two']);
    await run.ask('first');
    expect(await run.ask('second')).toMatchObject({ result: 'two', is_error: false });
    expect(contents(run.messages, 'status')).toContain('no longer fits into the context window');
    expect(sentIn(run.model.requests[3])).toMatch(/THE-SUMMARY.*second/s);
    expect(kinds(run.messages).filter((kind) => kind === 'assistant')).toHaveLength(2);
  });

  it('in the middle of a turn less is read for the summary from the start', async () => {
    const rounds = [1, 2, 3].map((n) => bash(`t${n}`, printing(`END-${n}`, 4_000)));
    const run = await start([...rounds, { error: tooLong }, SUMMARY, 'done'], { config: bypass });
    expect(await run.ask('go')).toMatchObject({ result: 'done' });
    const asked = run.model.requests[4];
    expect(asksForSummary(asked)).toBe(true);
    expect(sentIn(asked)).toContain('left out here');
    expect(pairsAreWhole(asked?.body.messages ?? [])).toBe(true);
    expect(sentIn(run.model.requests[5])).toMatch(/oldest messages were too long.*END-3/s);
  });

  it('G10: what ran in the turn stays known, for the next turn and for /compact', async () => {
    const off = { ...bypass, settings: '{"autoCompactEnabled": false}' };
    const run = await start([bash('t1', 'echo RESULT'), { error: tooLong }, 'fine', SUMMARY, 'ok'], { config: off });
    const refused = await run.ask('DO-THIS');
    expect(refused).toMatchObject({ is_error: true, error_code: 'model_prompt_too_long' });
    expect(refused.subtype === 'success' && refused.result).toMatch(/\/compact.*stay made, and known/);
    expect(await run.ask('and now')).toMatchObject({ result: 'fine' });
    const sent = sentIn(run.model.requests[2]);
    expect(sent).toMatch(/DO-THIS.*You called Bash with.*echo RESULT.*It is done.*and now/s);
    expect(sent).not.toContain('tool_use');
    expect(pairsAreWhole(run.model.requests[2]?.body.messages ?? [])).toBe(true);

    const fresh = await start([bash('t1', 'echo RESULT'), { error: tooLong }, SUMMARY], { config: off });
    await fresh.ask('DO-THIS');
    expect((await compactBy(fresh)).outcome.kind).toBe('compacted');
    expect(sentIn(fresh.model.requests[2])).toMatch(/DO-THIS.*You called Bash.*detailed summary/s);
  });

  it('a refusal is no summary: the turn goes on as it was', async () => {
    const refusal = { text: 'I cannot help with that.', stopReason: 'refusal' };
    const run = await start([bash('t1', 'true', { usage: FULL }), refusal, 'done'], { config: bypass });
    expect(await run.ask('go')).toMatchObject({ result: 'done' });
    expect(contents(run.messages, 'informational')).toContain('refused to sum up');
    expect(sentIn(run.model.requests[2])).not.toContain('I cannot help');
  });

  it('stays an error when the summary does not help, or there is nothing to sum up', async () => {
    const run = await start(['one', { error: tooLong }, SUMMARY, { error: tooLong }, 'fine']);
    await run.ask('first');
    expect(await run.ask('second')).toMatchObject({ is_error: true, error_code: 'model_prompt_too_long' });
    expect(await run.ask('third')).toMatchObject({ result: 'fine' });

    const fresh = await start([{ error: tooLong }]);
    expect(await fresh.ask('giant')).toMatchObject({ is_error: true, error_code: 'model_prompt_too_long' });
    fresh.model.assertDone();
  });

  it('an answer that the window cut off is gone on with', async () => {
    const cut = { text: 'The first half', stopReason: 'model_context_window_exceeded' };
    const run = await start([cut, SUMMARY, ' and the second']);
    expect(await run.ask('tell me')).toMatchObject({ result: 'The first half and the second' });
    expect(sentIn(run.model.requests[2])).toMatch(/THE-SUMMARY.*tell me.*cut off. It said:\\nThe first half/s);

    const off = await start([cut], { config: { settings: '{"autoCompactEnabled": false}' } });
    expect(await off.ask('tell me')).toMatchObject({ is_error: true, error_code: 'model_prompt_too_long' });
  });
});

describe('old large results', () => {
  it('are shortened first, in one logged batch, and that may be enough', async () => {
    const rounds = Array.from({ length: 12 }, (_, n) =>
      bash(`t${n}`, printing(`END-${n}`, 20_000), n === 11 ? { usage: { input_tokens: 92_000 } } : {}),
    );
    const config = { ...bypass, env: { ...PATH_ENV, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '45' } };
    const run = await start([...rounds, 'done', 'next'], { config });
    expect(await run.ask('go')).toMatchObject({ result: 'done' });
    expect(run.model.requests.some(asksForSummary)).toBe(false);
    const trims = (await linesOf(run)).filter((line) => line.includes('"kind":"trim"'));
    expect(trims).toEqual([expect.stringContaining('"toolUseIds":["t0","t1","t2","t3","t4","t5","t6","t7","t8"]')]);
    expect(contents(run.messages, 'informational')).toMatch(/9 old tool results are left out .* tokens/);
    const sent = run.model.requests[12]?.body.messages ?? [];
    expect(pairsAreWhole(sent)).toBe(true);
    expect(sentIn(run.model.requests[12]).match(/left out later to save room/g)).toHaveLength(9);
    expect(sentIn(run.model.requests[12])).toMatch(/xEND-9.*xEND-10.*xEND-11/s);
    expect(sentIn(run.model.requests[12])).not.toMatch(/xEND-[0-8]\b/);
    await run.ask('more');
    expect(JSON.stringify(run.model.requests[13]?.body.messages.slice(0, 20))).toBe(JSON.stringify(sent.slice(0, 20)));
  });
});
