/** Rules in the file of an agent. One that is broken is told, and never lets the agent do more than was meant. */
import { canonicalToolName, TOOL_SCHEMAS } from '../../protocol/plain.js';
import type { FieldReader } from './field-reader.js';

const isTool = (name: string): boolean => Object.hasOwn(TOOL_SCHEMAS, name) || name.startsWith('mcp__');

/** What it is denied: in the place of a rule that cannot be read every tool that it names, or nearly names. */
export async function readDenials(reader: FieldReader, names: readonly string[]): Promise<string[] | undefined> {
  const written = reader.names(...names);
  if (written === undefined || written.every((name) => isTool(canonicalToolName(name)) && !/[()]/.test(name))) {
    return written?.slice();
  }
  const [{ findListFaults }, { findNearName }] = await Promise.all([
    import('../settings/rule-text.js'),
    import('../settings/near-name.js'),
  ]);
  const faults = findListFaults(written, 'deny');
  return written.flatMap((rule, index) => {
    const fault = faults.get(index);
    if (fault?.severity !== 'error') return [rule];
    // A bracket that is not closed has swallowed what follows it.
    const words = rule.split(/[\s,()]+/).filter((word) => word !== '');
    const [head = ''] = words.map(canonicalToolName);
    const near = isTool(head) ? undefined : findNearName(head, Object.keys(TOOL_SCHEMAS))?.name;
    const meant = [...new Set([...(near === undefined ? [] : [near]), ...words.map(canonicalToolName).filter(isTool)])];
    const instead = meant.length === 0 ? 'every call that it may mean is asked about' : `denied: ${meant.join(', ')}`;
    warn(reader, { names, text: `${fault.text}; ${instead}` });
    return meant.length === 0 ? [rule] : [rule, ...meant];
  });
}

/** The tools that it has. Of half a rule the name of the tool counts, as of a whole one. */
export async function readTools(reader: FieldReader, names: readonly string[]): Promise<string[] | undefined> {
  const written = reader.names(...names);
  if (written === undefined || !written.some((name) => /[()]/.test(name))) return written?.slice();
  const { findListFaults } = await import('../settings/rule-text.js');
  for (const [index, { severity, text }] of findListFaults(written, 'allow')) {
    const tool = (written[index] ?? '').replace(/\(.*$/s, '').trim();
    if (severity === 'error') warn(reader, { names, text: `${text}; the agent gets ${tool || 'nothing'} by it` });
  }
  return written.slice();
}

function warn(reader: FieldReader, { names, text }: { names: readonly string[]; text: string }): void {
  reader.warn(reader.find(...names)?.line ?? 1, `"${names[0]}": ${text}`);
}
