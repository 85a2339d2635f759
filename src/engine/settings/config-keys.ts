/** The settings that can be read and written by name: what a person would tick in a dialog, never what guards them. */
import { EFFORT_LEVELS, HeddleError } from '../../protocol/plain.js';
import { findNearName, didYouMean } from './near-name.js';
import { editSettings, type EditOptions, type EditOutcome } from './edit.js';
import { isTable } from './table.js';
import type { LoadedSettings } from './load.js';
import type { SettingsLayerName } from './problem.js';

export interface ConfigKey {
  description: string;
  type: 'string' | 'boolean' | 'number';
  /** The only values, if there are few. */
  choices?: readonly string[];
}

/** `bypassPermissions` is missing on purpose: it is chosen when a session starts, and never kept. */
const MODES = ['default', 'acceptEdits', 'plan', 'dontAsk'] as const;

export const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  model: { type: 'string', description: 'The model of new sessions: an alias or a full name' },
  effortLevel: { type: 'string', description: 'How hard the model thinks', choices: EFFORT_LEVELS },
  alwaysThinkingEnabled: { type: 'boolean', description: 'Whether the model thinks before it answers' },
  outputStyle: { type: 'string', description: 'The style of answers' },
  language: { type: 'string', description: 'The language of answers' },
  autoCompactEnabled: { type: 'boolean', description: 'Whether a full context is summed up by itself' },
  'permissions.defaultMode': { type: 'string', description: 'The permission mode of new sessions', choices: MODES },
  includeCoAuthoredBy: { type: 'boolean', description: 'Whether commits name their co-author' },
  respectGitignore: { type: 'boolean', description: 'Whether lists of files leave out what git ignores' },
  cleanupPeriodDays: { type: 'number', description: 'After how many days sessions are removed' },
};

export interface ConfigReading {
  /** Undefined: no layer sets it. */
  value: unknown;
  layer?: SettingsLayerName;
}

/** Throws `invalid_settings` for a key that has no name here, or a value that it cannot have. */
export function checkConfigKey(key: string, value: unknown): void {
  if (value === undefined) findKey(key);
  else toValue(key, value);
}

/** The value in force. Throws for a key that has no name here. */
export function readConfigKey(loaded: Pick<LoadedSettings, 'value' | 'origins'>, key: string): ConfigReading {
  findKey(key);
  const layer = loaded.origins[key];
  const value = key
    .split('.')
    .reduce<unknown>((table, name) => (isTable(table) ? table[name] : undefined), loaded.value);
  return layer === undefined ? { value } : { value, layer };
}

/** Writes to the user's file. Throws `invalid_settings` for a value that the key cannot have. */
export async function writeConfigKey(
  userFile: string,
  { key, value, ...options }: { key: string; value: unknown } & EditOptions,
): Promise<EditOutcome & { written: unknown }> {
  const written = toValue(key, value);
  const outcome = await editSettings(userFile, () => [{ path: key.split('.'), value: written }], options);
  return { ...outcome, written };
}

function findKey(key: string): ConfigKey {
  const known = Object.hasOwn(CONFIG_KEYS, key) ? CONFIG_KEYS[key] : undefined;
  if (known !== undefined) return known;
  const names = Object.keys(CONFIG_KEYS);
  const near = didYouMean(findNearName(key, names));
  throw refusal(`There is no setting "${key}" that can be read or written here${near || '.'} ${listed(names)}`);
}

const listed = (names: readonly string[]): string => `Known are: ${names.join(', ')}.`;

/** Models write true and 30 as text now and then. */
function toValue(key: string, given: unknown): string | boolean | number {
  const { type, choices } = findKey(key);
  if (type === 'boolean') {
    if (given === true || given === 'true') return true;
    if (given === false || given === 'false') return false;
    throw refusal(`${key} must be true or false.`);
  }
  if (type === 'number') {
    const number = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) return number;
    throw refusal(`${key} must be a whole number above 0.`);
  }
  if (choices !== undefined) {
    if (typeof given === 'string' && choices.includes(given)) return given;
    throw refusal(`${key} must be one of ${choices.join(', ')}.`);
  }
  if (typeof given === 'string' && given.trim() !== '' && !/\p{Cc}/u.test(given)) return given;
  throw refusal(`${key} must be one line of text.`);
}

const refusal = (text: string): HeddleError =>
  new HeddleError('invalid_settings', text, { hint: 'Correct the name or the value.' });
