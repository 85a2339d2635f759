/** A condition that ended a turn early. */
export interface Limit {
  subtype:
    | 'error_max_turns'
    | 'error_max_budget_usd'
    | 'error_max_structured_output_retries'
    /** For what the protocol has no name: tokens and seconds. */
    | 'error_during_execution';
  text: string;
  terminalReason: string;
  /** An error for every client: an old one has never seen this end as a plain one. */
  alwaysError?: true;
  code?: 'budget_exceeded';
}

/** What a budget may be measured in. */
export interface BudgetLimits {
  usd?: number | undefined;
  /** All that model calls read and write: fresh, from the cache, written to it, and the answers. */
  tokens?: number | undefined;
  /** Whole answers of the model. */
  turns?: number | undefined;
  /** While somebody works on it; agents that work side by side count once. */
  seconds?: number | undefined;
}

export type BudgetUnit = keyof BudgetLimits;

interface LimitFacts {
  limits: BudgetLimits;
  /** Whose budget it is, where it is not that of the query. */
  owner?: string | undefined;
  /** The rest of it is held by calls that are running. */
  isHeld?: boolean;
}

/** The limit that is reached, in words. */
export function toLimit(unit: BudgetUnit, { limits, owner, isHeld = false }: LimitFacts): Limit {
  const text = `${TEXTS[unit](limits[unit] ?? 0)}${owner === undefined ? '' : ` of ${owner}`}${isHeld ? HELD : ''}`;
  switch (unit) {
    case 'turns':
      return { subtype: 'error_max_turns', text, terminalReason: 'max_turns' };
    case 'usd':
      return { subtype: 'error_max_budget_usd', text, terminalReason: EXHAUSTED };
    default:
      return {
        subtype: 'error_during_execution',
        text,
        terminalReason: EXHAUSTED,
        alwaysError: true,
        code: 'budget_exceeded',
      };
  }
}

export const unpricedLimit = (): Limit => ({
  subtype: 'error_max_budget_usd',
  text: 'The price of the model is not known, so a USD budget cannot be kept',
  terminalReason: EXHAUSTED,
});

const EXHAUSTED = 'budget_exhausted';
const HELD = ': calls that are running hold the rest of it';

const TEXTS: Readonly<Record<BudgetUnit, (most: number) => string>> = {
  usd: (usd) => `Reached maximum budget ($${usd})`,
  tokens: (tokens) => `Reached maximum number of tokens (${tokens})`,
  turns: (turns) => `Reached maximum number of turns (${turns})`,
  seconds: (seconds) => `Reached maximum time (${seconds} s)`,
};
