/** Pages that were fetched a short while ago. One for each tool, so that sessions share nothing. */
import type { Clock } from '../../protocol/index.js';

const KEPT_MS = 15 * 60_000;
const MAX_PAGES = 50;
const MAX_BYTES = 25 * 1024 * 1024;

export interface CachedPage {
  /** After redirects. */
  url: string;
  code: number;
  codeText: string;
  /** Of the answer, decompressed. */
  bytes: number;
  text: string;
  /** What of the page is missing from the text, in words. */
  gap?: string;
}

export interface PageCache {
  get(url: string, clock: Clock): CachedPage | undefined;
  set(url: string, page: CachedPage, clock: Clock): void;
}

const sizeOf = ({ text }: CachedPage): number => text.length * 2;

export function createPageCache(): PageCache {
  /** Least recently used first. */
  const kept = new Map<string, { page: CachedPage; until: number }>();
  let size = 0;

  const drop = (url: string): void => {
    const found = kept.get(url);
    if (found === undefined) return;
    kept.delete(url);
    size -= sizeOf(found.page);
  };

  return {
    get(url, clock) {
      const found = kept.get(url);
      if (found === undefined) return undefined;
      if (found.until <= clock.monotonic()) {
        drop(url);
        return undefined;
      }
      kept.delete(url);
      kept.set(url, found);
      return found.page;
    },
    set(url, page, clock) {
      drop(url);
      if (sizeOf(page) > MAX_BYTES) return;
      kept.set(url, { page, until: clock.monotonic() + KEPT_MS });
      size += sizeOf(page);
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_PAGES && size <= MAX_BYTES) break;
        drop(oldest);
      }
    },
  };
}
