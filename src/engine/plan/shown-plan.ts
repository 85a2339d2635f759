/** What the log says of a plan that a person looks at. Pure. */
import { type OpenCall, openCalls } from '../next-action.js';
import type { SessionScope } from '../scope.js';
import { isLifeEntry } from '../sessions/entry.js';

/**
 * Where the question stands in the log that a person was asked about a plan and that has not been denied: whoever approves
 * it may have left plan mode before the answer arrives.
 */
export function shownAt({ recorder }: SessionScope): number | undefined {
  const { entries } = recorder.log;
  const call = openCalls(entries).find(
    ({ block, shown, answer }) => block.name === 'ExitPlanMode' && shown && !isDenial(answer),
  );
  return call?.shown && entries.indexOf(call.shown);
}

const isDenial = (answer: OpenCall['answer']): boolean => answer?.behavior === 'deny';

/** Whoever approved the plan wants plan mode to go on. */
export function hasChosenPlan(scope: SessionScope): boolean {
  const since = scope.recorder.log.entries.slice(shownAt(scope) ?? Infinity);
  return since.some((entry) => isLifeEntry(entry) && entry.kind === 'set' && entry.mode === 'plan');
}
