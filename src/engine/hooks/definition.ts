/** Hooks as they were declared, by callbacks of the host and by settings, in one form. */
import type { HookCommand, HookMatcherConfig, Settings } from '../../protocol/index.js';
import { HOOK_EVENTS, type HookEvent } from '../../protocol/plain.js';
import type { RuleLayerName } from '../permissions/layers.js';
import { HOOK_TRIGGERS } from './events.js';
import { compileMatcher, type Matcher } from './match.js';
import { FAILURE_EFFECTS, type FailureEffect, type HookLayer } from './outcome.js';

/** The hooks of one settings file. Those of a folder that nobody trusts must not be among them. */
export interface LoadedHookSource {
  layer: RuleLayerName;
  hooks: Settings['hooks'];
  file?: string;
  disableAllHooks?: boolean;
  /** Only counts in the managed layer. */
  allowManagedHooksOnly?: boolean;
}

/** Calls a callback of the host. Rejects when it throws or its owner is gone; honours the signal. */
export type AskCallback = (
  callbackId: string,
  input: Record<string, unknown>,
  toolUseId: string,
  options: { signal: AbortSignal },
) => Promise<unknown>;

/** Callbacks belong to whoever registered them, and are asked through its own function. */
export interface CallbackSource {
  callbacks: Readonly<Record<string, readonly HookMatcherConfig[]>>;
  askCallback: AskCallback;
}

export type HookAction =
  | { kind: 'callback'; callbackId: string; ask: AskCallback }
  | { kind: 'command'; command: string; async: boolean; rewake: boolean }
  | { kind: 'prompt'; prompt: string; model?: string }
  | { kind: 'http'; url: string; headers: Record<string, string>; allowedEnvVars: string[] }
  /** It is known what was meant, and that it cannot be done. */
  | { kind: 'unusable'; type: string; problem: string };

export interface HookDefinition {
  event: HookEvent;
  action: HookAction;
  layer: HookLayer;
  file?: string;
  /** How messages name it: "callback", the command, the address. */
  source: string;
  matcherText?: string;
  matcher: Matcher;
  /** A permission rule: the hook runs only for calls that match it. */
  rule?: string;
  timeoutMs: number;
  onFailure: FailureEffect;
  /** Equal for hooks that would do the same in the same way; one run serves them all. Callbacks are each their own. */
  key?: string;
}

export interface HookProblem {
  event: string;
  layer: HookLayer;
  file?: string;
  problem: string;
}

export interface Declared {
  definitions: HookDefinition[];
  problems: HookProblem[];
}

export const DEFAULT_TIMEOUT_MS = 60_000;
/** A session that is closing waits this long for its hooks, whatever they ask for: it must not hang. */
export const SESSION_END_MS = 1_500;
/** Timers hold no more. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const isEvent = (name: string): name is HookEvent => (HOOK_EVENTS as readonly string[]).includes(name);

/** Which sources count. A layer that a project writes can switch off no more than what projects declare. */
export function activeSources(sources: readonly LoadedHookSource[]): LoadedHookSource[] {
  const off = (layers: readonly RuleLayerName[]): boolean =>
    sources.some((source) => source.disableAllHooks === true && layers.includes(source.layer));
  const managedOnly = sources.some((source) => source.layer === 'managed' && source.allowManagedHooksOnly === true);
  if (off(['managed'])) return [];
  return sources.filter(({ layer }) => {
    if (layer === 'managed') return true;
    if (managedOnly || off(['user', 'flag', 'session'])) return false;
    return !((layer === 'project' || layer === 'local') && off(['project', 'local']));
  });
}

export function fromCallbacks({ callbacks, askCallback }: CallbackSource): Declared {
  const declared: Declared = { definitions: [], problems: [] };
  for (const [event, matchers] of Object.entries(callbacks)) {
    if (!isEvent(event)) {
      declared.problems.push({ event, layer: 'callback', problem: `There is no hook event ${event}.` });
      continue;
    }
    for (const { matcher, hookCallbackIds, timeout, onFailure } of matchers) {
      for (const callbackId of hookCallbackIds) {
        declare(declared, {
          event,
          layer: 'callback',
          source: 'callback',
          action: { kind: 'callback', callbackId, ask: askCallback },
          matcherText: matcher,
          timeout,
          onFailure,
        });
      }
    }
  }
  return declared;
}

export function fromSettings(sources: readonly LoadedHookSource[]): Declared {
  const declared: Declared = { definitions: [], problems: [] };
  for (const { layer, hooks, file } of activeSources(sources)) {
    for (const [event, matchers] of Object.entries(hooks ?? {})) {
      if (!isEvent(event)) {
        declared.problems.push({ event, layer, ...(file && { file }), problem: `There is no hook event ${event}.` });
        continue;
      }
      for (const { matcher, hooks: list } of matchers) {
        for (const hook of list) {
          declare(declared, {
            event,
            layer,
            ...(file !== undefined && { file }),
            ...readCommand(hook),
            matcherText: matcher,
            rule: hook.if,
            timeout: hook.timeout,
            onFailure: hook.onFailure,
          });
        }
      }
    }
  }
  return declared;
}

/** Fields that settings may carry beyond those of the schema. */
type OpenHookCommand = HookCommand & Record<string, unknown>;

function readCommand(hook: OpenHookCommand): { action: HookAction; source: string } {
  const { type, command, prompt, url } = hook;
  const unusable = (problem: string): { action: HookAction; source: string } => ({
    action: { kind: 'unusable', type, problem },
    source: command ?? prompt ?? type,
  });
  switch (type) {
    case 'command': {
      if (command === undefined || command.trim() === '') return unusable('a hook of type command needs `command`');
      const rewake = hook.asyncRewake === true;
      return { action: { kind: 'command', command, async: hook.async === true || rewake, rewake }, source: command };
    }
    case 'prompt': {
      if (prompt === undefined || prompt.trim() === '') return unusable('a hook of type prompt needs `prompt`');
      const { model } = hook;
      return { action: { kind: 'prompt', prompt, ...(typeof model === 'string' && { model }) }, source: prompt };
    }
    case 'http': {
      if (url === undefined || !URL.canParse(url)) return unusable('a hook of type http needs `url`, an address');
      const action = { kind: 'http' as const, url, headers: strings(hook.headers), allowedEnvVars: names(hook) };
      return { action, source: showAddress(url) };
    }
    default:
      return unusable(`hooks of type ${type} are not supported yet`);
  }
}

/** Without what may be a secret in it. */
const showAddress = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

const strings = (value: unknown): Record<string, string> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

const names = ({ allowedEnvVars }: OpenHookCommand): string[] =>
  Array.isArray(allowedEnvVars) ? allowedEnvVars.filter((name) => typeof name === 'string') : [];

interface Declaration extends Pick<HookDefinition, 'event' | 'action' | 'layer' | 'file' | 'source' | 'rule'> {
  matcherText: string | null | undefined;
  timeout: number | null | undefined;
  onFailure: string | undefined;
}

function declare({ definitions, problems }: Declared, declaration: Declaration): void {
  const { event, action, layer, file, source, rule, matcherText, timeout } = declaration;
  const say = (problem: string): void => void problems.push({ event, layer, ...(file && { file }), problem });
  const { gate, matchField } = HOOK_TRIGGERS[event];
  let matcher = compileMatcher(matcherText, event);
  if (matcher.problem !== undefined) say(matcher.problem);
  if (rule !== undefined && matchField !== 'tool_name') {
    say(`A hook with \`if\` needs a tool call, and ${event} has none. ${gate ? 'It always runs.' : 'It never runs.'}`);
    if (!gate) matcher = { matches: () => false };
  }
  if (action.kind === 'unusable') say(`A hook cannot be used: ${action.problem}.`);
  if (typeof timeout === 'number' && !(timeout > 0)) say(`A timeout of ${timeout} s cannot be kept; 60 s are used.`);
  const timeoutMs = toTimeout(event, timeout);
  const onFailure = toEffect(declaration);
  definitions.push({
    event,
    action,
    layer,
    ...(file !== undefined && { file }),
    source,
    ...(typeof matcherText === 'string' && { matcherText }),
    matcher,
    ...(rule !== undefined && matchField === 'tool_name' && { rule }),
    timeoutMs,
    onFailure,
    ...(action.kind !== 'callback' && { key: JSON.stringify([action, timeoutMs, onFailure]) }),
  });
}

function toTimeout(event: HookEvent, seconds: number | null | undefined): number {
  const ms = typeof seconds === 'number' && seconds > 0 ? Math.min(seconds * 1000, MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
  return event === 'SessionEnd' ? Math.min(ms, SESSION_END_MS) : ms;
}

/** Whoever writes into a project may make a failing hook stricter, not looser. */
function toEffect({ event, layer, onFailure }: Declaration): FailureEffect {
  const standard: FailureEffect = HOOK_TRIGGERS[event].gate ? 'ask' : 'allow';
  const wanted = FAILURE_EFFECTS.find((effect) => effect === onFailure) ?? standard;
  const mayLoosen = layer !== 'project' && layer !== 'local';
  return mayLoosen || FAILURE_EFFECTS.indexOf(wanted) > FAILURE_EFFECTS.indexOf(standard) ? wanted : standard;
}
