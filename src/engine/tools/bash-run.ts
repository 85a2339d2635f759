import type { BashInput, ProcessExit, ToolContext, ToolOutput } from '../../protocol/index.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { TaskEnd } from '../tasks.js';
import { cutText } from './bound.js';
import type { ToolParts } from './parts.js';
import { isInside } from './paths.js';
import { exitCodeOf, runDetached, runShell, signalOf } from './shell.js';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_DESCRIPTION = 80;

type BashParts = Pick<ToolParts, 'tasks' | 'openOutput' | 'sandbox'>;

export async function runBash(input: BashInput, context: ToolContext, parts: BashParts): Promise<ToolOutput> {
  const cwd = await findCwd(context);
  const moved = cwd === context.cwd ? [] : [`Shell cwd was reset to ${cwd}`];
  if (input.run_in_background === true) return startTask(input, { context, cwd, parts });
  const timeoutMs = input.timeout ?? DEFAULT_TIMEOUT_MS;
  const sandbox = boxFor(input, parts, context);
  const {
    exit,
    output,
    stray,
    dropped,
    cwd: last,
  } = await runShell({ command: input.command, cwd, timeoutMs, sandbox }, context);
  const ended = !exit.timedOut && !exit.aborted;
  const flood =
    dropped === 0 ? [] : [`The output was longer than 10 MB: ${dropped.toLocaleString('en-US')} bytes of it are lost`];
  const notes = [...moved, ...(ended ? await carryCwd(last, cwd, context) : []), ...flood].join('\n');
  const hint = sandbox?.hintFor({ output, stray, exitCode: exitCodeOf(exit), roots: context.roots });
  return toOutput({ exit, text: output.trimEnd(), notes: lines(notes, hint ?? ''), timeoutMs });
}

/** Outside when it is excluded in the folder that it was judged in, or somebody has approved that. */
const boxFor = (input: BashInput, { sandbox }: BashParts, context: ToolContext): Sandbox | undefined =>
  input.dangerouslyDisableSandbox === true || sandbox?.covers(input.command, context) !== true ? undefined : sandbox;

/** The folder may have been removed since the last call; then the session starts again from its own. */
async function findCwd(context: ToolContext): Promise<string> {
  const { workspace, roots, cwd } = context;
  for (const folder of [cwd, ...roots]) {
    if ((await workspace.stat(folder))?.kind !== 'directory') continue;
    if (folder !== cwd) context.setCwd(folder);
    return folder;
  }
  throw new Error(`The working directory ${cwd} does not exist any more.`);
}

/** The command goes on when this call is over: it has a signal of its own, and ends with the session at the latest. */
function startTask(
  input: BashInput,
  { context, cwd, parts }: { context: ToolContext; cwd: string; parts: BashParts },
): ToolOutput {
  const { command, description, timeout } = input;
  const { workspace, env, clock, toolUseId, roots } = context;
  const sandbox = boxFor(input, parts, context);
  const id = `b${clock.uuid().replaceAll('-', '').slice(0, 8)}`;
  const file = parts.openOutput(`${id}.output`);
  const title = cutText((description ?? command).replace(/\s+/g, ' ').trim(), MAX_DESCRIPTION);
  const run = async (signal: AbortSignal): Promise<TaskEnd> => {
    try {
      const onOutput = (chunk: Uint8Array) => file.write(chunk);
      const line = { command, cwd, timeoutMs: timeout, onOutput, sandbox };
      const exit = await runDetached(line, { workspace, env, signal, roots });
      return toEnd(title, exit);
    } finally {
      file.close();
    }
  };
  parts.tasks.start({
    id,
    type: 'local_bash',
    description: title,
    toolUseId,
    command,
    cwd,
    outputPath: file.path,
    run,
  });
  return {
    content:
      `Command running in background with ID: ${id}. Output is being written to: ${file.path}. You will be notified ` +
      'when it completes; until then Read or TaskOutput shows what it has printed.',
    structured: {
      stdout: '',
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
      backgroundTaskId: id,
    },
  };
}

function toEnd(title: string, exit: ProcessExit): TaskEnd {
  const exitCode = exitCodeOf(exit);
  const command = `Background command "${title}"`;
  if (exit.timedOut) return { status: 'failed', summary: `${command} timed out (exit code ${exitCode})`, exitCode };
  if (exitCode === 0) return { status: 'completed', summary: `${command} completed (exit code 0)`, exitCode };
  const signal = signalOf(exit);
  const how = signal === undefined ? '' : ` (${signal})`;
  return { status: 'failed', summary: `${command} failed with exit code ${exitCode}${how}`, exitCode };
}

/** Later calls start where this one ended, as long as that is inside the session's folders. Gives what is to be said. */
async function carryCwd(last: string | undefined, cwd: string, context: ToolContext): Promise<string[]> {
  const { workspace, roots } = context;
  if (last === undefined || last === '' || last === (await workspace.realPath(cwd))) return [];
  const allowed = await Promise.all(roots.map((root) => workspace.realPath(root)));
  if (!allowed.some((root) => isInside(root, last))) return [`Shell cwd was reset to ${cwd}`];
  context.setCwd(last);
  return [];
}

const showDuration = (ms: number): string => {
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))}s`;
  const seconds = Math.round(ms / 1000);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
};

const lines = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n');

function toOutput(result: { exit: ProcessExit; text: string; notes: string; timeoutMs: number }): ToolOutput {
  const { exit, text, notes, timeoutMs } = result;
  if (exit.aborted) return toError(lines('The command was interrupted before it finished.', notes, text));
  const code = exitCodeOf(exit);
  if (exit.timedOut)
    return toError(lines(`Exit code ${code}`, `Command timed out after ${showDuration(timeoutMs)}`, notes, text));
  if (code !== 0) return toError(lines(`Exit code ${code}`, describeSignal(exit), notes, text));
  return {
    content: lines(notes, text) || '(Bash completed with no output)',
    structured: { stdout: text, stderr: notes, interrupted: false, isImage: false, noOutputExpected: false },
  };
}

function describeSignal(exit: ProcessExit): string {
  const signal = signalOf(exit);
  return signal === undefined ? '' : `Ended by ${signal}`;
}

const toError = (content: string): ToolOutput => ({ content, isError: true, structured: `Error: ${content}` });
