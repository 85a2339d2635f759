/** What a session runs in the background: commands now, agents too. */
import type { AgentColor } from '../protocol/plain.js';
import type { BackgroundTask, Clock, SystemMessage } from '../protocol/index.js';
import type { Recorder } from './recorder.js';

export type TaskStatus = 'running' | 'completed' | 'failed' | 'stopped';

/** How a task ended. `summary` is one line for a person. */
export interface TaskEnd {
  status: Exclude<TaskStatus, 'running'>;
  summary: string;
  exitCode?: number;
  /** What an agent has to say in the end. */
  result?: string;
  usage?: { total_tokens: number; tool_uses: number; duration_ms: number };
}

export interface TaskSpec {
  id: string;
  type: 'local_bash' | 'local_agent';
  description: string;
  toolUseId: string;
  /** The shell line of a command, and where it was started. */
  command?: string;
  cwd?: string;
  agent?: { type: string; prompt: string; depth: number; color?: AgentColor };
  /** The file that its output goes to while it runs. */
  outputPath: string;
  /** What it has done while it runs, where its file says that only at the end. */
  soFar?: () => string;
  /** Runs until the task ends, or soon after the signal aborts. */
  run(signal: AbortSignal): Promise<TaskEnd>;
}

export interface Task extends Readonly<Omit<TaskSpec, 'run'>> {
  readonly status: TaskStatus;
  readonly end: TaskEnd | undefined;
  /** Somebody has asked for its end. */
  readonly isStopping: boolean;
  /** Resolves when the task is over. Never rejects. */
  readonly over: Promise<void>;
}

interface LiveTask extends Omit<TaskSpec, 'run'> {
  status: TaskStatus;
  end: TaskEnd | undefined;
  over: Promise<void>;
  abort: AbortController;
  /** Who asked for the end, if somebody did. */
  stoppedBy: Stopper | undefined;
  isStopping: boolean;
}

/** The model by its tool, the host by a request, or the engine because the session ends. */
export type Stopper = 'model' | 'host' | 'engine';

export interface TasksParts {
  clock: Clock;
  recorder: Recorder;
  sessionId: string;
}

/** What the model is told of the end of a task. */
export interface TaskNotice {
  taskId: string;
  text: string;
}

export interface EndedTask {
  notice: TaskNotice;
  stoppedBy: Stopper | undefined;
}

export class Tasks {
  readonly #parts: TasksParts;
  readonly #tasks = new Map<string, LiveTask>();
  #onEnd: (end: EndedTask) => void = () => {};
  #onShown: (taskId: string) => void = () => {};

  constructor(parts: TasksParts) {
    this.#parts = parts;
  }

  /** Calls back at the end of each task, and when a tool has shown the end of one to the model. */
  listen(listeners: { onEnd: (end: EndedTask) => void; onShown: (taskId: string) => void }): void {
    this.#onEnd = listeners.onEnd;
    this.#onShown = listeners.onShown;
  }

  /** A tool has shown to the model how the task ended. */
  noteShown(id: string): void {
    this.#onShown(id);
  }

  get running(): readonly Task[] {
    return [...this.#tasks.values()].filter((task) => task.status === 'running');
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id);
  }

  start(spec: TaskSpec): Task {
    const { run, ...facts } = spec;
    const abort = new AbortController();
    const task: LiveTask = {
      ...facts,
      status: 'running',
      end: undefined,
      over: Promise.resolve(),
      abort,
      stoppedBy: undefined,
      isStopping: false,
    };
    this.#tasks.set(task.id, task);
    const { id: taskId, toolUseId, description } = task;
    void this.#parts.recorder.life({ kind: 'task', state: 'started', taskId, toolUseId, description });
    this.#emit({
      subtype: 'task_started',
      ...this.#names(task),
      description,
      task_type: task.type,
      ...(task.agent && {
        subagent_type: task.agent.type,
        ...(task.agent.color && { color: task.agent.color }),
        prompt: task.agent.prompt,
        spawn_depth: task.agent.depth,
      }),
      is_backgrounded: true,
    });
    this.#emitRunning();
    task.over = run(abort.signal)
      .catch((thrown: unknown): TaskEnd => ({ status: 'failed', summary: String(thrown) }))
      .then((end) => this.#finish(task, end));
    return task;
  }

  /** Ends a task that runs. Gives it once it is over; undefined when there is none of this id. */
  async stop(id: string, by: Stopper): Promise<Task | undefined> {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    if (task.status === 'running') {
      task.stoppedBy ??= by;
      task.isStopping = true;
      task.abort.abort();
      await task.over;
    }
    return task;
  }

  /** The session ends, or waits no longer. */
  async stopAll(): Promise<void> {
    await Promise.all(this.running.map((task) => this.stop(task.id, 'engine')));
  }

  #finish(task: LiveTask, end: TaskEnd): void {
    const { stoppedBy } = task;
    task.end = stoppedBy ? { ...end, status: 'stopped', summary: describeStop(task, stoppedBy) } : end;
    task.status = task.end.status;
    const { status, summary, usage } = task.end;
    const notice = noticeOf(task, task.end);
    const told = stoppedBy === 'model' && { told: true as const };
    void this.#parts.recorder.life({ kind: 'task', state: 'ended', taskId: task.id, status, notice, ...told });
    const end_time = this.#parts.clock.now();
    const patch = { status: status === 'stopped' ? 'killed' : status, end_time };
    this.#emit({ subtype: 'task_updated', ...this.#names(task), patch });
    const notification = { status, output_file: task.outputPath, summary, ...(usage && { usage }) };
    this.#emit({ subtype: 'task_notification', ...this.#names(task), ...notification });
    this.#emitRunning();
    this.#onEnd({ notice: { taskId: task.id, text: notice }, stoppedBy });
  }

  #names({ id, toolUseId }: LiveTask): { task_id: string; tool_use_id: string } {
    return { task_id: id, tool_use_id: toolUseId };
  }

  /** Those that run, as messages and hooks tell of them. */
  get told(): BackgroundTask[] {
    return this.running.map(({ id, type, description, toolUseId }) => ({
      task_id: id,
      task_type: type,
      description,
      status: 'running',
      tool_use_id: toolUseId,
    }));
  }

  #emitRunning(): void {
    this.#emit({ subtype: 'background_tasks_changed', tasks: this.told });
  }

  #emit(fields: WithoutEnvelope<SystemMessage>): void {
    const { recorder, clock, sessionId } = this.#parts;
    recorder.emit({ type: 'system', uuid: clock.uuid(), session_id: sessionId, ...fields });
  }
}

type WithoutEnvelope<M> = M extends SystemMessage ? Omit<M, 'type' | 'uuid' | 'session_id'> : never;

const STOPS: Readonly<Record<Stopper, string>> = {
  model: 'was stopped',
  host: 'was stopped by the user',
  engine: 'was stopped with the session',
};

const describeStop = ({ type, description }: LiveTask, by: Stopper): string =>
  `${type === 'local_agent' ? 'Agent' : 'Background command'} "${description}" ${STOPS[by]}`;

/** In the words that models of this kind of tool know. */
const noticeOf = (task: LiveTask, end: TaskEnd): string =>
  [
    '<task-notification>',
    `<task-id>${task.id}</task-id>`,
    `<output-file>${task.outputPath}</output-file>`,
    `<status>${end.status}</status>`,
    `<summary>${end.summary.replaceAll('<', '&lt;')}</summary>`,
    ...(end.result === undefined ? [] : [`<result>${end.result.replaceAll('<', '&lt;')}</result>`]),
    '</task-notification>',
  ].join('\n');

const GRACE_MS = 5_000;

/** How long commands may go on when nothing more will come in, and no agent works. */
export function graceOf({ HEDDLE_TASK_GRACE_MS: given }: Readonly<Record<string, string | undefined>>): number {
  const chosen = Number(given);
  return given && chosen >= 0 ? chosen : GRACE_MS;
}
