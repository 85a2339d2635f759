import { describe, expect, it } from 'vitest';
import { findLikeNames, findNameFault, isToolOf, mcpToolName, ToolNames } from '../../../src/engine/mcp/names.js';

/** The same numbers at every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
}

const PARTS = ['a', 'b', '_', '__', '-', '.', ' ', '/', 'A', '\u00e9', '\ud83d\ude00', 'get', 'mcp__', 'x'.repeat(70)];

const words = (random: (below: number) => number): string =>
  Array.from({ length: 1 + random(5) }, () => PARTS[random(PARTS.length)] ?? 'a').join('');

const shuffled = <T>(items: readonly T[], random: (below: number) => number): T[] =>
  items
    .map((item) => ({ item, at: random(1_000_000) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);

describe('names of tools', () => {
  it('are taken by the model API, belong to one server, are unique, and do not depend on the order: 500 random cases', () => {
    const random = createRandom(7);
    for (let round = 0; round < 500; round += 1) {
      const given = [...new Set(Array.from({ length: 4 }, () => words(random)))].filter((name) => !findNameFault(name));
      const alike = findLikeNames(given);
      const servers = given.filter((name) => !alike.has(name));
      const seen = new Set<string>();
      for (const server of servers) {
        const tools = [...new Set(Array.from({ length: 6 }, () => words(random)))];
        const names = new ToolNames(server).assign(tools);
        const again = new ToolNames(server).assign(shuffled(tools, random));
        for (const [tool, name] of names) {
          expect(name).toMatch(/^mcp__[a-zA-Z0-9_-]{1,123}$/);
          expect(again.get(tool)).toBe(name);
          if (name.length < 128) expect(servers.filter((each) => isToolOf(each, name))).toEqual([server]);
          expect(seen.has(name)).toBe(false);
          seen.add(name);
        }
      }
    }
  });

  it('a tool that is written just so keeps its plain name', () => {
    const names = new ToolNames('s').assign(['get.item', 'get item', 'get_item']);
    expect(names.get('get_item')).toBe('mcp__s__get_item');
    expect(names.get('get.item')).toMatch(/^mcp__s__get_item_[0-9a-f]{6}$/);
    expect(new Set(names.values()).size).toBe(3);
  });

  it('a tool keeps its name when others come and go: a call never reaches another tool than the one that was shown', () => {
    const names = new ToolNames('s');
    expect(names.assign(['get.item']).get('get.item')).toBe('mcp__s__get_item');
    const later = names.assign(['get_item', 'get.item']);
    expect(later.get('get.item')).toBe('mcp__s__get_item');
    expect(later.get('get_item')).toMatch(/^mcp__s__get_item_[0-9a-f]{6}$/);
    expect(names.assign(['get_item']).get('get_item')).toBe(later.get('get_item'));
  });

  it('names that come and go for ever are forgotten', () => {
    const names = new ToolNames('s');
    for (let round = 0; round < 30; round += 1)
      names.assign(Array.from({ length: 1_000 }, (_, at) => `t${round}-${at}`));
    expect(names.has('mcp__s__t0-0')).toBe(false);
    expect(names.has('mcp__s__t29-0')).toBe(true);
  });

  it('long ones are cut, and told apart by what was cut', () => {
    const [one, other] = [mcpToolName('s', `${'x'.repeat(200)}1`), mcpToolName('s', `${'x'.repeat(200)}2`)];
    expect(one).toHaveLength(128);
    expect(one).not.toBe(other);
  });
});
