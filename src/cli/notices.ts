/** What someone must be told who does not read the messages: a line on stderr, or nothing. */
import type { Session } from '../engine/index.js';
import type { Message, RateLimitInfo, SessionConfig } from '../protocol/index.js';
import { ERROR_CODES } from '../protocol/plain.js';
import { toVisibleLine } from './visible.js';

type SystemMessage = Extract<Message, { type: 'system' }>;
type Retry = Extract<SystemMessage, { subtype: 'api_retry' }>;

export function describeNotice(message: Message): string | undefined {
  if (message.type === 'rate_limit_event') return describeRateLimit(message.rate_limit_info);
  if (message.type !== 'system') return undefined;
  if (message.subtype === 'api_retry') return describeRetry(message);
  if (message.subtype === 'session_writes_lost') return describeLoss(message.error);
  if (message.subtype === 'informational') return `heddle: ${toVisibleLine(message.content)}\n`;
  return undefined;
}

interface Told {
  session: Session;
  stderr: { write(text: string): unknown };
}

/** Someone who wanted to go on must know that this is another conversation. */
export function tellFreshStart(config: SessionConfig, { session, stderr }: Told): void {
  if (!config.continue || session.scope.recorder.log.entries.length > 0) return;
  stderr.write('heddle: there is no earlier session of this folder; a new one was started\n');
}

/** Before the first prompt; without it the first turn tells the same. */
export function tellSettings({ scope: { guard, config } }: Session, stderr: { write(text: string): unknown }): void {
  for (const { content } of guard.takeNews()) stderr.write(`heddle: ${toVisibleLine(content)}\n`);
  if (guard.trusted || !config.settingSources?.length) return;
  stderr.write('heddle: commands see only the basic variables of the environment until you trust this folder\n');
}

/** After the answer the program may stay for a while: someone who waits for its end must know why. */
export function tellWaiting(message: Message, { session, stderr }: Told): void {
  const { running } = session.scope.tasks;
  const { length } = running;
  if (message.type !== 'result' || length === 0) return;
  // Agents are waited for until they are done.
  const hasAgent = running.some(({ type }) => type === 'local_agent');
  const what = length === 1 ? `a background ${hasAgent ? 'agent' : 'task'}` : `${length} background tasks`;
  stderr.write(`heddle: waiting ${hasAgent ? '' : 'a few seconds '}for ${what} to end\n`);
}

const describeLoss = (error: string): string =>
  `heddle: the session cannot be written, so it cannot be resumed: ${toVisibleLine(error)}\n`;

function describeRetry({ error_code, error_message, error_status, error, retry_delay_ms, ...retry }: Retry): string {
  const status = error_status === null ? '' : ` (${error_status})`;
  const cause = firstSentence(error_code) ?? toVisibleLine(error_message ?? error);
  const wait = retry_delay_ms < 10_000 ? (retry_delay_ms / 1000).toFixed(1) : Math.round(retry_delay_ms / 1000);
  return `heddle: ${cause}${status}; trying again in ${wait} s (attempt ${retry.attempt} of ${retry.max_retries})\n`;
}

function describeRateLimit({ status, rateLimitType, utilization }: RateLimitInfo): string | undefined {
  if (status !== 'allowed_warning' && status !== 'rejected') return undefined;
  const used = utilization === undefined ? undefined : `${Math.floor(utilization * 100)} % used`;
  const facts = [rateLimitType && toVisibleLine(rateLimitType), used].filter((fact) => fact !== undefined);
  const what = status === 'rejected' ? 'is reached' : 'is nearly reached';
  return `heddle: the rate limit of your account ${what}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}\n`;
}

/** What an error code means, to go on after a colon. */
function firstSentence(code: string | undefined): string | undefined {
  if (code === undefined || !Object.hasOwn(ERROR_CODES, code)) return undefined;
  const [sentence = ''] = ERROR_CODES[code as keyof typeof ERROR_CODES].split('.');
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
