/** `heddle` in a terminal: a plain chat, line by line. */
import type { Readable, Writable } from 'node:stream';
import type { Session } from '../engine/index.js';
import type { Message } from '../protocol/index.js';
import { askPerson } from './ask.js';
import { createLineReader } from './line-reader.js';
import { type Look, paintFor } from './paint.js';
import { createView } from './render.js';
import { watchSignals } from './signals.js';
import { toUserMessage } from './user-message.js';
import { VERSION } from './version.js';

export interface ChatParts extends Look {
  session: Pick<Session, 'id' | 'attach' | 'submit' | 'interrupt' | 'close'>;
  input: Readable;
  output: Writable;
  isTerminal: boolean;
  cwd: string;
  firstPrompt?: string;
}

const HELP = `  /help          this text
  /exit          leave (or Ctrl-D)
  Ctrl-C         stop the running answer; once more ends the program
  a line ending in \\ goes on in the next one
`;

export async function runChat(parts: ChatParts): Promise<number> {
  const { session, output, cwd } = parts;
  const look: Look = { colour: parts.colour, words: parts.words };
  const paint = paintFor(look);
  const reader = createLineReader(parts);
  const view = createView({ ...look, cwd });
  const write = (text: string): void => void output.write(text);
  let turnIsOver: () => void = () => {};
  let asking: Promise<unknown> = Promise.resolve();

  const interrupt = (): void => void session.interrupt();
  const signals = watchSignals({ onInterrupt: interrupt, close: () => session.close() });

  const detach = session.attach({
    deliver(message: Message) {
      const text = view.show(message);
      if (text !== '') write(text);
      if (message.type === 'result') turnIsOver();
    },
    ask(question, { signal }) {
      const readLine = (prompt: string) =>
        reader.read(prompt, { signal, onInterrupt: interrupt, dropTypedAhead: true });
      // One question at a time: each must be seen before it is answered.
      const answer = asking.then(() => askPerson(question, { ...look, cwd, readLine, write }));
      asking = answer.catch(() => undefined);
      return answer;
    },
  });

  async function runTurn(prompt: string): Promise<void> {
    signals.rearm();
    const over = new Promise<void>((resolve) => {
      turnIsOver = resolve;
    });
    session.submit(toUserMessage(prompt, session.id));
    await over;
  }

  async function readPrompt(): Promise<string | undefined> {
    const onInterrupt = (): void => write(paint.dim('Ctrl-D or /exit leaves.\n'));
    let text = '';
    for (let mark = '> '; ; mark = '… ') {
      const line = await reader.read(mark, { onInterrupt, remember: true });
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
      if (prompt === '/help') write(HELP);
      else if (prompt !== '') await runTurn(prompt);
    }
  } finally {
    detach();
    signals.stop();
    await session.close();
  }
  return 0;
}
