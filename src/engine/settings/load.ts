/** All settings of a session: read, limited to what each layer may say, and merged. */
import { join, resolve } from 'node:path';
import type { HookMatcherSettings, PermissionMode, Settings, SettingSource } from '../../protocol/index.js';
import type { RuleLayer } from '../permissions/layers.js';
import { folderIn, managedFiles, type SettingsFiles } from './files.js';
import { type LayerSource, loadLayer, unreadable } from './layer.js';
import { mergeLayers, type MergedSettings } from './merge.js';
import {
  APPLIED_LABEL,
  OPTIONS_LABEL,
  SETTINGS_LAYERS,
  type SettingsLayerName,
  type SettingsProblem,
} from './problem.js';
import { type InertKey, limitProject } from './project-keys.js';
import type { PlacedRule, SettingsLayer } from './settings-layer.js';

export interface LoadOptions {
  files: SettingsFiles;
  /** Which of the files of user and project count. Managed policy always does. */
  sources: readonly SettingSource[];
  /** The value of `--settings`: JSON, or the path of a file. */
  flag?: string;
  /** Settings that are options of the call: the stronger part of the same layer. */
  options?: Readonly<Record<string, unknown>>;
  /** Settings that the host gave while the session ran: the strongest part of that layer. */
  applied?: Readonly<Record<string, unknown>>;
  /** What is known to be wrong with other options of the call. */
  called?: readonly SettingsProblem[];
  /** Where a relative path in `flag` starts; the project when absent. */
  cwd?: string;
  /** Policy that the host gives, as JSON. Weaker than the files of administrators. */
  managed?: string;
  /** Someone vouches for the project. */
  trusted: boolean;
}

/** The hooks of one file. */
export interface HookSource {
  layer: SettingsLayerName;
  file: string;
  hooks: Record<string, HookMatcherSettings[]>;
}

export interface LoadedSettings extends MergedSettings {
  files: SettingsFiles;
  /** Where relative paths of the call start. */
  cwd: string;
  trusted: boolean;
  /** What each source says, the strongest first; several may have the same name. Not limited by trust or policy. */
  layers: SettingsLayer[];
  /** Rules that count, at most one entry per layer. */
  ruleLayers: RuleLayer[];
  /** Hooks that count, by the file they come from. */
  hookSources: HookSource[];
  /** `permissions.additionalDirectories` as absolute paths. */
  directories: string[];
  /** What policy reserves to itself: no rule that allows, no hook, no MCP server of anyone else counts. */
  managedOnly: { rules: boolean; hooks: boolean; mcpServers: boolean };
  /** What the project says and what does not count. */
  inert: InertKey[];
  problems: SettingsProblem[];
}

/** Never throws: `refuseBrokenSettings` does, where the problems say that nothing may start. */
export async function loadSettings(options: LoadOptions): Promise<LoadedSettings> {
  return compose(await readLayers(options), options);
}

/**
 * After a change of the files. A file that is broken now counts as it last was, so that breaking it loosens nothing; its
 * problems say so.
 */
export async function reloadSettings(last: LoadedSettings, options: LoadOptions): Promise<LoadedSettings> {
  const fresh = await readLayers(options);
  const layers = fresh.map((layer) => {
    if (!layer.problems.some(({ fatal }) => fatal)) return layer;
    const good = last.layers.find(({ name, file }) => name === layer.name && file === layer.file);
    const { settings, rules } = good ?? { settings: {}, rules: [] };
    return { ...layer, settings, rules };
  });
  // A folder of policy that cannot be listed any more must not make its files disappear.
  const lost = fresh.some((layer) => layer.name === 'managed' && isUnlisted(layer))
    ? last.layers.filter(({ name, file }) => name === 'managed' && !layers.some((layer) => layer.file === file))
    : [];
  return compose([...lost, ...layers], options);
}

/** The files as they were read last, with other settings of the host: what hooks have kept from counting still does not. */
export async function replaceApplied(last: LoadedSettings, options: LoadOptions): Promise<LoadedSettings> {
  const layer = await loadLayer('flag', { value: options.applied ?? {}, label: APPLIED_LABEL });
  const others = last.layers.filter(({ name, file }) => name !== 'flag' || file !== APPLIED_LABEL);
  return compose(others.toSpliced(others.findLastIndex(({ name }) => name === 'managed') + 1, 0, layer), options);
}

/** All sources at once, the strongest first. */
async function readLayers(load: LoadOptions): Promise<SettingsLayer[]> {
  const { files, sources, flag, options, applied, managed, cwd } = load;
  const wanted: (readonly [SettingsLayerName, LayerSource])[] = [];
  const has = (source: SettingSource): boolean => sources.includes(source);
  if (managed !== undefined) wanted.push(['managed', { text: managed, label: '--managed-settings' }]);
  if (applied !== undefined) wanted.push(['flag', { value: applied, label: APPLIED_LABEL }]);
  if (options !== undefined) wanted.push(['flag', { value: options, label: OPTIONS_LABEL }]);
  if (flag !== undefined) wanted.push(['flag', flagSource(flag, cwd ?? files.projectRoot)]);
  if (has('local')) {
    wanted.push(['local', { file: files.local }]);
    if (files.mainLocal !== undefined) wanted.push(['local', { file: files.mainLocal }]);
  }
  if (has('project') && files.project !== undefined) wanted.push(['project', { file: files.project }]);
  if (has('user')) wanted.push(['user', { file: files.user }]);
  const policy = await readManaged(files.managed);
  return [...policy, ...(await Promise.all(wanted.map(([name, source]) => loadLayer(name, source))))];
}

async function readManaged(folders: readonly string[]): Promise<SettingsLayer[]> {
  const layers = folders.map(async (folder) => {
    try {
      return await Promise.all(managedFiles([folder]).map((file) => loadLayer('managed', { file })));
    } catch (thrown) {
      const text = `its parts cannot be listed: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      const problem = unreadable({ name: 'managed', file: folder, text });
      const own = await loadLayer('managed', { file: join(folder, 'managed-settings.json') });
      const unlisted = { name: 'managed' as const, file: folder, exists: true, settings: {}, rules: [] };
      return [{ ...unlisted, problems: [problem] }, own];
    }
  });
  return (await Promise.all(layers)).flat();
}

const isUnlisted = ({ problems }: SettingsLayer): boolean =>
  problems.some(({ text }) => text.startsWith('its parts cannot be listed'));

/** Text that begins as an object is one, whatever a file may be called. */
function flagSource(flag: string, cwd: string): LayerSource {
  if (flag.trimStart().startsWith('{')) return { text: flag, label: '--settings' };
  return { file: resolve(cwd, flag), required: true };
}

function compose(
  layers: SettingsLayer[],
  { files, cwd = files.projectRoot, trusted, called = [] }: LoadOptions,
): LoadedSettings {
  const inert: InertKey[] = [];
  const outside = mergeLayers(layers.filter(({ name }) => !isOfProject(name)));
  const mode: PermissionMode = outside.value.permissions?.defaultMode ?? 'default';
  const policy = mergeLayers(layers.filter(({ name }) => name === 'managed')).value;
  const managedOnly = {
    rules: policy.allowManagedPermissionRulesOnly === true,
    hooks: policy.allowManagedHooksOnly === true,
    mcpServers: policy.allowManagedMcpServersOnly === true,
  };
  const counting = layers.map((layer) => {
    if (!isOfProject(layer.name)) return layer;
    const limited = limitProject(layer, { trusted, mode });
    inert.push(...limited.inert);
    return { ...layer, settings: limited.settings };
  });
  const hooksAreOff = mergeLayers(counting).value.disableAllHooks === true;
  const limits = { managedOnly, policy, hooksAreOff };
  const final = counting.map((layer) => ({ ...layer, settings: limitToPolicy(layer, limits) }));
  const merged = mergeLayers(final);
  const problems = [...called, ...layers.flatMap((layer) => layer.problems), ...dropBypass(merged, layers)];
  return {
    ...merged,
    files,
    cwd,
    trusted,
    layers,
    ruleLayers: toRuleLayers(final, files.projectRoot),
    hookSources: toHookSources(final),
    directories: (merged.value.permissions?.additionalDirectories ?? []).map((folder) => folderIn(folder, files)),
    managedOnly,
    inert,
    problems,
  };
}

const isOfProject = (name: SettingsLayerName): boolean => name === 'project' || name === 'local';

interface Limits {
  managedOnly: LoadedSettings['managedOnly'];
  policy: Settings;
  hooksAreOff: boolean;
}

/** Takes away what policy reserves to itself. Denies and asks of others stay: they only restrict. */
function limitToPolicy({ name, settings }: SettingsLayer, { managedOnly, policy, hooksAreOff }: Limits): Settings {
  const { hooks, mcpServers, permissions, sandbox, ...rest } = settings;
  const isPolicy = name === 'managed';
  const keepsHooks = isPolicy ? policy.disableAllHooks !== true : !managedOnly.hooks && !hooksAreOff;
  const keepsServers = isPolicy || !managedOnly.mcpServers;
  const keepsRules = isPolicy || !managedOnly.rules;
  const keepsDomains = isPolicy || policy.sandbox?.network?.allowManagedDomainsOnly !== true;
  return {
    ...rest,
    ...(hooks && keepsHooks && { hooks }),
    ...(mcpServers && keepsServers && { mcpServers }),
    ...(permissions && { permissions: keepsRules ? permissions : without(permissions, 'allow') }),
    ...(sandbox && { sandbox: keepsDomains ? sandbox : withoutDomains(sandbox) }),
  };
}

type Sandbox = NonNullable<Settings['sandbox']>;

const withoutDomains = ({ network, ...rest }: Sandbox): Sandbox => ({
  ...rest,
  ...(network && { network: without(network, 'allowedDomains') }),
});

function without<T extends object>(table: T, key: keyof T): T {
  const { [key]: _, ...rest } = table;
  return rest as T;
}

/** Whoever forbids bypassing forbids to start in it, too. */
function dropBypass({ value, origins }: MergedSettings, layers: readonly SettingsLayer[]): SettingsProblem[] {
  const { permissions } = value;
  const isForbidden = permissions?.disableBypassPermissionsMode === 'disable';
  if (!isForbidden || permissions?.defaultMode !== 'bypassPermissions') return [];
  const name = origins['permissions.defaultMode'] ?? 'user';
  value.permissions = without(permissions, 'defaultMode');
  delete origins['permissions.defaultMode'];
  const file = layers.find((layer) => layer.name === name && layer.settings.permissions?.defaultMode)?.file ?? name;
  const text = 'bypassPermissions is switched off by disableBypassPermissionsMode, so it does not count';
  const path = 'permissions.defaultMode';
  return [{ ...unreadable({ name, file, text }), severity: 'warning', fatal: false, path }];
}

/** `./x` and `/x` start at the project in every layer: a person's own rule means the same place in each project. */
function toRuleLayers(layers: readonly SettingsLayer[], base: string): RuleLayer[] {
  return SETTINGS_LAYERS.flatMap((name) => {
    const { permissions } = mergeLayers(layers.filter((layer) => layer.name === name)).value;
    const { allow = [], ask = [], deny = [] } = permissions ?? {};
    return allow.length + ask.length + deny.length === 0 ? [] : [{ name, base, allow, ask, deny }];
  });
}

function toHookSources(layers: readonly SettingsLayer[]): HookSource[] {
  return layers.flatMap(({ name, file, settings: { hooks } }) =>
    hooks === undefined ? [] : [{ layer: name, file, hooks }],
  );
}

export interface ResolvedSetting {
  /** `model`, `env.PATH`, `permissions.allow[2]`. */
  path: string;
  value: unknown;
  layer: SettingsLayerName;
  /** The file that says so; where a layer has several, the strongest that has the key. */
  file: string;
}

/** Every value in force with the place it came from. */
export function resolveSettings(loaded: LoadedSettings): ResolvedSetting[] {
  return Object.entries(loaded.origins).map(([path, layer]) => {
    const value = valueAt(loaded.value, path);
    const written = loaded.layers.filter(({ name }) => name === layer);
    const says = (candidate: SettingsLayer): boolean => sayTheSame(candidate.settings, path, value);
    return { path, value, layer, file: (written.find(says) ?? written[0])?.file ?? layer };
  });
}

/** An item of a list that adds up stands at another place in its own file. */
function sayTheSame(settings: Settings, path: string, value: unknown): boolean {
  const list = /^(.*)\[\d+\]$/.exec(path)?.[1];
  const text = JSON.stringify(value);
  if (list === undefined) return JSON.stringify(valueAt(settings, path)) === text;
  const items = valueAt(settings, list);
  return Array.isArray(items) && items.some((item) => JSON.stringify(item) === text);
}

/** Names of variables and servers may have dots in them: the longest name that is there is meant. */
function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const index = /^\[(\d+)\]/.exec(path);
  if (index !== null) return valueAt((value as unknown[])[Number(index[1])], path.slice(index[0].length));
  const rest = path.replace(/^\./, '');
  const table = value as Record<string, unknown>;
  const name = Object.keys(table)
    .filter((key) => rest === key || rest.startsWith(`${key}.`) || rest.startsWith(`${key}[`))
    .toSorted((one, other) => other.length - one.length)[0];
  return name === undefined ? undefined : valueAt(table[name], rest.slice(name.length));
}

/** All rules as they are written, with file and line, whether they count or not. */
export function listRules({ layers }: LoadedSettings): (PlacedRule & { layer: SettingsLayerName; file: string })[] {
  return layers.flatMap(({ name, file, rules }) => rules.map((rule) => ({ layer: name, file, ...rule })));
}
