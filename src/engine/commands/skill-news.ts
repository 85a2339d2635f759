/** What the model is told of skills: names and descriptions, once, and again when they are others. */
import { sinceSummary } from '../context.js';
import { toReminder } from '../reminder.js';
import type { SessionScope } from '../scope.js';
import { type Entry, toBlocks } from '../sessions/entry.js';

const TITLE = 'Skills that you can call with the Skill tool. Call one as soon as the task is what it is for.';
const NONE = 'There are no skills any more that the Skill tool could call.';

/** For the next message; undefined where the context says it already. What was told is read from the log. */
export function tellSkills(scope: SessionScope): string | undefined {
  const text = describe(scope);
  const told = lastTold(scope.recorder.log.entries);
  if (text === undefined) return told === undefined || told === toReminder(NONE) ? undefined : toReminder(NONE);
  const reminder = toReminder(text);
  return told === reminder ? undefined : reminder;
}

/** For a context that begins anew; undefined where there are none. */
export function retellSkills(scope: SessionScope): string | undefined {
  const text = describe(scope);
  return text === undefined ? undefined : toReminder(text);
}

function describe({ commands, state }: SessionScope): string | undefined {
  if (!state.tools.names.includes('Skill')) return undefined;
  const list = commands.describeSkills();
  return list === '' ? undefined : `${TITLE}\n${list}`;
}

const OPENINGS = [TITLE, NONE].map((text) => toReminder(text).slice(0, '<system-reminder>\n'.length + 40));

function lastTold(entries: readonly Entry[]): string | undefined {
  const since = sinceSummary(entries);
  for (let at = since.length - 1; at >= 0; at -= 1) {
    const entry = since[at];
    if (entry?.type !== 'user' || (!entry.isMeta && !entry.isCompactSummary)) continue;
    const told = toBlocks(entry.message.content).findLast(
      (block) => block.type === 'text' && OPENINGS.some((opening) => block.text.startsWith(opening)),
    );
    if (told?.type === 'text') return told.text;
  }
  return undefined;
}
