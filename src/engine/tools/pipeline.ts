import { isDeepStrictEqual } from 'node:util';
import type { Clock, Tool, ToolContext, ToolOutput, ToolResultContent, WholeTool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { CheckpointedCall } from '../checkpoints/checkpoints.js';
import { setCwd } from '../choices.js';
import { afterCall, beforeCall, type HookRemarks } from '../hooks/around-call.js';
import { watchAbort } from '../hooks/grace.js';
import type { OpenCall } from '../next-action.js';
import { type Grounds, groundsOf, type ToolCall } from '../permissions/session-case.js';
import type { SessionScope } from '../scope.js';
import { boundOutput, cutText } from './bound.js';
import { contextParts } from './context-parts.js';
import type { EngineOutput } from './engine-output.js';

/** What became of a tool call. Every way it can end is a value; the model sees them all. */
export interface CallOutcome {
  content: ToolResultContent;
  isError: boolean;
  structured: unknown;
  /** Someone who denied the call wants the turn to end. */
  interrupt?: boolean;
  /** What hooks have to say about it. */
  remarks?: HookRemarks;
}

export interface CallOptions {
  signal: AbortSignal;
  /** Resolves when this call may run beside the others of its message. */
  mayRun(call: { readOnly: boolean }): Promise<void>;
  /** Called when nothing but what the tool itself refuses keeps the call from running. */
  onStart?(): void;
  /** Absent: the one that the turn has under the name. */
  tool?: WholeTool;
}

/** Runs a call to its outcome, whatever its tool does. Never throws. */
export const runCall = (scope: SessionScope, call: OpenCall, options: CallOptions): Promise<CallOutcome> =>
  live(scope, call, options).catch((thrown: unknown) => refuse(messageOf(thrown)));

/** The life of a tool call, in reading order: every early exit is an error result. */
async function live(scope: SessionScope, call: OpenCall, options: CallOptions): Promise<CallOutcome> {
  const { block } = call;
  const { signal } = options;
  if (call.life === 'started') return refuse(unknownEnd(call));

  // A server that is on its way may bring it.
  if (isMcpName(block.name)) await scope.mcp.toolArrived(block.name, { signal, withinMs: ARRIVAL_MS });
  const tool = options.tool ?? scope.state.tools.get(block.name);
  if (tool === undefined) return refuseUsage(`Error: No such tool available: ${block.name}`);
  if (call.invalidInput !== undefined) return refuseUsage(invalidJson(tool, call.invalidInput));
  let input: Record<string, unknown>;
  try {
    input = await unlessDeaf(scope.clock, tool.parse(withoutHostFields(tool, block.input)), signal);
  } catch (thrown) {
    return refuseUsage(messageOf(thrown));
  }

  await scope.guard.refresh();
  const opinion = await beforeCall(scope, { block, tool, input }, signal);
  const remarks: HookRemarks = { notes: [...opinion.notes], ...(opinion.stop && { stop: opinion.stop }) };
  try {
    if (opinion.updatedInput) input = await unlessDeaf(scope.clock, tool.parse(opinion.updatedInput), signal);
  } catch (thrown) {
    return { ...refuseUsage(`A hook changed the input. ${messageOf(thrown)}`), remarks };
  }

  const judged = {
    tool,
    input,
    ...(opinion.decision && { hook: opinion.decision }),
    ...(opinion.updatedInput && { isRewritten: true }),
  };
  // Loaded with the first call.
  const { resolvePermission } = await import('../permissions/resolver.js');
  let permission = await resolvePermission(scope, { call, ...judged }, signal);
  if (permission.kind === 'allow') {
    if (!isDeepStrictEqual(judged.input, permission.input)) judged.isRewritten = true;
    judged.input = permission.input;
    await options.mayRun({ readOnly: tool.isReadOnly(judged.input, { cwd: scope.state.cwd }) });
    // Calls before this one may have moved the folder or a link, and so what was judged, or begun to
    // plan: then it is judged anew.
    for (let round = 0; permission.kind === 'allow' && !(await isAsJudged(scope, judged, permission)); round += 1) {
      if (round === MAX_ROUNDS) return { ...refuse(UNSTEADY), remarks };
      permission = await resolvePermission(scope, { call: { block, life: 'new' }, ...judged }, signal);
      judged.input = permission.input;
    }
  }
  if (signal.aborted) return { ...refuse(NOT_RUN), remarks };
  if (permission.kind === 'deny') return { ...refuse(permission.message), interrupt: permission.interrupt, remarks };
  input = permission.input;
  options.onStart?.();

  const { exclusions = [], judgedOn } = permission;
  const context = toolContext(scope, { call, tool, signal, places: judgedOn.places, exclusions });
  const startedAt = scope.clock.monotonic();
  const abortedAt = watchAbort(scope.clock, signal);
  let output: ToolOutput;
  try {
    const refusal = await unlessDeaf(scope.clock, tool.enforce?.(input, context), signal);
    if (refusal !== undefined) return { ...refuseUsage(refusal), remarks };
    const readOnly = tool.isReadOnly(input, { cwd: scope.state.cwd });
    const change = readOnly ? undefined : toChange(tool, input, context);
    if (change) await unlessDeaf(scope.clock, scope.checkpoints?.beforeCall(change), signal);
    await scope.recorder.life({ kind: 'call', state: 'started', toolUseId: block.id }, { sync: !readOnly });
    // What was approved before this process began would be run once more by the next one.
    if (call.answer && scope.recorder.losesWrites) return { ...refuse(UNRECORDED), remarks };
    try {
      output = await checkOutput(tool, await run(tool, input, context));
    } finally {
      if (change) await unlessDeaf(scope.clock, scope.checkpoints?.afterCall(change), signal);
    }
  } catch (thrown) {
    output = { content: signal.aborted && !isLoss(thrown) ? INTERRUPTED : messageOf(thrown), isError: true };
  }

  const durationMs = scope.clock.monotonic() - startedAt;
  const ended = { block, tool, input, output, durationMs, abortedAt: abortedAt() };
  const after = await afterCall(scope, ended, signal);
  remarks.notes.push(...after.notes);
  if (after.stop) remarks.stop ??= after.stop;
  if (!after.output.isError && NAMES_FILES.has(tool.name)) {
    remarks.notes.push(...(await scope.memory.tellNested([...judgedOn.places.values()], signal)));
  }
  const bounded = await boundOutput(after.output, { limits: tool.limits, name: block.id, keep: context.keep });
  const { interrupt = false }: EngineOutput = output;
  return { ...toOutcome(bounded), interrupt, remarks };
}

/** They touch the files that they name: the folders of these may have instructions of their own. */
const NAMES_FILES: ReadonlySet<string> = new Set(['Edit', 'NotebookEdit', 'Read', 'Write']);

/** The other end was gone first, and the turn ended because of that: nobody has interrupted the call. */
const isLoss = (thrown: unknown): boolean => thrown instanceof HeddleError && thrown.code === 'channel_closed';

const isMcpName = (name: string): boolean => name.startsWith('mcp__');
const ARRIVAL_MS = 30_000;

/** What a call may change: files that it names, or any. */
export function toChange(tool: WholeTool, input: Record<string, unknown>, context: ToolContext): CheckpointedCall {
  const places = tool.accesses?.(input, { cwd: context.cwd }) ?? [];
  const writes = places.filter(({ access }) => access === 'write').map(({ path }) => context.judgedPath(path));
  const { name, edits = false } = tool;
  return { toolUseId: context.toolUseId, tool: name, edits, writes, shell: !edits && !LEAVES_FILES.has(name) };
}

/** Tools that change something, but no file of the project. */
const LEAVES_FILES: ReadonlySet<string> = new Set([
  'AskUserQuestion',
  'Config',
  'Skill',
  'EnterPlanMode',
  'ExitPlanMode',
  'TaskCreate',
  'TaskStop',
  'TaskUpdate',
  'TodoWrite',
  'WebFetch',
  'WebSearch',
]);

/** How often a call is judged anew because what it rests on has changed meanwhile. */
const MAX_ROUNDS = 3;

const isAsJudged = async (
  scope: SessionScope,
  call: ToolCall,
  { judgedOn }: { judgedOn: Grounds },
): Promise<boolean> => {
  const plansNow = scope.state.mode === 'plan' && judgedOn.mode !== 'plan';
  return !plansNow && (await groundsOf(scope, call).catch(() => undefined))?.key === judgedOn.key;
};

/** Lets the tool work; says meanwhile that it is alive, and does not wait for one that does not stop. */
async function run(tool: WholeTool, input: Record<string, unknown>, context: ToolContext): Promise<ToolOutput> {
  const stopTelling = tellProgress(context.clock, context);
  try {
    return await unlessDeaf(context.clock, tool.run(input, context), context.signal);
  } finally {
    stopTelling();
  }
}

/** An answer that the model gives in the name of a person is none. */
function withoutHostFields({ hostFields }: Tool, input: Record<string, unknown>): Record<string, unknown> {
  if (hostFields === undefined) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !hostFields.includes(key)));
}

/** A result that is not what its tool promises must not be taken for one. */
async function checkOutput(tool: Tool, output: ToolOutput): Promise<ToolOutput> {
  if (tool.outputSchema === undefined || output.isError) return output;
  const { checkAgainst } = await import('./json-schema.js');
  const problems =
    output.structured === undefined
      ? ['There is no structured output.']
      : await checkAgainst(tool.outputSchema, output.structured, 'output');
  if (problems.length === 0) return output;
  const content = `The result of ${tool.name} does not match the output schema of the tool:\n${problems.join('\n')}`;
  return { content, isError: true };
}

/** The outcome of a call that was never looked at, because its turn ended. */
export const notRun = (call: OpenCall): CallOutcome => refuse(call.life === 'started' ? unknownEnd(call) : NOT_RUN);

const NOT_RUN = 'This call was not run: the turn ended before its turn came.';
const UNSTEADY =
  'This call was not run: what it would have touched, or the tool itself, has changed again each time that it was approved.';
const INTERRUPTED = 'This call was interrupted while it ran. What it had done until then stays done.';
const UNKNOWN_END =
  'This call was started, and its result is not known here: the process ended, or the conversation went back to before it. It may have had its effect or not: check before you repeat it.';
const unknownEnd = ({ agentId }: OpenCall): string =>
  agentId === undefined
    ? UNKNOWN_END
    : `The agent ${agentId} was at work when the process ended, and was not started again. What it had done until then stays done. To go on with it where it stopped, give ${agentId} as resume.`;
const UNRECORDED =
  'This call was approved earlier, but was not run: the log of the session cannot be written, so nobody could tell later whether it ran. Ask the user to make room or to mend the disk, and call it again.';

const PROGRESS_MS = 3_000;

/** Says every few seconds that the call is alive, until the returned function is called. */
function tellProgress(clock: Clock, context: ToolContext): () => void {
  let cancel = () => {};
  const tick = () => {
    cancel = clock.after(PROGRESS_MS, () => {
      context.progress();
      tick();
    });
  };
  tick();
  return () => cancel();
}

/** A tool has this long to stop; one that does not hear is left behind, because a turn must be able to end. */
const DEAF_MS = 900;

function unlessDeaf<T>(clock: Clock, running: T | Promise<T>, signal: AbortSignal): Promise<T> {
  if (!(running instanceof Promise)) return Promise.resolve(running);
  return new Promise((resolve, reject) => {
    let cancel = () => {};
    const abort = () => {
      cancel = clock.after(DEAF_MS, () => reject(new Error('The tool did not stop when it was told to.')));
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    running.then(resolve, reject).finally(() => {
      cancel();
      signal.removeEventListener('abort', abort);
    });
  });
}

/** What is refused may echo what was sent; the start of it is enough. */
const MAX_REFUSAL = 10_000;

const shorten = (text: string): string => (text.length <= MAX_REFUSAL ? text : `${cutText(text, MAX_REFUSAL)} [cut]`);

function refuse(given: string): CallOutcome {
  const text = shorten(given);
  return { content: text, isError: true, structured: `Error: ${text}` };
}

/** Errors in how a tool was called stand in a frame; errors of the tool itself do not. */
function refuseUsage(text: string): CallOutcome {
  return { ...refuse(text), content: `<tool_use_error>${shorten(text)}</tool_use_error>` };
}

const invalidJson = (tool: Tool, raw: string): string =>
  `InputValidationError: ${tool.name} was called with an input that is not a JSON object (${raw.length} characters arrived, ending in ${JSON.stringify(raw.slice(-40))}).`;

function toOutcome(output: ToolOutput): CallOutcome {
  const isError = output.isError ?? false;
  const text = typeof output.content === 'string' ? output.content : JSON.stringify(output.content);
  return { content: output.content, isError, structured: output.structured ?? (isError ? `Error: ${text}` : text) };
}

function toolContext(
  scope: SessionScope,
  options: Pick<ToolContext, 'signal' | 'exclusions'> & {
    call: OpenCall;
    tool: Tool;
    places: ReadonlyMap<string, string>;
  },
): ToolContext {
  const { call, tool, signal, places, exclusions } = options;
  const startedAt = scope.clock.monotonic();
  return {
    ...contextParts(scope, signal),
    toolUseId: call.block.id,
    setCwd: (path) => setCwd(scope, path),
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
    judgedPath: (path) => places.get(path) ?? path,
    exclusions,
  };
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return 'Something was thrown that is no error.';
  }
}
