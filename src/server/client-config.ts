/** What a client may choose for its session. Everything else, and whatever the server has set, is the server's. */
import type { Frame, SessionConfig } from '../protocol/index.js';
import { isUsable } from '../protocol/plain.js';

/** Nothing here reaches a file, an environment or a credential, or loosens what is asked about. */
const SAFE: readonly (keyof SessionConfig)[] = [
  'appendSystemPrompt',
  'disallowedTools',
  'effort',
  'fallbackModel',
  'forwardSubagentText',
  'includeHookEvents',
  'includePartialMessages',
  'jsonSchema',
  'maxBudgetUsd',
  'maxQuestionSeconds',
  'maxSeconds',
  'maxTotalTurns',
  'maxThinkingTokens',
  'maxTurns',
  'model',
  'permissionMode',
  'permissionPromptTool',
  'planModeInstructions',
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
  (name === 'permissionPromptTool' && value !== 'stdio') ||
  (name === 'jsonSchema' && !isTable(value));

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSafe = ([name, value]: [string, unknown]): boolean =>
  SAFE.some((safe) => safe === name && isUsable(safe, value)) && !isUnsafe(name, value);

/** What a client asks for in its first frame: the fields of `initialize` count as those of its `config` do. */
export function askedIn(first: Frame | undefined): Record<string, unknown> {
  const { request } = (first?.type === 'control_request' ? first : {}) as { request?: unknown };
  if (!isTable(request) || request.subtype !== 'initialize') return {};
  const { subtype: _, config, ...fields } = request;
  const named = Object.entries(fields).filter(([name, value]) => !BROUGHT.has(name) && value !== undefined);
  return { ...(isTable(config) && config), ...Object.fromEntries(named) };
}

/** Not chosen, but part of the client: its callbacks and servers, and what it can show. */
const BROUGHT = new Set(['hooks', 'sdkMcpServers', 'sdkMcpServerManifests', 'supportedDialogKinds']);

/** The safe part of what a client asks for, and the names of what it may not choose. */
export function pickSafe(asked: unknown): { safe: Partial<SessionConfig>; ignored: string[] } {
  if (!isTable(asked)) return { safe: {}, ignored: [] };
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  return {
    safe: Object.fromEntries(given.filter(isSafe)),
    ignored: given.filter((entry) => !isSafe(entry)).map(([name]) => name),
  };
}
