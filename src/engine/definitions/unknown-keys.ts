/** Keys in the file of an agent that mean nothing here. A slip, and what others call a restriction, is not passed over. */
import type { Fields } from './field.js';
import type { FieldReader } from './field-reader.js';

const TEXTS = [
  'name',
  'description',
  'model',
  'skills',
  'effort',
  'background',
  'initialPrompt',
  'initial-prompt',
  'criticalSystemReminder_EXPERIMENTAL',
  'color',
  'context',
];

/** What elsewhere limits an agent, and what does so here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['mode', 'permission', 'permissions'].map((key) => [key, 'permissionMode, tools or disallowedTools'] as const),
  ...['readonly', 'sandbox'].map((key) => [key, 'tools, disallowedTools or permissionMode: plan'] as const),
]);

/** True when one of them may have been meant to restrict: then the agent is not loaded. */
export async function tellUnknownKeys(
  fields: Fields,
  reader: FieldReader,
  restricting: readonly string[],
): Promise<boolean> {
  const known = [...restricting, ...TEXTS];
  const unknown = [...fields].filter(([key]) => !known.includes(key));
  if (unknown.length === 0) return false;
  const { findNearName } = await import('../settings/near-name.js');
  let isSlip = false;
  for (const [key, { line }] of unknown) {
    const words = ELSEWHERE.get(key.toLowerCase().replace(/[-_]/g, ''));
    const near = words === undefined ? findNearName(key, known)?.name : undefined;
    if (words !== undefined) reader.warn(line, `"${key}" is not known here and limits nothing; what does is ${words}`);
    else if (near !== undefined && restricting.includes(near)) {
      reader.fail(line, `"${key}" is not known; did you mean "${near}"? The agent is not loaded`);
      isSlip = true;
    } else if (near !== undefined) reader.warn(line, `"${key}" is not known and left out; did you mean "${near}"?`);
  }
  return isSlip;
}
