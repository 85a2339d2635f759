import type { CaseVerdict, PermissionCase } from './check.js';

/** Judges a case as a session would. What it takes is large, and loaded with the first one. */
export const judgeCase = async (given: PermissionCase): Promise<CaseVerdict> =>
  (await import('./check.js')).judgeCase(given);
