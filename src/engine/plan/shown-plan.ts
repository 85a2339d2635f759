/** What the log says of a plan that a person looks at. Pure. */
import { type OpenCall, openCalls } from '../next-action.js';
import type { SessionScope } from '../scope.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';

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

/** Calls of one answer are put to a person at once: of two plans nobody could tell which one is carried out. */
export function isOnlyPlan({ recorder }: SessionScope): boolean {
  const { entries } = recorder.log;
  const last = entries.findLastIndex((entry) => plansIn(entry) > 0);
  const start = entries.slice(0, last).findLastIndex(({ type }) => type === 'user');
  return entries.slice(start + 1, last + 1).reduce((sum, entry) => sum + plansIn(entry), 0) <= 1;
}

const plansIn = (entry: Entry): number =>
  isLifeEntry(entry) || entry.type !== 'assistant'
    ? 0
    : entry.message.content.filter((block) => block.type === 'tool_use' && block.name === 'ExitPlanMode').length;
