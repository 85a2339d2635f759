import type { SessionConfig } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';

/** What a session may be asked for that this version cannot do. Ignoring it could loosen what the caller relies on. */
const UNSUPPORTED = {
  resumeDropsTurn: 'dropping a turn on resume',
} as const satisfies Partial<Record<keyof SessionConfig, string>>;

/** Throws `not_supported` for the first thing that cannot be had. */
export function refuseUnsupported(config: SessionConfig): void {
  for (const [key, what] of Object.entries(UNSUPPORTED)) {
    if (isAsked(config[key as keyof SessionConfig])) throw refusal(key, what);
  }
}

/** An empty list or table asks for nothing. */
const isAsked = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined && value !== false;

const refusal = (key: string, what: string): HeddleError =>
  new HeddleError('not_supported', `This version does not support ${what} (${key}).`, { hint: `Leave ${key} out.` });
