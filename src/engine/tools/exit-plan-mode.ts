import type { ExitPlanModeInput, WholeTool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { PlanMode } from '../plan/plan-mode.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** The plan is put to a person by permission, before the tool runs; the answer may change it. */
export const createExitPlanModeTool = ({ plan }: { plan: PlanMode }): WholeTool<ExitPlanModeInput> => ({
  name: 'ExitPlanMode',
  description: 'Puts your plan, by default that in its file, to the user. Once it is approved, plan mode ends.',
  inputSchema: inputSchemaOf('ExitPlanMode'),
  async parse(given) {
    const input = await parseToolInput('ExitPlanMode', given);
    refuseRemote(input);
    return { ...input, plan: await plan.show(input.plan) };
  },
  // Calls after it are judged by another mode.
  isReadOnly: () => false,
  async run({ plan: approved = '', allowedPrompts = [] }) {
    const left = await plan.leave(approved);
    const { describeApproval } = await import('../plan/approval.js');
    return {
      content: describeApproval(approved, { left, allowedPrompts }),
      structured: { plan: approved, isAgent: false, filePath: left.path ?? null },
    };
  },
});

const REMOTE_FIELDS = ['pushToRemote', 'remoteSessionId', 'remoteSessionUrl', 'remoteSessionTitle'] as const;

/** Who wants the plan carried out elsewhere must not find it carried out here. */
function refuseRemote(input: ExitPlanModeInput): void {
  const wanted = REMOTE_FIELDS.filter(
    (field) => input[field] !== undefined && input[field] !== false && input[field] !== '',
  );
  if (wanted.length === 0) return;
  throw new HeddleError(
    'not_supported',
    `Remote sessions are unsupported: a plan is carried out in this session only. Leave out ${wanted.join(', ')}.`,
  );
}
