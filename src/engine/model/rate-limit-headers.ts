/** What the headers of an answer say of the rate limit of the account. */
import type { RateLimitInfo } from '../../protocol/index.js';

const PREFIX = 'anthropic-ratelimit-unified-';

/** How the headers call the windows of time. */
const WINDOWS: Readonly<Record<string, string>> = {
  five_hour: '5h',
  seven_day: '7d',
  seven_day_opus: '7d_opus',
  seven_day_sonnet: '7d_sonnet',
};

/** Undefined when they say nothing. A number that is none is left out. */
export function readRateLimit(headers: { get(name: string): string | null }): RateLimitInfo | undefined {
  const text = (name: string): string | undefined => headers.get(`${PREFIX}${name}`)?.trim() || undefined;
  const number = (name: string): number | undefined => {
    const value = Number(text(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const status = text('status');
  if (status === undefined) return undefined;
  const type = text('representative-claim');
  const fields: { [K in keyof RateLimitInfo]: RateLimitInfo[K] | undefined } = {
    status,
    resetsAt: number('reset'),
    rateLimitType: type,
    utilization: type === undefined ? undefined : number(`${WINDOWS[type] ?? type}-utilization`),
    overageStatus: text('overage-status'),
    overageResetsAt: number('overage-reset'),
    overageDisabledReason: text('overage-disabled-reason'),
  };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as RateLimitInfo;
}
