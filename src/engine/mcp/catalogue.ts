/**
 * Which tools of servers a model is told of, and how. What is declared at the first model call stays as it is, because a
 * change would throw the prompt cache away; what comes later, and what is too much, is found with ToolSearch.
 */
import { createSha256 } from '../workspace/sha256.js';
import type { Tool } from '../../protocol/index.js';
import type { ServerBounds } from './bounds.js';
import { isSearched, searchTools } from './search.js';

/** `auto`: schemas are deferred when they would take too much of the context. */
export type SearchMode = 'true' | 'false' | 'auto';

export interface SearchChoice {
  mode: SearchMode;
  /** With `auto`: the part of the context window that schemas may take, in percent. */
  percent: number;
}

const DEFAULT_PERCENT = 10;
const CHARS_PER_TOKEN = 4;

/** From ENABLE_TOOL_SEARCH or a setting: `true`, `false`, `auto`, `auto:<percent>`. Anything else is `auto`. */
export function readSearchChoice(text: string | undefined): SearchChoice {
  const word = text?.trim().toLowerCase() ?? '';
  if (['true', '1', 'on', 'yes'].includes(word)) return { mode: 'true', percent: 0 };
  if (['false', '0', 'off', 'no'].includes(word)) return { mode: 'false', percent: 100 };
  const percent = Number(/^auto:(\d{1,3})$/.exec(word)?.[1]);
  return { mode: 'auto', percent: percent >= 0 && percent <= 100 ? percent : DEFAULT_PERCENT };
}

export interface CataloguePlan {
  /** Declared with their schemas, sorted by name. */
  declared: Tool[];
  /** Named only, sorted by name. */
  deferred: Tool[];
  /** What the schemas of all of them would take, estimated. */
  tokens: number;
}

export interface PlanOptions {
  windowTokens: number;
  mode: SearchMode;
  percent?: number;
}

/** All schemas are declared or none: half of them would make a model believe that it has seen everything. */
export function planCatalogue(
  tools: readonly Tool[],
  { windowTokens, mode, percent = DEFAULT_PERCENT }: PlanOptions,
): CataloguePlan {
  const sorted = tools.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const tokens = toolTokens(sorted);
  const isTooMuch = mode === 'true' || (mode === 'auto' && tokens > (windowTokens * percent) / 100);
  return isTooMuch ? { declared: [], deferred: sorted, tokens } : { declared: sorted, deferred: [], tokens };
}

export const toolTokens = (tools: readonly Tool[]): number =>
  Math.ceil(tools.reduce((sum, tool) => sum + sizeUp(tool).chars, 0) / CHARS_PER_TOKEN);

/** A tool as a model is told of it. */
export const toDefinition = ({ name, description, inputSchema }: Tool): string =>
  JSON.stringify({ name, description, input_schema: inputSchema });

interface Size {
  chars: number;
  /** Equal for equal definitions. */
  mark: string;
}

const sizes = new WeakMap<Tool, Size>();

/** Looked at once: there may be thousands of them. */
function sizeUp(tool: Tool): Size {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const definition = toDefinition(tool);
  const size = { chars: definition.length, mark: createSha256().update(definition).digest('base64') };
  sizes.set(tool, size);
  return size;
}

const markOf = (tool: Tool): string => sizeUp(tool).mark;

const LINE_CHARS = 120;

/** One line of a description. */
export function firstLine(description: string): string {
  const line = description.trim().split('\n', 1)[0]?.trim() ?? '';
  return line.length <= LINE_CHARS ? line : `${line.slice(0, LINE_CHARS - 1).trimEnd()}\u2026`;
}

/** The names may take this part of the window, then their lines go; half as much more, and they are only counted. */
const NAMES_SHARE = 0.02;

/** Names with a line each, or as much of that as there is room for. */
export function listTools(tools: readonly Pick<Tool, 'name' | 'description'>[], windowTokens: number): string {
  const room = windowTokens * NAMES_SHARE * CHARS_PER_TOKEN;
  const described = tools.map(({ name, description }) => `${name}: ${firstLine(description)}`.replace(/: $/, ''));
  const whole = described.join('\n');
  if (whole.length <= room) return whole;
  const names = tools.map(({ name }) => name).join('\n');
  if (names.length <= room) return names;
  const counts = new Map<string, number>();
  for (const { name } of tools) {
    const group = /^mcp__.+?__/.exec(name)?.[0] ?? name;
    counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  return [...counts].map(([group, count]) => (count === 1 ? group : `${group}*: ${count} tools`)).join('\n');
}

export interface CatalogueParts {
  /** The tools of servers as they are now. */
  live: () => readonly Tool[];
  /** More may come by themselves. */
  mayGrow: () => boolean;
  /** Servers that are on their way. */
  pending: () => readonly string[];
  /** ToolSearch may be offered: nobody has taken it away. */
  hasSearch: boolean;
  choice: SearchChoice;
}

/** What is declared of the servers' tools. */
export interface DeclaredTools {
  /** Sorted by name. */
  tools: readonly Tool[];
  /** ToolSearch is declared with them. */
  withSearch: boolean;
}

export interface FoundTools {
  tools: Tool[];
  /** Asked for by name, and not there. */
  missing: string[];
  /** How many can only be found so. */
  hidden: number;
  pending: readonly string[];
}

export class Catalogue {
  readonly #parts: CatalogueParts;
  #declared: DeclaredTools | undefined;
  /** What the model knows of: by name, what it was told. */
  readonly #told = new Map<string, string>();

  constructor(parts: CatalogueParts) {
    this.#parts = parts;
  }

  /**
   * What is declared in requests. Fixed by the first call; only a session without ToolSearch, which has no other way to
   * them, takes up later what has come since. To be called at the start of a turn.
   */
  declare({ windowTokens }: { windowTokens: number }): DeclaredTools {
    const known = this.#declared;
    if (known !== undefined && (known.withSearch || !this.#hasNews(known))) return known;
    const { choice, hasSearch, mayGrow, live } = this.#parts;
    const maySearch = hasSearch && choice.mode !== 'false';
    const plan = planCatalogue(live(), { windowTokens, ...choice, ...(!maySearch && { mode: 'false' }) });
    const tools = plan.declared;
    this.#declared = { tools, withSearch: maySearch && (plan.deferred.length > 0 || mayGrow()) };
    for (const tool of tools) this.#told.set(tool.name, markOf(tool));
    return this.#declared;
  }

  /** The model can look for tools that are not declared. */
  get hasSearch(): boolean {
    return this.#declared?.withSearch === true;
  }

  /** What the model was not told yet of tools that it can only find: for the next message to it. Nothing without news. */
  takeNews({ windowTokens }: { windowTokens: number }): string | undefined {
    if (!this.hasSearch) return undefined;
    const live = this.#parts.live().toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const names = new Set(live.map(({ name }) => name));
    const news = Map.groupBy(live, (tool) => this.#newsOf(tool));
    const gone = [...this.#told].flatMap(([name, told]) => (names.has(name) || told === GONE ? [] : [name]));
    for (const tool of live) this.#told.set(tool.name, markOf(tool));
    if (this.#told.size > MAX_TOLD) this.retell();
    else for (const name of gone) this.#told.set(name, GONE);
    const listed = (['fresh', 'changed', 'back'] as const).flatMap((kind) => {
      const tools = news.get(kind) ?? [];
      return tools.length === 0 ? [] : [`${NEWS[kind]}\n${listTools(tools, windowTokens)}`];
    });
    if (gone.length > 0) listed.push(`${NEWS.gone}\n${listTools(gone.map(toNamed), windowTokens)}`);
    return listed.length === 0 ? undefined : listed.join('\n\n');
  }

  /** The conversation was summed up: what was told in it is told again. */
  retell(): void {
    this.#told.clear();
    for (const tool of this.#declared?.tools ?? []) this.#told.set(tool.name, markOf(tool));
  }

  /** Whole definitions, the best first. Words, or `select:` and names. What is found is told. */
  search(query: string, max: number, bounds?: ServerBounds): FoundTools {
    const live = this.#parts.live().filter(({ name }) => bounds?.permits(name) ?? true);
    const declared = new Map(this.#declared?.tools.map((tool) => [tool.name, markOf(tool)]));
    const hidden = live.filter((tool) => declared.get(tool.name) !== markOf(tool));
    const pending = this.#parts.pending().filter((server) => bounds?.reaches(server) ?? true);
    const { tools, missing } = searchTools(isSearched(query) ? hidden : live, query, max);
    for (const tool of tools) this.#told.set(tool.name, markOf(tool));
    return { tools, missing, hidden: hidden.length, pending };
  }

  #newsOf(tool: Tool): 'fresh' | 'changed' | 'back' | 'known' {
    const told = this.#told.get(tool.name);
    const mark = markOf(tool);
    if (told === mark) return 'known';
    if (told !== undefined && told !== GONE) return 'changed';
    const isDeclared = this.#declared?.tools.some((each) => markOf(each) === mark) === true;
    return isDeclared ? 'back' : 'fresh';
  }

  #hasNews({ tools }: DeclaredTools): boolean {
    const known = new Map(tools.map((tool) => [tool.name, markOf(tool)]));
    return this.#parts.live().some((tool) => known.get(tool.name) !== markOf(tool));
  }
}

const GONE = '';
/** Servers may come and go for ever; what was told is then told once more. */
const MAX_TOLD = 20_000;

const toNamed = (name: string): Pick<Tool, 'name' | 'description'> => ({ name, description: '' });

const NEWS = {
  fresh:
    'These tools can be used, too. Their definitions are not loaded: get them with ToolSearch, then call the tools by name.',
  changed: 'The definitions of these tools have changed. Get them again with ToolSearch before you call them:',
  back: 'These tools are there again:',
  gone: 'These tools are not there any more:',
} as const;
