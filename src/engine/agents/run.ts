/** Runs a subagent from its prompt to its last word. */
import type { UserContentBlock } from '../../protocol/index.js';
import { toHeddleError } from '../../protocol/plain.js';
import type { KnownSkills } from '../commands/skill-calls.js';
import { knownSkills } from '../commands/skills.js';
import { tellSkills } from '../commands/skill-news.js';
import type { Agent } from '../definitions/definition.js';
import { contextText } from '../hooks/texts.js';
import { openCalls } from '../next-action.js';
import type { Ending } from '../outcome.js';
import { PLAN_NOTE_FOR_AGENTS } from '../plan/texts.js';
import { toReminder } from '../reminder.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { isLifeEntry } from '../sessions/entry.js';
import { cutAnswers } from '../sessions/resume.js';
import { surroundingsOf } from '../surroundings.js';
import { emptyTally, startTally } from '../tally.js';
import { settleCalls } from '../tools/batch.js';
import { turn } from '../turn.js';
import { describeHidden } from './child-tools.js';
import type { AgentOutcome } from './session-agents.js';

export interface AgentRun {
  agent: Agent;
  prompt: string;
  /** What stands before it. */
  before: readonly UserContentBlock[];
  /** Counts the calls that it makes. */
  voice: { readonly toolUses: number };
}

/** Never throws. */
export async function runAgent(child: SessionScope, run: AgentRun, signal: AbortSignal): Promise<AgentOutcome> {
  const { recorder, clock, spending } = child;
  const startedAt = clock.monotonic();
  let tally = emptyTally(child);
  let ending: Ending;
  try {
    tally = startTally(child);
    ending = await converse(child, { run, tally }, signal);
    if (ending.kind === 'api-error') await tellFailure(child, { ending, tally }, signal);
  } catch (thrown) {
    const error = toHeddleError(thrown);
    child.logger('error', 'an agent failed', { error: error.stack ?? error.message });
    ending = { kind: 'failed', errors: [error.message], code: error.code };
  }
  void recorder.life({ kind: 'turn', state: 'ended', subtype: ending.kind === 'done' ? 'success' : ending.kind });
  return {
    ...toStatus(ending, tally),
    // Whoever is interrupted themselves need not be told.
    ...(ending.kind === 'interrupted' && !signal.aborted && { interrupt: true }),
    toolUses: run.voice.toolUses,
    durationMs: Math.round(clock.monotonic() - startedAt),
    totalTokens: spending.totalTokens,
  };
}

interface Conversation {
  run: AgentRun;
  tally: TurnTally;
}

async function converse(child: SessionScope, { run, tally }: Conversation, signal: AbortSignal): Promise<Ending> {
  const { recorder, clock } = child;
  const isFirst = !recorder.log.entries.some((entry) => isLifeEntry(entry) && entry.kind === 'turn');
  if (!isFirst) settleOld(child);
  const promptUuid = clock.uuid();
  void recorder.life({ kind: 'turn', state: 'started', promptUuid });
  const opening = isFirst ? await openingOf(child, { run, tally }, signal) : undefined;
  if (opening?.interrupt) return { kind: 'interrupted', during: 'tools' };
  const before = [
    ...(opening?.texts ?? []),
    ...(child.state.mode === 'plan' ? [toReminder(PLAN_NOTE_FOR_AGENTS)] : []),
    ...(run.agent.criticalSystemReminder_EXPERIMENTAL
      ? [toReminder(run.agent.criticalSystemReminder_EXPERIMENTAL)]
      : []),
    ...(await startHooks(child, signal)),
  ];
  const content = [...before.map((text) => ({ type: 'text' as const, text })), ...run.before];
  if (content.length > 0) recorder.user({ content, isMeta: true, show: false });
  recorder.user({ content: [{ type: 'text', text: run.prompt }], uuid: promptUuid, show: {} });
  return turn(child, tally, signal);
}

/** What it knows before it is told its task: the place, instructions, skills, what its definition says first. */
async function openingOf(
  child: SessionScope,
  { run: { agent } }: Conversation,
  signal: AbortSignal,
): Promise<KnownSkills> {
  const [surroundings, instructions] = await Promise.all([
    surroundingsOf(child, signal),
    child.memory.tellAll('session_start', signal),
  ]);
  const known = await knownSkills(child, agent, signal);
  const hidden = describeHidden(child);
  const callable = tellSkills(child);
  const texts = [
    surroundings,
    ...(instructions === undefined ? [] : [instructions]),
    ...(hidden === undefined ? [] : [toReminder(hidden)]),
    ...(callable === undefined ? [] : [callable]),
    ...known.texts,
    ...(agent.initialPrompt ? [agent.initialPrompt] : []),
  ];
  return { ...known, texts };
}

async function startHooks({ hooks, agent }: SessionScope, signal: AbortSignal): Promise<string[]> {
  if (agent === undefined || !hooks.has('SubagentStart')) return [];
  const fields = { agent_id: agent.id, agent_type: agent.type };
  const { additionalContext } = await hooks.fire('SubagentStart', fields, { signal });
  return additionalContext.map((context) => toReminder(contextText('SubagentStart', context)));
}

/** What a dead process left open in its log ends here; nothing of it runs again. */
function settleOld(child: SessionScope): void {
  const { recorder, catalog, spending } = child;
  for (const { messageId, model, usage } of cutAnswers(recorder.log.entries)) {
    const microCents = catalog.microCentsOf(model, usage);
    spending.add({ messageId, model, usage, microCents });
    const cost = { messageId, model, usage, microCents: microCents ?? null };
    void recorder.life({ kind: 'aborted', ...cost, reason: 'cut_off' });
  }
  settleCalls(child, openCalls(recorder.log.entries));
}

async function tellFailure(
  { hooks }: SessionScope,
  { ending, tally }: { ending: Extract<Ending, { kind: 'api-error' }>; tally: TurnTally },
  signal: AbortSignal,
): Promise<void> {
  const { error, text: error_details } = ending;
  const said = tally.text.last && { last_assistant_message: tally.text.last };
  await hooks.fire('StopFailure', { error, error_details, ...said }, { signal });
}

function toStatus(ending: Ending, tally: TurnTally): Pick<AgentOutcome, 'status' | 'text'> {
  const said = tally.text.joined + tally.text.last;
  const after = (why: string): string => (said === '' ? why : `${said}\n\n[${why}]`);
  switch (ending.kind) {
    case 'done':
      return { status: 'completed', text: ending.text };
    case 'limit':
      return { status: 'completed', text: after(`The agent stopped before it was done: ${ending.limit.text}.`) };
    case 'stopped':
      return {
        status: 'completed',
        text: after(`A hook ended the agent${ending.reason ? `: ${ending.reason}` : ''}.`),
      };
    case 'interrupted':
      return { status: 'stopped', text: after('The agent was interrupted.') };
    case 'api-error':
    case 'blocked':
    case 'local':
      return { status: 'failed', text: after(ending.text) };
    case 'failed':
      return { status: 'failed', text: after(ending.errors.join(' ')) };
  }
}
