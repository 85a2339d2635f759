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

describe('G7: searches that the API makes by itself', () => {
  const search = (max_uses: number) => ({ type: 'web_search_1', name: 'web_search', max_uses });
  const request = { ...body('hello', 4_000), tools: [search(8)] };

  it.each([
    [1_000_000, 8],
    [400_000, 4],
    [180_000, 2],
    [65_000, 1],
  ])('of %i tokens: room for %i', (tokens, uses) => {
    const budget = create({ tokens });
    const fitted = fitBody(budget, request, { catalog });
    expect(fitted).toMatchObject({ body: { max_tokens: 4_000, tools: [{ ...search(uses) }] } });
    expect(budget.held.tokens).toBeGreaterThan(uses * 60_000 + 4_000);
    expect(budget.held.tokens).toBeLessThanOrEqual(tokens);
  });

  it('are refused where there is no room for one, and not touched where nobody counts', () => {
    expect(fitBody(create({ tokens: 50_000 }), request, { catalog })).toHaveProperty('subtype');
    expect(fitBody(create({ usd: 0.1 }), request, { catalog })).toHaveProperty('subtype');
    const free = fitBody(create({}), request, { catalog });
    expect('body' in free && free.body).toBe(request);
  });

  it('20 at once do not pass a limit, in tokens or in money, whatever they find', () => {
    for (const limits of [{ tokens: 300_000 }, { usd: 1 }]) {
      const budget = create(limits);
      const nodes = Array.from({ length: 20 }, () => budget.child({}));
      for (const node of nodes) node.enter();
      const fitted = nodes.flatMap((node) => {
        const fit = fitBody(node, request, { catalog });
        return 'body' in fit ? [fit] : [];
      });
      expect(fitted.length).toBeGreaterThan(2);
      for (const { reservation, body: sent } of fitted) {
        const uses = Number((sent.tools?.[0] as { max_uses?: unknown } | undefined)?.max_uses);
        const server_tool_use = { web_search_requests: uses };
        reservation.settle({ usage: { input_tokens: uses * 60_000, output_tokens: sent.max_tokens, server_tool_use } });
      }
      expect(budget.spent.tokens).toBeLessThanOrEqual(limits.tokens ?? Infinity);
      expect(budget.spent.usd).toBeLessThanOrEqual(limits.usd ?? Infinity);
    }
  });

  it('that are cut off have cost what was reserved: the API counts what they found at the end', () => {
    const budget = create({ tokens: 65_000 });
    const fitted = fitBody(budget, request, { catalog });
    if ('body' in fitted) fitted.reservation.settle({ usage: { input_tokens: 9, output_tokens: 1 }, isCut: true });
    expect(budget.spent.tokens).toBeGreaterThan(64_000);
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
