import type { BashInput, ProcessExit, ToolContext, ToolOutput, WholeTool } from '../../protocol/index.js';
import type { TaskEnd } from '../tasks.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { cutText } from './bound.js';
import type { ToolParts } from './parts.js';
import { isInside } from './paths.js';
import { exitCodeOf, runDetached, runShell, signalOf } from './shell.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_INLINE = 30_000;
/** The system takes no longer argument than 128 KiB. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;
const MAX_DESCRIPTION = 80;
const MAX_TASKS = 32;

type BashParts = Pick<ToolParts, 'tasks' | 'openOutput' | 'env' | 'sandbox'>;

type CommandReader = Pick<typeof import('../permissions/command.js'), 'commandAccesses' | 'isPlainlyReadOnly'>;

export function createBashTool(parts: BashParts): WholeTool<BashInput> {
  // The parser of shell lines is large, so it is loaded with the first call; every call is parsed before it is judged.
  let reader: CommandReader | undefined;
  const read = (): CommandReader => {
    if (reader === undefined) throw new Error('The command has not been parsed.');
    return reader;
  };
  return {
    name: 'Bash',
    description: describe(parts),
    inputSchema: inputSchemaOf('Bash'),
    limits: { text: MAX_INLINE, field: MAX_INLINE },
    async parse(input) {
      reader ??= await import('../permissions/command.js');
      const parsed = await parseToolInput('Bash', input);
      // Before anybody is asked about it.
      const refusal = refuseLeaving(parsed, parts);
      if (refusal !== undefined) throw new Error(refusal);
      return parsed;
    },
    isReadOnly: (input) => read().isPlainlyReadOnly(input.command),
    accesses: (input, { cwd }) => read().commandAccesses(input.command, cwd, parts.env.HOME),
    enforce: (input) => Promise.resolve(refuse(input, parts)),
    async run(input, context) {
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
        dropped === 0
          ? []
          : [`The output was longer than 10 MB: ${dropped.toLocaleString('en-US')} bytes of it are lost`];
      const notes = [...moved, ...(ended ? await carryCwd(last, cwd, context) : []), ...flood].join('\n');
      const hint = sandbox?.hintFor({ output, stray, exitCode: exitCodeOf(exit), roots: context.roots });
      return toOutput({ exit, text: output.trimEnd(), notes: lines(notes, hint ?? ''), timeoutMs });
    },
  };
}

const DESCRIPTION =
  'Runs a command in bash and gives its output, stdout and stderr together. The working directory is kept for ' +
  'later calls, variables are not. Standard input is empty. With run_in_background it goes on while you work; you ' +
  'are told when it ends. Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.';

const describe = ({ sandbox }: BashParts): string =>
  sandbox === undefined || sandbox.unavailable !== undefined ? DESCRIPTION : `${DESCRIPTION} ${sandbox.describe()}`;

function refuseLeaving({ dangerouslyDisableSandbox }: BashInput, { sandbox }: BashParts): string | undefined {
  if (dangerouslyDisableSandbox !== true || sandbox?.mayLeave !== false) return undefined;
  return (
    'Settings let no command leave the sandbox (sandbox.allowUnsandboxedCommands is false), so this one was not run. ' +
    'Run it without dangerouslyDisableSandbox, or tell the user what has to be done outside.'
  );
}

function refuse(input: BashInput, parts: BashParts): string | undefined {
  const { tasks, sandbox } = parts;
  const refusal = refuseLeaving(input, parts);
  if (refusal !== undefined) return refusal;
  if (input.dangerouslyDisableSandbox === true && sandbox === undefined) {
    return 'There is no sandbox here. Run the command without dangerouslyDisableSandbox.';
  }
  if (Buffer.byteLength(input.command) > MAX_COMMAND_BYTES) {
    return 'The command is longer than 128 KB. Put the long part into a file with Write and use that.';
  }
  if (input.run_in_background === true && tasks.running.length >= MAX_TASKS) {
    return `There are ${MAX_TASKS} background tasks already. Stop one with TaskStop, or wait for one to end.`;
  }
  return undefined;
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
