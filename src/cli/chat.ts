/** `heddle` in a terminal: a plain chat, line by line. */
import type { Readable, Writable } from 'node:stream';
import type { Session } from '../engine/index.js';
import type { Message } from '../protocol/index.js';
import { type AskOptions, askPerson } from './ask.js';
import { fillForm } from './fill-form.js';
import { CONTINUED, createLineReader } from './line-reader.js';
import { type Look, paintFor } from './paint.js';
import { createView } from './render.js';
import { watchSignals } from './signals.js';
import { toUserMessage } from './user-message.js';
import { VERSION } from './version.js';

export interface ChatParts extends Look {
  session: Pick<Session, 'id' | 'busy' | 'attach' | 'submit' | 'interrupt' | 'close'>;
  input: Readable;
  output: Writable;
  /** A terminal whose lines can be edited. */
  isTerminal: boolean;
  cwd: string;
  firstPrompt?: string;
  /** False where slash commands are switched off: then they are prompts like any other. */
  hasCommands?: boolean;
  /** What the session had cost before this chat. */
  spentUsd?: number;
  quietMs?: number;
}

const HELP = `In this chat
  /help          this text, and the commands; /help <command> tells more of one
  /exit          leave (or Ctrl-D)
  Ctrl-C         stop the running answer; once more ends the program
  a line ending in \\ goes on in the next one; a pasted text is one message
  what you type during an answer is sent after it
`;

export async function runChat(parts: ChatParts): Promise<number> {
  const { session, output, cwd } = parts;
  const look: Look = { colour: parts.colour, words: parts.words };
  const paint = paintFor(look);
  const view = createView({ ...look, cwd });
  view.startAt(parts.spentUsd ?? 0);
  const write = (text: string): void => void output.write(text);
  let turnIsOver: () => void = () => {};
  /** What comes outside a turn of the person, because a background task ended, begins below the prompt. */
  let mayPrint = false;
  let asking: Promise<unknown> = Promise.resolve();

  const signals = watchSignals({ onInterrupt: () => session.interrupt(), close: () => session.close() });
  const reader = createLineReader({
    ...parts,
    onInterrupt: (waiting) => {
      if (waiting === 'prompt' && session.busy) session.interrupt();
      else if (waiting === 'prompt') write(paint.dim('Ctrl-D or /exit leaves.\n'));
      else signals.interrupt();
    },
    onKept: (line) => write(view.note(`queued: ${line}`)),
  });

  /** One question at a time: each must be seen before it is answered. */
  function inTurn<T>(signal: AbortSignal, put: (options: AskOptions) => Promise<T>): Promise<T> {
    const readLine = (prompt: string) => reader.readAnswer(prompt, signal);
    const answer = asking.then(() => put({ ...look, cwd, readLine, write }));
    asking = answer.catch(() => undefined);
    return answer;
  }

  const detach = session.attach({
    deliver(message: Message) {
      const text = view.show(message);
      if (text !== '' && !mayPrint) write('\n');
      mayPrint ||= text !== '';
      if (text !== '') write(text);
      if (message.type !== 'result') return;
      if (message.origin === undefined) return turnIsOver();
      mayPrint = false;
      reader.redraw();
    },
    ask: (question, { signal }) => inTurn(signal, (options) => askPerson(question, options)),
    elicit: (form, { signal }) => inTurn(signal, (options) => fillForm(form, options)),
  });

  async function runTurn(prompt: string): Promise<void> {
    signals.rearm();
    const over = new Promise<void>((resolve) => {
      turnIsOver = resolve;
    });
    mayPrint = true;
    session.submit(toUserMessage(prompt, session.id));
    await over;
    mayPrint = false;
    signals.rearm();
  }

  async function readPrompt(): Promise<string | undefined> {
    let text = '';
    for (let mark = '> '; ; mark = CONTINUED) {
      const line = await reader.readPrompt(mark);
      if (line === undefined) return undefined;
      text += line;
      if (!text.endsWith('\\')) return text.trim();
      text = `${text.slice(0, -1)}\n`;
    }
  }

  write(
    `${paint.bold(`Heddle ${VERSION}`)} ${paint.dim(`in ${cwd} · /help, Ctrl-C stops an answer, Ctrl-D leaves`)}\n`,
  );
  try {
    if (parts.firstPrompt) await runTurn(parts.firstPrompt);
    for (;;) {
      const prompt = await readPrompt();
      if (prompt === undefined || prompt === '/exit' || prompt === '/quit') break;
      if (prompt === '/help') write(parts.hasCommands === false ? HELP : `${HELP}\n`);
      // The session knows its commands: its own, and those of files, plugins and servers.
      if (prompt !== '' && !(prompt === '/help' && parts.hasCommands === false)) await runTurn(prompt);
    }
  } finally {
    detach();
    reader.close();
    await session.close();
    signals.rearm();
    signals.stop();
  }
  // A terminal that goes away ends the input and sends a signal.
  return signals.exitCode ?? 0;
}
