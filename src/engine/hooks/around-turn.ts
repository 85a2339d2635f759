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

/** What hooks said to the start of a session; nothing when it has started before. */
export interface SessionOpening {
  /** For the model, before its first prompt. */
  before: string[];
  /** A hook does not want the turn to go on. */
  stopped?: { event: HookEvent; reason: string };
}

/** Why a message is not answered; undefined: the session may start. */
export const blockedBy = ({ stopped }: SessionOpening, message: UserMessage): string | undefined =>
  stopped && promptBlocked(stopped.event, { ...stopped, prompt: textOf(message) });

/** A Stop hook that never lets go must not keep a turn for ever. */
const MAX_BLOCKED_STOPS = 10;

/** Tells the hooks of a prompt, unless the session may not start. */
export async function openPrompt(
  { hooks }: SessionScope,
  { message, start }: { message: UserMessage; start: SessionOpening },
  signal: AbortSignal,
): Promise<PromptOpening> {
  const { before } = start;
  const opening: PromptOpening = { before, after: [], replaced: false };
  const prompt = textOf(message);
  const blocked = blockedBy(start, message);
  if (blocked !== undefined) return { ...opening, blocked };
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

export const stopReasonOf = ({ stop }: HookVerdict): string | undefined =>
  stop && (stop.reason ?? 'A hook ended the turn.');

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
  const stopping = {
    stop_hook_active: tally.stopsBlocked > 0,
    last_assistant_message: tally.text.last,
    background_tasks: scope.tasks.told,
  };
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
