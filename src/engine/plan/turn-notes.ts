/** What the model has to know of plan mode when a turn begins, or when the conversation was summed up. */
import { toReminder } from '../reminder.js';
import type { SessionScope } from '../scope.js';
import { choosePlanFile, findPlanFile, readPlan } from './plan-file.js';
import { describePlanEnd, describePlanMode } from './texts.js';

/** How to work in plan mode, and once that it is over when someone else than the model has ended it. */
export async function planNotes(scope: SessionScope): Promise<string[]> {
  const { state } = scope;
  if (state.mode === 'plan') return [toReminder(await tellPlanMode(scope))];
  if (state.planTold !== true) return [];
  notePlanTold(scope, false);
  return [toReminder(describePlanEnd(state.mode, await findPlanFile(scope)))];
}

/** All of it, for a model that is told now. */
export async function tellPlanMode(scope: SessionScope): Promise<string> {
  const path = await choosePlanFile(scope);
  notePlanTold(scope, true);
  const { planModeInstructions: instructions } = scope.config;
  const hasPlan = (await readPlan(scope)) !== undefined;
  return describePlanMode({ path, hasPlan, tools: scope.state.tools.names, instructions });
}

/** What the model believes outlives the process. */
export function notePlanTold({ state, recorder }: SessionScope, planTold: boolean): void {
  if ((state.planTold ?? false) === planTold) return;
  state.planTold = planTold;
  // A session may have begun with planning: then nothing else says so.
  const modes = planTold && { mode: 'plan' as const, modeBefore: state.modeBefore ?? 'default' };
  void recorder.life({ kind: 'set', planTold, ...modes });
}

/** What was said of plan mode stood in what was summed up. */
export async function carryPlan(scope: SessionScope): Promise<string[]> {
  const { state } = scope;
  if (scope.agent !== undefined) return [];
  if (state.mode === 'plan') return [await tellPlanMode(scope)];
  const path = await findPlanFile(scope);
  return path === undefined ? [] : [`The last plan of this session is in ${path}.`];
}
