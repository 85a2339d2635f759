import type { ParamsOf, PermissionResult } from '../protocol/index.js';
import type { CanUseTool } from './options.js';

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
    ...(params.agent_id && { agentID: params.agent_id }),
  });
  const { toPermissionResult } = await import('../protocol/index.js');
  return { ...toPermissionResult(answer), toolUseID: params.tool_use_id };
}
