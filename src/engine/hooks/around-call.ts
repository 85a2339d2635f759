/** What hooks say before and after a tool call. */
import type { ToolOutput, ToolUseBlock, WholeTool } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import type { HookVerdict } from './verdict.js';
import { blockingText, contextText, denialText, toReminder } from './texts.js';

export interface HookedCall {
  block: ToolUseBlock;
  tool: WholeTool;
  input: Record<string, unknown>;
}

/** What hooks add to the fate of a call. */
export interface HookRemarks {
  /** For the model, beside the result. */
  notes: string[];
  /** A hook wants the turn to end. */
  stop?: { reason?: string };
}

export interface CallOpinion extends HookRemarks {
  /** What the hooks want to be done about the call; undefined: they leave it open. */
  decision?: { verdict: 'allow' | 'ask' | 'deny'; reason: string };
  updatedInput?: Record<string, unknown>;
}

const fieldsOf = ({ block, tool, input }: HookedCall) => ({
  tool_name: tool.name,
  tool_input: input,
  tool_use_id: block.id,
});

/** Asks the PreToolUse hooks. What they change is not judged yet. */
export async function beforeCall(scope: SessionScope, call: HookedCall, signal: AbortSignal): Promise<CallOpinion> {
  if (!scope.hooks.has('PreToolUse')) return { notes: [] };
  const verdict = await scope.hooks.fire('PreToolUse', fieldsOf(call), { signal, toolUseId: call.block.id });
  const name = `PreToolUse:${call.tool.name}`;
  return {
    ...toRemarks(name, verdict),
    ...(verdict.decision && { decision: { verdict: verdict.decision, reason: reasonOf(name, verdict) } }),
    ...(verdict.updatedInput && { updatedInput: verdict.updatedInput }),
  };
}

function reasonOf(name: string, { by, decision }: HookVerdict): string {
  if (by === undefined) return `A ${name} hook decided so`;
  return decision === 'deny' && by.byExit ? denialText(name, { reason: by.reason, command: by.source }) : by.reason;
}

/** Tells the hooks what became of a call that ran. They may replace what it gave. */
export async function afterCall(
  scope: SessionScope,
  call: HookedCall & { output: ToolOutput; durationMs: number },
  signal: AbortSignal,
): Promise<HookRemarks & { output: ToolOutput }> {
  const { output, durationMs, tool } = call;
  const event = output.isError ? 'PostToolUseFailure' : 'PostToolUse';
  if (!scope.hooks.has(event)) return { notes: [], output };
  const fields = { ...fieldsOf(call), duration_ms: Math.round(durationMs) };
  // An interrupt must not keep hooks from hearing of what was done until then.
  const options = { signal: signal.aborted ? new AbortController().signal : signal, toolUseId: call.block.id };
  const verdict = output.isError
    ? await scope.hooks.fire(
        'PostToolUseFailure',
        { ...fields, error: textOf(output), is_interrupt: signal.aborted },
        options,
      )
    : await scope.hooks.fire('PostToolUse', { ...fields, tool_response: output.structured ?? output.content }, options);
  return { ...toRemarks(`${event}:${tool.name}`, verdict), output: replaced(tool, output, verdict) };
}

const textOf = ({ content }: ToolOutput): string => (typeof content === 'string' ? content : JSON.stringify(content));

export function toRemarks(name: string, verdict: HookVerdict): HookRemarks {
  const contexts = verdict.additionalContext.map((context) => toReminder(contextText(name, context)));
  const objections = name.startsWith('PreToolUse') ? [] : (verdict.block?.all ?? []);
  const notes = [...contexts, ...objections.map((objection) => toReminder(blockingText(name, objection)))];
  return { notes, ...(verdict.stop && { stop: verdict.stop }) };
}

function replaced(tool: WholeTool, output: ToolOutput, verdict: HookVerdict): ToolOutput {
  const isMcp = tool.name.startsWith('mcp__');
  const update = (isMcp ? verdict.updatedMCPToolOutput : undefined) ?? verdict.updatedToolOutput;
  if (update === undefined) return output;
  const { value } = update;
  return { content: typeof value === 'string' ? value : JSON.stringify(value), structured: value };
}
