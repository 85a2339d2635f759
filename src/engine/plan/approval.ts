import type { ExitPlanModeInput } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { LeftPlan } from './plan-mode.js';

/** What the model is told of a plan that was approved. */
export function describeApproval(
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

const REMOTE_FIELDS = ['pushToRemote', 'remoteSessionId', 'remoteSessionUrl', 'remoteSessionTitle'] as const;

/** Who wants the plan carried out elsewhere must not find it carried out here. */
export function refuseRemote(input: ExitPlanModeInput): void {
  const wanted = REMOTE_FIELDS.filter(
    (field) => input[field] !== undefined && input[field] !== false && input[field] !== '',
  );
  if (wanted.length === 0) return;
  throw new HeddleError(
    'not_supported',
    `Remote sessions are unsupported: a plan is carried out in this session only. Leave out ${wanted.join(', ')}.`,
  );
}
