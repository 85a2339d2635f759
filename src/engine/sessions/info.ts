import type {
  SessionArchive,
  SessionGlance,
  SessionStore,
  SessionSummary,
  UserContentBlock,
} from '../../protocol/index.js';
import { cutText } from '../tools/bound.js';
import { toBlocks } from './entry.js';
import { isLifeLine, mayBeMark } from './mark.js';

/** What a list of sessions shows of one. */
export interface SessionInfo {
  sessionId: string;
  /** What to call it: its title, or how it began. */
  summary: string;
  /** Milliseconds since 1970. */
  lastModified: number;
  /** Bytes of the log, where the store knows. */
  fileSize?: number;
  customTitle?: string;
  firstPrompt?: string;
  gitBranch?: string;
  cwd?: string;
  tag?: string;
  createdAt?: number;
  /** Absent when it never was in the archive. */
  archived?: boolean;
}

const MAX_PROMPT = 200;
/** Stands for what cannot be said in words, such as a picture. */
const NO_WORDS = '(no text)';

/** Whatever line it is: other programs write such files too. */
interface AnyLine {
  type?: unknown;
  kind?: unknown;
  state?: unknown;
  timestamp?: unknown;
  gitBranch?: unknown;
  customTitle?: unknown;
  aiTitle?: unknown;
  summary?: unknown;
  lastPrompt?: unknown;
  tag?: unknown;
  archived?: unknown;
  isMeta?: unknown;
  isSidechain?: unknown;
  isCompactSummary?: unknown;
  message?: { content?: unknown };
}

/** What the ends of a log say of its session. Undefined for a log without a conversation, and for that of a subagent. */
export function toInfo(
  glance: SessionGlance,
  { lastModified, size, archive }: Omit<SessionSummary, 'cwd'>,
): SessionInfo | undefined {
  const { sessionId, cwd } = glance.key;
  const info: SessionInfo = { sessionId, summary: '', lastModified: Math.floor(lastModified), cwd };
  if (size !== undefined) info.fileSize = size;
  const lines = [...glance.head, ...glance.tail];
  const start = readStart(lines);
  if (start === undefined) return undefined;
  if (start.createdAt !== undefined) info.createdAt = start.createdAt;
  const said = readMarks(lines);
  if (said.title) info.customTitle = said.title;
  if (said.tag) info.tag = said.tag;
  const archived = archive ? isStillArchived(archive, lines) : said.archived;
  if (archived !== undefined) info.archived = archived;
  const firstPrompt = start.prompt ?? said.lastPrompt ?? start.command;
  if (firstPrompt !== undefined) info.firstPrompt = firstPrompt;
  const gitBranch = lastBranch(lines);
  if (gitBranch) info.gitBranch = gitBranch;
  info.summary = info.customTitle ?? said.summary ?? info.firstPrompt ?? NO_WORDS;
  return info;
}

interface Start {
  createdAt?: number;
  prompt?: string;
  /** A command that was typed before anything was said. */
  command?: string;
}

/** How a conversation began. Reads no line after the first prompt: a list of sessions has no time for more. */
function readStart(lines: readonly string[]): Start | undefined {
  const start: Start = {};
  let isConversation = false;
  for (const text of lines) {
    if (start.createdAt !== undefined && isLifeLine(text)) continue;
    const line = toLine(text);
    if (line === undefined) continue;
    const time = typeof line.timestamp === 'string' ? Date.parse(line.timestamp) : Number.NaN;
    if (start.createdAt === undefined && !Number.isNaN(time)) start.createdAt = time;
    if (line.type !== 'user' && line.type !== 'assistant') continue;
    if (!isConversation && line.isSidechain === true) return undefined;
    isConversation = true;
    const { prompt, command } = promptOf(line);
    if (start.command === undefined && command !== undefined) start.command = command;
    if (prompt === undefined) continue;
    start.prompt = prompt;
    break;
  }
  return isConversation ? start : undefined;
}

interface Said {
  title?: string;
  tag?: string;
  summary?: string;
  lastPrompt?: string;
  archived?: boolean;
}

/** What people and programs said about the session, the last word of each kind. An empty title or tag takes it away. */
function readMarks(lines: readonly string[]): Said {
  const said: Said = {};
  let archivedAt = -1;
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at];
    if (text === undefined || !mayBeMark(text)) continue;
    const line = toLine(text);
    if (line?.type === 'custom-title') said.title = stringOf(line.customTitle)?.trim() ?? '';
    if (line?.type === 'tag') said.tag = stringOf(line.tag)?.trim() ?? '';
    if (line?.type === 'summary') said.summary = shorten(stringOf(line.summary)) ?? said.summary;
    if (line?.type === 'ai-title') said.summary = shorten(stringOf(line.aiTitle)) ?? said.summary;
    if (line?.type === 'last-prompt') said.lastPrompt = shorten(stringOf(line.lastPrompt)) ?? said.lastPrompt;
    if (line?.type === 'heddle' && line.kind === 'mark' && typeof line.archived === 'boolean') {
      said.archived = line.archived;
      archivedAt = at;
    }
  }
  // A prompt takes a session out of the archive, whoever wrote it down.
  if (said.archived && lines.slice(archivedAt + 1).some(isPromptLine)) said.archived = false;
  return said;
}

/** By time, for the store keeps it beside the log. */
function isStillArchived({ archived, at }: SessionArchive, lines: readonly string[]): boolean {
  if (!archived) return false;
  const since = Date.parse(at);
  return !lines.some((text) => isPromptLine(text) && Date.parse(String(toLine(text)?.timestamp)) > since);
}

function isPromptLine(text: string): boolean {
  const line = toLine(text);
  if (line === undefined) return false;
  if (line.type === 'heddle') return line.kind === 'turn' && line.state === 'started';
  const { prompt, command } = promptOf(line);
  return prompt !== undefined || command !== undefined;
}

function lastBranch(lines: readonly string[]): string | undefined {
  const text = lines.findLast((line) => line.includes('"gitBranch":'));
  return text === undefined ? undefined : stringOf(toLine(text)?.gitBranch);
}

const COMMAND =
  /<command-name>\s*(\/?[^<]*?)\s*<\/command-name>(?:[\s\S]*?<command-args>\s*([^<]*?)\s*<\/command-args>)?/;

/** What the user said: not what the engine put in, and not the result of a tool. */
function promptOf(line: AnyLine): { prompt?: string; command?: string } {
  if (line.type !== 'user' || line.isMeta || line.isSidechain || line.isCompactSummary) return {};
  const content = line.message?.content;
  if (typeof content !== 'string' && !Array.isArray(content)) return {};
  const blocks = toBlocks(content as string | UserContentBlock[]);
  const text = blocks.flatMap((block) => (block?.type === 'text' ? [block.text] : [])).join(' ');
  const command = COMMAND.exec(text);
  if (command) return { command: shorten([command[1], command[2]].join(' ')) };
  if (/^\s*<(command-|local-command|system-reminder|task-notification)/.test(text)) return {};
  return { prompt: shorten(text) };
}

/** On one line, and not too long. Undefined when nothing is left. */
function shorten(text: string | undefined): string | undefined {
  // Enough for the words that are shown: a prompt may hold a whole book.
  const plain = text
    ?.slice(0, 20 * MAX_PROMPT)
    .replace(/\s+/g, ' ')
    .trim();
  if (!plain) return undefined;
  return plain.length > MAX_PROMPT ? `${cutText(plain, MAX_PROMPT)}…` : plain;
}

function toLine(text: string): AnyLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The ends of a log, also of a store that only knows whole ones. */
export async function glanceAt(store: SessionStore, sessionId: string): Promise<SessionGlance | undefined> {
  if (store.glance) return store.glance(sessionId);
  const loaded = await store.load(sessionId);
  return loaded && { key: loaded.key, head: loaded.lines, tail: [] };
}

/** What the list says of one session, also of a store that only knows whole lists. */
export async function summaryOf(store: SessionStore, sessionId: string): Promise<SessionSummary | undefined> {
  const known = await store.summary?.(sessionId);
  return known ?? (await store.list()).find((one) => one.sessionId === sessionId);
}

/** How many logs are looked at together. */
const TOGETHER = 32;

/**
 * What a list shows of each session, in the order of the summaries; those without a conversation, and those that cannot
 * be read, are left out. Looks at no more logs than it must to find `atMost` that are `wanted`.
 */
export async function describeSessions(
  store: SessionStore,
  summaries: readonly SessionSummary[],
  { atMost = Number.POSITIVE_INFINITY, wanted = () => true }: DescribeOptions = {},
): Promise<SessionInfo[]> {
  const infos: SessionInfo[] = [];
  for (let from = 0; from < summaries.length && infos.length < atMost; from += TOGETHER) {
    const some = summaries.slice(from, from + TOGETHER);
    const seen = await Promise.all(some.map((summary) => describe(store, summary).catch(() => undefined)));
    for (const info of seen) if (info !== undefined && wanted(info)) infos.push(info);
  }
  return infos.slice(0, atMost);
}

async function describe(store: SessionStore, summary: SessionSummary): Promise<SessionInfo | undefined> {
  const glance = await glanceAt(store, summary.sessionId);
  return glance && toInfo(glance, summary);
}

export interface DescribeOptions {
  atMost?: number;
  wanted?: (info: SessionInfo) => boolean;
}
