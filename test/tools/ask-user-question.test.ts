import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askUserQuestionTool } from '../../src/engine/tools/ask-user-question.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const question = (text: string, ...labels: string[]) => ({
  question: text,
  header: 'Pick',
  options: (labels.length === 0 ? ['Red', 'Blue'] : labels).map((label) => ({ label, description: `It is ${label}` })),
  multiSelect: false,
});

const color = question('Which color?');
const size = question('Which size?', 'S', 'M');

const ask = (questions: unknown, byHost: object = {}) => bench.call(askUserQuestionTool, { questions, ...byHost });

describe('AskUserQuestion', () => {
  it('H7: tells the answers in the words that models know', async () => {
    const { text, isError, structured } = await ask([color], { answers: { 'Which color?': 'Blue' } });
    expect(isError).toBeUndefined();
    expect(text).toBe(
      'User has answered your questions: "Which color?"="Blue". You can now continue with the user\'s answers in mind.',
    );
    expect(structured).toEqual({ questions: [color], answers: { 'Which color?': 'Blue' } });
  });

  it('H7: takes several answers as a text or as a list, and own words', async () => {
    const many = { ...color, multiSelect: true };
    const expected = '"Which color?"="Red, Blue", "Which size?"="as it comes"';
    for (const given of ['Red, Blue', ['Red', ' Blue ', '']]) {
      const { text, structured } = await ask([many, size], {
        answers: { 'Which color?': given, 'Which size?': 'as it comes' },
      });
      expect(text).toContain(`: ${expected}. `);
      expect(structured).toMatchObject({ answers: { 'Which color?': 'Red, Blue', 'Which size?': 'as it comes' } });
    }
  });

  it.each([{}, { answers: {} }, { answers: { 'Which color?': '  ', 'Which size?': [] } }])(
    'H7: unanswered has a defined result: %j',
    async (byHost) => {
      const { text, isError, structured } = await ask([color, size], byHost);
      expect(isError).toBeUndefined();
      expect(text).toContain('User has not answered your questions: "Which color?", "Which size?". ');
      expect(text).toContain('your own best judgement');
      expect(text).toContain('ask in plain words');
      expect(structured).toEqual({ questions: [color, size], answers: {} });
    },
  );

  it('H7: says which questions were left open', async () => {
    const { text, structured } = await ask([color, size], { answers: { 'Which size?': 'M' } });
    expect(text).toMatch(/^User has answered your questions: "Which size\?"="M"\. You can now continue /);
    expect(text).toMatch(/Not answered: "Which color\?"\. There, go on with your own best judgement, or ask in plain/);
    expect(structured).toMatchObject({ answers: { 'Which size?': 'M' } });
  });

  it('ignores answers and notes to what was not asked', async () => {
    const { text, structured } = await ask([color], {
      answers: { 'Which color?': 'Red', 'May I?': 'yes' },
      annotations: { 'May I?': { notes: 'really' } },
    });
    expect(text).not.toContain('May I?');
    expect(text).not.toContain('really');
    expect(structured).toEqual({ questions: [color], answers: { 'Which color?': 'Red' } });
  });

  it('does not take what every object has for an answer', async () => {
    const odd = question('constructor');
    expect((await ask([odd], { answers: {} })).text).toContain('User has not answered your questions: "constructor".');
    expect((await ask([odd], { answers: { constructor: 'Red' } })).text).toContain('"constructor"="Red"');
  });

  it('shows the model notes and previews of the user, and gives the annotations on', async () => {
    const annotations = { 'Which color?': { notes: 'a dark one', preview: '####\n####' }, 'Which size?': 5 };
    const { text, structured } = await ask([color, size], { answers: { 'Which color?': 'Blue' }, annotations });
    expect(text).toContain('\n\nThe user\'s notes on "Which color?": a dark one');
    expect(text).toContain('\n\nWhat the user chose for "Which color?":\n####\n####');
    expect(structured).toMatchObject({ annotations });
  });

  it.each([
    [[color, { ...size, question: ' Which color? ' }], 'issue:\nThe parameter `questions[1].question` is not valid: '],
    [[size, question('Which?', 'A', 'B', 'A')], 'issue:\nThe parameter `questions[1].options[2].label` is not valid: '],
    [
      [question('Which?', 'A', 'A'), question('Which?', 'B', 'B')],
      'issues:\nThe parameter `questions[1].question` is not valid: another question has the same text\n',
    ],
  ])('refuses questions and options that cannot be told apart', async (questions, problem) => {
    const { isError, text } = await ask(questions);
    expect(isError).toBe(true);
    expect(text).toContain(`InputValidationError: AskUserQuestion failed due to the following ${problem}`);
  });

  it('lets two questions share a label', async () => {
    expect((await ask([color, question('And then?')], { answers: {} })).isError).toBeUndefined();
  });

  it('says which field is wrong', async () => {
    const { text } = await ask([{ ...color, options: [] }], { answers: { 'Which color?': 5 } });
    expect(text).toContain('`questions[0].options` is not valid');
    expect(text).toMatch(/answers/);
  });

  it('is read-only', async () => {
    const input = await askUserQuestionTool.parse({ questions: [color] });
    expect(askUserQuestionTool.isReadOnly(input, { cwd: '/' })).toBe(true);
  });
});
