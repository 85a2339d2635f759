/** From what people write to limits. */
import type { SessionConfig } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { BudgetLimits, BudgetUnit } from './limit.js';

type Named = Readonly<Partial<Record<BudgetUnit, readonly [name: string, value: unknown]>>>;

type QueryOptions = Pick<SessionConfig, 'maxBudgetUsd' | 'maxSeconds' | 'maxTotalTurns' | 'taskBudget'>;

/** The limits of a query: of its main thread and of all agents that it starts. Throws `invalid_config`. */
export const queryLimits = ({ maxBudgetUsd, taskBudget, maxTotalTurns, maxSeconds }: QueryOptions): BudgetLimits =>
  toLimits({
    usd: ['maxBudgetUsd', maxBudgetUsd],
    tokens: ['taskBudget', taskBudget],
    turns: ['maxTotalTurns', maxTotalTurns],
    seconds: ['maxSeconds', maxSeconds],
  });

/** The limits of one turn, from its prompt to its result. Zero turns mean no limit. */
export const turnLimits = ({ maxTurns }: Pick<SessionConfig, 'maxTurns'>): BudgetLimits =>
  maxTurns === undefined || maxTurns === 0 ? {} : toLimits({ turns: ['maxTurns', maxTurns] });

/** What an agent may use, with all that it starts itself. */
export interface AgentLimits {
  maxTurns?: number | undefined;
  maxBudgetUsd?: number | undefined;
  maxTokens?: number | undefined;
  maxSeconds?: number | undefined;
}

/** Throws `invalid_config` that names the agent. Zero turns mean no limit here, too. */
export const agentLimits = (
  { maxTurns, maxBudgetUsd, maxTokens, maxSeconds }: AgentLimits,
  agent: string,
): BudgetLimits =>
  toLimits(
    {
      usd: ['maxBudgetUsd', maxBudgetUsd],
      tokens: ['maxTokens', maxTokens],
      turns: ['maxTurns', maxTurns === 0 ? undefined : maxTurns],
      seconds: ['maxSeconds', maxSeconds],
    },
    ` of the agent ${agent}`,
  );

const WHOLE: ReadonlySet<string> = new Set<BudgetUnit>(['tokens', 'turns']);

/** A budget of nothing is a mistake: it is refused before anything is begun. */
function toLimits(named: Named, whose = ''): BudgetLimits {
  const limits: BudgetLimits = {};
  for (const [unit, [name, value]] of Object.entries(named)) {
    if (value === undefined) continue;
    const isWhole = WHOLE.has(unit);
    if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || (isWhole && !Number.isInteger(value))) {
      const shown = typeof value === 'number' ? `${value}` : (JSON.stringify(value) ?? typeof value);
      const expected = isWhole ? 'a whole number above 0' : 'a number above 0';
      throw new HeddleError('invalid_config', `${name}${whose} must be ${expected}, not ${shown.slice(0, 80)}.`, {
        hint: `Correct ${name}, or leave it out.`,
        data: { path: name },
      });
    }
    limits[unit as BudgetUnit] = value;
  }
  return limits;
}
