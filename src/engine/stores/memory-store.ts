import type { Clock, SessionKey, SessionStore, SessionSummary } from '../../protocol/index.js';
import { systemClock } from '../../protocol/plain.js';
import { createHolder, type Holder, Locked, waitForLease } from './lease.js';

interface KeptLog {
  key: SessionKey;
  lines: string[];
  lastModified: number;
}

const toSummary = ({ key, lastModified }: KeptLog): SessionSummary => ({ ...key, lastModified });

/** Lines at each end of a log that are shown of it. */
const GLANCE_LINES = 50;

/** Sessions that live as long as the process. */
export function createMemoryStore(options: { now?: () => number; clock?: Clock } = {}): SessionStore {
  const { clock = systemClock } = options;
  const now = options.now ?? (() => clock.now());
  /** Of a session, the logs of its agents; its own has no name. */
  const sessions = new Map<string, Map<string, KeptLog>>();
  const holders = new Map<string, Holder>();

  const take = (sessionId: string): (() => void) | Locked => {
    const other = holders.get(sessionId);
    if (other) return new Locked(other);
    const self = createHolder(clock);
    holders.set(sessionId, self);
    return () => {
      if (holders.get(sessionId) === self) holders.delete(sessionId);
    };
  };
  const takeSoon = (sessionId: string) => {
    const taken = take(sessionId);
    if (!(taken instanceof Locked)) return taken;
    return waitForLease({ sessionId, clock, attempt: () => take(sessionId) });
  };

  return {
    append(key, lines) {
      const { sessionId, agentId = '' } = key;
      const logs = sessions.get(sessionId) ?? new Map<string, KeptLog>();
      sessions.set(sessionId, logs);
      const log = logs.get(agentId) ?? { key, lines: [], lastModified: 0 };
      for (const line of lines) log.lines.push(line);
      log.lastModified = now();
      logs.set(agentId, log);
    },
    async load(sessionId, { agentId = '' } = {}) {
      const log = sessions.get(sessionId)?.get(agentId);
      return log && { key: log.key, lines: [...log.lines] };
    },
    async list({ cwd } = {}) {
      return [...sessions.values()]
        .flatMap((logs) => logs.get('') ?? [])
        .filter(({ key }) => cwd === undefined || key.cwd === cwd)
        .map(toSummary)
        .toSorted((a, b) => b.lastModified - a.lastModified);
    },
    async summary(sessionId) {
      const log = sessions.get(sessionId)?.get('');
      return log && toSummary(log);
    },
    async delete(sessionId) {
      const release = await takeSoon(sessionId);
      sessions.delete(sessionId);
      release();
    },
    lease({ sessionId }) {
      const taken = takeSoon(sessionId);
      return taken instanceof Promise ? taken.then((release) => ({ release })) : { release: taken };
    },
    async glance(sessionId) {
      const log = sessions.get(sessionId)?.get('');
      if (log === undefined) return undefined;
      const rest = log.lines.slice(GLANCE_LINES);
      return { key: log.key, head: log.lines.slice(0, GLANCE_LINES), tail: rest.slice(-GLANCE_LINES) };
    },
    async agents(sessionId) {
      return [...(sessions.get(sessionId)?.keys() ?? [])].filter((agentId) => agentId !== '');
    },
  };
}
