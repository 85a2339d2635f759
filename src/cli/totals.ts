/** The numbers at the end of a turn: turns, time, money. */
import type { ResultMessage } from '../protocol/index.js';

export type Totals = Pick<ResultMessage, 'num_turns' | 'duration_ms' | 'total_cost_usd' | 'modelUsage'>;

/** All of one turn: a result counts the money of the whole session, `spentUsd` is what earlier turns cost. */
export function describeTotals(result: Totals, spentUsd = 0): string {
  const turns = `${result.num_turns} ${result.num_turns === 1 ? 'turn' : 'turns'}`;
  const isUnknown = Object.values(result.modelUsage ?? {}).some((usage) => usage.costBasis === 'unknown');
  return [
    turns,
    describeTime(result.duration_ms),
    isUnknown ? 'cost unknown' : describeCost(Math.max(0, result.total_cost_usd - spentUsd)),
  ].join(' · ');
}

export function describeTime(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function describeCost(usd: number): string {
  if (usd === 0) return '$0.00';
  if (usd < 0.0001) return '<$0.0001';
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}
