import type { RateLimitInfo } from '../protocol/index.js';
import type { SessionScope } from './scope.js';

/** Tells what the API says of the rate limit, when it is news. One account pays for a session and all its agents. */
export function tellRateLimit(scope: SessionScope, info: RateLimitInfo | undefined): void {
  const { state, recorder, clock, id } = scope.main ?? scope;
  if (info === undefined || isSame(state.rateLimit, info)) return;
  state.rateLimit = info;
  recorder.emit({ type: 'rate_limit_event', rate_limit_info: info, uuid: clock.uuid(), session_id: id });
}

const isSame = (told: RateLimitInfo | undefined, now: RateLimitInfo): boolean =>
  told !== undefined && JSON.stringify(toNews(told)) === JSON.stringify(toNews(now));

/** Every call uses up a little: what is less than a hundredth is no news. */
const toNews = ({ utilization, ...rest }: RateLimitInfo): unknown => [Math.floor((utilization ?? 0) * 100), rest];
