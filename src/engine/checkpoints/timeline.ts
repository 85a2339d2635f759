/** What became of files, turn by turn: pure, from the entries of the log and from what is noted since. */
import { type Entry, type FileEntry, isLifeEntry } from '../sessions/entry.js';
import { type FileState, isHash } from './file-state.js';

/** A file entry as it is noted. */
export type FileNote = Omit<FileEntry, 'type' | 'kind' | 'sessionId' | 'timestamp' | 'forked'>;

interface Segment {
  promptUuid: string;
  rewound: boolean;
  /** Changes were noted then. */
  covered: boolean;
  notes: FileNote[];
  /** The first note about each path. */
  firsts: Map<string, FileNote>;
}

/** What happened to one path since a turn began. */
export interface Story {
  path: string;
  /** As it was when the turn began. */
  before: { state: FileState; mode?: number } | { reason: string };
  /** What the session knows to be there now; undefined when it ended in the middle of a change. */
  known: FileState | undefined;
  knownMode: number | undefined;
  /** Someone else has, or may have, changed it in between. */
  edited: boolean;
}

export interface Timeline {
  /** Distinct prompts. */
  readonly turns: number;
  begin(promptUuid: string): void;
  add(note: FileNote): void;
  /** Whether files can be rewound to that prompt. */
  has(promptUuid: string): boolean;
  /** The first note about a path in the current part of a turn. */
  firstNote(promptUuid: string, path: string): FileNote | undefined;
  /** The state the session left a path in; undefined when it knows of none. */
  known(path: string): FileState | undefined;
  knownMode(path: string): number | undefined;
  /** Where paths stand that are not folders. */
  table(): Record<string, FileState>;
  since(promptUuid: string): Tale;
  /** The hashes that rewinds need, newest first; `current` of them are needed by the newest turn. */
  needed(): { hashes: string[]; current: number };
}

export interface Tale {
  stories: Story[];
  /** What could not be looked at: path to reason. */
  hints: Map<string, string>;
  /** Changes of a later turn were not noted. */
  gaps: boolean;
}

export function createTimeline(entries: readonly Entry[]): Timeline {
  const segments: Segment[] = [];
  const prompts = new Set<string>();
  const known = new Map<string, FileState | undefined>();
  const modes = new Map<string, number>();
  let covered = false;

  const push = (promptUuid: string, rewound = false): Segment => {
    if (!rewound) prompts.add(promptUuid);
    const segment: Segment = { promptUuid, rewound, covered, notes: [], firsts: new Map() };
    segments.push(segment);
    return segment;
  };
  const begin = (promptUuid: string): void => {
    const last = segments.at(-1);
    if (last === undefined || last.rewound || last.promptUuid !== promptUuid) push(promptUuid);
  };
  /** A note that comes late belongs to its turn, unless files were rewound since. */
  const segmentOf = (promptUuid: string): Segment | undefined => {
    if (segments.at(-1)?.rewound) return undefined;
    return segments.findLast((segment) => !segment.rewound && segment.promptUuid === promptUuid);
  };
  const add = (note: FileNote): void => {
    covered = true;
    let segment = segmentOf(note.promptUuid);
    if (note.rewound) {
      const last = segments.at(-1);
      segment = last?.rewound && last.promptUuid === note.promptUuid ? last : push(note.promptUuid, true);
    }
    segment ??= push(note.promptUuid);
    segment.covered = true;
    if (note.begins) return;
    segment.notes.push(note);
    if (isHint(note)) return;
    if (!segment.firsts.has(note.path)) segment.firsts.set(note.path, note);
    known.set(note.path, note.after);
    const mode = note.afterMode ?? note.mode;
    if (mode !== undefined) modes.set(note.path, mode);
  };

  for (const entry of entries) {
    if (!isLifeEntry(entry)) continue;
    if (entry.kind === 'session') covered = false;
    else if (entry.kind === 'turn' && entry.state === 'started' && entry.promptUuid) begin(entry.promptUuid);
    else if (entry.kind === 'file') add(entry);
  }

  const startOf = (promptUuid: string): number =>
    segments.findIndex((segment) => !segment.rewound && segment.promptUuid === promptUuid);

  return {
    get turns() {
      return prompts.size;
    },
    begin,
    add,
    has: (promptUuid) => segments.some((segment) => segment.covered && segment.promptUuid === promptUuid),
    firstNote: (promptUuid, path) => segmentOf(promptUuid)?.firsts.get(path),
    known: (path) => known.get(path),
    knownMode: (path) => modes.get(path),
    table: () =>
      Object.fromEntries([...known].flatMap(([path, state]) => (state === undefined ? [] : [[path, state]]))),
    since(promptUuid) {
      const start = startOf(promptUuid);
      const later = segments.slice(start);
      const hints = new Map<string, string>();
      const byPath = new Map<string, Placed[]>();
      for (const [offset, segment] of later.entries()) {
        for (const note of segment.notes) {
          if (isHint(note)) hints.set(note.path, note.reason ?? '');
          else
            byPath
              .set(note.path, byPath.get(note.path) ?? [])
              .get(note.path)
              ?.push({ note, at: start + offset });
        }
      }
      const stories = [...byPath].map(([path, placed]) => tell(path, placed, { start, startOf }));
      return { stories, hints, gaps: later.some((segment) => !segment.covered) };
    },
    needed() {
      const hashes = new Set<string>();
      let current = 0;
      for (const [index, segment] of segments.toReversed().entries()) {
        for (const { before } of segment.notes) if (isHash(before)) hashes.add(before);
        if (index === 0) current = hashes.size;
      }
      return { hashes: [...hashes], current };
    },
  };
}

/** It tells of a place that was not looked at, not of a change. */
const isHint = (note: FileNote): boolean => note.before === undefined && note.after === undefined;

interface Placed {
  note: FileNote;
  /** The segment it is in. */
  at: number;
}

interface Places {
  start: number;
  startOf(promptUuid: string): number;
}

function tell(path: string, placed: readonly Placed[], places: Places): Story {
  const [first] = placed;
  const { before, mode, reason = 'It was not kept.' } = first?.note ?? { promptUuid: '', path };
  const story: Story = {
    path,
    before: before === undefined ? { reason } : { state: before, ...(mode !== undefined && { mode }) },
    known: undefined,
    knownMode: mode,
    edited: false,
  };
  for (const [index, { note }] of placed.entries()) {
    if (index > 0 && note.before !== undefined && note.before !== story.known) story.edited = true;
    if (note.rewound) story.edited = wasEdited(path, placed.slice(0, index), { note, places });
    story.known = note.after;
    if (note.mode !== undefined) story.knownMode = note.mode;
    if (note.afterMode !== undefined) story.knownMode = note.afterMode;
  }
  return story;
}

/** A rewind brings back what was there when its prompt came: with what others had changed until then, and no more. */
function wasEdited(path: string, earlier: readonly Placed[], { note, places }: { note: FileNote; places: Places }) {
  const goal = places.startOf(note.promptUuid);
  const until = earlier.filter(({ at }) => at < goal);
  if (goal <= places.start || until.length === 0) return false;
  const then = tell(path, until, places);
  return then.edited || then.known !== note.after;
}
