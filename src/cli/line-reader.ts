/** Lines typed by a person. They are read all the time: what comes while nobody waits is kept for the next prompt. */
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { createScreen } from './screen.js';
import { toVisibleLine } from './visible.js';

export interface LineReaderOptions {
  input: Readable;
  output: Writable;
  /** Lines are edited here, in raw mode. Otherwise whole lines come as someone else made them. */
  isTerminal: boolean;
  /** Ctrl-C in raw mode, where it is not just the end of a half-typed line. */
  onInterrupt: (waiting: Waiting | undefined) => void;
  /** A line came while nobody waited for one: a prompt for later. */
  onKept: (line: string) => void;
  /** How long nothing must be typed before a question takes answers. */
  quietMs?: number;
}

/** What the next line is for. */
export type Waiting = 'prompt' | 'answer';

export interface LineReader {
  /** The next prompt, kept ones first. Undefined: the person leaves. */
  readPrompt(mark: string): Promise<string | undefined>;
  /**
   * A line that was typed after the question stood on the screen, which it must do when this is called; what was typed
   * before stays a prompt. Undefined: Ctrl-D, the end of input, or the signal.
   */
  readAnswer(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Draws the prompt again that is waited at, with what is typed, after something was printed below it. */
  redraw(): void;
  /** Leaves the terminal as it was found. */
  close(): void;
}

interface Wait {
  for: Waiting;
  mark: string;
  resolve: (line: string | undefined) => void;
}

interface Key {
  name?: string;
}

/** Who is in the middle of typing does not answer a question that appears under their hands. */
const QUIET_MS = 250;
const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';
export const CONTINUED = '… ';

export function createLineReader(options: LineReaderOptions): LineReader {
  const { input, output, isTerminal, quietMs = QUIET_MS } = options;
  const screen = createScreen(output);
  /** Undefined stands for Ctrl-D. */
  const kept: (string | undefined)[] = [];
  let history: string[] = [];
  let arrivals = 0;
  let isPasting = false;
  /** The whole lines of a paste whose last line is still being typed. */
  let pasted: string[] = [];
  let wait: Wait | undefined;
  let hasEnded = false;
  let lines = open();

  function open(): Interface {
    const editor = createInterface({ input, output: screen, terminal: isTerminal, history: [...history], prompt: '' });
    editor.on('line', takeLine);
    editor.on('history', (all: string[]) => {
      const isPrompt = wait?.for !== 'answer' && !isPasting;
      if (isPrompt) history = [...all];
      else all.splice(0, all.length, ...history);
    });
    editor.on('SIGINT', takeInterrupt);
    editor.on('error', () => editor.close());
    editor.on('close', takeEnd);
    return editor;
  }

  function takeLine(line: string): void {
    if (isPasting) {
      pasted.push(line);
      if (wait !== undefined) promptWith(CONTINUED);
      return;
    }
    const whole = [...pasted, line].join('\n');
    pasted = [];
    if (wait !== undefined) return settle(whole);
    if (whole.trim() === '') return;
    kept.push(whole);
    options.onKept(whole);
  }

  function takeInterrupt(): void {
    isPasting = false;
    if (wait !== undefined && (lines.line !== '' || pasted.length > 0)) {
      pasted = [];
      lines.setPrompt(wait.mark);
      takeTyped();
      return;
    }
    if (wait !== undefined) output.write('\n');
    options.onInterrupt(wait?.for);
    if (wait !== undefined) promptWith(wait.mark);
  }

  /** Ctrl-D closes the editor, but not the input: there is another line to read. */
  function takeEnd(): void {
    hasEnded ||= input.readableEnded || input.destroyed;
    pasted = [];
    if (!hasEnded) lines = open();
    if (wait !== undefined) leave();
    else if (!hasEnded) kept.push(undefined);
  }

  function leave(): void {
    output.write('\n');
    settle(undefined);
  }

  function settle(line: string | undefined): void {
    const settled = wait;
    wait = undefined;
    lines.setPrompt('');
    screen.isMuted = isTerminal;
    settled?.resolve(line);
  }

  function promptWith(mark: string): void {
    lines.setPrompt(mark);
    lines.prompt();
  }

  function waitFor(what: Waiting, mark: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      wait = { for: what, mark, resolve };
      screen.isMuted = false;
      promptWith(pasted.length > 0 ? CONTINUED : mark);
    });
  }

  /** Empties the editor, and gives what stood there. */
  function takeTyped(): string {
    if (!isTerminal) return '';
    const typed = lines.line;
    lines.write(null, { ctrl: true, name: 'e' });
    lines.write(null, { ctrl: true, name: 'u' });
    return typed;
  }

  const type = (text: string): void => {
    if (text !== '') lines.write(text);
  };

  async function waitForQuiet(signal: AbortSignal): Promise<void> {
    for (let seen = -1; seen !== arrivals || isPasting; ) {
      seen = arrivals;
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      // A timer may come before what has long been in the terminal; the next turn of the loop reads that first.
      await new Promise(setImmediate);
      if (signal.aborted || hasEnded) return;
    }
  }

  async function readPrompt(mark: string): Promise<string | undefined> {
    if (kept.length > 0) {
      const line = kept.shift();
      output.write(line === undefined ? '\n' : `${mark}${toVisibleLine(line)}\n`);
      return line;
    }
    if (hasEnded) return undefined;
    const typed = takeTyped();
    for (const [at, line] of pasted.entries()) output.write(`${at === 0 ? mark : CONTINUED}${toVisibleLine(line)}\n`);
    const answer = waitFor('prompt', mark);
    type(typed);
    return answer;
  }

  async function readAnswer(question: string, signal: AbortSignal): Promise<string | undefined> {
    await waitForQuiet(signal);
    if (signal.aborted || hasEnded) return undefined;
    // A turn that began by itself may ask while a prompt is waited for: that goes on afterwards.
    const before = { pasted, typed: takeTyped(), wait };
    pasted = [];
    const onAbort = (): void => {
      if (wait?.for === 'answer') leave();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const answer = await waitFor('answer', question);
    signal.removeEventListener('abort', onAbort);
    if (before.wait !== undefined) {
      wait = before.wait;
      screen.isMuted = false;
      if (hasEnded) settle(undefined);
      else promptWith(before.wait.mark);
    }
    if (hasEnded) return answer;
    // What follows an answer is typed for later; half an answer that nobody waits for any more is nothing.
    const after = takeTyped();
    pasted = before.pasted;
    type(answer === undefined ? before.typed : before.typed + after);
    return answer;
  }

  const onData = (): void => {
    arrivals += 1;
  };
  const onKey = (_text: string | undefined, { name }: Key): void => {
    if (name === 'paste-start') isPasting = true;
    if (name === 'paste-end') isPasting = false;
  };
  const stopPaste = (): void => void output.write(PASTE_OFF);

  input.on('data', onData);
  screen.isMuted = isTerminal;
  if (isTerminal) {
    // Before the editor sees the key: lines of a paste are no prompts of their own.
    input.prependListener('keypress', onKey);
    process.once('exit', stopPaste);
    output.write(PASTE_ON);
  }

  return {
    readPrompt,
    readAnswer,
    redraw() {
      if (wait?.for === 'prompt') lines.prompt(true);
    },
    close() {
      hasEnded = true;
      lines.close();
      screen.close();
      input.off('data', onData).off('keypress', onKey);
      if (!isTerminal) return;
      process.off('exit', stopPaste);
      stopPaste();
    },
  };
}
