import type { ParamsOf, PermissionResult } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { CanUseTool, ElicitationResult, OnElicitation } from './options.js';

/** Puts a permission question to the caller's callback. An answer of the wrong shape is an error here, in the host. */
export async function answerPermission(
  canUseTool: CanUseTool,
  params: ParamsOf<'can_use_tool'>,
  signal: AbortSignal,
): Promise<PermissionResult> {
  const answer: unknown = await canUseTool(params.tool_name, params.input, {
    signal,
    toolUseID: params.tool_use_id,
    ...(params.permission_suggestions && { suggestions: params.permission_suggestions }),
    ...(params.blocked_path && { blockedPath: params.blocked_path }),
    ...(params.decision_reason && { decisionReason: params.decision_reason }),
    ...(params.description && { description: params.description }),
    ...(params.explanation !== undefined && { explanation: params.explanation }),
    ...(params.cwd !== undefined && { cwd: params.cwd }),
    ...(params.agent_id && { agentID: params.agent_id }),
    ...(params.parent_tool_use_id && { parentToolUseID: params.parent_tool_use_id }),
  });
  const { toPermissionResult } = await import('../protocol/index.js');
  return { ...toPermissionResult(answer), toolUseID: params.tool_use_id };
}

/** Puts the question of an MCP server to the caller's callback. What is no answer is an error, and the server gets a no. */
export async function answerElicitation(
  onElicitation: OnElicitation,
  { mcp_server_name, message, mode, url, elicitation_id, requested_schema }: ParamsOf<'elicitation'>,
  signal: AbortSignal,
): Promise<ElicitationResult> {
  const request = {
    serverName: mcp_server_name,
    message,
    ...(mode !== undefined && { mode: mode === 'url' ? ('url' as const) : ('form' as const) }),
    ...(url !== undefined && { url }),
    ...(elicitation_id !== undefined && { elicitationId: elicitation_id }),
    ...(requested_schema && { requestedSchema: requested_schema }),
  };
  const answer: unknown = await onElicitation(request, { signal });
  const { action, content } = (answer ?? {}) as Partial<ElicitationResult>;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw new HeddleError('invalid_answer', 'onElicitation must answer { action: "accept" | "decline" | "cancel" }.');
  }
  return { action, ...(content && { content }) };
}
