import { setMode } from '../choices.js';
import type { SessionScope } from '../scope.js';
import { MAX_PLAN_BYTES, choosePlanFile, readPlan, writePlan } from './plan-file.js';
import type { PlanMode } from './plan-mode.js';
import { notePlanTold, tellPlanMode } from './turn-notes.js';

/** Plan mode of the main thread, whose scope is asked for when it is used. */
export function createPlanMode(main: () => SessionScope): PlanMode {
  return {
    async enter() {
      const scope = main();
      if (scope.state.mode !== 'plan') setMode(scope, 'plan');
      return tellPlanMode(scope);
    },

    async show(given) {
      const scope = main();
      const { isOnlyPlan, shownAt } = await import('./shown-plan.js');
      if (scope.state.mode !== 'plan' && shownAt(scope) === undefined) {
        throw new Error('Plan mode is not on, so there is no plan to approve. Go on with the work.');
      }
      if (!isOnlyPlan(scope)) {
        throw new Error('There are several calls of ExitPlanMode in this answer, and none was shown. Call it once.');
      }
      const plan = given?.trim() ? given : await readPlan(scope);
      if (plan === undefined) {
        const path = await choosePlanFile(scope);
        throw new Error(
          `There is no plan yet. Write it to ${path}, or give it as \`plan\`, and call ExitPlanMode again.`,
        );
      }
      if (Buffer.byteLength(plan) > MAX_PLAN_BYTES) {
        throw new Error(`The plan is longer than ${MAX_PLAN_BYTES / 1024} KB. Make it shorter.`);
      }
      // What is shown is what is kept: an answer that leaves the plan out means this one.
      await writePlan(scope, plan);
      return plan;
    },

    async leave(plan) {
      const scope = main();
      const { state } = scope;
      const { hasChosenPlan } = await import('./shown-plan.js');
      if (state.mode === 'plan' && !hasChosenPlan(scope)) setMode(scope, state.modeBefore ?? 'default');
      if (state.mode !== 'plan') notePlanTold(scope, false);
      return { mode: state.mode, path: await writePlan(scope, plan) };
    },
  };
}
