import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChatParts, runChat } from '../../src/cli/chat.js';
import type { CanUseToolParams, Message, UserMessage } from '../../src/protocol/index.js';
import { blockStart, delta, failure, success, text } from './message-samples.js';

type Attachment = Parameters<ChatParts['session']['attach']>[0];

/** A session whose turns are played by the test. */
function createFakeSession(onSubmit: (prompt: string, session: FakeSession) => void) {
  const session = {
    id: 's',
    busy: false,
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
        check = () => {};
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
  const over = runChat({
    session,
    input,
    output,
    isTerminal: false,
    colour: false,
    cwd: '/shop',
    quietMs: 10,
    ...extra,
  });
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
    await terminal.type('> ', 'first \\');
    await terminal.type('… ', 'second');
    await terminal.type('✓', '/exit');
    expect(await over).toBe(0);
    expect(prompts).toEqual(['hello', 'first \nsecond']);
    expect(session.closed).toBe(true);
    expect(session.watcher).toBeUndefined();
    expect(terminal.shown).toContain('> Answer\n\n✓ 3 turns · 1.2 s · $0.0041\n');
  });

  it.each([
    [true, ['/help', '/help cost']],
    [false, ['/help cost']],
  ])(
    '/help tells the keys, and then what the session says of its commands (has them: %s)',
    async (hasCommands, wanted) => {
      const prompts: string[] = [];
      const session = createFakeSession((prompt, { say }) => {
        prompts.push(prompt);
        say(text('Commands\n  /cost'), success());
      });
      const { terminal, over } = startChat(session, { hasCommands });
      await terminal.type('> ', '/help');
      await terminal.sees('Ctrl-C  ');
      if (hasCommands) await terminal.sees('  /cost');
      await terminal.type('> ', '/help cost');
      await terminal.type('✓', '/exit');
      expect(await over).toBe(0);
      expect(prompts).toEqual(wanted);
    },
  );

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
    await terminal.sees('instead: ');
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

describe('what is typed while a turn runs', () => {
  it('D6: a y typed before the card is shown does not answer it; it is the next prompt', async () => {
    const prompts: string[] = [];
    const answers: unknown[] = [];
    const session = createFakeSession(async (prompt, { ask, say }) => {
      prompts.push(prompt);
      if (prompt === 'clean') {
        terminal.input.write('y\n');
        answers.push(await ask({ input: { command: 'rm -r build' } }));
      }
      say(success());
    });
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'clean');
    await terminal.sees('queued: y\n');
    await terminal.type('instead: ', 'n');
    await terminal.sees('> y\n');
    await terminal.type('✓', '/exit');
    await over;
    expect(answers).toEqual([{ behavior: 'deny', message: 'The person refused this call.' }]);
    expect(prompts).toEqual(['clean', 'y']);
  });

  it('lines of one paste are prompts, in order, and none is lost', async () => {
    const prompts: string[] = [];
    const session = createFakeSession((prompt, { say }) => {
      prompts.push(prompt);
      setImmediate(() => say(text(`heard ${prompt}`), success()));
    });
    const { terminal, over } = startChat(session);
    await terminal.sees('> ');
    terminal.input.write('alpha\nbeta\ngamma\n/exit\n');
    await over;
    expect(prompts).toEqual(['alpha', 'beta', 'gamma']);
  });

  it('lines survive an interrupt', async () => {
    const prompts: string[] = [];
    const session = createFakeSession((prompt, { say }) => {
      prompts.push(prompt);
      if (prompt === 'work') terminal.input.write('and then this\n');
      else say(success());
    });
    session.onInterrupt = () => session.say(failure([], { is_error: false, terminal_reason: 'aborted_streaming' }));
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'work');
    await terminal.sees('queued: and then this');
    process.emit('SIGINT', 'SIGINT');
    await terminal.sees('interrupted');
    await terminal.type('✓', '/exit');
    await over;
    expect(prompts).toEqual(['work', 'and then this']);
  });

  it('a turn that begins by itself is shown below the prompt, which is drawn again after it', async () => {
    const session = createFakeSession((_, self) => self.say(text('First.'), success()));
    const { terminal, over } = startChat(session);
    await terminal.type('> ', 'go');
    await terminal.sees('✓');
    await terminal.sees('> ');
    session.say(text('It is done.'), { ...success(), origin: { kind: 'task-notification' } });
    await terminal.sees('\nIt is done.');
    await terminal.sees('✓');
    await terminal.type('> ', '/exit');
    expect(await over).toBe(0);
  });

  it('a turn that begins by itself may ask; the prompt is waited for afterwards as before', async () => {
    const prompts: string[] = [];
    const session = createFakeSession((prompt, self) => {
      prompts.push(prompt);
      self.say(text('Answer.'), success());
    });
    const { terminal, over } = startChat(session);
    await terminal.sees('> ');
    const answer = session.ask({ input: { command: 'touch x' } });
    await terminal.type('Allow?', 'y');
    expect(await answer).toMatchObject({ behavior: 'allow' });
    session.say(text('Done.'), { ...success(), origin: { kind: 'task-notification' } });
    await terminal.sees('Done.');
    await terminal.type('> ', 'hello');
    await terminal.sees('Answer.');
    await terminal.type('> ', '/exit');
    expect(await over).toBe(0);
    expect(prompts).toEqual(['hello']);
  });

  it('the cost at the end of a turn is that of the turn, the costs before it left out', async () => {
    let total = 2;
    const session = createFakeSession((_prompt, { say }) => {
      total += 0.5;
      say(success('ok', { total_cost_usd: total }));
    });
    const { terminal, over } = startChat(session, { spentUsd: 2 });
    await terminal.type('> ', 'one');
    await terminal.type('✓ 3 turns · 1.2 s · $0.50', 'two');
    await terminal.type('✓ 3 turns · 1.2 s · $0.50', '/exit');
    expect(await over).toBe(0);
  });
});

describe('in a terminal that edits lines', () => {
  const term = process.env.TERM;
  beforeAll(() => {
    process.env.TERM = 'xterm';
  });
  afterAll(() => {
    if (term === undefined) delete process.env.TERM;
    else process.env.TERM = term;
  });

  const CTRL_C = '\x03';
  const CTRL_D = '\x04';
  const PASTE = (words: string): string => `\x1b[200~${words}\x1b[201~`;

  /** Says what each prompt of a chat was; `onPrompt` plays its turn, or leaves it to the default. */
  function startTyping(onPrompt: (prompt: string, session: FakeSession) => boolean | void = () => {}) {
    const prompts: string[] = [];
    const session = createFakeSession((prompt, self) => {
      prompts.push(prompt);
      if (onPrompt(prompt, self) !== true) self.say(text(`heard ${prompt}`), success());
    });
    return { prompts, session, ...startChat(session, { isTerminal: true }) };
  }

  it('a half-typed line is no answer either: it waits for the next prompt', async () => {
    const answers: unknown[] = [];
    const { prompts, terminal, over } = startTyping((prompt, { ask, say }) => {
      if (prompt !== 'clean') return false;
      terminal.input.write('y');
      void ask({ input: { command: 'rm -r build' } }).then((answer) => {
        answers.push(answer);
        say(success());
      });
      return true;
    });
    await terminal.sees('> ');
    terminal.input.write('clean\r');
    await terminal.sees('instead: ');
    terminal.input.write('\r');
    await terminal.sees('> ');
    await terminal.sees('y');
    terminal.input.write('es, go on\r');
    await terminal.sees('heard yes, go on');
    terminal.input.write(CTRL_D);
    expect(await over).toBe(0);
    expect(answers).toEqual([{ behavior: 'deny', message: 'The person refused this call.' }]);
    expect(prompts).toEqual(['clean', 'yes, go on']);
  });

  it('one paste is one prompt, sent with Enter', async () => {
    const { prompts, terminal, over } = startTyping();
    await terminal.sees('> ');
    terminal.input.write(PASTE('alpha\rbeta\rgamma'));
    await terminal.sees('gamma');
    terminal.input.write('!\r');
    await terminal.sees('heard');
    terminal.input.write('/exit\r');
    await over;
    expect(prompts).toEqual(['alpha\nbeta\ngamma!']);
    expect(terminal.shown.startsWith('\x1b[?2004h')).toBe(true);
    expect(terminal.shown.endsWith('\x1b[?2004l')).toBe(true);
  });

  it('a pasted text is no answer, whatever its lines say', async () => {
    const answers: unknown[] = [];
    const { terminal, over } = startTyping((_prompt, { ask, say }) => {
      void ask({}).then((answer) => {
        answers.push(answer);
        say(success());
      });
      return true;
    });
    await terminal.sees('> ');
    terminal.input.write('go\r');
    await terminal.sees('instead: ');
    terminal.input.write(`${PASTE('y\rand more\r')}\r`);
    await terminal.sees('✓');
    terminal.input.write('/exit\r');
    await over;
    expect(answers).toEqual([{ behavior: 'deny', message: 'y\nand more' }]);
  });

  it('lines without paste marks are prompts in order; nothing typed is drawn into an answer', async () => {
    const { prompts, terminal, over } = startTyping();
    await terminal.sees('> ');
    terminal.input.write('alpha\rbeta\rgam');
    await terminal.sees('heard beta');
    await terminal.sees('gam');
    terminal.input.write('ma\r/exit\r');
    await over;
    expect(prompts).toEqual(['alpha', 'beta', 'gamma']);
    expect(terminal.shown).toContain('· queued: beta\n');
    expect(terminal.shown).toContain('> beta\n');
  });

  it('Ctrl-C stops the turn, empties a line, or says how to leave; Ctrl-D refuses a question and stays', async () => {
    const answers: unknown[] = [];
    const { prompts, session, terminal, over } = startTyping((prompt, { ask, say }) => {
      if (prompt === 'work') say(blockStart(), delta('working'));
      if (prompt === 'ask')
        void ask({}).then((answer) => {
          answers.push(answer);
          say(success());
        });
      return prompt === 'ask' || prompt === 'work';
    });
    session.onInterrupt = () => session.say(failure([], { is_error: false, terminal_reason: 'aborted_streaming' }));
    await terminal.sees('> ');
    terminal.input.write('work\r');
    await terminal.sees('working');
    terminal.input.write(`later${CTRL_C}`);
    await terminal.sees('interrupted');
    await terminal.sees('later');
    terminal.input.write(`${CTRL_C}${CTRL_C}`);
    await terminal.sees('/exit leaves');
    terminal.input.write('ask\r');
    await terminal.sees('instead: ');
    terminal.input.write(CTRL_D);
    await terminal.sees('✓');
    terminal.input.write('still here\r');
    await terminal.sees('heard still here');
    terminal.input.write(CTRL_D);
    expect(await over).toBe(0);
    expect(session.interrupts).toBe(1);
    expect(prompts).toEqual(['work', 'ask', 'still here']);
    expect(answers).toEqual([{ behavior: 'deny', message: 'The person left without answering.' }]);
  });

  it('the arrow keys bring back prompts, not answers', async () => {
    const { prompts, terminal, over } = startTyping((prompt, { ask, say }) => {
      if (prompt === 'clean') void ask({}).then(() => say(success()));
      return prompt === 'clean';
    });
    await terminal.sees('> ');
    terminal.input.write('clean\r');
    await terminal.sees('instead: ');
    terminal.input.write('n\r');
    await terminal.sees('✓');
    await terminal.sees('> ');
    terminal.input.write('\x1b[A');
    await terminal.sees('clean');
    terminal.input.write(' up\r');
    await terminal.sees('heard clean up');
    terminal.input.write('/exit\r');
    await over;
    expect(prompts).toEqual(['clean', 'clean up']);
  });
});
