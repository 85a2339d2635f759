import type {
  FileStat,
  PermissionMode,
  PermissionResult,
  ToolAccess,
  ToolUseBlock,
  WholeTool,
} from '../../protocol/index.js';
import { applyPermissions } from '../choices.js';
import type { OpenCall } from '../next-action.js';
import type { SessionScope } from '../scope.js';
import type { Decision, PermissionPolicy } from './decide.js';

/** What became of asking: the input to run with, or why not. */
export type Permission =
  /** `judgedOn`: what the decision rests on; when that has changed until the call runs, it must be judged again. */
  /** `exclusions`: what a search must leave out. */
  | { kind: 'allow'; input: Record<string, unknown>; judgedOn: Grounds; exclusions?: readonly string[] }
  | { kind: 'deny'; message: string; interrupt: boolean };

/** What a decision about a call rests on: the folder it starts from, and where the places it touches really are. */
export interface Grounds {
  /** Equal for equal grounds. */
  key: string;
  /** Each place as the tool names it, and with its links resolved. */
  places: ReadonlyMap<string, string>;
}

export interface JudgedCall {
  call: OpenCall;
  tool: WholeTool;
  input: Record<string, unknown>;
  /** What PreToolUse hooks want to be done about it. */
  hook?: { verdict: 'allow' | 'ask' | 'deny'; reason: string };
}

/** A call that someone is asked about, and what the question rests on. */
interface AskedCall extends JudgedCall {
  judgedOn: Grounds;
}

/** Decides about a call and, where the decision is to ask, asks. The only place that does. Never throws. */
export async function resolvePermission(
  scope: SessionScope,
  judged: JudgedCall,
  signal: AbortSignal,
): Promise<Permission> {
  let judgement: Judgement;
  try {
    const { answer } = judged.call;
    if (answer) return await fromLog(scope, judged, answer);
    judgement = await judge(scope, judged);
  } catch (thrown) {
    return deny(`The call could not be judged: ${messageOf(thrown)}`);
  }
  const { judgedOn } = judgement;
  const decision = withHook(judgement.decision, judged, scope.state.mode);
  if (decision.verdict === 'allow') return { kind: 'allow', input: judged.input, judgedOn, ...exclusionsOf(decision) };
  if (decision.verdict === 'deny') return denyAloud(scope, judged, decision);
  const asked = { ...judged, judgedOn };
  const settled = await askHooks(scope, asked, decision, signal);
  if (settled) return settled;
  if (!scope.questions.canAsk) return denyAloud(scope, judged, decision);
  return ask(scope, asked, decision, signal);
}

/** A person who approves a search approves what may be shown of it. */
const exclusionsOf = ({ exclusions }: Decision): { exclusions?: readonly string[] } =>
  exclusions ? { exclusions } : {};

/** A hook may forbid and may ask whatever the mode; what it allows no rule may deny or ask about. */
function withHook(decision: Decision, { hook, tool }: JudgedCall, mode: PermissionMode): Decision {
  if (hook === undefined || decision.verdict === 'deny') return decision;
  const { reason } = hook;
  if (hook.verdict === 'deny') return { verdict: 'deny', reason, reasonType: 'hook' };
  if (hook.verdict === 'ask') {
    if (mode !== 'dontAsk') return { ...decision, verdict: 'ask', reason, reasonType: 'hook' };
    const why = `Permission to use ${tool.name} has been denied because a hook asks, and Heddle is running in don't ask mode`;
    return { verdict: 'deny', reason: `${why} (${reason}).`, reasonType: 'hook' };
  }
  const isRuled = decision.verdict === 'ask' && decision.reasonType === 'rule';
  return isRuled ? decision : { ...decision, verdict: 'allow', reason, reasonType: 'hook' };
}

/** PermissionRequest hooks may answer in the place of a person. */
async function askHooks(
  scope: SessionScope,
  judged: AskedCall,
  decision: Decision,
  signal: AbortSignal,
): Promise<Permission | undefined> {
  if (!scope.hooks.has('PermissionRequest')) return undefined;
  const { tool, input, call } = judged;
  const { suggestions } = decision;
  const fields = {
    tool_name: tool.name,
    tool_input: input,
    ...(suggestions && { permission_suggestions: suggestions }),
  };
  const { permission } = await scope.hooks.fire('PermissionRequest', fields, { signal, toolUseId: call.block.id });
  if (permission === undefined || signal.aborted) return undefined;
  try {
    const message = 'message' in permission ? permission.message : undefined;
    return await accept(scope, judged, {
      message: message ?? 'A hook denied this call.',
      ...permission,
    } as PermissionResult);
  } catch (thrown) {
    return answered(
      scope,
      call.block,
      deny(`A hook allowed the call with an input that cannot be used: ${messageOf(thrown)}`),
    );
  }
}

export const groundsOf = async (scope: SessionScope, judged: Pick<JudgedCall, 'tool' | 'input'>): Promise<Grounds> =>
  toGrounds(scope, await placesOf(scope, judged));

type Place = ToolAccess & { real: string; kind?: FileStat['kind'] };

const toGrounds = ({ state }: SessionScope, places: readonly Place[]): Grounds => ({
  key: JSON.stringify([state.cwd, places.map(({ path, real, access }) => [path, real, access])]),
  places: new Map(places.map(({ path, real }) => [path, real])),
});

const placesOf = (
  { state, workspace }: SessionScope,
  { tool, input }: Pick<JudgedCall, 'tool' | 'input'>,
): Promise<Place[]> =>
  Promise.all(
    (tool.accesses?.(input, { cwd: state.cwd }) ?? []).map(async (access) => {
      const real = await workspace.realPath(access.path);
      const kind = (await workspace.stat(real).catch(() => undefined))?.kind;
      return { ...access, real, ...(kind && { kind }) };
    }),
  );

interface Judgement {
  decision: Decision;
  judgedOn: Grounds;
}

async function judge(scope: SessionScope, { tool, input }: JudgedCall): Promise<Judgement> {
  const { state, guard, config } = scope;
  const places = await placesOf(scope, { tool, input });
  // Loaded with the first call that is judged: the parser of shell lines is large.
  const { decidePermission } = await import('./decide.js');
  const decision = decidePermission(
    {
      tool: tool.name,
      input,
      readOnly: tool.isReadOnly(input, { cwd: state.cwd }),
      edits: tool.edits ?? false,
      accesses: places.map(({ path, real, access, kind }) => ({
        path: real,
        given: path,
        access,
        ...(kind && { kind }),
      })),
      ...(typeof input.command === 'string' && { command: input.command }),
    },
    {
      mode: state.mode,
      book: await guard.rules(),
      roots: state.roots,
      home: guard.home,
      cwd: state.cwd,
      trusted: guard.trusted,
      privateHosts: (config.env.HEDDLE_WEB_PRIVATE_HOSTS ?? '').split(',').filter((host) => host !== ''),
      ...(scope.kept.folder !== undefined && { ownFolder: scope.kept.folder }),
      ...sandboxedOf(scope, input),
    },
  );
  return { decision, judgedOn: toGrounds(scope, places) };
}

/** Only a command that really runs in the sandbox may be allowed because of it. */
function sandboxedOf(
  { sandbox, guard }: SessionScope,
  { command, dangerouslyDisableSandbox }: Record<string, unknown>,
): Pick<PermissionPolicy, 'sandboxed'> {
  if (sandbox === undefined || sandbox.unavailable !== undefined || dangerouslyDisableSandbox === true) return {};
  if (typeof command !== 'string' || !sandbox.covers(command)) return {};
  return { sandboxed: { autoAllow: guard.settings.value.sandbox?.autoAllowBashIfSandboxed === true } };
}

/** Whether a rule is about a call, for hooks that name one. Throws when the rule cannot be used. */
export async function matchesRule(
  scope: SessionScope,
  rule: string,
  { toolName, input }: { toolName: string; input: unknown },
): Promise<boolean> {
  const { guard, state } = scope;
  const tool = state.tools.get(toolName);
  const given = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const { compileRules } = await import('./rules/book.js');
  const base = guard.settings.files.projectRoot;
  const book = compileRules([{ name: 'session', base, deny: [rule] }], { home: guard.home });
  const [problem] = book.problems;
  if (problem !== undefined) throw new Error(problem.problem);
  const places = tool === undefined ? [] : await placesOf(scope, { tool, input: given });
  const { decidePermission } = await import('./decide.js');
  const decision = decidePermission(
    {
      tool: toolName,
      input: given,
      readOnly: false,
      edits: tool?.edits ?? false,
      accesses: places.map(({ path, real, access }) => ({ path: real, given: path, access })),
      ...(typeof given.command === 'string' && { command: given.command }),
    },
    { mode: 'default', book, roots: state.roots, home: guard.home, cwd: state.cwd, trusted: guard.trusted },
  );
  // What may be meant counts as meant: a hook that should have run is worse than one that need not have.
  return decision.rule !== undefined;
}

async function ask(
  scope: SessionScope,
  judged: AskedCall,
  decision: Decision,
  signal: AbortSignal,
): Promise<Permission> {
  const { block } = judged.call;
  void scope.hooks.fire(
    'Notification',
    { message: `Heddle needs your permission to use ${judged.tool.name}`, notification_type: 'permission_prompt' },
    { signal },
  );
  const reply = await scope.questions.ask(await toQuestion(scope, judged, decision), {
    recorder: scope.recorder,
    signal,
  });
  if (signal.aborted) return deny('The request was interrupted.', true);
  if (reply.kind === 'nobody') return denyAloud(scope, judged, decision);
  if (reply.kind === 'failed')
    return answered(scope, block, deny(`Tool permission request failed: ${reply.error.message}`));
  try {
    const { toPermissionResult } = await import('../../protocol/index.js');
    return await accept(scope, judged, toPermissionResult(reply.value));
  } catch (thrown) {
    const text = `Tool permission request failed: ${messageOf(thrown)}`;
    sayAloud(scope, text);
    return answered(scope, block, deny(text));
  }
}

/** An answer that cannot be used is the host's to mend: it must not be known to the model alone. */
function sayAloud(scope: SessionScope, content: string): void {
  scope.logger('warn', content);
  const { clock, id, recorder } = scope;
  const uuid = clock.uuid();
  recorder.emit({ type: 'system', subtype: 'informational', level: 'error', content, uuid, session_id: id });
}

/** Takes the answer of a host. What it allows is judged again: a denial holds for a changed input, and one that came meanwhile. */
async function accept(scope: SessionScope, judged: AskedCall, result: PermissionResult): Promise<Permission> {
  const { block } = judged.call;
  if (result.behavior === 'deny') return answered(scope, block, deny(result.message, result.interrupt));
  const input = result.updatedInput === undefined ? judged.input : await judged.tool.parse(result.updatedInput);
  const { decision, judgedOn: now } = await judge(scope, { ...judged, input });
  if (decision.verdict === 'deny') return answered(scope, block, deny(decision.reason));
  // What was approved is what was shown: when a link has moved since, the pipeline finds that the grounds differ.
  const judgedOn = result.updatedInput === undefined ? judged.judgedOn : now;
  await applyPermissions(scope, result.updatedPermissions ?? []);
  return answered(scope, block, { kind: 'allow', input, judgedOn, ...exclusionsOf(decision) });
}

/** An answer is on the disk before it has effects. */
async function answered(scope: SessionScope, block: ToolUseBlock, permission: Permission): Promise<Permission> {
  const outcome =
    permission.kind === 'allow'
      ? { behavior: 'allow' as const, updatedInput: permission.input }
      : { behavior: 'deny' as const, message: permission.message };
  await scope.recorder.life({ kind: 'call', state: 'answered', toolUseId: block.id, ...outcome }, { sync: true });
  return permission;
}

async function fromLog(
  scope: SessionScope,
  judged: JudgedCall,
  answer: NonNullable<OpenCall['answer']>,
): Promise<Permission> {
  if (answer.behavior === 'deny') return deny(answer.message ?? 'The call was denied.');
  const input = answer.updatedInput ?? judged.input;
  // What was approved then may have been denied since.
  const { decision, judgedOn } = await judge(scope, { ...judged, input });
  if (decision.verdict === 'deny') return deny(decision.reason);
  return { kind: 'allow', input, judgedOn, ...exclusionsOf(decision) };
}

/** A denial that nobody was asked about is shown, so that it is not known to the model alone. */
function denyAloud(scope: SessionScope, { call, tool }: JudgedCall, decision: Decision): Permission {
  const message =
    decision.verdict === 'ask'
      ? `${decision.reason.replace(/\.$/, '')}. There is nobody here who can be asked for approval, so the call was not run.`
      : decision.reason;
  void scope.hooks.fire(
    'PermissionDenied',
    { tool_name: tool.name, tool_input: call.block.input, tool_use_id: call.block.id, reason: message },
    { signal: new AbortController().signal, toolUseId: call.block.id },
  );
  scope.recorder.emit({
    type: 'system',
    subtype: 'permission_denied',
    tool_name: tool.name,
    tool_use_id: call.block.id,
    message,
    decision_reason: decision.reason,
    decision_reason_type: decision.reasonType,
    uuid: scope.clock.uuid(),
    session_id: scope.id,
  });
  return deny(message);
}

async function toQuestion(scope: SessionScope, { call, tool, input }: JudgedCall, decision: Decision) {
  const { explainDecision } = await import('./explain.js');
  const description = typeof input.description === 'string' ? input.description : undefined;
  return {
    id: scope.clock.uuid(),
    tool_name: tool.name,
    display_name: tool.name,
    input,
    tool_use_id: call.block.id,
    ...(description !== undefined && { description }),
    ...(decision.suggestions && { permission_suggestions: decision.suggestions }),
    ...(decision.blockedPath !== undefined && { blocked_path: decision.blockedPath }),
    decision_reason: decision.reason,
    decision_reason_type: decision.reasonType,
    ...(decision.layer !== undefined && { decision_reason_rule_source: decision.layer }),
    explanation: explainDecision(decision),
    cwd: scope.state.cwd,
  };
}

const deny = (message: string, interrupt = false): Permission => ({ kind: 'deny', message, interrupt });

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
