/** What the model is told of skills before it calls one: names and descriptions. */
import type { CommandFile } from './definition.js';

const DEFAULT_MAX_CHARS = 16_000;
/** A description that is cut shorter says nothing. */
const MIN_DESCRIPTION = 20;

export interface ListingOptions {
  maxChars?: number;
}

/**
 * A line for each one that the model may call. When they are too long together, all descriptions are cut to one length, so
 * that the short ones stay whole; when that is not enough, only names are left, and at last a number of those that are not listed.
 */
export function describeSkills(
  skills: Iterable<CommandFile>,
  { maxChars = DEFAULT_MAX_CHARS }: ListingOptions = {},
): string {
  const items = [...skills]
    .filter(({ modelMayCall }) => modelMayCall)
    .map(({ name, description }) => ({ name, description: description.replace(/\s+/g, ' ').trim() }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  // "- ", ": " and the end of the line.
  const room = maxChars - items.reduce((sum, { name }) => sum + name.length + 5, 0);
  const limit = fairLimit(
    items.map(({ description }) => description.length),
    room,
  );
  if (limit >= MIN_DESCRIPTION) {
    return items.map(({ name, description }) => toLine(name, cut(description, limit))).join('\n');
  }
  return listNames(
    items.map(({ name }) => name),
    maxChars,
  );
}

const toLine = (name: string, description: string): string =>
  description === '' ? `- ${name}` : `- ${name}: ${description}`;

/** The greatest length to which all can be cut so that they fit together. */
function fairLimit(lengths: readonly number[], room: number): number {
  let left = room;
  const sorted = lengths.toSorted((one, other) => one - other);
  for (const [at, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const short = text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${short.trimEnd()}…`;
}

function listNames(names: readonly string[], maxChars: number): string {
  const lines: string[] = [];
  let length = 0;
  for (const [at, name] of names.entries()) {
    const rest = names.length - at;
    const note = `- and ${rest} more`;
    const isLast = rest === 1;
    if (length + name.length + 3 + (isLast ? 0 : note.length) > maxChars) return [...lines, note].join('\n');
    lines.push(`- ${name}`);
    length += name.length + 3;
  }
  return lines.join('\n');
}
