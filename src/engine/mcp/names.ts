/** How servers, their tools and their prompts are called: `mcp__<server>__<tool>`. Pure. */
import { createSha256 } from '../workspace/sha256.js';

/** The model API takes no longer name. */
const MAX_NAME = 128;
const MAX_SERVER_NAME = 64;
const HASH_LENGTH = 6;

/** The model API takes letters, digits, `_` and `-` only. */
const clean = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_');

/** What the names of all tools of a server begin with. */
const prefixOf = (server: string): string => `mcp__${clean(server)}__`;

export const mcpToolName = (server: string, tool: string): string => {
  const name = `${prefixOf(server)}${clean(tool)}`;
  return name.length <= MAX_NAME ? name : withHash(name, tool, HASH_LENGTH);
};

/** Whether a tool is one of this server, by its name. True for one server of a session at most: see `findLikeNames`. */
export const isToolOf = (server: string, name: string): boolean => name.startsWith(prefixOf(server));

/** Marked by what its server really calls it. */
function withHash(name: string, raw: string, length: number): string {
  const hash = createSha256().update(raw).digest('hex').slice(0, length);
  return `${name.slice(0, MAX_NAME - length - 1)}_${hash}`;
}

/** Editors attach under this one by themselves; the others mean something to programs that keep tables by name. */
const isReserved = (name: string): boolean => name.toLowerCase() === 'ide' || name in Object.prototype;

/** Control characters, and those that change how others look. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Why no server can be called so. */
export function findNameFault(name: string): string | undefined {
  if (name.trim() === '') return 'it has no name';
  if (name.length > MAX_SERVER_NAME) return `its name is longer than ${MAX_SERVER_NAME} characters`;
  if (UNSEEN.test(name)) return 'its name has characters that cannot be seen';
  if (isReserved(name)) return 'its name is reserved';
  return /[a-zA-Z0-9]/.test(name) ? undefined : 'its name has no letter and no digit that names of tools can have';
}

/** A name as it is shown to people: short, and without what a terminal would act on. */
export const showName = (name: string): string => {
  const shown = name.replace(new RegExp(UNSEEN, 'gu'), '?');
  return shown.length > 80 ? `${shown.slice(0, 79)}\u2026` : shown;
};

/**
 * Finds the servers whose tools could be taken for those of another, because the names of the one begin as those of the
 * other do: `a b` and `a_b`, `a` and `a__b`. The one that is written just so keeps its name, then the shorter one, then
 * the first. Gives for each of the others the name that it is too like.
 */
export function findLikeNames(servers: readonly string[]): Map<string, string> {
  const rank = (name: string): number => prefixOf(name).length * 2 + (clean(name) === name ? 0 : 1);
  const keepers: string[] = [];
  const alike = new Map<string, string>();
  for (const name of servers.toSorted((one, other) => rank(one) - rank(other))) {
    const keeper = keepers.find((each) => prefixOf(name).startsWith(prefixOf(each)));
    if (keeper === undefined) keepers.push(name);
    else alike.set(name, keeper);
  }
  return alike;
}

/** Whether tools of the one could be taken for those of the other. */
export const isLikeName = (one: string, other: string): boolean =>
  prefixOf(one).startsWith(prefixOf(other)) || prefixOf(other).startsWith(prefixOf(one));

/** More than a server may list, with room for tools that come and go. */
const MAX_KNOWN = 20_000;

/** Gives every tool of a server a name of its own, which it keeps for as long as the session lives. */
export class ToolNames {
  readonly #server: string;
  readonly #byTool = new Map<string, string>();
  readonly #taken = new Set<string>();

  constructor(server: string) {
    this.#server = server;
  }

  /** By what the server calls them. Tools that are written just so come first, whatever the order of the list. */
  assign(tools: readonly string[]): ReadonlyMap<string, string> {
    if (this.#byTool.size > MAX_KNOWN) this.#forgetAllBut(new Set(tools));
    const fresh = [...new Set(tools)].filter((tool) => !this.#byTool.has(tool)).toSorted();
    const isExact = (tool: string): boolean => mcpToolName(this.#server, tool) === `${prefixOf(this.#server)}${tool}`;
    for (const tool of [...fresh.filter(isExact), ...fresh.filter((each) => !isExact(each))]) {
      const name = this.#freeName(tool);
      this.#byTool.set(tool, name);
      this.#taken.add(name);
    }
    return new Map(tools.map((tool) => [tool, this.#byTool.get(tool) ?? mcpToolName(this.#server, tool)]));
  }

  /** Whether a tool of the server has ever had this name. */
  has(name: string): boolean {
    return this.#taken.has(name);
  }

  #freeName(tool: string): string {
    const plain = mcpToolName(this.#server, tool);
    if (!this.#taken.has(plain)) return plain;
    for (let length = HASH_LENGTH; ; length += 2) {
      const marked = withHash(plain, tool, length);
      if (!this.#taken.has(marked) || length >= 64) return marked;
    }
  }

  #forgetAllBut(listed: ReadonlySet<string>): void {
    for (const [tool, name] of this.#byTool) {
      if (listed.has(tool)) continue;
      this.#byTool.delete(tool);
      this.#taken.delete(name);
    }
  }
}
