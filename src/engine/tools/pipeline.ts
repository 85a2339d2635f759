import type { PermissionDenial, Tool, ToolContext, ToolOutput, ToolResultContent } from '../../protocol/index.js';
import type { OpenCall } from '../next-action.js';
import { resolvePermission } from '../permissions/resolver.js';
import type { SessionScope } from '../scope.js';

/** What became of a tool call. Every way it can end is a value; the model sees them all. */
export interface CallOutcome {
  content: ToolResultContent;
  isError: boolean;
  structured: unknown;
  denial?: PermissionDenial;
  /** Someone who denied the call wants the turn to end. */
  interrupt?: boolean;
}

export interface CallOptions {
  signal: AbortSignal;
  /** Resolves when this call may run beside the others of its message. */
  mayRun(call: { readOnly: boolean }): Promise<void>;
}

/** The life of a tool call, in reading order. Never throws. */
export async function runCall(scope: SessionScope, call: OpenCall, options: CallOptions): Promise<CallOutcome> {
  const { block } = call;
  const { signal } = options;
  if (call.life === 'started') return refuse(UNKNOWN_END);

  const tool = scope.tools.get(block.name);
  if (tool === undefined) return refuse(usageError(`Error: No such tool available: ${block.name}`));
  if (call.invalidInput !== undefined) return refuse(usageError(invalidJson(tool, call.invalidInput)));
  let input: Record<string, unknown>;
  try {
    input = await tool.parse(block.input);
  } catch (thrown) {
    return refuse(usageError(messageOf(thrown)));
  }

  const permission = await resolvePermission(scope, { call, tool, input }, signal);
  if (permission.kind === 'deny') {
    if (signal.aborted) return refuse(NOT_RUN);
    const denial = { tool_name: tool.name, tool_use_id: block.id, tool_input: block.input };
    return { ...refuse(permission.message), denial, interrupt: permission.interrupt };
  }
  input = permission.input;

  const readOnly = tool.isReadOnly(input, { cwd: scope.state.cwd });
  await options.mayRun({ readOnly });
  if (signal.aborted) return refuse(NOT_RUN);
  const context = toolContext(scope, { call, tool, signal });
  try {
    const refusal = await tool.enforce?.(input, context);
    if (refusal !== undefined) return refuse(usageError(refusal));
    await scope.recorder.life({ kind: 'call', state: 'started', toolUseId: block.id }, { sync: !readOnly });
    return toOutcome(await tool.run(input, context));
  } catch (thrown) {
    return refuse(signal.aborted ? INTERRUPTED : messageOf(thrown));
  }
}

/** The outcome of a call that was never looked at, because its turn ended. */
export const notRun = (call: OpenCall): CallOutcome => refuse(call.life === 'started' ? UNKNOWN_END : NOT_RUN);

const NOT_RUN = 'This call was not run: the turn ended before its turn came.';
const INTERRUPTED = 'This call was interrupted by the user while it ran. What it had done until then stays done.';
const UNKNOWN_END =
  'This call was started, and the process ended before its result was known. It may have had its effect or not: check before you repeat it.';

const refuse = (text: string): CallOutcome => ({ content: text, isError: true, structured: `Error: ${text}` });

/** Errors in how a tool was called stand in this frame; errors of the tool itself do not. */
const usageError = (text: string): string => `<tool_use_error>${text}</tool_use_error>`;

const invalidJson = (tool: Tool, raw: string): string =>
  `InputValidationError: ${tool.name} was called with an input that is not a JSON object (${raw.length} characters arrived, ending in ${JSON.stringify(raw.slice(-40))}).`;

function toOutcome(output: ToolOutput): CallOutcome {
  const isError = output.isError ?? false;
  const text = typeof output.content === 'string' ? output.content : JSON.stringify(output.content);
  return { content: output.content, isError, structured: output.structured ?? (isError ? `Error: ${text}` : text) };
}

function toolContext(scope: SessionScope, options: { call: OpenCall; tool: Tool; signal: AbortSignal }): ToolContext {
  const { call, tool, signal } = options;
  const startedAt = scope.clock.monotonic();
  return {
    workspace: scope.workspace,
    clock: scope.clock,
    signal,
    toolUseId: call.block.id,
    cwd: scope.state.cwd,
    setCwd: (path) => {
      scope.state.cwd = path;
    },
    roots: scope.state.roots,
    env: scope.childEnv,
    ledger: scope.ledger,
    progress: () =>
      scope.recorder.emit({
        type: 'tool_progress',
        tool_use_id: call.block.id,
        tool_name: tool.name,
        parent_tool_use_id: null,
        elapsed_time_seconds: Math.round((scope.clock.monotonic() - startedAt) / 1000),
        uuid: scope.clock.uuid(),
        session_id: scope.id,
      }),
    keep: (name, text) => scope.keep(name, text),
  };
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
