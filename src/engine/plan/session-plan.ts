import { setMode } from '../choices.js';
import { type OpenCall, openCalls } from '../next-action.js';
import type { SessionScope } from '../scope.js';
import { isLifeEntry } from '../sessions/entry.js';
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
      if (scope.state.mode !== 'plan' && shownAt(scope) === undefined) {
        throw new Error('Plan mode is not on, so there is no plan to approve. Go on with the work.');
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
      if (state.mode === 'plan' && !hasChosenPlan(scope)) setMode(scope, state.modeBefore ?? 'default');
      if (state.mode !== 'plan') notePlanTold(scope, false);
      return { mode: state.mode, path: await writePlan(scope, plan) };
    },
  };
}

/**
 * Where the question stands in the log that a person was asked about a plan and that has not been denied: whoever approves
 * it may have left plan mode before the answer arrives.
 */
function shownAt({ recorder }: SessionScope): number | undefined {
  const { entries } = recorder.log;
  const call = openCalls(entries).find(
    ({ block, shown, answer }) => block.name === 'ExitPlanMode' && shown && !isDenial(answer),
  );
  return call?.shown && entries.indexOf(call.shown);
}

const isDenial = (answer: OpenCall['answer']): boolean => answer?.behavior === 'deny';

/** Whoever approved the plan wants plan mode to go on. */
function hasChosenPlan(scope: SessionScope): boolean {
  const since = scope.recorder.log.entries.slice(shownAt(scope) ?? Infinity);
  return since.some((entry) => isLifeEntry(entry) && entry.kind === 'set' && entry.mode === 'plan');
}
