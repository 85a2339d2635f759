/** What hosts are told of an agent that works in the foreground; one in the background is a task, which tells of itself. */
import type { SystemMessage } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';
import type { AgentIdentity } from './identity.js';
import type { AgentOutcome } from './session-agents.js';

export interface TaskVoice {
  /** Calls that the agent has made. */
  readonly toolUses: number;
  tellStart(): void;
  tellCall(toolName: string): void;
  tellEnd(outcome: AgentOutcome): void;
}

export interface VoiceOptions {
  identity: AgentIdentity;
  prompt: string;
  isBackground: boolean;
  /** What it has used until now. */
  tokens(): number;
}

type Fields<M> = M extends SystemMessage ? Omit<M, 'type' | 'uuid' | 'session_id'> : never;

export function createTaskVoice(
  { recorder, clock, manners, id: session_id }: SessionScope,
  { identity, prompt, isBackground, tokens }: VoiceOptions,
): TaskVoice {
  const startedAt = clock.monotonic();
  const { id: task_id, toolUseId: tool_use_id, type: subagent_type, description, depth: spawn_depth } = identity;
  const names = { task_id, tool_use_id };
  const colored = identity.color === undefined ? {} : { color: identity.color };
  let toolUses = 0;
  const emit = (fields: Fields<SystemMessage>): void => {
    recorder.emit({ type: 'system', uuid: clock.uuid(), session_id, ...fields });
  };
  return {
    get toolUses() {
      return toolUses;
    },
    tellStart() {
      if (isBackground) return;
      const facts = { description, subagent_type, ...colored, spawn_depth, prompt };
      emit({ subtype: 'task_started', ...names, ...facts, task_type: 'local_agent', is_backgrounded: false });
    },
    tellCall(last_tool_name) {
      toolUses += 1;
      if (!manners.tellsTaskProgress) return;
      const duration_ms = Math.round(clock.monotonic() - startedAt);
      const usage = { total_tokens: tokens(), tool_uses: toolUses, duration_ms };
      emit({ subtype: 'task_progress', ...names, description, subagent_type, usage, last_tool_name });
    },
    tellEnd({ status, text, totalTokens, durationMs }) {
      if (isBackground || !manners.tellsTaskProgress) return;
      const patch = { status: status === 'stopped' ? 'killed' : status, end_time: clock.now() };
      emit({ subtype: 'task_updated', ...names, patch });
      const usage = { total_tokens: totalTokens, tool_uses: toolUses, duration_ms: durationMs };
      const summary = text.split('\n', 1)[0]?.slice(0, 200) ?? '';
      emit({ subtype: 'task_notification', ...names, status, output_file: '', summary, usage });
    },
  };
}
