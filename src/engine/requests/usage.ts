/** What a session has used, and what the model API says is left. */
import type { RateLimitInfo, RateLimitWindow, SessionUsage } from '../../protocol/index.js';
import type { Session } from '../session.js';

export function tellUsage({ scope }: Session): SessionUsage {
  const { spending, state, clock, openedAt } = scope;
  const { rateLimit } = state;
  return {
    session: {
      total_cost_usd: spending.totalUsd,
      total_tokens: spending.totalTokens,
      ...(openedAt !== undefined && { total_duration_ms: Math.round(clock.monotonic() - openedAt) }),
      total_api_duration_ms: Math.round(spending.apiMs),
      model_usage: spending.byModel,
      agent_usage: spending.byAgent,
    },
    subscription_type: null,
    rate_limits_available: rateLimit !== undefined,
    rate_limits: rateLimit === undefined ? null : toWindows(rateLimit),
    behaviors: null,
  };
}

/** The API tells of the window that decides, and of what goes beyond it. */
function toWindows(info: RateLimitInfo): Record<string, RateLimitWindow> {
  const { status, utilization, resetsAt, rateLimitType = 'unified', overageStatus, overageResetsAt } = info;
  return {
    ...(overageStatus !== undefined && {
      overage: { status: overageStatus, utilization: null, resets_at: toTime(overageResetsAt) },
    }),
    [rateLimitType]: { status, utilization: utilization ?? null, resets_at: toTime(resetsAt) },
  };
}

/** A time that no calendar has is none. */
function toTime(seconds: number | undefined): string | null {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
