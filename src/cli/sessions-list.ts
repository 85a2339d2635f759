/** Commands that only look: list, show, search, export. */
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { SearchResult, SessionInfo, SessionMessage } from '../engine/index.js';
import type { Message } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { paintFor } from './paint.js';
import { createView } from './render.js';
import {
  type Command,
  findSession,
  folderOf,
  openSessions,
  type SessionsParts,
  usage,
  writeJson,
} from './sessions-parts.js';
import { type Column, cutTo, describeAge, describeSize, toTable } from './table.js';
import { toVisible, toVisibleLine } from './visible.js';

const LIST_LIMIT = 50;
const SHOW_LIMIT = 20;

export const list: Command = async (input, parts) => {
  const opened = await openSessions(parts);
  const dir = folderOf(input, parts);
  const all = await opened.functions.listSessions(opened.parts, { dir });
  const wanted = input.archived ? all : all.filter(({ archived }) => !archived);
  const limit = input.limit ?? (input.json ? wanted.length : LIST_LIMIT);
  const shown = wanted.slice(0, limit);
  if (input.json) {
    writeJson(parts, shown);
    return 0;
  }
  const notes = [
    shown.length < wanted.length ? `${wanted.length - shown.length} more (--limit)` : '',
    wanted.length < all.length ? `${all.length - wanted.length} in the archive (--archived)` : '',
  ].filter((note) => note !== '');
  if (wanted.length === 0) parts.stdout.write(dir === undefined ? 'There are no sessions.\n' : NONE_HERE);
  else if (shown.length > 0) parts.stdout.write(toSessionTable(shown, { parts, withFolder: dir === undefined }));
  if (notes.length > 0) parts.stderr.write(`${notes.join(', ')}\n`);
  return 0;
};

const NONE_HERE = 'There are no sessions of this folder. heddle sessions list --all shows those of all folders.\n';

const widthFor = ({ stdout }: SessionsParts): number | undefined => (stdout.isTTY ? (stdout.columns ?? 80) : undefined);

function toSessionTable(
  infos: readonly SessionInfo[],
  { parts, withFolder }: { parts: SessionsParts; withFolder: boolean },
): string {
  const now = Date.now();
  const length = idLength(infos.map(({ sessionId }) => sessionId));
  const columns: (Column & { of: (info: SessionInfo) => string })[] = [
    { title: 'ID', of: ({ sessionId }) => sessionId.slice(0, length) },
    { title: 'CHANGED', of: ({ lastModified }) => describeAge(lastModified, now) },
    { title: 'SIZE', right: true, of: ({ fileSize }) => (fileSize === undefined ? '' : describeSize(fileSize)) },
    {
      title: 'TITLE',
      flexible: true,
      of: (info) => `${info.archived ? '[archived] ' : ''}${toVisibleLine(info.summary)}`,
    },
    { title: 'TAG', of: ({ tag = '' }) => cutTo(toVisibleLine(tag), 20) },
    { title: 'BRANCH', of: ({ gitBranch = '' }) => cutTo(toVisibleLine(gitBranch), 20) },
    ...(withFolder ? [{ title: 'FOLDER', flexible: true, of: ({ cwd = '' }: SessionInfo) => shortFolder(cwd) }] : []),
  ];
  const used = columns.filter(({ title, of }) => title === 'TITLE' || infos.some((info) => of(info) !== ''));
  const rows = infos.map((info) => used.map(({ of }) => of(info)));
  return toTable(used, rows, widthFor(parts));
}

/** As short as the ids can be told apart. */
function idLength(ids: readonly string[]): number {
  for (const length of [8, 13, 18, 23]) {
    if (new Set(ids.map((id) => id.slice(0, length))).size === ids.length) return length;
  }
  return 36;
}

function shortFolder(folder: string): string {
  const home = homedir();
  const isInside = folder === home || folder.startsWith(`${home}/`);
  return toVisibleLine(isInside ? `~${folder.slice(home.length)}` : folder);
}

// ---- search --------------------------------------------------------------------------------------------------------

export const search: Command = async (input, parts) => {
  const opened = await openSessions(parts);
  const dir = input.dir === undefined ? undefined : folderOf(input, parts);
  const query = input.words.join(' ');
  const found = await opened.functions.searchSessions(opened.parts, query, { dir, limit: input.limit });
  if (input.json) writeJson(parts, found);
  else if (found.length === 0 && input.limit !== 0) parts.stdout.write(`No session has ${toVisibleLine(query)}.\n`);
  else parts.stdout.write(found.map((each) => describeFound(each, parts)).join(''));
  return 0;
};

/** Two lines each: what it is called, and what was found in it. */
function describeFound({ sessionId, summary, snippet, lastModified, cwd }: SearchResult, parts: SessionsParts): string {
  const width = widthFor(parts) ?? Number.POSITIVE_INFINITY;
  const paint = paintFor({ colour: parts.colour ?? false });
  const place = cwd === undefined ? '' : `  ${shortFolder(cwd)}`;
  const title = `${describeAge(lastModified, Date.now())}  ${toVisibleLine(summary)}${place}`;
  const words = cutTo(toVisibleLine(snippet), width - 4);
  return `${paint.bold(sessionId.slice(0, 8))}  ${cutTo(title, width - 10)}\n    ${paint.dim(words)}\n`;
}

// ---- show and export -----------------------------------------------------------------------------------------------

export const show: Command = async (input, parts) => {
  const opened = await openSessions(parts);
  const { functions } = opened;
  const sessionId = await findSession(opened, input.words[0] ?? '', parts.cwd);
  const info = await functions.getSessionInfo(opened.parts, sessionId);
  const messages = await functions.getSessionMessages(opened.parts, sessionId, { includeSystemMessages: true });
  if (info === undefined) {
    throw new HeddleError('session_not_found', `No conversation found with session ID: ${sessionId}`, {
      hint: 'heddle sessions list --all shows every session.',
    });
  }
  const most = input.all ? messages.length : (input.limit ?? (input.json ? messages.length : SHOW_LIMIT));
  const shown = most === 0 ? [] : messages.slice(-most);
  if (input.json) {
    writeJson(parts, { info, messages: shown });
    return 0;
  }
  parts.stdout.write(describeInfo(info));
  const left = messages.length - shown.length;
  if (left > 0) parts.stdout.write(`\n(${left} earlier messages; --all shows them)\n`);
  parts.stdout.write(`\n${describeMessages(shown, { parts, cwd: info.cwd ?? parts.cwd })}`);
  return 0;
};

function describeInfo(info: SessionInfo): string {
  const rows: [string, string | undefined][] = [
    ['Session', info.sessionId],
    ['Title', info.summary],
    ['Folder', info.cwd],
    ['Branch', info.gitBranch],
    ['Tag', info.tag],
    ['Archived', info.archived ? 'yes' : undefined],
    ['Begun', info.createdAt === undefined ? undefined : new Date(info.createdAt).toISOString()],
    ['Changed', new Date(info.lastModified).toISOString()],
    ['Size', info.fileSize === undefined ? undefined : describeSize(info.fileSize)],
  ];
  return rows.flatMap(([name, value]) => (value ? [`${name.padEnd(9)} ${toVisibleLine(value)}\n`] : [])).join('');
}

function describeMessages(
  messages: readonly SessionMessage[],
  { parts, cwd }: { parts: SessionsParts; cwd: string },
): string {
  const colour = parts.colour ?? false;
  const paint = paintFor({ colour });
  let view = createView({ colour, cwd });
  return messages
    .map((message) => {
      const prompt = promptOf(message);
      if (prompt === undefined) return view.show(toMessage(message));
      // What comes next follows the blank line.
      view = createView({ colour, cwd });
      return `\n${paint.bold('>')} ${toVisible(prompt).replaceAll('\n', '\n  ')}\n\n`;
    })
    .join('');
}

/** What a person said; undefined for the results of tools. */
function promptOf({ type, message }: SessionMessage): string | undefined {
  if (type !== 'user') return undefined;
  const { content } = message as { content: string | { type: string; text?: string }[] };
  if (typeof content === 'string') return content;
  if (content.some((block) => block.type === 'tool_result')) return undefined;
  return content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');
}

const toMessage = ({ message, type, ...rest }: SessionMessage): Message =>
  (type === 'system' ? { type, ...rest, ...(message as object) } : { type, message, ...rest }) as Message;

export const exportOne: Command = async (input, parts) => {
  const { format = 'markdown', output } = input;
  if (format !== 'markdown' && format !== 'json') throw usage('error: --format is markdown or json');
  const opened = await openSessions(parts);
  const sessionId = await findSession(opened, input.words[0] ?? '', parts.cwd);
  const text = await opened.functions.exportSession(opened.parts, sessionId, { format: input.json ? 'json' : format });
  if (output === undefined) {
    parts.stdout.write(parts.stdout.isTTY ? toVisible(text) : text);
    return 0;
  }
  const path = resolve(parts.cwd, output);
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'EEXIST' ? 'it exists already' : cause.message;
    throw usage(`error: ${toVisibleLine(path)} cannot be written: ${why}`);
  });
  parts.stdout.write(`${toVisibleLine(path)}\n`);
  return 0;
};
