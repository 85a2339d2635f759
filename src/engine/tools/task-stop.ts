import type { TaskStopInput, WholeTool } from '../../protocol/index.js';
import { inputError, PROBLEM_TEXTS } from '../../protocol/plain.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export function createTaskStopTool({ tasks }: Pick<ToolParts, 'tasks'>): WholeTool<TaskStopInput> {
  /** Why there is nothing to stop. */
  const refuse = (input: TaskStopInput): string | undefined => {
    const id = idOf(input);
    const task = tasks.get(id);
    if (task === undefined) return `No task found with ID: ${id}`;
    return task.status === 'running' ? undefined : `Task ${id} is not running (status: ${task.status})`;
  };
  return {
    name: 'TaskStop',
    description: 'Stops a background task.',
    inputSchema: inputSchemaOf('TaskStop'),
    async parse(input) {
      const parsed = await parseToolInput('TaskStop', input);
      if (idOf(parsed) !== '') return parsed;
      throw inputError('TaskStop', [PROBLEM_TEXTS.input.missing(['task_id'])]);
    },
    isReadOnly: () => false,
    enforce: (input) => Promise.resolve(refuse(input)),
    async run(input) {
      const task = await tasks.stop(idOf(input), 'model');
      if (task === undefined) throw new Error(`No task found with ID: ${idOf(input)}`);
      const { id: task_id, type: task_type, command } = task;
      const message = `Successfully stopped task: ${task_id} (${command ?? task.description})`;
      const structured = { message, task_id, task_type, ...(command !== undefined && { command }) };
      return { content: JSON.stringify(structured), structured };
    },
  };
}

const idOf = ({ task_id, shell_id }: TaskStopInput): string => task_id ?? shell_id ?? '';
