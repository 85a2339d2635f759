import type { InputIssue } from '../protocol/plain.js';
import type { AnyZodRawShape, FieldSchema } from './tool-definition.js';

/** Checks an input field by field, with whichever version of zod the fields come from. What is not in the shape is dropped. */
export function checkShape(
  shape: AnyZodRawShape,
  given: Readonly<Record<string, unknown>>,
): { input: Record<string, unknown> } | { issues: InputIssue[] } {
  const input: Record<string, unknown> = {};
  const issues: InputIssue[] = [];
  for (const [name, field] of Object.entries<FieldSchema>(shape)) {
    const outcome = field.safeParse(Object.hasOwn(given, name) ? given[name] : undefined);
    if (!outcome.success) issues.push(...issuesOf(outcome.error).map((issue) => under(name, issue)));
    else if (outcome.data !== undefined) input[name] = outcome.data;
  }
  return issues.length > 0 ? { issues } : { input };
}

function issuesOf(error: unknown): readonly InputIssue[] {
  const { issues } = (error ?? {}) as { issues?: readonly InputIssue[] };
  return issues === undefined || issues.length === 0 ? [{ path: [], message: 'Invalid input' }] : issues;
}

/** The issue of a field as one of the whole input. Branches of zod 3 tell the whole way too. */
function under(name: string, issue: InputIssue): InputIssue {
  const { unionErrors } = issue;
  return {
    ...issue,
    path: [name, ...issue.path],
    ...(unionErrors && {
      unionErrors: unionErrors.map(({ issues }) => ({ issues: issues.map((inner) => under(name, inner)) })),
    }),
  };
}
