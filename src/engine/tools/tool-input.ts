/** Checks what a model sent as input, and tells it in words what is wrong. */
import type { BuiltinToolName, TOOL_INPUTS } from '../../protocol/index.js';
import { describeInputIssues, inputError, PROBLEM_TEXTS, TOOL_SCHEMAS } from '../../protocol/plain.js';

type Parsed<Name extends BuiltinToolName> = ReturnType<ReturnType<(typeof TOOL_INPUTS)[Name]>['parse']>;

/** These reach the system, where a NUL would end them early. */
const SYSTEM_FIELDS = ['file_path', 'notebook_path', 'path', 'pattern', 'glob', 'type', 'command'];

/** The JSON Schema that the model sees. */
export const inputSchemaOf = (name: BuiltinToolName): Readonly<Record<string, unknown>> =>
  TOOL_SCHEMAS[name] ?? { type: 'object' };

const checkNul = (tool: string, input: Readonly<Record<string, unknown>>): void => {
  const bad = SYSTEM_FIELDS.filter((field) => {
    const value = input[field];
    return typeof value === 'string' && value.includes('\0');
  });
  if (bad.length === 0) return;
  throw inputError(
    tool,
    bad.map((field) => PROBLEM_TEXTS.input.notValid([field], 'it must not contain a NUL character')),
  );
};

/** Gives a parsed copy, defaults filled in. Throws an error that names each wrong field and what was expected. */
export async function parseToolInput<Name extends BuiltinToolName>(name: Name, input: unknown): Promise<Parsed<Name>> {
  const protocol = await import('../../protocol/index.js');
  const outcome = protocol.TOOL_INPUTS[name]().safeParse(input);
  if (!outcome.success) throw inputError(name, describeInputIssues(outcome.error.issues, input));
  checkNul(name, outcome.data);
  return outcome.data as Parsed<Name>;
}
