/** The hooks of one session: what is declared, and what they say when something happens. */
import type { Clock, HOOK_INPUTS, Infer, Logger } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { childEnvironment } from '../child-env.js';
import type { RunProcess } from './command.js';
import {
  type AskCallback,
  type CallbackSource,
  type Declared,
  fromCallbacks,
  fromSettings,
  type HookDefinition,
  type HookProblem,
  type LoadedHookSource,
} from './definition.js';
import { ALWAYS_SHOWN, type Gate, HOOK_TRIGGERS } from './events.js';
import { hookNameOf, namesToMatch, nameToMatch } from './match.js';
import { type HookRun, mergeRuns } from './merge.js';
import { failed, type HookOutcome } from './outcome.js';
import { type CallModel, type Post, runHook } from './run.js';
import { type HookMessage, showHook, toNotice } from './show.js';
import { failureText, saysText, showSource } from './texts.js';
import { emptyVerdict, type HookVerdict } from './verdict.js';

/** What every hook is given, whatever happened. */
export interface HookBase {
  session_id: string;
  transcript_path: string;
  cwd: string;
  prompt_id?: string;
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
}

export interface HooksOptions {
  /** Callbacks of the host, from `initialize`. */
  callbacks?: CallbackSource['callbacks'];
  askCallback?: AskCallback;
  /** Weakest first: of two hooks that rewrite the same thing the last one counts. */
  settings?: readonly LoadedHookSource[];
  runProcess: RunProcess;
  callModel: CallModel;
  post: Post;
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
  /** What a hook found out after everybody had gone on. `rewake`: the model should hear of it at once. */
  onAsyncOutput?(late: LateOutput): void;
}

export interface LateOutput {
  event: HookEvent;
  hookName: string;
  source: string;
  verdict: HookVerdict;
  rewake: boolean;
}

export interface FireOptions {
  signal: AbortSignal;
  /** A new id when absent. */
  toolUseId?: string;
  /** Taken from the fields when absent. */
  matchValue?: string;
  /** Taken from the table when absent. */
  gate?: Gate | false;
}

export interface HookListing {
  event: HookEvent;
  type: string;
  layer: string;
  source: string;
  matcher?: string;
  if?: string;
  file?: string;
  timeoutSeconds: number;
  problem?: string;
}

export interface Hooks {
  /** Whether anything is declared for an event; whoever builds an expensive input asks first. */
  has(event: HookEvent): boolean;
  /** Runs the hooks that the event calls for, all at once, and says what they come to. Never rejects. */
  fire<E extends HookEvent>(event: E, fields: HookFields<E>, options: FireOptions): Promise<HookVerdict>;
  /** Adds the callbacks of one more host; the returned function takes them away again. */
  attach(source: CallbackSource): () => void;
  /** Settings were loaded anew. */
  replaceSettings(sources: readonly LoadedHookSource[]): void;
  /** What is wrong with what was declared. */
  readonly problems: readonly HookProblem[];
  list(): HookListing[];
  /** Ends what runs in the background. */
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
  let ofSettings = fromSettings(options.settings ?? []);
  let byEvent = new Map<HookEvent, HookDefinition[]>();
  let problems: HookProblem[] = [];
  /** What was said once need not be said again. */
  const said = new Set<string>();
  const background = new Set<() => void>();
  let closed = false;

  const refresh = (): void => {
    const all = [...hosts.values(), ofSettings];
    problems = all.flatMap((declared) => declared.problems);
    byEvent = Map.groupBy(
      all.flatMap((declared) => declared.definitions),
      ({ event }) => event,
    );
    for (const { event, file, problem } of problems) logger('warn', `hooks of ${event}: ${problem}`, { file });
  };

  const attach = (source: CallbackSource): (() => void) => {
    const key = Symbol('host');
    hosts.set(key, fromCallbacks(source));
    refresh();
    return () => {
      if (hosts.delete(key)) refresh();
    };
  };

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

  const tellProblems = (event: HookEvent): void => {
    for (const { event: of, file, problem } of problems) {
      const isKnown = Object.hasOwn(HOOK_TRIGGERS, of);
      if (of === event || !isKnown) tellOnce(`Hooks of ${of}${file === undefined ? '' : ` in ${file}`}: ${problem}`);
    }
  };

  const report = (verdict: HookVerdict, hookName: string): void => {
    for (const message of verdict.systemMessages) tell('notice', saysText(hookName, message));
    for (const warning of verdict.warnings) tell('warning', `${hookName} hook: ${warning}`, 'hook_warning');
    for (const failure of verdict.failures) {
      // That a kind of hook is not supported is a problem of the declaration, and has been told as one.
      if (failure.kind === 'unsupported') continue;
      tell('error', failureText(failure), failure.layer === 'callback' ? 'hook_callback_failed' : 'hook_failed');
    }
  };

  const isMeant = async (definition: HookDefinition, facts: Occasion): Promise<boolean> => {
    const { matcher, rule } = definition;
    // A gate that does not know what it is about stays shut.
    const named = facts.names.length > 0 || HOOK_TRIGGERS[facts.event].matchField === undefined;
    if (!matcher.matches(facts.names) && (named || !facts.gate)) return false;
    if (rule === undefined) return true;
    try {
      return await options.matchesRule(rule, facts.call);
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      const effect = facts.gate ? 'It runs for every call' : 'It does not run';
      tellOnce(
        `The ${facts.event} hook (${showSource(definition.source)}) has an \`if\` that cannot be used. ${effect}: ${why}`,
      );
      return facts.gate !== false;
    }
  };

  const select = async (facts: Occasion): Promise<HookDefinition[]> => {
    const declared = byEvent.get(facts.event) ?? [];
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
    if (closed || occasion.signal.aborted) return toRun({ kind: 'cancelled' });
    const visible = action.kind !== 'callback' && (options.includeHookEvents === true || ALWAYS_SHOWN.has(event));
    const { sessionId } = occasion;
    const outcome = await runHook(
      definition,
      {
        input: occasion.input,
        toolUseId: occasion.toolUseId,
        cwd: options.cwd(),
        signal: occasion.signal,
        show: () => showHook({ visible, event, hookName, sessionId, clock, emit }),
        onAsync: ({ ended, cancel }) => {
          background.add(cancel);
          void ended.then((late) => {
            background.delete(cancel);
            const rewakes = action.kind === 'command' && action.rewake;
            if (!closed) deliverLate(toRun(late), { event, hookName, rewakes });
          });
        },
      },
      { ...options, env },
    ).catch((thrown: unknown) => failed('error', String(thrown)));
    return toRun(outcome);
  };

  /** Nobody waits any more, so a decision has nothing left to decide. */
  const deliverLate = (run: HookRun, facts: { event: HookEvent; hookName: string; rewakes: boolean }): void => {
    const { event, hookName } = facts;
    const verdict = mergeRuns(event, [{ ...run, onFailure: 'allow' }], { gate: false });
    report(verdict, hookName);
    const rewake = facts.rewakes && run.outcome.kind === 'block';
    options.onAsyncOutput?.({ event, hookName, source: run.source, verdict, rewake });
  };

  const fire = async (
    event: HookEvent,
    fields: Record<string, unknown>,
    fireOptions: FireOptions,
  ): Promise<HookVerdict> => {
    tellProblems(event);
    if (!byEvent.has(event)) return emptyVerdict();
    const base = options.base();
    const name = fireOptions.matchValue ?? nameToMatch(event, fields);
    const gate = fireOptions.gate ?? HOOK_TRIGGERS[event].gate;
    const occasion: Occasion = {
      event,
      hookName: hookNameOf(event, name),
      names: namesToMatch(event, name),
      gate,
      call: { toolName: typeof fields.tool_name === 'string' ? fields.tool_name : '', input: fields.tool_input },
      input: JSON.stringify({ ...base, hook_event_name: event, ...fields }),
      toolUseId: fireOptions.toolUseId ?? clock.uuid(),
      signal: fireOptions.signal,
      sessionId: base.session_id,
    };
    const chosen = await select(occasion);
    const runs = await Promise.all(chosen.map((definition) => runOne(definition, occasion)));
    const verdict = mergeRuns(event, runs, { gate, stopActive: fields.stop_hook_active === true });
    report(verdict, occasion.hookName);
    return verdict;
  };

  if (options.callbacks !== undefined && options.askCallback !== undefined) {
    attach({ callbacks: options.callbacks, askCallback: options.askCallback });
  } else refresh();

  return {
    has: (event) => byEvent.has(event),
    fire: (event, fields, fireOptions) =>
      fire(event, fields, fireOptions).catch((thrown: unknown) => {
        const content = `The ${event} hooks could not be run: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
        tell('error', content, 'hook_failed');
        return unableToRun(event, content, fireOptions.gate);
      }),
    attach,
    replaceSettings(sources) {
      ofSettings = fromSettings(sources);
      refresh();
    },
    get problems() {
      return problems;
    },
    list: () => [...byEvent.values()].flat().map(toListing),
    close() {
      closed = true;
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
  gate: Gate | false;
  call: RuledCall;
  input: string;
  toolUseId: string;
  signal: AbortSignal;
  sessionId: string;
}

/** As if one hook had failed. */
const unableToRun = (event: HookEvent, content: string, gate: Gate | false | undefined): HookVerdict => {
  const shut = gate ?? HOOK_TRIGGERS[event].gate;
  const run: HookRun = {
    hookName: event,
    source: 'hooks',
    layer: 'callback',
    onFailure: shut === false ? 'allow' : 'ask',
    outcome: failed('error', content),
  };
  return mergeRuns(event, [run], { gate: shut });
};

function toListing(definition: HookDefinition): HookListing {
  const { event, action, layer, source, matcherText, rule, file, timeoutMs } = definition;
  const problem = action.kind === 'unusable' ? action.problem : definition.matcher.problem;
  return {
    event,
    type: action.kind === 'unusable' ? action.type : action.kind,
    layer,
    source,
    ...(matcherText !== undefined && { matcher: matcherText }),
    ...(rule !== undefined && { if: rule }),
    ...(file !== undefined && { file }),
    timeoutSeconds: timeoutMs / 1000,
    ...(problem !== undefined && { problem }),
  };
}
