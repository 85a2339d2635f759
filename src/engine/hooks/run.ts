/** Runs one hook, whatever its kind, within its time. Never throws. */
import type { Clock } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { secretsOf } from '../mcp/secrets.js';
import { readAnswer, readExit, readJudgement, readResponse, readText } from './answer.js';
import { type Printed, type RunningCommand, type RunProcess, startCommand } from './command.js';
import type { HookAction, HookDefinition } from './definition.js';
import { failed, type HookOutcome } from './outcome.js';
import type { HookShow, Shown } from './show.js';
import { createTimeBox, type Stop, type TimeBox } from './time-box.js';

/** Asks a small model. Rejects when no answer will come; honours the signal. */
export type CallModel = (prompt: string, options: { signal: AbortSignal; model?: string }) => Promise<string>;

/** Posts JSON. Whoever gives it decides which addresses may be reached; rejects for the others. Honours the signal. */
export type Post = (
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  options: { signal: AbortSignal },
) => Promise<{ status: number; body: string }>;

/** Calls a tool of an MCP server. Rejects when it cannot; honours the signal. */
export type AskTool = (
  name: string,
  input: Record<string, unknown>,
  options: { toolUseId: string; signal: AbortSignal },
) => Promise<string>;

export interface RunParts {
  runProcess: RunProcess;
  callModel: CallModel;
  post: Post;
  askTool: AskTool;
  /** The environment of commands. */
  env: Readonly<Record<string, string>>;
  clock: Clock;
}

export interface RunFacts {
  /** JSON; every hook gets its own copy. */
  input: string;
  toolUseId: string;
  cwd: string;
  signal: AbortSignal;
  /** Called when the hook really starts. */
  show(): HookShow;
  /** Called when a command goes on by itself: `ended` never rejects. */
  onAsync(run: { ended: Promise<HookOutcome>; cancel(): void }): void;
}

/** How long a command may go on by itself. */
const ASYNC_MS = 60_000;

export async function runHook(definition: HookDefinition, facts: RunFacts, parts: RunParts): Promise<HookOutcome> {
  const { event, action, timeoutMs } = definition;
  if (action.kind === 'unusable') return failed('unsupported', action.problem);
  const box = createTimeBox({ clock: parts.clock, ms: timeoutMs, signal: facts.signal });
  const show = facts.show();
  if (action.kind === 'command') return runCommand(definition, { action, box, show, facts, parts });
  let outcome: HookOutcome;
  try {
    const answered = answer(event, action, { ...facts, signal: box.signal }, parts);
    outcome = await Promise.race([answered, box.stopped.then((why) => toStopped(why, box.ms))]);
  } catch (thrown) {
    outcome = failed(FAILURES[action.kind], saidBy(thrown));
  } finally {
    box.release();
  }
  show.end({ ...showAnswer(outcome), outcome: stateOf(outcome) });
  return outcome;
}

const FAILURES = { callback: 'error', http: 'http', 'mcp-tool': 'tool', prompt: 'model' } as const;

const saidBy = (thrown: unknown): string => `it ended with an error: ${reasonsOf(thrown).join(': ') || 'no message'}`;

/** What was thrown, and what that was caused by: "fetch failed" alone helps nobody. */
function reasonsOf(thrown: unknown, depth = 0): string[] {
  const { message, code, inner } = toFacts(thrown);
  const rest = inner === undefined || depth >= MAX_CAUSES ? [] : reasonsOf(inner, depth + 1);
  const own = message.trim().replace(/\.$/, '') || (rest.length === 0 ? code : '');
  return own === '' || rest.includes(own) ? rest : [own, ...rest];
}

const MAX_CAUSES = 3;

/** What an address and its headers hold is nobody's business, the model's least of all. */
function throwWithout(secret: { url: string; headers: Record<string, string> }, thrown: unknown): never {
  throw new Error(secretsOf({ type: 'http', ...secret }).hide(reasonsOf(thrown).join(': ')));
}

function toFacts(thrown: unknown): { message: string; code: string; inner?: unknown } {
  if (!(thrown instanceof Error)) return { message: String(thrown), code: '' };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : undefined;
  return { message: thrown.message, code, inner: thrown.cause ?? first };
}

function toStopped(why: Stop, ms: number): HookOutcome {
  if (why === 'cancelled') return { kind: 'cancelled' };
  return failed('timeout', `it did not answer within ${Number((ms / 1000).toFixed(3))} s`);
}

/** Callbacks, prompts and addresses: one question, one answer. */
async function answer(
  event: HookEvent,
  action: Exclude<HookAction, { kind: 'command' | 'unusable' }>,
  facts: Pick<RunFacts, 'input' | 'toolUseId' | 'signal'>,
  parts: RunParts,
): Promise<HookOutcome> {
  const { input, toolUseId, signal } = facts;
  switch (action.kind) {
    case 'callback': {
      const copy = JSON.parse(input) as Record<string, unknown>;
      return readAnswer(event, await action.ask(action.callbackId, copy, toolUseId, { signal }));
    }
    case 'prompt': {
      const { prompt, model } = action;
      return readJudgement(await parts.callModel(toPrompt(prompt, input), { signal, ...(model && { model }) }));
    }
    case 'http': {
      const { url } = action;
      const headers = fillHeaders(action, parts.env);
      const posted = parts.post(url, input, { 'content-type': 'application/json', ...headers }, { signal });
      return readResponse(event, await posted.catch((thrown: unknown) => throwWithout({ url, headers }, thrown)));
    }
    case 'mcp-tool': {
      const told = JSON.parse(input) as Record<string, unknown>;
      const given = action.input === undefined ? told : (fillInput(action.input, told) as Record<string, unknown>);
      return readText(event, await parts.askTool(action.tool, given, { toolUseId, signal }));
    }
  }
}

const HOW_TO_ANSWER =
  'Answer with JSON and nothing else: {"ok": true} to let it pass, or {"ok": false, "reason": "why not"}.';

function toPrompt(prompt: string, input: string): string {
  const filled = prompt.includes('$ARGUMENTS') ? prompt.split('$ARGUMENTS').join(input) : `${prompt}\n\n${input}`;
  return `${filled}\n\n${HOW_TO_ANSWER}`;
}

/** `${tool_input.path}` stands for a field of the event: a text that is nothing else becomes its value. */
function fillInput(value: unknown, facts: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map((each) => fillInput(each, facts));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillInput(each, facts)]));
  }
  if (typeof value !== 'string') return value;
  const whole = /^\$\{([\w.]+)\}$/.exec(value)?.[1];
  if (whole !== undefined) return fieldOf(facts, whole);
  return value.replace(/\$\{([\w.]+)\}/g, (_, path: string) => {
    const field = fieldOf(facts, path);
    return typeof field === 'string' ? field : (JSON.stringify(field) ?? '');
  });
}

function fieldOf(facts: Record<string, unknown>, path: string): unknown {
  let value: unknown = facts;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** `$NAME` and `${NAME}` stand for variables that the hook names in `allowedEnvVars`, and for nothing else. */
function fillHeaders(
  { headers, allowedEnvVars }: Extract<HookAction, { kind: 'http' }>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const fill = (text: string): string =>
    text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (_, plain?: string, braced?: string) => {
      const name = plain ?? braced ?? '';
      return allowedEnvVars.includes(name) && Object.hasOwn(env, name) ? (env[name] ?? '') : '';
    });
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fill(value)]));
}

interface CommandRun {
  action: Extract<HookAction, { kind: 'command' }>;
  box: TimeBox;
  show: HookShow;
  facts: RunFacts;
  parts: RunParts;
}

async function runCommand(definition: HookDefinition, run: CommandRun): Promise<HookOutcome> {
  const { action, box, show, facts, parts } = run;
  const { input, cwd } = facts;
  const running = startCommand(parts.runProcess, {
    command: action.command,
    input,
    cwd,
    env: { ...parts.env, ...action.env },
    signal: box.signal,
  });
  show.watch(running.printed);
  const ended = endOf(definition.event, running, run);
  const first = action.async ? { timeoutMs: definition.timeoutMs } : await Promise.race([ended, running.wentAsync]);
  if ('kind' in first) return first;
  box.letGo(first.timeoutMs ?? ASYNC_MS);
  facts.onAsync({ ended, cancel: box.cancel });
  return { kind: 'nothing' };
}

/** Resolves when the command has ended, or had to be: its group is then being killed. */
async function endOf(event: HookEvent, running: RunningCommand, { box, show }: CommandRun): Promise<HookOutcome> {
  let outcome: HookOutcome;
  let exitCode: number | undefined;
  try {
    // What it was stopped for is known before its end is.
    const end = await Promise.race([box.stopped, running.ended]);
    if (typeof end === 'string') outcome = toStopped(end, box.ms);
    else {
      exitCode = end.code ?? undefined;
      outcome = await readExit(event, { exit: end, ...running.printed() });
    }
  } catch (thrown) {
    outcome = failed('start', saidBy(thrown));
  } finally {
    box.release();
  }
  const exit = exitCode === undefined ? {} : { exitCode };
  show.end({ ...hideOutput(running.printed(), outcome), ...exit, outcome: stateOf(outcome) });
  return outcome;
}

const isSuppressed = (outcome: HookOutcome): boolean =>
  outcome.kind === 'output' && outcome.output.suppressOutput === true;

const hideOutput = ({ stdout, stderr, output }: Printed, outcome: HookOutcome): Shown =>
  isSuppressed(outcome) ? { stdout: '', stderr, output: stderr } : { stdout, stderr, output };

/** Hooks that print nothing are shown by what they said. */
function showAnswer(outcome: HookOutcome): Shown {
  if (outcome.kind === 'failed') {
    const { message } = outcome.failure;
    return { stdout: '', stderr: message, output: message };
  }
  const said =
    outcome.kind === 'output' && !isSuppressed(outcome)
      ? JSON.stringify(outcome.output)
      : outcome.kind === 'block'
        ? outcome.reason
        : '';
  return { stdout: said, stderr: '', output: said };
}

const stateOf = ({ kind }: HookOutcome): 'success' | 'error' | 'cancelled' => {
  if (kind === 'cancelled') return 'cancelled';
  return kind === 'failed' || kind === 'warning' || kind === 'block' ? 'error' : 'success';
};
