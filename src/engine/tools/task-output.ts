import type { TaskOutputInput, WholeTool } from '../../protocol/index.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** Twice of what is shown of a file, for what stands around it. */
const MAX_TEXT = 60_000;

export function createTaskOutputTool({ tasks }: Pick<ToolParts, 'tasks'>): WholeTool<TaskOutputInput> {
  return {
    name: 'TaskOutput',
    description:
      'Gives what a background task has printed or done, and its state. Waits for its end unless block is false.',
    inputSchema: inputSchemaOf('TaskOutput'),
    limits: { text: MAX_TEXT, field: MAX_TEXT },
    parse: (input) => parseToolInput('TaskOutput', fromBashOutput(input)),
    isReadOnly: () => true,
    enforce: ({ task_id }) =>
      Promise.resolve(tasks.get(task_id) === undefined ? `No task found with ID: ${task_id}` : undefined),
    run: async (input, context) => (await import('./task-output-run.js')).runTaskOutput(input, context, tasks),
  };
}

/** The older tool of this kind names the task otherwise, does not wait, and filters lines: here all of them are shown. */
function fromBashOutput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('bash_id' in input)) return input;
  const { bash_id, filter: _, ...rest } = input as { bash_id: unknown; filter?: unknown };
  return { block: false, ...rest, task_id: bash_id };
}
