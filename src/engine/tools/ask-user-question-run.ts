import type { AskUserQuestionInput, AskUserQuestionOutput, ToolOutput } from '../../protocol/index.js';

export function runAskUserQuestion({ questions, answers, annotations }: AskUserQuestionInput): ToolOutput {
  const asked = questions.map(({ question }) => ({
    question,
    answer: toAnswer(ownValue(answers, question)),
    ...toRemarks(ownValue(annotations, question)),
  }));
  const known = questions.flatMap(({ question }): [string, unknown][] => {
    const annotation = ownValue(annotations, question);
    return annotation === undefined ? [] : [[question, annotation]];
  });
  const structured: AskUserQuestionOutput = {
    questions,
    answers: Object.fromEntries(asked.flatMap(({ question, answer }) => (answer === '' ? [] : [[question, answer]]))),
    ...(known.length > 0 && { annotations: Object.fromEntries(known) }),
  };
  return { content: describe(asked), structured };
}

const ownValue = <T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;

/** Empty when there is none. */
const toAnswer = (given: string | string[] | undefined): string =>
  (typeof given === 'string' ? [given] : (given ?? []))
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(', ');

interface Remarks {
  notes: string;
  preview: string;
}

/** What the host set down beside an answer, in whatever shape. */
function toRemarks(annotation: unknown): Remarks {
  const { notes, preview } = (typeof annotation === 'object' && annotation !== null ? annotation : {}) as Record<
    keyof Remarks,
    unknown
  >;
  return {
    notes: typeof notes === 'string' ? notes.trim() : '',
    preview: typeof preview === 'string' ? preview : '',
  };
}

function describe(asked: readonly ({ question: string; answer: string } & Remarks)[]): string {
  const answered = asked.filter(({ answer }) => answer !== '');
  const open = asked.filter(({ answer }) => answer === '').map(({ question }) => `"${question}"`);
  const remarks = asked.flatMap(({ question, notes, preview }) => [
    ...(notes === '' ? [] : [`The user's notes on "${question}": ${notes}`]),
    ...(preview === '' ? [] : [`What the user chose for "${question}":\n${preview}`]),
  ]);
  return [describeAnswers(answered, open), ...remarks].join('\n\n');
}

const NO_ANSWER = 'go on with your own best judgement, or ask in plain words if you cannot.';

function describeAnswers(answered: readonly { question: string; answer: string }[], open: readonly string[]): string {
  if (answered.length === 0)
    return `User has not answered your questions: ${open.join(', ')}. Do not ask them again this way: ${NO_ANSWER}`;
  const pairs = answered.map(({ question, answer }) => `"${question}"="${answer}"`).join(', ');
  const told = `User has answered your questions: ${pairs}. You can now continue with the user's answers in mind.`;
  return open.length === 0 ? told : `${told} Not answered: ${open.join(', ')}. There, ${NO_ANSWER}`;
}
