/** The hooks of one session: what is declared, and what they say when something happens. */
import type { Clock, HOOK_INPUTS, Infer, Logger } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { childEnvironment } from '../child-env.js';
import { toReminder } from '../reminder.js';
import type { RunProcess } from './command.js';
import {
  type CallbackSource,
  type Declared,
  fromCallbacks,
  fromSettings,
  type HookDefinition,
  type LoadedHookSource,
  type Rewake,
} from './definition.js';
import { ALWAYS_SHOWN, HOOK_TRIGGERS } from './events.js';
import { hookNameOf, namesToMatch, nameToMatch } from './match.js';
import { type HookRun, mergeLate, mergeRuns } from './merge.js';
import { failed, type HookOutcome } from './outcome.js';
import { type AskTool, type CallModel, type Post, runHook } from './run.js';
import { type HookMessage, showHook, toNotice } from './show.js';
import { failureText, lateContextText, rewakeText, saysText, showSource, stopText } from './texts.js';
import { emptyVerdict, type HookVerdict } from './verdict.js';

/** What every hook is given, whatever happened. */
export interface HookBase {
  session_id: string;
  transcript_path: string;
  cwd: string;
  permission_mode?: string;
  agent_id?: string;
  agent_type?: string;
}

/** What an event adds to that. */
export type HookFields<E extends HookEvent> = Omit<
  Infer<(typeof HOOK_INPUTS)[E]>,
  'hook_event_name' | 'session_id' | 'transcript_path' | 'cwd' | 'prompt_id' | 'permission_mode' | 'effort'
>;

/** A tool call, for the `if` of a hook. */
export interface RuledCall {
  toolName: string;
  input: unknown;
  /** The hook guards something: what may be meant counts as meant. */
  atGate: boolean;
}

export interface HooksOptions {
  runProcess: RunProcess;
  callModel: CallModel;
  post: Post;
  askTool: AskTool;
  /** Whether a call matches a permission rule. May throw: the rule cannot be used then. */
  matchesRule(rule: string, call: RuledCall): boolean | Promise<boolean>;
  /** The environment of children; the engine's own credentials are taken out once more. */
  env: Readonly<Record<string, string>>;
  /** The folder of the project, which commands find as CLAUDE_PROJECT_DIR and HEDDLE_PROJECT_DIR. */
  projectDir: string;
  cwd(): string;
  base(): HookBase;
  clock: Clock;
  logger: Logger;
  emit(message: HookMessage): void;
  /** Show every hook of settings as messages; those of SessionStart and Setup are shown anyway. */
  includeHookEvents?: boolean;
  /** Called when a hook is over that nobody waited for. */
  onLate(late: LateOutput): void;
}

/** What such a hook has for the model. */
export interface LateOutput {
  texts: string[];
  /** The model should hear of it at once, not with the next prompt. */
  rewake: boolean;
}

export interface FireOptions {
  signal: AbortSignal;
  /** A new id when absent. */
  toolUseId?: string;
  /** What is otherwise in a subagent. */
  base?: Partial<HookBase>;
}

export interface Hooks {
  /** Whether anything is declared for an event, in an agent when one is named; whoever builds an expensive input asks first. */
  has(event: HookEvent, agentId?: string): boolean;
  /** Runs the hooks that the event calls for, all at once, and says what they come to. Never rejects. */
  fire<E extends HookEvent>(event: E, fields: HookFields<E>, options: FireOptions): Promise<HookVerdict>;
  /** Adds the callbacks of one more host; the returned function takes them away again. */
  attach(source: CallbackSource): () => void;
  /** Adds hooks that count for what happens in one agent; the returned function takes them away again. */
  adopt(agentId: string, sources: readonly LoadedHookSource[]): () => void;
  /** Settings were loaded anew. Weakest first: of two hooks that rewrite the same thing the last one counts. */
  replaceSettings(sources: readonly LoadedHookSource[]): void;
  /** Those that count for the session, agents' own not among them. */
  readonly list: readonly HookDefinition[];
  /** Tells the person what is wrong with callbacks, each thing once; whoever reads settings tells what is wrong there. */
  tellProblems(): void;
  /** Ends what runs, in the background too. */
  close(): void;
}

export function createHooks(options: HooksOptions): Hooks {
  const { clock, logger, emit } = options;
  const env = {
    ...childEnvironment({ env: { ...options.env }, envIsExact: true }),
    CLAUDE_PROJECT_DIR: options.projectDir,
    HEDDLE_PROJECT_DIR: options.projectDir,
  };
  const hosts = new Map<symbol, Declared>();
  const ofAgents = new Map<string, HookDefinition[]>();
  let ofSettings: HookDefinition[] = [];
  let byEvent = new Map<HookEvent, HookDefinition[]>();
  /** What was said once need not be said again. */
  const said = new Set<string>();
  const background = new Set<() => void>();
  const ending = new AbortController();

  const refresh = (): void => {
    const ofHosts = [...hosts.values()].flatMap(({ definitions }) => definitions);
    byEvent = Map.groupBy([...ofHosts, ...ofSettings], ({ event }) => event);
  };

  const attach = (source: CallbackSource): (() => void) => {
    const key = Symbol('host');
    hosts.set(key, fromCallbacks(source));
    refresh();
    return () => {
      if (hosts.delete(key)) refresh();
    };
  };

  const declaredFor = (event: HookEvent, agentId = ''): HookDefinition[] => [
    ...(byEvent.get(event) ?? []),
    ...(ofAgents.get(agentId) ?? []).filter((definition) => definition.event === event),
  ];

  const tell = (level: 'notice' | 'warning' | 'error', content: string, tag?: string): void => {
    if (level !== 'notice') logger(level === 'error' ? 'error' : 'warn', content);
    emit(
      toNotice({ level, content, ...(tag !== undefined && { tag }) }, { clock, sessionId: options.base().session_id }),
    );
  };

  const tellOnce = (content: string): void => {
    if (said.has(content)) return;
    said.add(content);
    tell('error', content, 'hook_problem');
  };

  const tellProblems = (): void => {
    for (const { event, problem } of [...hosts.values()].flatMap((declared) => declared.problems)) {
      tellOnce(`Hooks of ${event}: ${problem}`);
    }
  };

  const report = (verdict: HookVerdict, hookName: string): void => {
    for (const message of verdict.systemMessages) tell('notice', saysText(hookName, message));
    if (verdict.stop) tell('notice', stopText(hookName, verdict.stop.reason), 'hook_stopped');
    for (const warning of verdict.warnings) tell('warning', `${hookName} hook: ${warning}`, 'hook_warning');
    for (const failure of verdict.failures) {
      // That a kind of hook is not supported is a problem of the declaration, and has been told as one.
      if (failure.kind === 'unsupported') continue;
      tell('error', failureText(failure), failure.layer === 'callback' ? 'hook_callback_failed' : 'hook_failed');
    }
  };

  const isMeant = async ({ matcher, rule, source }: HookDefinition, facts: Occasion): Promise<boolean> => {
    const { event, names } = facts;
    const { gate, matchField } = HOOK_TRIGGERS[event];
    // A gate that does not know what it is about stays shut.
    const cannotTell = gate !== false && matchField !== undefined && names.length === 0;
    if (!matcher.matches(names) && !cannotTell) return false;
    if (rule === undefined) return true;
    try {
      return await options.matchesRule(rule, { ...facts.call, atGate: gate !== false });
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      const effect = gate ? 'It runs for every call' : 'It does not run';
      tellOnce(`The ${event} hook (${showSource(source)}) has an \`if\` that cannot be used. ${effect}: ${why}`);
      return gate !== false;
    }
  };

  const select = async (facts: Occasion): Promise<HookDefinition[]> => {
    const declared = declaredFor(facts.event, facts.agentId);
    const meant = await Promise.all(declared.map((definition) => isMeant(definition, facts)));
    const keys = new Set<string>();
    return declared.filter(({ key }, i) => {
      if (meant[i] !== true || (key !== undefined && keys.has(key))) return false;
      if (key !== undefined) keys.add(key);
      return true;
    });
  };

  const runOne = async (definition: HookDefinition, occasion: Occasion): Promise<HookRun> => {
    const { event, hookName } = occasion;
    const { source, layer, onFailure, action } = definition;
    const toRun = (outcome: HookOutcome): HookRun => ({ hookName, source, layer, onFailure, outcome });
    if (occasion.signal.aborted) return toRun({ kind: 'cancelled' });
    const visible = action.kind !== 'callback' && (options.includeHookEvents === true || ALWAYS_SHOWN.has(event));
    const { sessionId } = occasion;
    const outcome = await runHook(
      definition,
      {
        input: occasion.input,
        toolUseId: occasion.toolUseId,
        cwd: occasion.cwd,
        signal: occasion.signal,
        show: () => showHook({ visible, event, hookName, sessionId, clock, emit }),
        onAsync: ({ ended, cancel }) => {
          background.add(cancel);
          const rewake = action.kind === 'command' ? action.rewake : undefined;
          ended
            .then((late) => {
              background.delete(cancel);
              if (!ending.signal.aborted) deliverLate(toRun(late), rewake);
            })
            .catch((thrown: unknown) =>
              logger('error', `What a ${hookName} hook said late is lost: ${String(thrown)}`),
            );
        },
      },
      { ...options, env },
    ).catch((thrown: unknown) => failed('error', String(thrown)));
    return toRun(outcome);
  };

  /** Nobody waits any more, so a decision has nothing left to decide. */
  const deliverLate = (run: HookRun, rewake: Rewake | undefined): void => {
    const { hookName, source } = run;
    const { verdict, objection } = mergeLate(run);
    const texts = verdict.additionalContext.map((context) => lateContextText(hookName, context));
    if (objection !== undefined && rewake !== undefined) {
      const { reason } = objection;
      texts.push(rewakeText(hookName, { ...rewake, reason }));
      verdict.systemMessages.push(rewake.summary ?? reason);
    } else if (objection !== undefined) {
      verdict.warnings.push(`[${source}] it objects, too late to change anything: ${objection.reason}`);
    }
    report(verdict, hookName);
    options.onLate({ texts: texts.map(toReminder), rewake: objection !== undefined && rewake !== undefined });
  };

  const fire = async (
    event: HookEvent,
    fields: Record<string, unknown>,
    fireOptions: FireOptions,
  ): Promise<HookVerdict> => {
    const base = { ...options.base(), ...fireOptions.base };
    if (declaredFor(event, base.agent_id).length === 0) return emptyVerdict();
    const name = nameToMatch(event, fields);
    const occasion: Occasion = {
      event,
      hookName: hookNameOf(event, name),
      names: namesToMatch(event, name),
      call: { toolName: typeof fields.tool_name === 'string' ? fields.tool_name : '', input: fields.tool_input },
      input: JSON.stringify({ ...base, hook_event_name: event, ...fields }),
      toolUseId: fireOptions.toolUseId ?? clock.uuid(),
      signal: AbortSignal.any([fireOptions.signal, ending.signal]),
      sessionId: base.session_id,
      cwd: fireOptions.base?.cwd ?? options.cwd(),
      agentId: base.agent_id,
    };
    const chosen = await select(occasion);
    const runs = await Promise.all(chosen.map((definition) => runOne(definition, occasion)));
    const verdict = mergeRuns(event, runs, { stopActive: fields.stop_hook_active === true });
    report(verdict, occasion.hookName);
    return verdict;
  };

  return {
    has: (event, agentId) => byEvent.has(event) || declaredFor(event, agentId).length > 0,
    fire: (event, fields, fireOptions) =>
      fire(event, fields, fireOptions).catch((thrown: unknown) => {
        const content = `The ${event} hooks could not be run: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
        tell('error', content, 'hook_failed');
        return unableToRun(event, content);
      }),
    attach,
    adopt(agentId, sources) {
      ofAgents.set(agentId, fromSettings(sources).definitions);
      return () => void ofAgents.delete(agentId);
    },
    replaceSettings(sources) {
      ofSettings = fromSettings(sources).definitions;
      refresh();
    },
    get list() {
      return [...byEvent.values()].flat();
    },
    tellProblems,
    close() {
      ending.abort();
      for (const cancel of background) cancel();
      background.clear();
    },
  };
}

/** One thing that happened, as hooks see it. */
interface Occasion {
  event: HookEvent;
  hookName: string;
  /** All forms of the name that matchers are about. */
  names: string[];
  call: Omit<RuledCall, 'atGate'>;
  input: string;
  toolUseId: string;
  signal: AbortSignal;
  sessionId: string;
  /** Where commands run. */
  cwd: string;
  agentId: string | undefined;
}

/** As if one hook had failed. */
const unableToRun = (event: HookEvent, content: string): HookVerdict =>
  mergeRuns(event, [
    {
      hookName: event,
      source: 'hooks',
      layer: 'callback',
      onFailure: HOOK_TRIGGERS[event].gate ? 'ask' : 'allow',
      outcome: failed('error', content),
    },
  ]);
