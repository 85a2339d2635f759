/** Whether a pattern means in JSON Schema, which has no flags and reads it as Unicode, what it means here. Pure. */
export function isPlainPattern({ source, flags }: RegExp): boolean {
  if (/[imsv]/.test(flags)) return false;
  // Without the flag these are other things: letters, or halves of characters.
  if (!flags.includes('u') && /\\[pP]|\\u\{|\\u[dD][89a-fA-F]|[\u{10000}-\u{10FFFF}]/u.test(source)) return false;
  return isPattern(source);
}

export function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** What `new URL()` takes begins so; the format `uri` takes less. */
export const URL_PATTERN = '^\\s*[a-zA-Z][a-zA-Z0-9+.\\-]*:';
