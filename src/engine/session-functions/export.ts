/** A session as a document: Markdown for people, JSON for programs. */
import type { ContentBlock, ToolResultBlock, ToolUseBlock, UserContentBlock } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { cutText } from '../tools/bound.js';
import { type AssistantEntry, type Entry, isLifeEntry, toBlocks, type UserEntry } from '../sessions/entry.js';
import type { SessionInfo } from '../sessions/info.js';
import { getSessionInfo } from './list.js';
import { isSaid, type SessionMessage, toSessionMessages } from './messages.js';
import { type DirOption, keyOf, type SessionParts } from './named.js';
import { toFenced, toHtml, toInline, toProse, toQuote } from './prose.js';
import { forEachSlowly } from './slices.js';
import { loadSession } from '../sessions/resume.js';

export const EXPORT_FORMATS = ['markdown', 'json'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportOptions extends DirOption {
  format?: ExportFormat | undefined;
}

/** What the JSON holds. */
export interface ExportedSession {
  format: 'heddle-session';
  version: 1;
  info: SessionInfo;
  messages: SessionMessage[];
  costs: ModelCost[];
}

export interface ModelCost {
  model: string;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Undefined where the model has no price. */
  usd?: number;
}

export async function exportSession(
  parts: Pick<SessionParts, 'store'>,
  named: string,
  { format = 'markdown', dir }: ExportOptions = {},
): Promise<string> {
  if (!EXPORT_FORMATS.includes(format)) {
    const text = `format must be one of ${EXPORT_FORMATS.join(', ')}, not ${JSON.stringify(format)}.`;
    throw new HeddleError('invalid_config', text);
  }
  const { sessionId } = await keyOf(parts, named, { dir });
  const { entries, key } = await loadSession(parts.store, sessionId);
  const info = (await getSessionInfo(parts, sessionId)) ?? { sessionId, summary: '', lastModified: 0, cwd: key.cwd };
  const costs = costsOf(entries);
  return format === 'markdown' ? toMarkdown(entries, { info, costs }) : toJson(entries, { info, costs });
}

interface Around {
  info: SessionInfo;
  costs: ModelCost[];
}

/** Message by message: the text of a long session takes its time. */
async function toJson(entries: readonly Entry[], { info, costs }: Around): Promise<string> {
  const { sessionId } = info;
  const exported: ExportedSession = { format: 'heddle-session', version: 1, info, messages: [], costs };
  const texts: string[] = [];
  const messages = toSessionMessages(entries, { sessionId, includeSystemMessages: true });
  await forEachSlowly(messages, (message) => {
    texts.push(JSON.stringify(message, null, 2).replaceAll('\n', '\n    '));
  });
  const all = texts.length === 0 ? '[]' : `[\n    ${texts.join(',\n    ')}\n  ]`;
  return `${JSON.stringify(exported, null, 2).replace('"messages": []', () => `"messages": ${all}`)}\n`;
}

/** Each call of a model counts once; what was paid for in the session that this one was forked from does not. */
export function costsOf(entries: readonly Entry[]): ModelCost[] {
  const costs = new Map<string, ModelCost & { microCents: number; isKnown: boolean }>();
  const counted = new Set<string>();
  for (const entry of entries) {
    if (!isLifeEntry(entry) || entry.forked) continue;
    if (entry.kind !== 'step' && entry.kind !== 'aborted' && entry.kind !== 'aside') continue;
    if (counted.has(entry.messageId)) continue;
    counted.add(entry.messageId);
    const { model, usage, microCents } = entry;
    const none = { model, calls: 0, inputTokens: 0, outputTokens: 0, microCents: 0, isKnown: true };
    const cost = costs.get(model) ?? none;
    cost.calls += 1;
    cost.inputTokens +=
      usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
    cost.outputTokens += usage.output_tokens;
    cost.microCents += microCents ?? 0;
    cost.isKnown &&= typeof microCents === 'number';
    costs.set(model, cost);
  }
  return [...costs.values()].map(({ microCents, isKnown, ...cost }) => ({
    ...cost,
    ...(isKnown && { usd: microCents / 1e8 }),
  }));
}

// ---- Markdown ----------------------------------------------------------------------------------------------------

async function toMarkdown(entries: readonly Entry[], { info, costs }: Around): Promise<string> {
  const results = resultsOf(entries);
  const parts: string[] = [];
  let speaker: string | undefined;
  const say = (who: string | undefined, text: string): void => {
    if (who !== undefined && who !== speaker) parts.push(`## ${who}\n`);
    speaker = who;
    parts.push(text);
  };
  await forEachSlowly(entries, (entry) => {
    if (!isSaid(entry)) return;
    if (entry.type === 'system') say(undefined, `---\n\n_${toInline(entry.content || 'Conversation compacted')}_\n`);
    else if (entry.type === 'user')
      for (const text of describeUser(entry)) say(entry.isCompactSummary ? undefined : 'You', text);
    else for (const text of describeAnswer(entry, results)) say('Assistant', text);
  });
  return [describeInfo(info), ...parts, describeCosts(costs)].join('\n');
}

const timeOf = (time: number): string => `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function describeInfo(info: SessionInfo): string {
  const rows: [string, string | undefined][] = [
    ['Session', info.sessionId],
    ['Folder', info.cwd],
    ['Branch', info.gitBranch],
    ['Tag', info.tag],
    ['Begun', info.createdAt === undefined ? undefined : timeOf(info.createdAt)],
    ['Last change', info.lastModified === 0 ? undefined : timeOf(info.lastModified)],
  ];
  const list = rows.flatMap(([name, value]) => (value ? [`- ${name}: ${toInline(value)}\n`] : []));
  return `# ${toInline(info.summary) || 'Session'}\n\n${list.join('')}`;
}

/** Results of tools stand with their calls. */
function describeUser({ message, isCompactSummary }: UserEntry): string[] {
  const texts = toBlocks(message.content).flatMap((block) => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [block.text];
    return block.type === 'tool_result' ? [] : [describeOther(block)];
  });
  if (texts.length === 0) return [];
  const prose = texts.map(toProse).join('\n');
  return [isCompactSummary ? toDetails('Summary of what was said before', prose) : toQuote(prose)];
}

function describeAnswer({ message }: AssistantEntry, results: ReadonlyMap<string, ToolResultBlock>): string[] {
  return message.content.flatMap((block): string[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [toProse(block.text)];
    if (block.type === 'thinking') return block.thinking ? [toDetails('Thoughts', toProse(block.thinking))] : [];
    if (block.type === 'tool_use') return [describeCall(block, results.get(block.id))];
    return block.type === 'redacted_thinking' ? [] : [describeOther(block)];
  });
}

const describeOther = (block: ContentBlock | UserContentBlock): string => `_(${toInline(block.type)})_`;

const MAX_INPUT = 2_000;
const MAX_RESULT = 2_000;
const SUBJECTS = ['command', 'file_path', 'notebook_path', 'pattern', 'url', 'query', 'description', 'path', 'prompt'];

function describeCall({ name, input }: ToolUseBlock, result: ToolResultBlock | undefined): string {
  const fields = input ?? {};
  const subject = SUBJECTS.map((key) => fields[key]).find((value) => typeof value === 'string');
  const title = [name, subject && cut(subject.split('\n')[0] ?? '', 80)].filter(Boolean).join(': ');
  const state = result === undefined ? ' (no result)' : result.is_error ? ' (failed)' : '';
  const shown = toFenced(cut(JSON.stringify(fields, null, 2), MAX_INPUT), 'json');
  return toDetails(
    `${title}${state}`,
    result === undefined ? shown : `${shown}\n${toFenced(cut(textOf(result), MAX_RESULT))}`,
  );
}

/** Folded: readers that know no HTML show it whole. Blank lines make what is inside Markdown again. */
const toDetails = (title: string, body: string): string =>
  `<details>\n<summary>${toHtml(title)}</summary>\n\n${body.trimEnd()}\n\n</details>\n`;

function textOf({ content }: ToolResultBlock): string {
  if (content === undefined || typeof content === 'string') return content || '(nothing)';
  const texts = content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`));
  return texts.join('\n') || '(nothing)';
}

const cut = (text: string, limit: number): string =>
  text.length <= limit ? text : `${cutText(text, limit)}… [${text.length - limit} more characters]`;

function resultsOf(entries: readonly Entry[]): Map<string, ToolResultBlock> {
  const results = new Map<string, ToolResultBlock>();
  for (const entry of entries) {
    if (entry.type !== 'user') continue;
    for (const block of toBlocks(entry.message.content))
      if (block.type === 'tool_result') results.set(block.tool_use_id, block);
  }
  return results;
}

function describeCosts(costs: readonly ModelCost[]): string {
  if (costs.length === 0) return '';
  const rows = costs.map(({ model, calls, inputTokens, outputTokens, usd }) =>
    [toInline(model), calls, inputTokens, outputTokens, usd === undefined ? 'unknown' : `$${usd.toFixed(4)}`].join(
      ' | ',
    ),
  );
  const known = costs.reduce((sum, { usd }) => sum + (usd ?? 0), 0);
  const total = costs.every(({ usd }) => usd !== undefined) ? '' : ', without what has no known price';
  return [
    '## Costs\n',
    '| Model | Calls | Input tokens | Output tokens | Cost |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => `| ${row} |`),
    `\nTotal: \\$${known.toFixed(4)}${total}\n`,
  ].join('\n');
}
