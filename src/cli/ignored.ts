/** What was asked for and does nothing yet. */
import type { SessionConfig } from '../protocol/index.js';
import type { CliOptions } from '../protocol/plain.js';
import { readJsonOrFile } from './checks.js';

/** The settings of --settings that count already. */
const USED_SETTINGS = new Set(['apiKeyHelper']);

/** A session that can be had, and what to tell the person who wanted more. */
export function dropIgnored(cli: CliOptions, config: SessionConfig): { config: SessionConfig; notes: string[] } {
  const kept: Record<string, unknown> = { ...config };
  const flags = new Map(cli.later?.map(({ flag, key }) => [flag, key]));
  const promptTool = config.permissionPromptTool;
  if (promptTool !== undefined && promptTool !== 'stdio') flags.set('--permission-prompt-tool', 'permissionPromptTool');
  const notes = [...flags].flatMap(([flag, key]) => (key === 'settings' ? describeSettings(config) : describe([flag])));
  for (const key of flags.values()) delete kept[key];
  return { config: kept as unknown as SessionConfig, notes };
}

function describeSettings({ settings, cwd }: SessionConfig): string[] {
  const given = settings === undefined ? {} : readJsonOrFile(settings, cwd);
  const names = Object.entries(given).flatMap(([key, value]) => (USED_SETTINGS.has(key) ? [] : namesOf(key, value)));
  return names.length === 0 ? [] : describe(names, '--settings: ');
}

/** Permissions are a group of settings; each is named. */
const namesOf = (key: string, value: unknown): string[] =>
  key === 'permissions' && typeof value === 'object' && value !== null
    ? Object.keys(value).map((inner) => `"${key}.${inner}"`)
    : [`"${key}"`];

function describe(names: readonly string[], where = ''): string[] {
  const [is, was] = names.length === 1 ? ['is', 'was'] : ['are', 'were'];
  return [`${where}${names.join(', ')} ${is} not supported yet and ${was} ignored`];
}
