/** Hides what differs from run to run, so that two runs can be compared. Pure. */

/** What is hidden, wherever it occurs, and what is shown in its place. */
export type Mask = readonly [what: string | RegExp, shown: string];

/** Ids and dates as programs write them. A date inside a longer name, such as a version, stays. */
export const DEFAULT_MASKS: readonly Mask[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/(?<![\w-])\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-])/g, '<date>'],
];

export function maskText(text: string, masks: readonly Mask[]): string {
  return masks.reduce((shown, [what, mark]) => {
    if (typeof what === 'string') return what === '' ? shown : shown.replaceAll(what, () => mark);
    const all = what.global ? what : new RegExp(what, `${what.flags}g`);
    return shown.replaceAll(all, () => mark);
  }, text);
}

/** Hides a folder and whatever lies below it, but not its namesakes: `/app` is not in `/application`. */
export function folderMask(folder: string, shown: string): Mask {
  const escaped = folder.replace(/[/\\]+$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // Some systems show the same temporary folder below /private.
  return escaped === ''
    ? ['', shown]
    : [new RegExp(`(?<![\\w.-])(?:/private)?${escaped}(?![\\w-]|\\.\\w)`, 'g'), shown];
}
