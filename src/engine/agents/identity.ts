import type { AgentColor } from '../../protocol/plain.js';

/** Whose session it is, when it is that of a subagent. */
export interface AgentIdentity {
  /** `a` and sixteen hex digits. */
  id: string;
  /** The name of its definition. */
  type: string;
  /** The call that started it, which its messages are stamped with. */
  toolUseId: string;
  /** The task in a few words. */
  description: string;
  /** One for an agent of the main thread. */
  depth: number;
  /** In which people are shown it. */
  color?: AgentColor;
}

export const agentIdOf = (uuid: string): string => `a${uuid.replaceAll('-', '').slice(0, 16)}`;

export const isAgentId = (text: string): boolean => /^a[0-9a-f]{16}$/.test(text);
