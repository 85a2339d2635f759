import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type ChatParts, runChat } from '../../src/cli/chat.js';
import type { CanUseToolParams, Message, UserMessage } from '../../src/protocol/index.js';
import { blockStart, delta, failure, success, text } from './message-samples.js';

type Attachment = Parameters<ChatParts['session']['attach']>[0];

/** A session whose turns are played by the test. */
function createFakeSession(onSubmit: (prompt: string, session: FakeSession) => void) {
  const session = {
    id: 's',
    closed: false,
    interrupts: 0,
    watcher: undefined as Attachment | undefined,
    attach(attachment: Attachment) {
      session.watcher = attachment;
      return () => {
        session.watcher = undefined;
      };
    },
    submit: (message: UserMessage) => onSubmit(message.message.content as string, session),
    onInterrupt: (): void => {},
    interrupt() {
      session.interrupts += 1;
      session.onInterrupt();
      return { stillQueued: [] };
    },
    async close() {
      session.closed = true;
    },
    say: (...messages: Message[]) => messages.forEach((message) => session.watcher?.deliver(message)),
    ask: (question: Partial<CanUseToolParams>, signal = new AbortController().signal) =>
      session.watcher?.ask?.(
        { id: 'q', tool_name: 'Bash', tool_use_id: 't', input: {}, ...question },
        { signal },
      ) as Promise<unknown>,
  };
  return session;
}
type FakeSession = ReturnType<typeof createFakeSession>;

/** Types lines when what they answer has appeared. */
function createTerminal() {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = '';
  let seen = 0;
  let check = (): void => {};
  output.on('data', (chunk) => {
    shown += String(chunk);
    check();
  });
  const sees = (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        const at = shown.indexOf(wanted, seen);
        if (at === -1) return;
        seen = at + wanted.length;
        resolve();
      };
      check();
    });
  return {
    input,
    output,
    sees,
    type: async (after: string, line: string) => {
      await sees(after);
      input.write(`${line}\n`);
    },
    get shown() {
      return shown;
    },
  };
}

function startChat(session: FakeSession, extra: Partial<ChatParts> = {}) {
  const terminal = createTerminal();
  const { input, output } = terminal;
  const over = runChat({ session, input, output, isTerminal: false, colour: false, cwd: '/shop', ...extra });
  return { terminal, over };
}

describe('runChat', () => {
  it('reads prompts, streams answers, and leaves with /exit', async () => {
    const prompts: string[] = [];
    const session = createFakeSession((prompt, { say }) => {
      prompts.push(prompt);
      say(blockStart(), delta('An'), delta('swer'), text('Answer'), success());
    });
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'hello');
    await terminal.type('✓', '');
    await terminal.type('> ', '/help');
    await terminal.type('/exit', 'first \\');
    await terminal.type('… ', 'second');
    await terminal.type('✓', '/exit');
    expect(await over).toBe(0);
    expect(prompts).toEqual(['hello', 'first \nsecond']);
    expect(session.closed).toBe(true);
    expect(session.watcher).toBeUndefined();
    expect(terminal.shown).toContain('> Answer\n\n✓ 3 turns · 1.2 s · $0.0041\n');
  });

  it('answers the prompt of the command line first, and leaves at the end of input', async () => {
    const session = createFakeSession((prompt, { say }) => say(text(`heard ${prompt}`), success()));
    const { terminal, over } = startChat(session, { firstPrompt: 'now' });
    await terminal.sees('heard now');
    await terminal.sees('> ');
    terminal.input.end();
    expect(await over).toBe(0);
    expect(session.closed).toBe(true);
  });

  it('interrupts the running turn at SIGINT, and stays', async () => {
    const session = createFakeSession(() => process.emit('SIGINT', 'SIGINT'));
    session.onInterrupt = () => session.say(failure([], { is_error: false, terminal_reason: 'aborted_streaming' }));
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'work');
    await terminal.type('interrupted', 'again');
    await terminal.type('interrupted', '/exit');
    expect(await over).toBe(0);
    expect(session.interrupts).toBe(2);
  });

  it.each([
    ['y', { behavior: 'allow', updatedInput: { command: 'rm -r build' } }],
    ['YES', { behavior: 'allow', updatedInput: { command: 'rm -r build' } }],
    ['n', { behavior: 'deny', message: 'The person refused this call.' }],
    ['', { behavior: 'deny', message: 'The person refused this call.' }],
    ['use git clean', { behavior: 'deny', message: 'use git clean' }],
  ])('a permission question answered with %j', async (line, expected) => {
    const answers: unknown[] = [];
    const session = createFakeSession(async (_prompt, { ask, say }) => {
      answers.push(await ask({ input: { command: 'rm -r build' }, decision_reason: 'no rule covers it' }));
      say(success());
    });
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'clean');
    await terminal.type('instead: ', line);
    await terminal.type('✓', '/exit');
    await over;
    expect(answers).toEqual([expected]);
  });

  it('D6, C5: shows each call whole, with cwd, one question at a time', async () => {
    const answers: unknown[] = [];
    const session = createFakeSession(async (_prompt, { ask, say }) => {
      const long = `echo ${'x'.repeat(500)}`;
      answers.push(
        ...(await Promise.all([
          ask({ input: { command: `${long}\nrm \u202Efdp`, timeout: 5 }, decision_reason: 'asked for' }),
          ask({ tool_name: 'Write', input: { file_path: '/a', content: 'one\ntwo' }, cwd: '/else' }),
        ])),
      );
      say(success());
    });
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'go');
    await terminal.sees('Allow?');
    expect(terminal.shown).toContain(
      `● Bash needs your approval\n  command:\n    echo ${'x'.repeat(500)}\n    rm \\u202efdp\n  timeout: 5\n  cwd: /shop\n  asked because: asked for\n`,
    );
    expect(terminal.shown).not.toContain('Write');
    terminal.input.write('y\n');
    await terminal.type('instead: ', 'n');
    await terminal.sees('✓');
    expect(terminal.shown).toContain('  file_path: /a\n  content:\n    one\n    two\n  cwd: /else\n');
    expect(answers).toMatchObject([{ behavior: 'allow' }, { behavior: 'deny' }]);
    terminal.input.end();
    await over;
  });

  it('C3: a question that is withdrawn, or input that ends, is a denial', async () => {
    const answers: unknown[] = [];
    const withdrawn = new AbortController();
    const session = createFakeSession(async (_prompt, { ask, say }) => {
      answers.push(await ask({}, withdrawn.signal));
      answers.push(await ask({}));
      say(success());
    });
    const { terminal, over } = startChat(session, { firstPrompt: 'go' });
    await terminal.sees('Allow?');
    withdrawn.abort();
    await terminal.sees('Allow?');
    terminal.input.end();
    await over;
    const left = { behavior: 'deny', message: 'The person left without answering.' };
    expect(answers).toEqual([left, left]);
  });

  it('H7: choices are answered by number or in own words', async () => {
    const answers: unknown[] = [];
    const questions = [
      { question: 'Which colour?', options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }] },
      { question: 'Which fibres?', multiSelect: true, options: [{ label: 'Wool' }, { label: 'Linen' }] },
      { question: 'Which loom?', options: [{ label: 'A' }, { label: 'B' }] },
    ];
    const session = createFakeSession(async (_prompt, { ask, say }) => {
      answers.push(await ask({ tool_name: 'AskUserQuestion', input: { questions } }));
      say(success());
    });
    const { terminal, over } = startChat(session, { firstPrompt: 'go' });
    await terminal.type('your own words: ', '2');
    await terminal.type('your own words: ', '1, 2');
    await terminal.type('your own words: ', 'the big one');
    await terminal.sees('✓');
    terminal.input.end();
    await over;
    expect(terminal.shown).toContain('Which colour?\n  1. Red warm\n  2. Blue\n');
    expect(answers).toEqual([
      {
        behavior: 'allow',
        updatedInput: {
          questions,
          answers: { 'Which colour?': 'Blue', 'Which fibres?': 'Wool, Linen', 'Which loom?': 'the big one' },
        },
      },
    ]);
  });
});
