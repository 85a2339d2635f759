/** Answers: plain, streamed, with tools, and with characters that line readers stumble over. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message } from '../../../src/protocol/index.js';
import { type FakeAnswer, toolResult } from '../../../src/testing/index.js';
import type { Scenario } from '../scenario.js';

export const call = (name: string, input: Record<string, unknown>): FakeAnswer => ({ toolUse: { name, input } });
export const bash = (command: string): FakeAnswer => call('Bash', { command });

const resultOf = (message: Message, id: string): boolean =>
  message.type === 'user' && JSON.stringify(message.message.content).includes(id);

/** Line and paragraph separators, both returns, a combining accent, a pair of surrogates and a joined family. */
const ODD = 'a\u2028b\u2029c\r\nd\re \u0001 e\u0301 \u{1f600} \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \ufeff\u0085';

const NUMBERS = Array.from({ length: 60_000 }, (_, index) => index + 1).join('\n');

export const ANSWERS: Scenario[] = [
  {
    number: '01',
    name: 'a plain answer',
    script: () => ['Hello.'],
    prompt: 'Hi',
    expected: `
      system/init
      assistant "Hello."
      result success turns=1`,
  },
  {
    number: '02',
    name: 'partial messages with thinking',
    script: () => [{ thinking: 'Let me see.', text: 'one two three', deltas: 3 }],
    options: { includePartialMessages: true, maxThinkingTokens: 2_000 },
    prompt: 'Count',
    expected: `
      system/init
      stream message_start
      stream content_block_start
      stream content_block_delta
      stream content_block_delta
      stream content_block_delta
      stream content_block_delta
      assistant thinking
      stream content_block_stop
      stream content_block_start
      stream content_block_delta
      stream content_block_delta
      stream content_block_delta
      assistant "one two three"
      stream content_block_stop
      stream message_delta
      stream message_stop
      result success turns=1`,
  },
  {
    number: '03',
    name: 'a round of tools on real files',
    files: { 'notes.txt': 'warp\nweft\n' },
    script: () => [
      { text: 'I look first.', toolUse: { name: 'Read', input: { file_path: 'notes.txt' } } },
      call('Edit', { file_path: 'notes.txt', old_string: 'weft', new_string: 'woof' }),
      call('Write', { file_path: 'sub/new.txt', content: 'new\n' }),
      call('Grep', { pattern: 'woof' }),
      call('Read', { file_path: 'missing.txt' }),
      'Done.',
    ],
    options: { permissionMode: 'acceptEdits' },
    async drive(stage) {
      await stage.run('Change it', this.options);
      stage.note(`notes.txt is ${JSON.stringify(readFileSync(join(stage.cwd, 'notes.txt'), 'utf8'))}`);
      stage.note(`sub/new.txt is ${JSON.stringify(readFileSync(join(stage.cwd, 'sub/new.txt'), 'utf8'))}`);
    },
    expected: `
      system/init
      assistant "I look first."
      assistant Read({"file_path":"notes.txt"})
      user ok toolu_1 "1\\twarp\\n2\\tweft"
      assistant Edit({"file_path":"notes.txt","old_string":"weft","new_string":"woof"})
      user ok toolu_2 "The file <cwd>/notes.txt has been updated successfully."
      assistant Write({"file_path":"sub/new.txt","content":"new\\n"})
      user ok toolu_3 "File created successfully at: <cwd>/sub/new.txt"
      assistant Grep({"pattern":"woof"})
      user ok toolu_4 "Found 1 file\\nnotes.txt"
      assistant Read({"file_path":"missing.txt"})
      user error toolu_5 "File does not exist. Note: your current working directory is <cwd>."
      assistant "Done."
      result success turns=6

      * notes.txt is "warp\\nwoof\\n"
      * sub/new.txt is "new\\n"`,
  },
  {
    number: '04',
    name: 'calls of one message run together',
    files: { 'plain.txt': 'plain\n' },
    script: () => [
      {
        toolUse: [
          { name: 'Bash', input: { command: 'cat first' } },
          { name: 'Bash', input: { command: 'cat second' } },
          { name: 'Read', input: { file_path: 'plain.txt' } },
        ],
      },
      'All three.',
    ],
    // Both commands wait for a writer: only if they run at once can the second end before the first.
    async drive(stage) {
      const [first, second] = [join(stage.cwd, 'first'), join(stage.cwd, 'second')];
      execFileSync('mkfifo', [first, second]);
      // Not in this thread: in memory the engine, which starts the readers, runs in it, too.
      await stage.run('Read all', {}, (message) => {
        if (resultOf(message, 'toolu_3')) void writeFile(second, 'second\n');
        if (resultOf(message, 'toolu_2')) void writeFile(first, 'first\n');
      });
    },
    expected: `
      system/init
      assistant Bash({"command":"cat first"})
      assistant Bash({"command":"cat second"})
      assistant Read({"file_path":"plain.txt"})
      user ok toolu_3 "1\\tplain"
      user ok toolu_2 "second"
      user ok toolu_1 "first"
      assistant "All three."
      result success turns=2`,
  },
  {
    number: '19',
    name: 'a large tool output is cut and kept',
    script: () => [bash('seq 1 60000'), 'Many.'],
    options: { allowedTools: ['Bash(seq:*)'] },
    async drive(stage) {
      const messages = await stage.run('Count', this.options);
      const [, path = ''] = / is kept in (\S+)\]/.exec(toolResult(messages, 'toolu_1').text) ?? [];
      stage.note(`kept whole: ${readFileSync(path, 'utf8') === NUMBERS}`);
    },
    expected: `
      system/init
      assistant Bash({"command":"seq 1 60000"})
      user ok toolu_1 ${JSON.stringify(NUMBERS.slice(0, 200))} and 29800 characters more
      assistant "Many."
      result success turns=2

      * kept whole: true`,
  },
  {
    number: '20',
    name: 'line separators, returns and emoji survive both ways',
    script: () => [
      { text: ODD, toolUse: { name: 'Write', input: { file_path: 'odd.txt', content: ODD } } },
      call('Bash', { command: 'cat odd.txt' }),
      { text: ODD, deltas: 30 },
    ],
    options: { permissionMode: 'acceptEdits' },
    async drive(stage) {
      const messages = await stage.run(ODD, this.options);
      const result = messages.at(-1);
      stage.note(`the file: ${readFileSync(join(stage.cwd, 'odd.txt'), 'utf8') === ODD}`);
      stage.note(`the result: ${result?.type === 'result' && result.subtype === 'success' && result.result === ODD}`);
      const sent = JSON.stringify(stage.api.requests.at(-1)?.body.messages);
      stage.note(`sent to the model: ${sent.split(JSON.stringify(ODD)).length - 1} times`);
    },
    expected: `
      system/init
      assistant ${JSON.stringify(ODD)}
      assistant Write({"file_path":"odd.txt","content":${JSON.stringify(ODD)}})
      user ok toolu_1 "File created successfully at: <cwd>/odd.txt"
      assistant Bash({"command":"cat odd.txt"})
      user ok toolu_2 ${JSON.stringify(ODD)}
      assistant ${JSON.stringify(ODD)}
      result success turns=3

      * the file: true
      * the result: true
      * sent to the model: 4 times`,
  },
];
