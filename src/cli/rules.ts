/** What the names of --tools and --disallowedTools would not do, found before anything starts. */
import type { SessionConfig } from '../protocol/index.js';
import { canonicalToolName, TOOL_SCHEMAS } from '../protocol/plain.js';
import { toVisibleLine } from './visible.js';

type Named = Partial<Pick<SessionConfig, 'tools' | 'disallowedTools'>>;

/** A denial that names nothing: it would not restrict what was meant. */
export function findIdleDenial({ disallowedTools = [] }: Named): string | undefined {
  const idle = disallowedTools.find((rule) => !deniesSomething(toolOf(rule)));
  return idle === undefined ? undefined : `--disallowedTools: ${describeUnknown(idle)}`;
}

/** What to tell a person whose names of tools are none. The engine judges rules, and tells of them itself. */
export const describeDoubts = ({ tools }: Named): string[] =>
  (Array.isArray(tools) ? tools : []).filter((name) => !isKnown(name)).map(describeUnknown);

const toolOf = (rule: string): string => (rule.split('(')[0] ?? '').trim();

const isKnown = (name: string): boolean =>
  name === '*' || name.startsWith('mcp__') || Object.hasOwn(TOOL_SCHEMAS, canonicalToolName(name));

/** Denials may be patterns of names. */
function deniesSomething(name: string): boolean {
  if (isKnown(name)) return true;
  if (!name.includes('*')) return false;
  const literal = name.split('*').map((part) => part.replace(/\W/g, '\\$&'));
  const pattern = new RegExp(`^${literal.join('.*')}$`);
  return ['mcp__', ...Object.keys(TOOL_SCHEMAS)].some((known) => pattern.test(known));
}

function describeUnknown(rule: string): string {
  const name = toolOf(rule);
  const meant = Object.keys(TOOL_SCHEMAS).find((known) => known.toLowerCase() === name.toLowerCase());
  return `${quote(name)} names no tool${meant === undefined ? '' : `; did you mean ${quote(meant)}?`}`;
}

const quote = (text: string): string => `"${toVisibleLine(text)}"`;
