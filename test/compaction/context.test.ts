import { describe, expect, it } from 'vitest';
import { LAST_STAGE, shrink } from '../../src/engine/compaction/shrink.js';
import { shortenResult } from '../../src/engine/compaction/trim-note.js';
import { askForSummary, continueFrom, readSummary } from '../../src/engine/compaction/texts.js';
import { parseCall } from '../../src/engine/commands/parse-call.js';
import { toContext } from '../../src/engine/context.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import type { MessageParam, ToolResultBlock } from '../../src/protocol/index.js';
import { answered, boundary, life, pairsAreWhole, result, said, started, stepped, summed, text, use } from './kit.js';

describe('the context of a conversation that was summed up', () => {
  const before = [started, said('old prompt'), answered('a', [text('old answer')]), stepped('a')];

  it('begins with the last summary', () => {
    const entries = [...before, boundary(), summed('first'), said('x'), answered('b', [text('y')]), stepped('b')];
    expect(toContext(entries)).toEqual([
      { role: 'user', content: [text('first'), text('x')] },
      { role: 'assistant', content: [text('y')] },
    ]);
    expect(toContext([...entries, boundary(), summed('second')])).toEqual([
      { role: 'user', content: [text('second')] },
    ]);
  });

  it('F1: a boundary without a summary changes nothing', () => {
    expect(toContext([...before, boundary(), said('next')])).toEqual(toContext([...before, said('next')]));
  });

  it('reads nothing that stands before the summary', () => {
    const trap = new Proxy(said('trap'), {
      get(target, key) {
        if (key === 'message') throw new Error('read');
        return Reflect.get(target, key) as unknown;
      },
    });
    expect(toContext([trap, boundary(), summed('s')])).toHaveLength(1);
  });

  it('G10: a turn that is refused after it was summed up leaves the texts of the summary', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    const summary = said([text('sum'), image], { isCompactSummary: true });
    const dropped = life({ kind: 'turn', state: 'ended', dropped: true });
    const entries = [
      ...before,
      started,
      said('p'),
      boundary(),
      summary,
      said('refused'),
      dropped,
      started,
      said('next'),
    ];
    expect(toContext(entries)).toEqual([{ role: 'user', content: [text('sum'), text('next')] }]);
  });
});

describe('G10: a turn that the API refused', () => {
  const dropped = life({ kind: 'turn', state: 'ended', dropped: true });
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

  it('is gone when nothing was answered in it', () => {
    expect(toContext([started, said('a'), dropped, started, said('b')])).toEqual([
      { role: 'user', content: [text('b')] },
    ]);
  });

  it('keeps what was sent before it was refused, and words of what came after', () => {
    const last = [text('Then this.'), use('2'), use('3')].map((block) => answered('b', [block]));
    const entries = [
      started,
      said([text('p'), image]),
      answered('a', [use('1')]),
      stepped('a'),
      said([result('1', 'R1')]),
      said('told', { isMeta: true }),
      ...last,
      stepped('b'),
      said([result('2', 'x'.repeat(1000))]),
      said([{ ...result('3', [image]), is_error: true }]),
      dropped,
      started,
      said('next'),
    ];
    const context = toContext(entries);
    expect(context.slice(0, 4)).toEqual([
      { role: 'user', content: [text('p'), image] },
      { role: 'assistant', content: [use('1')] },
      { role: 'user', content: [result('1', 'R1'), text('told')] },
      { role: 'assistant', content: [text('Then this.')] },
    ]);
    const [done, failed, next] = (context[4]?.content ?? []) as { text: string }[];
    expect(done?.text).toMatch(/You called Bash with {}\nIt is done\. The result is left out/);
    expect(failed?.text).toMatch(/It failed\./);
    expect(next).toEqual(text('next'));
    expect(context).toHaveLength(5);
    expect(pairsAreWhole(context)).toBe(true);
  });

  it('keeps the summary whole that an answer followed', () => {
    const entries = [
      started,
      said('p'),
      boundary(),
      said([text('sum'), image], { isCompactSummary: true }),
      answered('a', [use('1')]),
      stepped('a'),
      said([result('1')]),
      dropped,
    ];
    expect(toContext(entries)[0]?.content).toEqual([text('sum'), image, expect.objectContaining({ type: 'text' })]);
  });

  it('many long inputs do not make it long again', () => {
    const calls = Array.from({ length: 50 }, (_, at) => ({ ...use(`t${at}`), input: { text: 'x'.repeat(5_000) } }));
    const results = calls.map(({ id }) => said([result(id)]));
    const entries = [started, said('p'), answered('a', calls), stepped('a'), ...results, dropped];
    expect(JSON.stringify(toContext(entries)).length).toBeLessThan(30_000);
  });
});

describe('a shortened result', () => {
  const note = (content: unknown): unknown => shortenResult(result('1', content) as ToolResultBlock).content;

  it('says how long it was, where the whole is, and what to do', () => {
    expect(note('x'.repeat(12_345))).toMatch(/^\[This result of 12,345 characters .* Call the tool again/);
    expect(note('head\n\n[Cut: 9 of 10 characters are left out. The whole is kept in /a b/t.txt]\n\ntail')).toContain(
      'The whole is kept in /a b/t.txt.',
    );
    expect(note([{ type: 'image' }, text('abc')])).toContain('3 characters and one image or document');
    expect(note([])).toContain('of nothing');
  });

  it('takes the place of the result from then on, and leaves the log alone', () => {
    const entries = [said('go'), answered('a', [use('1'), use('2')]), said([result('1', 'long'), result('2', 'kept')])];
    const frozen = JSON.stringify(entries);
    const shown = JSON.stringify(toContext([...entries, life({ kind: 'trim', toolUseIds: ['1'] })]));
    expect(shown).toMatch(/result of 4 characters.*kept/);
    expect(JSON.stringify(entries)).toBe(frozen);
  });
});

/** A small generator of numbers, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** A log as the engine writes it, with everything that may happen at random. */
function randomLog(seed: number): Entry[] {
  const pick = random(seed);
  const entries: Entry[] = [];
  let ids = 0;
  const calls: string[] = [];
  for (let turn = 0; turn < 2 + pick(4); turn += 1) {
    entries.push(started, said(`prompt ${turn}`));
    for (let step = 0; step < pick(6); step += 1) {
      const id = `m${ids++}`;
      const uses = Array.from({ length: pick(3) + 1 }, () => `t${ids++}`);
      if (pick(5) === 0) {
        entries.push(answered(`${id}x`, [use(`${id}y`)]), life({ kind: 'aborted', messageId: `${id}x` }));
      }
      for (const block of uses) entries.push(answered(id, [use(block)]));
      entries.push(stepped(id, pick(1_000)));
      for (const block of uses.toSorted(() => pick(3) - 1)) {
        entries.push(said([result(block, 'r'.repeat(pick(9_000)))]));
        calls.push(block);
      }
      if (pick(4) === 0) entries.push(said('a note', { isMeta: true }));
      if (pick(4) === 0) entries.push(life({ kind: 'trim', toolUseIds: calls.filter(() => pick(2) === 0) }));
      if (pick(5) === 0) entries.push(boundary());
      if (pick(5) === 0) entries.push(boundary(), summed(`summary ${ids}`));
    }
    const dropped = pick(6) === 0 && { dropped: true };
    entries.push(life({ kind: 'turn', state: 'ended', ...dropped }));
  }
  return entries;
}

describe('G3: pairs stay whole', () => {
  it('in the context of any log', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const messages = toContext(randomLog(seed));
      expect(pairsAreWhole(messages), `seed ${seed}`).toBe(true);
      expect(messages.every((message, index) => message.role !== messages[index - 1]?.role)).toBe(true);
    }
  });

  it('and in all that is read for a summary when that is too long', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const messages = toContext(randomLog(seed));
      let size = Infinity;
      for (let stage = 0; stage <= LAST_STAGE; stage += 1) {
        const shrunk = shrink(messages, stage);
        expect(pairsAreWhole(shrunk.messages), `seed ${seed}, stage ${stage}`).toBe(true);
        if (messages.length > 0) expect(shrunk.messages[0]?.role).toBe(messages[0]?.role);
        expect(messages.length - shrunk.messages.length).toBe(shrunk.leftOut);
        expect(shrunk.messages.length).toBeLessThanOrEqual(size);
        size = shrunk.messages.length;
      }
    }
  });

  it('long texts are cut last, images left out, thinking kept', () => {
    const long = 'x'.repeat(50_000);
    const thinking = { type: 'thinking', thinking: long, signature: 's' };
    const write = { type: 'tool_use', id: '1', name: 'Write', input: { content: long, mode: 1 } };
    const messages = [
      { role: 'user', content: [text(long), { type: 'image', source: {} }] },
      { role: 'assistant', content: [thinking, write] },
      { role: 'user', content: [result('1', [text(long), { type: 'image' }])] },
    ] as unknown as MessageParam[];
    const shrunk = shrink(messages, LAST_STAGE);
    expect(shrunk).toMatchObject({ leftOut: 0, cut: true });
    expect(shrunk.messages[1]?.content).toContainEqual(thinking);
    const rest = JSON.stringify(
      shrunk.messages.flatMap(({ content }) => [content].flat()).filter((block) => block !== thinking),
    );
    expect(rest).toMatch(/characters are left out here.*\[image left out here\].*\[image left out here\]/s);
    expect(JSON.stringify(messages[2])).toContain(long);
  });
});

describe('the words', () => {
  it('ask for what matters, and for what the user wants', () => {
    expect(askForSummary([])).toMatch(/detailed summary inside <summary> tags/);
    expect(askForSummary(['keep names', ' ', 'and dates'])).toMatch(/Heed this as well:\nkeep names\n\nand dates$/);
  });

  it('read the summary from whatever was answered', () => {
    expect(readSummary('<analysis>a</analysis><summary> S </summary> bye')).toBe('S');
    expect(readSummary('<summary>cut off')).toBe('cut off');
    expect(readSummary('<analysis>a</analysis>\nplain')).toBe('plain');
    expect(readSummary('  ')).toBe('');
    expect(readSummary('<summary></summary>')).toBe('');
  });

  it('say what the summary does not cover', () => {
    expect(continueFrom('S', { leftOut: 0, cut: false })).toMatch(/^This session is being continued.*\n\nS$/s);
    expect(continueFrom('S', { leftOut: 3, cut: true })).toMatch(/The 3 oldest messages.*in part/);
    // Whoever routes requests by what is asked for must not take the next one for another summary.
    expect(continueFrom('S', { leftOut: 0, cut: false })).not.toContain('detailed summary');
  });

  it.each([
    ['/compact', { name: 'compact', args: '' }],
    ['  /compact  keep\nnames ', { name: 'compact', args: 'keep\nnames' }],
    ['/compactor', { name: 'compactor', args: '' }],
    ['/ compact', undefined],
    ['//compact', undefined],
    ['please /compact', undefined],
    ['', undefined],
  ])('%j is %j', (prompt, expected) => {
    expect(parseCall(prompt)).toEqual(expected);
  });
});
