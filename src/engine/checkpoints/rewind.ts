/** Bringing files back: first worked out, then done, so that a preview tells what happens. */
import { dirname } from 'node:path';
import type { RewindFilesResult, Workspace } from '../../protocol/index.js';
import { codeOf, isMissing } from '../workspace/system-error.js';
import { listNames, makeFolder, removeFile, removeFolder, setMode } from './disk.js';
import { type FileNow, type FileState, inspectFile, isHash, isUnread, lookAt, refuseState } from './file-state.js';
import { countLines, type LineCount } from './line-count.js';
import type { Snapshots } from './snapshots.js';
import type { FileNote, Story, Tale } from './timeline.js';

interface Step {
  path: string;
  /** What is there now. */
  from: FileState;
  fromMode: number | undefined;
  /** What is to be there. */
  to: FileState;
  /** The mode it gets; undefined: whatever it has. */
  toMode: number | undefined;
  lines: LineCount;
}

export interface RewindPlan {
  steps: Step[];
  skippedLinks: number;
  notRestored: { path: string; reason: string }[];
}

export interface RewindParts {
  workspace: Workspace;
  snapshots: Snapshots;
  overwriteEdits: boolean;
}

const EDITED = 'Someone else has changed it since. It is restored when edits may be overwritten (overwriteEdits).';
const UNSURE =
  'It was changed while nobody could tell by whom: a process had ended, or a task ran in the background. It is restored when edits may be overwritten (overwriteEdits).';
const LINK = 'A link stands there, or on the way to it. Links are not followed.';
const SPECIAL = 'A device, pipe or socket stands there.';
const SHARED = 'The file has other names too (hard links), which would change with it.';
const PRUNED = 'Its copy is not kept any more: a session keeps the newest ones.';
const UNREAD = 'It cannot be read now, or is larger than 16 MB.';

/** Changes nothing. */
export async function planRewind({ stories, hints }: Tale, parts: RewindParts): Promise<RewindPlan> {
  const plan: RewindPlan = { steps: [], skippedLinks: 0, notRestored: [] };
  const files = stories.filter((story) => !isFolderStory(story));
  for (const story of files) await planFile(story, plan, parts);
  const folders = stories.filter(isFolderStory);
  for (const story of folders) await planFolder(story, plan, parts);
  dropBlocked(plan);
  for (const [path, reason] of hints) plan.notRestored.push({ path, reason });
  for (const step of plan.steps) step.lines = await count(step, parts);
  return plan;
}

/** About a folder that was made or removed as such. */
const isFolderStory = ({ before, known }: Story): boolean =>
  'state' in before &&
  [before.state, known ?? null].every((state) => state === null || state === 'folder') &&
  (before.state === 'folder' || known === 'folder');

async function planFile(story: Story, plan: RewindPlan, parts: RewindParts): Promise<void> {
  const { path, before } = story;
  const now = await inspectFile(parts.workspace, path);
  const leave = (reason: string): void => void plan.notRestored.push({ path, reason });
  if (!('state' in before)) return leave(before.reason);
  const toMode = decideMode(story, now, parts);
  if (now.state === before.state && toMode === undefined) return;
  if (now.state === 'link' || now.state === 'other' || now.shared) {
    plan.skippedLinks += 1;
    return leave(now.shared ? SHARED : now.state === 'link' ? LINK : SPECIAL);
  }
  if (!parts.overwriteEdits) {
    if (story.known === undefined) return leave(UNSURE);
    if (story.edited || now.state !== story.known) return leave(EDITED);
  }
  // What nobody has read can only be removed, and only when it is as the session left it.
  if (isUnread(now.state) && now.state !== story.known) return leave(UNREAD);
  if (isHash(before.state) && now.state !== before.state && !(await hasContent(before.state, parts)))
    return leave(PRUNED);
  plan.steps.push({ path, from: now.state, fromMode: now.mode, to: before.state, toMode, lines: NO_LINES });
}

const hasContent = async (hash: string, { snapshots }: RewindParts): Promise<boolean> =>
  (await snapshots.read(hash)) !== undefined;

/** The mode is set back only when the session was the last to set it. */
function decideMode({ before, knownMode }: Story, now: FileNow, { overwriteEdits }: RewindParts): number | undefined {
  if (!('state' in before) || !isHash(before.state) || before.mode === undefined) return undefined;
  if (now.state === null) return before.mode;
  if (now.mode === before.mode || (now.mode !== knownMode && !overwriteEdits)) return undefined;
  return before.mode;
}

async function planFolder({ path, before }: Story, plan: RewindPlan, { workspace }: RewindParts): Promise<void> {
  const now = await inspectFile(workspace, path);
  const to = 'state' in before ? before.state : null;
  const toMode = 'mode' in before ? before.mode : undefined;
  const isDone = to === now.state || (now.state !== null && now.state !== 'folder' && now.state !== 'link');
  if (now.state === 'link') {
    plan.skippedLinks += 1;
    plan.notRestored.push({ path, reason: LINK });
  } else if (!isDone) plan.steps.push({ path, from: now.state, fromMode: undefined, to, toMode, lines: NO_LINES });
}

/** Folders that others still use stay, and so does what cannot stand beside them. */
function dropBlocked(plan: RewindPlan): void {
  const gone = new Set(
    plan.steps.filter(({ from, to }) => from !== null && from !== 'folder' && !isHash(to)).map(({ path }) => path),
  );
  const inTheWay = plan.steps.filter(({ from }) => from === 'folder').toSorted((a, b) => b.path.length - a.path.length);
  const blocked = new Set<Step>();
  for (const step of inTheWay) {
    if (namesIn(step.path).every((name) => gone.has(`${step.path}/${name}`))) gone.add(step.path);
    else {
      blocked.add(step);
      if (step.to !== null)
        plan.notRestored.push({ path: step.path, reason: 'A folder with other files stands there.' });
    }
  }
  for (const step of plan.steps) {
    if (step.to === null || blocked.has(step) || !isUnderFile(step.path, gone)) continue;
    blocked.add(step);
    plan.notRestored.push({ path: step.path, reason: 'A file stands where its folder was.' });
  }
  plan.steps = plan.steps.filter((step) => !blocked.has(step));
}

const namesIn = (path: string): string[] => {
  try {
    return listNames(path);
  } catch {
    return [];
  }
};

function isUnderFile(path: string, gone: ReadonlySet<string>): boolean {
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const stats = lookAt(at);
    if (stats !== undefined) return !stats.isDirectory() && !gone.has(at);
  }
  return false;
}

async function count({ path, from, to }: Step, { workspace, snapshots }: RewindParts): Promise<LineCount> {
  if (from === to) return NO_LINES;
  const now = isHash(from) ? (await inspectFile(workspace, path)).content : undefined;
  const then = isHash(to) ? await snapshots.read(to) : undefined;
  return countLines(now, then);
}

const NO_LINES: LineCount = { insertions: 0, deletions: 0 };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export const toResult = ({ steps, skippedLinks, notRestored }: RewindPlan): RewindFilesResult => ({
  canRewind: true,
  filesChanged: steps
    .filter(isAboutFile)
    .map(({ path }) => path)
    .toSorted(),
  insertions: sum(steps.map(({ lines }) => lines.insertions)),
  deletions: sum(steps.map(({ lines }) => lines.deletions)),
  skippedLinks,
  ...(notRestored.length > 0 && { notRestored }),
});

const isAboutFile = ({ from, to }: Step): boolean => [from, to].some((state) => isHash(state) || isUnread(state));

/** Does what is planned; what turns out to be impossible is told instead. */
export async function carryOut(
  plan: RewindPlan,
  parts: RewindParts & { promptUuid: string; note(fields: FileNote): void },
): Promise<RewindPlan> {
  const { workspace, snapshots, promptUuid } = parts;
  const done: RewindPlan = { ...plan, steps: [], notRestored: [...plan.notRestored] };
  const unpin = snapshots.pin(plan.steps.flatMap(({ to }) => (isHash(to) ? [to] : [])));

  const attempt = async (step: Step, act: () => void | Promise<void>): Promise<void> => {
    try {
      const kept = await keepNow(step, parts);
      await act();
      const { path, from, fromMode, to } = step;
      const mode = fromMode === undefined ? {} : { mode: fromMode };
      const afterMode = step.toMode === undefined ? {} : { afterMode: step.toMode };
      const past = kept === undefined ? { before: from } : { reason: kept };
      const fields: FileNote = { promptUuid, path, ...past, ...mode, after: to, ...afterMode, rewound: true };
      parts.note(fields);
      done.steps.push(step);
    } catch (error) {
      if (codeOf(error) === 'ELOOP') done.skippedLinks += 1;
      const reason = error instanceof Error ? error.message : String(error);
      done.notRestored.push({ path: step.path, reason: `It could not be restored: ${reason}` });
    }
  };

  const byLength = (a: Step, b: Step): number => a.path.length - b.path.length;
  const isWrite = ({ to }: Step): boolean => isHash(to);
  try {
    for (const step of plan.steps.filter(({ from, to }) => from !== 'folder' && to === null)) {
      await attempt(step, () => remove(step, workspace));
    }
    const inTheWay = plan.steps.filter(({ from, to }) => from === 'folder' && to !== 'folder');
    for (const step of inTheWay.toSorted((a, b) => byLength(b, a))) {
      if (isWrite(step)) removeFolderQuietly(step.path);
      else await attempt(step, () => removeFolder(step.path));
    }
    for (const step of plan.steps.filter(({ to }) => to === 'folder').toSorted(byLength)) {
      await attempt(step, () => {
        if (step.from !== null) removeFile(step.path);
        makeFolder(step.path, step.toMode);
      });
    }
    for (const step of plan.steps.filter(isWrite)) {
      const folders = missingFolders(step.path);
      await attempt(step, () => write(step, parts));
      for (const path of folders.filter((each) => lookAt(each) !== undefined)) {
        parts.note({ promptUuid, path, before: null, after: 'folder', rewound: true });
      }
    }
  } finally {
    unpin();
  }
  return done;
}

/** So that a rewind can be taken back. A text says why not. */
async function keepNow({ path, from }: Step, { workspace, snapshots }: RewindParts): Promise<string | undefined> {
  if (!isHash(from)) return refuseState(from);
  const now = await inspectFile(workspace, path);
  if (now.state !== from) throw new Error('another program has changed it meanwhile');
  return snapshots.keep(from, now.content ?? new Uint8Array());
}

async function remove({ path }: Step, workspace: Workspace): Promise<void> {
  try {
    removeFile(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  if ((await workspace.stat(path)) !== undefined) throw new Error('files cannot be removed in this workspace');
}

/** Folders that are made with a file. */
function missingFolders(path: string): string[] {
  const missing: string[] = [];
  for (let at = dirname(path); at !== dirname(at) && lookAt(at) === undefined; at = dirname(at)) missing.push(at);
  return missing;
}

const removeFolderQuietly = (path: string): void => {
  try {
    removeFolder(path);
  } catch {
    // Writing the file says what is wrong.
  }
};

async function write({ path, from, to, toMode }: Step, { workspace, snapshots }: RewindParts): Promise<void> {
  if (from !== to && isHash(to)) {
    const content = await snapshots.read(to);
    if (content === undefined) throw new Error('its copy is gone');
    await workspace.writeFile(path, content, { exact: true });
  }
  if (toMode !== undefined && (await workspace.stat(path))?.mode !== toMode) setMode(path, toMode);
}
