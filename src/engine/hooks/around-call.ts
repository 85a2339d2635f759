/** What hooks say before and after a tool call. */
import type { ToolOutput, ToolResultContentBlock, ToolUseBlock, WholeTool } from '../../protocol/index.js';
import type { HookOpinion } from '../permissions/decide-hooked.js';
import type { SessionScope } from '../scope.js';
import { toReminder } from '../reminder.js';
import { createGrace } from './grace.js';
import { blockingText, contextText, denialText } from './texts.js';
import type { HookVerdict } from './verdict.js';
import { warnOfHook } from './warning.js';

export interface HookedCall {
  block: Pick<ToolUseBlock, 'id'>;
  tool: Pick<WholeTool, 'name'>;
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
  decision?: HookOpinion;
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
    ...(verdict.decision && {
      decision: {
        verdict: verdict.decision,
        reason: reasonOf(name, verdict),
        ...(verdict.by && { source: verdict.by.source }),
      },
    }),
    ...(verdict.updatedInput && { updatedInput: verdict.updatedInput }),
  };
}

function reasonOf(name: string, { by, decision }: HookVerdict): string {
  if (by === undefined) return `A ${name} hook decided so`;
  return decision === 'deny' && by.byExit ? denialText(name, { reason: by.reason, command: by.source }) : by.reason;
}

export interface EndedCall extends HookedCall {
  output: ToolOutput;
  durationMs: number;
  /** When the call was told to stop, if it was. */
  abortedAt: number | undefined;
}

/** Tells the hooks what became of a call that ran. They may replace what it gave. */
export async function afterCall(
  scope: SessionScope,
  call: EndedCall,
  signal: AbortSignal,
): Promise<HookRemarks & { output: ToolOutput }> {
  const { output, durationMs, tool, abortedAt } = call;
  const event = output.isError ? 'PostToolUseFailure' : 'PostToolUse';
  if (!scope.hooks.has(event)) return { notes: [], output };
  const fields = { ...fieldsOf(call), duration_ms: Math.round(durationMs) };
  // An interrupt must not keep hooks from hearing of what was done until then, and they must not hold it up.
  const grace = createGrace(scope.clock, signal, abortedAt);
  const options = { signal: grace.signal, toolUseId: call.block.id };
  try {
    const verdict = output.isError
      ? await scope.hooks.fire(
          'PostToolUseFailure',
          { ...fields, error: textOf(output), is_interrupt: signal.aborted },
          options,
        )
      : await scope.hooks.fire(
          'PostToolUse',
          { ...fields, tool_response: output.structured ?? output.content },
          options,
        );
    return { ...toRemarks(`${event}:${tool.name}`, verdict), output: replaced(scope, call, verdict) };
  } finally {
    grace.release();
  }
}

const textOf = ({ content }: ToolOutput): string => (typeof content === 'string' ? content : JSON.stringify(content));

export function toRemarks(name: string, verdict: HookVerdict): HookRemarks {
  const contexts = verdict.additionalContext.map((context) => toReminder(contextText(name, context)));
  const objections = name.startsWith('PreToolUse') ? [] : (verdict.block?.all ?? []);
  const notes = [...contexts, ...objections.map((objection) => toReminder(blockingText(name, objection)))];
  return { notes, ...(verdict.stop && { stop: verdict.stop }) };
}

function replaced(scope: SessionScope, { tool, output }: EndedCall, verdict: HookVerdict): ToolOutput {
  const isMcp = tool.name.startsWith('mcp__');
  if (verdict.updatedMCPToolOutput && !isMcp) {
    warnOfHook(
      scope,
      `PostToolUse:${tool.name} hook: updatedMCPToolOutput is for tools of MCP servers and changes nothing here; updatedToolOutput is for every tool.`,
    );
  }
  const update = (isMcp ? verdict.updatedMCPToolOutput : undefined) ?? verdict.updatedToolOutput;
  if (update === undefined) return output;
  const { value } = update;
  const content = typeof value === 'string' || areBlocks(value) ? value : JSON.stringify(value);
  return { content, structured: value };
}

/** The form in which hooks are given what a tool of a server said; they may give it back in the same. */
const areBlocks = (value: unknown): value is ToolResultContentBlock[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => isText(each) || isImage(each));

const isText = (block: { type?: unknown; text?: unknown } | null): boolean =>
  block?.type === 'text' && typeof block.text === 'string';

const isImage = (block: { type?: unknown; source?: Record<string, unknown> } | null): boolean =>
  block?.type === 'image' &&
  block.source?.type === 'base64' &&
  [block.source.data, block.source.media_type].every((each) => typeof each === 'string');

/** Tells the hooks that a person is wanted. Nobody waits for them, so what they add comes with the next prompt. */
export async function notify(
  { hooks }: SessionScope,
  fields: { message: string; notification_type: string },
  signal: AbortSignal,
): Promise<void> {
  if (!hooks.has('Notification')) return;
  const { additionalContext } = await hooks.fire('Notification', fields, { signal });
  const name = `Notification:${fields.notification_type}`;
  hooks.tellLater(additionalContext.map((context) => toReminder(contextText(name, context))));
}
