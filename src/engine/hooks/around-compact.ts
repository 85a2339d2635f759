/** What hooks say before and after the conversation is summed up. */
import type { SessionScope } from '../scope.js';
import { toReminder } from '../reminder.js';
import { contextText } from './texts.js';

export type CompactTrigger = 'manual' | 'auto';

export interface CompactOpening {
  /** What the summary must heed. */
  instructions: string[];
  /** A hook does not let it happen; why. */
  blocked?: string;
}

export async function beforeCompact(
  { hooks }: SessionScope,
  { trigger, instructions }: { trigger: CompactTrigger; instructions: string | undefined },
  signal: AbortSignal,
): Promise<CompactOpening> {
  if (!hooks.has('PreCompact')) return { instructions: [] };
  const verdict = await hooks.fire('PreCompact', { trigger, custom_instructions: instructions ?? null }, { signal });
  const blocked = verdict.block?.reason ?? verdict.stop?.reason ?? (verdict.stop && 'A hook does not want it.');
  return { instructions: verdict.additionalContext, ...(blocked !== undefined && { blocked }) };
}

/** Tells that there is a summary and that the session goes on from it; gives what the model shall be told beside it. */
export async function afterCompact(
  { hooks, state }: SessionScope,
  { trigger, summary }: { trigger: CompactTrigger; summary: string },
  signal: AbortSignal,
): Promise<string[]> {
  if (hooks.has('PostCompact')) await hooks.fire('PostCompact', { trigger, compact_summary: summary }, { signal });
  if (!hooks.has('SessionStart')) return [];
  const verdict = await hooks.fire('SessionStart', { source: 'compact', model: state.model.model }, { signal });
  return verdict.additionalContext.map((context) => toReminder(contextText('SessionStart', context)));
}
