import { canonicalToolName } from '../../protocol/plain.js';

/** An entry of `allowedTools` or `disallowedTools`, taken apart. */
export interface Rule {
  /** As it was written. */
  text: string;
  /** The tool's present name, or a pattern of names. */
  tool: string;
  /** What stands in the brackets; undefined when the entry is about every call of the tool. */
  specifier?: string;
}

/** Takes an entry apart. One that is not well formed keeps a specifier, so that it never means more than it says. */
export function parseRule(text: string): Rule {
  const open = text.indexOf('(');
  if (open === -1) return { text, tool: canonicalToolName(text.trim()) };
  const tool = canonicalToolName(text.slice(0, open).trim());
  const inner = text.slice(open + 1).trimEnd();
  const specifier = inner.endsWith(')') ? inner.slice(0, -1) : inner;
  return specifier === '*' ? { text, tool } : { text, tool, specifier };
}

/** For allowing: the tool itself, `*`, or all tools of one MCP server. */
export function allowsTool(rule: Rule, tool: string): boolean {
  if (rule.tool === '*' || rule.tool === tool) return true;
  const server = /^mcp__((?:(?!__).)+)(?:__\*)?$/.exec(rule.tool)?.[1];
  if (server === undefined || !tool.startsWith(`mcp__${server}__`)) return false;
  // `mcp__a__b__c` may be a tool of the server `a__b`, which nobody allowed.
  return !tool.slice(`mcp__${server}__`.length).includes('__');
}

/** For denying: as above without that doubt, and any pattern with `*`. */
export function deniesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || (rule.tool.startsWith('mcp__') && tool.startsWith(`${rule.tool}__`))) return true;
  if (!rule.tool.includes('*')) return false;
  const literal = rule.tool.split('*').map((part) => part.replace(/[^\w]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 's').test(tool);
}
