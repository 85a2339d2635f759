import { matchesGlob, parseGlob } from './rules/glob.js';
import type { Rule } from './rules/written.js';

export { parseRule, type Rule } from './rules/written.js';

/** For denying whole tools: the tool itself, all of a server, and any pattern with `*`. */
export function deniesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || (rule.tool.startsWith('mcp__') && tool.startsWith(`${rule.tool}__`))) return true;
  return rule.tool.includes('*') && matchesGlob(parseGlob(rule.tool, { onlyStars: true }), tool);
}
