/** The fields that grant or restrict. However they are written, they are known; and what may be one is never text. */

/** By the names under which readers look for them. */
const GUARDED = [
  'tools',
  'allowed-tools',
  'disallowedTools',
  'permissionMode',
  'hooks',
  'mcpServers',
  'maxTurns',
  'maxBudgetUsd',
  'maxTokens',
  'maxSeconds',
  'isolation',
  'disable-model-invocation',
  'hide-from-slash-command-tool',
  'user-invocable',
] as const;
export type GuardedKey = (typeof GUARDED)[number];

export const TOOL_LISTS: ReadonlySet<string> = new Set<GuardedKey>(['tools', 'allowed-tools', 'disallowedTools']);

/** Letter case, hyphens, blanks and signs that nobody sees make no other key. */
const normalize = (key: string): string =>
  key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

const BY_NORMAL: ReadonlyMap<string, GuardedKey> = new Map(GUARDED.map((key) => [normalize(key), key]));

export const guardedKey = (written: string): GuardedKey | undefined => BY_NORMAL.get(normalize(written));

/** A line that is no field, and looks as if it was meant as one that is guarded. */
export interface Doubt {
  key: GuardedKey;
  /** Counts from 1, in the file. */
  line: number;
}

export const describeDoubt = (key: GuardedKey): string =>
  `this line looks like the field "${key}", and cannot be read as one: begin it at the start of the line, as "${key}: "`;

const SIGNED = /^[\s"'`]*([A-Za-z][^:=\uff1a]{3,40}?)["'`]*\s*(?:[:=\uff1a]|->)/;
/** Such a word begins no sentence. */
const COMPOUND = /^([a-z]+(?:[-_][a-z]+|[A-Z][a-z]+)+)(?:\s|$)/;

/** `disallowedTools:Bash`, `disallowedTools = Bash`, one that is indented, one without its colon. */
export function findDoubt(text: string, line: number): Doubt[] {
  const key = guardedKey(SIGNED.exec(text)?.[1] ?? COMPOUND.exec(text)?.[1] ?? '');
  return key === undefined ? [] : [{ key, line }];
}

/** A guarded key in the table that a field holds. */
export function findInside(value: unknown, line: number, depth = 0): Doubt[] {
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  if (Array.isArray(value)) return value.flatMap((each) => findInside(each, line, depth + 1));
  return Object.entries(value).flatMap(([written, each]) => {
    const key = guardedKey(written);
    return [...(key === undefined ? [] : [{ key, line }]), ...findInside(each, line, depth + 1)];
  });
}
