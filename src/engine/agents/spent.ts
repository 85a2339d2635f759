/** What an agent has used before this process, with all agents that it has started: their logs say so. */
import { type Account, createAccount } from '../budget/account.js';
import { type Amount, NOTHING } from '../budget/call.js';
import type { Catalog } from '../model/catalog.js';
import { inputOf } from '../model/usage-sum.js';
import type { SessionScope } from '../scope.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';
import type { Log } from '../sessions/log.js';
import { cutAnswers } from '../sessions/resume.js';
import { loadAgent } from './load-agent.js';
import type { AgentTree } from './session-agents.js';

/** Answers that an agent has given itself, those of before a resume included. */
export const turnsIn = (entries: readonly Entry[]): number =>
  entries.filter((entry) => isLifeEntry(entry) && entry.kind === 'step').length;

export async function restoreAccount(
  { store }: AgentTree,
  { recorder, catalog }: SessionScope,
  { id, log }: { id: string; log: Log },
): Promise<Account> {
  const { sessionId } = recorder.log.key;
  const logs = new Map<string, readonly Entry[]>([[id, log.entries]]);
  for (const entries of logs.values()) {
    for (const agentId of startedIn(entries)) {
      if (logs.has(agentId) || store === undefined) continue;
      logs.set(agentId, (await loadAgent(store, { sessionId, agentId }))?.entries ?? []);
    }
  }
  const all = [...logs.values()];
  const spent = all.map((entries) => amountOf(entries, catalog));
  return createAccount({
    microCents: sum(spent, 'microCents'),
    tokens: sum(spent, 'tokens'),
    turns: sum(spent, 'turns'),
    workedMs: lengthOf(all.flatMap(workIn)),
  });
}

const startedIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => (isLifeEntry(entry) && entry.kind === 'agent' ? [entry.agentId] : []));

const sum = (amounts: readonly Amount[], unit: keyof Amount): number =>
  amounts.reduce((total, amount) => total + amount[unit], 0);

function amountOf(entries: readonly Entry[], catalog: Catalog): Amount {
  const counted = new Map<string, Amount>();
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.forked) continue;
    if (entry.kind !== 'step' && entry.kind !== 'aborted' && entry.kind !== 'aside') continue;
    const { messageId, usage, microCents, kind } = entry;
    const tokens = inputOf(usage) + usage.output_tokens;
    counted.set(messageId, { microCents: microCents ?? 0, tokens, turns: kind === 'step' ? 1 : 0 });
  }
  // What a dead process left open was paid for, too.
  for (const { messageId, model, usage } of cutAnswers(entries)) {
    const tokens = inputOf(usage) + usage.output_tokens;
    counted.set(messageId, { ...NOTHING, microCents: catalog.microCentsOf(model, usage) ?? 0, tokens });
  }
  const amounts = [...counted.values()];
  return { microCents: sum(amounts, 'microCents'), tokens: sum(amounts, 'tokens'), turns: sum(amounts, 'turns') };
}

type Span = readonly [from: number, to: number];

/** From each prompt to its end, or to the last that is known of it. */
function workIn(entries: readonly Entry[]): Span[] {
  const spans: Span[] = [];
  let from: number | undefined;
  let last = 0;
  for (const entry of entries) {
    const at = 'timestamp' in entry ? Date.parse(entry.timestamp) : Number.NaN;
    if (Number.isNaN(at)) continue;
    const state = isLifeEntry(entry) && entry.kind === 'turn' ? entry.state : undefined;
    if (from !== undefined && state !== undefined) {
      spans.push([from, state === 'started' ? last : at]);
      from = undefined;
    }
    if (state === 'started') from = at;
    last = at;
  }
  return from === undefined ? spans : [...spans, [from, last]];
}

/** Agents that work side by side count once. */
function lengthOf(spans: readonly Span[]): number {
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [from, to] of spans.toSorted(([one], [other]) => one - other)) {
    total += Math.max(0, to - Math.max(from, until));
    until = Math.max(until, to);
  }
  return total;
}
