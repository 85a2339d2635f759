import { describe, expect, it } from 'vitest';
import { compactThreshold, contextTokens, isCompactionDue } from '../../src/engine/compaction/size.js';
import { planTrim } from '../../src/engine/compaction/trim.js';
import { nextAction } from '../../src/engine/next-action.js';
import { answered, boundary, foreign, life, result, said, started, stepped, summed, text, use } from './kit.js';

describe('the size of the context', () => {
  it('is what the last answer was counted with, and a guess at what came since', () => {
    const entries = [
      started,
      said('go'),
      answered('a', [use('1')]),
      stepped('a', 900),
      said([result('1', 'x'.repeat(400))]),
    ];
    expect(contextTokens(entries)).toBe(1_000);
    const usage = {
      input_tokens: 1,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 300,
      output_tokens: 4_000,
    };
    const counted = life({ kind: 'step', messageId: 'b', stopReason: 'end_turn', usage });
    expect(contextTokens([...entries, answered('b', [text('ok')]), counted])).toBe(4_321);
  });

  it('is a guess where nothing was counted, and zero where nothing was said', () => {
    expect(contextTokens([])).toBe(0);
    expect(contextTokens([said('x'.repeat(40)), answered('a', [text('y'.repeat(40))]), stepped('a', 0)])).toBe(20);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1e6) } };
    expect(contextTokens([said([image])])).toBe(1_600);
  });

  it('begins anew with a summary; a boundary alone is none', () => {
    const before = [started, said('go'), answered('a', [text('ok')]), stepped('a', 5_000)];
    expect(contextTokens([...before, boundary(), summed('x'.repeat(80))])).toBe(20);
    expect(contextTokens([...before, boundary()])).toBe(5_000);
  });

  it('takes the counts of other writers, who may leave some out', () => {
    const entries = [said('hi'), foreign('a', [text('x'.repeat(40))], { input_tokens: 700 })];
    expect(contextTokens([...entries, said('y'.repeat(40))])).toBe(720);
    const odd = [undefined, {}, { input_tokens: 'many' }, { input_tokens: null }, { output_tokens: 7 }];
    for (const usage of odd) {
      expect(contextTokens([said('x'.repeat(40)), foreign('a', [text('y'.repeat(40))], usage as object)])).toBe(20);
    }
  });

  it('does not count answers that are no longer part of the conversation', () => {
    const dropped = life({ kind: 'turn', state: 'ended', dropped: true });
    const entries = [started, said('a'.repeat(40)), answered('a', [text('ok')]), stepped('a', 100)];
    const refused = [started, said('b'.repeat(400_000)), dropped];
    expect(contextTokens([...entries, ...refused])).toBe(100);
    const answeredFirst = [
      started,
      said('b'),
      answered('b', [use('1')]),
      stepped('b', 200),
      said([result('1')]),
      dropped,
    ];
    expect(contextTokens([...entries, ...answeredFirst])).toBeLessThan(300);
    const ofAnotherBranch = stepped('gone', 90_000);
    expect(contextTokens([...entries, ofAnotherBranch])).toBe(100);
  });

  it('goes down with what is shortened, until the next answer says how large it is', () => {
    const long = said([result('1', 'x'.repeat(40_000))]);
    const entries = [started, said('go'), answered('a', [use('1')]), stepped('a', 10), long];
    const more = [answered('b', [use('2')]), stepped('b', 20_000), said([result('2')])];
    const trim = life({ kind: 'trim', toolUseIds: ['1'] });
    const after = contextTokens([...entries, ...more, trim]);
    expect(after).toBeGreaterThan(10_000);
    expect(after).toBeLessThan(10_100);
    const next = [answered('c', [text('ok')]), stepped('c', 9_000)];
    expect(contextTokens([...entries, ...more, trim, ...next])).toBe(9_000);
  });
});

describe('the threshold', () => {
  const of = (env: Record<string, string> = {}, extra: object = {}) =>
    compactThreshold({ window: 200_000, maxOutput: 64_000, env, ...extra });

  it('leaves room for the longest answer', () => {
    expect(of()).toBe(167_000);
    expect(of({}, { window: 1_000_000 })).toBe(967_000);
    expect(of({}, { window: 100_000, maxOutput: 8_000 })).toBe(91_000);
    expect(of({}, { window: 8_000 })).toBe(6_000);
  });

  it('can be lowered, not raised, by a percentage', () => {
    expect(of({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' })).toBe(100_000);
    expect(of({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '99' })).toBe(167_000);
    for (const odd of ['', '0', '-5', '120', 'half'])
      expect(of({ CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: odd })).toBe(167_000);
  });

  it('G3: off means off', () => {
    expect(of({ DISABLE_AUTO_COMPACT: '1' })).toBeUndefined();
    expect(of({ DISABLE_COMPACT: 'true' })).toBeUndefined();
    expect(of({}, { enabled: false })).toBeUndefined();
    expect(of({ DISABLE_COMPACT: '0' }, { enabled: true })).toBe(167_000);
  });
});

describe('what comes next in a full context', () => {
  const full = [started, said('go'), answered('a', [use('1')]), stepped('a', 900), said([result('1')])];

  it('is to make it smaller, before a model call and only there', () => {
    expect(nextAction(full, { compactAt: 800 })).toEqual({ do: 'compact' });
    expect(nextAction(full, { compactAt: 1_000 })).toEqual({ do: 'call-model' });
    expect(nextAction(full)).toEqual({ do: 'call-model' });
    expect(nextAction(full.slice(0, -1), { compactAt: 800 })).toMatchObject({ do: 'run-tools' });
    const done = [started, said('go'), answered('a', [text('ok')]), stepped('a', 900, 'end_turn')];
    expect(nextAction(done, { compactAt: 800 })).toMatchObject({ do: 'finish' });
  });

  it('never twice without an answer in between', () => {
    const compacted = [...full, boundary(), summed('x'.repeat(9_000))];
    expect(nextAction(compacted, { compactAt: 800 })).toEqual({ do: 'call-model' });
    const trimmed = [...full, life({ kind: 'trim', toolUseIds: ['1'] })];
    expect(nextAction(trimmed, { compactAt: 800 })).toEqual({ do: 'call-model' });
    const again = [...compacted, answered('b', [use('2')]), stepped('b', 900), said([result('2')])];
    expect(nextAction(again, { compactAt: 800 })).toEqual({ do: 'compact' });
    expect(isCompactionDue([started, said('x'.repeat(9_000))], 800)).toBe(false);
  });

  it('a summary is no prompt: a process that died after it has nothing to do', () => {
    const before = [started, said('go'), answered('a', [text('ok')]), stepped('a', 9, 'end_turn')];
    const ended = life({ kind: 'turn', state: 'ended' });
    expect(nextAction([...before, ended, started, boundary(), summed('all')])).toEqual({ do: 'idle' });
  });
});

describe('the batch of results to shorten', () => {
  const rounds = (count: number, size: number) => [
    started,
    said('go'),
    ...Array.from({ length: count }, (_, i) => [
      answered(`m${i}`, [use(`t${i}`)]),
      stepped(`m${i}`, i === count - 1 ? 100_000 : 1),
      said([result(`t${i}`, 'x'.repeat(size))]),
    ]).flat(),
  ];

  it('leaves the results of the last answers alone, and short ones', () => {
    expect(planTrim(rounds(6, 100_000), 150_000)?.toolUseIds).toEqual(['t0', 't1', 't2']);
    expect(planTrim(rounds(3, 100_000), 150_000)).toBeUndefined();
    expect(planTrim(rounds(6, 1_000), 150_000)).toBeUndefined();
  });

  it('is none when it would not be enough, or when it was shortened before', () => {
    expect(planTrim(rounds(6, 100_000), 70_000)).toBeUndefined();
    const trim = life({ kind: 'trim', toolUseIds: ['t0', 't1', 't2'] });
    expect(planTrim([...rounds(6, 100_000), trim], 150_000)).toBeUndefined();
  });
});
