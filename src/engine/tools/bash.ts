import { constants } from 'node:os';
import type { BashInput, ProcessExit, Tool, ToolContext, ToolOutput } from '../../protocol/index.js';
import { commandAccesses, isPlainlyReadOnly } from '../permissions/command.js';
import { boundText } from './bound.js';
import { createOutputBuffer } from './output-buffer.js';
import { isInside } from './paths.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;
const MAX_INLINE = 30_000;
const PROGRESS_MS = 3_000;
/** The system takes no longer argument than 128 KiB. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;
const KEPT = { headBytes: 5 * 1024 * 1024, tailBytes: 5 * 1024 * 1024 };

/**
 * Runs `$1`. Both its streams go to stdout, which alone keeps their order; what was stderr is the way by which the
 * working directory comes back, between two NULs, whether the command ends or exits. Descriptor 19 is one that
 * scripts do not use. All in one line, so that bash counts the lines of the command from 1.
 */
const WRAPPER = [
  'exec 19>&2 2>&1',
  '__heddle_cwd() { local status=$?; builtin printf "\\0"; builtin pwd -P; builtin printf "\\0"; return $status; } >&19',
  'trap "{ __heddle_cwd; } 2>/dev/null" EXIT',
  '__heddle_command=$1',
  'shift',
  'eval "$__heddle_command"',
  '{ __heddle_cwd; } 2>/dev/null',
].join('; ');

function refuse(input: BashInput): string | undefined {
  if (input.run_in_background === true) {
    return 'Background tasks are not supported in this version. Run the command without run_in_background.';
  }
  if (input.dangerouslyDisableSandbox === true) {
    return 'There is no sandbox in this version. Run the command without dangerouslyDisableSandbox.';
  }
  if (Buffer.byteLength(input.command) > MAX_COMMAND_BYTES) {
    return 'The command is longer than 128 KB. Put the long part into a file with Write and use that.';
  }
  return undefined;
}

export const bashTool: Tool<BashInput> = {
  name: 'Bash',
  description:
    'Runs a command in bash and gives its output, stdout and stderr together. The working directory is kept for later ' +
    'calls, variables are not. Standard input is empty. Output beyond 30,000 characters is cut and kept in a file. ' +
    'Prefer Read, Edit, Glob and Grep to cat, sed, find and grep.',
  inputSchema: inputSchemaOf('Bash'),
  parse: (input) => parseToolInput('Bash', input),
  isReadOnly: (input) => isPlainlyReadOnly(input.command),
  accesses: (input, { cwd }) => commandAccesses(input.command, cwd),
  enforce: (input) => Promise.resolve(refuse(input)),
  async run(input, context) {
    const refusal = refuse(input);
    if (refusal !== undefined) throw new Error(refusal);
    const cwd = await findCwd(context);
    const timeoutMs = Math.min(input.timeout ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS);
    const { exit, output, dropped, report } = await runShell({ command: input.command, cwd, timeoutMs }, context);
    const { stray, reported } = readReport(report);
    const ended = !exit.timedOut && !exit.aborted;
    const notes = [
      cwd === context.cwd ? undefined : `Shell cwd was reset to ${cwd}`,
      ended ? await carryCwd(reported, cwd, context) : undefined,
    ].filter((note) => note !== undefined);
    const whole = `${stray}${output}`.trimEnd();
    const keep = (all: string) => context.keep(`${context.toolUseId}.txt`, all);
    const text = await boundText(whole, { max: MAX_INLINE, keep, dropped });
    return toOutput({ exit, text, notes: notes.join('\n'), timeoutMs });
  },
};

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

interface ShellRun {
  command: string;
  cwd: string;
  timeoutMs: number;
}

async function runShell({ command, cwd, timeoutMs }: ShellRun, context: ToolContext) {
  const { clock, workspace } = context;
  const output = createOutputBuffer(KEPT);
  const report = createOutputBuffer({ headBytes: 32 * 1024, tailBytes: 32 * 1024 });
  const startedAt = clock.monotonic();
  let cancelProgress = () => {};
  const tick = () => {
    cancelProgress = clock.after(PROGRESS_MS, () => {
      context.progress({ elapsedSeconds: Math.round((clock.monotonic() - startedAt) / 1000) });
      tick();
    });
  };
  tick();
  try {
    const exit = await workspace.run({
      argv: ['bash', '-c', WRAPPER, 'bash', command],
      cwd,
      env: context.env,
      signal: context.signal,
      timeoutMs,
      onOutput: (chunk, stream) => (stream === 'stdout' ? output : report).append(chunk),
    });
    return { exit, output: output.text(), dropped: output.dropped(), report: report.text() };
  } finally {
    cancelProgress();
  }
}

/** Takes the last folder out of the report; anything else in it bash said before the command began. */
function readReport(report: string): { stray: string; reported: string | undefined } {
  const parts = report.split('\0');
  const folders = parts.filter((_, i) => i % 2 === 1 && i < parts.length - 1);
  const stray = parts.filter((_, i) => i % 2 === 0).join('');
  return { stray, reported: folders.at(-1)?.replace(/\n$/, '') };
}

/** Later calls start where this one ended, as long as that is inside the session's folders. */
async function carryCwd(reported: string | undefined, cwd: string, context: ToolContext): Promise<string | undefined> {
  const { workspace, roots } = context;
  if (reported === undefined || reported === '' || reported === (await workspace.realPath(cwd))) return undefined;
  const allowed = await Promise.all(roots.map((root) => workspace.realPath(root)));
  if (!allowed.some((root) => isInside(root, reported))) return `Shell cwd was reset to ${cwd}`;
  context.setCwd(reported);
  return undefined;
}

const signalNumbers: Readonly<Record<string, number>> = constants.signals;

const showDuration = (ms: number): string => {
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(2))}s`;
  const seconds = Math.round(ms / 1000);
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
};

/** As a shell would report it: 128 and the number of the signal. */
function codeOf({ code, signal, timedOut }: ProcessExit): number {
  if (timedOut) return 143;
  return code ?? 128 + (signalNumbers[signal ?? ''] ?? 0);
}

const lines = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n');

function toOutput(result: { exit: ProcessExit; text: string; notes: string; timeoutMs: number }): ToolOutput {
  const { exit, text, notes, timeoutMs } = result;
  if (exit.aborted) return toError(lines(text, 'The command was interrupted before it finished.'));
  const code = codeOf(exit);
  if (exit.timedOut)
    return toError(lines(`Exit code ${code}`, `Command timed out after ${showDuration(timeoutMs)}`, text));
  if (code !== 0) return toError(lines(`Exit code ${code}`, text, notes));
  return {
    content: lines(text, notes) || '(Bash completed with no output)',
    structured: { stdout: text, stderr: notes, interrupted: false, isImage: false, noOutputExpected: false },
  };
}

const toError = (content: string): ToolOutput => ({ content, isError: true, structured: `Error: ${content}` });
