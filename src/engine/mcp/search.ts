/** Finds tools by words. Pure. */
import type { Tool } from '../../protocol/index.js';

const SELECT = /^\s*select:/i;
const MAX_FOUND = 50;
const MAX_WORDS = 20;

/** Words are looked for; `select:` names tools. */
export const isSearched = (query: string): boolean => !SELECT.test(query);

export interface SearchResult {
  tools: Tool[];
  /** Named, and not there. */
  missing: string[];
}

export function searchTools(tools: readonly Tool[], query: string, max: number): SearchResult {
  if (!isSearched(query)) return selectByName(tools, query.replace(SELECT, ''));
  const words =
    query
      .toLowerCase()
      .match(/\+?[\p{L}\p{N}]+/gu)
      ?.slice(0, MAX_WORDS) ?? [];
  const required = words.filter((word) => word.startsWith('+')).map((word) => word.slice(1));
  const wanted = words.map((word) => word.replace(/^\+/, ''));
  const scored = tools.flatMap((tool) => {
    const texts = textsOf(tool);
    if (!required.every((word) => scoreWord(texts, word) > 0)) return [];
    const score = wanted.reduce((sum, word) => sum + scoreWord(texts, word), 0);
    return score === 0 ? [] : [{ tool, score }];
  });
  const best = scored.toSorted((one, other) => other.score - one.score || (one.tool.name < other.tool.name ? -1 : 1));
  return { tools: best.slice(0, Math.min(max, MAX_FOUND)).map(({ tool }) => tool), missing: [] };
}

/** A model may leave out what all names begin with, or write them in its own case. */
function selectByName(tools: readonly Tool[], list: string): SearchResult {
  const exact = new Map(tools.map((tool) => [tool.name, tool]));
  const loose = new Map<string, Tool>();
  for (const tool of tools) {
    const lower = tool.name.toLowerCase();
    for (const key of [lower, lower.replace(/^mcp__/, ''), lower.replace(/^mcp__.+?__/, '')]) {
      if (!loose.has(key)) loose.set(key, tool);
    }
  }
  const names = list.split(',').map((name) => name.trim());
  const asked = [...new Set(names.filter((name) => name !== ''))].slice(0, MAX_FOUND);
  const found = asked.map((name) => exact.get(name) ?? loose.get(name.toLowerCase()));
  return {
    tools: [...new Set(found.flatMap((tool) => tool ?? []))],
    missing: asked.filter((_, index) => found[index] === undefined),
  };
}

interface Texts {
  name: string;
  nameWords: ReadonlySet<string>;
  description: string;
  fields: string;
}

function textsOf({ name, description, inputSchema }: Tool): Texts {
  const spaced = name.replace(/^mcp__/, '').replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  const { properties } = inputSchema;
  return {
    name: name.toLowerCase(),
    nameWords: new Set(spaced.toLowerCase().split(/[^a-z0-9]+/)),
    description: description.toLowerCase(),
    fields:
      typeof properties === 'object' && properties !== null ? Object.keys(properties).join(' ').toLowerCase() : '',
  };
}

function scoreWord({ name, nameWords, description, fields }: Texts, word: string): number {
  if (nameWords.has(word)) return 10;
  if (name.includes(word)) return 5;
  if (description.includes(word)) return 2;
  return fields.includes(word) ? 1 : 0;
}
