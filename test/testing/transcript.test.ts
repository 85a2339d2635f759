import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/protocol/index.js';
import { query } from '../../src/sdk/index.js';
import {
  collect,
  createMemoryStore,
  createMemoryWorkspace,
  createScriptedModel,
  expectTranscript,
  lastResult,
  type ScriptStep,
  toolResult,
  toolResults,
  transcript,
} from '../../src/testing/index.js';
import { diffLines, showDiff } from '../../src/testing/line-diff.js';
import { ENV, scratch, thrownBy } from './scratch.js';

const run = (script: readonly ScriptStep[], cwd = scratch()): Promise<Message[]> =>
  collect(
    query({
      prompt: 'go',
      options: {
        cwd,
        env: ENV,
        model: 'sonnet',
        heddle: { provider: createScriptedModel(script), store: createMemoryStore() },
      },
    }),
  );

const LONG = 'x'.repeat(300);

describe('transcript()', () => {
  it('has one line per message, the same in every folder, with every id', async () => {
    const once = async (id: string) => {
      const cwd = scratch();
      const read = { toolUse: { name: 'Read', input: { file_path: `${cwd}/none.txt` }, id } };
      const note = `In ${cwd}. At 2025-03-04T05:06:07Z for ${crypto.randomUUID()}.`;
      return transcript(await run([read, note], cwd));
    };
    const text = await once('toolu_01AbCdEfGhIjKlMnOpQr');
    expect(text.split('\n')).toEqual([
      'system/init',
      'assistant Read({"file_path":"<cwd>/none.txt"})',
      'user error toolu_<1> "File does not exist. Note: your current working directory is <cwd>."',
      'assistant "In <cwd>. At <date> for <uuid>."',
      'result success turns=2',
    ]);
    expect(await once('toolu_99ZyXwVuTsRqPoNmLkJi')).toBe(text);
  });

  it('hides what a mask names, and shortens or leaves out what tools say', async () => {
    const cwd = scratch();
    const script = [{ toolUse: { name: 'Read', input: { file_path: 'none' } } }, `port 8123 of /opt/tool and ${LONG}`];
    const messages = await run(script, cwd);
    const lines = transcript(messages, {
      mask: [
        [/port \d+/, '<port>'],
        ['/opt/tool', '<tool>'],
      ],
      resultTexts: false,
    });
    expect(lines).toContain(`assistant "<port> of <tool> and ${LONG}"`);
    expect(lines).toContain('\nuser error toolu_1\n');
    const result = messages.find((message) => message.type === 'user');
    const long = { ...result, message: { role: 'user', content: [toolResultBlock(LONG)] } } as Message;
    expect(transcript([long])).toBe(`user ok t1 "${'x'.repeat(200)}" and 100 characters more`);
  });

  it('tells failed turns, subagents, aborted answers and unknown messages', () => {
    const text = { type: 'text', text: 'a\nb' };
    const messages = [
      {
        type: 'assistant',
        message: { content: [text, { type: 'thinking' }] },
        parent_tool_use_id: 'toolu_1',
        aborted: true,
      },
      { type: 'user', message: { role: 'user', content: 'hi\nthere' }, parent_tool_use_id: null },
      { type: 'stream_event', event: { type: 'message_stop' }, parent_tool_use_id: null },
      { type: 'from_the_future' },
      { type: 'result', subtype: 'success', is_error: true, error_code: 'model_auth', num_turns: 1 },
      { type: 'result', subtype: 'error_max_turns', is_error: true, num_turns: 3 },
    ] as unknown as Message[];
    expect(transcript(messages).split('\n')).toEqual([
      'toolu_1 > assistant "a\\nb" + thinking (aborted)',
      'user "hi\\nthere"',
      'stream message_stop',
      'from_the_future',
      'result success (error: model_auth) turns=1',
      'result error_max_turns (error) turns=3',
    ]);
  });
});

describe('expectTranscript()', () => {
  it('accepts what happened, written with any indentation or as lines', async () => {
    const messages = await run(['Hello.']);
    expectTranscript(
      messages,
      `
        system/init
        assistant "Hello."
        result success turns=1
      `,
    );
    expectTranscript(messages, ['system/init', 'assistant "Hello."', 'result success turns=1']);
  });

  it('shows where the two part, with a few lines around', async () => {
    const calls = Array.from({ length: 4 }, (_, index): ScriptStep => {
      return { toolUse: { name: 'Read', input: { file_path: `${index}` } } };
    });
    const messages = await run([...calls, 'Bye.']);
    const expected = transcript(messages, { resultTexts: false }).split('\n');
    expected[8] = 'user ok toolu_4';
    expected.splice(9, 1);
    const error = thrownBy(() => expectTranscript(messages, expected, { resultTexts: false })) as Error;
    expect(error.message).toBe(
      [
        'The transcript is not the expected one (- expected, + received):',
        '  … 5 equal lines',
        '  assistant Read({"file_path":"2"})',
        '  user error toolu_3',
        '  assistant Read({"file_path":"3"})',
        '- user ok toolu_4',
        '+ user error toolu_4',
        '+ assistant "Bye."',
        '  result success turns=5',
      ].join('\n'),
    );
    expect(error.stack?.split('\n').find((line) => /^\s+at /.test(line))).toContain('transcript.test.ts');
  });

  it('finds lines that moved, and does not drown in long ones', () => {
    const marks = (first: string, second: string) =>
      diffLines(Array.from(first), Array.from(second)).map(([mark, line]) => `${mark}${line}`.trim());
    expect(marks('abcd', 'acbd')).toEqual(['a', '-b', 'c', '+b', 'd']);
    expect(marks('', 'a')).toEqual(['+a']);
    expect(marks('ab', '')).toEqual(['-a', '-b']);
    expect(marks('aab', 'ab')).toEqual(['a', '-a', 'b']);
    const many = Array.from({ length: 5_000 }, (_, index) => `${index}`);
    const others = many.map((line) => `x${line}`);
    expect(diffLines(many, others)).toHaveLength(10_000);
    expect(showDiff(diffLines([...many, 'a'], [...many, 'b']))).toBe(
      '  … 4997 equal lines\n  4997\n  4998\n  4999\n- a\n+ b',
    );
  });

  it('a diff leads from the first text to the second, whatever they are', () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      const make = () => Array.from({ length: random(12) }, () => 'abcd'[random(4)] ?? 'a');
      const [first, second] = [make(), make()];
      const lines = diffLines(first, second);
      expect(lines.flatMap(([mark, line]) => (mark === '+' ? [] : [line]))).toEqual(first);
      expect(lines.flatMap(([mark, line]) => (mark === '-' ? [] : [line]))).toEqual(second);
    }
  });
});

const toolResultBlock = (content: unknown) => ({ type: 'tool_result', tool_use_id: 't1', content });

describe('what a test looks for in messages', () => {
  it('calls with their results, as text and as data', async () => {
    const workspace = createMemoryWorkspace({ 'a.txt': 'hello\n' });
    const script: ScriptStep[] = [{ toolUse: { name: 'Read', input: { file_path: 'a.txt' } } }, 'ok'];
    const messages = await collect(
      query({
        prompt: 'go',
        options: {
          cwd: workspace.root,
          env: ENV,
          model: 'sonnet',
          heddle: { provider: createScriptedModel(script), store: createMemoryStore(), workspace },
        },
      }),
    );
    expect(toolResults(messages)).toEqual([
      {
        id: 'toolu_1',
        name: 'Read',
        input: { file_path: 'a.txt' },
        isError: false,
        text: '1\thello',
        structured: expect.objectContaining({ type: 'text' }),
      },
    ]);
    expect(toolResult(messages, 'toolu_1').text).toBe('1\thello');
    expect(() => toolResult(messages, 'toolu_9')).toThrow('no result for the call toolu_9. There are: toolu_1.');
    expect(lastResult(messages)).toMatchObject({ subtype: 'success', result: 'ok' });
    expect(() => lastResult([])).toThrow('no result among the 0 messages');
  });

  it('results of several blocks, and of calls that are not there', () => {
    const content = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }];
    const message = { type: 'user', message: { role: 'user', content: [toolResultBlock(content)] } } as Message;
    expect(toolResults([message])).toMatchObject([{ id: 't1', name: undefined, text: 'a\n[image]\nb' }]);
  });

  it('collect() rejects with what the query throws', async () => {
    const failing = (async function* () {
      yield 1;
      throw new Error('mine');
    })();
    await expect(collect(failing)).rejects.toThrow('mine');
  });
});
