/** What a client may choose for its session. Everything else, and whatever the server has set, is the server's. */
import type { SessionConfig } from '../protocol/index.js';
import { isUsable } from '../protocol/plain.js';

/** Nothing here reaches a file, an environment or a credential, or loosens what is asked about. */
const SAFE: readonly (keyof SessionConfig)[] = [
  'appendSystemPrompt',
  'disallowedTools',
  'effort',
  'fallbackModel',
  'includeHookEvents',
  'includePartialMessages',
  'maxBudgetUsd',
  'maxSeconds',
  'maxTotalTurns',
  'maxThinkingTokens',
  'maxTurns',
  'model',
  'permissionMode',
  'permissionPromptTool',
  'replayUserMessages',
  'resume',
  'sessionId',
  'skills',
  'systemPrompt',
  'tools',
];

/** Values of safe settings that are not safe themselves. */
const isUnsafe = (name: string, value: unknown): boolean =>
  (name === 'permissionMode' && value === 'bypassPermissions') ||
  (name === 'permissionPromptTool' && value !== 'stdio');

const isSafe = ([name, value]: [string, unknown]): boolean =>
  SAFE.some((safe) => safe === name && isUsable(safe, value)) && !isUnsafe(name, value);

/** The safe part of what a client asks for in `initialize.config`, and the names of what it may not choose. */
export function pickSafe(asked: unknown): { safe: Partial<SessionConfig>; ignored: string[] } {
  if (typeof asked !== 'object' || asked === null) return { safe: {}, ignored: [] };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return {
    safe: Object.fromEntries(given.filter(isSafe)),
    ignored: given.filter((entry) => !isSafe(entry)).map(([name]) => name),
  };
}
