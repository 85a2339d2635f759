/** A skill that runs in an agent, called by a person: the answer of the agent is the result of the turn. */
import { toHeddleError } from '../../protocol/plain.js';
import { wholeText } from '../agents/end-output.js';
import type { AgentOutcome } from '../agents/session-agents.js';
import type { Ending } from '../outcome.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { toBlocks } from '../sessions/entry.js';
import { type ForkedSkill, type ForkEnd, forkSkill, newCallId } from './fork-skill.js';
import type { Prompt } from './prompt.js';
import { showLocal } from './show-local.js';

export interface ForkedPrompt {
  file: ForkedSkill;
  /** Says which call it was. */
  header: string;
  prompt: Prompt;
  tally: TurnTally;
}

const INTERRUPTED: Ending = { kind: 'interrupted', during: 'tools' };

/** The conversation keeps the call and its answer. Never throws. */
export async function answerForked(
  scope: SessionScope,
  { file, header, prompt: { content = [], before = [], after } }: ForkedPrompt,
  signal: AbortSignal,
): Promise<Prompt | Ending> {
  const { name } = file;
  const blocks = toBlocks(content);
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const others = blocks.filter(({ type }) => type !== 'text');
  let end: ForkEnd;
  try {
    end = await forkSkill(
      scope,
      {
        file,
        prompt: [...texts, ...after].join('\n\n'),
        before: [...before, ...others],
        toolUseId: newCallId(scope),
      },
      signal,
    );
  } catch (thrown) {
    if (signal.aborted) return INTERRUPTED;
    return { kind: 'local', name, text: toHeddleError(thrown).message, isError: true };
  }
  if (end.kind === 'denied') {
    if (end.interrupt) return INTERRUPTED;
    return { kind: 'local', name, text: `/${name} was not run: ${end.message}`, isError: true };
  }
  const text = wholeText(end.outcome);
  const told: Prompt = { content: `${header}\n\n${describe(end.outcome)}`, mentionable: [], after: [] };
  const ending = endingOf(end.outcome);
  if (ending.kind !== 'done') return { ...told, ending };
  // Who is owed a value gets it from the model, which knows the answer now.
  if (scope.config.jsonSchema !== undefined) return told;
  showLocal(scope, { name, text });
  return { ...told, ending };
}

const describe = ({ text, note }: AgentOutcome): string =>
  `The skill ran in an agent of its own, which said:\n\n${wholeText({ text: text || '(nothing)', note })}`;

function endingOf(outcome: AgentOutcome): Ending {
  const { status } = outcome;
  const text = wholeText(outcome);
  if (status === 'completed') return { kind: 'done', text };
  return status === 'stopped' ? INTERRUPTED : { kind: 'failed', errors: [text] };
}
