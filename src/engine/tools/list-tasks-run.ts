/** What the tools do that keep a list of tasks. */
import type {
  TaskCreateInput,
  TaskCreateOutput,
  TaskGetInput,
  TaskGetOutput,
  TaskListOutput,
  TaskUpdateInput,
  TaskUpdateOutput,
  ToolContext,
  ToolOutput,
} from '../../protocol/index.js';
import type { ListedTask } from '../sessions/entry.js';
import type { ToolParts } from './parts.js';

type Parts = Pick<ToolParts, 'lists' | 'refuseTask'>;
type Tasks = readonly ListedTask[];

const NOT_FOUND = 'Task not found';

/** Results name tasks as #1, so models do too. */
const toId = (named: string): string => named.trim().replace(/^#/, '');

const find = (tasks: Tasks, id: string): ListedTask | undefined => tasks.find((task) => task.id === id);

export async function runTaskCreate(
  { metadata, ...input }: TaskCreateInput,
  { signal }: ToolContext,
  { lists, refuseTask }: Parts,
): Promise<ToolOutput> {
  const task: ListedTask = {
    id: String(lists.lastTaskId + 1),
    ...input,
    status: 'pending',
    blocks: [],
    blockedBy: [],
    ...withMetadata(mergeMetadata(undefined, metadata)),
  };
  const refusal = await refuseTask?.('TaskCreated', task, signal);
  if (refusal !== undefined) throw new Error(`The task was not added: ${refusal}`);
  lists.setTasks([...lists.tasks, task]);
  const { id, subject } = task;
  const structured: TaskCreateOutput = { task: { id, subject } };
  return { content: `Task #${id} created successfully: ${subject}`, structured };
}

export async function runTaskUpdate(
  input: TaskUpdateInput,
  { signal }: ToolContext,
  { lists, refuseTask }: Parts,
): Promise<ToolOutput> {
  const id = toId(input.taskId);
  const task = find(lists.tasks, id);
  if (task === undefined) {
    const structured: TaskUpdateOutput = { success: false, taskId: id, updatedFields: [], error: NOT_FOUND };
    return { content: NOT_FOUND, structured };
  }
  const { tasks, updatedFields } = updateTask(lists.tasks, task, input);
  const completes = task.status !== 'completed' && find(tasks, id)?.status === 'completed';
  const refusal = completes ? await refuseTask?.('TaskCompleted', task, signal) : undefined;
  if (refusal !== undefined) throw new Error(`Task #${id} stays as it was: ${refusal}`);
  if (updatedFields.length > 0) lists.setTasks(tasks);
  const to = find(tasks, id)?.status ?? 'deleted';
  const structured: TaskUpdateOutput = {
    success: true,
    taskId: id,
    updatedFields,
    ...(to !== task.status && { statusChange: { from: task.status, to } }),
  };
  if (to === 'deleted') return { content: `Deleted task #${id}`, structured };
  const what = updatedFields.length === 0 ? ': nothing was different' : ` ${updatedFields.join(', ')}`;
  return { content: `Updated task #${id}${what}`, structured };
}

export function runTaskGet(input: TaskGetInput, { lists }: Parts): ToolOutput {
  const task = find(lists.tasks, toId(input.taskId));
  const structured: TaskGetOutput = { task: task === undefined ? null : { ...task } };
  return { content: task === undefined ? NOT_FOUND : describeTask(task), structured };
}

export function runTaskList({ lists }: Parts): ToolOutput {
  const { tasks } = lists;
  const structured: TaskListOutput = {
    tasks: tasks.map(({ id, subject, status, owner, blockedBy }) => ({
      id,
      subject,
      status,
      ...(owner !== undefined && { owner }),
      blockedBy,
    })),
  };
  const lines = tasks.map((task) => toLine(task, tasks));
  return { content: lines.length === 0 ? 'There are no tasks' : lines.join('\n'), structured };
}

const showIds = (ids: readonly string[]): string => ids.map((id) => `#${id}`).join(', ');

function toLine({ id, subject, status, owner, blockedBy }: ListedTask, tasks: Tasks): string {
  const waitsFor = blockedBy.filter((blocker) => find(tasks, blocker)?.status !== 'completed');
  const by = owner === undefined ? '' : ` (${owner})`;
  const wait = waitsFor.length === 0 || status === 'completed' ? '' : ` [blocked by ${showIds(waitsFor)}]`;
  return `#${id} [${status}] ${subject}${by}${wait}`;
}

function describeTask(task: ListedTask): string {
  const { id, subject, status, description, owner, blocks, blockedBy, metadata } = task;
  return [
    `Task #${id}: ${subject}`,
    `Status: ${status}`,
    `Description: ${description}`,
    ...(owner === undefined ? [] : [`Owner: ${owner}`]),
    ...(blockedBy.length === 0 ? [] : [`Blocked by: ${showIds(blockedBy)}`]),
    ...(blocks.length === 0 ? [] : [`Blocks: ${showIds(blocks)}`]),
    ...(metadata === undefined ? [] : [`Metadata: ${JSON.stringify(metadata)}`]),
  ].join('\n');
}

interface Update {
  tasks: Tasks;
  /** Only what is different now. */
  updatedFields: string[];
}

/** All of an update or, with an error, nothing of it. */
function updateTask(tasks: Tasks, task: ListedTask, input: TaskUpdateInput): Update {
  if (input.status === 'deleted') return { tasks: deleteTask(tasks, task.id), updatedFields: ['status'] };
  if (input.subject?.trim() === '') throw new Error('The subject of a task must not be empty.');
  const changed = changeFields(task, input);
  let next: Tasks = tasks.map((each) => (each === task ? changed : each));
  for (const blocked of input.addBlocks ?? []) next = addWait(next, { blocker: task.id, blocked: toId(blocked) });
  for (const blocker of input.addBlockedBy ?? []) next = addWait(next, { blocker: toId(blocker), blocked: task.id });
  return { tasks: next, updatedFields: differences(task, find(next, task.id) ?? changed) };
}

const FIELDS = ['subject', 'description', 'activeForm', 'status', 'owner', 'blocks', 'blockedBy', 'metadata'] as const;

const differences = (before: ListedTask, after: ListedTask): string[] =>
  FIELDS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));

/** An empty owner or activeForm means none. */
function changeFields(task: ListedTask, input: TaskUpdateInput): ListedTask {
  const { metadata: known, owner: _owner, activeForm: _form, ...rest } = task;
  const owner = input.owner ?? task.owner;
  const activeForm = input.activeForm ?? task.activeForm;
  return {
    ...rest,
    ...(input.subject !== undefined && { subject: input.subject }),
    ...(input.description !== undefined && { description: input.description }),
    ...(input.status !== undefined && input.status !== 'deleted' && { status: input.status }),
    ...(owner && { owner }),
    ...(activeForm && { activeForm }),
    ...withMetadata(mergeMetadata(known, input.metadata)),
  };
}

type Metadata = ListedTask['metadata'];

function mergeMetadata(known: Metadata, given: Metadata): Metadata {
  const merged = Object.entries({ ...known, ...given }).filter(([, value]) => value !== null);
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}

const withMetadata = (metadata: Metadata) => (metadata === undefined ? {} : { metadata });

function deleteTask(tasks: Tasks, id: string): Tasks {
  const isOther = (each: string): boolean => each !== id;
  return tasks
    .filter((task) => isOther(task.id))
    .map((task) =>
      task.blocks.includes(id) || task.blockedBy.includes(id)
        ? { ...task, blocks: task.blocks.filter(isOther), blockedBy: task.blockedBy.filter(isOther) }
        : task,
    );
}

/** Notes on both sides that one task waits for another. */
function addWait(tasks: Tasks, { blocker, blocked }: { blocker: string; blocked: string }): Tasks {
  for (const id of [blocker, blocked]) {
    if (find(tasks, id) === undefined) throw new Error(`There is no task #${id}. TaskList gives the ids there are.`);
  }
  if (blocker === blocked) throw new Error(`Task #${blocked} cannot wait for itself.`);
  const chain = findChain(tasks, blocked, blocker);
  if (chain !== undefined) {
    throw new Error(
      `Task #${blocked} cannot wait for #${blocker}, which already waits for it: ` +
        `${chain.map((id) => `#${id}`).join(' blocks ')}.`,
    );
  }
  return tasks.map((task) => {
    if (task.id === blocker && !task.blocks.includes(blocked)) return { ...task, blocks: [...task.blocks, blocked] };
    if (task.id !== blocked || task.blockedBy.includes(blocker)) return task;
    return { ...task, blockedBy: [...task.blockedBy, blocker] };
  });
}

/** The shortest way from one task along what each blocks to another. */
function findChain(tasks: Tasks, from: string, to: string): string[] | undefined {
  const chains = new Map([[from, [from]]]);
  // A map visits what is added to it on the way.
  for (const [id, chain] of chains) {
    if (id === to) return chain;
    for (const next of find(tasks, id)?.blocks ?? []) if (!chains.has(next)) chains.set(next, [...chain, next]);
  }
  return undefined;
}
