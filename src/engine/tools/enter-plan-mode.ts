import type { EnterPlanModeInput, WholeTool } from '../../protocol/index.js';
import type { PlanMode } from '../plan/plan-mode.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** That the user agrees is found out by permission, before the tool runs. */
export const createEnterPlanModeTool = ({ plan }: { plan: PlanMode }): WholeTool<EnterPlanModeInput> => ({
  name: 'EnterPlanMode',
  description: 'Asks the user to let you plan before you change anything: for large or unclear work.',
  inputSchema: inputSchemaOf('EnterPlanMode'),
  parse: (input) => parseToolInput('EnterPlanMode', input),
  // Calls after it are judged by another mode.
  isReadOnly: () => false,
  async run() {
    const message = await plan.enter();
    return { content: message, structured: { message } };
  },
});
