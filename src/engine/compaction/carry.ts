/** What a conversation that was summed up takes along beside the summary. */
import type { ContentBlockParam, MessageParam, TextBlock, UserContentBlock } from '../../protocol/index.js';
import { retellSkills } from '../commands/skill-news.js';
import { lastLists } from '../lists.js';
import { judgeRead } from '../permissions/may-read.js';
import type { SessionScope } from '../scope.js';
import { type Entry, isLifeEntry } from '../sessions/entry.js';
import { surroundingsOf } from '../surroundings.js';
import { cutText } from '../tools/bound.js';
import { MAX_TEXT_BYTES, readText } from '../tools/read-text.js';
import { remind } from './remind.js';
import { cutMiddle } from './cut-middle.js';
import { blocksTokens, textTokens } from './size.js';

const MAX_FILES = 5;
const MAX_FILE_TOKENS = 5_000;
const CHARACTERS_PER_TOKEN = 4;

export const toText = (text: string): TextBlock => ({ type: 'text', text });

/** The place, the day and the instructions stood at the beginning. */
export async function carrySurroundings(scope: SessionScope, signal: AbortSignal): Promise<TextBlock[]> {
  const memory = await scope.memory.tellAll('compact', signal);
  return [await surroundingsOf(scope, signal), ...(memory === undefined ? [] : [memory])].map(toText);
}

/** Todos, tasks and what runs in the background. */
export function carryLists(scope: SessionScope): TextBlock[] {
  const { todos = [], tasks = [] } = lastLists(scope.recorder.log.entries);
  const running = scope.tasks.running.map(({ id, description, outputPath }) =>
    [`- ${id}: ${description}`, ...(outputPath === '' ? [] : [`(its output: ${outputPath})`])].join(' '),
  );
  return [
    ...carryList('The todo list', todos, ({ status, content }) => `- [${status}] ${content}`),
    ...carryList('The list of tasks', tasks, ({ id, status, subject }) => `- [${status}] #${id} ${subject}`),
    ...carryList('Still running in the background', running, (line) => line),
  ];
}

const carryList = <T>(title: string, items: readonly T[], show: (item: T) => string): TextBlock[] =>
  items.length === 0 ? [] : [remind(`${title}:\n${items.map(show).join('\n')}`)];

/** What the model was told of servers' tools stood in what was summed up. */
export function carryServers({ mcp }: SessionScope, windowTokens: number): TextBlock[] {
  mcp.retell();
  const news = mcp.takeNews({ windowTokens });
  return news === undefined ? [] : [remind(news)];
}

/** And what it was told of skills. */
export function carrySkills(scope: SessionScope): TextBlock[] {
  const text = retellSkills(scope);
  return text === undefined ? [] : [toText(text)];
}

/** The files that the model came to know last, as they are. What changed since, or must not be read, is left to Read. */
export async function carryFiles(scope: SessionScope, { room }: { room: number }): Promise<TextBlock[]> {
  const blocks: TextBlock[] = [];
  const most = Math.min(MAX_FILE_TOKENS, Math.floor(room / MAX_FILES));
  let left = room;
  for (const path of newestNotes(scope.recorder.log.entries)) {
    const text = await showFile(scope, path).catch(() => undefined);
    if (text === undefined || left < most) continue;
    const shown = cutText(text, most * CHARACTERS_PER_TOKEN);
    const rest = shown.length < text.length ? '\n[The rest is left out: use Read to see it]' : '';
    blocks.push(remind(`The file ${path} as it is now:\n${shown}${rest}`));
    left -= textTokens(shown);
  }
  return blocks;
}

function newestNotes(entries: readonly Entry[]): string[] {
  const paths = new Set<string>();
  for (let index = entries.length - 1; index >= 0 && paths.size < MAX_FILES; index -= 1) {
    const entry = entries[index];
    if (entry !== undefined && isLifeEntry(entry) && entry.kind === 'noted') paths.add(entry.path);
  }
  return [...paths];
}

/** Throws when the file is gone, or is none that can be shown. */
async function showFile(scope: SessionScope, path: string): Promise<string | undefined> {
  const { workspace, ledger } = scope;
  // Only what could be read now without a question.
  if ((await judgeRead(scope, path)).verdict !== 'allow') return undefined;
  const bytes = await workspace.readFile(path, { maxBytes: MAX_TEXT_BYTES, exact: true });
  if (ledger.compare(path, bytes) !== 'current') return undefined;
  const { content } = readText({ path, bytes, input: { file_path: path } });
  return typeof content === 'string' ? content : undefined;
}

/** What was said, word for word as long as it fits. */
export function carryPrompt(blocks: readonly UserContentBlock[], { room }: { room: number }): UserContentBlock[] {
  if (blocksTokens(blocks) <= room) return [...blocks];
  const texts = blocks.filter((block) => block.type === 'text');
  const max = Math.floor((room * CHARACTERS_PER_TOKEN) / 2 / Math.max(texts.length, 1));
  return texts.map((block) => ({ ...block, text: cutMiddle(block.text, max) }));
}

/** The last calls with their results, which the model has not answered to yet, or an answer that was cut off. */
export function carryLast(messages: readonly MessageParam[], { room }: { room: number }): UserContentBlock[] {
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    const said = blocksOf(last)
      .flatMap((block) => (block.type === 'text' ? [block.text] : []))
      .join('\n');
    const text = cutMiddle(said, room * CHARACTERS_PER_TOKEN);
    return said === '' ? [] : [remind(`Your last answer was cut off. It said:\n${text}`)];
  }
  const calls = new Map(
    blocksOf(messages.at(-2)).flatMap((block) => (block.type === 'tool_use' ? [[block.id, block]] : [])),
  );
  const results = blocksOf(last).flatMap((block) => (block.type === 'tool_result' ? [block] : []));
  if (results.length === 0) return [];
  const max = Math.floor((room * CHARACTERS_PER_TOKEN) / results.length);
  const images: UserContentBlock[] = [];
  const shown = results.map(({ tool_use_id, content, is_error }) => {
    const parts = typeof content === 'string' ? [toText(content)] : (content ?? []);
    for (const part of parts) if (part.type === 'image') images.push(part);
    const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const call = calls.get(tool_use_id);
    const asked =
      call === undefined ? '' : `${call.name} ${cutMiddle(JSON.stringify(call.input), Math.ceil(max / 4))}\n`;
    return `${asked}${is_error ? 'failed' : 'gave'}:\n${cutMiddle(text, max)}`;
  });
  return [remind(`The last tool calls:\n\n${shown.join('\n\n')}`), ...images.slice(-MAX_FILES)];
}

const blocksOf = (message: MessageParam | undefined): readonly ContentBlockParam[] =>
  message === undefined || typeof message.content === 'string' ? [] : message.content;
