import { describe, expect, it } from 'vitest';
import { askPerson } from '../../src/cli/ask.js';
import type { CanUseToolParams, PermissionUpdate } from '../../src/protocol/index.js';
import { UNSEEN } from '../../src/protocol/plain.js';

interface Asked {
  lines: (string | undefined)[];
  colour?: boolean;
  byModel?: object;
}

/** Puts questions to a person who types these lines. */
async function put(questions: object[], { lines, colour = false, byModel = {} }: Asked) {
  const rest = [...lines];
  let shown = '';
  const result = await askPerson(
    { tool_name: 'AskUserQuestion', tool_use_id: 't', input: { questions, ...byModel } },
    {
      colour,
      cwd: '/shop',
      write: (text) => {
        shown += text;
      },
      readLine: async (prompt) => {
        if (rest.length === 0) throw new Error(`nobody was to be asked again: ${prompt}`);
        const line = rest.shift();
        shown += `${prompt}${line ?? ''}\n`;
        return line;
      },
    },
  );
  expect(rest).toEqual([]);
  return { result, shown };
}

const colour = {
  question: 'Which colour?',
  header: 'Colour',
  multiSelect: false,
  options: [
    { label: 'Red', description: 'warm' },
    { label: 'Blue', description: 'cold' },
  ],
};
const fibres = {
  question: 'Which fibres?',
  header: 'Fibres',
  multiSelect: true,
  options: [{ label: 'Wool' }, { label: 'Linen' }, { label: 'Silk' }],
};

const answer = async (question: object, ...lines: string[]) => {
  const { result } = await put([question], { lines });
  return result.behavior === 'allow' ? result.updatedInput?.answers : result;
};

describe('askPerson with the questions of a model (H7)', () => {
  it('shows header, question and numbered options, and takes a number', async () => {
    const { result, shown } = await put([colour, fibres], { lines: ['2', '1'] });
    expect(shown).toBe(
      [
        '',
        '[Colour] Which colour?',
        '  1. Red warm',
        '  2. Blue cold',
        'A number, nothing for no answer, or your own words: 2',
        '',
        '[Fibres] Which fibres?',
        '  1. Wool',
        '  2. Linen',
        '  3. Silk',
        'Numbers with commas, nothing for no answer, or your own words: 1',
        '',
      ].join('\n'),
    );
    expect(result).toEqual({
      behavior: 'allow',
      updatedInput: { questions: [colour, fibres], answers: { 'Which colour?': 'Blue', 'Which fibres?': 'Wool' } },
    });
  });

  it.each([
    ['  the dark one ', 'the dark one'],
    ['2 of them', '2 of them'],
    ['2.', '2.'],
    ['1, but lighter', '1, but lighter'],
    ['02', 'Blue'],
  ])('one choice: %j is %j', async (line, expected) => {
    expect(await answer(colour, line)).toEqual({ 'Which colour?': expected });
  });

  it.each([
    ['1,3', 'Wool, Silk'],
    [' 3 , 1, ', 'Silk, Wool'],
    ['2, 2', 'Linen'],
    ['1, hemp', 'Wool, hemp'],
    ['hemp, no, no silk', 'hemp, no, no silk'],
    ['9, or so', '9, or so'],
  ])('several choices: %j is %j', async (line, expected) => {
    expect(await answer(fibres, line)).toEqual({ 'Which fibres?': expected });
  });

  it('asks again for a number that stands for nothing', async () => {
    const { result, shown } = await put([colour], { lines: ['3', '0', '1,2', '1'] });
    expect(shown).toContain('  There is no 3. The numbers are 1 to 2.\nA number');
    expect(shown).toContain('  There is no 0. The numbers are 1 to 2.\nA number');
    expect(shown).toContain('  Only one can be chosen. The numbers are 1 to 2.\nA number');
    expect(result).toMatchObject({ updatedInput: { answers: { 'Which colour?': 'Red' } } });
  });

  it('takes it as words when it comes a fourth time', async () => {
    expect(await answer(colour, '7', '7', '7', '7')).toEqual({ 'Which colour?': '7' });
    expect(await answer(fibres, '1,9', '1,9', '1,9', '1,9')).toEqual({ 'Which fibres?': '1,9' });
  });

  it('leaves a question without an answer out', async () => {
    const { result } = await put([colour, fibres], { lines: ['  ', '2'] });
    expect(result).toMatchObject({ behavior: 'allow', updatedInput: { answers: { 'Which fibres?': 'Linen' } } });
    expect(await answer(colour, '')).toEqual({});
    expect(await answer(colour, '5', '')).toEqual({});
  });

  it('denies when the person leaves, whatever was answered before', async () => {
    const left = { behavior: 'deny', message: 'The person left without answering.' };
    expect((await put([colour, fibres], { lines: ['1', undefined] })).result).toEqual(left);
    expect((await put([colour], { lines: ['5', undefined] })).result).toEqual(left);
  });

  it('shows previews whole, under their option', async () => {
    const options = [
      { label: 'Plain', description: 'p', preview: '+--+\n|  |\n+--+\n' },
      { label: 'Twill', description: 't', markdown: '# old name' },
    ];
    const { shown } = await put([{ ...colour, options }], { lines: ['1'] });
    expect(shown).toContain(
      '  1. Plain p\n     | +--+\n     | |  |\n     | +--+\n  2. Twill t\n     | # old name\nA number',
    );
  });

  it('D6: writes out what a terminal would obey', async () => {
    const evil = {
      question: 'Sure?\x1b[2J\nReally?',
      header: 'a\x07\nb',
      options: [
        { label: 'Yes\x1b]0;x\x07\n  2. No', description: 'd\u202Ee', preview: 'one\x1b[A\r\ntwo' },
        { label: 'Stay\u200B', description: '' },
      ],
    };
    const { result, shown } = await put([evil], { lines: ['1'] });
    expect(shown).toContain('[a\\x07\\nb] Sure?\\x1b[2J\nReally?\n');
    expect(shown).toContain(
      '  1. Yes\\x1b]0;x\\x07\\n  2. No d\\u202ee\n     | one\\x1b[A\n     | two\n  2. Stay\\u200b\n',
    );
    expect(shown.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    // The model gets its own label back, not what was shown of it.
    expect(result).toMatchObject({ updatedInput: { answers: { [evil.question]: 'Yes\x1b]0;x\x07\n  2. No' } } });
  });

  it('passes on no answer that the model gave itself', async () => {
    const byModel = { answers: { 'Which colour?': 'Red' }, annotations: { 'Which colour?': { notes: 'n' } } };
    const { result } = await put([colour], { lines: [''], byModel });
    expect(result).toEqual({ behavior: 'allow', updatedInput: { questions: [colour], answers: {} } });
  });

  it('keeps an answer to a question of any name', async () => {
    const odd = { ...colour, question: '__proto__' };
    const answers = await answer(odd, '1');
    expect(Object.entries(answers ?? {})).toEqual([['__proto__', 'Red']]);
  });

  it('shows the parts apart in colour', async () => {
    const { shown } = await put([colour], { lines: ['1'], colour: true });
    expect(shown).toContain('\x1b[2m[Colour]\x1b[22m \x1b[1mWhich colour?\x1b[22m\n  1. Red\x1b[2m warm\x1b[22m\n');
  });
});

/** Puts a call to a person who types this line. */
async function putCall(question: Partial<CanUseToolParams>, line: string) {
  let shown = '';
  const write = (text: string): void => void (shown += text);
  const readLine = async (prompt: string) => {
    write(prompt);
    return line;
  };
  const call = { tool_name: 'Bash', tool_use_id: 't', input: { command: 'npm ci' }, ...question };
  return { result: await askPerson(call, { colour: false, cwd: '/shop', write, readLine }), shown };
}

describe('askPerson with a call', () => {
  it.each([
    ['touch a\r\n', 'touch a\\r\n'],
    ['a\uFE0F', 'a\\ufe0f'],
    ['a\u3164b\u115Fc\u2800d\uFFA0', 'a\\u3164b\\u115fc\\u2800d\\uffa0'],
    ['a\u034Fb\u17B4c\u{E0100}', 'a\\u034fb\\u17b4c\\u{e0100}'],
    ['a\u00A0b\uE000', 'a\\xa0b\\ue000'],
  ])('D6: shows what would run, whole: %j', async (command, visible) => {
    const { shown } = await putCall({ input: { command } }, 'n');
    expect(shown).toContain(visible.trimEnd());
    expect(shown.replaceAll('\n', '')).not.toMatch(UNSEEN);
  });

  const rule = { toolName: 'Bash', ruleContent: 'npm ci' };
  const kept: PermissionUpdate = { type: 'addRules', behavior: 'allow', rules: [rule], destination: 'localSettings' };

  it('D5: always keeps what it has shown, and nothing that was not offered', async () => {
    const { result, shown } = await putCall({ permission_suggestions: [kept] }, 'a');
    expect(shown).toContain('  always would: allow Bash(npm ci) in .claude/settings.local.json\n');
    expect(shown).toContain('Allow? y / n / a for always');
    expect(result).toEqual({ behavior: 'allow', updatedInput: { command: 'npm ci' }, updatedPermissions: [kept] });
    expect((await putCall({ permission_suggestions: [kept] }, 'y')).result).not.toHaveProperty('updatedPermissions');
    expect((await putCall({}, 'a')).result).toEqual({ behavior: 'deny', message: 'a' });
  });
});
