/** Lists of tools that name uses of a tool: `Bash(git diff:*)` gives this use of Bash, and no other. */
import { canonicalToolName } from '../../protocol/plain.js';
import type { SessionScope } from '../scope.js';
import { grant, toCase } from './decide.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import { parseRule } from './rules/written.js';
import { showCommand } from './show.js';
import { showHoles } from './shell/hole.js';
import { nameOf, type Segment } from './shell/reading.js';

/** Why a call is outside of what the lists of its agent, and of those that started it, name; undefined when it is not. */
export async function findOutside(
  { within = [], guard }: Pick<SessionScope, 'within' | 'guard'>,
  call: PermissionCall,
  policy: PermissionPolicy,
): Promise<string | undefined> {
  const tool = canonicalToolName(call.tool);
  for (const { agent, tools } of within) {
    const uses = usesOf(tools, tool);
    if (uses === undefined) continue;
    const more = findMore(call, { ...policy, book: await guard.only(uses), mode: 'default' });
    if (more === undefined) continue;
    const detail = more === '' ? '' : ` (${more})`;
    return `The agent ${agent} may use ${tool} only as ${uses.join(', ')} says, and this call is more than that${detail}.`;
  }
  return undefined;
}

/** What a list says of the uses of a tool; undefined when it gives all of it, or none. */
export function usesOf(tools: readonly string[], tool: string): string[] | undefined {
  const own = tools.map((text) => parseRule(text)).filter((rule) => rule.tool === tool || rule.tool === '*');
  if (own.length === 0 || own.some(({ specifier }) => specifier === undefined)) return undefined;
  return own.flatMap(({ text, specifier = '' }) =>
    // Several agents may stand in one pair of brackets.
    tool === 'Task' && specifier.includes(',') ? specifier.split(',').map((name) => `Task(${name.trim()})`) : [text],
  );
}

/** The part of a call that the rules do not name, empty when that is all of it. Where it is not sure, it is more. */
function findMore(call: PermissionCall, policy: PermissionPolicy): string | undefined {
  const subject = toCase(call, policy);
  if (subject.line === undefined) return grant(subject) === undefined ? '' : undefined;
  const { refusal, open = [], unnamed = [], edits } = subject.line.outcome();
  const [other] = [...open, ...unnamed.filter((segment) => !isIdle(segment))];
  if (other !== undefined) {
    const command = showCommand(showHoles(other.words.map(({ value }) => value).join(' ')));
    // One that a rule names may be more because of what stands beside it.
    const isNamed = other === open[0] && refusal !== undefined && !refusal.reason.startsWith(UNNAMED);
    return isNamed ? `${command}: ${refusal.reason}` : command;
  }
  return refusal?.reason ?? (edits ? 'it changes files' : undefined);
}

/** What is said of a command that no rule names. */
const UNNAMED = 'This command requires approval';

/** It does nothing by itself. */
const isIdle = (segment: Segment): boolean => segment.isFunction === true || IDLE.has(nameOf(segment) ?? '');
const IDLE: ReadonlySet<string> = new Set(['cd', 'true', 'false', ':']);
