/** Keys of an agent of the caller that were meant to be others: what should bound it must not be passed over. */
import { findNearName } from '../settings/near-name.js';

/** A key that is nearly one of these was meant to be it. */
const BOUNDS = [
  'tools',
  'disallowedTools',
  'mcpServers',
  'hooks',
  'permissionMode',
  'isolation',
  'maxTurns',
  'maxBudgetUsd',
  'maxTokens',
  'maxSeconds',
];
/** What the same is called elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  allowedtools: 'tools',
  deniedtools: 'disallowedTools',
  disabledtools: 'disallowedTools',
};

const plain = (key: string): string => key.replace(/[-_\s]/g, '').toLowerCase();

/** The first such key and what was meant. Others that are not known may be those of a later version, and do no harm. */
export function findMeantKey(definition: object, known: readonly string[]): { key: string; meant: string } | undefined {
  for (const [key, value] of Object.entries(definition)) {
    if (known.includes(key) || value === undefined) continue;
    const word = plain(key);
    const near = findNearName(word, BOUNDS);
    const meant =
      known.find((each) => plain(each) === word) ??
      (Object.hasOwn(ELSEWHERE, word) ? ELSEWHERE[word] : undefined) ??
      (near !== undefined && near.distance <= 2 ? near.name : undefined);
    if (meant !== undefined) return { key, meant };
  }
  return undefined;
}
