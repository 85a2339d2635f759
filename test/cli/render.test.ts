import { describe, expect, it } from 'vitest';
import { createView } from '../../src/cli/render.js';
import { describeCost, describeTime, describeTotals } from '../../src/cli/totals.js';
import type { Message } from '../../src/protocol/index.js';
import { assistant, blockStart, call, delta, failure, success, system, text, toolResult } from './message-samples.js';

function show(...messages: Message[]): string {
  const view = createView({ colour: false, cwd: '/shop' });
  return messages.map((message) => view.show(message)).join('');
}

describe('createView', () => {
  it('shows a whole turn', () => {
    expect(
      show(
        system('init', {}),
        call('Glob', { pattern: '**/*.md' }),
        toolResult('a.md\nb.md'),
        call('Read', { file_path: '/shop/src/a.ts' }),
        toolResult('1\n2\n3\n4\n5\n6\n'),
        blockStart(),
        delta('It is '),
        delta('a loom.'),
        text('It is a loom.'),
        success(),
      ),
    ).toBe(
      [
        '● Glob **/*.md',
        '  a.md',
        '  b.md',
        '● Read src/a.ts',
        '  1',
        '  2',
        '  3',
        '  … 3 more lines',
        '',
        'It is a loom.',
        '',
        '✓ 3 turns · 1.2 s · $0.0041',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, Message[], string]>([
    ['text that was not streamed', [text('hello')], 'hello\n'],
    ['streamed text once', [blockStart(), delta('hel'), delta('lo'), text('hello'), text('bye')], 'hello\nbye\n'],
    ['a streamed text that ends its own line', [blockStart(), delta('a\n'), text('a\n')], 'a\n'],
    ['a call behind open text', [blockStart(), delta('so'), call('Bash', { command: 'ls' })], 'so\n\n● Bash ls\n'],
    ['one line more instead of a notice about it', [toolResult('1\n2\n3\n4')], '  1\n  2\n  3\n  4\n'],
    ['an error result', [toolResult('Exit code 3', { isError: true })], '  Exit code 3\n'],
    [
      'calls of a subagent, not its words',
      [
        assistant({ type: 'text', text: 'inner' }, { parent: 'p' }),
        delta('inner', 'p'),
        assistant({ type: 'tool_use', id: 'x', name: 'Grep', input: { pattern: 'a' } }, { parent: 'p' }),
        toolResult('hit', { id: 'x', parent: 'p' }),
      ],
      '  ● Grep a\n    hit\n',
    ],
    [
      'a denial, once',
      [
        call('Write', { file_path: '/shop/x' }),
        system('permission_denied', { tool_name: 'Write', tool_use_id: 't1', message: 'nobody to ask' }),
        toolResult('nobody to ask', { isError: true }),
      ],
      '● Write x\n  ✗ denied: nobody to ask\n',
    ],
    [
      'a retry in the middle of an answer',
      [
        blockStart(),
        delta('half'),
        system('api_retry', {
          attempt: 1,
          max_retries: 10,
          retry_delay_ms: 512,
          error_status: 529,
          error: 'server_error',
        }),
      ],
      'half\n↻ 529 server_error. Attempt 1 of 10 in 0.5 s\n',
    ],
    [
      'a failed turn',
      [failure(['Reached maximum number of turns (2)'])],
      'Reached maximum number of turns (2)\n✗ 3 turns · 1.2 s · $0.0041\n',
    ],
    [
      'an interrupted turn',
      [failure([], { is_error: false, terminal_reason: 'aborted_streaming' })],
      '■ interrupted · 3 turns · 1.2 s · $0.0041\n',
    ],
    [
      'an API error',
      [text('API Error: 500'), success('API Error: 500', { is_error: true })],
      'API Error: 500\n✗ 3 turns · 1.2 s · $0.0041\n',
    ],
    [
      'nothing for what is of no interest',
      [system('status', { status: 'requesting' }), { type: 'newer' } as never],
      '',
    ],
  ])('shows %s', (_name, messages, expected) => {
    expect(show(...messages)).toBe(expected);
  });

  it('D6: nothing of a model or a tool reaches the terminal as a command', () => {
    const evil = '\x1b]0;x\x07\u202E';
    const shown = show(
      blockStart(),
      delta(evil),
      text(evil),
      call(`N${evil}`, { command: evil }),
      call('Odd', { [evil]: { deep: evil } }),
      toolResult(evil),
      toolResult(evil, { isError: true }),
      system('permission_denied', { tool_use_id: 'z', message: evil }),
      system('informational', { content: evil }),
      system('model_fallback', { content: evil }),
      system('api_retry', { attempt: 1, max_retries: 1, retry_delay_ms: 1, error_status: null, error: evil }),
      failure([evil]),
    );
    expect(shown.match(/[\p{Cc}\p{Cf}]/gu)?.filter((found) => found !== '\n') ?? []).toEqual([]);
  });

  it('colours only what it wrote itself', () => {
    const view = createView({ colour: true, cwd: '/shop' });
    expect(view.show(call('Read', { file_path: '/shop/a' }))).toBe('\x1b[32m●\x1b[39m \x1b[1mRead\x1b[22m a\n');
    expect(view.show(toolResult('no', { isError: true }))).toBe('  \x1b[31mno\x1b[39m\n');
  });

  it('says words instead of signs to screen readers', () => {
    const view = createView({ colour: false, words: true, cwd: '/shop' });
    expect(view.show(call('Read', { file_path: '/shop/a' })) + view.show(success())).toBe(
      'Tool: Read a\n\nDone: 3 turns · 1.2 s · $0.0041\n',
    );
  });
});

describe('calls on one line', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['Read', { file_path: '/elsewhere/a.ts' }, '● Read /elsewhere/a.ts\n'],
    ['Grep', { pattern: 'x y', path: '/shop/src' }, '● Grep x y in src\n'],
    ['Bash', { command: '/shop/run\nsecond' }, '● Bash /shop/run\\nsecond\n'],
    ['Task', { description: 'look around', prompt: 'long' }, '● Task look around\n'],
    ['TodoWrite', { todos: [{ a: 1 }] }, '● TodoWrite {"todos":[{"a":1}]}\n'],
    ['EnterPlanMode', {}, '● EnterPlanMode\n'],
    ['Bash', { command: 'x'.repeat(200) }, `● Bash ${'x'.repeat(109)}…\n`],
  ])('%s %j', (name, input, line) => {
    expect(show(call(name, input))).toBe(line);
  });
});

describe('totals', () => {
  it.each([
    [0, '$0.00'],
    [0.000004, '<$0.0001'],
    [0.0041, '$0.0041'],
    [0.25, '$0.25'],
    [12.345, '$12.35'],
  ])('%s USD', (usd, shown) => {
    expect(describeCost(usd)).toBe(shown);
  });

  it.each([
    [40, '0.0 s'],
    [1234, '1.2 s'],
    [12_345, '12 s'],
    [125_000, '2 min 5 s'],
  ])('%s ms', (ms, shown) => {
    expect(describeTime(ms)).toBe(shown);
  });

  it('one turn, and a price nobody knows', () => {
    const modelUsage = { x: { costBasis: 'unknown' } } as never;
    expect(describeTotals({ num_turns: 1, duration_ms: 0, total_cost_usd: 0, modelUsage })).toBe(
      '1 turn · 0.0 s · cost unknown',
    );
  });
});

describe('agents', () => {
  const started = (id: string, color?: string) =>
    system('task_started', { task_id: id, tool_use_id: id, description: 'd', ...(color !== undefined && { color }) });
  const work = (parent: string) =>
    assistant({ type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'ls' } }, { parent });
  const paintedAs = (colour: boolean, ...messages: Message[]): string => {
    const view = createView({ colour, cwd: '/shop' });
    return messages.map((message) => view.show(message)).join('');
  };

  it.each([
    ['red', '\x1b[31m'],
    ['blue', '\x1b[34m'],
    ['green', '\x1b[32m'],
    ['yellow', '\x1b[33m'],
    ['purple', '\x1b[35m'],
    ['orange', '\x1b[38;5;208m'],
    ['pink', '\x1b[38;5;205m'],
    ['cyan', '\x1b[36m'],
    ['another', '\x1b[32m'],
    [undefined, '\x1b[32m'],
  ])('what one in %s does stands in its colour, beside others', (color, code) => {
    const shown = paintedAs(true, started('t1', color), started('t2', 'blue'), work('t1'), work('t2'));
    expect(shown).toContain(`${code}●`);
    expect(shown).toContain('\x1b[34m●');
  });

  it('their end stands in it, too, and nothing does without colours', () => {
    const end = system('task_notification', {
      task_id: 't1',
      tool_use_id: 't1',
      status: 'completed',
      summary: 'It is done',
    });
    expect(paintedAs(true, started('t1', 'cyan'), end)).toContain('\x1b[36m·');
    expect(paintedAs(false, started('t1', 'cyan'), work('t1'), end)).toBe('  ● Bash ls\n· It is done\n');
  });
});
