/** What hooks say at the start and at the end of a turn. */
import type { UserMessage } from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import type { AgentIdentity } from '../agents/identity.js';
import { toBlocks } from '../sessions/entry.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { toReminder } from '../reminder.js';
import { contextText, promptBlocked, stopFeedback } from './texts.js';
import type { HookVerdict } from './verdict.js';
import { warnOfHook } from './warning.js';

/** What becomes of a prompt. */
export interface PromptOpening {
  /** For the model, before the prompt. */
  before: string[];
  /** For the model, after it. */
  after: string[];
  /** The prompt itself does not go to the model: what stands after it takes its place. */
  replaced: boolean;
  /** A hook does not let the prompt through; why. */
  blocked?: string;
  /** The turn was interrupted before the hooks had decided about the prompt: nobody has let it through. */
  interrupted?: boolean;
}

/** How a session comes to its first prompt. */
export type SessionSource = 'startup' | 'resume' | 'clear';

/** A Stop hook that never lets go must not keep a turn for ever. */
const MAX_BLOCKED_STOPS = 10;

/** Tells the hooks of a session that starts, and of a prompt. `source` is absent when the session has started before. */
export async function openPrompt(
  scope: SessionScope,
  { message, source }: { message: UserMessage; source?: SessionSource },
  signal: AbortSignal,
): Promise<PromptOpening> {
  const { hooks } = scope;
  const { before, stopped } = source === undefined ? { before: [] } : await openSession(scope, source, signal);
  const opening: PromptOpening = { before, after: [], replaced: false };
  const prompt = textOf(message);
  if (stopped !== undefined) return { ...opening, blocked: promptBlocked(stopped.event, { ...stopped, prompt }) };
  if (!hooks.has('UserPromptSubmit')) return opening;
  const verdict = await hooks.fire('UserPromptSubmit', { prompt }, { signal });
  if (verdict.cancelled && signal.aborted) return { ...opening, interrupted: true };
  const reason = verdict.block?.reason ?? stopReasonOf(verdict);
  return {
    before,
    after: toContexts('UserPromptSubmit', verdict),
    replaced: verdict.suppressOriginalPrompt,
    ...(reason !== undefined && { blocked: promptBlocked('UserPromptSubmit', { reason, prompt }) }),
  };
}

const stopReasonOf = ({ stop }: HookVerdict): string | undefined => stop && (stop.reason ?? 'A hook ended the turn.');

interface SessionOpening {
  before: string[];
  /** A hook does not want the turn to go on. */
  stopped?: { event: HookEvent; reason: string };
}

/** What comes before the first prompt. A folder is set up before a session in it starts. */
async function openSession(
  { hooks, state, config }: SessionScope,
  source: SessionSource,
  signal: AbortSignal,
): Promise<SessionOpening> {
  const { setup: trigger } = config;
  const opening: SessionOpening = { before: [] };
  const take = (event: HookEvent, verdict: HookVerdict): void => {
    opening.before.push(...toContexts(event, verdict));
    const reason = stopReasonOf(verdict);
    if (reason !== undefined) opening.stopped ??= { event, reason };
  };
  if (trigger !== undefined && source !== 'clear' && hooks.has('Setup'))
    take('Setup', await hooks.fire('Setup', { trigger }, { signal }));
  if (hooks.has('SessionStart')) {
    take('SessionStart', await hooks.fire('SessionStart', { source, model: state.model.model }, { signal }));
  }
  return opening;
}

export const toContexts = (event: HookEvent, { additionalContext }: HookVerdict): string[] =>
  additionalContext.map((context) => toReminder(contextText(event, context)));

/** What a message says, without its images. */
export const textOf = ({ message: { content } }: UserMessage): string =>
  toBlocks(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');

/** Whether hooks let a turn end. When they do not, the log says why, and so what comes next. */
export async function mayStop(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<boolean> {
  const { hooks, recorder, agent } = scope;
  const event = agent === undefined ? 'Stop' : 'SubagentStop';
  if (!hooks.has(event)) return true;
  const stopping = { stop_hook_active: tally.stopsBlocked > 0, last_assistant_message: tally.text.last };
  const verdict = await (agent === undefined
    ? hooks.fire('Stop', stopping, { signal })
    : hooks.fire('SubagentStop', { ...stopping, ...factsOf(agent, recorder) }, { signal }));
  const contexts = toContexts(event, verdict);
  if (verdict.block === undefined || verdict.stop || signal.aborted) {
    hooks.tellLater(contexts);
    return true;
  }
  if (tally.stopsBlocked >= MAX_BLOCKED_STOPS) {
    hooks.tellLater(contexts);
    warnOfHook(
      scope,
      `${event} hooks have kept the turn going ${MAX_BLOCKED_STOPS} times, so it ends now although they object: ${verdict.block.reason}`,
    );
    return true;
  }
  const texts = [stopFeedback(event, verdict.block.reason), ...contexts];
  const content = texts.map((text) => ({ type: 'text' as const, text }));
  recorder.user({ content, isMeta: true, show: { isSynthetic: true } });
  tally.stopsBlocked += 1;
  tally.rounds += 1;
  tally.text.joined = '';
  return false;
}

const factsOf = ({ id, type }: AgentIdentity, { log }: SessionScope['recorder']) => ({
  agent_id: id,
  agent_type: type,
  agent_transcript_path: log.path ?? '',
});
