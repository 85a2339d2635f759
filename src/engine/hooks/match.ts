/** Which hooks an event calls for. */
import { canonicalToolName, type HookEvent, TOOL_ALIASES } from '../../protocol/plain.js';
import { HOOK_TRIGGERS } from './events.js';
import { compilePattern, PatternError } from './pattern.js';

export interface Matcher {
  /** True when any of the names is meant. */
  matches(names: readonly string[]): boolean;
  /** Why the matcher cannot be used. It then matches everything where hooks guard something, and nothing elsewhere. */
  problem?: string;
}

const EVERYTHING: Matcher = { matches: () => true };

/** Characters that make a matcher a pattern rather than names. */
const SPECIAL = /[\\^$.*+?()[\]{}]/;

const inToolNames = (char: string): boolean => /^[A-Za-z0-9_-]$/.test(char);

/**
 * Absent, empty and `*` mean everything; plain text is a name, or several with `|` between them; all else is a pattern
 * that may match anywhere in the name. Events without a name to match ignore their matchers.
 */
export function compileMatcher(text: string | null | undefined, event: HookEvent): Matcher {
  const { matchField, gate } = HOOK_TRIGGERS[event];
  const source = text?.trim() ?? '';
  if (matchField === undefined || source === '' || source === '*') return EVERYTHING;
  const possible = matchField === 'tool_name' ? inToolNames : undefined;
  try {
    return SPECIAL.test(source) ? byPattern(source, possible) : byName(source, possible);
  } catch (thrown) {
    if (!(thrown instanceof PatternError)) throw thrown;
    const effect = gate ? 'The hook runs for everything.' : 'The hook does not run.';
    const problem = `The matcher ${JSON.stringify(source)} cannot be used: ${thrown.message}. ${effect}`;
    return { matches: () => gate !== false, problem };
  }
}

function byPattern(source: string, possible: ((char: string) => boolean) | undefined): Matcher {
  const pattern = compilePattern(source, { ...(possible && { possible }) });
  return { matches: (names) => names.some((name) => pattern.test(name)) };
}

function byName(source: string, possible: ((char: string) => boolean) | undefined): Matcher {
  const wanted = new Set(
    source
      .split('|')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
  if (wanted.size === 0) throw new PatternError('it names nothing');
  const stray = [...wanted]
    .join('')
    .split('')
    .find((char) => possible?.(char) === false);
  if (stray !== undefined) throw new PatternError(`no name can contain ${JSON.stringify(stray)}`);
  return { matches: (names) => names.some((name) => wanted.has(name)) };
}

/** Every name a tool goes by. */
export function namesOfTool(name: string): string[] {
  const canonical = canonicalToolName(name);
  const aliases = Object.keys(TOOL_ALIASES).filter((alias) => TOOL_ALIASES[alias] === canonical);
  return [...new Set([name, canonical, ...aliases])];
}

/** The name in the input of an event that its matchers are about. */
export function nameToMatch(event: HookEvent, fields: Readonly<Record<string, unknown>>): string | undefined {
  const { matchField } = HOOK_TRIGGERS[event];
  const value = matchField === undefined ? undefined : fields[matchField];
  return typeof value === 'string' ? value : undefined;
}

/** All forms of that name. An event that should carry one and does not is matched by no name, only by "everything". */
export function namesToMatch(event: HookEvent, name: string | undefined): string[] {
  if (name === undefined) return [];
  return HOOK_TRIGGERS[event].matchField === 'tool_name' ? namesOfTool(name) : [name];
}

/** As messages and texts name a hook: `PreToolUse:Bash`, `SessionStart:startup`, `Stop`. */
export const hookNameOf = (event: HookEvent, name: string | undefined): string =>
  name === undefined || name === '' ? event : `${event}:${name}`;
