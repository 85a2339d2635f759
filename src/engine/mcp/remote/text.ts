/** Words of servers, before anybody sees them: none hides anything, none is without end. */

/** What no reader sees but a terminal or a model obeys: control characters, text direction, invisible letters and tags. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;

export function toPlainText(text: string, max: number): string {
  // A text that is far too long is not worth looking through.
  const plain = text.slice(0, 2 * max).replace(HIDDEN, '');
  return plain.length > max ? `${plain.slice(0, max - 1)}…` : plain;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How long a value is as JSON; without end when it cannot be written, because it is nested too deep. */
export function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The same for sums: what is nested too deep is left out by whoever looks at it. */
export function finiteLength(value: unknown): number {
  const length = jsonLength(value);
  return Number.isFinite(length) ? length : 0;
}
