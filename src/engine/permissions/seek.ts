import { runsInProject } from './cover-command.js';
import { findHit } from './judge-command.js';
import { toLineContext } from './line-context.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import { keyOf, type Lookup } from './seen.js';
import { nameOf } from './shell/reading.js';

const MAX_LOOKUPS = 4_096;

/** What must be looked for on the disk before a shell line is judged: whatever makes a difference if it is not there. */
export function lookupsOf({ command, accesses }: PermissionCall, policy: PermissionPolicy): Lookup[] {
  if (command === undefined) return [];
  const found = new Map<string, Map<Lookup['pattern'], Lookup>>();
  let count = 0;
  const context = toLineContext(command, accesses, policy, (lookup, isSettled) => {
    const key = keyOf(lookup);
    const patterns = found.get(key) ?? new Map<Lookup['pattern'], Lookup>();
    const isNew = !patterns.has(lookup.pattern);
    if ((isNew && count >= MAX_LOOKUPS) || !isSettled()) return false;
    if (isNew) count += 1;
    found.set(key, patterns.set(lookup.pattern, lookup));
    return true;
  });
  for (const segment of context.reading.segments) if (nameOf(segment) === 'git') runsInProject(segment, context);
  const { deny, ask } = policy.book;
  // What is asked about anyway need not be looked for.
  if ([deny, ask].some((rules) => findHit(rules, context) !== undefined)) return [];
  return [...found.values()].flatMap((patterns) => [...patterns.values()]);
}
