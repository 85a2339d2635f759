/** What is wrong with the value of a settings file. Nothing in it is dropped in silence, least of all a restriction. */
import type { HookCommand } from '../../protocol/index.js';
import { HOOK_EVENTS, type HookEvent } from '../../protocol/plain.js';
import { didYouMean, findNearName } from './near-name.js';
import { findListFaults, findRuleFault } from './rule-text.js';
import type { SettingsLayerName } from './problem.js';
import { isTable } from './table.js';

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

/** Where keys that restrict belong, by their names; some are written at the top, or one table too high. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  permissions: ['allow', 'ask', 'deny', 'defaultMode', 'additionalDirectories', 'disableBypassPermissionsMode'],
  sandbox: [
    'failIfUnavailable',
    'autoAllowBashIfSandboxed',
    'allowUnsandboxedCommands',
    'excludedCommands',
    'network',
    'filesystem',
  ],
  'sandbox.network': ['allowedDomains', 'deniedDomains', 'allowUnixSockets', 'allowAllUnixSockets'],
  'sandbox.filesystem': ['allowWrite', 'denyWrite', 'denyRead', 'allowRead'],
};
const HOME_OF = new Map(Object.entries(HOMES).flatMap(([home, names]) => names.map((name) => [name, home] as const)));
const NAMES_WITH_HOME = [...HOME_OF.keys()];

/** Other words for what restricts, as they are written in permissions and at the top. Upper and lower case do not matter. */
const MEANT: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'denied denies denyList deniedTools denyTools denyRules disallow disallows disallowed disallowedTools block blocks blocked blockedTools blockList blacklist forbid forbids forbidden exclude excluded excludedTools'
      .split(' ')
      .map((name) => [name.toLowerCase(), 'permissions.deny']),
  ),
  ...Object.fromEntries(
    'asks asked askFor askTools prompt confirm'.split(' ').map((name) => [name.toLowerCase(), 'permissions.ask']),
  ),
  mode: 'permissions.defaultMode',
  permissionmode: 'permissions.defaultMode',
};

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
    ...findUnknownKeys(Settings(), value).map(({ path, near }) =>
      describeUnknown(showPath(path), { name: String(path.at(-1)), near }),
    ),
    ...findRuleFaults(value.permissions),
    ...(await findHookFaults(value.hooks, { showPath, isWellFormed: outcome.success })),
    ...(layer === 'managed' ? [] : findMisplaced(value)),
  ];
}

/** Whatever it is called in full, nobody writes so who does not want to forbid something. */
const RESTRICTS = /^(?:den(?:y|ied|ies)|disallow|block|forbid|restrict|protect|readonly|read_only)/i;

/** Guards are few and short: a key that is nearly one of them was meant to be it, and must not be passed over. */
function describeUnknown(path: string, { name, near }: { name: string; near: UnknownKey['near'] }): Finding {
  const meant = path === name || path === `permissions.${name}` ? meantBy(path, name) : undefined;
  if (meant !== undefined) {
    const text = `this key is not known; did you mean "${meant}"?`;
    return { path, severity: 'error', text, meansGuard: true };
  }
  const home = findHome(path, name);
  const isNearer = near !== undefined && near.distance <= (home?.distance ?? Infinity);
  if (home !== undefined && !isNearer) {
    const text = `this key does nothing here; it belongs into "${home.path}"`;
    return { path, severity: 'error', text, meansGuard: true };
  }
  const isNear = near !== undefined && near.distance <= 2 && (isGuard(path) || GUARD_KEYS.has(near.name));
  const meansGuard = isNear || (/^(?:sandbox|permissions)\b/.test(path) && RESTRICTS.test(name));
  const text = `this key is not known${didYouMean(near)}`;
  return { path, severity: meansGuard ? 'error' : 'warning', text, meansGuard };
}

/** At the top some of these words may be keys of another program. */
function meantBy(path: string, name: string): string | undefined {
  const key = name.toLowerCase();
  const isClear = path !== name || /tools$|^permission|^den|^disallow|^forb/.test(key);
  return isClear && Object.hasOwn(MEANT, key) ? MEANT[key] : undefined;
}

/** The place where a key of this name restricts something; undefined where nothing of the kind can be meant. */
function findHome(path: string, name: string): { path: string; distance: number } | undefined {
  if (path !== name && !isGuard(path)) return undefined;
  if (isEvent(name)) return { path: 'hooks', distance: 0 };
  const near = findNearName(name, NAMES_WITH_HOME);
  // A short name is near to many words.
  if (near === undefined || near.distance > (near.name.length > 3 ? 1 : 0)) return undefined;
  return { path: HOME_OF.get(near.name) ?? '', distance: near.distance };
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

async function findHookFaults(
  hooks: unknown,
  { showPath, isWellFormed }: { showPath: (path: Path) => string; isWellFormed: boolean },
): Promise<Finding[]> {
  if (!isTable(hooks)) return [];
  const [{ HOOK_EVENTS_OF_OTHERS, HOOK_NEEDS }, { findHookProblems }, { compileMatcher }] = await Promise.all([
    import('../../protocol/index.js'),
    import('../hooks/definition.js'),
    import('../hooks/match.js'),
  ]);
  const toWarning = (path: string, text: string): Finding => ({ path, severity: 'warning', text });
  return Object.entries(hooks).flatMap(([event, matchers]): Finding[] => {
    const path = showPath(['hooks', event]);
    if (HOOK_EVENTS_OF_OTHERS.includes(event))
      return [{ path, severity: 'warning', text: 'nothing here causes this event' }];
    if (!isEvent(event)) {
      const near = findNearName(event, HOOK_EVENTS);
      return [{ path, severity: 'error', text: `there is no hook event of this name${didYouMean(near)}` }];
    }
    return listOf(matchers).flatMap((matcher, at) => {
      const { matcher: pattern, hooks: list } = isTable(matcher) ? matcher : {};
      const problem = typeof pattern === 'string' ? compileMatcher(pattern, event).problem : undefined;
      const ofHooks = listOf(list).flatMap((hook, index): Finding[] => {
        const place = `${path}[${at}].hooks[${index}]`;
        const text = findHookFault(hook, HOOK_NEEDS);
        if (text !== undefined) return [{ path: place, severity: 'error', text }];
        // Only what the schema has passed is a hook for sure.
        const problems = isWellFormed ? findHookProblems(event, hook as HookCommand) : [];
        const rule = isTable(hook) ? findRuleFault(hook.if, 'deny') : undefined;
        const ofRule =
          rule === undefined ? [] : [toWarning(`${place}.if`, `it cannot be used as it is meant: ${rule.text}`)];
        return [...problems.map((each) => toWarning(place, each)), ...ofRule];
      });
      return problem === undefined ? ofHooks : [toWarning(`${path}[${at}].matcher`, problem), ...ofHooks];
    });
  });
}

const isEvent = (name: string): name is HookEvent => (HOOK_EVENTS as readonly string[]).includes(name);

function findHookFault(hook: unknown, needs: Readonly<Record<string, string>>): string | undefined {
  if (!isTable(hook) || typeof hook.type !== 'string') return undefined;
  const { type, timeout, onFailure } = hook;
  if (!Object.hasOwn(needs, type)) {
    return `there is no hook of type "${type}"; known are ${Object.keys(needs).join(', ')}`;
  }
  const need = needs[type];
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

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
