import type { UserMessage } from '../protocol/index.js';

export const toUserMessage = (prompt: string, sessionId: string): UserMessage => ({
  type: 'user',
  message: { role: 'user', content: prompt },
  parent_tool_use_id: null,
  session_id: sessionId,
});
