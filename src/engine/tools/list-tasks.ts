/** The tools that keep a list of tasks: what is to be done, by whom, and what waits for what. */
import type { TaskCreateInput, TaskGetInput, TaskListInput, TaskUpdateInput, WholeTool } from '../../protocol/index.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

type Parts = Pick<ToolParts, 'lists' | 'refuseTask'>;

export const createTaskListTools = (parts: Parts): WholeTool[] =>
  [createTaskCreate(parts), createTaskUpdate(parts), createTaskGet(parts), createTaskList(parts)] as WholeTool[];

function createTaskCreate(parts: Parts): WholeTool<TaskCreateInput> {
  return {
    name: 'TaskCreate',
    description: 'Adds a task to the shared list, for work of several steps. It starts as pending.',
    inputSchema: inputSchemaOf('TaskCreate'),
    parse: (input) => parseToolInput('TaskCreate', input),
    isReadOnly: () => false,
    run: async (input, context) => (await import('./list-tasks-run.js')).runTaskCreate(input, context, parts),
  };
}

function createTaskUpdate(parts: Parts): WholeTool<TaskUpdateInput> {
  return {
    name: 'TaskUpdate',
    description:
      'Changes a task: mark it in_progress when you begin and completed only when it is done; deleted removes it. ' +
      'Metadata is merged, null removes a key.',
    inputSchema: inputSchemaOf('TaskUpdate'),
    parse: (input) => parseToolInput('TaskUpdate', input),
    isReadOnly: () => false,
    run: async (input, context) => (await import('./list-tasks-run.js')).runTaskUpdate(input, context, parts),
  };
}

function createTaskGet(parts: Parts): WholeTool<TaskGetInput> {
  return {
    name: 'TaskGet',
    description: 'Gives all that is known of a task.',
    inputSchema: inputSchemaOf('TaskGet'),
    parse: (input) => parseToolInput('TaskGet', input),
    isReadOnly: () => true,
    run: async (input) => (await import('./list-tasks-run.js')).runTaskGet(input, parts),
  };
}

function createTaskList(parts: Parts): WholeTool<TaskListInput> {
  return {
    name: 'TaskList',
    description: 'Lists all tasks, with the open ones that each waits for.',
    inputSchema: inputSchemaOf('TaskList'),
    parse: (input) => parseToolInput('TaskList', input),
    isReadOnly: () => true,
    run: async () => (await import('./list-tasks-run.js')).runTaskList(parts),
  };
}
