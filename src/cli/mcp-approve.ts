/** `heddle mcp approve` and `reject`, and the question that a terminal asks about each server of a project. */
import type { McpApprovals, ResolvedServer } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { ReadLine } from './ask.js';
import { type CommandInput, loadServers, type McpParts, usage } from './mcp-parts.js';
import { toVisibleLine } from './visible.js';

type Verdict = 'approve' | 'reject';

export const approve = (input: CommandInput, parts: McpParts): Promise<number> => decide('approve', input, parts);
export const reject = (input: CommandInput, parts: McpParts): Promise<number> => decide('reject', input, parts);

async function decide(verdict: Verdict, { words, values }: CommandInput, parts: McpParts): Promise<number> {
  const { servers, waiting, approvals, settings } = await loadServers(parts);
  if (!settings.trusted) {
    throw new HeddleError('invalid_config', 'error: this folder is not trusted. To trust it: heddle trust');
  }
  const known = new Map([...[...servers].filter(([, { approval }]) => approval !== undefined), ...waiting]);
  if (values.all !== true && words.length === 0) throw usage(`error: "mcp ${verdict}" needs a name, or --all`);
  const names = values.all === true ? [...known.keys()] : words;
  const missing = names.find((name) => !known.has(name));
  if (missing !== undefined) {
    throw new HeddleError(
      'invalid_config',
      `error: this project has no server "${toVisibleLine(missing)}" to ${verdict}`,
    );
  }
  if (names.length === 0) parts.stdout.write('This project has no servers of its own.\n');
  for (const name of names) {
    const server = known.get(name);
    if (server?.approval === undefined) continue;
    parts.stdout.write(await describeServer(name, server));
    await approvals[verdict](server.approval);
    parts.stdout.write(`  ${verdict === 'approve' ? 'approved' : 'rejected'}\n`);
  }
  return 0;
}

/** The whole entry as it is written, and the variables that it would get. */
async function describeServer(name: string, { source, written, approval }: ResolvedServer): Promise<string> {
  const { isEngineOwn, variablesOf } = await import('../engine/index.js');
  const lines = Object.entries(written).map(
    ([key, value]) => `  ${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const variables = variablesOf(written);
  const { gets = [], lacks = [] } = Object.groupBy(variables, (each) => (isEngineOwn(each) ? 'lacks' : 'gets'));
  const changed = approval?.state === 'changed' ? ' (changed since you decided about it)' : '';
  const all = [
    `${name}${changed}, in ${source}`,
    ...lines,
    ...(gets.length > 0 ? [`  gets your variables: ${gets.join(', ')}`] : []),
    ...(lacks.length > 0 ? [`  never gets, whoever approves it: ${lacks.join(', ')}`] : []),
  ];
  return `${all.map(toVisibleLine).join('\n')}\n`;
}

export interface ApprovalQuestion {
  waiting: ReadonlyMap<string, ResolvedServer>;
  approvals: McpApprovals;
  write: (text: string) => void;
  readLine: ReadLine;
}

/** Shows each server that nobody has decided about, whole, and asks. True: something was approved. */
export async function askApprovals({ waiting, approvals, write, readLine }: ApprovalQuestion): Promise<boolean> {
  let isChanged = false;
  for (const [name, server] of waiting) {
    if (server.approval === undefined || server.approval.state === 'rejected') continue;
    write(
      `\nThis project has an MCP server, which can run commands and send data:\n${await describeServer(name, server)}`,
    );
    const answer = (await readLine('Use it? y / n, or Enter to decide later: '))?.trim() ?? '';
    if (/^y(es)?$/i.test(answer)) {
      await approvals.approve(server.approval);
      isChanged = true;
    } else if (/^no?$/i.test(answer)) await approvals.reject(server.approval);
  }
  return isChanged;
}
