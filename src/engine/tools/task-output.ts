import { open } from 'node:fs/promises';
import type { TaskOutputInput, ToolContext, WholeTool } from '../../protocol/index.js';
import type { Task } from '../tasks.js';
import { wait } from '../wait.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** The most that is shown: the end is what matters, and the file has all of it. */
const MAX_SHOWN_BYTES = 30_000;

export function createTaskOutputTool({ tasks }: Pick<ToolParts, 'tasks'>): WholeTool<TaskOutputInput> {
  return {
    name: 'TaskOutput',
    description:
      'Gives what a background task has printed or done, and its state. Waits for its end unless block is false.',
    inputSchema: inputSchemaOf('TaskOutput'),
    limits: { text: 2 * MAX_SHOWN_BYTES, field: 2 * MAX_SHOWN_BYTES },
    parse: (input) => parseToolInput('TaskOutput', fromBashOutput(input)),
    isReadOnly: () => true,
    enforce: ({ task_id }) =>
      Promise.resolve(tasks.get(task_id) === undefined ? `No task found with ID: ${task_id}` : undefined),
    async run({ task_id, block, timeout }, context) {
      const task = tasks.get(task_id);
      if (task === undefined) throw new Error(`No task found with ID: ${task_id}`);
      if (block && task.status === 'running') await overWithin(task, timeout, context);
      // As it is now: a task may end while its file is read.
      const { status, end } = task;
      const isRunning = status === 'running';
      const retrieval_status = !isRunning ? 'success' : block ? 'timeout' : 'not_ready';
      const output = isRunning && task.soFar ? task.soFar() : await readEnd(task.outputPath);
      if (!isRunning) tasks.noteShown(task.id);
      const exitCode = end?.exitCode;
      return {
        content: [
          tag('retrieval_status', retrieval_status),
          tag('task_id', task.id),
          tag('task_type', task.type),
          tag('status', status),
          ...(exitCode === undefined ? [] : [tag('exit_code', String(exitCode))]),
          ...(output === '' ? [] : [tag('output', `\n${output.trimEnd()}\n`)]),
        ].join('\n\n'),
        structured: {
          retrieval_status,
          task: {
            task_id: task.id,
            task_type: task.type,
            status,
            description: task.description,
            output,
            ...(exitCode !== undefined && { exitCode }),
          },
        },
      };
    },
  };
}

const tag = (name: string, text: string): string => `<${name}>${text}</${name}>`;

/** The older tool of this kind names the task otherwise, does not wait, and filters lines: here all of them are shown. */
function fromBashOutput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('bash_id' in input)) return input;
  const { bash_id, filter: _, ...rest } = input as { bash_id: unknown; filter?: unknown };
  return { block: false, ...rest, task_id: bash_id };
}

async function overWithin(task: Task, ms: number, { clock, signal }: ToolContext): Promise<void> {
  const enough = new AbortController();
  await Promise.race([task.over, wait(clock, ms, AbortSignal.any([signal, enough.signal]))]);
  enough.abort();
  if (signal.aborted) throw new Error('The wait was interrupted; the task goes on.');
}

/** A cut text begins with a line where one begins soon. */
const LINE_WITHIN = 1_000;

/** The end of the file. */
export async function readEnd(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - MAX_SHOWN_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const bytes = buffer.subarray(0, bytesRead);
    if (start === 0) return bytes.toString('utf8');
    const newline = bytes.subarray(0, LINE_WITHIN).indexOf(10);
    // Without one, at least not in the middle of a character.
    const from = newline !== -1 ? newline + 1 : bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
    const left = (start + from).toLocaleString('en-US');
    return `[The first ${left} bytes are left out; all of it is in ${path}]\n${bytes.subarray(from).toString('utf8')}`;
  } finally {
    await file.close();
  }
}
