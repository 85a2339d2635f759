/** Keys that were meant to be others: what is dropped in silence may be what restricts. */
import { editDistance } from './edit-distance.js';

/** A key of the value that is none of the known ones and nearly is; with the one that was probably meant. */
export function findMisspelled(value: object, known: readonly string[]): { key: string; meant: string } | undefined {
  for (const key of Object.keys(value)) {
    if (known.includes(key) || key.length > 64) continue;
    const meant = known.find((name) => isNearly(fold(key), fold(name)));
    if (meant !== undefined) return { key, meant };
  }
  return undefined;
}

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z\d]/g, '');

/** Short names are near to too many others. */
const isNearly = (key: string, name: string): boolean =>
  key === name || (name.length >= 8 && Math.abs(key.length - name.length) <= 2 && editDistance(key, name) <= 2);
