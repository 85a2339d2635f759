/** The end of an agent, for the model that waited for it. */
import type { EngineOutput } from '../tools/engine-output.js';
import type { AgentOutcome } from './session-agents.js';

/** What it said, with what must be known beside that. */
export const wholeText = ({ text, note }: Pick<AgentOutcome, 'text' | 'note'>): string =>
  note === undefined ? text : `${text}\n\n${note}`;

export function toEndOutput(id: string, outcome: AgentOutcome, { mayResume }: { mayResume: boolean }): EngineOutput {
  const { status, text, interrupt } = outcome;
  const content = [
    { type: 'text' as const, text: text === '' ? '(The agent said nothing.)' : text },
    { type: 'text' as const, text: describeEnd(id, outcome, mayResume) },
  ];
  return { content, ...(status !== 'completed' && { isError: true }), ...(interrupt && { interrupt }) };
}

/** A block of its own: however long the answer is, this is not cut. */
const describeEnd = (
  id: string,
  { note, totalTokens, toolUses, durationMs }: AgentOutcome,
  mayResume: boolean,
): string =>
  `${note === undefined ? '' : `${note}\n`}agentId: ${id}${mayResume ? ' (to go on with this agent, give it as resume)' : ''}\n` +
  `<usage>total_tokens: ${totalTokens}\ntool_uses: ${toolUses}\nduration_ms: ${durationMs}</usage>`;
