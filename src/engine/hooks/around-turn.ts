/** What hooks say at the start and at the end of a turn. */
import type { UserMessage } from '../../protocol/index.js';
import { toBlocks } from '../sessions/entry.js';
import type { SessionScope, TurnTally } from '../scope.js';
import type { HookVerdict } from './verdict.js';
import { contextText, promptBlocked, stopFeedback, toReminder } from './texts.js';

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
}

/** A Stop hook that never lets go must not keep a turn for ever. */
const MAX_BLOCKED_STOPS = 10;

/** Tells the hooks of a session that starts, and of a prompt. `source` is absent when the session has started before. */
export async function openPrompt(
  scope: SessionScope,
  { message, source }: { message: UserMessage; source?: 'startup' | 'resume' },
  signal: AbortSignal,
): Promise<PromptOpening> {
  const { hooks, state } = scope;
  const started =
    source !== undefined && hooks.has('SessionStart')
      ? await hooks.fire('SessionStart', { source, model: state.model.model }, { signal })
      : undefined;
  const before = started === undefined ? [] : toContexts('SessionStart', started);
  if (!hooks.has('UserPromptSubmit')) return { before, after: [], replaced: false };
  const prompt = textOf(message);
  const verdict = await hooks.fire('UserPromptSubmit', { prompt }, { signal });
  const reason = verdict.block?.reason ?? verdict.stop?.reason ?? (verdict.stop && 'A hook ended the turn.');
  return {
    before,
    after: toContexts('UserPromptSubmit', verdict),
    replaced: verdict.suppressOriginalPrompt,
    ...(reason !== undefined && { blocked: promptBlocked('UserPromptSubmit', { reason, prompt }) }),
  };
}

const toContexts = (event: 'SessionStart' | 'UserPromptSubmit', { additionalContext }: HookVerdict): string[] =>
  additionalContext.map((context) => toReminder(contextText(event, context)));

const textOf = ({ message: { content } }: UserMessage): string =>
  toBlocks(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n');

/** Whether hooks let a turn end. When they do not, the log says why, and so what comes next. */
export async function mayStop(scope: SessionScope, tally: TurnTally, signal: AbortSignal): Promise<boolean> {
  const { hooks, recorder } = scope;
  if (!hooks.has('Stop')) return true;
  const stop_hook_active = tally.stopsBlocked > 0;
  const verdict = await hooks.fire('Stop', { stop_hook_active, last_assistant_message: tally.text.last }, { signal });
  if (verdict.block === undefined || verdict.stop || signal.aborted) return true;
  if (tally.stopsBlocked >= MAX_BLOCKED_STOPS) {
    scope.logger('warn', `Stop hooks have kept the turn going ${MAX_BLOCKED_STOPS} times; it ends now.`);
    return true;
  }
  const text = stopFeedback('Stop', verdict.block.reason);
  recorder.user({ content: [{ type: 'text', text }], isMeta: true, show: { isSynthetic: true } });
  tally.stopsBlocked += 1;
  tally.rounds += 1;
  tally.text.joined = '';
  return false;
}
