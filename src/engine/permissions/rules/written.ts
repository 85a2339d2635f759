import type { PermissionBehavior } from '../../../protocol/index.js';
import { canonicalToolName, TOOL_SCHEMAS } from '../../../protocol/plain.js';
import type { WrittenRule } from '../layers.js';

/** A rule as it was written, taken apart. */
export interface Rule {
  /** As it was written. */
  text: string;
  /** The tool's present name, or a pattern of names. */
  tool: string;
  /** What stands in the brackets; undefined when the rule is about every call of the tool. */
  specifier?: string;
  /** It may be more than what is in the brackets: an object's `command` is a beginning. */
  isOpen?: boolean;
  /** What the rule's author says to those it stops. */
  reason?: string;
  /** Why it cannot mean what it says. It never means more. */
  problem?: string;
  /** An object may say itself what it does. */
  behavior?: PermissionBehavior;
}

/** As long as a command may be that is judged at all, with the name of its tool. */
const MAX_RULE_LENGTH = 10_100;

/** Takes a rule apart. One that is not well formed keeps a specifier, so that it never means more than it says. */
export function parseRule(text: string): Rule {
  if (text.length > MAX_RULE_LENGTH) {
    const [name = ''] = text.slice(0, 100).split('(');
    return { ...cutShort(text), tool: canonicalToolName(name.trim()) };
  }
  const trimmed = text.trim();
  const open = trimmed.indexOf('(');
  if (open === -1) {
    const tool = canonicalToolName(trimmed);
    if (trimmed === '') return { text, tool, specifier: '', problem: 'it is empty' };
    if (trimmed === 'mcp__') return { text, tool, specifier: '', problem: 'it names no server' };
    if (!trimmed.includes(')')) return { text, tool };
    return { text, tool, specifier: '', problem: 'its bracket was never opened' };
  }
  const tool = canonicalToolName(trimmed.slice(0, open).trim());
  const inner = trimmed.slice(open + 1);
  if (!inner.endsWith(')')) {
    const problem = inner.includes(')') ? 'something stands after its bracket' : 'its bracket is not closed';
    return { text, tool, specifier: inner, problem };
  }
  const specifier = inner.slice(0, -1);
  if (tool === '') return { text, tool: '*', specifier, problem: 'it names no tool' };
  if (!isBalanced(specifier)) return { text, tool, specifier, problem: 'its brackets do not match up' };
  return specifier.trim() === '*' ? { text, tool } : { text, tool, specifier };
}

/** Nobody wrote it by hand, and it would take long to judge by. */
const cutShort = (text: string): Omit<Rule, 'tool'> => ({
  text: `${text.slice(0, 60)}\u2026`,
  specifier: '',
  problem: `it is longer than ${MAX_RULE_LENGTH} characters`,
});

/** Brackets inside of a specifier: `Bash(echo (a))` is one rule, `Bash(a) (b)` is not. */
function isBalanced(specifier: string): boolean {
  let depth = 0;
  for (const char of specifier.replace(/\\.|'[^']*'|"[^"]*"/g, '')) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

const FILE_TOOLS = new Set([
  'Read',
  'Grep',
  'Glob',
  'Edit',
  'Write',
  'MultiEdit',
  'NotebookEdit',
  'NotebookRead',
  'LS',
]);

/** Of a rule that is an object. */
export const PARTS: ReadonlySet<string> = new Set(['tool', 'path', 'command', 'behavior', 'reason']);

/** One object may be several rules: any tool with a path is reading and editing. */
export function parseWritten(written: WrittenRule): Rule[] {
  if (typeof written === 'string') return [parseRule(written)];
  const { tool = '*', path, command, behavior, reason } = written;
  const common = {
    text: describe(written),
    ...(reason !== undefined && { reason }),
    ...(behavior !== undefined && { behavior }),
  };
  const name = canonicalToolName(tool.trim());
  const isAny = name === '*';
  // Without the word that was meant to narrow it, it would be about every call.
  const strange = Object.keys(written).find((part) => !PARTS.has(part));
  if (strange !== undefined || (path ?? command)?.trim() === '') {
    const problem =
      strange === undefined
        ? 'its path or command is empty'
        : `${JSON.stringify(strange)} is no key of a rule; known are ${[...PARTS].join(', ')}`;
    return [{ ...common, tool: name, specifier: '', problem }];
  }
  if (path !== undefined && command !== undefined) {
    return [{ ...common, tool: name, specifier: '', problem: 'no call has both a path and a command' }];
  }
  if (common.text.length > MAX_RULE_LENGTH) return [{ ...common, ...cutShort(common.text), tool: name }];
  if (command !== undefined) {
    if (!isAny && name !== 'Bash')
      return [{ ...common, tool: name, specifier: '', problem: `${name} runs no command` }];
    return [{ ...common, tool: 'Bash', specifier: command, isOpen: true }];
  }
  if (path !== undefined) {
    if (isAny) return ['Read', 'Edit'].map((each) => ({ ...common, tool: each, specifier: path }));
    if (!FILE_TOOLS.has(name))
      return [{ ...common, tool: name, specifier: '', problem: `${name} has no path that a rule could be about` }];
    return [{ ...common, tool: name, specifier: path }];
  }
  if (written.tool === undefined)
    return [{ ...common, tool: '*', specifier: '', problem: 'it names neither tool nor path nor command' }];
  return [{ ...parseRule(tool), ...common }];
}

/** Equal for rules that mean the same, however they are written: by an old name of the tool, `npm *` for `npm:*`, an object. */
export const meaningOf = (written: WrittenRule): string =>
  JSON.stringify(
    parseWritten(written).map(({ tool, specifier, isOpen }) => {
      const inner = specifier?.trim();
      if (tool !== 'Bash' || inner === undefined) return [tool, inner];
      const isPrefix = isOpen === true || /(?::|\s)\*$/.test(inner);
      return [tool, isPrefix ? `${inner.replace(/(?::|\s+)\*$/, '')}:*` : inner];
    }),
  );

function describe({ tool = '*', path, command }: Exclude<WrittenRule, string>): string {
  const inner = command ?? path;
  return inner === undefined ? tool : `${tool}(${inner})`;
}

/** Names that are no built-in tools here, but that rules of other programs hold. */
const OTHER_NAMES = new Set('MultiEdit NotebookRead LS SlashCommand Monitor McpSampling'.split(' '));

export const isKnownTool = (name: string, more: readonly string[] = []): boolean =>
  name === '*' ||
  name.startsWith('mcp__') ||
  Object.hasOwn(TOOL_SCHEMAS, name) ||
  OTHER_NAMES.has(name) ||
  more.includes(name);

/** What is wrong with the name of a tool, in words. */
export function doubtName(name: string, more: readonly string[] = []): string | undefined {
  if (isKnownTool(name, more)) return undefined;
  const known = [...Object.keys(TOOL_SCHEMAS), ...more].find((each) => each.toLowerCase() === name.toLowerCase());
  return `${JSON.stringify(name)} names no tool${known === undefined ? '' : `; did you mean ${known}?`}`;
}
