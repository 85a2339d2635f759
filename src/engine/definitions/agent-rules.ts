/** Rules that deny in the file of an agent. One that is broken is told, and never lets the agent do more than was meant. */
import { canonicalToolName, TOOL_SCHEMAS } from '../../protocol/plain.js';

const TOOLS = Object.keys(TOOL_SCHEMAS);

const isTool = (name: string): boolean => Object.hasOwn(TOOL_SCHEMAS, name) || name.startsWith('mcp__');

/** What is denied: beside a rule that cannot be read, every tool that it names or nearly names. */
export async function denyAllMeant(written: readonly string[], warn: (text: string) => void): Promise<string[]> {
  if (written.every((name) => isTool(canonicalToolName(name)) && !/[()]/.test(name))) return written.slice();
  const [{ findListFaults }, { findNearName }] = await Promise.all([
    import('../settings/rule-text.js'),
    import('../settings/near-name.js'),
  ]);
  const rules = written.map((rule) => spellTool(rule, warn));
  const faults = findListFaults(rules, 'deny');
  return rules.flatMap((rule, index) => {
    const fault = faults.get(index);
    if (fault === undefined) return [rule];
    const words = rule.split(/[\s()]+/).map(canonicalToolName);
    const [head = ''] = words;
    const near = isTool(head) ? undefined : findNearName(head, TOOLS)?.name;
    const meant = fault.severity === 'error' ? [...new Set([near, ...words.filter(isTool)])] : [near];
    const denied = meant.filter((name) => name !== undefined);
    // Another name may be that of a tool of the host.
    if (denied.length > 0) warn(`${fault.text}; denied: ${denied.join(', ')}`);
    else if (fault.severity === 'error') warn(`${fault.text}; every call that it may mean is asked about`);
    return [rule, ...denied];
  });
}

/** A name that only differs in its letters' case from that of a tool is about that tool. */
function spellTool(rule: string, warn: (text: string) => void): string {
  const [name = ''] = rule.split('(', 1);
  const tool = canonicalToolName(name);
  const same = isTool(tool) ? undefined : TOOLS.find((each) => each.toLowerCase() === tool.toLowerCase());
  if (same === undefined) return rule;
  warn(`"${name}" names no tool; it is taken as ${same}`);
  return `${same}${rule.slice(name.length)}`;
}
