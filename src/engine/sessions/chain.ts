import { type ChainEntry, type Entry, isBoundary, isChainEntry, isLifeEntry, parseLine, toEntry } from './entry.js';
import { firstOf, isRepeat } from './repeat.js';

/** Reading goes on for so long before others of the process get their turn. */
const SLICE_MS = 10;

/** The lines of a log as entries. A large one is read in slices, so that no other session has to wait for it. */
export async function readEntries(lines: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  const links: Links = new Map();
  const isNew = createRepeatFilter(lines);
  let until = performance.now() + SLICE_MS;
  for (const line of lines) {
    const value = isNew(line) ? parseLine(line) : undefined;
    const entry = value && toEntry(value);
    if (entry !== undefined) entries.push(entry);
    else if (value !== undefined) noteLink(links, value);
    if (performance.now() < until) continue;
    await new Promise(setImmediate);
    until = performance.now() + SLICE_MS;
  }
  if (links.size === 0) return entries;
  for (const entry of entries) if (isChainEntry(entry)) links.delete(entry.uuid);
  return entries.map((entry) => withoutForeign(entry, links));
}

/** Of a line that was written again, in case it was not there, the first one counts. */
export function createRepeatFilter(lines: readonly string[]): (line: string) => boolean {
  const repeated = new Set(lines.filter(isRepeat).map(firstOf));
  if (repeated.size === 0) return () => true;
  const seen = new Set<string>();
  return (line) => {
    const first = firstOf(line);
    if (!repeated.has(first)) return true;
    return seen.size < seen.add(first).size;
  };
}

/** From the id of a line that is no entry to that of the line before it. */
type Links = Map<string, string | null>;

/** Other writers hang entries from lines that only they understand. */
function noteLink(links: Links, value: object): void {
  const { uuid, parentUuid } = value as { uuid?: unknown; parentUuid?: unknown };
  if (typeof uuid !== 'string') return;
  if (parentUuid === null || typeof parentUuid === 'string') links.set(uuid, parentUuid);
}

/** The entry, hanging from the nearest line before it that is one. */
function withoutForeign(entry: Entry, links: Links): Entry {
  if (!isChainEntry(entry)) return entry;
  const parentUuid = passForeign(entry.parentUuid, links);
  if (!isBoundary(entry)) return parentUuid === entry.parentUuid ? entry : { ...entry, parentUuid };
  return { ...entry, parentUuid, logicalParentUuid: passForeign(entry.logicalParentUuid, links) };
}

function passForeign(uuid: string | null, links: Links): string | null {
  const seen = new Set<string>();
  let near = uuid;
  for (let next = links.get(near ?? ''); near !== null && next !== undefined; next = links.get(near ?? '')) {
    if (seen.has(near)) return uuid;
    seen.add(near);
    near = next;
  }
  return near;
}

/**
 * The entries that lead to the last leaf, with the life entries among them. What other branches and other writers left
 * stays in the file but is not part of the conversation.
 */
export function toChain(all: readonly Entry[]): Entry[] {
  const links = all.filter((entry): entry is ChainEntry => isChainEntry(entry) && !entry.isSidechain);
  // A line may be there twice: then the first one counts.
  const places = new Map<string, number>();
  for (const [place, { uuid }] of links.entries()) if (!places.has(uuid)) places.set(uuid, place);
  const onChain = new Set<Entry>();
  let place = lastPlace(all, { links, places });
  for (let entry = links[place]; entry !== undefined && !onChain.has(entry); entry = links[place]) {
    onChain.add(entry);
    const parent = entry.parentUuid ?? (isBoundary(entry) ? entry.logicalParentUuid : null);
    if (!parent) break;
    // The line of a parent may be damaged: then what stands before is the best guess, and losing all of it the worst.
    const found = places.get(parent) ?? place;
    place = found < place ? found : place - 1;
  }
  if (onChain.size < links.length) for (const entry of resultsBeside(links, onChain)) onChain.add(entry);
  let kept: Entry[] = [];
  for (const entry of all) {
    if (isLifeEntry(entry) && entry.kind === 'branch') kept = cutAfter(kept, entry.at, onChain);
    if (isLifeEntry(entry) || onChain.has(entry)) kept.push(entry);
  }
  return kept;
}

/** Where the conversation ends: with what was last said, unless it went back since, and nothing was said there yet. */
function lastPlace(
  all: readonly Entry[],
  { links, places }: { links: readonly ChainEntry[]; places: ReadonlyMap<string, number> },
): number {
  const last = links.length - 1;
  const branch = all.findLast((entry) => isLifeEntry(entry) && entry.kind === 'branch');
  if (branch === undefined || !('at' in branch)) return last;
  const leaf = links[last];
  if (leaf !== undefined && all.lastIndexOf(leaf) > all.lastIndexOf(branch)) return last;
  return branch.at === null ? -1 : (places.get(branch.at) ?? last);
}

/** Other writers link a result to its call alone; when there were several calls, those of all but one are on no path. */
function resultsBeside(links: readonly ChainEntry[], onChain: ReadonlySet<Entry>): ChainEntry[] {
  const open = new Set(links.filter((entry) => onChain.has(entry)).flatMap(callsOf));
  for (const entry of onChain) for (const id of answersOf(entry)) open.delete(id);
  return links.filter((entry) => answersOf(entry).some((id) => open.delete(id)));
}

/** The conversation up to one of its entries, also of a branch that was left behind. Undefined when there is no such entry. */
export function chainTo(all: readonly Entry[], at: string): Entry[] | undefined {
  const last = all.findLastIndex((entry) => isChainEntry(entry) && !entry.isSidechain && entry.uuid === at);
  return last === -1 ? undefined : cutAfter([...toChain(all.slice(0, last + 1)), ...all.slice(last + 1)], at);
}

/**
 * What of a log still counts when the conversation goes on after one of its entries; null: before the first. What was
 * left behind once may have been gone back to: then it `stays`.
 */
export function cutAfter(entries: readonly Entry[], at: string | null, stays?: ReadonlySet<Entry>): Entry[] {
  const last = at === null ? -1 : entries.findLastIndex((entry) => isChainEntry(entry) && entry.uuid === at);
  if (last === -1 && at !== null) return [...entries];
  const before = entries.slice(0, last + 1);
  const calls = new Set(before.flatMap(callsOf));
  return [...before, ...entries.slice(last + 1).filter((entry) => stays?.has(entry) || outlivesBranch(entry, calls))];
}

/** Money that was spent, turns that changed files, and how far a call came that is still there to be answered. */
function outlivesBranch(entry: Entry, calls: ReadonlySet<string>): boolean {
  if (!isLifeEntry(entry)) return false;
  switch (entry.kind) {
    case 'session':
    case 'turn':
    case 'step':
    case 'aborted':
    case 'aside':
    case 'file':
      return true;
    case 'call':
      return calls.has(entry.toolUseId);
    case 'agent':
      return calls.has(entry.toolUseId ?? '');
    default:
      return false;
  }
}

const answersOf = (entry: Entry): string[] =>
  entry.type === 'user' && typeof entry.message.content !== 'string'
    ? entry.message.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    : [];

const callsOf = (entry: Entry): string[] =>
  entry.type === 'assistant'
    ? entry.message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
    : [];
