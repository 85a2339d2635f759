import type { z } from 'zod';

/** What is wrong with a value, and where. */
export interface Problem {
  /** `message.content[0].text`; `(root)` for the value itself. */
  path: string;
  problem: string;
}

type Issue = z.core.$ZodIssue;

/** The path of a field as a programmer writes it. */
export function showPath(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(root)';
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$]*$/.test(String(part))) text += text === '' ? String(part) : `.${String(part)}`;
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

const depth = (issues: readonly Issue[]): number => Math.max(...issues.map((issue) => issue.path.length));

/** Of the branches of a union, the one the value was most likely meant to be: it fails deepest, then least. */
function likeliest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const [first, ...rest] = branches.filter((branch) => branch.length > 0);
  if (first === undefined) return [];
  return rest.reduce((best, branch) => {
    const deeper = depth(branch) - depth(best);
    return deeper > 0 || (deeper === 0 && branch.length < best.length) ? branch : best;
  }, first);
}

function flatten(issue: Issue, prefix: readonly PropertyKey[]): { path: PropertyKey[]; problem: string } {
  const path = [...prefix, ...issue.path];
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { path, problem: issue.message };
  const types = issue.errors.flatMap((branch) => {
    const [only] = branch;
    return branch.length === 1 && only?.code === 'invalid_type' && only.path.length === 0 ? [only.expected] : [];
  });
  if (types.length === issue.errors.length) return { path, problem: `Invalid input: expected ${types.join(' or ')}` };
  const [inner] = likeliest(issue.errors);
  return inner === undefined ? { path, problem: issue.message } : flatten(inner, path);
}

/** Every problem that zod found, unions reduced to the branch that was meant. */
export const problemsOf = (issues: readonly Issue[]): Problem[] =>
  issues.map((issue) => {
    const { path, problem } = flatten(issue, []);
    return { path: showPath(path), problem };
  });

/** The first problem; a failed parse has at least one. */
export const firstProblem = (issues: readonly Issue[]): Problem =>
  problemsOf(issues.slice(0, 1))[0] ?? { path: '(root)', problem: 'Invalid input' };
