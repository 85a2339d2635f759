/** What the model is told of plan mode. */

export interface PlanFacts {
  path: string;
  /** Something is in the file. */
  hasPlan: boolean;
  /** The tools that there are. */
  tools: readonly string[];
  /** What the host wants instead of our words on how to plan. */
  instructions?: string | undefined;
}

export function describePlanMode({ path, hasPlan, tools, instructions }: PlanFacts): string {
  const has = (name: string): boolean => tools.includes(name);
  const asking = has('AskUserQuestion') ? ' Ask with AskUserQuestion what only the user can decide.' : '';
  const written = hasPlan
    ? `Your plan so far is in ${path}: read it and go on from it.`
    : `Write it to ${path}, which does not exist yet.`;
  const howTo =
    instructions ??
    `Find out what is there before you decide.${asking} Keep the plan short: what changes and why, which files, the steps in order, how the result is checked.`;
  return [
    'Plan mode is on: look around and plan, and change nothing yet. Calls that only read run; every other call is put to the user, so make one only if the plan depends on it.',
    howTo,
    ...(has('Write') || has('Edit')
      ? [`${written} It is the only file that you may change without being asked about it.`]
      : []),
    has('ExitPlanMode')
      ? 'When the plan is done, call ExitPlanMode: it shows the plan to the user, who decides. Do not ask for that in other ways. If it is not approved you stay in plan mode and are told why.'
      : 'Nobody can approve a plan here: end with the plan as your answer.',
  ].join('\n');
}

export const describePlanEnd = (mode: string, path: string | undefined): string =>
  `Plan mode is off: the user has left it, and the permission mode is ${mode}. You may change things again.` +
  (path === undefined ? '' : ` The last plan is in ${path}.`);

/** For an agent, which has no plan of its own. */
export const PLAN_NOTE_FOR_AGENTS =
  'Plan mode is on: change nothing. Calls that only read run; every other call is put to the user. Give back what you find out.';
