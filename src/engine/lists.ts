/** What the model has set down to do in this session: todos, and tasks that wait for one another. */
import type { TodoWriteInput } from '../protocol/index.js';
import { type Entry, isLifeEntry, type ListedTask } from './sessions/entry.js';

export type Todo = TodoWriteInput['todos'][number];

/** A list is only ever replaced as a whole; what is in it is never changed. */
export interface Lists {
  readonly todos: readonly Todo[];
  readonly tasks: readonly ListedTask[];
  /** The highest id that a task of this session has had, deleted ones too: no id is given twice. */
  readonly lastTaskId: number;
  setTodos(todos: readonly Todo[]): void;
  setTasks(tasks: readonly ListedTask[]): void;
}

/** What a log says of the lists. A list that was never written is absent. */
export interface KnownLists {
  todos?: readonly Todo[];
  tasks?: readonly ListedTask[];
  lastTaskId?: number;
}

/** The list that is new, whole. */
export type ListChange = { todos: Todo[] } | { tasks: ListedTask[] };

export interface ListsParts {
  known: KnownLists;
  /** Called after each change. Must not throw. */
  onChange(change: ListChange): void;
}

const highestId = (tasks: readonly ListedTask[]): number =>
  tasks.reduce((highest, { id }) => Math.max(highest, Number.parseInt(id, 10) || 0), 0);

export function createLists({ known, onChange }: ListsParts): Lists {
  let todos = known.todos ?? [];
  let tasks = known.tasks ?? [];
  let lastTaskId = Math.max(known.lastTaskId ?? 0, highestId(tasks));
  return {
    get todos() {
      return todos;
    },
    get tasks() {
      return tasks;
    },
    get lastTaskId() {
      return lastTaskId;
    },
    setTodos(next) {
      todos = next;
      onChange({ todos: [...next] });
    },
    setTasks(next) {
      tasks = next;
      lastTaskId = Math.max(lastTaskId, highestId(next));
      onChange({ tasks: [...next] });
    },
  };
}

/** The lists as a log left them. A damaged line counts as none. */
export function lastLists(entries: readonly Entry[]): KnownLists {
  const last: KnownLists = {};
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.kind !== 'list') continue;
    if (Array.isArray(entry.todos)) last.todos = entry.todos;
    if (!isTaskList(entry.tasks)) continue;
    last.tasks = entry.tasks;
    last.lastTaskId = Math.max(last.lastTaskId ?? 0, highestId(entry.tasks));
  }
  return last;
}

function isTaskList(tasks: readonly ListedTask[] | undefined): tasks is ListedTask[] {
  if (!Array.isArray(tasks)) return false;
  return tasks.every(
    (task: Partial<ListedTask> | null) =>
      typeof task?.id === 'string' && Array.isArray(task.blocks) && Array.isArray(task.blockedBy),
  );
}
