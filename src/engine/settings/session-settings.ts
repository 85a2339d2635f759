/** The settings of one session: read when it opens, and again when a file changes. */
import type { Clock, SessionConfig } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { EnvironmentLimits } from '../child-env.js';
import { findProjectRoot, settingsFiles } from './files.js';
import { type LoadedSettings, type LoadOptions, loadSettings, reloadSettings, replaceApplied } from './load.js';
import { APPLIED_LABEL, refuseBrokenSettings } from './problem.js';
import { createTrust } from './trust.js';
import { createSettingsWatch } from './watch.js';

export interface SessionSettings {
  readonly loaded: LoadedSettings;
  /** Reads files that have changed since the last look. Never throws: what is broken now counts as it last was. */
  refresh(): Promise<void>;
  /**
   * Settings as if by `--settings`, key by key over those that were applied before; null takes a key back. `ready` is
   * called with what will count: when it throws, or a key cannot be used (`invalid_settings`), nothing has changed.
   */
  apply(given: Readonly<Record<string, unknown>>, ready?: (next: LoadedSettings) => Promise<void>): Promise<void>;
  /** Calls back with the files when something has changed and was taken over. */
  onChange(listener: (files: readonly string[]) => void | Promise<void>): void;
  /** Decides whether a change is taken over, or that it is to be asked again later; absent: it is. */
  mayChange: ((files: readonly string[]) => Promise<boolean | 'later'>) | undefined;
}

export interface SettingsParts {
  clock: Clock;
  home: string;
  /** Names of tools that are not built in: rules may be about them. */
  tools?: readonly string[];
}

/** Throws `invalid_settings` when a file is broken: nothing starts on half of what somebody wrote. */
export async function openSettings(
  config: SessionConfig,
  { clock, home, tools = [] }: SettingsParts,
): Promise<SessionSettings> {
  const { configDir, cwd, managedDir, settings: flag, managedSettings: managed, sandbox } = config;
  const isRuled = (config.allowedTools?.length ?? 0) + (config.disallowedTools?.length ?? 0) > 0;
  const called = isRuled ? (await import('./called-rules.js')).checkCalledRules(config, tools) : [];
  const projectRoot = findProjectRoot({ cwd, home });
  const files = settingsFiles({ configDir, projectRoot, home, ...(managedDir !== undefined && { managedDir }) });
  const more = flag === undefined || flag.trimStart().startsWith('{') ? [] : [flag];
  const watch = createSettingsWatch(files, { more, clock });
  const trusted = config.trusted ?? (await createTrust({ configDir, home }).isTrusted(projectRoot));
  let options: LoadOptions = {
    files,
    sources: config.settingSources ?? [],
    cwd,
    trusted,
    called,
    ...(flag !== undefined && { flag }),
    ...(sandbox !== undefined && { options: { sandbox } }),
    ...(managed !== undefined && { managed }),
  };
  let loaded = await loadSettings(options);
  refuseBrokenSettings(loaded);
  const listeners: ((files: readonly string[]) => void | Promise<void>)[] = [];
  /** Changes about which it is to be asked again. */
  const undecided = new Set<string>();
  let refreshing: Promise<void> | undefined;
  const reload = async (changed: readonly string[]): Promise<void> => {
    const mayChange = (await settings.mayChange?.(changed)) ?? true;
    const isPolicy = changed.some((file) => files.managed.some((folder) => file.startsWith(folder)));
    if (mayChange === 'later' && !isPolicy) for (const file of changed) undecided.add(file);
    if (mayChange !== true && !isPolicy) return;
    loaded = await reloadSettings(loaded, options);
    for (const listener of listeners) await listener(changed);
  };
  const takeOver: SessionSettings['apply'] = async (given, ready) => {
    const merged = Object.entries({ ...options.applied, ...given }).filter(([, value]) => value !== null);
    const next = { ...options, applied: Object.fromEntries(merged) };
    const fresh = await replaceApplied(loaded, next);
    refuseBrokenSettings({ problems: fresh.problems.filter(({ file }) => file === APPLIED_LABEL) });
    await ready?.(fresh);
    options = next;
    loaded = fresh;
    for (const listener of listeners) await listener([APPLIED_LABEL]);
  };
  const settings: SessionSettings = {
    get loaded() {
      return loaded;
    },
    mayChange: undefined,
    onChange: (listener) => void listeners.push(listener),
    async apply(given, ready) {
      await settings.refresh();
      const applying = (refreshing ?? Promise.resolve()).then(() => takeOver(given, ready));
      refreshing = applying.catch(() => undefined);
      await applying;
    },
    async refresh() {
      // Whoever asks while files are being read waits for them, too.
      const changed = [...new Set([...undecided, ...watch.changed()])];
      undecided.clear();
      if (changed.length > 0) {
        refreshing = (refreshing ?? Promise.resolve()).then(() => reload(changed)).catch(() => undefined);
      }
      await refreshing;
    },
  };
  return settings;
}

/** What settings add to how a session was called. Policy counts more than the call, everything else less. */
export function withSettings(called: SessionConfig, { value, origins, directories }: LoadedSettings): SessionConfig {
  const { model, apiKeyHelper, effortLevel, env, permissions } = value;
  const config = withoutBypass(called, permissions);
  // Only a call can open that mode.
  const isClosed = permissions?.defaultMode === 'bypassPermissions' && config.allowDangerouslySkipPermissions !== true;
  const mode = isClosed ? undefined : permissions?.defaultMode;
  const pick = <K extends keyof SessionConfig>(key: K, given: SessionConfig[K], path: string): object =>
    given === undefined || (config[key] !== undefined && origins[path] !== 'managed') ? {} : { [key]: given };
  return {
    ...config,
    ...pick('model', model, 'model'),
    ...pick('apiKeyHelper', apiKeyHelper, 'apiKeyHelper'),
    ...pick('effort', effortLevel, 'effortLevel'),
    ...pick('permissionMode', mode, 'permissions.defaultMode'),
    ...(env && { env: mergeEnvironment(config, env, origins) }),
    ...(directories.length > 0 && {
      additionalDirectories: [...(config.additionalDirectories ?? []), ...directories],
    }),
  };
}

/** An environment that the caller gave is part of the call; the one a process happens to have counts less than any file. */
function mergeEnvironment(
  { env: called, envIsExact }: SessionConfig,
  env: Record<string, string>,
  origins: LoadedSettings['origins'],
): Record<string, string> {
  return envIsExact === true ? { ...env, ...called, ...ofPolicy(env, origins) } : { ...called, ...env };
}

/** What settings mean for the environment of children. A caller who reads no settings files vouches for the folder. */
export const environmentLimits = (
  { settingSources = [], trusted }: SessionConfig,
  { value, trusted: isTrusted }: LoadedSettings,
): EnvironmentLimits => ({
  untrusted: !isTrusted && (settingSources.length > 0 || trusted === false),
  configured: Object.keys(value.env ?? {}),
});

/** Throws `invalid_config` when the call wants what settings have switched off. */
function withoutBypass(config: SessionConfig, permissions: LoadedSettings['value']['permissions']): SessionConfig {
  if (permissions?.disableBypassPermissionsMode !== 'disable') return config;
  if (config.permissionMode === 'bypassPermissions') {
    throw new HeddleError('invalid_config', 'bypassPermissions is switched off by disableBypassPermissionsMode.', {
      hint: 'Start in another mode.',
    });
  }
  const { allowDangerouslySkipPermissions: _, ...rest } = config;
  return rest;
}

const ofPolicy = (env: Record<string, string>, origins: LoadedSettings['origins']): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => origins[`env.${name}`] === 'managed'));
