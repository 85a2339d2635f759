/** Checks what a model sent as input, and tells it in words what is wrong. */
import type { BuiltinToolName, TOOL_INPUTS } from '../../protocol/index.js';
import { TOOL_SCHEMAS } from '../../protocol/plain.js';

type Parsed<Name extends BuiltinToolName> = ReturnType<ReturnType<(typeof TOOL_INPUTS)[Name]>['parse']>;

interface Issue {
  code?: string;
  path: readonly PropertyKey[];
  message: string;
  expected?: string;
  keys?: readonly string[];
}

/** These reach the system, where a NUL would end them early. */
const SYSTEM_FIELDS = ['file_path', 'path', 'pattern', 'glob', 'type', 'command'];

/** The JSON Schema that the model sees. */
export const inputSchemaOf = (name: BuiltinToolName): Readonly<Record<string, unknown>> =>
  TOOL_SCHEMAS[name] ?? { type: 'object' };

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), input);

const showPath = (path: readonly PropertyKey[]): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`)).join('');

function describeIssue(issue: Issue, input: unknown): string[] {
  const name = showPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map(
      (key) => `An unexpected parameter \`${showPath([...issue.path, key])}\` was provided`,
    );
  }
  if (name === '') return [`The input is expected as \`object\` but provided as \`${typeOf(input)}\``];
  const value = valueAt(input, issue.path);
  if (value === undefined) return [`The required parameter \`${name}\` is missing`];
  const expected = issue.expected === 'int' ? 'integer' : issue.expected;
  if (issue.code === 'invalid_type' && expected !== undefined) {
    return [`The parameter \`${name}\` type is expected as \`${expected}\` but provided as \`${typeOf(value)}\``];
  }
  return [`The parameter \`${name}\` is not valid: ${issue.message}`];
}

const fail = (tool: string, problems: readonly string[]): never => {
  const noun = problems.length === 1 ? 'issue' : 'issues';
  throw new Error(`InputValidationError: ${tool} failed due to the following ${noun}:\n${problems.join('\n')}`);
};

const checkNul = (tool: string, input: unknown): void => {
  const bad = SYSTEM_FIELDS.filter((field) => {
    const value = valueAt(input, [field]);
    return typeof value === 'string' && value.includes('\0');
  });
  if (bad.length === 0) return;
  fail(
    tool,
    bad.map((field) => `The parameter \`${field}\` is not valid: it must not contain a NUL character`),
  );
};

/** Gives a parsed copy, defaults filled in. Throws an error that names each wrong field and what was expected. */
export async function parseToolInput<Name extends BuiltinToolName>(name: Name, input: unknown): Promise<Parsed<Name>> {
  const protocol = await import('../../protocol/index.js');
  const outcome = protocol.TOOL_INPUTS[name]().safeParse(input);
  if (!outcome.success) {
    return fail(
      name,
      outcome.error.issues.flatMap((issue) => describeIssue(issue, input)),
    );
  }
  checkNul(name, outcome.data);
  return outcome.data as Parsed<Name>;
}
