import type { AskUserQuestionInput, WholeTool } from '../../protocol/index.js';
import { inputError, PROBLEM_TEXTS } from '../../protocol/plain.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/**
 * The questions are put by permission, before the tool runs: its answer is the input with the answers in it. So there
 * is nothing left to do here but to tell them.
 */
export const askUserQuestionTool: WholeTool<AskUserQuestionInput> = {
  name: 'AskUserQuestion',
  description:
    'Asks the user one to four questions with two to four options each; the user may also answer in own words. ' +
    'Ask only what the user alone can decide.',
  inputSchema: inputSchemaOf('AskUserQuestion'),
  hostFields: ['answers', 'annotations', 'metadata'],
  async parse(input) {
    const parsed = await parseToolInput('AskUserQuestion', input);
    refuseDuplicates(parsed);
    return parsed;
  },
  isReadOnly: () => true,
  run: async (input) => (await import('./ask-user-question-run.js')).runAskUserQuestion(input),
};

/** Answers are found by the text of their question, and options by their label. */
function refuseDuplicates({ questions }: AskUserQuestionInput): void {
  const { notValid } = PROBLEM_TEXTS.input;
  const sameText = repeated(questions.map(({ question }) => question)).map((at) =>
    notValid(['questions', at, 'question'], 'another question has the same text'),
  );
  const sameLabel = questions.flatMap(({ options }, at) =>
    repeated(options.map(({ label }) => label)).map((option) =>
      notValid(['questions', at, 'options', option, 'label'], 'another option of this question has the same label'),
    ),
  );
  const problems = [...sameText, ...sameLabel];
  if (problems.length > 0) throw inputError('AskUserQuestion', problems);
}

/** The places of texts that were there before. */
const repeated = (texts: readonly string[]): number[] => {
  const plain = texts.map((text) => text.trim());
  return plain.flatMap((text, at) => (plain.indexOf(text) < at ? [at] : []));
};
