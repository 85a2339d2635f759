/** What the model API demands of a conversation. */
import type { Entry } from '../../src/engine/sessions/entry.js';
import type { ContentBlock, MessageParam, UserContentBlock } from '../../src/protocol/index.js';

/** What is wrong with the messages of a request: nothing, or a text for each fault. */
export function faultsIn(messages: readonly MessageParam[]): string[] {
  const faults: string[] = [];
  if (messages[0]?.role !== 'user') faults.push('it does not begin with the user');
  for (const [place, { role, content }] of messages.entries()) {
    if (content.length === 0) faults.push(`message ${place} is empty`);
    if (role === messages[place - 1]?.role) faults.push(`message ${place} has the role of the one before`);
    if (role !== 'user') continue;
    const calls = callsOf(messages[place - 1]);
    const results = resultsOf(messages[place]);
    const [given, wanted] = [results.join(), calls.join()];
    if (given !== wanted) faults.push(`message ${place} answers ${given} and not ${wanted}`);
  }
  const open = messages.at(-1)?.role === 'assistant' ? callsOf(messages.at(-1)) : [];
  if (open.length > 0) faults.push(`nothing answers ${open.join()}`);
  return faults;
}

export const callsOf = (message: MessageParam | undefined): string[] =>
  message?.role !== 'assistant'
    ? []
    : (message.content as ContentBlock[]).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));

export const resultsOf = (message: MessageParam | undefined): string[] =>
  message?.role !== 'user' || typeof message.content === 'string'
    ? []
    : (message.content as UserContentBlock[]).flatMap((block) =>
        block.type === 'tool_result' ? [block.tool_use_id] : [],
      );

/** The calls of a log that have no result in it, in order. Answers that were cut off must not be among its entries. */
export function unansweredIn(entries: readonly Entry[]): string[] {
  const said = entries.filter((entry) => entry.type === 'user' || entry.type === 'assistant');
  const results = new Set(said.flatMap(({ message }) => resultsOf(message as MessageParam)));
  return said.flatMap(({ message }) => callsOf(message as MessageParam)).filter((id) => !results.has(id));
}
