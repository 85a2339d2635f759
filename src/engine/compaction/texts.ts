/** What the model is asked for when a conversation is summed up, and what is made of its answer. Pure. */

const ASK = `This conversation is cut off here to make room: from now on, what you write now is all that is known of it. Do not call tools and do not go on with the work. Write a detailed summary inside <summary> tags, whole enough that someone who reads nothing else can go on without asking:

1. The goal: everything the user asked for, in their own words where the wording matters, and what they corrected or ruled out.
2. Decisions and the reasons for them; facts and constraints that were found out.
3. Files: the paths that were read, changed or made, and what matters in each, with names, signatures and short excerpts.
4. Commands that matter and what came of them; errors, how they were mended, and which are still there.
5. The state: what is done, what is in progress, what is left.
6. The next step, as exactly as you know it.`;

/** The last message of the request that asks for the summary. */
export function askForSummary(instructions: readonly string[]): string {
  const given = instructions.map((text) => text.trim()).filter((text) => text !== '');
  return given.length === 0 ? ASK : `${ASK}\n\nHeed this as well:\n${given.join('\n\n')}`;
}

/** Heeded when a summary was cut off. */
export const BE_SHORT = 'Your last summary was too long for one answer and was cut off. Write at most 1,500 words.';

/** What stands in the tags; all of it where there are none; what arrived where the end is missing. Empty: no summary. */
export function readSummary(answer: string): string {
  const [, ...parts] = answer.split('<summary>');
  const inner = parts.length === 0 ? withoutAnalysis(answer) : parts.join('<summary>').split('</summary>')[0];
  return (inner ?? '').trim();
}

/** Models may think aloud first. */
const withoutAnalysis = (answer: string): string => answer.replace(/<analysis>[\s\S]*?(<\/analysis>|$)/g, '');

/** The beginning of a conversation that goes on from a summary; people see this text, too. */
export function continueFrom(summary: string, { leftOut, cut }: { leftOut: number; cut: boolean }): string {
  const gaps = [
    ...(leftOut > 0 ? [`The ${leftOut} oldest messages were too long to be read for it and are not covered.`] : []),
    ...(cut ? ['Long texts were read for it in part.'] : []),
  ];
  const note = gaps.length === 0 ? '' : `\n\n[${gaps.join(' ')}]`;
  return `This session is being continued from a conversation that ran out of room. This is what it came to:\n\n${summary}${note}`;
}

export const GO_ON = 'Go on with the work where it stopped. Do not ask whether to, and do not repeat what is done.';
