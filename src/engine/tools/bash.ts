import type { BashInput, WholeTool } from '../../protocol/index.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const MAX_INLINE = 30_000;
/** The system takes no longer argument than 128 KiB. */
const MAX_COMMAND_BYTES = 128 * 1024 - 1;
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
    run: async (input, context) => (await import('./bash-run.js')).runBash(input, context, parts),
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
