/** What becomes of a message of the user: a prompt for the model, or the end of the turn. */
import type { TextBlock, UserContentBlock, UserMessage } from '../../protocol/index.js';
import { toHeddleError } from '../../protocol/plain.js';
import { type PromptOpening, toContexts } from '../hooks/around-turn.js';
import { promptBlocked } from '../hooks/texts.js';
import type { Ending } from '../outcome.js';
import type { SessionScope, TurnTally } from '../scope.js';
import { toBlocks } from '../sessions/entry.js';
import type { CommandCall, KnownCommand } from './commands.js';
import type { ExpandedCall } from './expand-call.js';
import type { Prompt } from './prompt.js';
import { showLocal } from './show-local.js';

export interface GivenPrompt {
  message: UserMessage;
  call: CommandCall | undefined;
  /** What hooks said of the message as it was typed. */
  opening: PromptOpening;
  tally: TurnTally;
}

/** Never throws. */
export async function toPrompt(scope: SessionScope, given: GivenPrompt, signal: AbortSignal): Promise<Prompt | Ending> {
  const prompt = await readWhole(scope, given, signal);
  if ('kind' in prompt && prompt.kind === 'local') showLocal(scope, prompt);
  return prompt;
}

async function readWhole(scope: SessionScope, given: GivenPrompt, signal: AbortSignal): Promise<Prompt | Ending> {
  const prompt = await read(scope, given, signal);
  if ('kind' in prompt) return prompt;
  if (prompt.mentionable.some((text) => text.includes('@'))) {
    const { mentionedIn } = await import('../mentions/session-mentions.js');
    prompt.before = await mentionedIn(scope, prompt.mentionable, signal);
  }
  const { fork } = prompt;
  if (fork === undefined) return prompt;
  const { answerForked } = await import('./answer-forked.js');
  return answerForked(scope, { ...fork, prompt, tally: given.tally }, signal);
}

async function read(scope: SessionScope, given: GivenPrompt, signal: AbortSignal): Promise<Prompt | Ending> {
  const { opening, call, message } = given;
  if (opening.blocked !== undefined) return { kind: 'blocked', text: opening.blocked };
  if (opening.interrupted) return NOTHING;
  const { after } = opening;
  if (opening.replaced) return { content: after.map(toText), mentionable: [], after: [] };
  const blocks = toBlocks(message.message.content);
  if (call?.kind === 'broken') {
    return { kind: 'local', name: call.name, text: `/${call.name} cannot be used: ${call.reason}`, isError: true };
  }
  if (call?.kind !== 'known') {
    return { content: message.message.content, mentionable: blocks.flatMap(textsOf), after };
  }
  const { command, args } = call;
  let expanded: ExpandedCall;
  try {
    expanded = await expand(scope, { command, args, tally: given.tally }, signal);
  } catch (thrown) {
    if (signal.aborted) return NOTHING;
    const { message: text, code } = toHeddleError(thrown);
    if (command.kind === 'server') return { kind: 'failed', errors: [text], code };
    return { kind: 'local', name: command.name, text, isError: true };
  }
  const others = blocks.filter(({ type }) => type !== 'text');
  const prompt: Prompt = {
    content: [...expanded.blocks, ...others],
    mentionable: expanded.mentionable,
    after,
    fork: expanded.fork,
  };
  return judge(scope, { prompt, expanded, command, args, typed: blocks.flatMap(textsOf).join('\n') }, signal);
}

const NOTHING: Prompt = { content: undefined, mentionable: [], after: [] };

const toText = (text: string): TextBlock => ({ type: 'text', text });

const textsOf = (block: UserContentBlock): string[] => (block.type === 'text' ? [block.text] : []);

async function expand(
  scope: SessionScope,
  { command, args, tally }: { command: KnownCommand; args: string; tally: TurnTally },
  signal: AbortSignal,
): Promise<ExpandedCall> {
  const { expandServerPrompt, expandText } = await import('./expand-call.js');
  if (command.kind === 'text') return expandText(scope, { command, args, tally }, signal);
  if (command.kind === 'server') return expandServerPrompt(scope, { command, args }, signal);
  throw new Error(`/${command.name} is no prompt.`);
}

interface Judged {
  prompt: Prompt;
  expanded: ExpandedCall;
  command: KnownCommand;
  args: string;
  /** What the person wrote. */
  typed: string;
}

/** The hooks that see what a command was turned into. */
async function judge(
  { hooks }: SessionScope,
  { prompt, expanded, command, args, typed }: Judged,
  signal: AbortSignal,
): Promise<Prompt | Ending> {
  if (!hooks.has('UserPromptExpansion')) return prompt;
  const verdict = await hooks.fire(
    'UserPromptExpansion',
    {
      expansion_type: expanded.type,
      command_name: command.name,
      command_args: args,
      command_source: expanded.source,
      prompt: expanded.blocks.flatMap(textsOf).join('\n'),
    },
    { signal },
  );
  if (verdict.cancelled && signal.aborted) return NOTHING;
  const stopped = verdict.stop && (verdict.stop.reason ?? 'A hook ended the turn.');
  const reason = verdict.block?.reason ?? stopped;
  if (reason !== undefined) {
    return { kind: 'blocked', text: promptBlocked('UserPromptExpansion', { reason, prompt: typed }) };
  }
  const contexts = toContexts('UserPromptExpansion', verdict);
  if (verdict.suppressOriginalPrompt) {
    return { ...prompt, content: [...prompt.after, ...contexts].map(toText), mentionable: [], after: [] };
  }
  return { ...prompt, after: [...prompt.after, ...contexts] };
}
