/** Keeps what files were before a session changed them, turn by turn, and brings them back. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock, Logger, RewindFilesResult, Workspace } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Entry, FileEntry } from '../sessions/entry.js';
import { makeFolders } from '../workspace/folders.js';
import { replaceOwnFile } from '../workspace/own-file.js';
import { type Change, type Past, TOO_MUCH } from './changes.js';
import { createExclusion } from './exclusion.js';
import { type FileNow, inspectFile, isHash, refuseState } from './file-state.js';
import { createSnapshots, SNAPSHOT_LIMITS, type SnapshotLimits } from './snapshots.js';
import type { Survey, SurveyLimits } from './survey.js';
import { createTimeline, type FileNote } from './timeline.js';

/** A call that is not read-only. */
export interface CheckpointedCall {
  toolUseId: string;
  tool: string;
  edits: boolean;
  /** The files it will write, links resolved. */
  writes: readonly string[];
  /** It may change any file of the working directories. */
  shell: boolean;
}

export interface PersistedFiles {
  files: { filename: string; file_id: string }[];
  failed: { filename: string; error: string }[];
}

export interface Checkpoints {
  /** A turn starts. */
  begin(promptUuid: string): void;
  /** Before the call is recorded as started: what is noted here must be on the disk with it. Never throws. */
  beforeCall(call: CheckpointedCall): Promise<void>;
  /** After the call, however it ended. Never throws. */
  afterCall(call: CheckpointedCall): Promise<void>;
  /** The turn is over. Never throws. */
  end(): Promise<PersistedFiles>;
  /** Files as they were before the turn of that prompt. Throws `checkpoint_not_found`. */
  rewind(promptUuid: string, options?: { dryRun?: boolean; overwriteEdits?: boolean }): Promise<RewindFilesResult>;
  /** The session ends, and its tasks have. Never throws. */
  close(): Promise<void>;
}

export interface CheckpointParts {
  /** `<configDir>/sessions/<sessionId>`, or a folder that goes when the session ends. */
  folder: string;
  configDir: string;
  workspace: Workspace;
  clock: Clock;
  logger: Logger;
  roots(): readonly string[];
  cwd: string;
  childEnv: Readonly<Record<string, string>>;
  /** Of the log that is resumed. */
  entries: readonly Entry[];
  /** Appends the entry. */
  note(fields: Omit<FileEntry, 'type' | 'sessionId' | 'timestamp'>): void;
  log: { position(): { entries: number; leaf: string | null } };
  permissionState(): unknown;
  /** Whether a task of the session runs in the background. When absent, nobody knows who changed what between calls. */
  background?(): boolean;
  /** Resolves when the next one of those tasks ends. */
  taskEnd?(): Promise<void>;
  limits?: Partial<SnapshotLimits> & { survey?: Partial<SurveyLimits> };
}

const CHECKPOINT_TURNS = 5;
/** Lines in the log about one command. */
const MAX_NOTES = 2_000;

/** Who changed what is found. Where nobody can tell, it is listed and not taken back unasked. */
type Author = 'session' | 'unsure';

interface OpenTurn {
  promptUuid: string;
  files: Map<string, string>;
  failed: Map<string, string>;
  /** Commands that run. */
  commands: number;
  /** What calls will write and no look would find, with the folders they will make for it, by call. */
  named: Map<string, { paths: string[]; folders: string[] }>;
  hints: Set<string>;
}

export function createCheckpoints(parts: CheckpointParts): Checkpoints {
  const { workspace, logger, limits = {} } = parts;
  const timeline = createTimeline(parts.entries);
  const snapshots = createSnapshots({
    folder: join(parts.folder, 'file-snapshots'),
    limits: { ...SNAPSHOT_LIMITS, ...limits },
    needed: () => timeline.needed(),
  });
  const surveyFolder = join(parts.folder, 'survey');
  let opened: Promise<Survey> | undefined;
  let turn: OpenTurn | undefined;
  let hasBegun = false;
  let hasRecovered = false;
  /** The turn that a look at the folders was taken in, as long as there is something to compare with it. */
  let watched: string | undefined;
  /** A task ran when that look was taken. */
  let hadTask = false;
  let isAwaiting = false;
  /** What calls were seen to write since: a change of it is no news. */
  let written = new Set<string>();

  const note = (fields: FileNote): void => {
    timeline.add(fields);
    parts.note({ kind: 'file', ...fields });
  };

  const openSurvey = (): Promise<Survey> => {
    opened ??= import('./survey.js').then(({ createSurvey, SURVEY_LIMITS }) =>
      createSurvey({
        folder: surveyFolder,
        workspace,
        clock: parts.clock,
        env: parts.childEnv,
        isExcluded: createExclusion(parts),
        limits: { ...SURVEY_LIMITS, ...limits.survey },
      }),
    );
    return opened;
  };

  /** One after the other: a look must not fall into the middle of another one. */
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act);
    last = next.catch(() => undefined);
    return next;
  };
  const careful = (what: string, act: () => Promise<void>): Promise<void> =>
    act().catch((error: unknown) => logger('warn', `Checkpoints: ${what} failed`, { error: String(error) }));
  const quietly = (what: string, act: () => Promise<void>): Promise<void> =>
    inOrder(() =>
      careful(what, async () => {
        await recover();
        await act();
      }),
    );

  /** Keeps a content; gives what the note says of it. */
  const keep = async (
    { promptUuid, path }: Pick<FileNote, 'promptUuid' | 'path'>,
    past: Past,
  ): Promise<Pick<FileNote, 'before' | 'mode' | 'reason'>> => {
    if (!('state' in past)) return { reason: past.reason };
    const { state, mode, content } = past;
    const told = turn?.promptUuid === promptUuid ? turn : undefined;
    let reason = refuseState(state);
    if (reason === undefined && isHash(state)) {
      reason = content === undefined ? 'It was not kept.' : await snapshots.keep(state, content);
    }
    if (reason !== undefined) {
      told?.failed.set(path, reason);
      return { reason };
    }
    if (isHash(state)) told?.files.set(path, state);
    return { before: state, ...(mode !== undefined && { mode }) };
  };

  /** What the note says of how the session left it; `mode` is the one before, where no note says it yet. */
  const tellAfter = (place: Pick<FileNote, 'path' | 'mode'>, now: FileNow): Partial<FileNote> => {
    const mode = place.mode ?? timeline.knownMode(place.path);
    return { after: now.state, ...(now.mode !== undefined && now.mode !== mode && { afterMode: now.mode }) };
  };

  const hint = (promptUuid: string, path: string, reason: string): void => {
    const key = `${promptUuid} ${path}`;
    if (turn?.hints.has(key)) return;
    turn?.hints.add(key);
    note({ promptUuid, path, reason });
  };

  /** Notes what the survey finds to be different. */
  const recordChanges = async (promptUuid: string, author: Author): Promise<void> => {
    const survey = await openSurvey();
    let count = 0;
    for await (const change of survey.changes()) {
      count += 1;
      if (count <= MAX_NOTES) await recordChange(promptUuid, change, author);
    }
    written = new Set();
    if (count <= MAX_NOTES) return;
    hint(promptUuid, parts.cwd, `${count - MAX_NOTES} more files were changed at once than are noted.`);
  };

  const recordChange = async (promptUuid: string, change: Change, author: Author): Promise<void> => {
    const { path } = change;
    if ('hint' in change) return hint(promptUuid, path, change.hint);
    const { before, after } = change;
    const isFirst = timeline.firstNote(promptUuid, path) === undefined;
    let fields: Partial<FileNote> = {};
    if (isFirst) fields = await keep({ promptUuid, path }, before);
    else if (written.has(path)) {
      if (after.state === timeline.known(path)) return;
    } else if ('state' in before && before.state !== timeline.known(path)) fields = { before: before.state };
    const isSettled = author === 'session' || (isFirst && fields.before === undefined);
    if (isSettled) fields = { ...fields, ...tellAfter({ path, ...fields }, after) };
    else fields.before ??= timeline.known(path) ?? null;
    note({ promptUuid, path, ...fields });
  };

  /** Of what was changed while no call ran; undefined: surely someone else. */
  const authorBetween = (): Author | undefined => {
    if (parts.background === undefined) return 'unsure';
    return hadTask || parts.background() ? 'session' : undefined;
  };

  /** A process that ended in the middle of a command has left a look at the folders; what differs since may be anyone's. */
  const recover = async (): Promise<void> => {
    if (hasRecovered) return;
    hasRecovered = true;
    if (!existsSync(join(surveyFolder, 'running'))) return;
    try {
      const survey = await openSurvey();
      const promptUuid = survey.interrupted();
      if (promptUuid !== undefined && timeline.has(promptUuid)) await recordChanges(promptUuid, 'unsure');
      survey.setRunning(undefined);
    } catch (error) {
      logger('warn', 'Checkpoints: what an earlier process did is not known', { error: String(error) });
    }
  };

  /** Looks at the folders, for what is changed from here on. */
  const takeLook = async (promptUuid: string, named: readonly string[] = []): Promise<void> => {
    const survey = await openSurvey();
    watched = promptUuid;
    written = new Set();
    try {
      const roots = await Promise.all(parts.roots().map((root) => workspace.realPath(root)));
      await survey.take(roots, named);
      survey.setRunning(promptUuid);
    } catch (error) {
      hint(promptUuid, parts.cwd, 'It could not be looked at, so that what changed in it is not known.');
      throw error;
    }
    for (const path of survey.unseen()) hint(promptUuid, path, TOO_MUCH);
  };

  /** There is nothing to compare with any more. */
  const stopLooking = async (): Promise<void> => {
    if (watched === undefined) return;
    watched = undefined;
    (await openSurvey()).setRunning(undefined);
  };

  /** Notes what was changed while no call ran. After a turn it may be the user's work, whatever task runs. */
  const catchUp = async (): Promise<void> => {
    if (watched === undefined) return;
    const author = turn?.promptUuid === watched ? authorBetween() : authorBetween() && 'unsure';
    if (author !== undefined) await recordChanges(watched, author);
    hadTask = parts.background?.() ?? false;
  };

  /** A task may run on after its turn: what it changes until then must not become work of the next turn. */
  const watchOn = async (promptUuid: string): Promise<void> => {
    await catchUp();
    if (watched === undefined) return;
    if (hadTask) await takeLook(promptUuid);
    else await stopLooking();
  };

  /** What changes after the last task has ended is someone else's. */
  const awaitTasks = async (): Promise<void> => {
    if (isAwaiting || parts.taskEnd === undefined) return;
    isAwaiting = true;
    while (watched !== undefined && hadTask) {
      await parts.taskEnd();
      await quietly('the look after a task', async () => {
        await catchUp();
        if (turn === undefined && !hadTask) await stopLooking();
      });
    }
    isAwaiting = false;
  };

  const beforeCommand = async (open: OpenTurn, { writes }: CheckpointedCall): Promise<void> => {
    const author = open.commands > 0 ? 'session' : authorBetween();
    if (watched !== undefined && author !== undefined) await recordChanges(open.promptUuid, author);
    open.commands += 1;
    await takeLook(open.promptUuid, writes);
  };

  const afterCommand = async (open: OpenTurn): Promise<void> => {
    open.commands = Math.max(0, open.commands - 1);
    await recordChanges(open.promptUuid, 'session');
    hadTask = parts.background?.() ?? false;
    if (open.commands === 0 && !hadTask) (await openSurvey()).setRunning(undefined);
  };

  const beforeWrite = async ({ promptUuid }: OpenTurn, path: string): Promise<void> => {
    written.add(path);
    const now = await inspectFile(workspace, path);
    if (timeline.firstNote(promptUuid, path) === undefined) {
      const kept = await keep({ promptUuid, path }, now);
      note({ promptUuid, path, ...kept, ...(kept.before === undefined && { after: now.state }) });
    } else if (now.state !== timeline.known(path)) note({ promptUuid, path, before: now.state });
  };

  const afterWrite = async ({ promptUuid }: OpenTurn, path: string): Promise<void> => {
    const now = await inspectFile(workspace, path);
    written.add(path);
    const first = timeline.firstNote(promptUuid, path);
    if (first === undefined || now.state === timeline.known(path)) return;
    note({ promptUuid, path, ...tellAfter({ path }, now) });
  };

  /** What a call names and no look finds: all that a tool writes, and what a command writes elsewhere. */
  const unlooked = async ({ shell, writes }: CheckpointedCall): Promise<string[]> => {
    if (!shell || writes.length === 0) return [...writes];
    const survey = await openSurvey();
    return writes.filter((path) => !survey.covers(path));
  };

  const missingFolders = async (paths: readonly string[]): Promise<string[]> => {
    const missing = new Set<string>();
    for (const path of paths) {
      for (let at = dirname(path); !missing.has(at) && (await workspace.stat(at)) === undefined; at = dirname(at)) {
        missing.add(at);
      }
    }
    return [...missing];
  };

  const saveCheckpoint = (number: number, promptUuid: string | null): void => {
    const folder = join(parts.folder, 'checkpoints');
    try {
      makeFolders(folder);
      const timestamp = new Date(parts.clock.now()).toISOString();
      const state = { log: parts.log.position(), files: timeline.table(), permissions: parts.permissionState() };
      const text = JSON.stringify({ format: 1, turn: number, promptUuid, timestamp, ...state });
      replaceOwnFile(join(folder, `checkpoint-${number}.json`), `${text}\n`);
    } catch (error) {
      logger('warn', 'Checkpoints: a checkpoint could not be written', { error: String(error) });
    }
  };

  return {
    begin(promptUuid) {
      if (timeline.turns === 0) saveCheckpoint(0, null);
      timeline.begin(promptUuid);
      turn = {
        promptUuid,
        files: new Map(),
        failed: new Map(),
        commands: 0,
        named: new Map(),
        hints: new Set(),
      };
      if (watched !== undefined) void quietly('the look before a turn', () => watchOn(promptUuid));
      if (!hasBegun) note({ promptUuid, path: parts.cwd, begins: true });
      hasBegun = true;
    },
    beforeCall: (call) =>
      quietly('the look before a call', async () => {
        const open = turn;
        if (open === undefined) return;
        if (call.shell) await beforeCommand(open, call);
        else if (open.commands > 0 && call.writes.length > 0) await recordChanges(open.promptUuid, 'session');
        else if (hadTask && call.writes.length > 0) await catchUp();
        const paths = await unlooked(call);
        open.named.set(call.toolUseId, { paths, folders: await missingFolders(paths) });
        for (const path of paths) await beforeWrite(open, path);
      }),
    afterCall: (call) =>
      quietly('the look after a call', async () => {
        const open = turn;
        if (open === undefined) return;
        if (call.shell) await afterCommand(open);
        const { paths, folders } = open.named.get(call.toolUseId) ?? { paths: [], folders: [] };
        open.named.delete(call.toolUseId);
        for (const path of paths) await afterWrite(open, path);
        for (const path of folders) {
          const isMade = (await workspace.stat(path))?.kind === 'directory';
          const isNews = timeline.firstNote(open.promptUuid, path) === undefined;
          if (isMade && isNews) note({ promptUuid: open.promptUuid, path, before: null, after: 'folder' });
          if (isMade) written.add(path);
        }
      }),
    async end() {
      const open = turn;
      if (open === undefined) return { files: [], failed: [] };
      await quietly('the look after a turn', async () => {
        await watchOn(open.promptUuid);
        if (timeline.turns % CHECKPOINT_TURNS === 0) saveCheckpoint(timeline.turns, open.promptUuid);
        if (open.files.size > 0) snapshots.prune();
      });
      if (turn === open) turn = undefined;
      void awaitTasks();
      return {
        files: [...open.files].map(([filename, file_id]) => ({ filename, file_id })),
        failed: [...open.failed].map(([filename, error]) => ({ filename, error })),
      };
    },
    rewind: (promptUuid, { dryRun = false, overwriteEdits = false } = {}) =>
      inOrder(async () => {
        await recover();
        if (!timeline.has(promptUuid)) {
          throw new HeddleError('checkpoint_not_found', 'No file checkpoint found for this message.');
        }
        await careful('the look before a rewind', catchUp);
        const { planRewind, carryOut, toResult } = await import('./rewind.js');
        const tale = timeline.since(promptUuid);
        if (tale.gaps) tale.hints.set(parts.cwd, 'Checkpoints were off in a part of the session.');
        const means = { workspace, snapshots, overwriteEdits };
        const plan = await planRewind(tale, means);
        if (dryRun) return toResult(plan);
        const done = await carryOut(plan, { ...means, promptUuid, note });
        const goesOn = watched;
        if (goesOn !== undefined)
          await careful('the look after a rewind', () => (hadTask ? takeLook(goesOn) : stopLooking()));
        return toResult(done);
      }),
    close: () =>
      quietly('the last look', async () => {
        await catchUp();
        await stopLooking();
      }),
  };
}
