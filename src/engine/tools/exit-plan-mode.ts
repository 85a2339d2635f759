import type { ExitPlanModeInput, WholeTool } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { LeftPlan, PlanMode } from '../plan/plan-mode.js';
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
    return {
      content: describe(approved, { left, allowedPrompts }),
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

function describe(
  plan: string,
  { left: { mode, path }, allowedPrompts }: { left: LeftPlan } & Required<Pick<ExitPlanModeInput, 'allowedPrompts'>>,
): string {
  const prompts = allowedPrompts.map(({ prompt }) => prompt).join('; ');
  return [
    mode === 'plan'
      ? 'The user has approved the plan and wants plan mode to stay on: do not carry the plan out yet.'
      : `The user has approved the plan. Plan mode is off and the permission mode is ${mode}: carry the plan out now.`,
    ...(path === undefined ? [] : [`It is kept in ${path}.`]),
    ...(prompts === ''
      ? []
      : [
          `The user saw what you want to run (${prompts}). That allows nothing by itself: commands are judged as ever.`,
        ]),
    `The plan as it was approved, which counts where yours was different:\n\n${plan}`,
  ].join('\n');
}
