import { open } from 'node:fs/promises';
import type { TaskOutputInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import type { Task, Tasks } from '../tasks.js';
import { wait } from '../wait.js';

/** The most that is shown: the end is what matters, and the file has all of it. */
const MAX_SHOWN_BYTES = 30_000;

export async function runTaskOutput(
  { task_id, block, timeout }: TaskOutputInput,
  context: ToolContext,
  tasks: Tasks,
): Promise<ToolOutput> {
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
}

const tag = (name: string, text: string): string => `<${name}>${text}</${name}>`;

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
