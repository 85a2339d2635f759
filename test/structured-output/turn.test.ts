import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { REMINDER } from '../../src/engine/structured-output/decide.js';
import type { ResultMessage } from '../../src/protocol/index.js';
import { outline, resultText, type RunOptions, start } from '../engine/kit.js';

const jsonSchema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] };
const give = (answer: unknown, id?: string) => ({
  toolUse: { name: 'StructuredOutput', input: { answer }, ...(id !== undefined && { id }) },
});
const open = (script: readonly ScriptStep[], options: RunOptions = {}) =>
  start(script, { ...options, config: { jsonSchema, ...options.config } });
const errorsOf = (result: ResultMessage): string => ('errors' in result ? result.errors.join('\n') : '');

describe('G5: structured output', () => {
  it('ends the turn with the value, without another model call', async () => {
    const run = await open([give(42)]);
    expect(await run.ask('go')).toMatchObject({
      subtype: 'success',
      is_error: false,
      result: '{"answer":42}',
      structured_output: { answer: 42 },
      num_turns: 2,
    });
    expect(run.model.requests).toHaveLength(1);
    const { tools = [] } = run.model.requests[0]?.body ?? {};
    expect(tools).toContainEqual(expect.objectContaining({ name: 'StructuredOutput', input_schema: jsonSchema }));
  });

  it('is tried again with what is wrong', async () => {
    const run = await open([give('bad', 'a'), give(42, 'b')]);
    expect(await run.ask('go')).toMatchObject({ subtype: 'success', structured_output: { answer: 42 }, num_turns: 3 });
    expect(resultText(run.messages, 'a')).toContain('Output does not match required schema: The field `answer`');
    expect(resultText(run.messages, 'b')).toBe('Structured output provided successfully');
  });

  it('is asked for when the model ends without it', async () => {
    const run = await open(['It is 42.', give(42)]);
    expect(await run.ask('go')).toMatchObject({ subtype: 'success', structured_output: { answer: 42 } });
    expect(JSON.stringify(run.model.requests[1]?.body.messages.at(-1))).toContain(REMINDER.slice(0, 60));
  });

  it('that never comes is an error, after a bounded number of calls', async () => {
    const run = await open(['No.', 'No.', 'No.', 'No.']);
    const result = await run.ask('go');
    expect(result).toMatchObject({
      subtype: 'error_max_structured_output_retries',
      is_error: true,
      terminal_reason: 'structured_output_retry_exhausted',
    });
    expect(run.model.requests).toHaveLength(4);
    expect(errorsOf(result)).toContain('told to 3 times');
  });

  it.each([undefined, '0.2.50'])('that no value can meet is an error after five calls (client %s)', async (version) => {
    const client = { entrypoint: 'sdk-ts', ...(version !== undefined && { version }) };
    const run = await open([give(1), give(2), give(3), give(4), give(5)], {
      config: { jsonSchema: { type: 'object', properties: { answer: false }, required: ['answer'] }, client },
    });
    const result = await run.ask('go');
    expect(result).toMatchObject({ subtype: 'error_max_structured_output_retries', is_error: true });
    expect(errorsOf(result)).toContain('No answer was accepted in 5 calls');
    expect(run.model.requests).toHaveLength(5);
  });

  it('five invalid calls in one answer count as five', async () => {
    const wrong = Array.from({ length: 5 }, (_, index) => ({ ...give('x', `c${index}`).toolUse }));
    const run = await open([{ toolUse: wrong }]);
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_structured_output_retries' });
  });

  it('leaves other limits in force', async () => {
    const run = await open(['No.', 'never'], { config: { maxTurns: 1 } });
    expect(await run.ask('go')).toMatchObject({ subtype: 'error_max_turns' });
  });

  it('is owed by each turn anew', async () => {
    const run = await open([give(1), 'No.', give(2)]);
    expect(await run.ask('one')).toMatchObject({ structured_output: { answer: 1 } });
    expect(await run.ask('two')).toMatchObject({ structured_output: { answer: 2 } });
  });

  it('needs no permission, not even in plan mode', async () => {
    const run = await open([give(42)], { config: { permissionMode: 'plan' } });
    expect(await run.ask('go')).toMatchObject({ structured_output: { answer: 42 }, permission_denials: [] });
  });

  it('comes after the other calls of the same answer', async () => {
    const read = { name: 'Bash', input: { command: 'echo hi' }, id: 'b' };
    const run = await open([{ toolUse: [give(42, 'a').toolUse, read] }], {
      config: { permissionMode: 'bypassPermissions' },
    });
    expect(await run.ask('go')).toMatchObject({ structured_output: { answer: 42 } });
    expect(resultText(run.messages, 'b')).toBe('hi');
    expect(outline(run.messages).at(-1)).toContain('result');
  });

  it('with a schema that cannot be used does not open', async () => {
    const opening = open([], { config: { jsonSchema: { type: 'array' } } });
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringContaining('"array"'),
    });
  });
});
