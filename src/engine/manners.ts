import type { ResultMessage, SessionConfig } from '../protocol/index.js';

/** The few places in which versions of the protocol's clients differ. There are no version tests anywhere else. */
export interface Manners {
  /** Whether reaching a limit is an error with a text, or a plain end without one. */
  readonly limitsAreErrors: boolean;
  /** Whether limits also make the process exit with 1. */
  readonly limitsFailTheProcess: boolean;
  /** Whether the client knows messages about the life of what it sent in. */
  readonly tellsLifecycle: boolean;
  /** Whether the result of a prompt that a hook blocked says so; it is empty otherwise. */
  readonly tellsBlockedPrompts: boolean;
  /** Whether the client knows messages about files that can be given back. */
  readonly tellsKeptFiles: boolean;
  /** Whether a turn tells of the end of a task that TaskOutput has shown already. */
  readonly tellsShownTasks: boolean;
  /** Whether what a local command says is shown as an answer; else as a line of the user, and the result is empty. */
  readonly answersCommands: boolean;
  /** Whether a slash that calls nothing goes to the model; it is refused otherwise. */
  readonly passesUnknownCommands: boolean;
  /** Whether the client knows that conversations may begin anew. */
  readonly tellsReset: boolean;
  /** Whether the client knows messages about agents on their way. */
  readonly tellsTaskProgress: boolean;
}

const MANNERS = {
  old: {
    limitsAreErrors: false,
    limitsFailTheProcess: false,
    tellsLifecycle: false,
    tellsBlockedPrompts: false,
    tellsKeptFiles: false,
    tellsShownTasks: true,
    tellsTaskProgress: false,
    answersCommands: false,
    passesUnknownCommands: false,
    tellsReset: false,
  },
  current: {
    limitsAreErrors: true,
    limitsFailTheProcess: true,
    tellsLifecycle: true,
    tellsBlockedPrompts: true,
    tellsKeptFiles: true,
    tellsShownTasks: false,
    tellsTaskProgress: true,
    answersCommands: true,
    passesUnknownCommands: true,
    tellsReset: true,
  },
} as const satisfies Record<string, Manners>;

/** SDK 0.1 and 0.2 treat limits as plain ends; 0.3, and whoever names no version, as errors. */
export function mannersFor(client: SessionConfig['client']): Manners {
  const isOld = client?.entrypoint.startsWith('sdk') && /^0\.[012]\./.test(client.version ?? '');
  return isOld ? MANNERS.old : MANNERS.current;
}

const LIMITS = new Set(['error_max_turns', 'error_max_budget_usd']);

/** The exit code of a process whose last result was this one. */
export function exitCodeOf(result: Pick<ResultMessage, 'subtype' | 'is_error'> | undefined, manners: Manners): number {
  if (result === undefined) return 0;
  if (LIMITS.has(result.subtype)) return manners.limitsFailTheProcess ? 1 : 0;
  return result.is_error ? 1 : 0;
}
