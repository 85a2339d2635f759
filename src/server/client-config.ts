/** What a client may choose for its session. Everything else, and whatever the server has set, is the server's. */
import type { SessionConfig } from '../protocol/index.js';
import { EFFORT_LEVELS, PERMISSION_MODES } from '../protocol/plain.js';

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isAmount: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isOneOf =
  (names: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && names.includes(value);

/** Nothing here reaches a file, an environment or a credential, or loosens what is asked about. */
const SAFE: Partial<Record<keyof SessionConfig, Check>> = {
  model: isText,
  fallbackModel: isText,
  effort: isOneOf(EFFORT_LEVELS),
  maxThinkingTokens: (value) => value === null || isCount(value),
  permissionMode: isOneOf(PERMISSION_MODES.filter((mode) => mode !== 'bypassPermissions')),
  permissionPromptTool: isOneOf(['stdio']),
  appendSystemPrompt: isText,
  systemPrompt: isText,
  includePartialMessages: isFlag,
  includeHookEvents: isFlag,
  replayUserMessages: isFlag,
  maxTurns: isCount,
  tools: isTexts,
  disallowedTools: isTexts,
  maxBudgetUsd: isAmount,
  sessionId: isText,
  resume: isText,
};

/** The safe part of what a client asks for in `initialize.config`, and the names of what it may not choose. */
export function pickSafe(asked: unknown): { safe: Partial<SessionConfig>; ignored: string[] } {
  if (typeof asked !== 'object' || asked === null) return { safe: {}, ignored: [] };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  const isSafe = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(SAFE, name) && SAFE[name as keyof SessionConfig]?.(value) === true;
  return {
    safe: Object.fromEntries(given.filter(isSafe)),
    ignored: given.filter((entry) => !isSafe(entry)).map(([name]) => name),
  };
}
