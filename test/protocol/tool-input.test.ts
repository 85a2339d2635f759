import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { canonicalToolName, TOOL_INPUTS, TOOL_SCHEMAS, problemsOf } from '../../src/protocol/index.js';
import { toolInputs } from './examples.js';

const inputs: Record<string, () => z.ZodType> = TOOL_INPUTS;

const problems = (tool: string, input: unknown): string[] => {
  const outcome = inputs[tool]?.().safeParse(input);
  if (outcome === undefined || outcome.success) return [];
  return problemsOf(outcome.error.issues).map(({ path, problem }) => `${path}: ${problem}`);
};

describe('tool inputs', () => {
  it('have an example each', () => {
    expect(Object.keys(toolInputs).toSorted()).toEqual(Object.keys(TOOL_INPUTS).toSorted());
  });

  it.each(Object.entries(toolInputs))('%s: takes the least, and what the model is told agrees', (tool, input) => {
    expect(problems(tool, input)).toEqual([]);
    const told = z.fromJSONSchema(TOOL_SCHEMAS[tool] ?? {});
    expect(told.safeParse(input).success).toBe(true);
    for (const field of Object.keys(input)) {
      const { [field]: _, ...rest } = input;
      expect(told.safeParse(rest).success).toBe(problems(tool, rest).length === 0);
    }
  });

  it.each(Object.keys(toolInputs).filter((tool) => tool !== 'ExitPlanMode'))(
    '%s: refuses a field it does not have',
    (tool) => {
      expect(problems(tool, { ...toolInputs[tool], bogus: 1 })).toEqual(['(root): Unrecognized key: "bogus"']);
    },
  );

  it('fill in defaults', () => {
    expect(TOOL_INPUTS.Edit().parse(toolInputs.Edit)).toMatchObject({ replace_all: false });
    expect(TOOL_INPUTS.TaskOutput().parse(toolInputs.TaskOutput)).toMatchObject({ block: true, timeout: 30_000 });
  });

  it('say every wrong field at once', () => {
    expect(problems('Bash', { command: 5, timeout: 700_000 })).toEqual([
      'command: Invalid input: expected string, received number',
      'timeout: Too big: expected number to be <=600000',
    ]);
  });

  it('take the answers of the host, which the model is not told of', () => {
    expect(problems('AskUserQuestion', { ...toolInputs.AskUserQuestion, answers: { 'Which?': 'a' } })).toEqual([]);
    expect(TOOL_SCHEMAS.AskUserQuestion?.properties).not.toHaveProperty('answers');
  });

  it('are named by the names on the wire', () => {
    for (const name of Object.keys(TOOL_INPUTS)) expect(canonicalToolName(name)).toBe(name);
  });

  it('stay small: six tools below 3.2 KB, all below 9.5 KB', () => {
    const size = (names: string[]) => names.reduce((sum, name) => sum + JSON.stringify(TOOL_SCHEMAS[name]).length, 0);
    expect(size(['Read', 'Write', 'Edit', 'Glob', 'Grep', 'Bash'])).toBeLessThan(3200);
    expect(size(Object.keys(TOOL_SCHEMAS))).toBeLessThan(9500);
  });
});
