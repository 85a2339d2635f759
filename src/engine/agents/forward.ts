/** What the outside sees of a subagent: its calls and their results, stamped with where they belong. */
import type { AssistantMessage, Message } from '../../protocol/index.js';
import type { Watcher } from '../outbox.js';
import type { Recorder } from '../recorder.js';
import type { AgentIdentity } from './identity.js';

export interface ForwardOptions {
  agent: AgentIdentity;
  /** Show what the agent says, too, not only what it does. */
  showsText: boolean;
  /** Called for each call that it makes. */
  onCall(toolName: string): void;
}

/** Messages that make sense without knowing the agent's own session, those of its own agents among them. */
const PASSED: ReadonlySet<string> = new Set([
  'api_retry',
  'hook_progress',
  'hook_response',
  'hook_started',
  'informational',
  'model_fallback',
  'permission_denied',
  'session_writes_lost',
  'task_notification',
  'task_progress',
  'task_started',
  'task_updated',
]);

/** Watches the outbox of an agent, and passes on what the parent's watchers should see. */
export function createForwarder(parent: Recorder, { agent, showsText, onCall }: ForwardOptions): Watcher {
  const stamp = { parent_tool_use_id: agent.toolUseId, agent_id: agent.id, subagent_type: agent.type };
  const deliver = (message: Message): void => {
    if (message.type === 'system') {
      if (PASSED.has(message.subtype)) parent.emit(message);
    } else if (message.type === 'user' || message.type === 'assistant') {
      // An agent of its own has stamped its messages already.
      if (message.parent_tool_use_id) return parent.outbox.emitDurable(message);
      const calls = message.type === 'assistant' ? callsOf(message) : undefined;
      const task_description = agent.description;
      if (calls?.length !== 0 || showsText) parent.outbox.emitDurable({ ...message, ...stamp, task_description });
      for (const name of calls ?? []) onCall(name);
    } else if (message.type === 'tool_progress') {
      const parent_tool_use_id = message.parent_tool_use_id ?? agent.toolUseId;
      parent.emit({ ...message, parent_tool_use_id });
    }
  };
  return {
    deliver,
    shown: (signal) => parent.outbox.shown(signal),
    // An agent goes no faster than those who watch its parent.
    backlog: () => ({ size: Infinity, belowLimit: () => parent.outbox.ready(NEVER) }),
  };
}

const NEVER = new AbortController().signal;

const callsOf = ({ message: { content } }: AssistantMessage): string[] =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
