import type { ExitPlanModeInput, WholeTool } from '../../protocol/index.js';
import type { PlanMode } from '../plan/plan-mode.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** The plan is put to a person by permission, before the tool runs; the answer may change it. */
export const createExitPlanModeTool = ({ plan }: { plan: PlanMode }): WholeTool<ExitPlanModeInput> => ({
  name: 'ExitPlanMode',
  description: 'Puts your plan, by default that in its file, to the user. Once it is approved, plan mode ends.',
  inputSchema: inputSchemaOf('ExitPlanMode'),
  async parse(given) {
    const input = await parseToolInput('ExitPlanMode', given);
    (await import('../plan/approval.js')).refuseRemote(input);
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
