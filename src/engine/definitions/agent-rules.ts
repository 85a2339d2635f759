/** Tools and rules that deny in the file of an agent. What is wrong is told, and never lets the agent do more than was meant. */
import { canonicalToolName, TOOL_SCHEMAS } from '../../protocol/plain.js';
import { isKnownTool } from '../permissions/rules/written.js';

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
    const isUnknown = !isKnownTool(head) && !head.includes('*');
    const inside = isUnknown ? toolsIn(head) : [];
    const near = isUnknown && inside.length === 0 ? findNearName(head, TOOLS)?.name : undefined;
    const named = fault.severity === 'error' ? words.filter(isTool) : [];
    const denied = [...new Set([...inside, ...(near === undefined ? [] : [near]), ...named])];
    if (denied.length > 0) warn(`${fault.text}; denied: ${denied.join(', ')}`);
    else if (fault.severity === 'error') warn(`${fault.text}; every call that it may mean is asked about`);
    else warn(`${fault.text} that is built in; it denies one of that name, if a server or the host brings it`);
    return [rule, ...denied];
  });
}

/** The tools that an agent has, with those put right whose letters' case is wrong. */
export function spellTools(written: readonly string[], warn: (text: string) => void): string[] {
  const tools = written.map((rule) => spellTool(rule, warn));
  if (tools.length > 0 && !tools.some(mayExist)) {
    warn('none of these names a tool that is built in; the agent only starts where a server or the host brings one');
  }
  return tools;
}

/** The name is that of a tool, or a pattern of names. */
export function mayExist(rule: string): boolean {
  const name = canonicalToolName(rule.split('(', 1)[0] ?? '');
  return name.includes('*') || isKnownTool(name);
}

/** The tool from whose name that of a rule only differs in its letters' case. */
export function sameTool(rule: string): string | undefined {
  const tool = canonicalToolName(rule.split('(', 1)[0] ?? '');
  return isTool(tool) ? undefined : TOOLS.find((each) => each.toLowerCase() === tool.toLowerCase());
}

/** What people call tools that have another name. */
const NICKNAMES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:sh|zsh|shell|powershell|terminal|console|cmd|commands?|exec|execute|run)$/, ['Bash']],
  [/^(?:web|browser|internet|network)$/, ['WebFetch', 'WebSearch']],
  [/^(?:edits|edit(?:ing|or)|writes|writing)$/, ['Edit', 'NotebookEdit', 'Write']],
  [/^(?:sub)?agents?$/, ['Task']],
];

/** The tools whose names are among the words of a name: of `BashTool`, `bash_tool` and `shell` it is Bash. */
export function toolsIn(name: string): string[] {
  const words = name
    .replace(/([a-z\d])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .map((word) => word.replace(/(?<=.)tools?$/, ''));
  const found = TOOLS.filter((tool) => words.some((_, at) => startsWith(words.slice(at), tool.toLowerCase())));
  const whole = found.filter((tool) => !found.some((other) => other !== tool && other.includes(tool)));
  if (whole.length > 0) return whole;
  return NICKNAMES.flatMap(([nickname, tools]) => (words.some((word) => nickname.test(word)) ? tools : []));
}

/** Some words, put together, are the name. */
function startsWith(words: readonly string[], name: string): boolean {
  let text = '';
  return words.some((word) => (text += word) === name);
}

/** A name that only differs in its letters' case from that of a tool is about that tool. */
function spellTool(rule: string, warn: (text: string) => void): string {
  const [name = ''] = rule.split('(', 1);
  const same = sameTool(rule);
  if (same === undefined) return rule;
  warn(`"${name}" names no tool; it is taken as ${same}`);
  return `${same}${rule.slice(name.length)}`;
}
