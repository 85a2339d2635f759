/** Messages as text for a person. No input or output of its own: `show` returns what to print next. */
import type { Message, ResultMessage } from '../protocol/index.js';
import { describeCall } from './call-line.js';
import { type Colour, type Look, marksFor, paintFor, paintOfAgent } from './paint.js';
import { describeTotals } from './totals.js';
import { toVisible, toVisibleLine } from './visible.js';

export interface ViewOptions extends Look {
  cwd: string;
}

export interface View {
  /** What to print for the next message of a session; often nothing. */
  show(message: Message): string;
  /** A line of our own between the messages. */
  note(text: string): string;
  /** What the session has cost already: the end of a turn tells the cost of the turn. */
  startAt(spentUsd: number): void;
}

type MessageOf<T extends Message['type']> = Extract<Message, { type: T }>;

const RESULT_LINES = 3;
const ERROR_LINES = 8;
const LINE_WIDTH = 160;

/** Remembers only what it has printed: whether a line is open, what kind it is, what was streamed or denied already. */
export function createView(options: ViewOptions): View {
  const paint = paintFor(options);
  const marks = marksFor(options);
  const denied = new Set<string>();
  /** By the call that started them: what agents do stands in their colour. */
  const agents = new Map<string, Colour>();
  let lineIsOpen = false;
  let streamed = false;
  let part: 'words' | 'calls' | undefined;
  let spentUsd = 0;

  const show = (message: Message): string => {
    const text = render(message);
    if (text !== '') lineIsOpen = !text.endsWith('\n');
    return text;
  };

  const endLine = (): string => {
    const end = lineIsOpen ? '\n' : '';
    lineIsOpen = false;
    return end;
  };

  /** A line of its own, whatever stands before it. */
  const line = (text: string): string => `${endLine()}${text}\n`;

  /** A blank line between words and calls. */
  const gapBefore = (next: 'words' | 'calls'): string => {
    if (part === next) return '';
    const gap = part === undefined ? '' : `${endLine()}\n`;
    part = next;
    return gap;
  };

  function render(message: Message): string {
    switch (message.type) {
      case 'stream_event':
        return renderStream(message);
      case 'assistant':
        return message.parent_tool_use_id === null ? renderAnswer(message) : renderCalls(message, '  ');
      case 'user':
        return renderResults(message);
      case 'system':
        return renderSystem(message);
      case 'result':
        return renderEnd(message);
      default:
        return '';
    }
  }

  function renderStream({ event, parent_tool_use_id: parent }: MessageOf<'stream_event'>): string {
    if (parent !== null) return '';
    if (event.type === 'content_block_start') streamed = false;
    if (event.type !== 'content_block_delta' || event.delta.type !== 'text_delta') return '';
    streamed = true;
    return `${gapBefore('words')}${toVisible(event.delta.text)}`;
  }

  function renderAnswer(message: MessageOf<'assistant'>): string {
    let text = '';
    for (const block of message.message.content) {
      if (block.type !== 'text') continue;
      if (streamed) {
        text += endLine();
      } else if (block.text !== '') {
        const words = toVisible(block.text);
        text += gapBefore('words') + line(message.error ? paint.red(words) : words);
      }
    }
    streamed = false;
    return text + renderCalls(message, '');
  }

  function renderCalls(message: MessageOf<'assistant'>, indent: string): string {
    let text = '';
    for (const block of message.message.content) {
      if (block.type !== 'tool_use' && block.type !== 'server_tool_use') continue;
      const call = describeCall(block.name, block.input, options.cwd);
      const mark = (agents.get(message.parent_tool_use_id ?? '') ?? paint.green)(marks.call);
      const words = `${mark} ${paint.bold(toVisibleLine(block.name))} ${call}`;
      text += gapBefore('calls') + line(`${indent}${words.trimEnd()}`);
    }
    return text;
  }

  function renderResults(message: MessageOf<'user'>): string {
    if (typeof message.message.content === 'string' || message.isReplay) return '';
    const indent = message.parent_tool_use_id ? '    ' : '  ';
    let text = '';
    for (const block of message.message.content) {
      if (block.type !== 'tool_result' || denied.has(block.tool_use_id)) continue;
      text += shorten(textOf(block.content), { indent, isError: block.is_error === true });
    }
    return text === '' ? '' : line(text.slice(0, -1));
  }

  function shorten(text: string, { indent, isError }: { indent: string; isError: boolean }): string {
    const lines = toVisible(text).trimEnd().split('\n');
    const most = isError ? ERROR_LINES : RESULT_LINES;
    // One line more is shown instead of a notice that one line is missing.
    const shown = lines.length <= most + 1 ? lines : lines.slice(0, most);
    const colour = isError ? paint.red : paint.dim;
    const cut = lines.length - shown.length;
    return [
      ...shown.map((each) => `${indent}${colour(fit(each))}\n`),
      ...(cut > 0 ? [`${indent}${paint.dim(`… ${cut} more lines`)}\n`] : []),
    ].join('');
  }

  function renderSystem(message: MessageOf<'system'>): string {
    switch (message.subtype) {
      case 'api_retry': {
        const wait = `in ${(message.retry_delay_ms / 1000).toFixed(1)} s`;
        const cause = message.error_message ?? [message.error_status, message.error].filter(Boolean).join(' ');
        const attempt = `Attempt ${message.attempt} of ${message.max_retries}`;
        return line(paint.yellow(`${marks.again} ${toVisibleLine(cause)}. ${attempt} ${wait}`));
      }
      case 'permission_denied':
        denied.add(message.tool_use_id);
        return line(`  ${paint.red(`${marks.failed} denied: ${toVisibleLine(message.message)}`)}`);
      case 'model_fallback':
        return line(paint.yellow(`${marks.note} ${toVisibleLine(message.content)}`));
      case 'compact_boundary':
        return line(paint.dim(`${marks.note} the conversation so far was replaced by a summary`));
      case 'task_started': {
        const colour = paintOfAgent(options, message.color);
        if (colour !== undefined && message.tool_use_id !== undefined) agents.set(message.tool_use_id, colour);
        return '';
      }
      case 'task_notification': {
        const mark = (agents.get(message.tool_use_id ?? '') ?? paint.dim)(marks.note);
        return line(`${mark} ${paint.dim(toVisibleLine(message.summary))}`);
      }
      case 'informational':
        return line(paint.yellow(`${marks.note} ${toVisibleLine(message.content)}`));
      case 'session_writes_lost':
        return line(paint.red(`${marks.failed} the session could not be written to the disk`));
      default:
        return '';
    }
  }

  function renderEnd(message: ResultMessage): string {
    const totals = describeTotals(message, spentUsd);
    spentUsd = message.total_cost_usd;
    denied.clear();
    part = undefined;
    streamed = false;
    if (message.terminal_reason?.startsWith('aborted')) {
      return line(paint.yellow(`${marks.stopped} interrupted · ${totals}`));
    }
    if (!message.is_error && message.subtype === 'success') {
      return `${endLine()}\n${paint.green(marks.done)} ${paint.dim(totals)}\n`;
    }
    const errors = message.subtype === 'success' ? [] : message.errors;
    return line(
      [...errors.map((each) => paint.red(toVisible(each))), `${paint.red(marks.failed)} ${paint.dim(totals)}`].join(
        '\n',
      ),
    );
  }

  return {
    show,
    note: (text) => line(paint.dim(`${marks.note} ${toVisibleLine(text)}`)),
    startAt(usd) {
      spentUsd = usd;
    },
  };
}

const fit = (text: string): string => (text.length > LINE_WIDTH ? `${text.slice(0, LINE_WIDTH - 1)}…` : text);

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: { type?: string; text?: string }) => (block.type === 'text' ? block.text : `(${block.type})`))
    .join('\n');
}
