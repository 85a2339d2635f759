/** How a model is told what is wrong with a value: which field, why, and what is expected. Pure. */

type Path = readonly PropertyKey[];

/** What zod says of a wrong value, in version 3 and 4 alike. */
export interface InputIssue {
  code?: string;
  path: Path;
  message: string;
  expected?: string;
  keys?: readonly string[];
  /** The branches of a union in zod 4: their paths start at the union. */
  errors?: readonly (readonly InputIssue[])[];
  /** The same in zod 3: their paths start at the input. */
  unionErrors?: readonly { issues: readonly InputIssue[] }[];
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

const valueAt = (input: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), input);

const showPath = (path: Path): string =>
  path.map((part, i) => (typeof part === 'number' ? `[${part}]` : `${i === 0 ? '' : '.'}${String(part)}`)).join('');

/** The sentences, each about the field at a path. */
const sentences = ({ whole, field }: { whole: string; field: string }) => ({
  missing: (path: Path): string => `The required ${field} \`${showPath(path)}\` is missing`,
  unexpected: (path: Path): string => `An unexpected ${field} \`${showPath(path)}\` was provided`,
  wrongType(path: Path, expected: string, value: unknown): string {
    const subject = path.length === 0 ? `${whole} is` : `The ${field} \`${showPath(path)}\` type is`;
    return `${subject} expected as \`${expected}\` but provided as \`${typeOf(value)}\``;
  },
  notValid(path: Path, why: string): string {
    const subject = path.length === 0 ? whole : `The ${field} \`${showPath(path)}\``;
    return `${subject} is not valid: ${why}`;
  },
});

export const PROBLEM_TEXTS = {
  input: sentences({ whole: 'The input', field: 'parameter' }),
  output: sentences({ whole: 'The output', field: 'field' }),
};

const { missing, unexpected, wrongType, notValid } = PROBLEM_TEXTS.input;

/** What a tool throws when it cannot use its input. */
export function inputError(tool: string, problems: readonly string[]): Error {
  const noun = problems.length === 1 ? 'issue' : 'issues';
  return new Error(`InputValidationError: ${tool} failed due to the following ${noun}:\n${problems.join('\n')}`);
}

/** One sentence for each thing that zod found. */
export function describeInputIssues(issues: readonly InputIssue[], input: unknown): string[] {
  const all = [...new Set(issues.slice(0, 10 * MAX_PROBLEMS).flatMap((issue) => describeIssue(issue, input)))];
  const left = Math.max(all.length, issues.length) - MAX_PROBLEMS;
  return left <= 0 ? all : [...all.slice(0, MAX_PROBLEMS), `... and ${left} more`];
}

/** More of them help nobody. */
const MAX_PROBLEMS = 20;

function describeIssue(issue: InputIssue, input: unknown): string[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys') return (issue.keys ?? []).map((key) => unexpected([...path, key]));
  const value = valueAt(input, path);
  if (path.length > 0 && value === undefined) return [missing(path)];
  const expected = nameType(issue.expected);
  if (issue.code === 'invalid_type' && expected !== undefined) return [wrongType(path, expected, value)];
  const branches = branchesOf(issue);
  if (branches.length === 0) return [notValid(path, isEmpty(issue, value) ? 'it must not be empty' : issue.message)];
  const types = branches.map((branch) => soleType(branch, path));
  if (types.every((type) => type !== undefined)) return [wrongType(path, types.join(' | '), value)];
  return likeliest(branches).flatMap((inner) => describeIssue(inner, input));
}

/** What zod says as a count. */
const isEmpty = ({ code }: InputIssue, value: unknown): boolean => code === 'too_small' && value === '';

const nameType = (expected: string | undefined): string | undefined => (expected === 'int' ? 'integer' : expected);

function branchesOf({ path, errors, unionErrors }: InputIssue): InputIssue[][] {
  const branches = errors
    ? errors.map((branch) => branch.map((inner) => ({ ...inner, path: [...path, ...inner.path] })))
    : (unionErrors ?? []).map(({ issues }) => [...issues]);
  return branches.filter((branch) => branch.length > 0);
}

/** The type that a branch wants, if that is all that is wrong for it. */
function soleType(branch: readonly InputIssue[], path: Path): string | undefined {
  const [only] = branch;
  const isSole = branch.length === 1 && only?.code === 'invalid_type' && only.path.length === path.length;
  return isSole ? nameType(only.expected) : undefined;
}

const depth = (issues: readonly InputIssue[]): number => Math.max(...issues.map(({ path }) => path.length));

/** Of the branches of a union, the one that was most likely meant: it fails deepest, then least. */
const likeliest = (branches: readonly InputIssue[][]): InputIssue[] =>
  branches.reduce((best, branch) => {
    const deeper = depth(branch) - depth(best);
    return deeper > 0 || (deeper === 0 && branch.length < best.length) ? branch : best;
  });
