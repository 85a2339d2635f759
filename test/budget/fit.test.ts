import { describe, expect, it } from 'vitest';
import type { MessagesBody } from '../../src/protocol/index.js';
import { startAnswer, takeEvent } from '../../src/engine/assemble.js';
import { endOf, fitBody, mostInputTokens } from '../../src/engine/budget/fit.js';
import { catalog, create, SONNET } from './kit.js';

const body = (text: string, max_tokens = 32_000): MessagesBody => ({
  model: SONNET,
  max_tokens,
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  stream: true,
});

describe('G7: a request', () => {
  it('that is paid for stays the very same', () => {
    const request = body('hello');
    const fitted = fitBody(create({ usd: 10 }), request, { catalog });
    expect(fitted).toMatchObject({ body: request });
    expect('body' in fitted && fitted.body).toBe(request);
  });

  it('is not measured where no limit asks for it', () => {
    const request = body('x'.repeat(3_000));
    const budget = create({ turns: 1 });
    fitBody(budget, request, { catalog, isTurn: true });
    expect(budget.held).toMatchObject({ tokens: 32_000, turns: 1 });
  });

  it('asks for less where less is left, and is refused where too little is', () => {
    const request = body('x'.repeat(300_000));
    const size = mostInputTokens(request);
    expect(size).toBeGreaterThanOrEqual(100_000);
    expect(fitBody(create({ tokens: size + 100 }), request, { catalog })).toMatchObject({ body: { max_tokens: 100 } });
    expect(fitBody(create({ usd: 0.3751 }), request, { catalog })).toMatchObject({ subtype: 'error_max_budget_usd' });
  });

  it('counts an image by what models count for it, not by its bytes', () => {
    const image = (source: object) => ({ type: 'image', source }) as never;
    const data = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_000_000) };
    const request = { ...body('look'), messages: [{ role: 'user' as const, content: [image(data)] }] };
    expect(mostInputTokens(request)).toBeLessThan(6_000);
    const linked = { ...request, messages: [{ role: 'user' as const, content: [image({ type: 'url', url: 'u' })] }] };
    expect(mostInputTokens(linked)).toBeGreaterThan(5_000);
  });
});

describe('G7: what is known of an answer', () => {
  const usage = { input_tokens: 10, output_tokens: 1 };
  const begin = () => {
    const answer = startAnswer();
    const message = { id: 'm', type: 'message', role: 'assistant', model: SONNET, content: [] } as never;
    takeEvent(answer, { type: 'message_start', message: { ...(message as object), usage } as never });
    return answer;
  };

  it('that never began: nothing', () => {
    expect(endOf(startAnswer(), [])).toEqual({});
  });

  it('that is whole: the last count', () => {
    const answer = begin();
    takeEvent(answer, {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 9 },
    } as never);
    takeEvent(answer, { type: 'message_stop' });
    expect(endOf(answer, [])).toEqual({ usage: { input_tokens: 10, output_tokens: 9 } });
  });

  it('that was cut off: the first count, and what arrived', () => {
    const answer = begin();
    const block = { type: 'text', text: '' };
    takeEvent(answer, { type: 'content_block_start', index: 1, content_block: block } as never);
    takeEvent(answer, { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'x'.repeat(30) } });
    expect(endOf(answer, [])).toEqual({ usage, isCut: true, seenTokens: 10 });
    const { seenTokens = 0 } = endOf(answer, [{ type: 'text', text: 'y'.repeat(300) }]);
    expect(seenTokens).toBeGreaterThan(110);
  });
});
