import { describe, expect, it } from 'vitest';
import { contextTokens } from '../../src/engine/compaction/size.js';
import { scaleTo } from '../../src/engine/context-usage/sizes.js';
import { type ContextParts, contextUsage } from '../../src/engine/context-usage/usage.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { ContextUsage } from '../../src/protocol/context-usage.js';

const tool = (name: string, length = 400) => ({
  name,
  description: 'd'.repeat(length),
  input_schema: { type: 'object' as const },
});
const said = (text: string): Entry =>
  ({ type: 'user', message: { role: 'user', content: text }, writer: 'heddle' }) as unknown as Entry;
const answered = (id: string, text: string): Entry =>
  ({
    type: 'assistant',
    writer: 'heddle',
    message: { id, role: 'assistant', content: [{ type: 'text', text }], usage: { input_tokens: 0, output_tokens: 0 } },
  }) as unknown as Entry;
const counted = (messageId: string, input_tokens: number, output_tokens: number): Entry =>
  ({ type: 'heddle', kind: 'step', messageId, usage: { input_tokens, output_tokens } }) as unknown as Entry;

const parts = (fields: Partial<ContextParts> = {}): ContextParts => ({
  model: 'a-model',
  window: 200_000,
  compactAt: 167_000,
  system: ['s'.repeat(4_000)],
  tools: [tool('Read'), tool('mcp__git__log'), tool('Bash')],
  entries: [said('x'.repeat(8_000))],
  ...fields,
});

const sizeOf = (usage: ContextUsage, id: string): number =>
  usage.categories.find((category) => category.id === id)?.tokens ?? 0;
const sumOf = (usage: ContextUsage, kind: string): number =>
  usage.categories.filter((category) => category.kind === kind).reduce((sum, { tokens }) => sum + tokens, 0);

describe('what fills the context', () => {
  it('is guessed before the first answer', () => {
    const usage = contextUsage(parts());
    expect(sizeOf(usage, 'system_prompt')).toBe(1_000);
    expect(sizeOf(usage, 'messages')).toBe(2_000);
    expect(sizeOf(usage, 'system_tools')).toBeGreaterThan(2 * sizeOf(usage, 'mcp_tools') - 10);
    expect(usage.mcpTools).toEqual([
      { name: 'mcp__git__log', serverName: 'git', tokens: sizeOf(usage, 'mcp_tools'), isLoaded: true },
    ]);
    expect(usage.systemTools?.map(({ name }) => name)).toEqual(['Read', 'Bash']);
    expect(usage).toMatchObject({ model: 'a-model', maxTokens: 200_000, rawMaxTokens: 200_000, percentage: 2 });
  });

  it('comes to what the API counted, to the token', () => {
    const entries = [said('x'.repeat(8_000)), answered('m', 'y'.repeat(400)), counted('m', 50_000, 100), said('more!')];
    const usage = contextUsage(parts({ entries }));
    expect(usage.totalTokens).toBe(contextTokens(entries));
    expect(usage.totalTokens).toBe(50_102);
    expect(sumOf(usage, 'used')).toBe(50_102);
    // In the proportion of the guesses.
    const guess = contextUsage(parts({ entries: entries.filter(({ type }) => type !== 'heddle') }));
    expect(sizeOf(usage, 'system_prompt') / 50_102).toBeCloseTo(sizeOf(guess, 'system_prompt') / guess.totalTokens, 3);
  });

  it('is guessed again where the counted answer is no longer part of it', () => {
    const summary = { ...said('A summary.'), isCompactSummary: true } as Entry;
    const usage = contextUsage(parts({ entries: [answered('m', 'y'), counted('m', 150_000, 1), summary] }));
    expect(usage.totalTokens).toBeLessThan(2_000);
    expect(sizeOf(usage, 'system_prompt')).toBe(1_000);
  });

  it('adds up to the window: used, free and kept for compaction', () => {
    const usage = contextUsage(parts());
    expect(sumOf(usage, 'used')).toBe(usage.totalTokens);
    expect(sizeOf(usage, 'compact_buffer')).toBe(33_000);
    expect(usage.totalTokens + sizeOf(usage, 'free') + 33_000).toBe(200_000);
    expect(usage).toMatchObject({ autoCompactThreshold: 167_000, isAutoCompactEnabled: true });
    const off = contextUsage(parts({ compactAt: undefined }));
    expect(sizeOf(off, 'compact_buffer')).toBe(0);
    expect(off.totalTokens + sizeOf(off, 'free')).toBe(200_000);
    expect(off.isAutoCompactEnabled).toBe(false);
  });

  it('tells memory, skills and agents apart from what was said', () => {
    const text = (name: string, length: number) => ({ name, source: 'project', text: 't'.repeat(length) });
    const memory = [text('CLAUDE.md', 400), text('sub/AGENTS.md', 40)];
    const usage = contextUsage(parts({ memory, skills: [text('pdf', 80)], agents: [text('Explore', 120)] }));
    expect(sizeOf(usage, 'memory_files')).toBe(110);
    expect(sizeOf(usage, 'messages')).toBe(2_000 - 110 - 20 - 30);
    expect(usage.memoryFiles).toEqual([
      { path: 'CLAUDE.md', type: 'project', tokens: 100 },
      { path: 'sub/AGENTS.md', type: 'project', tokens: 10 },
    ]);
    expect(usage.skills).toMatchObject({ totalSkills: 1, tokens: 20 });
    expect(usage.agents).toEqual([{ agentType: 'Explore', source: 'project', tokens: 30 }]);
    // Before they are said, they are there all the same, and nothing is below zero.
    const early = contextUsage(parts({ memory, entries: [] }));
    expect([sizeOf(early, 'messages'), sizeOf(early, 'memory_files')]).toEqual([0, 110]);
  });

  it('leaves tools on demand out of the sum', () => {
    const usage = contextUsage(parts({ deferredTools: [tool('mcp__far__a', 4_000)] }));
    expect(usage.totalTokens).toBe(contextUsage(parts()).totalTokens);
    expect(usage.categories).toContainEqual(expect.objectContaining({ id: 'deferred_tools', isDeferred: true }));
    expect(usage.mcpTools?.at(-1)).toMatchObject({ serverName: 'far', isLoaded: false });
  });

  it('may be more than fits', () => {
    const usage = contextUsage(parts({ window: 1_000, compactAt: 750 }));
    expect(usage.percentage).toBeGreaterThan(100);
    expect(sizeOf(usage, 'free')).toBe(0);
    expect(usage.gridRows?.flat()).toHaveLength(100);
    expect(
      contextUsage(parts({ window: 0 }))
        .gridRows?.flat()
        .every(({ percentage }) => percentage >= 0),
    ).toBe(true);
  });

  it('is drawn as a hundred squares, one at least for each', () => {
    const usage = contextUsage(parts());
    const squares = usage.gridRows?.flat() ?? [];
    expect(usage.gridRows).toHaveLength(10);
    expect(squares).toHaveLength(100);
    for (const { name, tokens } of usage.categories) {
      const count = squares.filter(({ categoryName }) => categoryName === name).length;
      expect(count).toBeGreaterThan(0);
      if (tokens > 20_000) expect(Math.abs(count - tokens / 2_000)).toBeLessThan(5);
    }
    expect(squares[0]).toMatchObject({ categoryName: 'System prompt', isFilled: true, squareFullness: 0.5 });
    expect(squares.at(-1)).toMatchObject({ categoryName: 'Compaction buffer', isFilled: false });
  });

  it('is what the protocol says it is', () => {
    const usage = contextUsage(parts({ deferredTools: [tool('mcp__a__b')] }));
    expect(ContextUsage().parse(usage)).toEqual(usage);
    expect(ContextUsage().safeParse({ categories: [], totalTokens: 0, maxTokens: 1, percentage: 0 }).success).toBe(
      true,
    );
    expect(ContextUsage().safeParse({ ...usage, totalTokens: 'many' }).success).toBe(false);
  });
});

describe('shares', () => {
  it.each([
    [[1, 1, 1], 10, [4, 3, 3]],
    [[0, 0], 7, [0, 0]],
    [[5], 0, [0]],
    [[1, 2, 97], 100, [1, 2, 97]],
  ])('of %j in %i', (sizes, total, expected) => {
    expect(scaleTo(sizes, total)).toEqual(expected);
  });
});
