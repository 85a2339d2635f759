/**
 * A write that failed may have been carried out all the same: a commit whose answer was lost, a disk that wrote and did
 * not sync. Its lines are written again under this sign, and whoever reads them takes the first of each.
 */
const SIGN = ',"again":true}';

export const isRepeat = (line: string): boolean => line.endsWith(SIGN);

export const toRepeat = (line: string): string => (isRepeat(line) ? line : line.slice(0, -1) + SIGN);

export const firstOf = (line: string): string => (isRepeat(line) ? `${line.slice(0, -SIGN.length)}}` : line);
