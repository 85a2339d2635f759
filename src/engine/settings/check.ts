/** What is wrong with the value of a settings file. Nothing in it is dropped in silence, least of all a restriction. */
import { HOOK_EVENTS } from '../../protocol/plain.js';
import { didYouMean, findNearName } from './near-name.js';
import { findListFaults } from './rule-text.js';
import type { SettingsLayerName } from './problem.js';

export interface Finding {
  /** `permissions.allow[2]`; `(root)` for the value itself. */
  path: string;
  severity: 'error' | 'warning';
  text: string;
  /** A guard was meant, though the path does not say so. */
  meansGuard?: boolean;
}

/** Keys that restrict what may run. A file in which one of them is broken is not used at all. */
const GUARD_KEYS = new Set([
  'permissions',
  'hooks',
  'sandbox',
  'disableAllHooks',
  'allowManagedHooksOnly',
  'allowManagedPermissionRulesOnly',
  'allowManagedMcpServersOnly',
  'allowedMcpServers',
  'deniedMcpServers',
  'disabledMcpjsonServers',
  'availableModels',
  'strictKnownMarketplaces',
]);

const MANAGED_ONLY = ['allowManagedHooksOnly', 'allowManagedPermissionRulesOnly', 'allowManagedMcpServersOnly'];

/** Keys of other programs that read the same files; they mean nothing here and need no warning. */
const KEYS_OF_OTHERS = new Set([
  'autoUpdatesChannel',
  'awsAuthRefresh',
  'awsCredentialExport',
  'fileSuggestion',
  'forceLoginMethod',
  'forceLoginOrgUUID',
  'otelHeadersHelper',
  'prefersReducedMotion',
  'showTurnDuration',
  'spinnerTipsEnabled',
  'spinnerVerbs',
  'terminalProgressBarEnabled',
  'theme',
]);

/** Events of other programs: hooks on them are well-formed, and never run here. */
const EVENTS_OF_OTHERS = new Set([
  'DirectoryAdded',
  'Elicitation',
  'ElicitationResult',
  'FileChanged',
  'MessageDisplay',
  'PostModelSwitch',
  'PreModelSwitch',
]);

/** What each kind of hook cannot do without. */
const HOOK_NEEDS: Readonly<Record<string, string | undefined>> = {
  command: 'command',
  prompt: 'prompt',
  agent: 'prompt',
  http: 'url',
  mcp_tool: undefined,
};

const FAILURE_EFFECTS = new Set<unknown>(['allow', 'ask', 'deny']);

/** True when the file must not be used without what stands at this path. */
export const isGuard = (path: string): boolean => path === '(root)' || GUARD_KEYS.has(keyOf(path));

export const keyOf = (path: string): string => /^[^.[]*/.exec(path)?.[0] ?? path;

export async function checkSettings(value: unknown, layer: SettingsLayerName): Promise<Finding[]> {
  const { Settings, problemsOf, showPath } = await import('../../protocol/index.js');
  if (!isTable(value)) return [{ path: '(root)', severity: 'error', text: 'it must be one JSON object: { ... }' }];
  const outcome = Settings().safeParse(value);
  const wrong = outcome.success ? [] : problemsOf(outcome.error.issues);
  return [
    ...wrong.map(({ path, problem }): Finding => ({ path, severity: 'error', text: problem })),
    ...findUnknownKeys(Settings(), value).map(({ path, near }) => describeUnknown(showPath(path), near)),
    ...findRuleFaults(value.permissions),
    ...findHookFaults(value.hooks, showPath),
    ...(layer === 'managed' ? [] : findMisplaced(value)),
  ];
}

/** Guards are few and short: a key that is nearly one of them was meant to be it, and must not be passed over. */
function describeUnknown(path: string, near: UnknownKey['near']): Finding {
  const meansGuard = near !== undefined && near.distance <= 2 && (isGuard(path) || GUARD_KEYS.has(near.name));
  const text = `this key is not known${didYouMean(near)}`;
  return { path, severity: meansGuard ? 'error' : 'warning', text, meansGuard };
}

function findRuleFaults(permissions: unknown): Finding[] {
  if (!isTable(permissions)) return [];
  return (['allow', 'ask', 'deny'] as const).flatMap((behavior) => {
    const rules = permissions[behavior];
    if (!Array.isArray(rules)) return [];
    return [...findListFaults(rules, behavior)].map(([index, { severity, text }]) => ({
      path: `permissions.${behavior}[${index}]`,
      severity,
      text,
    }));
  });
}

function findHookFaults(hooks: unknown, showPath: (path: readonly (string | number)[]) => string): Finding[] {
  if (!isTable(hooks)) return [];
  return Object.entries(hooks).flatMap(([event, matchers]): Finding[] => {
    const path = showPath(['hooks', event]);
    if (EVENTS_OF_OTHERS.has(event)) return [{ path, severity: 'warning', text: 'nothing here causes this event' }];
    if (!HOOK_EVENTS.includes(event as (typeof HOOK_EVENTS)[number])) {
      const near = findNearName(event, HOOK_EVENTS);
      return [{ path, severity: 'error', text: `there is no hook event of this name${didYouMean(near)}` }];
    }
    return listOf(matchers).flatMap((matcher, at) =>
      listOf(isTable(matcher) ? matcher.hooks : undefined).flatMap((hook, index) => {
        const text = findHookFault(hook);
        return text === undefined ? [] : [{ path: `${path}[${at}].hooks[${index}]`, severity: 'error' as const, text }];
      }),
    );
  });
}

function findHookFault(hook: unknown): string | undefined {
  if (!isTable(hook) || typeof hook.type !== 'string') return undefined;
  const { type, timeout, onFailure } = hook;
  if (!Object.hasOwn(HOOK_NEEDS, type)) {
    return `there is no hook of type "${type}"; known are ${Object.keys(HOOK_NEEDS).join(', ')}`;
  }
  const need = HOOK_NEEDS[type];
  const given = need === undefined ? undefined : hook[need];
  if (need !== undefined && (typeof given !== 'string' || given.trim() === '')) {
    return `a hook of type "${type}" needs "${need}"`;
  }
  if (type === 'http' && !URL.canParse(String(given))) return '"url" must be an address: https://...';
  if (onFailure !== undefined && !FAILURE_EFFECTS.has(onFailure)) return '"onFailure" must be allow, ask or deny';
  if (typeof timeout === 'number' && !(timeout > 0)) return '"timeout" must be a number of seconds above 0';
  return undefined;
}

function findMisplaced(value: Record<string, unknown>): Finding[] {
  const text = 'this counts only in managed settings, and does nothing here';
  return MANAGED_ONLY.filter((key) => value[key] !== undefined).map((path) => ({ path, severity: 'warning', text }));
}

interface UnknownKey {
  path: Path;
  near: ReturnType<typeof findNearName>;
}

/** The parts of a schema that say which keys there are. */
interface SchemaPart {
  def: { type: string; innerType?: SchemaPart; element?: SchemaPart; valueType?: SchemaPart };
  shape?: Record<string, SchemaPart>;
}

type Path = readonly (string | number)[];

/** Follows objects, tables and lists; what may be one of several shapes is left to whoever uses it. */
function findUnknownKeys(part: SchemaPart | undefined, value: unknown, path: Path = []): UnknownKey[] {
  if (part === undefined) return [];
  const { def, shape } = part;
  const walk = (inner: SchemaPart | undefined, key: string | number, each: unknown): UnknownKey[] =>
    findUnknownKeys(inner, each, [...path, key]);
  if (def.type === 'optional') return findUnknownKeys(def.innerType, value, path);
  if (def.type === 'array') return listOf(value).flatMap((each, index) => walk(def.element, index, each));
  if (!isTable(value)) return [];
  const entries = Object.entries(value);
  if (def.type === 'record') return entries.flatMap(([key, each]) => walk(def.valueType, key, each));
  if (def.type !== 'object' || shape === undefined) return [];
  return entries.flatMap(([key, each]) => {
    if (Object.hasOwn(shape, key)) return walk(shape[key], key, each);
    const isOfOthers = path.length === 0 && KEYS_OF_OTHERS.has(key);
    return isOfOthers ? [] : [{ path: [...path, key], near: findNearName(key, Object.keys(shape)) }];
  });
}

export const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
