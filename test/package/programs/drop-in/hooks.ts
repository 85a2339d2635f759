// Hooks with their types. This version refuses them at run time, so this program is only compiled.
import {
  EXIT_REASONS,
  HOOK_EVENTS,
  query,
  type AsyncHookJSONOutput,
  type BaseHookInput,
  type ExitReason,
  type HookCallback,
  type HookCallbackMatcher,
  type HookEvent,
  type HookInput,
  type HookJSONOutput,
  type PostToolUseHookInput,
  type PreToolUseHookInput,
  type SyncHookJSONOutput,
  type UserPromptSubmitHookInput,
} from '@anthropic-ai/claude-agent-sdk';

const events: readonly HookEvent[] = HOOK_EVENTS;
const reasons: readonly ExitReason[] = EXIT_REASONS;

const guard: HookCallback = async (input, toolUseID, { signal }) => {
  const { tool_name, tool_input } = input as PreToolUseHookInput;
  const command = (tool_input as { command?: string }).command ?? '';
  if (signal.aborted || toolUseID === undefined || tool_name !== 'Bash' || !command.includes('rm -rf')) return {};
  return {
    systemMessage: 'A dangerous command was stopped.',
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'Nothing is removed here.',
    },
  };
};

const audit: HookCallback = async (input: HookInput): Promise<HookJSONOutput> => {
  const base: BaseHookInput = input;
  console.log(base.session_id, base.transcript_path, base.cwd);
  switch (input.hook_event_name) {
    case 'PostToolUse': {
      const { tool_name, tool_response, tool_use_id }: PostToolUseHookInput = input;
      console.log(tool_name, tool_response, tool_use_id);
      return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'Noted.' } };
    }
    case 'UserPromptSubmit': {
      const { prompt }: UserPromptSubmitHookInput = input;
      return prompt.includes('secret') ? { decision: 'block', reason: 'No secrets.' } : { continue: true };
    }
    case 'SessionStart':
      return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: input.source } };
    case 'SubagentStop':
      console.log(input.agent_id, input.agent_transcript_path, input.stop_hook_active);
      return {};
    case 'PermissionRequest':
      return { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny' } } };
    case 'PreCompact':
      console.log(input.trigger, input.custom_instructions);
      return {};
    default:
      return {};
  }
};

const later: AsyncHookJSONOutput = { async: true, asyncTimeout: 5000 };
const stop: SyncHookJSONOutput = { continue: false, stopReason: 'Enough.', suppressOutput: true };

const hooks: Partial<Record<HookEvent, HookCallbackMatcher[]>> = {
  PreToolUse: [{ matcher: 'Bash', hooks: [guard], timeout: 10 }],
  PostToolUse: [{ matcher: 'Edit|Write', hooks: [audit, async () => later] }],
  UserPromptSubmit: [{ hooks: [audit] }],
  Stop: [{ hooks: [async () => stop] }],
};

for await (const message of query({ prompt: 'Tidy up.', options: { hooks } })) {
  if (message.type === 'system' && message.subtype === 'hook_response') console.log(message.outcome, message.stdout);
  console.log(events.length, reasons.length, message.type);
}
