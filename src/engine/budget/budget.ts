/** What may be spent: by a query, by an agent, by an agent and all that it starts. */
import type { Clock } from '../../protocol/index.js';
import { toUsd } from '../model/catalog.js';
import { type Account, createAccount } from './account.js';
import {
  actualAmount,
  type Amount,
  type CallEnd,
  type CallEstimate,
  longestAnswer,
  NOTHING,
  worstAmount,
} from './call.js';
import { type BudgetLimits, type BudgetUnit, type Limit, toLimit, unpricedLimit } from './limit.js';

/** An answer shorter than this is not worth a call. */
export const LEAST_ANSWER_TOKENS = 16;

/** Where agents share what is left, each may ask for this much more than its share, as long as it is there. */
const LEAST_SHARE_TOKENS = 1_024;

/** The right to make one call. It holds the worst case until it is settled. */
export interface Reservation {
  /** The longest answer that is paid for: the `max_tokens` of the request. */
  readonly maxOutputTokens: number;
  /** Gives back what was not used. Must be called however the call ended; a second time does nothing. */
  settle(end: CallEnd): void;
}

export interface BudgetOptions {
  clock: Clock;
  /** Whose it is, for the text of a limit; absent for that of the query. */
  owner?: string;
  /** What was used of it before, and by whoever uses it beside this one. */
  account?: Account | undefined;
}

/**
 * One node in a tree of budgets. What is spent in it is spent in all above it, and a limit of any of them holds. Nothing
 * here waits: a call gets its reservation at once, maybe for a shorter answer, or is refused.
 */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #clock: Clock;
  readonly #owner: string | undefined;
  readonly #parent: Budget | undefined;
  readonly #account: Account;

  constructor(limits: BudgetLimits, { clock, owner, account }: BudgetOptions, parent?: Budget) {
    this.limits = limits;
    this.#clock = clock;
    this.#owner = owner;
    this.#parent = parent;
    this.#account = account ?? createAccount();
  }

  /** A part of this one: a turn, or an agent. */
  child(limits: BudgetLimits, options: Omit<BudgetOptions, 'clock'> = {}): Budget {
    return new Budget(limits, { clock: this.#clock, ...options }, this);
  }

  /** What calls that are over have used, here and below. */
  get spent(): Required<BudgetLimits> {
    const { microCents, tokens, turns } = this.#account.spent;
    return { usd: toUsd(microCents), tokens, turns, seconds: this.#milliseconds() / 1000 };
  }

  /** What calls that are running may still use. */
  get held(): { usd: number; tokens: number; turns: number } {
    const { microCents, tokens, turns } = this.#account.held;
    return { usd: toUsd(microCents), tokens, turns };
  }

  /** Whether here or above a limit asks for the size of a call. */
  get weighs(): boolean {
    return this.#chain().some(({ limits }) => limits.usd !== undefined || limits.tokens !== undefined);
  }

  /** The limit that is reached already, if one is. Between an answer and its tool calls, turns do not matter. */
  reached({ countTurns = true }: { countTurns?: boolean } = {}): Limit | undefined {
    for (const node of this.#chain()) {
      const unit = node.#reachedUnit(countTurns);
      if (unit !== undefined) return node.#toLimit(unit);
    }
    return undefined;
  }

  /** Takes the worst case out of this budget and all above it. The call that would pass a limit is refused. */
  reserve(estimate: CallEstimate): Reservation | Limit {
    const reached = this.reached({ countTurns: estimate.isTurn ?? false });
    if (reached !== undefined) return reached;
    const chain = this.#chain();
    let outputTokens = estimate.maxOutputTokens;
    for (const node of chain) {
      const room = node.#room(estimate);
      if (typeof room === 'object') return room;
      outputTokens = Math.min(outputTokens, room);
    }
    const amount = worstAmount(estimate, outputTokens) ?? {
      ...NOTHING,
      tokens: estimate.inputTokens + outputTokens,
      turns: estimate.isTurn ? 1 : 0,
    };
    for (const node of chain) node.#hold(amount, 1);
    let isOpen = true;
    return {
      maxOutputTokens: outputTokens,
      settle: (end) => {
        if (!isOpen) return;
        isOpen = false;
        const actual = actualAmount(estimate, end, { amount, outputTokens });
        for (const node of chain) {
          node.#hold(amount, -1);
          node.#account.spent = add(node.#account.spent, actual, 1);
        }
      },
    };
  }

  /** Somebody begins to work on it: from now on time counts, until the returned function is called. */
  enter(): () => void {
    const chain = this.#chain();
    for (const node of chain) node.#work(1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      for (const node of chain) node.#work(-1);
    };
  }

  /** The time that is left while somebody works on it, and whose limit that is; undefined when there is none. */
  timeLeft(): { ms: number; limit: Limit } | undefined {
    let least: { ms: number; limit: Limit } | undefined;
    for (const node of this.#chain()) {
      const { seconds } = node.limits;
      if (seconds === undefined) continue;
      const ms = Math.max(0, seconds * 1000 - node.#milliseconds());
      if (least === undefined || ms < least.ms) least = { ms, limit: node.#toLimit('seconds') };
    }
    return least;
  }

  /** Whoever goes on with an agent may have been started by it: each account counts once. */
  #chain(): Budget[] {
    if (this.#parent === undefined) return [this];
    return [this, ...this.#parent.#chain().filter((node) => node.#account !== this.#account)];
  }

  #reachedUnit(countTurns: boolean): BudgetUnit | undefined {
    const { usd, tokens, turns, seconds } = this.limits;
    if (countTurns && turns !== undefined && this.#account.spent.turns >= turns) return 'turns';
    if (usd !== undefined && this.#account.spent.microCents >= toMicroCents(usd)) return 'usd';
    if (tokens !== undefined && this.#account.spent.tokens >= tokens) return 'tokens';
    return seconds !== undefined && this.#milliseconds() >= seconds * 1000 ? 'seconds' : undefined;
  }

  /** The longest answer that this node alone would pay for, or its refusal. */
  #room(estimate: CallEstimate): number | Limit {
    const { usd, tokens, turns } = this.limits;
    if (estimate.isTurn && turns !== undefined && this.#account.spent.turns + this.#account.held.turns >= turns) {
      return this.#refuse('turns');
    }
    let room = estimate.maxOutputTokens;
    const least = Math.min(LEAST_ANSWER_TOKENS, estimate.maxOutputTokens);
    if (usd !== undefined) {
      if (worstAmount(estimate, 0) === undefined) return unpricedLimit();
      const left = toMicroCents(usd) - this.#account.spent.microCents - this.#account.held.microCents;
      room = this.#share(left, (part) => longestAnswer(estimate, part));
      if (room < least) return this.#refuse('usd');
    }
    if (tokens !== undefined) {
      const left = tokens - this.#account.spent.tokens - this.#account.held.tokens;
      room = Math.min(
        room,
        this.#share(left, (part) => part - estimate.inputTokens),
      );
      if (room < least) return this.#refuse('tokens');
    }
    return room;
  }

  /** Those who work here and have no call running share what is left, or the first would take it all. */
  #share(left: number, answerFor: (part: number) => number): number {
    const waiting = Math.max(1, this.#account.workers - this.#account.calls);
    const all = answerFor(left);
    if (waiting === 1) return all;
    return Math.max(answerFor(Math.floor(left / waiting)), Math.min(all, LEAST_SHARE_TOKENS));
  }

  #toLimit(unit: BudgetUnit): Limit {
    return toLimit(unit, { limits: this.limits, owner: this.#ownerOf(unit) });
  }

  /** Something is left, but not enough for this call. */
  #refuse(unit: 'usd' | 'tokens' | 'turns'): Limit {
    return toLimit(unit, { limits: this.limits, owner: this.#ownerOf(unit), isHeld: this.#account.calls > 0 });
  }

  /** Turns are counted twice: for a prompt, and at the top for all. */
  #ownerOf(unit: BudgetUnit): string | undefined {
    return unit === 'turns' && this.#parent === undefined ? 'the query and its agents' : this.#owner;
  }

  #hold(amount: Amount, sign: 1 | -1): void {
    this.#account.held = add(this.#account.held, amount, sign);
    this.#account.calls += sign;
  }

  #work(sign: 1 | -1): void {
    const now = this.#clock.monotonic();
    if (this.#account.workers > 0) this.#account.workedMs += now - this.#account.since;
    this.#account.since = now;
    this.#account.workers += sign;
  }

  #milliseconds(): number {
    return this.#account.workedMs + (this.#account.workers > 0 ? this.#clock.monotonic() - this.#account.since : 0);
  }
}

/** As it is meant: 0.29 is no whole number of millionths in binary. */
const toMicroCents = (usd: number): number => Math.round(usd * 1e8);

const add = (sum: Amount, more: Amount, sign: 1 | -1): Amount => ({
  microCents: sum.microCents + sign * more.microCents,
  tokens: sum.tokens + sign * more.tokens,
  turns: sum.turns + sign * more.turns,
});
