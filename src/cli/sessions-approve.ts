/** Tool calls whose question outlived the process that asked it: pending, approve, deny. */
import type { AnsweredApproval, PendingApproval } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import { describeQuestion } from './ask.js';
import {
  type Command,
  findSession,
  folderOf,
  type Opened,
  openSessions,
  type SessionsParts,
  usage,
  writeJson,
} from './sessions-parts.js';
import { toVisibleLine } from './visible.js';

interface PendingOf {
  sessionId: string;
  summary: string;
  calls: PendingApproval[];
}

export const pending: Command = async (input, parts) => {
  const opened = await openSessions(parts);
  const [name] = input.words;
  const found =
    name === undefined
      ? await findWaiting(opened, folderOf(input, parts))
      : [await waitingOf(opened, await findSession(opened, name, parts.cwd))];
  const waiting = found.filter(({ calls }) => calls.length > 0);
  if (input.json)
    writeJson(
      parts,
      waiting.flatMap(({ sessionId, calls }) => calls.map((call) => ({ sessionId, ...call }))),
    );
  else if (waiting.length === 0) parts.stdout.write('Nothing waits for approval.\n');
  else for (const each of waiting) parts.stdout.write(describeWaiting(each, parts));
  return 0;
};

async function waitingOf({ functions, parts }: Opened, sessionId: string): Promise<PendingOf> {
  const calls = await functions.pendingApprovals(parts, sessionId);
  const info = await functions.getSessionInfo(parts, sessionId);
  if (info === undefined && calls.length === 0) {
    throw new HeddleError('session_not_found', `No conversation found with session ID: ${sessionId}`, {
      hint: 'heddle sessions list --all shows every session.',
    });
  }
  return { sessionId, summary: info?.summary ?? '', calls };
}

/** Logs whose end speaks of no question are not read. */
async function findWaiting(opened: Opened, dir: string | undefined): Promise<PendingOf[]> {
  const { functions, parts } = opened;
  const waiting: PendingOf[] = [];
  for (const { sessionId } of await functions.listSessions(parts, { dir })) {
    const glance = await parts.store.glance?.(sessionId);
    const asks = [...(glance?.head ?? []), ...(glance?.tail ?? [])].some((line) =>
      line.includes('"state":"requested"'),
    );
    const found = asks ? await waitingOf(opened, sessionId).catch(() => undefined) : undefined;
    if (found !== undefined) waiting.push(found);
  }
  return waiting;
}

function describeWaiting({ sessionId, summary, calls }: PendingOf, parts: SessionsParts): string {
  const cards = calls.map((call) => `${describeCall(call, parts)}  call: ${toVisibleLine(call.toolUseId)}\n`);
  const how = `\nheddle sessions approve ${sessionId.slice(0, 8)}${calls.length > 1 ? ' <call>' : ''}   (or deny)\n`;
  return `${sessionId}  "${toVisibleLine(summary)}"\n${cards.join('')}${how}`;
}

/** Whole: what is approved must have been seen. */
const describeCall = (
  { toolName, input, cwd, explanation, toolUseId }: PendingApproval,
  parts: SessionsParts,
): string =>
  describeQuestion(
    { tool_name: toolName, input, tool_use_id: toolUseId, cwd, ...(explanation !== undefined && { explanation }) },
    { colour: parts.colour ?? false, cwd },
  );

const answer =
  (behavior: 'allow' | 'deny'): Command =>
  async ({ words, all, message, json }, parts) => {
    const [name = '', toolUseId] = words;
    if (all && toolUseId !== undefined) throw usage('error: --all and the id of a call exclude each other');
    const opened = await openSessions(parts);
    const { functions } = opened;
    const sessionId = await findSession(opened, name, parts.cwd);
    const calls = all ? await functions.pendingApprovals(opened.parts, sessionId) : [];
    const ids = calls.length > 0 ? calls.map((call) => call.toolUseId) : [toolUseId];
    const answered: AnsweredApproval[] = [];
    for (const id of ids) {
      const given = { toolUseId: id, behavior, message };
      answered.push(await functions.answerApproval(opened.parts, { sessionId, answer: given }));
    }
    if (json)
      writeJson(
        parts,
        answered.map((each) => ({ sessionId, ...each })),
      );
    else for (const each of answered) parts.stdout.write(describeAnswer(each, parts));
    const left = answered.at(-1)?.pending.length ?? 0;
    if (json) return 0;
    if (left > 0) parts.stdout.write(`${left} more call(s) wait: heddle sessions pending ${sessionId.slice(0, 8)}\n`);
    else parts.stdout.write(`To go on: heddle --resume ${sessionId}\n`);
    return 0;
  };

export const approve = answer('allow');
export const deny = answer('deny');

function describeAnswer(answered: AnsweredApproval, parts: SessionsParts): string {
  const card = describeCall(answered, parts).replace(
    'needs your approval',
    answered.behavior === 'allow' ? 'is approved' : 'is denied',
  );
  return `${card}${answered.next}\n`;
}
