import type { SessionConfig } from './config.js';
import { HeddleError } from './error.js';
import { EFFORT_LEVELS, isSessionId, PERMISSION_MODES, SETTING_SOURCES, SETUP_TRIGGERS } from './names.js';

type Check = readonly [isRight: (value: unknown) => boolean, expected: string];

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isTable = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const oneOf = (names: readonly string[]): Check => [
  (value) => names.includes(value as string),
  `one of ${names.join(', ')}`,
];

const someOf = (names: readonly string[]): Check => [
  (value) => Array.isArray(value) && value.every((each) => names.includes(each as string)),
  `a list of ${names.join(', ')}`,
];

const TEXT: Check = [isText, 'a string'];
const TEXTS: Check = [isTexts, 'a list of strings'];
const FLAG: Check = [(value) => typeof value === 'boolean', 'true or false'];
const COUNT: Check = [isCount, 'a whole number, 0 or more'];
const ABOVE_0: Check = [(value) => Number.isFinite(value) && (value as number) > 0, 'a number above 0'];
const SESSION: Check = [(value) => isText(value) && isSessionId(value as string), 'a UUID'];
/** There is one, which those who ask for none by name mean, too. */
function isPreset(value: unknown): boolean {
  const { type, preset = 'claude_code' } = (isTable(value) ? value : {}) as { type?: unknown; preset?: unknown };
  return type === 'preset' && preset === 'claude_code';
}

/** By hand, not by schema: this runs before the first message of every session. */
const CHECKS: { readonly [K in keyof SessionConfig]?: Check } = {
  additionalDirectories: TEXTS,
  allowDangerouslySkipPermissions: FLAG,
  allowedTools: TEXTS,
  apiKeyHelper: TEXT,
  appendSystemPrompt: TEXT,
  betas: TEXTS,
  configDir: TEXT,
  continue: FLAG,
  cwd: TEXT,
  debugFile: TEXT,
  disallowedTools: TEXTS,
  effort: oneOf(EFFORT_LEVELS),
  env: [(value) => isTable(value) && Object.values(value as object).every(isText), 'a table of strings'],
  fallbackModel: TEXT,
  forwardSubagentText: FLAG,
  includeHookEvents: FLAG,
  includePartialMessages: FLAG,
  maxBudgetUsd: ABOVE_0,
  maxQuestionSeconds: ABOVE_0,
  maxRetries: COUNT,
  maxSeconds: ABOVE_0,
  maxThinkingTokens: [(value) => value === null || isCount(value), 'a whole number, 0 or more, or null'],
  maxTotalTurns: [(value) => isCount(value) && (value as number) > 0, 'a whole number above 0'],
  maxTurns: COUNT,
  model: TEXT,
  permissionMode: oneOf(PERMISSION_MODES),
  permissionPromptTool: TEXT,
  persistSession: FLAG,
  planModeInstructions: TEXT,
  replayUserMessages: FLAG,
  resume: TEXT,
  sessionId: SESSION,
  setup: oneOf(SETUP_TRIGGERS),
  settingSources: someOf(SETTING_SOURCES),
  settings: TEXT,
  settingsWrites: oneOf(['any', 'suggested', 'none']),
  skills: [(value) => value === 'all' || isTexts(value), '"all" or a list of strings'],
  systemPrompt: [
    (value) => isText(value) || isTexts(value) || isPreset(value),
    'a string, a list of strings or the preset claude_code',
  ],
  thinking: [isThinking, '{type: "adaptive"}, {type: "enabled", budgetTokens?} or {type: "disabled"}'],
  trusted: FLAG,
  tools: [(value) => isTexts(value) || isPreset(value), 'a list of strings or the preset claude_code'],
};

/** Whether a setting may have this value. */
export const isUsable = (key: keyof SessionConfig, value: unknown): boolean => CHECKS[key]?.[0](value) ?? true;

/** Throws `invalid_config` for the first value that cannot be used. */
export function checkConfig(config: SessionConfig): void {
  for (const [key, check] of Object.entries(CHECKS)) {
    const value = config[key as keyof SessionConfig];
    if (value === undefined || isUsable(key as keyof SessionConfig, value)) continue;
    const shown = typeof value === 'number' ? `${value}` : (JSON.stringify(value) ?? typeof value);
    throw new HeddleError('invalid_config', `${key} must be ${check[1]}, not ${shown.slice(0, 80)}.`, {
      hint: `Correct ${key}, or leave it out.`,
      data: { path: key },
    });
  }
  if (config.permissionMode === 'bypassPermissions' && config.allowDangerouslySkipPermissions !== true) {
    throw new HeddleError('invalid_config', 'bypassPermissions needs allowDangerouslySkipPermissions.', {
      hint: 'Set it to true if you mean it.',
    });
  }
}

function isThinking(value: unknown): boolean {
  const { type, budgetTokens } = (isTable(value) ? value : {}) as { type?: unknown; budgetTokens?: unknown };
  return (
    type === 'adaptive' ||
    type === 'disabled' ||
    (type === 'enabled' && (budgetTokens === undefined || isCount(budgetTokens)))
  );
}
