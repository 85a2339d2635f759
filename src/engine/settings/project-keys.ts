/** What the files of a project may decide. They come with a clone, so until someone trusts the folder they only restrict. */
import type { PermissionMode, Settings } from '../../protocol/index.js';
import { isTable } from './table.js';
import type { SettingsLayerName } from './problem.js';

/** When a key of the project or local layer counts. */
export type Say = 'always' | 'when trusted' | 'never';

/** `only`: values that restrict; these always count, and `else` is for all others. */
type KeyRule = Say | { only: unknown; else: Say };

const restricts = (only: unknown, otherwise: Say = 'never'): KeyRule => ({ only, else: otherwise });

/**
 * Every key, by its path. `never` means that not even a trusted project decides: it would weaken what the user or the
 * company set for themselves. Keys that are not here count when trusted. `permissions.defaultMode` has more to it: `mayMode`.
 */
export const PROJECT_KEYS: Readonly<Record<string, KeyRule>> = {
  $schema: 'always',

  'permissions.allow': 'when trusted',
  'permissions.ask': 'always',
  'permissions.deny': 'always',
  'permissions.defaultMode': 'when trusted',
  'permissions.additionalDirectories': 'when trusted',
  'permissions.disableBypassPermissionsMode': 'always',

  'sandbox.enabled': restricts(true),
  'sandbox.failIfUnavailable': restricts(true),
  'sandbox.autoAllowBashIfSandboxed': restricts(false),
  'sandbox.allowUnsandboxedCommands': restricts(false),
  'sandbox.enableWeakerNestedSandbox': restricts(false),
  'sandbox.excludedCommands': 'when trusted',
  'sandbox.ignoreViolations': 'when trusted',
  'sandbox.ripgrep': 'when trusted',
  'sandbox.network.allowedDomains': 'when trusted',
  'sandbox.network.deniedDomains': 'always',
  'sandbox.network.allowManagedDomainsOnly': 'never',
  'sandbox.network.allowUnixSockets': 'when trusted',
  'sandbox.network.allowAllUnixSockets': restricts(false),
  'sandbox.network.allowLocalBinding': restricts(false, 'when trusted'),
  'sandbox.network.httpProxyPort': 'when trusted',
  'sandbox.network.socksProxyPort': 'when trusted',
  'sandbox.filesystem.allowWrite': 'when trusted',
  'sandbox.filesystem.allowRead': 'when trusted',
  'sandbox.filesystem.denyWrite': 'always',
  'sandbox.filesystem.denyRead': 'always',

  hooks: 'when trusted',
  disableAllHooks: 'never',
  env: 'when trusted',
  apiKeyHelper: 'when trusted',
  statusLine: 'when trusted',

  mcpServers: 'when trusted',
  enableAllProjectMcpServers: restricts(false, 'when trusted'),
  enabledMcpjsonServers: 'when trusted',
  disabledMcpjsonServers: 'always',
  deniedMcpServers: 'always',
  allowedMcpServers: 'never',
  enabledPlugins: 'when trusted',
  extraKnownMarketplaces: 'when trusted',
  strictKnownMarketplaces: 'never',

  allowManagedHooksOnly: 'never',
  allowManagedPermissionRulesOnly: 'never',
  allowManagedMcpServersOnly: 'never',

  model: 'when trusted',
  availableModels: 'never',
  effortLevel: 'when trusted',
  alwaysThinkingEnabled: 'when trusted',
  outputStyle: 'when trusted',
  language: 'when trusted',
  agent: 'when trusted',
  autoCompactEnabled: 'when trusted',
  fileCheckpointingEnabled: restricts(true, 'when trusted'),
  // It deletes sessions of every project.
  cleanupPeriodDays: 'never',
  plansDirectory: 'when trusted',
  respectGitignore: 'when trusted',
  includeCoAuthoredBy: 'when trusted',
  attribution: 'when trusted',
  companyAnnouncements: 'when trusted',
  skipWebFetchPreflight: restricts(false, 'when trusted'),
  claudeMdExcludes: 'when trusted',
  includeGitInstructions: 'when trusted',
};

/** A key of the project that does not count. */
export interface InertKey {
  layer: SettingsLayerName;
  file: string;
  /** `permissions.allow`. */
  key: string;
  value: unknown;
  /** It will count once the folder is trusted; otherwise it never does. */
  waits: boolean;
}

export interface ProjectLayer {
  name: SettingsLayerName;
  file: string;
  settings: Settings;
}

export interface ProjectFilter {
  trusted: boolean;
  /** The mode that holds without the files of the project. */
  mode: PermissionMode;
}

/** The part of a project's settings that counts, and what does not. */
export function limitProject(
  layer: ProjectLayer,
  { trusted, mode }: ProjectFilter,
): { settings: Settings; inert: InertKey[] } {
  const inert: InertKey[] = [];
  const keep = (table: Record<string, unknown>, prefix: string): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(table).flatMap(([name, value]): [string, unknown][] => {
        const key = `${prefix}${name}`;
        if (GROUPS.has(key) && isTable(value)) return [[name, keep(value, `${key}.`)]];
        const say = key === 'permissions.defaultMode' ? mayMode(value, mode) : sayOf(key, value);
        if (say === 'always' || (say === 'when trusted' && trusted)) return [[name, value]];
        if (!isNothing(value)) {
          inert.push({ layer: layer.name, file: layer.file, key, value, waits: say === 'when trusted' });
        }
        return [];
      }),
    );
  return { settings: keep(layer.settings, ''), inert };
}

/** Keys that are judged part by part. */
const GROUPS = new Set(['permissions', 'sandbox', 'sandbox.network', 'sandbox.filesystem']);

export function sayOf(key: string, value: unknown): Say {
  const rule = Object.hasOwn(PROJECT_KEYS, key) ? PROJECT_KEYS[key] : undefined;
  if (rule === undefined) return 'when trusted';
  if (typeof rule === 'string') return rule;
  return value === rule.only ? 'always' : rule.else;
}

/** From the mode that lets least through to the one that lets all through. */
const LOOSENESS: readonly unknown[] = ['plan', 'delegate', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions'];

/** A mode that is at least as strict as the one that holds anyway only restricts; a project never switches asking off. */
function mayMode(value: unknown, mode: PermissionMode): Say {
  if (value === 'bypassPermissions') return 'never';
  return LOOSENESS.indexOf(value) <= LOOSENESS.indexOf(mode) ? 'always' : 'when trusted';
}

/** An empty list or table says nothing that could be missed. */
const isNothing = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** One notice about all that waits; undefined when nothing does. */
export function describeInert(inert: readonly InertKey[], folder: string): string | undefined {
  const waiting = [...new Set(inert.filter(({ waits }) => waits).map(({ key }) => key))];
  if (waiting.length === 0) return undefined;
  const verb = waiting.length === 1 ? 'waits' : 'wait';
  return `${folder} is not trusted: ${waiting.join(', ')} of its settings ${verb} until it is. To trust it: heddle trust`;
}
