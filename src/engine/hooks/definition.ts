/** Hooks as they were declared, by callbacks of the host and by settings, in one form. */
import type { HookCommand, HookMatcherConfig, Settings } from '../../protocol/index.js';
import { HOOK_EVENTS, type HookEvent } from '../../protocol/plain.js';
import { mcpToolName } from '../mcp/names.js';
import type { RuleLayerName } from '../permissions/layers.js';
import { HOOK_TRIGGERS } from './events.js';
import { hideInText } from '../mcp/secrets.js';
import { compileMatcher, type Matcher } from './match.js';
import { FAILURE_EFFECTS, type FailureEffect, type HookLayer } from './outcome.js';

/** The hooks of one settings file that count: what trust and policy say about them has been obeyed. */
export interface LoadedHookSource {
  layer: RuleLayerName;
  hooks: Settings['hooks'];
  /** What commands find in their environment beside the rest. */
  env?: Readonly<Record<string, string>>;
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
  | { kind: 'command'; command: string; async: boolean; rewake?: Rewake; env?: Readonly<Record<string, string>> }
  | { kind: 'prompt'; prompt: string; model?: string }
  | { kind: 'http'; url: string; headers: Record<string, string>; allowedEnvVars: string[] }
  /** `tool` by the name that a model would call; `input` absent: the event. */
  | { kind: 'mcp-tool'; tool: string; input?: Record<string, unknown> }
  /** It is known what was meant, and that it cannot be done. */
  | { kind: 'unusable'; problem: string };

/** A command that nobody waits for has the model hear of its objection at once. */
export interface Rewake {
  /** For the model, before the objection. */
  message?: string;
  /** For the person, in its place. */
  summary?: string;
}

export interface HookDefinition {
  event: HookEvent;
  action: HookAction;
  layer: HookLayer;
  /** How messages name it: "callback", the command, the address; without secrets. */
  source: string;
  matcher: Matcher;
  /** The matcher as it was written, where there is one. */
  written?: string;
  /** A permission rule: the hook runs only for calls that match it. */
  rule?: string;
  timeoutMs: number;
  onFailure: FailureEffect;
  /** Equal for hooks that would do the same in the same way; one run serves them all. Callbacks are each their own. */
  key?: string;
}

export interface HookProblem {
  event: string;
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

export function fromCallbacks({ callbacks, askCallback }: CallbackSource): Declared {
  const declared: Declared = { definitions: [], problems: [] };
  for (const [event, matchers] of Object.entries(callbacks)) {
    if (!isEvent(event)) {
      declared.problems.push({ event, problem: `There is no hook event ${event}.` });
      continue;
    }
    for (const { matcher, hookCallbackIds, timeout, onFailure } of matchers) {
      for (const callbackId of hookCallbackIds) {
        declare(declared, {
          event,
          layer: 'callback',
          source: 'callback',
          action: { kind: 'callback', callbackId, ask: askCallback },
          matcher,
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
  for (const { layer, hooks, env } of sources) {
    for (const [event, matchers] of Object.entries(hooks ?? {})) {
      if (!isEvent(event)) continue;
      for (const { matcher, hooks: list } of matchers) {
        for (const hook of list) {
          for (const problem of findIdle(hook)) declared.problems.push({ event, problem });
          const { if: rule, timeout, onFailure } = hook;
          declare(declared, { event, layer, ...readCommand(hook, env), matcher, rule, timeout, onFailure });
        }
      }
    }
  }
  return declared;
}

/** What is wrong with one hook of settings though it is well-formed; its matcher is not looked at. */
export const findHookProblems = (event: HookEvent, hook: HookCommand): string[] =>
  fromSettings([{ layer: 'user', hooks: { [event]: [{ hooks: [hook] }] } }]).problems.map(({ problem }) => problem);

function readCommand(hook: HookCommand, env?: LoadedHookSource['env']): { action: HookAction; source: string } {
  const { type, command, prompt, url, model } = hook;
  const unusable = (problem: string): { action: HookAction; source: string } => ({
    action: { kind: 'unusable', problem },
    source: command ?? prompt ?? type,
  });
  switch (type) {
    case 'command': {
      if (command === undefined || command.trim() === '') return unusable('a hook of type command needs `command`');
      const rewake = toRewake(hook);
      const isAsync = hook.async === true || rewake !== undefined;
      const more = { ...(rewake && { rewake }), ...(env && { env }) };
      return { action: { kind: 'command', command, async: isAsync, ...more }, source: hideInText(command) };
    }
    case 'prompt':
      if (prompt === undefined || prompt.trim() === '') return unusable('a hook of type prompt needs `prompt`');
      return { action: { kind: 'prompt', prompt, ...(model !== undefined && { model }) }, source: prompt };
    case 'http': {
      const { protocol, username, password } = (url === undefined ? undefined : URL.parse(url)) ?? {};
      if (url === undefined || (protocol !== 'http:' && protocol !== 'https:')) {
        return unusable('a hook of type http needs `url`, an address that begins with http:// or https://');
      }
      if (username || password) return unusable('`url` cannot hold a user or a password; `headers` can');
      const { headers = {}, allowedEnvVars = [] } = hook;
      return { action: { kind: 'http', url, headers, allowedEnvVars }, source: showAddress(url) };
    }
    case 'mcp_tool': {
      const { server, tool, input } = hook;
      if (!server || !tool) return unusable('a hook of type mcp_tool needs `server` and `tool`');
      const name = mcpToolName(server, tool);
      return { action: { kind: 'mcp-tool', tool: name, ...(input && { input }) }, source: name };
    }
    default:
      return unusable(`hooks of type ${type} are not supported yet`);
  }
}

function toRewake({ asyncRewake, rewakeMessage, rewakeSummary }: HookCommand): Rewake | undefined {
  if (asyncRewake !== true) return undefined;
  return {
    ...(rewakeMessage !== undefined && { message: rewakeMessage }),
    ...(rewakeSummary !== undefined && { summary: rewakeSummary }),
  };
}

const OF_COMMANDS = ['async', 'asyncRewake', 'rewakeMessage', 'rewakeSummary'] as const;
const OF_REWAKING = ['rewakeMessage', 'rewakeSummary'] as const;

/** Fields that are well-formed and mean nothing where they stand. */
function findIdle(hook: HookCommand): string[] {
  const idle = (fields: readonly (keyof HookCommand)[], why: string): string[] =>
    fields
      .filter((field) => hook[field] !== undefined && hook[field] !== false)
      .map((field) => `\`${field}\` means nothing ${why}.`);
  if (hook.type === 'prompt' || hook.type === 'http') return idle(OF_COMMANDS, `to a hook of type ${hook.type}`);
  return hook.type === 'command' && hook.asyncRewake !== true ? idle(OF_REWAKING, 'without `asyncRewake`') : [];
}

/** Without what may be a secret in it. */
const showAddress = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

interface Declaration extends Pick<HookDefinition, 'event' | 'action' | 'layer' | 'source'> {
  matcher: string | null | undefined;
  rule?: string | undefined;
  timeout: number | null | undefined;
  onFailure: string | undefined;
}

function declare({ definitions, problems }: Declared, declaration: Declaration): void {
  const { event, action, layer, source, rule, timeout } = declaration;
  const say = (problem: string): void => void problems.push({ event, problem });
  const { gate, matchField } = HOOK_TRIGGERS[event];
  let matcher = compileMatcher(declaration.matcher, event);
  if (matcher.problem !== undefined) say(matcher.problem);
  if (rule !== undefined && matchField !== 'tool_name') {
    say(`A hook with \`if\` needs a tool call, and ${event} has none. ${gate ? 'It always runs.' : 'It never runs.'}`);
    if (!gate) matcher = { matches: () => false };
  }
  if (action.kind === 'unusable') {
    say(`It cannot be used: ${action.problem}. ${gate ? 'It counts as a hook that failed.' : 'It does nothing.'}`);
  }
  if (typeof timeout === 'number' && !(timeout > 0)) say(`A timeout of ${timeout} s cannot be kept; 60 s are used.`);
  const timeoutMs = toTimeout(event, timeout);
  const onFailure = toEffect(declaration, say);
  definitions.push({
    event,
    action,
    layer,
    source,
    matcher,
    ...(declaration.matcher && { written: declaration.matcher }),
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
function toEffect({ event, layer, onFailure }: Declaration, say: (problem: string) => void): FailureEffect {
  const standard: FailureEffect = HOOK_TRIGGERS[event].gate ? 'ask' : 'allow';
  const wanted = FAILURE_EFFECTS.find((effect) => effect === onFailure);
  if (onFailure !== undefined && wanted === undefined) {
    say(`\`onFailure\` must be allow, ask or deny, not ${JSON.stringify(onFailure)}; ${standard} is used.`);
  }
  const mayLoosen = layer !== 'project' && layer !== 'local';
  const isStricter = wanted !== undefined && FAILURE_EFFECTS.indexOf(wanted) > FAILURE_EFFECTS.indexOf(standard);
  return wanted !== undefined && (mayLoosen || isStricter) ? wanted : standard;
}
