/** The model inside the package: rules, no network, no files. It exists so that Heddle can be tried offline. */
import type {
  Clock,
  ContentBlock,
  ContentBlockParam,
  MessageParam,
  MessagesBody,
  ModelEvent,
  ModelProvider,
  ModelRequest,
  ToolResultContent,
} from '../../protocol/index.js';
import { AbortError } from '../../protocol/plain.js';
import { answerEvents } from './answer-events.js';
import { answerTask, explainFailure, explainMissingTool, listedPaths, type ToolOutcome } from './embedded-answers.js';
import { type EmbeddedTask, readTask } from './embedded-rules.js';

interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
}

type Reply = { say: string } | { call: PlannedCall };

export function createEmbeddedModel({ clock }: { clock: Clock }): ModelProvider {
  return {
    name: 'embedded',
    keySource: 'none',
    async *stream(request, { signal, onResponse }) {
      if (signal.aborted) throw new AbortError();
      onResponse?.({});
      for (const event of replyEvents(request, clock)) {
        yield [event];
        if (signal.aborted) throw new AbortError();
      }
    },
  };
}

/** Everything but the ids follows from the request alone: two equal requests get equal answers. */
function replyEvents({ body }: ModelRequest, clock: Clock): ModelEvent[] {
  const reply = decideReply(body);
  const { content, isCut } = toContent(reply, body.max_tokens, clock);
  const stopReason = 'call' in reply ? 'tool_use' : isCut ? 'max_tokens' : 'end_turn';
  return answerEvents({
    id: `msg_${bareId(clock)}`,
    model: body.model,
    content,
    stopReason,
    usage: {
      input_tokens: countTokens(JSON.stringify([body.system ?? [], body.tools ?? [], body.messages])),
      output_tokens: countTokens(JSON.stringify(content)),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
    split: (text) => text.match(/\S+\s*|\s+/g) ?? [''],
  });
}

function decideReply(body: MessagesBody): Reply {
  const { text, later } = lastRequest(body.messages);
  const task = readTask(text);
  const outcomes = outcomesOf(later);
  const last = outcomes.at(-1);
  if (last?.isError === true && task.kind !== 'run') return { say: explainFailure(last) };
  const call = nextCall(task, outcomes);
  if (call === undefined) return { say: answerTask(task, last ?? { name: '', text: '', isError: false }) };
  const isOffered = body.tools?.some((tool) => tool.name === call.name) === true;
  return isOffered ? { call } : { say: explainMissingTool(call.name) };
}

/** The tool call that a task still needs, or undefined when the answer can be given. */
function nextCall(task: EmbeddedTask, outcomes: readonly ToolOutcome[]): PlannedCall | undefined {
  if (task.kind === 'about') return undefined;
  if (task.kind === 'read') return nextRead(task.file, outcomes);
  if (outcomes.length > 0) return undefined;
  switch (task.kind) {
    case 'list':
    case 'count':
    case 'find':
      return { name: 'Glob', input: withPath({ pattern: task.pattern }, task.path) };
    case 'search': {
      const input = { pattern: escapePattern(task.text), output_mode: 'content', '-n': true };
      return { name: 'Grep', input: withPath(input, task.path) };
    }
    case 'run':
      return { name: 'Bash', input: { command: task.command, description: 'Run the command of the user' } };
    case 'write':
      return { name: 'Write', input: { file_path: task.file, content: task.content } };
  }
}

/** "README" is looked for first, because its name is not whole; a full name is read at once. */
function nextRead(file: string, outcomes: readonly ToolOutcome[]): PlannedCall | undefined {
  const [first] = outcomes;
  if (first?.name === 'Read' || outcomes.length > 1) return undefined;
  if (file.includes('.') || file.includes('/')) return { name: 'Read', input: { file_path: file } };
  if (first === undefined) return { name: 'Glob', input: { pattern: `${file}*` } };
  const [found] = listedPaths(first.text).toSorted((a, b) => a.length - b.length);
  return { name: 'Read', input: { file_path: found ?? file } };
}

const withPath = (input: Record<string, unknown>, path: string | undefined): Record<string, unknown> =>
  path === undefined ? input : { ...input, path };

/** The last thing a person said, and the messages after it. What the engine adds for itself does not count. */
function lastRequest(messages: readonly MessageParam[]): { text: string; later: readonly MessageParam[] } {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role !== 'user') continue;
    const text = textBlocks(message)
      .map((block) => block.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim())
      .filter((block) => block !== '' && !block.startsWith('[Request interrupted'))
      .join('\n');
    if (text !== '') return { text, later: messages.slice(index + 1) };
  }
  return { text: '', later: [] };
}

/** Results of tool calls in order, each with the name of its tool. */
function outcomesOf(messages: readonly MessageParam[]): ToolOutcome[] {
  const names = new Map<string, string>();
  const outcomes: ToolOutcome[] = [];
  for (const block of messages.flatMap(blocksOf)) {
    if (block.type === 'tool_use') names.set(block.id, block.name);
    if (block.type !== 'tool_result') continue;
    const name = names.get(block.tool_use_id) ?? 'the tool';
    outcomes.push({ name, text: resultText(block.content), isError: block.is_error === true });
  }
  return outcomes;
}

const blocksOf = ({ content }: MessageParam): readonly ContentBlockParam[] =>
  typeof content === 'string' ? [] : content;

const textBlocks = ({ content }: MessageParam): string[] =>
  typeof content === 'string' ? [content] : content.flatMap((block) => (block.type === 'text' ? block.text : []));

function resultText(content: ToolResultContent | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
}

function toContent(reply: Reply, maxTokens: number, clock: Clock): { content: ContentBlock[]; isCut: boolean } {
  if ('call' in reply) {
    return { content: [{ type: 'tool_use', id: `toolu_${bareId(clock)}`, ...reply.call }], isCut: false };
  }
  const text = reply.say.slice(0, maxTokens * CHARACTERS_PER_TOKEN);
  return { content: [{ type: 'text', text }], isCut: text.length < reply.say.length };
}

const CHARACTERS_PER_TOKEN = 4;
const countTokens = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const bareId = (clock: Clock): string => clock.uuid().replaceAll('-', '').slice(-24);
