/** Background tasks, for a host. */
import type { ParamsOf, TaskOutputReport } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Session } from '../session.js';
import { readEnd } from '../tools/task-output-run.js';

/** That a host has seen the end of a task does not mean that the model has. */
export async function tellTaskOutput(
  { scope }: Session,
  { task_id }: ParamsOf<'get_task_output'>,
): Promise<TaskOutputReport> {
  const task = scope.tasks.get(task_id);
  if (task === undefined) throw new HeddleError('request_failed', `No task found with ID: ${task_id}`);
  const { type, status, description, outputPath, end } = task;
  return {
    task_id,
    task_type: type,
    status,
    description,
    output: await readEnd(outputPath).catch(() => ''),
    output_file: outputPath,
    ...(end?.exitCode !== undefined && { exit_code: end.exitCode }),
  };
}
